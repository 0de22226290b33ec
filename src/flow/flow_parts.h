#ifndef FLOW_FLOW_PARTS_H
#define FLOW_FLOW_PARTS_H

#include "flow/flow.h"

/* What the parts of the loop share: one input (flow.c), operands (flow_each.c), streams that are merged (streams.c). */

void flow_init(struct flow *f, const struct flow_job *job);

/* The next input: f->in, f->judge, f->format.  false: it cannot be read; findings said why. */
bool flow_enter(struct flow *f, const char *path, struct input *in);
void flow_leave(struct flow *f);

/* Opens f->reader on it, for flow_run. */
bool flow_open_present(struct flow *f);

/* Opens a reader on f->in at its final place.  false: findings of j or of the trace said why; f->unreadable is set. */
bool flow_open_reader(struct flow *f, struct reader *r, struct judge *j);
bool flow_reader_begin(struct reader *r, const struct format *format);
void flow_reader_end(struct reader *r, const struct format *format);

/* Says what is wrong with the input itself, if something is.  true: it cannot be used. */
bool flow_say_fault(struct judge *j, const struct input *in);
void flow_say_no_memory(struct judge *j, const struct input *in);

/* What the events of a format mean; NULL: no memory, or mistakes in the user's files, which were told. */
const struct vocabulary *flow_vocabulary(struct flow *f, const struct format *format);

/* What happens with a batch in the order of the trace; after the last, with the spans that are still open. */
void flow_judge_events(const struct flow *f, struct reader *r, const struct batch *b);
bool flow_hand_on(struct flow *f, struct batch *b, flow_taker *taker, void *ctx);
bool flow_hand_on_rest(struct flow *f, flow_taker *taker, void *ctx);

/* ---- earliest.c: the least time of all events, by a quiet pass of its own ---- */

struct earliest {
	struct flow *f;
	struct trace trace;
	struct judge judge; /* says nothing */
	void *shared;
	const struct format *format;
	bool failed;
};

void earliest_begin(struct earliest *e, struct flow *f);
/* Lowers f->rebase_ns, and sets f->rebased if there is an event; takes over `in`. */
void earliest_input(struct earliest *e, const struct format *format, struct input *in);
void earliest_end(struct earliest *e);

/* ---- streams.c ---- */

/* Whether the inputs of this format are merged for this job. */
bool streams_wanted(const struct flow *f);

/* Opens the present input (flow_enter) as a stream, or says why it cannot be.  n: how many inputs there are at most.  false: a hook said
 * stop. */
bool streams_add(struct flow *f, size_t n, const struct flow_hooks *hooks, void *ctx);

/* Whether the present input cannot be one more of them: unpacking takes a thread and some MiB for each. */
bool streams_full(const struct flow *f);

/* Reads them all (go_on) and reports them.  false: a hook said stop. */
bool streams_run(struct flow *f, bool go_on, const struct flow_hooks *hooks, void *ctx);

#endif
