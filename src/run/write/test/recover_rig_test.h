#ifndef RUN_WRITE_RECOVER_RIG_TEST_H
#define RUN_WRITE_RECOVER_RIG_TEST_H

#include "run/write/writing.h"

/* For tests: what recover makes of bytes in memory, and what must be true of it. */
struct recovered {
	bool readable; /* the format recognises the bytes, and a record was kept or nothing lost */
	char *p;       /* the output, n bytes */
	size_t n;
	uint64_t records, dropped, gaps, repairs;
	struct recover_change *changes; /* `why` is NULL; ended by `nchanges` */
	size_t nchanges;
	char first_why[200]; /* of the first change */
};

/* told: the reader is told the format, else the bytes must show it.  step: 0: the input is one window, else
 * the window grows by so many bytes. */
void recover_bytes(struct recovered *r, const struct format *format, bool told, const char *p, size_t n,
                   size_t step);
void recovered_free(struct recovered *r);

/* Recovers the bytes and holds the promises against the result: kept bytes and changes are the input, the
 * output has no error of structure, and recovering it changes nothing.  NULL: they hold, else which does
 * not.  `readable`: as above. */
const char *recover_fault(const struct format *format, const char *p, size_t n, bool *readable);

/* The same input through a window that grows by `step` bytes.  What it shows first may lead to another
 * layout, so only that the changes and kept bytes are the input is looked at. */
const char *recover_fault_slowly(const struct format *format, const char *p, size_t n, size_t step);

/* Damages p[0..n), with room for 64 more bytes, in one way: up to 64 bytes, or all behind one of them.  Some
 * ways are those of damaged JSON.  Returns the new length; [*from, *to): the damaged bytes of p as it was. */
size_t recover_damage(char *p, size_t n, uint64_t *seed, size_t *from, size_t *to);

#endif
