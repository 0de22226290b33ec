#define _GNU_SOURCE /* memrchr */
#include "dftracer/dftracer_line.h"

/*
 * Names that stand behind their first use: of hashes, processes, threads.
 * A look-ahead pass collects them before the first event is given out; it
 * needs nothing but metadata.
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

	if (!st->only_m || st->line.begun || st->closed || st->trailer)
		return;
	const char *const m = find_m(in->p, most), *const to = m != NULL ? m : most;
	const char *const nl = memrchr(in->p, '\n', (size_t)(to - in->p));
	if (nl == NULL)
		return;
	in->p = nl + 1;
	st->line = (struct dft_line){ .number = st->line.number + 1, .start = input_offset(in, in->p) };
}
