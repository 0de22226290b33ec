/* Self and total time of spans by name (measures.h): spans are collected per track and evaluated together
 * when the track's capacity is used up, or at the end.  Spans in order that nest are evaluated with a stack;
 * those that overlap in part with stacks of runs, and if spans are inside too many of them, with a segment
 * tree (self_tree.c).  Evaluated spans are dropped; blocks remember the time that they cover. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "stats/measures.h"

/* ---- self times ---- */

#define MIN_CAPACITY 8U /* spans of a new track; also the smallest limit */

/* Counted and dropped spans of one name and track. */
struct self_stretch {
	uint64_t start, end; /* if count > 0 */
	uint64_t ns;         /* covered by these spans */
	uint64_t count;
};

/* The dropped spans of a name and track: a later span that contains them makes them recursive. */
struct self_piece {
	struct self_stretch before, now; /* dropped before the evaluation, and in it */
	uint32_t evaluation;
};

void self_times_init(struct self_times *t)
{
	*t = (struct self_times){ .limit = SELF_ROOM };
}

void self_times_free(struct self_times *t)
{
	for (uint32_t i = 0; i < t->ntracks; i++) {
		free(t->tracks[i].spans);
		free(t->tracks[i].blocks);
	}
	free(t->tracks);
	free(t->names);
	free(t->pieces);
	table64_free(&t->piece_of);
	free(t->items);
	free(t->open.spans);
	free(t->nest);
	free(t->left);
	free(t->self);
	*t = (struct self_times){ .limit = 0 };
}

uint128 self_times_busy(const struct self_times *t)
{
	uint128 sum = total_of(t->other.self) - total_of(t->other.waiting);

	for (uint32_t i = 0; i < t->nnames; i++)
		sum += total_of(t->names[i].self) - total_of(t->names[i].waiting);
	return sum;
}

const struct self_name *self_times_of(const struct self_times *t, uint32_t who)
{
	static const struct self_name none = { .evaluation = 0 };

	return who == SELF_OTHER ? &t->other : who < t->nnames ? &t->names[who] : &none;
}

struct self_name *self_times_name(struct self_times *t, uint32_t who)
{
	if (who < t->nnames)
		return &t->names[who];
	if (who == SELF_OTHER)
		return &t->other;
	return array_reach(&t->names, &t->nnames, who, sizeof *t->names) ? &t->names[who] : NULL;
}

/* Ensures n elements, without initial values: memory that is not used then has no pages. */
static bool reserve(void *list, uint32_t *cap, uint32_t n, size_t size)
{
	if (n <= *cap)
		return true;
	if (!array_resize(list, n, size))
		return false;
	*cap = n;
	return true;
}

/* ---- order ---- */

static int by_start(const void *a, const void *b)
{
	const struct self_span *const x = a, *const y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	/* the later one contains the earlier, unless it is inner */
	const bool y_is_later = x->number < y->number;
	return y_is_later == (y_is_later ? y->inner : x->inner) ? -1 : 1;
}

#define MOVES 8U    /* max average moves of an element with which insertion is faster than a merge */
#define ELEMENT 64U /* max bytes of an element */

/* Sorts elements nearly in order, such as spans added at their ends, by insertion; others by merges. */
static void sort_nearly(void *base, uint32_t n, size_t size, int (*compare)(const void *, const void *))
{
	char *const p = base, element[ELEMENT];
	uint64_t left = (uint64_t)n * MOVES;

	assert(size <= sizeof element);
	for (uint32_t i = 1; i < n; i++) {
		uint32_t to = i;
		while (to > 0 && left > 0 && compare(p + (to - 1) * size, p + i * size) > 0) {
			to--;
			left--;
		}
		if (left == 0) {
			qsort(base, n, size, compare);
			return;
		}
		if (to == i)
			continue;
		memcpy(element, p + i * size, size);
		memmove(p + (to + 1) * size, p + to * size, (i - to) * size);
		memcpy(p + to * size, element, size);
	}
}

