#ifndef REPORT_PARTS_H
#define REPORT_PARTS_H

#include "base/table.h"
#include "json/out.h"
#include "report/report.h"

/*
 * Private header of reports.
 *
 *   report.c   reports of any kind, the verdicts of a policy on a file, and the parts below
 *   text.c     lines for people, and for editors (gcc)
 *   json.c     JSON, lines of JSON, and the code quality report of GitLab
 *   sarif.c    SARIF, for code scanning
 *   junit.c    JUnit XML
 *   github.c   workflow commands and Markdown
 *   html.c     the document of the page, with the findings; page/ has its style and script
 *
 * Text that CI services would take for a command (output/text_visible.h) is escaped in all reports, as they
 * are printed to logs.
 */

/* Appends a JSON string. */
void report_put_json(struct text *t, const char *s);

/* Appends a member with a string; NULL: null. */
void report_put_string(struct json_out *o, const char *key, const char *s);

/* Appends text of XML: markup, and characters that XML 1.0 forbids, are replaced. */
void report_put_xml(struct text *t, const char *s);

/* Appends visible text (text_visible_message()) with the escapes of a form: text_html(), text_markdown(). */
void report_put_visible(struct text *t, const char *s, void (*escape)(struct text *t, struct slice s));

/* Appends lines in which no CI service sees a command: "##[" and similar become "#\x23[", "::" becomes
 * ":\x3a". */
void report_put_guarded(struct text *t, const char *p, size_t n);

/* Appends the path of the file relative to the root of the repository, without "./" and "..", not escaped;
 * for a file outside of the repository, its absolute path without the first slash; for stdin, "stdin". */
void report_put_path(struct text *t, const struct report_context *c, const char *path);

/* Appends "3 errors, 1 warning, 0 notes in 2 files", and the numbers of findings left out or not listed. */
void report_put_sum(struct text *t, const struct report_totals *totals);

/* Rules in the order of their first findings.  Zero-initialise; the report frees the list. */
struct report_rules {
	const struct rule **list;
	uint32_t n, cap;
};

/* Returns the index of a rule, after adding it if it is new; UINT32_MAX on OOM. */
uint32_t report_rules_index(struct report_rules *r, const struct rule *rule);

/* The position of a finding, for reports that require one: 1 if it is unknown. */
static inline uint64_t report_line(const struct finding *f)
{
	return f->line > 0 ? f->line : 1;
}

static inline uint64_t report_column(const struct finding *f)
{
	return f->line > 0 && f->column > 0 ? f->column : 1;
}

/* The level of a finding for readers that know errors, warnings and notes alone: a limit is a warning. */
static inline enum level report_known_level(enum level level)
{
	return level == LEVEL_LIMIT ? LEVEL_WARNING : level;
}

/* ---- fingerprints: unchanged when a trace is recorded again, different for each finding of a run ---- */

/* Appends "0123456789abcdef:N", with the quotes: a hash of the rule, the file (from report_put_path()) and
 * the record, and the ordinal of the finding among those with this hash.  seen: hash -> number of findings of
 * the report so far.  Returns false on OOM. */
bool report_put_fingerprint(struct text *t, struct table64 *seen, const char *file, const struct finding *f);

/* Contents of a file of src/report/page/; `hash` is for the Content-Security-Policy. */
struct page_asset {
	const char *text;
	size_t n;
	const char *hash;
};

extern const struct page_asset page_asset_page_css, page_asset_page_js;

#endif
