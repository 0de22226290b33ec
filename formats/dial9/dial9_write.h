#ifndef DIAL9_WRITE_H
#define DIAL9_WRITE_H

#include "dial9/dial9_wire.h"
#include "format/format.h"

/* The writer. */

/* The record that an event of raw mode stands for. */
enum d9w_record {
	D9W_HEADER,
	D9W_SCHEMA,
	D9W_HEAD,  /* of a pool or annotations, with the first entry if there is one */
	D9W_ENTRY, /* a later one */
	D9W_RESET,
	D9W_EVENT,
	D9W_RUN, /* events and resets: WRITER_RAW_RUNS */
};

/* Records of a dial9 trace that are written as they are. */
struct d9w_raw {
	bool any;         /* something was written */
	bool skipping;    /* the records of this input are left out */
	uint64_t next;    /* offset behind the last record of this input */
	uint64_t left;    /* entries to come of the frame that was written last */
	struct text last; /* an entry of that frame */
};

struct d9w_state {
	bool is_raw, rebased, signed_time, as_0_3;
	uint64_t base; /* timestamp_base_ns of the output */
	struct d9w_raw raw;
};

enum d9w_loss {
#define LOSS(row, key, line, ...) D9W_##row,
#include "dial9/dial9_losses.def"
#undef LOSS
	D9W_LOSSES
};

extern const struct loss d9w_losses[D9W_LOSSES + 1];

static inline void
d9w_lose(struct chunk *chunk, enum d9w_loss kind, uint64_t offset)
{
	ledger_add(&chunk->ledger, &d9w_losses[kind], offset, 1);
}

/* ---- dial9_write_frame.c ---- */

/* A little-endian number of 1 to 8 bytes. */
void d9w_number(struct text *t, uint64_t v, unsigned size);

/* A timestamp reset, which becomes the time base. */
void d9w_reset(struct d9w_state *st, uint64_t ts, struct chunk *chunk);

/* The time of an event in the output. */
uint64_t d9w_time(const struct d9w_state *st, const struct event *e, struct chunk *chunk);

/* The delta of a timed event at `ts`; a reset is written where there must be one. */
uint32_t d9w_delta(struct d9w_state *st, uint64_t ts, struct chunk *chunk);

/* ---- dial9_write_raw.c ---- */

enum d9w_record d9w_record_of(const struct batch *b, const struct event *e);

/* An event frame as it is but for its delta. */
void d9w_raw_event(struct d9w_state *st, const struct batch *b, const struct event *e, struct slice bytes,
                   struct chunk *chunk);

void d9w_raw(struct d9w_state *st, const struct batch *b, struct chunk *chunk);

/* ---- dial9_write.c ---- */

extern const struct writer_ops d9w_ops;

#endif