/* Finds whether the spans added since the last evaluation continue the order. */
static void note_order(struct self_track *k)
{
	const struct self_span *const first = k->spans + (k->ordered > 0 ? k->ordered : 1);
	const struct self_span *const end = k->spans + k->n, *s;

	for (s = first; k->by_start && s < end; s++)
		if (s->start <= s[-1].start && (s->start < s[-1].start || s->end >= s[-1].end))
			k->by_start = false;
	for (s = first; k->by_end && s < end; s++)
		if (s->end <= s[-1].end && (s->end < s[-1].end || s->start > s[-1].start || s->inner))
			k->by_end = false;
	k->ordered = k->n;
}

/* Spans in order of ends are in order of starts if time is reversed; nesting is the same. */
static inline struct self_item item_of(uint64_t start, uint64_t end, uint32_t index, bool backwards)
{
	return backwards ? (struct self_item){ ~end, ~start, index }
	                 : (struct self_item){ start, end, index };
}

static inline bool comes_first(const struct self_item *a, const struct self_item *b)
{
	return a->start != b->start ? a->start < b->start : a->end >= b->end;
}

/* Returns the i-th block in the direction of a walk. */
INLINE const struct self_block *block_at(const struct self_track *k, uint32_t i, bool backwards)
{
	return &k->blocks[backwards ? k->nblocks - 1 - i : i];
}

/* Lists spans and blocks in the order of self_tree(); returns their number. */
static uint32_t list_items(struct self_times *t, const struct self_track *k, bool backwards)
{
	uint32_t n = 0, b = 0;

	for (uint32_t i = 0; i < k->n; i++) {
		const uint32_t at = backwards ? k->n - 1 - i : i;
		const struct self_item x = item_of(k->spans[at].start, k->spans[at].end, at, backwards);
		for (; b < k->nblocks; b++) {
			const struct self_block *const g = block_at(k, b, backwards);
			const struct self_item y =
			    item_of(g->start, g->start + g->covered, SELF_NOBODY, backwards);
			if (comes_first(&x, &y))
				break;
			t->items[n++] = y;
		}
		t->items[n++] = x;
	}
	for (; b < k->nblocks; b++) {
		const struct self_block *const g = block_at(k, b, backwards);
		t->items[n++] = item_of(g->start, g->start + g->covered, SELF_NOBODY, backwards);
	}
	return n;
}

/* ---- spans that nest ---- */

#define KEPT (UINT64_C(1) << 32) /* in nested_span.what, beside the index of the span: it is not dropped */
#define AROUND 3U                /* open spans that never end, and contain all others */

/* Removes spans that end by `time`.  Their number is hard to predict, so up to three are counted without a
 * branch: ends do not decrease from the top. */
static inline struct nested_span *close_nested(struct nested_span *top, uint64_t time)
{
	top -= (top[0].end <= time) + (top[-1].end <= time) + (top[-2].end <= time);
	while (top->end <= time)
		top--;
	return top;
}

/* A walk over the spans and blocks of a track. */
struct nesting {
	struct nested_span *top;
	uint64_t next;          /* start of the block to pass next; UINT64_MAX: none */
	uint64_t block_end;     /* of the latest block */
	uint32_t nblocks, left; /* numbers of passed blocks, and of blocks in left[] */
};

