#ifndef JSON_JSON_SCAN_H
#define JSON_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An index of a piece of JSON text, made 16 or more bytes at a time: where its
 * quotes, line feeds and "odd" bytes are (control bytes other than the line
 * feed, DEL, backslashes, all that is not ASCII).  A line without odd bytes has a
 * string between every two quotes, and the string is the bytes between them.
 *
 * Nothing is allocated, and nothing outside the piece is read.
 */
#define JSON_CHUNK 16384 /* bytes of a piece: these and the positions stay in the first-level cache */
#define JSON_BLOCK 64
#define JSON_BLOCKS (JSON_CHUNK / JSON_BLOCK)

/* A bit for each byte of a block, the first byte in the lowest. */
struct json_masks {
	uint64_t quotes[JSON_BLOCKS], lines[JSON_BLOCKS], odd[JSON_BLOCKS];
};

/* Positions in ascending order, counted from the start of the piece.  JSON_GUARDS times UINT32_MAX follow. */
#define JSON_GUARDS 8
struct json_positions {
	uint32_t n;
	uint32_t at[JSON_CHUNK + JSON_BLOCK + JSON_GUARDS];
};

/* 200 KiB: for the heap, made once and used again. */
struct json_index {
	const char *base; /* of the piece; NULL: there is no index */
	uint32_t n;       /* its bytes */
	struct json_positions quotes, lines, odd;
	struct json_masks masks;
};

/* An implementation; all give the same results. */
struct json_scanner {
	const char *name;
	/* Whole blocks only. */
	void (*masks)(const char *p, size_t blocks, struct json_masks *out);
	void (*positions)(const uint64_t *masks, size_t blocks, struct json_positions *out);
	bool (*usable)(void);
};

/* The fastest first, ended by a name of NULL; the last runs on any machine. */
extern const struct json_scanner json_scanners[];

/* The fastest of this machine. */
const struct json_scanner *json_scanner_best(void);

/* Makes the index of the first n bytes at p, at most JSON_CHUNK of them. */
void json_index_make(struct json_index *ix, const struct json_scanner *how, const char *p, size_t n);

#endif
