#ifndef YAML_YAML_H
#define YAML_YAML_H

#include "base/compiler.h"
#include "base/memory.h"
#include "check/findings.h"

/*
 * YAML files for tracetool (policies, vocabularies, maps of `compare`): a text as a tree of nodes with
 * positions, typed access to values, and findings for mistakes with line and column.
 */

/* ---- nodes ---- */

#define YAML_MAX_DEPTH 16 /* nesting of lists and mappings; the languages need 6 */
#define YAML_MAX_NODES (1U << 18)

enum yaml_node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct yaml_node {
	uint8_t kind;            /* enum yaml_node_kind */
	uint32_t line, column;   /* from 1; columns in characters */
	struct slice text;       /* of a scalar; a NUL follows */
	struct yaml_node *child; /* first item of a list; of a mapping: key, value, key, value, ... */
	struct yaml_node *next;
	uint32_t n; /* number of children */
};

/* ---- files ---- */

/* Kinds of mistakes.  Each language has a rule for each, in this order. */
enum yaml_mistake { YAML_UNREADABLE, YAML_SYNTAX, YAML_UNKNOWN_KEY, YAML_BAD_VALUE };

struct yaml_file {
	struct slice text;
	const struct rule *rules;  /* by enum yaml_mistake; borrowed */
	struct findings *findings; /* findings->path is the file; borrowed */
	struct arena nodes;
	uint64_t mistakes;
	bool no_memory;
};

/* Reads a file of at most `max` bytes with input_read_unpacked(); the caller frees *text.  Returns false
 * after a finding. */
bool yaml_read(const char *path, size_t max, const struct rule *rules, struct findings *findings, char **text,
               size_t *n);

/* Reads a file at a path from untrusted input.  It must be a regular file below the folder (base/os.h).
 * Otherwise like yaml_read(), but does not unpack the file. */
bool yaml_read_below(const char *folder, const char *path, size_t max, const struct rule *rules,
                     struct findings *findings, char **text, size_t *n);

/* Parses f->text.  Returns NULL after a mistake or on OOM (f->no_memory).  arena_free(&f->nodes) frees the
 * nodes. */
const struct yaml_node *yaml_root(struct yaml_file *f);

/* Report a mistake at a node, or at a position whose column counts characters. */
void yaml_report(struct yaml_file *f, enum yaml_mistake which, const struct yaml_node *at, const char *fmt,
                 ...) PRINTF(4, 5);
void yaml_report_at(struct yaml_file *f, enum yaml_mistake which, uint32_t line, uint32_t column,
                    const char *fmt, ...) PRINTF(5, 6);

/* ---- values ---- */

/* `what` names the value in messages.  These functions return false after they report a mistake. */

/* Reports YAML_BAD_VALUE.  Always returns false. */
bool yaml_bad(struct yaml_file *f, const struct yaml_node *at, const char *fmt, ...) PRINTF(3, 4);

/* Checks that the node is a scalar and not empty. */
bool yaml_is_text(struct yaml_file *f, const struct yaml_node *node, const char *what);

/* *out: the index of a scalar in a NULL-terminated list of words. */
bool yaml_word(struct yaml_file *f, const struct yaml_node *node, const char *what, const char *const *words,
               uint32_t *out);

/* Checks that a pattern is fast to compare. */
#define YAML_MAX_STARS 16U /* in a pattern */
bool yaml_is_glob(struct yaml_file *f, const struct yaml_node *node, const char *what, struct slice glob);

/* Reads true or false. */
bool yaml_bool(struct yaml_file *f, const struct yaml_node *node, const char *what, bool *out);

/* Iteration over a value that is one item or a list of items: the number of items, the first, the next. */
static inline uint32_t yaml_count(const struct yaml_node *node)
{
	return node->kind == NODE_LIST ? node->n : 1;
}

static inline const struct yaml_node *yaml_first(const struct yaml_node *node)
{
	return node->kind == NODE_LIST ? node->child : node;
}

static inline const struct yaml_node *yaml_after(const struct yaml_node *node, const struct yaml_node *item)
{
	return node->kind == NODE_LIST ? item->next : NULL;
}

/* Report a repeated key.  yaml_is_first() compares the key with all keys before it in the mapping, so it is
 * only for mappings of few keys; it returns false if the key is repeated. */
bool yaml_repeated(struct yaml_file *f, const struct yaml_node *key);
bool yaml_is_first(struct yaml_file *f, const struct yaml_node *map, const struct yaml_node *key);

/* Reads a mapping.  values[i]: the value of the i-th of n keys; NULL if absent.  The names are `stride` bytes
 * apart.  Reports unknown and repeated keys.  Returns false if the node is no mapping. */
bool yaml_keys(struct yaml_file *f, const struct yaml_node *node, const char *what, const char *const *names,
               size_t stride, size_t n, const struct yaml_node **values);

#endif
