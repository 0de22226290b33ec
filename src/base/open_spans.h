#ifndef BASE_OPEN_SPANS_H
#define BASE_OPEN_SPANS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/memory.h"

/*
 * The open spans of a track.  Spans are added in order of start, and the longer first if starts are equal.
 * Times are in any unit and with any bias; the user chooses `what`.  Zero-initialise to start; free() the
 * array at the end.
 */

/* ---- spans that nest ---- */

struct nested_span {
	uint64_t end, what;
};

/* A stack; the innermost span is the last one. */
struct nested_spans {
	struct nested_span *spans;
	uint32_t n, cap;
};

/* Returns the innermost span; NULL: none. */
static inline const struct nested_span *nested_spans_last(const struct nested_spans *s)
{
	return s->n > 0 ? &s->spans[s->n - 1] : NULL;
}

/* Removes the innermost span and returns it, valid until the next push; NULL if it ends after `time`. */
static inline const struct nested_span *nested_spans_pop(struct nested_spans *s, uint64_t time)
{
	return s->n > 0 && s->spans[s->n - 1].end <= time ? &s->spans[--s->n] : NULL;
}

/* Capacity that the next push adds, in spans, for users that limit the memory of all their stacks.  A stack
 * starts small, as there may be many stacks. */
static inline uint32_t nested_spans_growth(const struct nested_spans *s)
{
	return s->n < s->cap ? 0 : s->cap > 0 ? s->cap : 4;
}

/* Adds the innermost span.  Changes nothing on OOM. */
static inline bool nested_spans_push(struct nested_spans *s, struct nested_span span)
{
	const uint32_t more = nested_spans_growth(s);

	if (more > 0) {
		if (!array_resize(&s->spans, (uint64_t)s->cap + more, sizeof *s->spans))
			return false;
		s->cap += more;
	}
	s->spans[s->n++] = span;
	return true;
}

/* ---- spans with any overlaps ---- */

struct covered_span {
	uint64_t start, end;
	uint64_t covered; /* time that spans inside it cover, overlaps counted once */
	uint64_t until;   /* latest end of the spans inside it */
	uint32_t what;
	uint32_t run;   /* index of the first span of its run: in a run, each span encloses the next */
	uint32_t below; /* in the first span of a run: number of spans up to the next run that ends later */
};

struct covered_spans {
	struct covered_span *spans;
	uint32_t n, cap;
	uint32_t nswept;   /* spans[n ..]: number of ended spans that are not returned yet */
	uint32_t sweep_at; /* n at which ended spans below others are removed; 0 restarts */
};

/* Adds spans[n], which is filled in, to the run below it, or makes it the first span of a new run.  The runs
 * between the new run and the next one that ends later enclose only spans that the new run encloses too:
 * `below` skips them.  They end before it, so each is passed once. */
static inline void covered_spans_join(struct covered_spans *s, uint32_t n)
{
	struct covered_span *const o = &s->spans[n];

	if (n > 0 && o[-1].end >= o->end) {
		o->run = o[-1].run;
		return;
	}
	o->run = o->below = n;
	while (o->below > 0 && s->spans[s->spans[o->below - 1].run].end <= o->end)
		o->below = s->spans[s->spans[o->below - 1].run].below;
}

/* Moves ended spans, which may be below longer ones, behind the others.  If it is inlined into
 * covered_spans_pop(), it costs each span 20 instructions; as a cold function, it makes its callers cold. */
static NOINLINE __attribute__((unused)) void covered_spans_sweep(struct covered_spans *s, uint64_t time)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct covered_span o = s->spans[i];
		if (o.end <= time)
			continue;
		s->spans[i] = s->spans[kept];
		s->spans[kept] = o;
		covered_spans_join(s, kept++);
	}
	s->nswept = s->n - kept;
	s->n = kept;
	s->sweep_at = 2 * kept > 64 ? 2 * kept : 64;
}

/* Removes a span that ends by `time` and returns it, valid until the next call; NULL if none is found.  Ended
 * spans below longer ones may be found later: all spans are swept only when their number has doubled. */
static inline const struct covered_span *covered_spans_pop(struct covered_spans *s, uint64_t time)
{
	if (s->nswept == 0) {
		if (s->n > 0 && s->spans[s->n - 1].end <= time)
			return &s->spans[--s->n];
		if (s->n < s->sweep_at)
			return NULL;
		covered_spans_sweep(s, time);
	}
	return s->nswept > 0 ? &s->spans[s->n + --s->nswept] : NULL;
}

/* Returns the innermost span of a run that ends at `end` or later; NULL: none.  Ends decrease within a run,
 * so this is a binary search. */
static inline struct covered_span *covered_spans_find(const struct covered_spans *s, uint32_t first,
                                                      uint32_t last, uint64_t end)
{
	if (s->spans[last].end >= end)
		return &s->spans[last];
	if (s->spans[first].end < end)
		return NULL;
	while (last - first > 1) {
		const uint32_t middle = first + (last - first) / 2;
		if (s->spans[middle].end >= end)
			first = middle;
		else
			last = middle;
	}
	return &s->spans[first];
}

/* Adds covered time to the spans around the next span: to the innermost span of each run, which has added its
 * time to the others of the run.  *innermost: the innermost span of all runs; NULL: none.  Returns false if
 * more than max_runs runs would be visited. */
static inline bool covered_spans_cover(struct covered_spans *s, uint64_t start, uint64_t end,
                                       uint32_t max_runs, const struct covered_span **innermost)
{
	uint32_t i = s->n;

	*innermost = NULL;
	for (uint32_t runs = 0; i > 0 && runs < max_runs; runs++) {
		const uint32_t first = s->spans[i - 1].run;
		struct covered_span *const o = covered_spans_find(s, first, i - 1, end);
		i = o != NULL ? first : s->spans[first].below;
		if (o == NULL)
			continue;
		const uint64_t from = start > o->until ? start : o->until;
		if (end > from) {
			o->covered += end - from;
			o->until = end;
		}
		*innermost = *innermost == NULL ? o : *innermost;
	}
	return i == 0;
}

/* Adds a span.  Changes nothing on OOM. */
static inline bool covered_spans_push(struct covered_spans *s, uint64_t start, uint64_t end, uint32_t what)
{
	if (s->n == s->cap && !array_reserve(&s->spans, s->n, &s->cap, sizeof *s->spans))
		return false;
	s->spans[s->n] = (struct covered_span){ .start = start, .end = end, .until = start, .what = what };
	covered_spans_join(s, s->n++);
	return true;
}

#endif
