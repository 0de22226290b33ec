#ifndef POLICY_DRAFT_H
#define POLICY_DRAFT_H

#include "policy/policy_file.h"
#include "yaml/yaml_file.h"

/* A policy while it is read. */
struct policy_draft {
	struct yaml_file yaml;
	struct policy_file *file;
};

/* A key of a mapping, and who takes its value. */
struct policy_key {
	const char *name;
	void (*take)(struct policy_draft *d, const struct yaml_node *value, void *into);
};

#define POLICY_MAX_KEYS 16

/* Hands each value of a mapping to its key's function, in the order of the keys.  false: it is no mapping, or
 * a mistake was said about a key. */
bool policy_map(struct policy_draft *d, const struct yaml_node *node, const char *what,
                const struct policy_key *keys, size_t n, void *into);
#define POLICY_MAP(d, node, what, keys, into)                                                                \
	policy_map(d, node, what, keys, sizeof keys / sizeof keys[0], into)

/* Cleared memory that lives as long as the policy; NULL: there is none, which the draft remembers. */
void *policy_alloc(struct policy_draft *d, size_t n, size_t size);

/* ---- values; false: a mistake was said, or memory is out ---- */

/* A copy that ends in a NUL. */
bool policy_text(struct policy_draft *d, const struct yaml_node *node, const char *what, struct slice *out);
/* A pattern: a text that does not take long to compare. */
bool policy_pattern(struct policy_draft *d, const struct yaml_node *node, const char *what,
                    struct slice *out);
/* One, or a list of some, at most `most`. */
bool policy_patterns(struct policy_draft *d, const struct yaml_node *node, const char *what, uint32_t most,
                     const struct slice **out, uint32_t *n);
bool policy_bool(struct policy_draft *d, const struct yaml_node *node, const char *what, bool *out);
bool policy_whole(struct policy_draft *d, const struct yaml_node *node, const char *what, uint64_t *out);
/* An exact number, or {min, max}. */
bool policy_counts(struct policy_draft *d, const struct yaml_node *node, const char *what,
                   struct policy_range *out);

/* The keys of struct policy_who, which a mapping of something that begins with one has. */
#define POLICY_WHO_KEYS                                                                                      \
	{ "name", policy_take_name }, { "category", policy_take_category }, { "kind", policy_take_kind },    \
	{                                                                                                    \
		"thread", policy_take_thread                                                                 \
	}
void policy_take_name(struct policy_draft *d, const struct yaml_node *node, void *who);
void policy_take_category(struct policy_draft *d, const struct yaml_node *node, void *who);
void policy_take_kind(struct policy_draft *d, const struct yaml_node *node, void *who);
void policy_take_thread(struct policy_draft *d, const struct yaml_node *node, void *who);

/* Whether any of the keys was given but the kind. */
bool policy_says_who(const struct policy_who *who);

/* The same, of everything. */
bool policy_same_who(const struct policy_who *a, const struct policy_who *b);

/* The key "expect" of a section. */
void policy_take_expect(struct policy_draft *d, const struct yaml_node *node, void *section);
/* The key "budgets". */
void policy_take_budgets(struct policy_draft *d, const struct yaml_node *node, void *section);

#endif
