#ifndef PIPELINE_PIPELINE_PARTS_H
#define PIPELINE_PIPELINE_PARTS_H

#include "pipeline/pipeline.h"

/* What the parts of the loop share: one input (flow.c), operands (pipeline_each.c), streams that are merged
 * (streams.c). */

void pipeline_init(struct pipeline *f, const struct pipeline_job *job);

/* The next input: f->in, f->check, f->format.  false: it cannot be read; findings said why. */
bool pipeline_enter(struct pipeline *f, const char *path, struct input *in);
void pipeline_leave(struct pipeline *f);

/* Opens f->reader on it, for pipeline_run. */
bool pipeline_open_present(struct pipeline *f);

/* Opens a reader on f->in at its final place.  false: findings of j or of the trace said why; f->unreadable
 * is set. */
bool pipeline_open_reader(struct pipeline *f, struct reader *r, struct findings *j);
bool pipeline_reader_begin(struct reader *r, const struct format *format);
void pipeline_reader_end(struct reader *r, const struct format *format);

/* Says what is wrong with the input itself, if something is.  true: it cannot be used. */
bool pipeline_say_fault(struct findings *j, const struct input *in);
void pipeline_say_no_memory(struct findings *j, const struct input *in);

/* What the events of a format mean; NULL: no memory, or mistakes in the user's files, which were told. */
const struct vocabulary *pipeline_vocabulary(struct pipeline *f, const struct format *format);

/* What happens with a batch in the order of the trace; after the last, with the spans that are still open. */
void check_events(const struct pipeline *f, struct reader *r, const struct batch *b);
bool pipeline_hand_on(struct pipeline *f, struct batch *b, pipeline_sink *sink, void *ctx);
bool pipeline_hand_on_rest(struct pipeline *f, pipeline_sink *sink, void *ctx);

/* ---- earliest.c: the least time of all events, by a quiet pass of its own ---- */

struct min_time {
	struct pipeline *f;
	struct trace trace;
	struct findings findings; /* says nothing */
	void *shared;
	const struct format *format;
	bool failed;
};

void min_time_begin(struct min_time *e, struct pipeline *f);
/* Lowers f->rebase_ns, and sets f->rebased if there is an event; takes over `in`. */
void min_time_input(struct min_time *e, const struct format *format, struct input *in);
void min_time_end(struct min_time *e);

/* ---- streams.c ---- */

/* Whether the inputs of this format are merged for this job. */
bool streams_wanted(const struct pipeline *f);

/* Opens the present input (pipeline_enter) as a stream, or says why it cannot be.  n: how many inputs there
 * are at most.  false: a hook said stop. */
bool streams_add(struct pipeline *f, size_t n, const struct pipeline_hooks *hooks, void *ctx);

/* Whether the present input cannot be one more of them: unpacking takes a thread and some MiB for each. */
bool streams_full(const struct pipeline *f);

/* Reads them all (go_on) and reports them.  false: a hook said stop. */
bool streams_run(struct pipeline *f, bool go_on, const struct pipeline_hooks *hooks, void *ctx);

#endif
