#ifndef CHECK_FILE_RECORD_H
#define CHECK_FILE_RECORD_H

#include "base/arena.h"
#include "check/policy.h"

/*
 * What is known of inputs that were read, kept until their turn in the reports
 * comes: traces are read side by side, reports have the order of the command
 * line.
 */
/* Something that was asked of a file, whatever came of it: a budget. */
#define FILE_CHECK_RULES 2
struct file_check {
	const char *name; /* escaped */
	const struct rule *rules[FILE_CHECK_RULES]; /* that it may break: their findings are all of checks */
	uint64_t counts[FILE_CHECK_RULES];          /* how often it did */
};

struct file_record {
	struct file_record *next;
	const char *path;
	const char *format, *dialect; /* NULL: not recognised */
	const struct rule *rules;     /* of its format, ended by an id of NULL; NULL: none */
	uint64_t records;
	uint64_t unread_bytes;
	bool unreadable;
	const char *trace; /* whose streams it is one of; NULL: it is a trace of its own */
	bool whole; /* it is all files of the trace together, which have been counted one by one */
	struct finding *findings; /* those that came to the sink, in order */
	size_t nfindings;
	struct rule_count *counts; /* all of them, by rule */
	size_t ncounts;
	struct file_check *checks;
	size_t nchecks;
	uint64_t uncounted[LEVEL_COUNT]; /* not in counts, for lack of memory */
};

/* Zero-initialise to start. */
struct file_records {
	struct arena arena;
	struct file_record *first, *last;
	struct finding *present; /* of the file that is read now */
	uint32_t npresent, present_cap;
	struct file_check *checks; /* likewise */
	uint32_t nchecks, checks_cap;
	uint32_t check; /* what findings are of now, from 1 on; 0: none */
	bool failed; /* memory ran out: something is missing */
};

/* A finding of the file that is read now. */
void file_records_finding(struct file_records *k, const struct finding *f);

/* Findings are of this check from now on; its counts are added when they are known.  The name is copied. */
void file_records_check(struct file_records *k, const char *name, const struct rule *const *rules);
/* They are of no check any more. */
void file_records_checked(struct file_records *k, const uint64_t *counts);

/* The file was read.  what: its values, without findings and counts; texts are copied. */
void file_records_close(struct file_records *k, const struct file_record *what, const struct findings *j);

/* Adds the findings since then, which `j` counts, and the checks to the file that was closed last. */
void file_records_amend(struct file_records *k, const struct findings *j);

/* Forgets the files that were closed; the memory is kept. */
void file_records_clear(struct file_records *k);
void file_records_free(struct file_records *k);

#endif