/* Returns the index of the first block that ends after this time. */
static uint32_t find_block(const struct self_track *k, uint64_t time)
{
	uint32_t lo = 0, hi = k->nblocks;

	if (hi == 0 || k->blocks[hi - 1].end <= time) /* usual in order of starts */
		return hi;
	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;
		if (k->blocks[mid].end > time)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

INLINE void find_next(struct nesting *w, const struct self_track *k, bool backwards)
{
	w->next = UINT64_MAX;
	if (w->nblocks < k->nblocks) {
		const struct self_block *const g = block_at(k, w->nblocks, backwards);
		w->next = item_of(g->start, g->end, SELF_NOBODY, backwards).start;
	}
}

/* Passes the blocks before x.  x NULL: those after the last span begins: forwards all, backwards only those
 * inside spans.  Returns false if a block is only partly inside a span. */
INLINE bool nest_blocks(struct nesting *w, struct self_times *t, const struct self_track *k,
                        const struct self_item *x, bool backwards)
{
	while (x != NULL ? w->next <= x->start : w->nblocks < k->nblocks) {
		const struct self_block *const g = block_at(k, w->nblocks, backwards);
		const struct self_item y = item_of(g->start, g->end, SELF_NOBODY, backwards);
		if (x != NULL && comes_first(x, &y))
			return true;
		w->top = close_nested(w->top, y.start);
		if (x == NULL && backwards && w->top == t->nest + AROUND - 1)
			return true;
		if (w->top->end < y.end)
			return false;
		t->self[(uint32_t)w->top->what] -= g->covered;
		w->block_end = y.end;
		if ((w->top->what & KEPT) != 0)
			t->left[w->left++] = *g;
		w->nblocks++;
		find_next(w, k, backwards);
	}
	return true;
}

/* Sets self[] of all spans if they and the blocks nest.  Also finds the blocks that remain when the spans
 * that end by `time` (0: none) are dropped: the first *rest blocks, which precede all spans, then *nleft in
 * left[].  Returns false if two overlap in part, or a span is inside a block.  Inlined twice, with a constant
 * direction. */
INLINE bool nest_spans(struct self_times *t, const struct self_track *k, uint64_t time, bool backwards,
                       uint32_t *rest, uint32_t *nleft)
{
	const struct self_span *const spans = k->spans;
	uint64_t *const self = t->self;
	const uint32_t n = k->n, before = backwards ? 0 : find_block(k, spans[0].start);
	struct nesting w = { .top = t->nest + AROUND - 1, .nblocks = before };

	for (uint32_t i = 0; i < AROUND; i++)
		t->nest[i] = (struct nested_span){ UINT64_MAX, KEPT | n };
	self[n] = 0; /* not used */
	find_next(&w, k, backwards);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t at = backwards ? n - 1 - i : i;
		const struct self_span *const s = &spans[at];
		const struct self_item x = item_of(s->start, s->end, at, backwards);
		if (!nest_blocks(&w, t, k, &x, backwards))
			return false;
		w.top = close_nested(w.top, x.start);
		if (x.start < w.block_end || w.top->end < x.end)
			return false;
		const uint64_t ns = x.end - x.start, kept = s->end > time ? KEPT : 0;
		self[(uint32_t)w.top->what] -= ns;
		self[at] = ns;
		if (kept == 0 && (w.top->what & KEPT) != 0)
			t->left[w.left++] = (struct self_block){ s->start, s->end, ns };
		*++w.top = (struct nested_span){ x.end, kept | at };
	}
	if (!nest_blocks(&w, t, k, NULL, backwards))
		return false;
	*rest = backwards ? k->nblocks - w.nblocks : before;
	*nleft = w.left;
	return true;
}

/* Not inlined, so that their variables have registers. */
static NOINLINE bool nest_forwards(struct self_times *t, const struct self_track *k, uint64_t time,
                                   uint32_t *rest, uint32_t *nleft)
{
	return nest_spans(t, k, time, false, rest, nleft);
}

static NOINLINE bool nest_backwards(struct self_times *t, const struct self_track *k, uint64_t time,
                                    uint32_t *rest, uint32_t *nleft)
{
	return nest_spans(t, k, time, true, rest, nleft);
}

/* ---- covered time ---- */

static inline void finish_until(struct self_times *t, uint64_t time)
{
	for (const struct covered_span *o; (o = covered_spans_pop(&t->open, time)) != NULL;)
		if (o->what != SELF_NOBODY)
			t->self[o->what] = o->end - o->start - o->covered;
}

