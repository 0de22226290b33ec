#include "flow/writing.h"

#include <stdlib.h>

/* Hands over what was made.  false: no memory, or the output failed. */
static bool
hand_over(struct writing *w)
{
	struct page *const p = &w->page;

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
writing_begin(struct writing *w, const struct flow *f, const struct format *to, struct output *out, bool with_lanes,
              const struct option_value *options, const char *tool)
{
	*w = (struct writing){ .to = to, .out = out };
	w->with_lanes = with_lanes && (to->writer->flags & WRITER_NESTED) != 0;
	w->writer = (struct writer){ .trace = &f->trace, .options = options, .tool = tool, .rebased = f->job->rebase };
	/* else the least time is known and subtracted */
	w->writer.signed_time = f->job->rebase && (f->signed_time || (!f->rebased && !input_can_reopen(f->in)));
	w->writer.state = calloc(1, to->writer->state_size);
	w->page.first = true;
	if (w->writer.state == NULL || (w->with_lanes && !lanes_init(&w->lanes)) || !to->writer->open(&w->writer, &w->page)) {
		w->no_memory = true;
		return false;
	}
	return hand_over(w);
}

bool
writing_take(void *ctx, struct flow *f, struct batch *b)
{
	struct writing *const w = ctx;

	if (w->with_lanes && !lanes_batch(&w->lanes, &f->trace, b, &w->page.ledger)) {
		w->no_memory = true;
		return false;
	}
	b->end_track = f->trace.ntracks; /* the lanes made for this batch are new in it too */
	if (!w->to->writer->declare(&w->writer, b)) {
		w->no_memory = true;
		return false;
	}
	w->to->writer->render(&w->writer, b, &w->page);
	w->page.first &= w->page.text.n == 0;
	return hand_over(w);
}

bool
writing_end(struct writing *w, const struct flow *f)
{
	w->writer.total = &w->total;
	w->writer.rebased_by = f->rebase_ns;
	if (!w->to->writer->close(&w->writer, &w->page)) {
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
	text_free(&w->page.text);
}
