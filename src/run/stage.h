#ifndef PIPELINE_STAGE_H
#define PIPELINE_STAGE_H

#include "model/batch_pool.h"

/*
 * A pipeline is a list of stages, each of which asks the one before it for
 * batches.  What a stage hands out is the caller's: it may change it, and
 * releases it or hands it on.
 */
enum stage_status {
	STAGE_MORE, /* *out is a batch */
	STAGE_END,  /* nothing more comes; asked again, the answer is the same */
	STAGE_BAD,  /* it cannot go on; a finding says why, or a hook of the job said stop */
};

struct stage {
	enum stage_status (*next)(struct stage *st, struct batch **out);
	struct stage *from; /* NULL: it is the first */
};

static inline enum stage_status stage_next(struct stage *st, struct batch **out)
{
	return st->next(st, out);
}

/* Why a pass over the inputs failed: pipeline_note_why(). */
struct pipeline_why {
	char text[512]; /* one line; "": none yet */
};

#endif
