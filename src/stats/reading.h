#ifndef STATS_READING_H
#define STATS_READING_H

#include "base/compiler.h"
#include "json/token.h"
#include "stats/stats.h"

/* The private header of reading a file of `stats --full`: read.c reads its tables, reading.c their values. */

struct reading {
	struct stats_file *file;
	struct stats *s; /* the present input */
	struct json json;
	const char *end;
	bool has_full; /* "full" of the input was read */
	bool no_memory;
};

/* Keep the first mistake of the file, or that memory ran out.  Both return false. */
COLD bool reading_fail(struct reading *r, const char *at, const char *wrong);
bool reading_no_memory(struct reading *r);

/* Reads a value to `to`.  Returns false after a mistake, or on OOM. */
typedef bool value_reader(struct reading *r, struct json_token *v, void *to);

value_reader reading_u64, reading_bool;
value_reader reading_sum, reading_total; /* uint128 and struct total, at most 2^100 */
value_reader reading_any_f64;            /* also "inf", "-inf" and "nan" */
value_reader reading_f64;                /* finite */
value_reader reading_text;               /* struct slice */
value_reader reading_ns;                 /* before 0 only if the first time of the input is */
value_reader reading_later;              /* struct json_token: its value is read later */

/* Begins a walk; a value of another kind is a mistake. */
struct json_walk reading_walk(struct reading *r, const struct json_token *v, enum json_kind kind);

/* Ends a walk through v.  Returns false if it did not reach the end. */
bool reading_walked(struct reading *r, const struct json_walk *w, struct json_token *v);

/* Reads each entry of a list to the same place. */
bool reading_list(struct reading *r, struct json_token *list, value_reader *read, void *to);

/* A member that is read, if it is there. */
struct member {
	const char *name;
	value_reader *read;
	void *to;
};

/* Reads the current member, or each entry of this member; one that is not listed is ignored. */
bool reading_member(struct reading *r, struct json_walk *w, const struct member *list, size_t n, bool each);

/* The keys of a group, which are members of its object. */
struct row_keys {
	struct slice *values;
	unsigned n;
	unsigned met; /* bit i: the i-th key was read */
};

/* keys: NULL if the object is not a group. */
bool reading_object(struct reading *r, struct json_token *object, struct row_keys *keys,
                    const struct member *list, size_t n);

#endif
