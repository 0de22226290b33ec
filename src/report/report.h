#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "check/findings.h"
#include "check/rules.h"
#include "output/text_visible.h"

/* Reports: the same findings in the forms that people, editors and CI services read.  A report appends to
 * `out`, which the caller writes and empties after each call. */

/* For report_html: the page that `report` makes, beside the findings.  Texts are HTML, `data` is JSON.
 * Zero-initialise. */
struct report_page {
	const char *title; /* visible text; NULL: that of validate */
	struct text facts; /* before the findings, or after them if findings_first */
	struct text sections, data;
	bool findings_first;
};

void report_page_free(struct report_page *p);

/* The same for all reports of a run.  All borrowed. */
struct report_context {
	const char *tool; /* its name and version */
	const char *version;
	const struct policy *policy; /* of the run as a whole; a file may have another */
	bool quiet;                  /* text: errors only */
	/* set by report_context_place() */
	const char *root;               /* absolute; reports name files relative to it */
	const char *folder;             /* absolute; names of the command line are relative to it */
	bool in_actions;                /* GitHub Actions parses the log for commands */
	const struct report_page *page; /* NULL: findings only */
};

/* Sets the root, the folder and in_actions.  folder: the current folder; borrowed. */
void report_context_place(struct report_context *c, const char *folder);

/* Findings of one rule in one file. */
struct report_rule {
	const struct rule *rule;
	struct verdict verdict;
	uint64_t count, listed;
};

/* An input with the verdicts of its policy. */
struct report_file {
	const struct file_record *record;
	const struct policy *policy; /* of this file */
	bool valid;                  /* no errors, and completely read */
	size_t nlisted;              /* findings that report_next() returns */
	struct report_rule *rules;   /* record->ncounts rules with findings, also rules left out */
	uint64_t levels[LEVEL_COUNT];
	uint64_t left_out; /* by the policy */
};

struct report_totals {
	uint64_t files;
	uint64_t levels[LEVEL_COUNT];
	uint64_t listed;     /* of the findings that levels count */
	uint64_t left_out;   /* by the policy; not in levels */
	uint64_t unreadable; /* files */
	bool exits;          /* findings cause exit status 1 */
};

/* Judges a file by its policy, and adds it to the totals.  max: limit of listed findings of the run.  The
 * rules are allocated in the arena.  Returns false on OOM. */
bool report_judge(struct report_file *file, const struct file_record *k, const struct policy *policy,
                  uint64_t max, struct report_totals *totals, struct arena *arena);

/* Returns the row of a rule, or NULL if the file has none.  Findings without a row, as those about a
 * vocabulary, are listed too. */
struct report_rule *report_rule_of(const struct report_file *file, const struct rule *rule);

/* Iterator over the listed findings of a file.  Zero-initialise. */
struct report_view {
	struct finding finding;   /* with the level of the policy */
	const struct finding *at; /* in the log */
	size_t n;
};

/* Moves to the next finding; returns false at the end. */
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
    report_junit, report_github, report_markdown, report_gitlab, report_html;

/* All kinds, NULL-terminated; their names, followed by "auto". */
extern const struct report_ops *const report_kinds[];
extern const char *const report_words[];

/* Returns the kind of report_words[word]. */
const struct report_ops *report_kind(size_t kind);

/* Call report_free() even after a failure. */
bool report_init(struct report *r, const struct report_ops *ops, const struct report_context *context);
void report_free(struct report *r);

/* Adds the findings of a file, then the file. */
void report_file(struct report *r, const struct report_file *file);

/* ---- text: one finding a line, `FILE:@OFFSET: LEVEL: MESSAGE [RULE]` (`FILE:LINE:COLUMN:@OFFSET: ...` in
 * text formats) ---- */

void report_text_finding(struct text *t, const char *path, const struct finding *f, bool color);

/* Adds the number of findings that are not shown, of all rules of at least this level. */
void report_text_rest(struct text *t, const struct findings *j, enum level min);

/* Returns true if the finding is about a file that could not be opened or read: shown as `FILE: MESSAGE`,
 * without an offset. */
bool report_text_is_system(const struct finding *f);

#endif
