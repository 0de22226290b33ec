#ifndef PARAVER_ARROWS_H
#define PARAVER_ARROWS_H

#include "base/spill_file.h"
#include "base/table.h"

/*
 * Where arrows arrive.  A communication stands where it was sent, in order of
 * time, but its receiver is met later.  So each arrow gets a number when it
 * leaves, its arrival is put under that number, and in the end they are asked
 * for one after the other.
 *
 * Of the arrows that are under way the last million is known.
 */
#define PARAVER_ARROWS_WAY (1U << 19) /* half of it */
#define PARAVER_ARROWS_BLOCK 1024U
#define PARAVER_ARROWS_NEAR 65536U /* arrivals in memory; the others are in a file */

struct paraver_arrival {
	uint64_t time;
	uint32_t row;  /* index + 1; 0: it never arrived */
	uint32_t name; /* of the arrow; a number */
};

/* Zero-initialise to start, but `beside`. */
struct paraver_arrows {
	struct table64 young, old; /* id -> number, of those under way */
	uint32_t n;                /* arrows that left */
	uint32_t nyoung, first;    /* ids in `young`; number of near[0] */
	struct paraver_arrival *near;
	struct spill_file file;
	const char *beside;
	struct paraver_arrival block[PARAVER_ARROWS_BLOCK]; /* of the file, that was asked for last */
	uint32_t block_first, block_n;
	bool failed, no_memory;
};

/* An arrow leaves; false: there are 2^32 of them already. */
bool paraver_arrow_out(struct paraver_arrows *a, uint64_t id);

/* It arrives; false: none of this id is under way. */
bool paraver_arrow_in(struct paraver_arrows *a, uint64_t id, const struct paraver_arrival *at);

/* The arrival of an arrow, when nothing arrives any more; best asked for one after the other. */
struct paraver_arrival paraver_arrow_get(struct paraver_arrows *a, uint32_t number);

void paraver_arrows_free(struct paraver_arrows *a);

#endif