/* Sets self[] of all spans.  Returns false if too many overlap, or on OOM. */
static bool sweep(struct self_times *t, uint32_t nitems)
{
	const struct covered_span *innermost;

	t->open.n = t->open.sweep_at = 0;
	for (uint32_t i = 0; i < nitems; i++) {
		const struct self_item *const x = &t->items[i];
		finish_until(t, x->start);
		if (!covered_spans_cover(&t->open, x->start, x->end, SELF_RUNS, &innermost) ||
		    !covered_spans_push(&t->open, x->start, x->end, x->index))
			return false;
	}
	finish_until(t, UINT64_MAX);
	return true;
}

/* ---- names ---- */

/* Returns the piece of a name and track, or NULL. */
static struct self_piece *piece_of(struct self_times *t, struct self_name *name, uint32_t track, uint32_t who,
                                   bool make)
{
	if (name->piece != 0 && name->piece_track == track)
		return &t->pieces[name->piece - 1];
	const uint64_t key = (uint64_t)track << 32 | who;
	const uint32_t at = table64_element(&t->piece_of, key, &t->pieces, &t->npieces, &t->pieces_cap,
	                                    sizeof *t->pieces, make ? SELF_PIECES : 0);
	t->failed |= at == TABLE_FAILED;
	if (at >= TABLE_FAILED)
		return NULL;
	name->piece = at + 1;
	name->piece_track = track;
	return &t->pieces[at];
}

/* Handles a span that overlaps dropped spans of its name: these were counted as outermost, but are recursive
 * if it contains them. */
static void uncount_inner(struct self_times *t, struct self_name *name, struct self_stretch *p,
                          const struct self_span *s)
{
	if (s->start > p->start || s->end < p->end) {
		t->inexact++; /* partial overlap: positions in the stretch are unknown */
		return;
	}
	total_subtract(&name->total, p->ns);
	name->recursive += p->count;
	p->count = 0;
}

static inline void extend(struct self_stretch *p, struct self_stretch by)
{
	if (p->count == 0) {
		*p = by;
		return;
	}
	p->start = by.start < p->start ? by.start : p->start;
	p->end = by.end > p->end ? by.end : p->end;
	p->ns += by.ns;
	p->count += by.count;
}

/* Adds a span to the dropped spans of its name and track; ns: its time outside of other spans of the name. */
static inline void count_in_piece(struct self_times *t, struct self_name *name, struct self_piece *p,
                                  const struct self_span *s, uint64_t ns)
{
	if (p->evaluation != t->evaluation) {
		if (p->now.count > 0)
			extend(&p->before, p->now);
		p->now.count = 0;
		p->evaluation = t->evaluation;
	}
	if (p->before.count > 0 && s->start < p->before.end)
		uncount_inner(t, name, &p->before, s);
	extend(&p->now, (struct self_stretch){ s->start, s->end, ns, 1 });
}

/* Counts the spans that end by `time`, with their self[]. */
static void count_ended(struct self_times *t, uint32_t track, bool backwards, uint64_t time, bool drops)
{
	const struct self_track *const k = &t->tracks[track];
	const struct self_span *const spans = k->spans;
	const uint64_t *const self = t->self;
	const bool pieces = drops || t->npieces > 0;
	const uint32_t n = k->n, evaluation = ++t->evaluation;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t at = backwards ? n - 1 - i : i;
		const struct self_span *const s = &spans[at];
		const uint32_t who = s->who;
		if (who == SELF_NOBODY)
			continue;
		const struct self_item x = item_of(s->start, s->end, at, backwards);
		struct self_name *const name = self_times_name(t, who);
		if (note_failure(&t->failed, name == NULL))
			return;
		if (name->evaluation != evaluation || who == SELF_OTHER) {
			name->evaluation = evaluation;
			name->until = 0;
		}
		const uint64_t from = x.start > name->until ? x.start : name->until,
		               ns = x.end > from ? x.end - from : 0;
		if (ns > 0)
			name->until = x.end;
		if (s->end > time)
			continue;
		total_add(&name->self, self[at]);
		if (s->waiting)
			total_add(&name->waiting, self[at]);
		total_add(&name->total, ns);
		name->recursive += ns == 0;
		if (!pieces || ns == 0 || who == SELF_OTHER)
			continue;
		struct self_piece *const p = piece_of(t, name, track, who, drops);
		if (p != NULL)
			count_in_piece(t, name, p, s, ns);
	}
}

