#ifndef BASE_SLICE_TYPE_H
#define BASE_SLICE_TYPE_H

#include <stdint.h>

/* Borrowed text: bytes of the input, of an arena or of a literal; not NUL-terminated. */
struct slice {
	const char *p;
	uint32_t n;
	uint32_t flags; /* enum slice_flags; not set: unknown */
};

enum slice_flags {
	SLICE_UTF8 = 1,     /* valid UTF-8 */
	SLICE_JSON = 2,     /* valid UTF-8, and nothing needs an escape in a JSON string */
	SLICE_RAW_JSON = 4, /* the bytes are JSON text of their own (a number, an object, ...) */
	SLICE_STAYS = 8,    /* valid while the trace is read: same p, same text */
};

/* A literal of printable ASCII without quotes and backslashes. */
#define SLICE_LIT(s) ((struct slice){ (s), sizeof(s) - 1, SLICE_UTF8 | SLICE_JSON })

#endif
