#ifndef POLICY_PRIVATE_H
#define POLICY_PRIVATE_H

/* The private header of policies: reading a file, and parts of the verdict. */
#include "policy/policy.h"

/* ---- reading a file (read.c) ---- */

struct policy_draft {
	struct yaml_file yaml;
	struct policy_file *file;
};

struct policy_key {
	const char *name;
	void (*read)(struct policy_draft *d, const struct yaml_node *value, void *into);
};

#define POLICY_MAX_KEYS 16

/* Calls the function of each key that the mapping has, in the order of the keys.  Returns false if the node
 * is no mapping, or has unknown or repeated keys, which are reported. */
bool policy_map(struct policy_draft *d, const struct yaml_node *node, const char *what,
                const struct policy_key *keys, size_t n, void *into);

#define POLICY_MAP(d, node, what, keys, into)                                                                \
	policy_map(d, node, what, keys, sizeof keys / sizeof keys[0], into)

/* Cleared memory that lives as long as the policy.  NULL sets d->yaml.no_memory. */
void *policy_alloc(struct policy_draft *d, size_t n, size_t size);

/* Values; `what` is the key, for messages.  false: after a finding, or on OOM. */

/* A copy that ends with a NUL. */
bool policy_text(struct policy_draft *d, const struct yaml_node *node, const char *what, struct slice *out);

/* A text that is fast to compare as a pattern. */
bool policy_pattern(struct policy_draft *d, const struct yaml_node *node, const char *what,
                    struct slice *out);

/* A pattern, or a list of at most `max`. */
bool policy_patterns(struct policy_draft *d, const struct yaml_node *node, const char *what, uint32_t max,
                     const struct slice **out, uint32_t *n);
bool policy_bool(struct policy_draft *d, const struct yaml_node *node, const char *what, bool *out);

/* An exact number, or {min, max}. */
bool policy_count_range(struct policy_draft *d, const struct yaml_node *node, const char *what,
                        struct policy_range *out);

/* The keys of struct policy_who, for mappings of a struct that begins with one. */
#define POLICY_WHO_KEYS                                                                                      \
	{ "name", policy_read_name }, { "category", policy_read_category }, { "kind", policy_read_kind },    \
	{                                                                                                    \
		"thread", policy_read_thread                                                                 \
	}

void policy_read_name(struct policy_draft *d, const struct yaml_node *node, void *who);
void policy_read_category(struct policy_draft *d, const struct yaml_node *node, void *who);
void policy_read_kind(struct policy_draft *d, const struct yaml_node *node, void *who);
void policy_read_thread(struct policy_draft *d, const struct yaml_node *node, void *who);

/* Returns true if a name, a category or a thread is stated. */
bool policy_who_stated(const struct policy_who *who);

/* Returns true if both have the same patterns and kinds. */
bool policy_who_equal(const struct policy_who *a, const struct policy_who *b);

/* ---- read_expect.c ---- */

extern const char *const policy_statistics[]; /* keywords of enum policy_statistic, ends with NULL */

/* The keys "expect" and "budgets" of a struct policy_section. */
void policy_read_expect(struct policy_draft *d, const struct yaml_node *node, void *section);
void policy_read_budgets(struct policy_draft *d, const struct yaml_node *node, void *section);

/* ---- baseline.c ---- */

/* The tables of the report, in its order. */
enum baseline_table { BASELINE_SPANS, BASELINE_ASYNC, BASELINE_INSTANTS, BASELINE_COUNTERS, BASELINE_TABLES };

struct baseline_input;

struct baseline_values {
	double value; /* of the statistic: ns, events, or events per second */
	double count; /* of spans */
	double sum;   /* of their durations, ns; NaN: not known */
};

/* Returns the input of the baseline to compare a trace with: the only one, else that of the same path, else
 * the only one of the same file name, else NULL. */
const struct baseline_input *baseline_input(const struct policy_baseline *b, const char *path);

/* The statistic of a budget for a name.  category: "" for instants and counters.  Returns false if it is not
 * known. */
bool baseline_value(const struct baseline_input *in, enum baseline_table table, struct slice name,
                    struct slice category, const struct policy_budget *budget, struct baseline_values *v);

/* The baseline of a further run; NULL: none. */
const struct policy_baseline *baseline_next(const struct policy_baseline *b);

/* ---- the verdict ---- */

/* checks.c: adds a finding.  line: of the policy, added to the message; 0: none. */
void policy_finding(const struct policy_verdict *v, enum policy_rule rule, uint64_t offset, uint32_t line,
                    const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#define POLICY_WHO_TEXT 1000 /* bytes */

/* checks.c: describes a set of events: `"draw*" of category "gpu" on thread "main"`. */
const char *policy_who_text(const struct policy_who *who, char buffer[POLICY_WHO_TEXT]);

/* checks.c: the number of spans, including async ones. */
uint64_t policy_count_spans(const struct stats *s);

/* budget.c */
bool policy_check_budgets(const struct policy_verdict *v);

#endif
