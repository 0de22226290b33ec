#ifndef COMPARE_CANON_JSON_H
#define COMPARE_CANON_JSON_H

#include "compare/canon.h"
#include "json/json_number.h"

/* The parts of compare/canon.h that values and JSON text share. */

enum canon_tag {
	CANON_NONE = 1,
	CANON_FLOAT,
	CANON_TEXT,
	CANON_LIST,
	CANON_OBJECT,
	CANON_MEMBER
};

struct wide_hash canon_none(void);
struct wide_hash canon_float(double v);
struct wide_hash canon_text(struct slice s);

/* A name with its value; sum: of the members of an object, of which there are `count`. */
struct wide_hash canon_member(struct slice name, struct wide_hash of_value);
struct wide_hash canon_object(uint64_t count, struct wide_hash sum);

/* run: what its values, added one after the other, make of { 0, 0 }. */
struct wide_hash canon_list(uint64_t count, struct wide_hash run);

/* Text of a VALUE_JSON at this depth; text that is no JSON counts by its bytes. */
struct wide_hash canon_json(struct canon *c, struct slice text, unsigned depth);

#endif
