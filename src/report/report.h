#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "check/levels.h"
#include "check/log.h"
#include "output/text_visible.h"

/* Reports: the same findings in the forms that people, editors and CI services read.  A report appends to
 * `out`, which the caller writes and empties after each call. */

/* The same for all reports of a run.  All borrowed. */
struct report_context {
	const char *tool; /* its name and version */
	const char *version;
	const struct policy *policy; /* of the run as a whole; a file may obey another */
	bool quiet;                  /* text: errors only */
	/* by report_context_place() */
	const char *root;   /* absolute: reports name files relative to it */
	const char *folder; /* absolute: where the names of the command line start */
	bool in_actions;    /* GitHub Actions parses the log for commands */
};

/* Where the run takes place.  folder: the current one; borrowed. */
void report_context_place(struct report_context *c, const char *folder);

/* Findings of one rule in one file. */
struct report_rule {
	const struct rule *rule;
	struct verdict verdict;
	uint64_t count, listed;
};

/* An input and its findings, as the policy judges them. */
struct report_file {
	const struct file_record *record;
	const struct policy *policy; /* of this file */
	bool valid;                  /* no errors, and all of it could be read */
	size_t nlisted;              /* number of findings that report_next() gives */
	struct report_rule *rules;   /* with findings, also those that are left out: record->ncounts */
	uint64_t levels[LEVEL_COUNT];
	uint64_t left_out; /* by the policy */
};

struct report_totals {
	uint64_t files;
	uint64_t levels[LEVEL_COUNT];
	uint64_t listed;     /* of the findings that levels count */
	uint64_t left_out;   /* by the policy; not in levels */
	uint64_t unreadable; /* files */
	bool exits;          /* findings mean status 1 */
};

/* Judges a file by its policy, and adds it to the totals.  most: limit of findings that are listed in the
 * run.  The arena has its rules.  Returns false on OOM. */
bool report_judge(struct report_file *file, const struct file_record *k, const struct policy *policy,
                  uint64_t max, struct report_totals *totals, struct arena *arena);

/* The row of a rule; NULL: the file has none.  A finding of no file, as one about a vocabulary, is listed all
 * the same. */
struct report_rule *report_rule_of(const struct report_file *file, const struct rule *rule);

/* The findings of a file that are listed, as its policy sees them.  Zero-initialise. */
struct report_view {
	struct finding finding;   /* with the level of the policy */
	const struct finding *at; /* in the log */
	size_t n;
};

/* Moves to the next one; false: there is none. */
bool report_next(const struct report_file *file, struct report_view *v);

struct report;

/* Any but `name` may be NULL. */
struct report_ops {
	const char *name;
	const char *head;  /* start of each report of this kind, by which a file is recognised */
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
	bool failed;      /* OOM, other than of `out` */
	uint64_t dropped; /* listed findings beyond the limits of this kind */
};

extern const struct report_ops report_text, report_gcc, report_json, report_ndjson, report_sarif,
    report_junit, report_github, report_markdown, report_gitlab;

/* All, NULL-terminated, and their names, with "auto" at the end. */
extern const struct report_ops *const report_kinds[];
extern const char *const report_words[];

/* The kind of a word. */
const struct report_ops *report_kind(size_t word);

/* End with report_free() in any case. */
bool report_init(struct report *r, const struct report_ops *ops, const struct report_context *context);
void report_free(struct report *r);

/* Adds a file: its findings, then itself. */
void report_file(struct report *r, const struct report_file *file);

/* ---- text: one finding a line, `FILE:@OFFSET: LEVEL: MESSAGE [RULE]` (`FILE:LINE:COLUMN:@OFFSET: ...` in
 * text formats) ---- */

void report_text_finding(struct text *t, const char *path, const struct finding *f, bool color);

/* Number of findings not shown, of all rules from this level on. */
void report_text_rest(struct text *t, const struct findings *j, enum level min);

/* Whether it is about a file that could not be opened or read: shown as `FILE: MESSAGE`, without an offset.
 */
bool report_text_is_system(const struct finding *f);

#endif
