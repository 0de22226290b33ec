#ifndef CHECK_REPORT_H
#define CHECK_REPORT_H

#include "check/findings.h"
#include "output/text_visible.h"

/*
 * Reports: the same findings in the forms that people, editors and CI services
 * read.  Each output has a struct report; its maker appends to `out`, which the
 * caller takes and empties after each call.
 */

/* The same for all reports of a run.  All borrowed. */
struct report_context {
	const char *tool; /* its name and version */
	const char *version;
	const struct policy *policy; /* of the run as a whole; a file may obey another */
	const char *root;            /* absolute: reports name files relative to it */
	const char *folder;          /* absolute: where the names of the command line start */
	bool in_actions;             /* the log is read for workflow commands */
	bool quiet;                  /* text: errors only */
};

/* Findings of one rule in one file. */
struct report_rule {
	const struct rule *rule;
	enum level level; /* as the policy has it */
	uint64_t count, listed;
};

/* What a report says of one input. */
struct report_file {
	const struct file_record *record;
	const struct policy *policy;    /* that it obeys */
	bool valid;                     /* no errors, and all of it could be read */
	const struct finding *findings; /* that are listed; levels as the policy has them */
	size_t nfindings;
	const struct report_rule *rules; /* that were found and not left out */
	size_t nrules;
	uint64_t levels[LEVEL_COUNT];
	uint64_t left_out; /* by the policy */
};

struct report_totals {
	uint64_t files;
	uint64_t levels[LEVEL_COUNT];
	uint64_t listed;     /* of the findings that levels count */
	uint64_t left_out;   /* by the policy; not in levels */
	uint64_t unreadable; /* files */
};

struct report;

/* Any but `name` may be NULL. */
struct report_ops {
	const char *name;
	const char *head;  /* what each report begins with, and nothing else is likely to */
	size_t state_size; /* zeroed */
	void (*begin)(struct report *r);
	/* Each listed finding of a file, then the file. */
	void (*finding)(struct report *r, const struct report_file *file, const struct finding *f);
	void (*file)(struct report *r, const struct report_file *file);
	void (*end)(struct report *r, const struct report_totals *t);
	void (*free)(struct report *r);
};

struct report {
	const struct report_ops *ops;
	const struct report_context *context;
	struct text out;
	void *state;
	bool color;
	bool failed;      /* memory ran out, other than for `out` */
	uint64_t dropped; /* listed findings for which this kind of report has no room */
};

extern const struct report_ops report_text, report_gcc, report_json, report_ndjson, report_sarif,
    report_junit, report_github, report_markdown, report_gitlab;

/* All, NULL-terminated. */
extern const struct report_ops *const report_kinds[];

/* false: no memory.  In any case end with report_free. */
bool report_init(struct report *r, const struct report_ops *ops, const struct report_context *context);
void report_free(struct report *r);

void report_begin(struct report *r);
void report_file(struct report *r, const struct report_file *file);
void report_end(struct report *r, const struct report_totals *t);

/* ---- text: one finding a line, `FILE:@OFFSET: LEVEL: MESSAGE [RULE]` (`FILE:LINE:COLUMN:@OFFSET: ...` in
 * text formats) ---- */

void report_text_finding(struct text *t, const char *path, const struct finding *f, bool color);

/* The same for all rules from this level on of an input whose findings were shown as they came. */
void report_text_rest(struct text *t, const struct findings *j, enum level least);

/* Whether it is about a file that could not be opened or read: `FILE: MESSAGE`, as no byte of it is meant. */
bool report_text_is_system(const struct finding *f);

#endif
