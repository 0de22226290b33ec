#ifndef RUN_READ_READING_H
#define RUN_READ_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "model/batch_pool.h"
#include "run/job.h"
#include "run/read/source.h"

/* ---- reading ---- */

/*
 * The first stage: the operands' inputs one after the other, or, where streams
 * of one trace are merged, side by side.
 */

/* A stream that is to be merged with others, but cannot be. */
struct deferred_input {
	struct deferred_input *next;
	struct source_place place;
};

struct streams;

struct reading {
	struct stage stage;
	struct trace_context *context; /* of the run; borrowed, as is the pool */
	struct batch_pool *pool;
	struct operands operands;
	size_t inputs;        /* at most */
	size_t operand, file; /* what is next */
	uint32_t number;      /* of the next input */
	/* of the present operand */
	bool problems_reported;
	bool found;           /* an input */
	bool told;            /* an error that is no input's */
	struct source source; /* the present one, read alone */
	bool has_source;
	struct streams *streams; /* those that are merged; NULL: none */
	bool merging;            /* all of them are opened */
	struct deferred_input *deferred, **deferred_end;
	size_t piece;            /* bytes of an input that may be in memory; 0: as usual */
	enum stage_status ended; /* STAGE_MORE: not yet */
};

struct reading *reading_new(struct trace_context *c, struct batch_pool *pool);

/* Closes what is open and tells the hooks. */
void reading_end(struct reading *r);
void reading_free(struct reading *r);

/* The source that is read, for a finding about something that happened now; NULL: none. */
struct source *reading_present(struct reading *r);

/* Tells the hooks, and closes it. */
void reading_report(struct reading *r, struct source *s);

/* ---- streams.c ---- */

/* Whether the inputs of this source's format are merged for this job. */
bool streams_wanted(const struct source *s);

/* Whether it cannot be one more of them: unpacking takes a thread and some MiB for each. */
bool streams_full(const struct reading *r, const struct source *s);

/* Opens it as a stream, which takes it over.  false: a hook said stop, or no memory. */
bool streams_add(struct reading *r, struct source *s);

/* The next events of them all. */
enum stage_status streams_next(struct reading *r, struct batch **out);

/* Reports them all, and frees them. */
void streams_end(struct reading *r);

/* The one that was read last; NULL: none. */
struct source *streams_present(struct reading *r);

#endif
