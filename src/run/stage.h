#ifndef RUN_STAGE_H
#define RUN_STAGE_H

#include "model/trace_engine.h"

/*
 * A pipeline is a list of stages, each of which requests batches from the one before it.  A batch belongs to
 * the caller of the stage that returns it.  The caller may change it, and releases it or passes it on.
 */
enum stage_status {
	STAGE_MORE, /* *out is a batch */
	STAGE_END,  /* no more batches, also in later calls */
	STAGE_BAD,  /* it cannot go on; a finding gives the reason, or a hook of the job stopped it */
};

/* Events of a batch.  Few enough that events, fields and their output text stay in the second-level cache. */
#ifndef PIPELINE_BATCH_EVENTS /* few to test short inputs */
#define PIPELINE_BATCH_EVENTS 1024
#endif

struct stage {
	enum stage_status (*next)(struct stage *st, struct batch **out);
	struct stage *from; /* NULL: the first one */
};

static inline enum stage_status stage_next(struct stage *st, struct batch **out)
{
	return st->next(st, out);
}

/* Faults that stop a stage.  The run reports them as findings of the current input. */
enum stage_fault {
	STAGE_NO_MEMORY,
	STAGE_FAILED,  /* a system call or a limit; the reason is one line */
	STAGE_REFUSED, /* the request cannot be met for this trace; the reason is one line */
};

struct stage_faults {
	void (*report)(void *ctx, enum stage_fault fault, const char *why);
	void *ctx;
};

/* Reports a fault.  Returns false. */
static inline bool stage_fails(const struct stage_faults *f, enum stage_fault fault, const char *why)
{
	f->report(f->ctx, fault, why);
	return false;
}

/* Reports OOM, and releases the batch; NULL: none. */
static inline enum stage_status stage_no_memory(const struct stage_faults *f, struct batch *b)
{
	batch_release(b);
	f->report(f->ctx, STAGE_NO_MEMORY, NULL);
	return STAGE_BAD;
}

/* The first reason why a pass over the inputs failed. */
struct pipeline_why {
	char text[512]; /* one line; "": none, or no memory */
};

static inline const char *pipeline_why_text(const struct pipeline_why *why)
{
	return why->text[0] != '\0' ? why->text : "out of memory";
}

#endif
