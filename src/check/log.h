#ifndef CHECK_LOG_H
#define CHECK_LOG_H

#include "check/findings.h"

/* The log of a trace: the only place where its findings are stored, until reports have read them. */

/* ---- a list ---- */

/* Findings in order.  They and their texts stay where they are in the arena, whatever list they move to. */
struct finding_list {
	struct arena *arena; /* borrowed */
	const struct finding *first;
	struct finding *last;
	size_t n, bytes;
	uint32_t check; /* of the findings that are added */
	bool failed;    /* OOM: a finding is missing */
	/* with a limit */
	size_t *space;        /* bytes left for all lists that share it; NULL: no limit */
	uint64_t lost;        /* number beyond the limit, or on OOM */
	struct finding worst; /* the first of the worst level of these */
	char message[256];    /* its message; the pointer in `worst` is stale */
};

#define DEFERRED_BYTES ((size_t)12 << 20) /* initial *room of the streams of a trace */

/* Adds a copy. */
void finding_list_add(struct finding_list *l, const struct finding *f);

/* Passes on the findings of a stream, which was read in parallel with others, and empties the list.  Of those
 * beyond the limit the worst one is passed on, with the number of the others. */
void findings_pass_all(struct findings *j, struct finding_list *from);

/* ---- the log ---- */

/* A check of a file that a policy asks for: a budget. */
#define FILE_CHECK_RULES 2

struct file_check {
	const char *name;                           /* escaped */
	const struct rule *rules[FILE_CHECK_RULES]; /* that it can break; all their findings are of checks */
	uint64_t counts[FILE_CHECK_RULES];          /* of findings */
};

/* An input that was read, and which findings of the log are of it. */
struct file_record {
	struct file_record *next;
	const char *path;
	const char *format, *dialect; /* NULL: not recognised */
	const struct rule *rules;     /* of its format, ended by an id of NULL; NULL: none */
	uint64_t records;
	uint64_t unread_bytes;
	bool unreadable;
	const char *trace;              /* of which it is a stream; NULL: it is a trace of its own */
	bool whole;                     /* stands for the trace, whose files have records of their own */
	const struct finding *findings; /* the first of those that were shown */
	size_t nfindings;
	struct rule_count *counts; /* all of them, by rule */
	size_t ncounts;
	struct file_check *checks;
	size_t nchecks;
};

/* Traces are read in parallel, reports are in the order of the command line: a log waits for its turn. */
struct finding_log {
	struct finding_list open; /* findings of no file yet */
	struct file_record *first, *last;
	struct file_check *checks; /* of no file yet */
	uint32_t nchecks, checks_cap;
	size_t bytes;           /* of files and their findings */
	struct arena arenas[2]; /* open.arena is one of them; see finding_log_clear() */
	bool failed;            /* OOM: something is missing */
};

void finding_log_init(struct finding_log *k);

/* Begins a check, to which the following findings belong.  The name is copied. */
void finding_log_check(struct finding_log *k, const char *name, const struct rule *const *rules);

/* Ends the check. */
void finding_log_checked(struct finding_log *k, const uint64_t *counts);

/* Ends a file: the open findings, which `j` counts, and checks are of it.  what: its values; texts are
 * copied. */
void finding_log_close(struct finding_log *k, const struct file_record *what, const struct findings *j);

/* Adds open findings, which `j` counts, and checks to the file that was closed last. */
void finding_log_amend(struct finding_log *k, const struct findings *j);

/* Removes the closed files, when they are reported. */
void finding_log_clear(struct finding_log *k);

/* Removes open findings, too; keeps some memory. */
void finding_log_reset(struct finding_log *k);
void finding_log_free(struct finding_log *k);

#endif
