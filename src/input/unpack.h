#ifndef INPUT_UNPACK_H
#define INPUT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"

/* Unpacks compressed parts of a record, for readers. */

enum unpack_kind { UNPACK_ZLIB, UNPACK_ZSTD };

struct unpacked {
	char *p; /* unpacked bytes, maybe incomplete; freed by the caller */
	size_t n;
	const char *fault; /* a static text; NULL: the input is one complete stream */
	bool is_too_large; /* more than `max` bytes: only the first are unpacked */
	bool no_memory;
};

/* Unpacks at most max bytes. */
struct unpacked unpack(enum unpack_kind kind, struct slice from, size_t max);

#endif