/* ---- dropping spans ---- */

/* Updates the sums of blocks and capacity.  The next evaluation uses spare capacity again, so it is freed
 * only if all tracks together have more than SELF_SPARE_BLOCKS. */
static void count_blocks(struct self_times *t, struct self_track *k)
{
	t->nblocks += k->nblocks - k->nblocks_counted;
	t->blocks_cap += k->blocks_cap - k->cap_counted;
	if (t->blocks_cap - t->nblocks > SELF_SPARE_BLOCKS &&
	    array_resize(&k->blocks, (uint64_t)k->nblocks + 1, sizeof *k->blocks)) {
		t->blocks_cap -= k->blocks_cap - (k->nblocks + 1);
		k->blocks_cap = k->nblocks + 1;
	}
	k->nblocks_counted = k->nblocks;
	k->cap_counted = k->blocks_cap;
}

static bool add_block(struct self_times *t, struct self_track *k, const struct self_block *g)
{
	if (note_failure(&t->failed,
	                 !array_reserve(&k->blocks, k->nblocks, &k->blocks_cap, sizeof *k->blocks)))
		return false;
	k->blocks[k->nblocks++] = *g;
	return true;
}

static int block_by_start(const void *a, const void *b)
{
	const struct self_block *const x = a, *const y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

/* Merges overlapping blocks, which are sorted by start. */
static void unite_blocks(struct self_track *k)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->nblocks; i++) {
		const struct self_block *const g = &k->blocks[i];
		struct self_block *const last = n > 0 ? &k->blocks[n - 1] : NULL;
		if (last == NULL || g->start >= last->end) {
			k->blocks[n++] = *g;
			continue;
		}
		if (g->end <= last->end)
			continue; /* the enclosing block covers all of it */
		const uint64_t more = g->end - last->end;
		last->covered += g->covered < more ? g->covered : more;
		last->end = g->end;
	}
	k->nblocks = n;
}

/* Merges adjacent blocks until `max` are left.  No block may extend across the start of a retained span;
 * `starts` has the starts before the end of the last block. */
static void merge_blocks(struct self_track *k, const uint64_t *starts, uint32_t nstarts, uint32_t max)
{
	while (k->nblocks > max) {
		uint32_t n = 0, s = 0;
		for (uint32_t i = 0; i < k->nblocks; i++) {
			struct self_block g = k->blocks[i];
			while (s < nstarts && starts[s] <= g.start)
				s++;
			if (i + 1 < k->nblocks && (s == nstarts || starts[s] >= k->blocks[i + 1].end)) {
				i++;
				g.end = k->blocks[i].end;
				g.covered += k->blocks[i].covered;
			}
			k->blocks[n++] = g;
		}
		if (n == k->nblocks)
			return; /* too many retained spans */
		k->nblocks = n;
	}
}

/* Whether a span starts inside a block that is not fully covered. */
static bool is_cut(const struct self_track *k, const struct self_span *s)
{
	const uint32_t i = find_block(k, s->start);

	return i < k->nblocks && k->blocks[i].start < s->start &&
	       k->blocks[i].covered < k->blocks[i].end - k->blocks[i].start;
}

/* Returns the time by which all but about `keep` spans have ended. */
static uint64_t drop_time(const struct self_track *k, uint32_t keep, bool backwards)
{
	if (keep == 0 || keep >= k->n)
		return UINT64_MAX;
	const struct self_span *const s = &k->spans[k->n - keep];

	return backwards ? s[-1].end : s->start;
}

/* Returns the number of spans that end by `time`. */
static uint32_t count_until(const struct self_track *k, uint64_t time, bool backwards)
{
	uint32_t n = 0;

	if (time == UINT64_MAX)
		return k->n;
	if (backwards) {
		for (n = k->n; k->spans[n - 1].end > time;)
			n--;
		return n;
	}
	for (uint32_t i = 0; i < k->n; i++)
		n += k->spans[i].end <= time;
	return n;
}

