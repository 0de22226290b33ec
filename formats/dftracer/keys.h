#ifndef DFTRACER_KEYS_H
#define DFTRACER_KEYS_H

#include "base/arena.h"
#include "dftracer/record.h"

/*
 * The keys of arguments: few, and they come again in every record, so each has
 * a number.  Their table is not that of base/table.h: one that holds short keys
 * itself makes records that are parsed 4 % faster.
 */

#define DFT_MAX_KEYS 4096
#define DFT_KEY_SLOTS 8192
#define DFT_MAX_KEY_BYTES (256u << 10) /* of all keys */

struct dft_key {
	uint64_t low, high; /* the first 16 bytes, zeros behind the end */
	struct slice text;
	uint8_t role;     /* enum dft_role */
	uint64_t object;  /* the last one that had it ... */
	uint32_t repeats; /* ... and how often before */
};

struct dft_keys {
	struct dft_key *keys;
	uint16_t *slots; /* number + 1; 0: empty */
	uint32_t n, bytes;
	uint64_t seed;
	uint64_t object; /* the present one */
	struct arena text;
};

bool dft_keys_init(struct dft_keys *k);
void dft_keys_free(struct dft_keys *k);

/* The number of a key, new ones are added; DFT_NO_KEY: there are too many. */
uint16_t dft_key_number(struct dft_keys *k, struct slice s);

/* Which of the known members; DFT_TOPS: none. */
enum dft_top dft_top_of(struct slice key);

#endif
