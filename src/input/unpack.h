#ifndef INPUT_UNPACK_H
#define INPUT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"

/* Unpacks compressed parts of a record, for readers. */

enum unpack_kind { UNPACK_ZLIB, UNPACK_ZSTD };

struct unpacked {
	char *p; /* what could be unpacked; to be freed */
	size_t n;
	const char *fault; /* a static text; NULL: all of it was one complete stream */
	bool is_too_large; /* more than `max` bytes: the first are there */
	bool no_memory;
};

/* Unpacks at most max bytes. */
struct unpacked unpack(enum unpack_kind kind, struct slice from, size_t max);

#endif
