#ifndef SPEEDSCOPE_STACKS_H
#define SPEEDSCOPE_STACKS_H

#include "model/call_stack.h"
#include "speedscope/frames.h"

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
static inline size_t
speedscope_samples_size(const struct speedscope_samples *s)
{
	return s->stacks.n + s->weights.n;
}

/* Adds the rest of the profile, from its unit on, and empties it. */
void speedscope_samples_flush(struct speedscope_samples *s, struct text *to);

void speedscope_samples_free(struct speedscope_samples *s);

#endif
