#ifndef CHECK_FINDINGS_H
#define CHECK_FINDINGS_H

#include "base/memory.h"
#include "check/finding.h"
#include "check/rules.h"

/* ---- findings ---- */

/* The findings of one input, for whoever reports them. */

/* How many findings of one rule are shown for each input; the rest is counted. */
#define FINDINGS_SHOWN 20

struct finding {
	const struct rule *rule;
	enum level level; /* the rule's, unless a policy says otherwise */
	uint64_t offset;  /* in the (unpacked) trace */
	uint64_t line;    /* 0: not a text format */
	uint64_t column;  /* in bytes, the first of the line is 1; 0: the line as a whole, or no line */
	uint64_t record;  /* ordinal, the first record is 1; 0: before any record or none */
	const char *message;
	uint32_t check; /* number of the check of its file that it is of, from 1 on; 0: none */
};

struct rule_count {
	const struct rule *rule;
	uint64_t count;
};

/* Called for each finding that is shown, as it is found. */
typedef void finding_sink(void *ctx, const struct findings *j, const struct finding *f);

struct findings {
	const char *path;
	finding_sink *sink; /* may be NULL: then they are only counted */
	void *ctx;
	struct rule_count *counts; /* in order of first finding */
	size_t ncounts, counts_cap;
	uint64_t levels[LEVEL_COUNT];
	bool (*muted)(void *); /* asked before each finding; true: drop it (the bytes cannot be trusted) */
	void *muted_ctx;
	/* Asked with the place of each finding that is not of the input as a whole; true: it is counted
	 * here alone. */
	bool (*left_out)(void *, uint64_t offset);
	void *left_out_ctx;
	uint64_t nleft_out;
	bool summing; /* the finding that is added sums up several places */
	bool failed;  /* memory ran out: a rule is missing in counts */
};

void findings_init(struct findings *j, const char *path, finding_sink *sink, void *ctx);
void findings_free(struct findings *j);

/* How often a rule was found. */
uint64_t findings_count(const struct findings *j, const struct rule *rule);
const char *level_name(enum level level);

/* ---- finding deferred ---- */

/*
 * Findings that are said later: of streams that are read side by side, and
 * reported one after the other.
 */
struct deferred_finding;

struct deferred_findings {
	struct deferred_finding *first, *last;
	uint64_t lost;        /* not kept, for lack of room or memory: counted, and ... */
	struct finding worst; /* ... the first of the worst level stands for all */
	char message[256];    /* its message; the pointer in it is not to be used */
	size_t *room;         /* bytes that all findings together may still take; shared */
};

#define DEFERRED_ROOM ((size_t)12 << 20)

/* A finding_sink; ctx is the struct kept_findings. */
void findings_defer(void *ctx, const struct findings *j, const struct finding *f);

/* Says them to the sink, and forgets them. */
void findings_report(struct deferred_findings *k, const struct findings *j, finding_sink *sink, void *ctx);

/* ---- file record ---- */

/*
 * What is known of inputs that were read, kept until their turn in the reports
 * comes: traces are read side by side, reports have the order of the command
 * line.
 */

/* Something that was asked of a file, whatever came of it: a budget. */
#define FILE_CHECK_RULES 2

struct file_check {
	const char *name;                           /* escaped */
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
	bool whole;        /* it is all files of the trace together, which have been counted one by one */
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
	bool failed;    /* memory ran out: something is missing */
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
