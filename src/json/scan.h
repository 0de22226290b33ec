#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An index of a piece of JSON text, made 16 or more bytes at a time: the positions of its quotes, line feeds
 * and "odd" bytes (control bytes other than the line feed, DEL, backslashes, bytes that are not ASCII).  In a
 * line without odd bytes every pair of quotes encloses a string, whose text is the bytes between them.
 * Nothing outside the piece is read, nothing is allocated.
 */
#define JSON_CHUNK 16384 /* max bytes of a piece; with its positions it fits the first-level cache */
#define JSON_BLOCK 64
#define JSON_BLOCKS (JSON_CHUNK / JSON_BLOCK)

/* A bit for each byte of a block, the first byte in the lowest. */
struct json_masks {
	uint64_t quotes[JSON_BLOCKS], lines[JSON_BLOCKS], odd[JSON_BLOCKS];
};

/* Ascending offsets in the piece, followed by JSON_GUARDS times UINT32_MAX. */
#define JSON_GUARDS 8

struct json_positions {
	uint32_t n;
	uint32_t at[JSON_CHUNK + JSON_BLOCK + JSON_GUARDS];
};

/* 200 KiB: allocate it once and reuse it. */
struct json_index {
	const char *base; /* start of the piece; NULL: no index */
	uint32_t n;       /* bytes of the piece */
	struct json_positions quotes, lines, odd;
	struct json_masks masks;
};

/* An implementation.  All implementations have the same results. */
struct json_scanner {
	const char *name;
	/* Makes the masks of whole blocks. */
	void (*masks)(const char *p, size_t blocks, struct json_masks *out);
	void (*positions)(const uint64_t *masks, size_t blocks, struct json_positions *out);
	bool (*usable)(void);
};

/* All implementations, the fastest first, terminated by a name of NULL.  The last one runs on any machine. */
extern const struct json_scanner json_scanners[];

/* Returns the fastest implementation that this machine can run. */
const struct json_scanner *json_scanner_best(void);

/* Indexes the first n bytes at p, at most JSON_CHUNK of them. */
void json_index_make(struct json_index *ix, const struct json_scanner *how, const char *p, size_t n);

#endif
