#ifndef POLICY_PRIVATE_H
#define POLICY_PRIVATE_H

/* The private header of policies: reading a file, and parts of the verdict. */
#include "base/compiler.h"
#include "policy/policy.h"

/* ---- reading a file (read.c) ---- */

struct policy_draft {
	struct yaml_file yaml;
	struct policy_file *file;
};

/* Reads a value to *to.  what: its key, for messages.  Returns false after a finding, or on OOM. */
typedef bool policy_reader(struct policy_draft *d, const struct yaml_node *node, const char *what, void *to);

/* A key of a mapping, the reader of its value, and the offset of the result in the struct of the mapping. */
struct policy_key {
	const char *name;
	policy_reader *read;
	size_t at;
};

#define POLICY_MAX_KEYS 16

/* Reads the value of each key that the mapping has, in the order of the keys.  Returns false after a mistake
 * in the mapping or in a value, which is reported. */
bool policy_map(struct policy_draft *d, const struct yaml_node *node, const char *what,
                const struct policy_key *keys, size_t n, void *into);

#define POLICY_MAP(d, node, what, keys, into) policy_map(d, node, what, keys, COUNT_OF(keys), into)

/* Returns cleared memory that lives as long as the policy; on OOM NULL, with d->yaml.no_memory set. */
void *policy_alloc(struct policy_draft *d, size_t n, size_t size);

/* Copies a text; a NUL follows the copy. */
bool policy_text(struct policy_draft *d, const struct yaml_node *node, const char *what, struct slice *out);

/* Reads a number by a function of base/numbers.h.  form: what it must be, for messages. */
bool policy_number(struct policy_draft *d, const struct yaml_node *node, const char *what,
                   bool (*units)(struct slice, uint64_t *), const char *form, uint64_t *n);

/* Reads a struct slice: a text that is fast to compare as a pattern. */
policy_reader policy_pattern;

/* Reads a struct policy_patterns: a pattern, or a list of at most POLICY_MAX_NAMES. */
policy_reader policy_read_patterns;

/* Reads a struct policy_range: an exact number, or {min, max}. */
policy_reader policy_count_range;

/* Reads a struct policy_range, {min, max}, whose bounds `read` reads. */
bool policy_bounds(struct policy_draft *d, const struct yaml_node *node, const char *what,
                   policy_reader *read, void *range);

/* The keys of struct policy_filter, for mappings of a struct that begins with one. */
#define POLICY_FILTER_KEYS                                                                                   \
	{ "name", policy_pattern, offsetof(struct policy_filter, name) },                                    \
	    { "category", policy_pattern, offsetof(struct policy_filter, category) },                        \
	    { "kind", policy_read_kind, offsetof(struct policy_filter, kinds) },                             \
	{                                                                                                    \
		"thread", policy_pattern, offsetof(struct policy_filter, thread)                             \
	}

policy_reader policy_read_kind;

/* Whether a name, a category or a thread is stated. */
bool policy_filter_stated(const struct policy_filter *filter);

/* Whether both are the same pattern, or none. */
bool policy_pattern_equal(struct slice a, struct slice b);

/* Whether both have the same patterns and kinds. */
bool policy_filter_equal(const struct policy_filter *a, const struct policy_filter *b);

/* ---- read_expect.c ---- */

extern const char *const policy_statistics[]; /* keywords of enum policy_statistic, ends with NULL */

/* Read the keys "expect" and "budgets" of a struct policy_section. */
policy_reader policy_read_expect, policy_read_budgets;

/* ---- baseline.c ---- */

/* The tables of the report, in its order. */
enum baseline_table {
	BASELINE_SPANS,
	BASELINE_ASYNC,
	BASELINE_INSTANTS,
	BASELINE_COUNTERS,
	BASELINE_TABLES,
	BASELINE_SERIES = BASELINE_TABLES, /* those of the counters; their category is the series */
};

struct baseline_input;

struct baseline_values {
	double value; /* of the statistic: ns, events, bytes, events per second, or of a counter's values */
	double count; /* of spans */
	double sum;   /* of their durations, ns; NaN: not known */
};

/* Returns the input of the baseline to compare a trace with: the only input; else the one of the same path;
 * else the only one of the same file name; else NULL. */
const struct baseline_input *baseline_input(const struct policy_baseline *b, const char *path);

/* Finds the statistic of a budget for a name.  category: "" for instants and counters, the name of a series.
 * Returns false if the baseline lacks it. */
bool baseline_value(const struct baseline_input *in, enum baseline_table table, struct slice name,
                    struct slice category, const struct policy_budget *budget, struct baseline_values *v);

/* Returns the baseline of a further run, or NULL. */
const struct policy_baseline *baseline_next(const struct policy_baseline *b);

/* ---- the verdict ---- */

/* checks.c: adds a finding.  line: of the policy, added to the message; 0: none. */
void policy_finding(const struct policy_verdict *v, enum policy_rule rule, uint64_t offset, uint32_t line,
                    const char *fmt, ...) PRINTF(5, 6);

#define POLICY_FILTER_TEXT 1000 /* bytes */

/* checks.c: describes a set of events: `"draw*" of category "gpu" on thread "main"`. */
const char *policy_filter_text(const struct policy_filter *filter, char buffer[POLICY_FILTER_TEXT]);

/* checks.c: the loss of spans without an end; NULL: there are none. */
const struct ledger_row *policy_no_end(const struct run_report *run);

/* checks.c: the number of spans, including async ones. */
uint64_t policy_count_spans(const struct stats *s);

/* budget.c */
bool policy_check_budgets(const struct policy_verdict *v);

#endif
