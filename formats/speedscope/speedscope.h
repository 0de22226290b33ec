/* Private header of the speedscope writer: its limits, the frames that all profiles share, and sampled
 * profiles of call stacks. */
#ifndef SPEEDSCOPE_SPEEDSCOPE_H
#define SPEEDSCOPE_SPEEDSCOPE_H

#include "base/table.h"
#include "format/format.h"
#include "model/call_stack.h"

enum speedscope_loss {
#define LOSS(row, ...) SPEEDSCOPE_##row,
#include "speedscope/losses.def"
#undef LOSS
	SPEEDSCOPE_LOSSES
};

extern const struct loss speedscope_losses[SPEEDSCOPE_LOSSES + 1];

/* Limits, so that memory does not grow with the trace. */
#define SPEEDSCOPE_DEPTH 4096U                     /* spans inside each other */
#define SPEEDSCOPE_STACK_DEPTH 512U                /* frames of a call stack */
#define SPEEDSCOPE_FRAMES_BYTES ((size_t)32 << 20) /* bytes of JSON */
#define SPEEDSCOPE_FRAMES_MAX (1U << 20)

/* The samples of one track and one class.  Zero-initialised except `cls`. */
struct speedscope_samples {
	const struct class *cls;
	struct text title;   /* JSON without quotes, after the name of the track */
	struct text stacks;  /* elements of the list: lists of frames, from the root */
	struct text weights; /* of all stacks except the last */
	size_t last;         /* offset of the last stack in `stacks` */
	uint64_t weight;     /* of the last stack: number of consecutive samples with it; 0: no stack */
	uint64_t count;      /* samples */
};

/* Writes the profile from its unit on, and clears the samples. */
void speedscope_samples_flush(struct speedscope_samples *s, struct text *to);
void speedscope_samples_free(struct speedscope_samples *s);

#endif
