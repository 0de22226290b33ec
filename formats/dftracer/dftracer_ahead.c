#define _GNU_SOURCE /* memrchr */
#include "dftracer/dftracer_state.h"

/*
 * Names that come later than their first use: of hashes, processes, threads.
 * One quiet pass over the whole input collects them before the first event is
 * given out.
 */

/* The next "M" in quotes; NULL: there is none. */
static const char *
find_m(const char *p, const char *end)
{
	for (const char *q = p; q < end && (q = memchr(q, 'M', (size_t)(end - q))) != NULL; q++)
		if (q > p && q[-1] == '"' && end - q > 1 && q[1] == '"')
			return q;
	return NULL;
}

/* All that matters stands on lines with ph "M", as all dialects but two write it. */
void
dft_ahead_skip(struct dft_state *st)
{
	struct input *const in = st->r->in;
	const size_t window = (size_t)(in->end - in->p);
	const char *const most = window > DFT_SKIP ? in->p + DFT_SKIP : in->end;

	if (!st->few_metadata || st->line.begun || st->closed || st->trailer)
		return;
	const char *const m = find_m(in->p, most), *const to = m != NULL ? m : most;
	const char *const nl = memrchr(in->p, '\n', (size_t)(to - in->p));
	if (nl == NULL)
		return;
	in->p = nl + 1;
	st->line = (struct dft_line){ .number = st->line.number + 1, .start = input_offset(in, in->p) };
}

void
dft_look_ahead(struct dft_state *st)
{
	struct trace trace;
	struct batch b;
	struct dft_shared shared = { .nhosts = 0 };
	struct dft_state ahead = { .ahead_of = st, .few_metadata = dft_writes_m(st->dialect) };
	struct reader r = { .trace = &trace,
		            .want = WANT_FINDINGS,
		            .dialect = st->dialect,
		            .state = &ahead,
		            .shared = &shared };
	enum read_status fill = READ_MORE;

	st->looked_ahead = true;
	r.in = input_reopen(st->r->in);
	if (r.in == NULL)
		return; /* hashes stay numbers, and are counted */
	trace_init(&trace);
	trace.vocabulary = st->r->trace->vocabulary;
	if (batch_init(&b, 1, false)) {
		if (dft_reader_ops.open(&r))
			while (fill == READ_MORE) {
				batch_recycle(&b);
				input_hold(r.in, &b.holds);
				fill = dft_reader_ops.next(&r, &b);
				input_behind(r.in);
			}
		dft_reader_ops.close(&r);
		dft_shared_close(&shared);
		batch_free(&b);
	}
	trace_free(&trace);
	input_close(r.in);
}
