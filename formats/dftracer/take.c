#include "dftracer/facts.h"

void
dft_record_take(struct dft_state *st, struct batch *b)
{
	struct trace *const trace = st->r->trace;
	const struct dft_record *const rec = &st->record;
	struct dft_facts f;

	/* a look-ahead pass is for names alone */
	if (st->ahead && !dft_is_metadata(rec)) {
		st->r->records++;
		return;
	}
	dft_check(st, rec, &f);
	if (st->no_memory)
		return;
	dft_learn(st, rec, &f);
	if (st->no_memory)
		return;
	dft_dialect_check(st, rec, &f);
	st->r->records++;
	trace->events += !dft_event_is_structure(&f);
	if (st->r->want != WANT_FINDINGS && !st->in_run)
		dft_event_add(st, rec, &f, b);
}
