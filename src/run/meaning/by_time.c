/* Begins and ends that pair by time (interpret.h): an array in order of arrival, and a merge sort of the
 * times when the window is full or the trace ends.  Each of the two ends is copied once; a begin passes its
 * copy on to the open span.  In a file in order of time the sort is one comparison for each end. */
#include "run/meaning/interpret.h"

#include <stdlib.h>

#include "base/memory.h"

struct by_time_end {
	struct event event; /* cls NULL: paired already */
	struct pairing_how how;
};

void by_time_free(struct by_time *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->ends[i].event.cls != NULL)
			retained_free(w->ends[i].how.kept);
	free(w->ends);
	free(w->order);
	*w = (struct by_time){ .ends = NULL };
}

static bool grow(struct by_time *w)
{
	const uint32_t cap = w->cap == 0 ? 256 : w->cap * 2;

	if (!array_resize(&w->ends, cap, sizeof *w->ends) ||
	    !array_resize(&w->order, 2 * (uint64_t)cap, sizeof *w->order))
		return false;
	w->cap = cap;
	return true;
}

/* Copies data that does not outlive the batch.  Fields beyond the limit are a loss. */
static void retain(struct interpret *in, struct batch *b, struct event *e, struct pairing_how *how)
{
	struct by_time *const w = &in->by_time;
	const uint64_t most = 2 * (uint64_t)BY_TIME_BYTES;

	if ((e->nfields == 0 || !how->fields) && !how->lasting) {
		e->name = trace_text(in->trace, e->name); /* names recur: one copy serves many events */
		how->lasting = (e->name.flags & SLICE_STAYS) != 0;
	}
	e->name = pairing_retain(&in->pairing, b, e, how, w->bytes < most ? (uint32_t)(most - w->bytes) : 0,
	                         NULL, &how->kept);
	w->bytes += how->kept != NULL ? how->kept->bytes : 0;
}

void by_time_put(struct interpret *in, struct batch *b, const struct event *e, const struct pairing_how *how)
{
	struct by_time *const w = &in->by_time;

	if (note_failure(&in->failed, w->n == w->cap && !grow(w)))
		return;
	struct by_time_end *const end = &w->ends[w->n++];
	*end = (struct by_time_end){ *e, *how };
	retain(in, b, &end->event, &end->how);
}

/* Adds the event of a BEGIN or END to the batch: a span or instant, or nothing yet. */
static void pair_next(struct interpret *in, struct batch *b, struct by_time_end *end)
{
	struct event *const e = &b->events[b->n];
	struct retained *const kept = end->how.kept;
	const uint64_t offset = end->event.offset;

	*e = end->event;
	end->event.cls = NULL;
	in->by_time.bytes -= kept != NULL ? kept->bytes : 0;
	if (e->phase == PHASE_BEGIN) {
		(void)pairing_begin(&in->pairing, b, e, &end->how);
		return;
	}
	const uint32_t n = kept != NULL ? kept->nfields : 0;
	struct field *const to = batch_event_fields(b, e, (uint16_t)n);
	if (to != NULL && n > 0)
		memcpy(to, kept->fields, n * sizeof *to);
	if (kept != NULL)
		batch_own(b, &kept->block);
	end->how.kept = NULL;
	end->how.name = e->name.n > 0 ? e->name : SLICE_NONE;
	/* an END without a category ends a span of any */
	end->how.cls = slice_is(e->cls->name, "no category") ? NULL : e->cls;
	const enum pairing_result result = pairing_end(&in->pairing, b, e, &end->how);
	if (result != PAIRING_SPAN && result != PAIRING_ALONE)
		return;
	if (result == PAIRING_ALONE) {
		pairing_alone(&in->pairing, e);
		e->phase = PHASE_INSTANT;
		e->flags = 0;
	} else {
		pairing_see_span(&in->pairing, e);
	}
	if (in->fields && e->cls->nparts > 0)
		interpret_class_parts(in, b, e);
	if (in->others != NULL)
		in->others[b->n] = offset;
	b->n++;
}

/* Removes paired ends. */
static void compact(struct by_time *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n; i++)
		if (w->ends[i].event.cls != NULL)
			w->ends[n++] = w->ends[i];
	w->n = n;
	w->at = w->due = 0;
}

bool by_time_give(struct interpret *in, struct batch *b, bool end)
{
	struct by_time *const w = &in->by_time;

	for (;;) {
		for (; w->at < w->due; w->at++) {
			if (b->n == b->cap)
				return true;
			pair_next(in, b, &w->ends[w->order[w->at].at]);
		}
		if (w->due > 0)
			compact(w);
		if (w->n == 0 || (!end && w->n < BY_TIME_WINDOW && w->bytes < BY_TIME_BYTES))
			return false;
		for (uint32_t i = 0; i < w->n; i++)
			w->order[i] = (struct timed){ w->ends[i].event.ts, i };
		timed_sort(w->order, w->n, w->order + w->cap);
		w->due = end ? w->n : w->n / 2 + 1;
	}
}
