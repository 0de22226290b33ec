#define _GNU_SOURCE /* memrchr */
#include "dftracer/line.h"

/*
 * Names that stand behind their first use: of hashes, processes, threads.
 * A look-ahead pass collects them before the first event is given out; it
 * needs nothing but the records that hold them.  These have one of six names
 * (see learn_metadata() in dftracer_meta.c), without escapes, whatever the
 * dialect; what tells metadata from events differs, and one file may hold
 * records of several dialects.
 */

#define WORD_MAX 16 /* more than the bytes of one */

struct word {
	char rare;     /* a byte of it that events seldom have */
	uint8_t where; /* in the text */
	struct slice text;
};

static const struct word words[DFT_AHEAD_WORDS] = {
	{ 'H', 0, SLICE_LIT("H\"") },      /* "FH", "HH", "SH" */
	{ 'R', 2, SLICE_LIT("\"PR\"") },   /* a rank */
	{ '_', 0, SLICE_LIT("_name\"") }, /* "process_name", "thread_name" */
};

/* Where the word stands in [p, end); end: nowhere. */
static const char *
find_word(const struct word *w, const char *const p, const char *end)
{
	const char *q = p;

	while (q < end && (q = memchr(q, w->rare, (size_t)(end - q))) != NULL) {
		if (q - p >= w->where && end - q >= w->text.n - w->where &&
		    memcmp(q - w->where, w->text.p, w->text.n) == 0)
			return q - w->where;
		q++;
	}
	return end;
}

/* Where the first of them stands in [p, end), which begins a line; end: nowhere.  Each byte is searched once
 * for each word: places that were found and not yet reached are remembered. */
static const char *
find_any(struct dft_state *st, const char *p, const char *end)
{
	const uint64_t from = input_offset(st->r->in, p);
	const char *first = end;

	for (int i = 0; i < DFT_AHEAD_WORDS; i++) {
		uint64_t *const next = &st->ahead_next[i]; /* it is nowhere before this */
		if (*next <= from || *next - from < (uint64_t)(first - p)) {
			const char *const start = *next > from ? p + (*next - from) : p;
			const char *const at = find_word(&words[i], start, first);
			const uint64_t offset = input_offset(st->r->in, at);
			/* one may begin here, and its rest be behind what was searched */
			*next = at < first ? offset : offset - (offset < WORD_MAX ? offset : WORD_MAX);
			first = at;
		}
	}
	return first;
}

void
dft_ahead_skip(struct dft_state *st)
{
	struct input *const in = st->r->in;
	const size_t window = (size_t)(in->end - in->p);
	const char *const most = window > DFT_SKIP ? in->p + DFT_SKIP : in->end;

	/* before the first record may stand the beginning of an object, which tells where its array ends */
	if (st->line.begun || st->closed || st->wrapped || st->trailer || st->r->records == 0)
		return;
	const char *const at = find_any(st, in->p, most);
	const char *const nl = memrchr(in->p, '\n', (size_t)(at - in->p));
	if (nl == NULL)
		return;
	in->p = nl + 1;
	st->line = (struct dft_line){ .number = st->line.number + 1, .start = input_offset(in, in->p) };
}
