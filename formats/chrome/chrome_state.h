#ifndef CHROME_STATE_H
#define CHROME_STATE_H

#include <inttypes.h>

#include "format/format.h"

/* What an event of a track says about it: `,"pid":1,"tid":7`. */
struct chrome_track {
	char text[48];
	uint8_t len;
	bool renamed; /* pid or tid are not the true ones */
	uint32_t pid, tid;
};

/* `","cat":"NAME","ph":"`, ready to copy. */
struct chrome_class {
	char *text;
	uint32_t len;
};

/* Numbers that viewers can hold: pids and tids that fit 32 bits and are not 0. */
struct chrome_ids {
	struct table64 used; /* pid << 32 | tid (0 for the process itself) */
	uint32_t next_pid, next_tid, next_extra_tid;
};

struct chrome_state {
	bool signed_time;   /* ts may be before 0; set by open */
	struct arena arena; /* of what tracks and classes are declared as */
	struct chrome_ids ids;
};

static inline const struct chrome_track *
chrome_track_of(const struct track *t)
{
	return t->declared;
}

static inline const struct chrome_class *
chrome_class_of(const struct class *c)
{
	return c->declared;
}

enum chrome_loss {
#define LOSS(row, ...) CHROME_##row,
#include "chrome/chrome_losses.def"
#undef LOSS
	CHROME_LOSSES
};

extern const struct loss chrome_losses[CHROME_LOSSES + 1];
extern const struct writer_ops chrome_writer_ops;

/* ---- chrome_ids.c ---- */

/* Gives every new track its numbers, in order of arrival.  false: no memory. */
bool chrome_declare_track(struct chrome_state *st, struct track *t);

/* ---- chrome_order.c ---- */

/* Metadata events that tell viewers the order of processes and threads.  false: no memory. */
bool chrome_put_order(const struct trace *trace, struct text *t);

/* ---- chrome_args.c ---- */

/* The fields of an event as `,"args":{...}`; nothing when there are none. */
void chrome_args(const struct batch *b, const struct event *e, struct chunk *chunk);

/* One value as JSON; losses are said for e. */
void chrome_value(struct chunk *chunk, const struct value *v, const struct event *e);

/* True if a reader that holds microseconds in a double gets the nanoseconds back. */
bool chrome_large_time_exact(uint64_t ns);

/* Below 2^43 us neighbouring doubles are less than a nanosecond apart. */
static inline bool
chrome_time_exact(uint64_t ns)
{
	return ns < (uint64_t)1000 << 43 || chrome_large_time_exact(ns);
}

#endif
