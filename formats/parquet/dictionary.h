#ifndef PARQUET_PARQUET_DICTIONARY_H
#define PARQUET_PARQUET_DICTIONARY_H

#include "base/arena.h"
#include "base/table.h"
#include "output/text.h"

/* The values of a column in a row group that come again, each stored once. */
#define DICTIONARY_MAX 65536U       /* values: their numbers have 16 bits */
#define DICTIONARY_BYTES (1U << 20) /* of texts */
#define DICTIONARY_NONE UINT32_MAX  /* there is no room, or no memory */

/* Zero-initialise to start. */
struct dictionary {
	struct tabletext texts; /* 2 * number, + 1 if the text was mended */
	struct table64 numbers;
	struct arena arena;
	struct text plain; /* the values, as PLAIN has them */
	uint32_t n;
	bool no_memory;
};

/* The number of a value; *fresh: it is a new one. */
/* size: 4 or 8 bytes */
uint32_t dictionary_u64(struct dictionary *d, uint64_t v, unsigned size, bool *fresh);

/* Texts that are not UTF-8 are mended: U+FFFD stands for what is not.  *stored: the text as it is now. */
struct dictionary_text {
	uint32_t number;
	bool mended, fresh;
	struct slice stored;
};

struct dictionary_text dictionary_text(struct dictionary *d, struct slice s);

/* Empties it. */
void dictionary_reset(struct dictionary *d);
void dictionary_free(struct dictionary *d);

/* ---- PLAIN values ---- */

static inline void
plain_u32(struct text *t, uint32_t v)
{
	char *const p = text_room(t, 4);

	if (p == NULL)
		return;
	p[0] = (char)v, p[1] = (char)(v >> 8), p[2] = (char)(v >> 16), p[3] = (char)(v >> 24);
	t->n += 4;
}

static inline void
plain_u64(struct text *t, uint64_t v)
{
	char *const p = text_room(t, 8);

	if (p == NULL)
		return;
	p[0] = (char)v, p[1] = (char)(v >> 8), p[2] = (char)(v >> 16), p[3] = (char)(v >> 24);
	p[4] = (char)(v >> 32), p[5] = (char)(v >> 40), p[6] = (char)(v >> 48), p[7] = (char)(v >> 56);
	t->n += 8;
}

void plain_text(struct text *t, struct slice s); /* its length, then its bytes */

#endif
