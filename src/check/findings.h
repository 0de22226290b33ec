#ifndef CHECK_FINDINGS_H
#define CHECK_FINDINGS_H

#include "base/memory.h"
#include "check/finding.h"
#include "check/rules.h"

struct finding_list;

/* ---- the findings of one input ---- */

/* Maximum of shown findings of one rule for each input; further findings are only counted. */
#define FINDINGS_SHOWN 20

struct finding {
	const struct rule *rule;
	enum level level; /* of the rule; in reports, of the policy */
	uint64_t offset;  /* in the unpacked trace */
	uint64_t line;    /* 0: not a text format */
	uint64_t column;  /* in bytes from 1; 0: the line as a whole, or no line */
	uint64_t record;  /* ordinal from 1; 0: none */
	const char *message;
	uint32_t check;             /* number of the check (struct file_check), from 1; 0: none */
	const struct finding *next; /* in its list */
};

struct rule_count {
	const struct rule *rule;
	uint64_t count;
};

/* Listener: called for each shown finding, immediately or when its stream is complete. */
typedef void finding_sink(void *ctx, const struct findings *j, const struct finding *f);

struct findings {
	const char *path;
	struct finding_list *list; /* stores shown findings; NULL: the listener gets them */
	finding_sink *sink;        /* listener; NULL without a list: findings are only counted */
	void *ctx;
	struct rule_count *counts; /* in order of first finding */
	uint32_t ncounts, counts_cap;
	uint64_t levels[LEVEL_COUNT];
	bool (*muted)(void *); /* called before each finding; true: drop it, as the bytes cannot be trusted */
	void *muted_ctx;
	/* Called for each finding except sums of several offsets and failures of the system; true: it is only
	 * counted in nleft_out. */
	bool (*left_out)(void *, uint64_t offset);
	void *left_out_ctx;
	uint64_t nleft_out;
	struct gate *gate; /* gate to pass before each finding; NULL: none */
	bool summing;      /* the finding being added sums up several offsets */
	bool failed;       /* OOM: a rule is missing in counts */
};

void findings_init(struct findings *j, const char *path, finding_sink *sink, void *ctx);
void findings_free(struct findings *j);

/* Returns the number of findings of a rule. */
uint64_t findings_count(const struct findings *j, const struct rule *rule);
extern const char *const level_names[LEVEL_COUNT + 1]; /* by enum level; ends with NULL */

static inline const char *level_name(enum level level)
{
	return level_names[level];
}

/* The findings of a trace, stored until the reports have read them. */

/* ---- a list ---- */

/* Findings in order.  The addresses of a finding and its text never change, even in another list. */
struct finding_list {
	struct arena *arena; /* borrowed */
	const struct finding *first;
	struct finding *last;
	size_t n, bytes;
	uint32_t check; /* finding.check of added findings */
	bool failed;    /* OOM: a finding is missing */
	/* with a limit */
	size_t *space;        /* bytes left for all lists that share the limit; NULL: no limit */
	uint64_t lost;        /* findings not stored: beyond the limit, or on OOM */
	struct finding worst; /* the first lost finding of the worst level */
	char message[256];    /* message of `worst`; the pointer worst.message is stale */
};

#define DEFERRED_BYTES ((size_t)12 << 20) /* initial *space of the streams of a trace */

/* Adds a copy of a finding and its message. */
void finding_list_add(struct finding_list *l, const struct finding *f);

/* Moves the findings of a stream that was read in parallel with others to the list or listener of `j`, and
 * empties `from`.  All lost findings are passed on as one: the worst, with their number. */
void findings_pass_all(struct findings *j, struct finding_list *from);

/* ---- the log ---- */

/* A check of a file that a policy requests: a budget. */
#define FILE_CHECK_RULES 2

struct file_check {
	const char *name;                           /* escaped */
	const struct rule *rules[FILE_CHECK_RULES]; /* rules of its findings, and of no other findings */
	uint64_t counts[FILE_CHECK_RULES];          /* findings by rule */
};

/* An input that was read; its findings are a range of the log. */
struct file_record {
	struct file_record *next;
	const char *path;
	const char *format, *dialect; /* NULL: not recognised */
	const struct rule *rules;     /* rules of its format, terminated by an id of NULL; NULL: none */
	uint64_t records;
	uint64_t unread_bytes;
	bool unreadable;
	const char *trace; /* path of the trace that contains this stream; NULL: the file is the trace */
	bool whole;        /* entry for the trace as a whole; its files have their own entries */
	bool is_sidecar;   /* a file of the trace without records */
	const struct finding *findings; /* first one in the log */
	size_t nfindings;
	struct rule_count *counts; /* all findings by rule, also those not in the log */
	size_t ncounts;
	struct file_check *checks;
	size_t nchecks;
};

/* Traces are read in parallel, but reported in the order of the command line: the log of a trace is stored
 * until then. */
struct finding_log {
	struct finding_list open; /* findings not assigned to a file yet */
	struct file_record *first, *last;
	struct file_check *checks; /* checks not assigned to a file yet */
	uint32_t nchecks, checks_cap;
	size_t bytes;           /* size of the closed files and their findings */
	struct arena arenas[2]; /* open.arena is one of them: see finding_log_clear() */
	bool failed;            /* OOM, of closed files: see finding_log_failed() */
};

void finding_log_init(struct finding_log *k);

/* Whether a finding, check or file is missing so far because of OOM. */
bool finding_log_failed(const struct finding_log *k);

/* Begins a check.  It contains the findings added until finding_log_checked().  The name is copied. */
void finding_log_check(struct finding_log *k, const char *name, const struct rule *const *rules);

/* Ends the check.  counts: its findings by rule. */
void finding_log_checked(struct finding_log *k, const uint64_t *counts);

/* Closes a file: adds a copy of *what and of its texts to the log, with the open checks and findings.  `j`
 * has the counts of these findings. */
void finding_log_close(struct finding_log *k, const struct file_record *what, const struct findings *j);

/* Adds the open checks and findings, with the counts in `j`, to the file that was closed last. */
void finding_log_amend(struct finding_log *k, const struct findings *j);

/* Removes the closed files, after they are reported. */
void finding_log_clear(struct finding_log *k);

void finding_log_free(struct finding_log *k);

#endif
