#include "pipeline/writing.h"

#include <stdlib.h>

/* Hands over what was made.  false: no memory, or the output failed. */
static bool
hand_over(struct writing *w)
{
	struct chunk *const p = &w->chunk;

	if (p->text.failed) {
		w->no_memory = true;
		return false;
	}
	ledger_merge(&w->total, &p->ledger);
	p->ledger.n = 0;
	const bool ok = output_write(w->out, p->text.p, p->text.n);
	text_clear(&p->text);
	return ok;
}

bool
writing_begin(struct writing *w, const struct pipeline *f, const struct format *to, struct output *out,
              bool with_lanes, const struct option_value *options, const char *tool)
{
	*w = (struct writing){ .to = to, .out = out };
	w->with_lanes = with_lanes && (to->writer->flags & WRITER_NESTED) != 0;
	w->writer = (struct writer){
		.trace = &f->trace, .options = options, .tool = tool, .rebased = f->job->rebase
	};
	/* else the least time is known and subtracted */
	w->writer.signed_time =
	    f->job->rebase && (f->signed_time || (!f->rebased && !input_can_reopen(f->in)));
	w->writer.state = calloc(1, to->writer->state_size);
	w->chunk.first = true;
	if (w->writer.state == NULL || (w->with_lanes && !lanes_init(&w->lanes)) ||
	    !to->writer->open(&w->writer, &w->chunk)) {
		w->no_memory = true;
		return false;
	}
	return hand_over(w);
}

#define SLICE_BYTES                                                                                          \
	(256U << 10) /* of text in the events that are rendered in one go, one event more, and what handing  \
	                over waits for */

/* Where the events end that are rendered in one go from the i-th on: labels of some MiB each must not become
 * text all at once. */
static uint32_t
slice_end(const struct batch *b, uint32_t i)
{
	uint64_t bytes = 0;

	for (; i < b->n && bytes < SLICE_BYTES; i++) {
		const struct event *const e = &b->events[i];
		const struct field *f = b->fields + e->first_field, *const end = f + e->nfields;
		bytes += e->name.n;
		for (; f < end; f++)
			bytes += f->name.n + (f->value.type >= VALUE_STRING ? f->value.count : 0);
	}
	return i;
}

/* false: no memory, or the output failed. */
static bool
render(struct writing *w, const struct batch *b)
{
	struct batch part = *b;
	uint32_t i = 0;

	do {
		part.events = b->events + i;
		part.n = slice_end(b, i) - i;
		w->to->writer->render(&w->writer, &part, &w->chunk);
		w->chunk.first &= w->chunk.text.n == 0;
		part.first_track = part.end_track;
		part.first_class = part.end_class;
		i += part.n;
		if ((i >= b->n || w->chunk.text.n >= SLICE_BYTES) && !hand_over(w))
			return false;
	} while (i < b->n);
	return true;
}

bool
writing_take(void *ctx, struct pipeline *f, struct batch *b)
{
	struct writing *const w = ctx;

	if (w->with_lanes && !lanes_batch(&w->lanes, &f->trace, b, &w->chunk.ledger)) {
		w->no_memory = true;
		return false;
	}
	b->end_track = f->trace.ntracks; /* the lanes made for this batch are new in it too */
	if (!w->to->writer->declare(&w->writer, b)) {
		w->no_memory = true;
		return false;
	}
	return render(w, b);
}

bool
writing_end(struct writing *w, const struct pipeline *f)
{
	ledger_merge(&w->total, interpret_ledger(&f->interpret));
	w->writer.total = &w->total;
	w->writer.rebased_by = f->rebase_ns;
	if (!w->to->writer->close(&w->writer, &w->chunk)) {
		w->no_memory = true;
		return false;
	}
	return hand_over(w);
}

void
writing_free(struct writing *w)
{
	if (w->writer.state != NULL && w->to->writer->free != NULL)
		w->to->writer->free(&w->writer);
	free(w->writer.state);
	if (w->with_lanes)
		lanes_free(&w->lanes);
	text_free(&w->chunk.text);
}
