#ifndef SPEEDSCOPE_SPEEDSCOPE_H
#define SPEEDSCOPE_SPEEDSCOPE_H

#include "base/table.h"
#include "format/format.h"
#include "model/call_stack.h"

/* ---- state ---- */

enum speedscope_loss {
#define LOSS(row, ...) SPEEDSCOPE_##row,
#include "speedscope/losses.def"
#undef LOSS
	SPEEDSCOPE_LOSSES
};

extern const struct loss speedscope_losses[SPEEDSCOPE_LOSSES + 1];
extern const struct writer_ops speedscope_writer_ops;

/* ---- frames ---- */

/*
 * The frames that all profiles of a file share: a name, and a category, each
 * pair once.  They are kept as JSON until the end of the output, within
 * SPEEDSCOPE_FRAMES_ROOM.  Zero-initialise to start.
 */
#define SPEEDSCOPE_FRAMES_ROOM ((size_t)32 << 20) /* bytes of JSON */
#define SPEEDSCOPE_FRAMES_MAX (1U << 20)

struct speedscope_frames {
	struct text json; /* elements of the list of frames */
	struct text key;  /* of the frame that is looked for */
	struct arena keys;
	struct tabletext table;      /* number of the category, name -> number of the frame */
	struct tabletext categories; /* their texts are those of classes */
	uint32_t n, ncategories;
	uint32_t other; /* the number + 1 of the frame for what has no room; 0: not made yet */
};

/* A category's number, from 1 on; 0: no memory.  The text stays where it is. */
uint32_t speedscope_category(struct speedscope_frames *f, struct slice category);

/* The number of the frame.  category: see above; 0: it has none, and `text` is not looked at.  Failures of
 * memory are those of the chunk.  offset: of the event. */
uint32_t speedscope_frame(struct speedscope_frames *f, struct slice name, uint32_t category,
                          struct slice text, uint64_t offset, struct chunk *chunk);
void speedscope_frames_free(struct speedscope_frames *f);

/* ---- lane ---- */

/*
 * The events of one evented profile: spans, which come in order of their
 * starts, of equal starts the longer first, become opens and closes.  Of spans
 * with the same start and end the one that came last lies around the others, as in
 * the statistics: so they wait for each other.
 */
#define SPEEDSCOPE_DEPTH 4096U /* spans inside each other */

/* Times are unsigned numbers that order as times do: of signed ones the highest bit is inverted. */
struct speedscope_clock {
	uint64_t bias; /* makes signed times order as unsigned ones */
	uint64_t zero; /* biased, what is 0 in the output */
};

struct speedscope_open {
	uint64_t end;
	uint32_t frame;
};

/* Zero-initialise to start. */
struct speedscope_lane {
	struct speedscope_open *open; /* the innermost last */
	uint32_t nopen, open_cap;
	uint32_t *equal; /* frames of spans that start and end together, and wait */
	uint32_t nequal, equal_cap;
	uint64_t equal_start, equal_end;
	uint64_t equal_offset; /* of the last one */
	uint64_t start, last;  /* times of the first and of the last event of this part */
	uint64_t events;       /* of this part, that were written */
};

struct speedscope_span {
	uint64_t start, end, offset;
	uint32_t frame;
};

/* ---- stacks ---- */

/* The samples of one track that are of one class: a sampled profile. */
#define SPEEDSCOPE_STACK_DEPTH 512U

/* Zero-initialise to start, and set `cls`. */
struct speedscope_samples {
	const struct class *cls;
	struct text title;   /* JSON without quotes; what stands behind the name of the track */
	struct text stacks;  /* elements of the list: lists of frames, the root first */
	struct text weights; /* of all but the last one */
	size_t last;         /* where that begins in stacks */
	uint64_t weight;     /* of it: how many samples in a row had this stack; 0: there is none */
	uint64_t count;      /* of all samples */
};

/* Adds one; failures of memory are those of the chunk.  Stacks deeper than SPEEDSCOPE_STACK_DEPTH lose what
 * is beyond, which is counted. */
void speedscope_samples_add(struct speedscope_samples *s, struct speedscope_frames *frames,
                            const struct call_stack *stack, uint64_t offset, struct chunk *chunk);

/* Bytes that it takes. */
static inline size_t speedscope_samples_size(const struct speedscope_samples *s)
{
	return s->stacks.n + s->weights.n;
}

/* Adds the rest of the profile, from its unit on, and empties it. */
void speedscope_samples_flush(struct speedscope_samples *s, struct text *to);
void speedscope_samples_free(struct speedscope_samples *s);

#endif
