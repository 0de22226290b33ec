#ifndef YAML_YAML_H
#define YAML_YAML_H

#include <stdarg.h>

#include "base/memory.h"
#include "check/findings.h"

/* ---- yaml node ---- */

/* A YAML text as a tree that knows where each of its nodes stands.  Everything lies in the arena. */

#define YAML_MAX_DEPTH 16 /* of lists and mappings in one another; languages need 6 */
#define YAML_MAX_NODES (1U << 18)

enum yaml_node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct yaml_node {
	uint8_t kind;            /* enum yaml_node_kind */
	uint32_t line, column;   /* in characters, from 1 */
	struct slice text;       /* of a scalar; a NUL stands behind it */
	struct yaml_node *child; /* the first item of a list; of a mapping: key, value, key, value, ... */
	struct yaml_node *next;
	uint32_t n; /* children */
};

struct yaml_node_error {
	uint32_t line, column;
	char text[160]; /* "": no memory */
};

/* ---- yaml file ---- */

/*
 * A file in YAML that is written for tracetool: its text, what stands where, and
 * the mistakes in it, each with its line and column.  Every language has rules
 * of its own for them, in the order of enum yaml_mistake.
 */
enum yaml_mistake { YAML_UNREADABLE, YAML_SYNTAX, YAML_UNKNOWN_KEY, YAML_BAD_VALUE };

struct yaml_file {
	struct slice text;
	const struct rule *rules;  /* rows by enum yaml_mistake; borrowed */
	struct findings *findings; /* findings->path is the file; borrowed */
	struct arena nodes;
	uint64_t mistakes;
	bool no_memory;
};

/* The text of a file of at most `most` bytes, to be freed, as input_read_whole() reads it.  false after a
 * finding. */
bool yaml_read(const char *path, size_t most, const struct rule *rules, struct findings *findings,
               char **text, size_t *n);

/* The same for a regular file below a folder, which is named by somebody else (base/os.h). */
bool yaml_read_below(const char *folder, const char *path, size_t most, const struct rule *rules,
                     struct findings *findings, char **text, size_t *n);

/* The text as a tree; NULL after a mistake, or without memory.  The nodes live until arena_free(&f->nodes).
 */
const struct yaml_node *yaml_root(struct yaml_file *f);

/* Says a mistake at a node; at a place, whose column counts characters. */
void yaml_say(struct yaml_file *f, enum yaml_mistake which, const struct yaml_node *at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

void yaml_say_v(struct yaml_file *f, enum yaml_mistake which, uint32_t line, uint32_t column, const char *fmt,
                va_list ap) __attribute__((format(printf, 5, 0)));

void yaml_say_at(struct yaml_file *f, enum yaml_mistake which, uint32_t line, uint32_t column,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* ---- values; `what` names them in messages.  false: a mistake was said ---- */

/* A scalar with something in it. */
bool yaml_is_text(struct yaml_file *f, const struct yaml_node *node, const char *what);

/* The index of one of several words, NULL-terminated. */
bool yaml_word(struct yaml_file *f, const struct yaml_node *node, const char *what, const char *const *words,
               uint32_t *out);

/* The values of a mapping: values[i] is that of the i-th of n keys, NULL where it is not there.  The i-th
 * name stands `stride` bytes behind the one before.  Unknown and repeated keys are said.  false: it is no
 * mapping.
 */
bool yaml_keys(struct yaml_file *f, const struct yaml_node *node, const char *what, const char *const *names,
               size_t stride, size_t n, const struct yaml_node **values);

#endif
