#ifndef COMPARE_CANON_H
#define COMPARE_CANON_H

#include "base/arena.h"
#include "compare/wide_hash.h"
#include "model/event.h"

/*
 * Values in one form, so that formats with other types agree about them:
 *  - numbers count by their value, not by their type and width; true is 1, false is 0.  A float of 32 bits
 *    counts as its shortest decimal text says: 0.1 is 0.1.  All NaNs are the same.
 *  - an address is a number; so is text of the form 0x1f, in which outputs of text write addresses.
 *  - bytes are the text of their digits: 0x00ff.
 *  - text of the digits of an integer beyond +-(2^53 - 1) is that integer, as outputs of JSON write it.
 *  - other texts count by their bytes; no value is another value than any text or number.
 *  - lists count in order.  A map whose keys are all text counts as a JSON object, whose members have no
 *    order; any other as a list of pairs.
 *  - JSON counts as what it says: its blanks, escapes and the order of its members do not.
 *  - what lies deeper than CANON_DEPTH lists and maps does not count.
 */
#define CANON_DEPTH 100

#define CANON_INTEGER 16U /* or 17: the second half of the hash of an integer; the first is its magnitude */

/* Zero-initialise to start. */
struct canon {
	struct arena scratch; /* failed: hashes are of no use */
};

/* Without wide_hash_end(): to be compared, or added to another hash. */
struct wide_hash canon_value(struct canon *c, const struct value *v);

/* The same of an integer. */
static inline struct wide_hash
canon_integer(bool negative, uint64_t magnitude)
{
	return (struct wide_hash){ magnitude, CANON_INTEGER + (negative && magnitude > 0) };
}

void canon_free(struct canon *c);

#endif
