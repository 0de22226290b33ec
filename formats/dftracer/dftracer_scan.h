#ifndef DFTRACER_SCAN_H
#define DFTRACER_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where the interesting bytes of a piece of JSON lines are, found 16 or more
 * at a time: quotes, line ends, and "odd" bytes (control bytes other than the
 * line end, backslashes, all that is not ASCII).  A line without odd bytes
 * has a string between every two quotes.
 */
#define DFT_CHUNK 16384 /* bytes looked at in one go: these and the positions stay in the first cache */
#define DFT_BLOCK 64
#define DFT_BLOCKS (DFT_CHUNK / DFT_BLOCK)

/* A bit for each byte of a block, the first byte in the lowest. */
struct dft_masks {
	uint64_t quotes[DFT_BLOCKS], lines[DFT_BLOCKS], odd[DFT_BLOCKS];
};

/* Positions, relative to where the piece starts, in order.  Behind the last stand DFT_GUARDS times
 * UINT32_MAX. */
#define DFT_GUARDS 8
struct dft_positions {
	uint32_t n;
	uint32_t at[DFT_CHUNK + DFT_BLOCK + DFT_GUARDS];
};

struct dft_index {
	const char *base; /* NULL: nothing was looked at */
	uint32_t n;       /* bytes that were */
	struct dft_positions quotes, lines, odd;
	struct dft_masks masks;
};

/* One way to do it; all give the same. */
struct dft_scanner {
	const char *name;
	/* Whole blocks only; reads nothing else. */
	void (*masks)(const char *p, size_t blocks, struct dft_masks *out);
	void (*positions)(const uint64_t *masks, size_t blocks, struct dft_positions *out);
	bool (*usable)(void);
};

/* Ended by a name of NULL, the best first; the last before that needs nothing of the machine. */
extern const struct dft_scanner dft_scanners[];

/* The best of this machine. */
const struct dft_scanner *dft_scanner_best(void);

/* Looks at the first n bytes at p, at most DFT_CHUNK. */
void dft_index_make(struct dft_index *ix, const struct dft_scanner *how, const char *p, size_t n);

#endif
