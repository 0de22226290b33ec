#ifndef CHECK_FINDINGS_H
#define CHECK_FINDINGS_H

#include "base/memory.h"
#include "check/finding.h"
#include "check/rules.h"

/* ---- the findings of one input ---- */

/* Findings of one rule that are shown for each input; the others are counted. */
#define FINDINGS_SHOWN 20

struct finding {
	const struct rule *rule;
	enum level level; /* the rule's, unless a policy says otherwise */
	uint64_t offset;  /* in the unpacked trace */
	uint64_t line;    /* 0: not a text format */
	uint64_t column;  /* in bytes from 1; 0: the line as a whole, or no line */
	uint64_t record;  /* ordinal from 1; 0: none */
	const char *message;
	uint32_t check; /* number of its check (struct file_check), from 1; 0: none */
};

struct rule_count {
	const struct rule *rule;
	uint64_t count;
};

/* Called for each finding that is shown, when it is found. */
typedef void finding_sink(void *ctx, const struct findings *j, const struct finding *f);

struct findings {
	const char *path;
	finding_sink *sink; /* NULL: findings are only counted */
	void *ctx;
	struct rule_count *counts; /* in order of first finding */
	size_t ncounts, counts_cap;
	uint64_t levels[LEVEL_COUNT];
	bool (*muted)(void *); /* called before each finding; true: drop it, as the bytes cannot be trusted */
	void *muted_ctx;
	/* Called for each finding that is not about the input as a whole; true: it is only counted in
	 * nleft_out. */
	bool (*left_out)(void *, uint64_t offset);
	void *left_out_ctx;
	uint64_t nleft_out;
	bool summing; /* the finding that is added sums up several offsets */
	bool failed;  /* OOM: a rule is missing in counts */
};

void findings_init(struct findings *j, const char *path, finding_sink *sink, void *ctx);
void findings_free(struct findings *j);

/* The number of findings of a rule. */
uint64_t findings_count(const struct findings *j, const struct rule *rule);
const char *level_name(enum level level);

/* ---- postponed findings ---- */

/* Findings of streams that are read in parallel and reported one after the other.  They have a common memory
 * limit; of those beyond it the worst is kept, with the number of the others. */
struct deferred_finding;

struct deferred_findings {
	struct deferred_finding *first, *last;
	uint64_t lost;        /* number beyond the limit, or on OOM */
	struct finding worst; /* the first of the worst level of these */
	char message[256];    /* its message; the pointer in `worst` is stale */
	size_t *room;         /* bytes left for all streams; shared */
};

#define DEFERRED_ROOM ((size_t)12 << 20) /* initial *room */

/* A finding_sink; ctx: struct deferred_findings. */
void findings_defer(void *ctx, const struct findings *j, const struct finding *f);

/* Passes them to the sink, and frees them. */
void findings_report(struct deferred_findings *k, const struct findings *j, finding_sink *sink, void *ctx);

/* ---- records of files ---- */

/* Inputs that were read, kept until their turn in the reports: traces are read in parallel, reports are in
 * the order of the command line. */

/* A check of a file that a policy asks for: a budget. */
#define FILE_CHECK_RULES 2

struct file_check {
	const char *name;                           /* escaped */
	const struct rule *rules[FILE_CHECK_RULES]; /* that it can break; all their findings are of checks */
	uint64_t counts[FILE_CHECK_RULES];          /* of findings */
};

struct file_record {
	struct file_record *next;
	const char *path;
	const char *format, *dialect; /* NULL: not recognised */
	const struct rule *rules;     /* of its format, ended by an id of NULL; NULL: none */
	uint64_t records;
	uint64_t unread_bytes;
	bool unreadable;
	const char *trace;        /* of which it is a stream; NULL: it is a trace of its own */
	bool whole;               /* stands for the trace, whose files have records of their own */
	struct finding *findings; /* those that were shown, in order */
	size_t nfindings;
	struct rule_count *counts; /* all of them, by rule */
	size_t ncounts;
	struct file_check *checks;
	size_t nchecks;
};

/* Zero-initialise to start. */
struct file_records {
	struct arena arena;
	struct file_record *first, *last;
	struct finding *present; /* findings of the current file */
	uint32_t npresent, present_cap;
	struct file_check *checks; /* likewise */
	uint32_t nchecks, checks_cap;
	uint32_t check; /* the current check, from 1; 0: none */
	bool failed;    /* OOM: something is missing */
};

/* Adds a finding of the current file. */
void file_records_finding(struct file_records *k, const struct finding *f);

/* Begins a check, to which the following findings belong.  The name is copied. */
void file_records_check(struct file_records *k, const char *name, const struct rule *const *rules);

/* Ends the check. */
void file_records_checked(struct file_records *k, const uint64_t *counts);

/* Ends the current file.  what: its values, without findings and counts; texts are copied. */
void file_records_close(struct file_records *k, const struct file_record *what, const struct findings *j);

/* Adds findings since then, which `j` counts, and checks to the file that was closed last. */
void file_records_amend(struct file_records *k, const struct findings *j);

/* Removes the closed files; keeps the memory. */
void file_records_clear(struct file_records *k);
void file_records_free(struct file_records *k);

#endif