static void remove_ended(struct self_track *k, uint64_t time)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->n; i++)
		if (k->spans[i].end > time)
			k->spans[n++] = k->spans[i];
	k->n = n;
}

/* Replaces the blocks of a track after the first `rest` ones by the n in left[]. */
static bool take_left(struct self_times *t, struct self_track *k, uint32_t rest, uint32_t n, bool backwards)
{
	if (note_failure(&t->failed, !reserve(&k->blocks, &k->blocks_cap, rest + n, sizeof *k->blocks)))
		return false;
	struct self_block *const to = k->blocks + rest;
	const struct self_block *const left = t->left;
	for (uint32_t i = 0; i < n; i++)
		to[i] = left[backwards ? n - 1 - i : i];
	k->nblocks = rest + n;
	return true;
}

/* Adds the time of the spans that end by `time` to the blocks. */
static bool block_ended(struct self_times *t, struct self_track *k, uint64_t time)
{
	for (uint32_t i = 0; i < k->n; i++) {
		const struct self_span *const s = &k->spans[i];
		if (s->end > time)
			continue;
		struct self_block *last = k->nblocks > 0 ? &k->blocks[k->nblocks - 1] : NULL;
		while (last != NULL && last->start >= s->start && last->end <= s->end) {
			k->nblocks--; /* the usual case in order of ends */
			last = k->nblocks > 0 ? last - 1 : NULL;
		}
		if (last != NULL && last->start <= s->start && last->end >= s->end &&
		    last->covered == last->end - last->start)
			continue; /* the usual case in order of starts */
		if (!add_block(t, k, &(struct self_block){ s->start, s->end, s->end - s->start }))
			return false;
	}
	sort_nearly(k->blocks, k->nblocks, sizeof *k->blocks, block_by_start);
	unite_blocks(k);
	return true;
}

static void bound_blocks(struct self_times *t, struct self_track *k, uint32_t keep)
{
	const uint32_t max = t->nblocks > SELF_ALL_BLOCKS / 2 ? SELF_FEW_BLOCKS : SELF_BLOCKS;
	if (k->nblocks <= max && keep > 0) {
		count_blocks(t, k);
		return;
	}
	const uint64_t end = k->nblocks > 0 ? k->blocks[k->nblocks - 1].end : 0;
	uint32_t n = 0;
	for (uint32_t i = 0; i < k->n; i++)
		if (k->spans[i].start < end)
			t->self[n++] = k->spans[i].start;
	if (!k->by_start)
		sort_nearly(t->self, n, sizeof *t->self, compare_u64);
	merge_blocks(k, t->self, n, keep == 0 ? 1 : t->nblocks > SELF_ALL_BLOCKS ? 16 : max / 4);
	count_blocks(t, k);
}

/* ---- evaluating a track ---- */

/* Evaluates a track: counts ended spans and, unless it is the last time, drops them, so that about `keep`
 * spans are retained. */
