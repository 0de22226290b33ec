#ifndef HEPH_WRITE_H
#define HEPH_WRITE_H

#include "format/format.h"
#include "heph/heph_wire.h"

/*
 * The writer.  Packets of a Heph trace are written as they are; what other
 * formats hold becomes events of Heph.
 */

enum hpw_loss {
#define LOSS(row, ...) HPW_##row,
#include "heph/heph_losses.def"
#undef LOSS
	HPW_LOSSES
};

extern const struct loss hpw_losses[HPW_LOSSES + 1];
extern const struct writer_ops hpw_ops;

/* Offsets in packets: heph_wire.h. */
#define HPW_AT_SIZE 4
#define HPW_AT_STREAM 8
#define HPW_AT_COUNTER 12
#define HPW_AT_SUBSTREAM 16
#define HPW_AT_START 24
#define HPW_AT_END 32

static inline void
hpw_store(char *p, uint64_t v, unsigned size)
{
	v <<= 64 - 8 * size;
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		v = __builtin_bswap64(v);
	memcpy(p, &v, size);
}

/* ---- heph_write_streams.c: the streams of raw packets ---- */

/* Numbers of stream 0 near its highest one: packets of it come a little out of order. */
#define HPW_WINDOW 4096U

struct hpw_shared {
	bool any, renumbered;
	uint32_t low, highest;          /* low: all below it are in use, or are not looked at any more */
	uint64_t bits[HPW_WINDOW / 64]; /* numbers in use; bit of n: n % HPW_WINDOW */
};

struct hpw_stream {
	uint32_t id;    /* in the input */
	uint32_t out;   /* in the output */
	uint32_t input; /* where it was met last: the number of the input */
	uint32_t last;  /* counter of its last packet in the input */
	uint32_t less;  /* what counters are less by in the output: packets that were left out */
	uint32_t next;  /* in_turn: the next counter in the output */
	bool in_turn;   /* its counters are given in the order of the file */
};

#define HPW_DIRECT 64U

struct hpw_streams {
	struct hpw_stream *list;
	uint32_t n, cap;
	struct table64 index;        /* id -> list[] */
	uint32_t direct[HPW_DIRECT]; /* the same of small ids: index + 1; 0: not met */
	struct table64 taken;        /* ids in use in the output, and 2^32 + ids of inputs */
	uint32_t free;               /* no number from 0 to here is given to a stream whose own is taken */
	struct hpw_shared shared;
};

/* The stream of a packet of the `input`-th input (from 0).  `renumbered`: it is new, and its number was
 * taken. NULL: no memory. */
struct hpw_stream *hpw_stream_of(struct hpw_streams *all, uint32_t id, uint32_t counter, uint32_t input,
                                 bool *renumbered);

/* The counter of a packet in the output. */
uint32_t hpw_stream_counter(struct hpw_streams *all, struct hpw_stream *s, uint32_t counter);

/* A packet with this counter is left out. */
void hpw_stream_leave_out(struct hpw_streams *all, struct hpw_stream *s, uint32_t counter);

void hpw_streams_free(struct hpw_streams *all);

/* ---- heph_write_raw.c ---- */

struct hpw_raw {
	struct hpw_streams streams;
	bool any, any_event;
	uint32_t input;    /* number of the present one */
	uint64_t offset;   /* of the last record */
	bool epoch_known;  /* it was read ... */
	bool epoch_held;   /* ... and is to be written before the next event */
	uint32_t epoch_of; /* which input it is of */
	uint64_t epoch;    /* as the input has it */
	uint64_t by;       /* subtracted from times */
	struct slice run;  /* packets that lie side by side, to be written */
	struct chunk *chunk;
};

struct hpw_state {
	bool is_raw, rebased, signed_time;
	struct hpw_raw raw;
};

void hpw_raw(struct hpw_state *st, const struct batch *b, struct chunk *chunk);
void hpw_raw_end(struct hpw_state *st, struct chunk *chunk);

#endif
