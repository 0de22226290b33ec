#ifndef RUN_WRITE_RECOVER_RIG_TEST_H
#define RUN_WRITE_RECOVER_RIG_TEST_H

#include "run/write/writing.h"

/* For tests: the result of a recovery of bytes in memory. */
struct recovered {
	bool readable; /* the format recognises the bytes, and a record was kept or nothing lost */
	char *p;       /* the output, n bytes */
	size_t n;
	uint64_t records, dropped, gaps, repairs;
	struct recover_change *changes; /* `why` is NULL; ended by `nchanges` */
	size_t nchanges;
	char first_why[200]; /* of the first change */
};

/* told: the reader is told the format; else it is found by content.  step: the window grows by this number
 * of bytes; 0: the input is one window. */
void recover_bytes(struct recovered *r, const struct format *format, bool told, const char *p, size_t n,
                   size_t step);
void recovered_free(struct recovered *r);

/* Recovers the bytes and checks the promises: kept bytes and changes are the input, the output has no
 * error of structure, and recovering it again changes nothing.  Returns NULL, or the broken promise.
 * *readable: as in struct recovered. */
const char *recover_fault(const struct format *format, const char *p, size_t n, bool *readable);

/* The same input through a window that grows by `step` bytes.  Its first bytes may lead to another layout,
 * so this only checks that kept bytes and changes are the input. */
const char *recover_fault_slowly(const struct format *format, const char *p, size_t n, size_t step);

/* Damages p[0..n), which has space for 64 more bytes, in one way: up to 64 bytes, or all bytes after one
 * of them.  Some ways damage JSON.  Returns the new length; [*from, *to): the damaged bytes in the old p. */
size_t recover_damage(char *p, size_t n, uint64_t *seed, size_t *from, size_t *to);

#endif
