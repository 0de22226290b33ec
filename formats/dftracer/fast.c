#include "dftracer/facts.h"
#include "dftracer/line.h"
#include "dftracer/parse.h"
#include "dftracer/raw.h"
#include "dftracer/usual.h"

/* Ordinary lines: a record and nothing else, clean, like records before it.  All others are left to
 * dft_line_next(). */

#define FAST_BYTES (256 << 10) /* about as many are taken in one go: bytes to copy stay in the cache */

/* Positions at which things lie that are behind p already. */
static void
catch_up(struct dft_state *st)
{
	const uint32_t at = (uint32_t)(st->r->in->p - st->index->base);

	while (*st->lines < at)
		st->lines++;
	while (*st->quotes < at)
		st->quotes++;
	while (*st->odd < at)
		st->odd++;
}

/* An index of the window from p on that has at least one line end; false: there is none near. */
static bool
have_index(struct dft_state *st)
{
	struct input *const in = st->r->in;
	struct json_index *const ix = st->index;

	if (ix->base != NULL && (size_t)(in->p - ix->base) < ix->n) {
		catch_up(st);
		if (*st->lines != UINT32_MAX)
			return true;
	}
	json_index_make(ix, st->scanner, in->p, (size_t)(in->end - in->p));
	st->lines = ix->lines.at;
	st->quotes = ix->quotes.at;
	st->odd = ix->odd.at;
	return *st->lines != UINT32_MAX;
}

/* Nothing is open that an ordinary line would have to know of. */
static bool
ordinary(const struct dft_state *st)
{
	return !st->line.begun && !st->closed && !st->trailer;
}

/* A clean line that takes no known path: if it is a valid record, the next like it will. */
static bool
learn_line(struct dft_state *st, const char *e)
{
	struct dft_record *const rec = &st->record;

	if (!dft_parse(rec, &st->keys, st->r->in->p, e) || rec->end != e || rec->json.nflaws > 0 ||
	    rec->nextras > 0 || rec->too_many)
		return false;
	if (!st->raw_fields)
		dft_paths_learn(&st->paths, rec);
	rec->clean = true;
	while (*st->quotes < (uint32_t)(e - st->index->base))
		st->quotes++;
	return true;
}

/* The lines of the index; false: they end at one that is not ordinary, or where the batch does. */
static bool
take_lines(struct dft_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	struct dft_record *const rec = &st->record;
	const char *const base = st->index->base;
	const bool raw = st->raw && !st->in_run, members = st->raw_fields;
	const bool quick = st->no_events || st->in_run;

	for (; *st->lines != UINT32_MAX; st->lines++) {
		const char *const e = base + *st->lines;
		for (const char *q = in->p; q < e; q += 64)
			__builtin_prefetch(q + JSON_CHUNK); /* what the next index is made of */
		if (b->n == b->cap || *in->p != '{' || *st->odd < *st->lines ||
		    (size_t)(in->end - e) < DFT_SPARE)
			return false;
		if ((members || !dft_paths_follow(&st->paths, rec, base, &st->quotes, in->p, e)) &&
		    !learn_line(st, e))
			return false;
		rec->offset = input_offset(in, in->p);
		rec->line = st->line.number;
		rec->column = 1;
		rec->ordinal = st->r->records + 1;
		if (!quick || !dft_usual_take(st, rec))
			dft_record_take(st, b);
		if (st->no_memory)
			return false;
		if (raw)
			dft_raw_cover(st, b, rec, e + 1);
		in->p = e + 1;
		st->line.number++;
		st->line.start = rec->offset + (uint64_t)(in->p - rec->p);
	}
	return true;
}

void
dft_lines_fast(struct dft_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	const char *const from = in->p;
	/* a look-ahead pass skips lines that it need not read */
	const ptrdiff_t most = st->ahead ? 1 : FAST_BYTES;

	if (b->n == b->cap || !ordinary(st))
		return;
	st->in_run = st->runs && st->r->records > 0;
	while (in->p < in->end && in->p - from < most && have_index(st) && take_lines(st, b))
		;
	if (st->in_run && in->p > from && !st->no_memory)
		dft_raw_add_run(st, b, slice_of(from, (size_t)(in->p - from)));
	st->in_run = false;
}
