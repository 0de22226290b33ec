#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "check/findings.h"
#include "check/rules.h"
#include "output/text_visible.h"

/* Reports: findings in the forms that people, editors and CI services read.  A report appends to `out`, which
 * the caller writes and empties after each call. */

/* For report_html: the parts of the page beside the findings, made by `report`.  Texts are HTML, `data` is
 * JSON.  Zero-initialise. */
struct report_page {
	const char *title; /* visible text; NULL: tool and command */
	struct text facts; /* before the findings, or after them if findings_first */
	struct text sections, data;
	bool findings_first;
};

void report_page_free(struct report_page *p);

/* Shared by all reports of a run.  All pointers are borrowed. */
struct report_context {
	const char *tool; /* its name and version */
	const char *version;
	const char *command;         /* of the tool, the heading of reports */
	const struct policy *policy; /* of the run as a whole; a file may have another policy */
	bool quiet;                  /* text and gcc: errors only */
	/* set by report_context_place(), except real_root */
	const char *root;      /* absolute; paths in reports are relative to it */
	const char *real_root; /* without links, as `folder` is; NULL: unknown, or root is `folder` */
	const char *folder;    /* absolute; paths of the command line are relative to it */
	bool in_actions;       /* GitHub Actions parses the log for commands */
	const struct report_page *page; /* NULL: findings only */
};

/* Sets root, folder and in_actions.  folder: the current folder, without links; borrowed. */
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
	uint64_t left_out; /* findings left out by the policy */
};

struct report_totals {
	uint64_t files;
	uint64_t levels[LEVEL_COUNT];
	uint64_t listed;     /* listed findings, counted in levels too */
	uint64_t left_out;   /* findings left out by the policy, not counted in levels */
	uint64_t unreadable; /* unreadable files */
	bool exits;          /* findings cause exit status 1 */
};

/* Fills in *file with the verdicts of a policy on the findings of k, and adds the file to the totals.  max:
 * limit of listed findings of the run.  file->rules are allocated in the arena.  Returns false on OOM. */
bool report_judge(struct report_file *file, const struct file_record *k, const struct policy *policy,
                  uint64_t max, struct report_totals *totals, struct arena *arena);

/* Returns the row of a rule, or NULL if the file has none.  Findings without a row, such as those about a
 * vocabulary, are listed too. */
struct report_rule *report_rule_of(const struct report_file *file, const struct rule *rule);

/* Iterator over the listed findings of a file.  Zero-initialise. */
struct report_view {
	struct finding finding;   /* copy, with the level of the policy */
	const struct finding *at; /* its original in the log */
	size_t n;                 /* number of findings so far */
};

/* Moves to the next finding; returns false at the end. */
bool report_next(const struct report_file *file, struct report_view *v);

struct report;

/* A kind of report.  All members except `name` may be NULL. */
struct report_ops {
	const char *name;
	const char *head;  /* start of each report of this kind: recognises an older report */
	size_t state_size; /* bytes of report.state, which starts zeroed */
	void (*begin)(struct report *r);
	/* Called for each listed finding of a file, then for the file. */
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
	bool failed;      /* OOM, except in `out` (out.failed) */
	uint64_t dropped; /* listed findings beyond the limits of this kind */
};

extern const struct report_ops report_text, report_gcc, report_json, report_ndjson, report_sarif,
    report_junit, report_github, report_markdown, report_gitlab, report_html;

/* All kinds, and their names in the same order; both NULL-terminated.  The last name is "auto", without a
 * kind. */
extern const struct report_ops *const report_kinds[];
extern const char *const report_words[];

/* Returns the kind of report_words[kind]; for "auto", github in GitHub Actions, else text. */
const struct report_ops *report_kind(size_t kind);

/* Returns false on OOM; report_free() is required then, too. */
bool report_init(struct report *r, const struct report_ops *ops, const struct report_context *context);
void report_free(struct report *r);

/* Adds the listed findings of a file, then the file. */
void report_file(struct report *r, const struct report_file *file);

/* ---- findings as text ---- */

/* Appends one line: `FILE:@OFFSET: LEVEL: MESSAGE [RULE]`; of a text format, `FILE:LINE:COLUMN:@OFFSET: ...`.
 */
void report_text_finding(struct text *t, const char *path, const struct finding *f, bool color);

/* Appends the number of findings that are not shown, for each rule that has at least this level in the
 * policy. */
void report_text_rest(struct text *t, const struct findings *j, const struct policy *policy, enum level min);

/* Whether a finding reports a file that could not be opened or read: shown as `FILE: MESSAGE`, without an
 * offset. */
bool report_text_is_system(const struct finding *f);

#endif