static void evaluate(struct self_times *t, uint32_t track, uint32_t keep, bool last)
{
	struct self_track *const k = &t->tracks[track];
	uint32_t rest, nleft;

	if (k->n == 0)
		return;
	note_order(k);
	const bool backwards = k->by_end && !k->by_start;
	if (!k->by_start && !k->by_end) {
		sort_nearly(k->spans, k->n, sizeof *k->spans, by_start);
		k->by_start = true;
	}
	uint64_t time = last ? UINT64_MAX : drop_time(k, keep, backwards);
	const uint32_t nended = count_until(k, time, backwards);
	if (note_failure(&t->failed,
	                 !reserve(&t->nest, &t->nest_cap, k->n + AROUND, sizeof *t->nest) ||
	                     !reserve(&t->left, &t->left_cap, k->n + k->nblocks, sizeof *t->left) ||
	                     !reserve(&t->self, &t->self_cap, k->n + 1, sizeof *t->self)))
		return;
	if (k->n - nended > k->cap / 2 && k->n - nended > 2 * keep && !last) { /* many long spans */
		time = UINT64_MAX;
		t->inexact += k->n - nended;
	}
	const bool nests = backwards ? nest_backwards(t, k, last ? 0 : time, &rest, &nleft)
	                             : nest_forwards(t, k, last ? 0 : time, &rest, &nleft);
	if (!nests) {
		if (note_failure(&t->failed,
		                 !reserve(&t->items, &t->items_cap, k->n + k->nblocks, sizeof *t->items)))
			return;
		const uint32_t nitems = list_items(t, k, backwards);
		t->failed |= !sweep(t, nitems) && !self_tree(t->items, nitems, t->self);
		for (uint32_t i = 0; i < k->n && k->nblocks > 0; i++)
			t->inexact += k->spans[i].end <= time && is_cut(k, &k->spans[i]);
	}
	count_ended(t, track, backwards, time, !last);
	if (last) {
		k->n = 0;
	} else if (nests ? take_left(t, k, rest, nleft, backwards) : block_ended(t, k, time)) {
		remove_ended(k, time);
		bound_blocks(t, k, keep);
	}
	k->ordered = k->n;
	k->by_start |= k->n == 0;
	k->by_end |= k->n == 0;
}

/* ---- capacity ---- */

static void resize(struct self_times *t, struct self_track *k, uint32_t cap)
{
	if (cap == 0) {
		free(k->spans);
		k->spans = NULL;
	} else if (!array_resize(&k->spans, cap, sizeof *k->spans)) {
		t->failed |= cap > k->cap;
		return;
	}
	t->space = t->space - k->cap + cap;
	k->cap = cap;
}

/* The total capacity is used up: halves that of each track; if that is not enough, tracks retain nothing. */
static void free_total_capacity(struct self_times *t)
{
	if (t->limit > MIN_CAPACITY)
		t->limit /= 2;
	for (uint32_t i = 0; i < t->ntracks; i++) {
		struct self_track *const k = &t->tracks[i];
		if (k->cap <= t->limit)
			continue;
		if (k->n > t->limit / 2)
			evaluate(t, i, t->limit / 4, false);
		resize(t, k, t->limit);
	}
	if (t->space <= SELF_TOTAL_ROOM / 4 * 3)
		return;
	for (uint32_t i = 0; i < t->ntracks; i++) {
		evaluate(t, i, 0, false);
		resize(t, &t->tracks[i], 0);
	}
}

/* The number of spans that a full track retains.  The first time, it differs by track: tracks that fill alike
 * are evaluated one by one from then on, and no thread waits long for the one that counts. */
static uint32_t retained(const struct self_times *t, uint32_t track)
{
	const struct self_track *const k = &t->tracks[track];
	const bool first = k->number == k->n;

	return t->limit / 4 + (first ? t->limit / 16 * 3 * (track % 4) : 0);
}

bool self_times_reserve(struct self_times *t, uint32_t track)
{
	if (track >= t->ntracks) {
		const uint32_t before = t->ntracks;
		if (note_failure(&t->failed, !array_reach(&t->tracks, &t->ntracks, track, sizeof *t->tracks)))
			return false;
		for (uint32_t i = before; i < t->ntracks; i++)
			t->tracks[i].by_start = t->tracks[i].by_end = true;
	}
	struct self_track *const k = &t->tracks[track];
	uint32_t cap = k->cap < MIN_CAPACITY ? MIN_CAPACITY : 2 * k->cap;
	if (cap <= t->limit && t->space + cap - k->cap > SELF_TOTAL_ROOM)
		free_total_capacity(t);
	cap = k->cap < MIN_CAPACITY ? MIN_CAPACITY : 2 * k->cap;
	if (k->n < k->cap)
		return !t->failed;
	if (cap <= t->limit)
		resize(t, k, cap);
	else
		evaluate(t, track, retained(t, track), false);
	return !t->failed;
}

void self_times_end(struct self_times *t)
{
	for (uint32_t i = 0; i < t->ntracks && !t->failed; i++)
		evaluate(t, i, 0, true);
}
