#ifndef YAML_NODE_H
#define YAML_NODE_H

#include "base/arena.h"

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

/* The one document of a text, which is valid UTF-8.  NULL: it is none, *error says why. */
struct yaml_node *yaml_node_parse(struct arena *a, struct slice text, struct yaml_node_error *error);

#endif
