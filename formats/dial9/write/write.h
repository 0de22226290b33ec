#ifndef DIAL9_WRITE_WRITE_H
#define DIAL9_WRITE_WRITE_H

/*
 * Private header of the writers of dial9.
 *
 *   write.c   events of other formats, schemas, tracks, facts
 *   values.c  values, and the string pool of the output
 *   copy.c    copies of records
 *   select.c  selections of records
 */
#include "dial9/dial9.h"

enum d9w_loss {
#define LOSS(row, key, line, ...) D9W_##row,
#include "dial9/write/losses.def"
#undef LOSS
	D9W_LOSSES
};

extern const struct loss d9w_losses[D9W_LOSSES + 1];
extern const struct writer_ops d9w_ops;

static inline void d9w_lose(struct chunk *chunk, enum d9w_loss kind, uint64_t offset)
{
	ledger_add(&chunk->ledger, &d9w_losses[kind], offset, 1);
}

/* write.c: numbers, times, texts */

/* Adds a length of 32 bits and the text. */
void d9w_text32(struct text *t, struct slice s);

/* Adds a timestamp reset, and sets *base to ts. */
void d9w_reset(uint64_t *base, uint64_t ts, struct chunk *chunk);
void d9w_varint(struct text *t, uint64_t v);

/* Adds a text, cut to `max` bytes, with U+FFFD for bytes that are not UTF-8.  Returns true if it changed. */
bool d9w_put_repaired(struct text *t, struct slice s, uint32_t max);

/* Returns the delta from *base of a timed event at `ts`, and sets *base to ts.  Writes a reset first if the
 * delta would not fit. */
uint32_t d9w_delta(uint64_t *base, uint64_t ts, struct chunk *chunk);

/* Adds the schema of the wall time, with this type id. */
void d9w_clock_schema(struct text *t, uint32_t id);

/* Adds the wall time, if it is known, that corresponds to *base, or to 0. */
void d9w_clock(uint64_t *base, uint32_t id, const struct run_facts *run, struct chunk *chunk);

/* values.c */

#define D9W_NO_ID UINT32_MAX

/* How a value is encoded. */
struct d9w_cell {
	uint8_t wire; /* enum d9_type, with D9_OPTIONAL if optional */
	uint8_t type; /* original type: see enum d9_made_type */
	uint32_t id;  /* in the pool, or D9W_NO_ID */
};

/* The string pool, and the limits of the current event. */
struct d9w_values {
	bool as_0_3;
	struct arena arena;
	struct tabletext pool; /* text -> id */
	uint32_t pool_bytes;
	struct chunk *chunk; /* the output */
	uint64_t offset;     /* of the current event */
	uint32_t left;       /* bytes left for values of the current event */
	uint32_t referred;   /* bytes of pooled texts that the current event refers to */
	struct text scratch;
};

/* Returns the encoding of a field's value.  Adds texts to the pool: not to be called inside an event. */
struct d9w_cell d9w_cell_of(struct d9w_values *x, const struct value *v);

/* Returns the dialect of the output. */
enum d9_dialect d9w_dialect(const struct option_value *options);

void d9w_value(struct d9w_values *x, struct d9w_cell cell, const struct value *v);

/* Encode all fields of an event as one value. */
struct d9w_cell d9w_all_cell(const struct d9w_values *x);
void d9w_all(struct d9w_values *x, const struct field *f, uint32_t n);

/* copy.c: copies of all records, or of a selection with its definitions */

extern const struct copier_ops d9w_copier_ops;

#endif
