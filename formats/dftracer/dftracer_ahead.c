#include "dftracer/dftracer_state.h"

/*
 * Names that come later than their first use: of hashes, processes, threads.
 * One quiet pass over the whole input collects them before the first event is
 * given out.
 */

void
dft_look_ahead(struct dft_state *st)
{
	struct trace trace;
	struct batch b;
	struct dft_shared shared = { .nhosts = 0 };
	struct dft_state ahead = { .ahead_of = st };
	struct reader r = { .trace = &trace,
		            .want = WANT_JUDGEMENT,
		            .dialect = st->dialect,
		            .state = &ahead,
		            .shared = &shared };
	enum fill fill = FILL_MORE;

	st->looked_ahead = true;
	r.in = input_reopen(st->r->in);
	if (r.in == NULL)
		return; /* hashes stay numbers, and are counted */
	trace_init(&trace);
	if (batch_init(&b, 1, false)) {
		if (dft_reader_ops.open(&r))
			while (fill == FILL_MORE) {
				batch_recycle(&b);
				input_hold(r.in, &b.holds);
				fill = dft_reader_ops.fill(&r, &b);
				input_behind(r.in);
			}
		dft_reader_ops.close(&r);
		dft_shared_close(&shared);
		batch_free(&b);
	}
	trace_free(&trace);
	input_close(r.in);
}
