#ifndef NDJSON_ORACLE_H
#define NDJSON_ORACLE_H

#include "base/memory.h"

/*
 * A second parser of the lines, written from the manual page: slow, without code of the reader or writer.
 * Allocates in the caller's arena and assumes that memory suffices.  Functions return a fault as text, or
 * NULL.
 */

enum oracle_form { ORACLE_NULL, ORACLE_BOOL, ORACLE_NUMBER, ORACLE_TEXT, ORACLE_ARRAY, ORACLE_OBJECT };

/* JSON, with numbers as they are written. */
struct oracle_json {
	enum oracle_form form;
	bool truth;
	struct slice raw;  /* unchanged bytes of the line */
	struct slice text; /* of ORACLE_TEXT, unescaped */
	struct oracle_json *items;
	struct slice *names; /* of an object's items */
	uint32_t n;
};

/* A value with its type, named as in the manual page. */
struct oracle_value {
	const char *type;            /* "none", "u8", ..., "list", "map" */
	const char *element;         /* of a list: declared type of its values, or NULL */
	uint64_t bits;               /* of numbers: 64-bit representation; floats as doubles */
	struct slice text;           /* of string, bytes, json */
	struct oracle_value *values; /* of maps: key, value, key, value, ... */
	uint32_t n;                  /* of maps: pairs */
};

struct oracle_field {
	struct slice name;
	struct oracle_value value;
};

/* Parses one JSON value that is all of the text. */
const char *oracle_parse(struct arena *a, struct slice line, struct oracle_json *to);

/* Returns the member, or NULL. */
const struct oracle_json *oracle_member(const struct oracle_json *o, const char *name);

/* Returns the text of a member, unescaped if `escaped` names it; p NULL: absent. */
struct slice oracle_text(struct arena *a, const struct oracle_json *o, const char *name);

/* Replaces \xHH and \\ by bytes. */
struct slice oracle_unescape(struct arena *a, struct slice s);

/* Returns the 64-bit representation of an integer member; `absent` if there is none. */
uint64_t oracle_integer(const struct oracle_json *o, const char *name, uint64_t absent);

/* Reads the fields of a line.  cls: the line of its class, or NULL. */
const char *oracle_fields(struct arena *a, const struct oracle_json *line, const struct oracle_json *cls,
                          struct oracle_field **fields, uint32_t *n);

#endif
