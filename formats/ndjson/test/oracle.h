#ifndef NDJSON_ORACLE_H
#define NDJSON_ORACLE_H

#include "base/memory.h"

/*
 * A second reading of the lines, made from the manual page: slow, and it shares
 * no code with the writer.  All it makes lies in the caller's arena; memory
 * must not run out.  A fault is a text; NULL: there is none.
 */

enum oracle_form { ORACLE_NULL, ORACLE_BOOL, ORACLE_NUMBER, ORACLE_TEXT, ORACLE_ARRAY, ORACLE_OBJECT };

/* JSON, with numbers as they are written. */
struct oracle_json {
	enum oracle_form form;
	bool truth;
	struct slice raw;  /* as it stands in the line */
	struct slice text; /* of ORACLE_TEXT, unescaped */
	struct oracle_json *items;
	struct slice *names; /* of an object's items */
	uint32_t n;
};

/* A value with its type, in the words of the manual page. */
struct oracle_value {
	const char *type;            /* "none", "u8", ..., "list", "map" */
	const char *element;         /* of a list: the type that it says for its values, or NULL */
	uint64_t bits;               /* of numbers: as they lie in memory with 64 bits; floats as doubles */
	struct slice text;           /* of string, bytes, json */
	struct oracle_value *values; /* of maps: key, value, key, value, ... */
	uint32_t n;                  /* of maps: pairs */
};

struct oracle_field {
	struct slice name;
	struct oracle_value value;
};

/* Parses one JSON value with nothing behind it. */
const char *oracle_parse(struct arena *a, struct slice line, struct oracle_json *to);

/* The member, or NULL. */
const struct oracle_json *oracle_member(const struct oracle_json *o, const char *name);

/* The text of a member, unescaped where `escaped` names it; p NULL: there is none. */
struct slice oracle_text(struct arena *a, const struct oracle_json *o, const char *name);

/* \xHH and \\ become bytes. */
struct slice oracle_unescape(struct arena *a, struct slice s);

/* The integer of a member, as it lies in memory; `absent` if there is none. */
uint64_t oracle_integer(const struct oracle_json *o, const char *name, uint64_t absent);

/* The fields of a line.  cls: the line of its class; NULL: it has none. */
const char *oracle_fields(struct arena *a, const struct oracle_json *line, const struct oracle_json *cls,
                          struct oracle_field **fields, uint32_t *n);

#endif
