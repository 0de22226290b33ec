#include "folded/stack.h"

#include <stdlib.h>

#define SWEEP_LEAST 64U

static void
finish(struct folded_stack *s, const struct folded_open *o)
{
	struct folded_node *const node = &s->tree->nodes[o->node];

	node->self += o->end - o->start - o->covered;
	node->shown |= o->start == o->end;
}

/* Those that are over leave; below others that last, only now and then. */
static void
finish_until(struct folded_stack *s, uint64_t time)
{
	uint32_t kept = 0;

	while (s->n > 0 && s->open[s->n - 1].end <= time)
		finish(s, &s->open[--s->n]);
	if (s->n < s->sweep_at)
		return;
	for (uint32_t i = 0; i < s->n; i++) {
		struct folded_open *const o = &s->open[i];
		if (o->end <= time) {
			finish(s, o);
			continue;
		}
		o->run = kept > 0 && s->open[kept - 1].end >= o->end ? s->open[kept - 1].run : kept;
		s->open[kept++] = *o;
	}
	s->n = kept;
	s->sweep_at = 2 * kept > SWEEP_LEAST ? 2 * kept : SWEEP_LEAST;
}

/* Within a run ends only become less: the last that ends at `end` or later; UINT32_MAX: none. */
static uint32_t
around(const struct folded_stack *s, uint32_t first, uint32_t last, uint64_t end)
{
	if (s->open[last].end >= end)
		return last;
	if (s->open[first].end < end)
		return UINT32_MAX;
	while (last - first > 1) {
		const uint32_t middle = first + (last - first) / 2;
		if (s->open[middle].end >= end)
			first = middle;
		else
			last = middle;
	}
	return first;
}

static void
cover(struct folded_open *o, uint64_t start, uint64_t end)
{
	const uint64_t from = start > o->until ? start : o->until;

	if (end <= from)
		return;
	o->covered += end - from;
	o->until = end;
}

/* Takes the span from those around it: in each run the innermost, which was taken from the others.  Returns
 * the node of the innermost of all. */
static uint32_t
place(struct folded_stack *s, uint64_t start, uint64_t end, struct chunk *chunk)
{
	uint32_t node = UINT32_MAX, looks = 0, i = s->n;

	for (; i > 0 && looks < FOLDED_LOOKS; looks++) {
		const uint32_t first = s->open[i - 1].run, j = around(s, first, i - 1, end);
		if (j != UINT32_MAX) {
			cover(&s->open[j], start, end);
			node = node == UINT32_MAX ? s->open[j].node : node;
		}
		i = first;
	}
	if (i > 0)
		ledger_add(&chunk->ledger, &folded_losses[FOLDED_OVERLAP], s->equal_offset, 1);
	return node == UINT32_MAX ? s->root : node;
}

static bool
open_span(struct folded_stack *s, uint32_t frame, struct chunk *chunk)
{
	const uint64_t start = s->equal_start, end = s->equal_end;
	const uint32_t node = folded_node(s->tree, place(s, start, end, chunk), frame);

	if (node == UINT32_MAX || !array_room(&s->open, s->n, &s->cap, sizeof *s->open))
		return false;
	const struct folded_open *const top = s->n > 0 ? &s->open[s->n - 1] : NULL;
	const uint32_t run = top != NULL && top->end >= end ? top->run : s->n;
	s->open[s->n++] = (struct folded_open){ start, end, 0, start, node, run };
	return true;
}

static void
open_equal(struct folded_stack *s, struct chunk *chunk)
{
	if (s->nequal == 0)
		return;
	finish_until(s, s->equal_start);
	while (s->nequal > 0)
		if (!open_span(s, s->equal[--s->nequal], chunk)) {
			chunk->text.failed = true;
			return;
		}
}

void
folded_stack_span(struct folded_stack *s, uint64_t start, uint64_t end, uint32_t frame, uint64_t offset,
                  struct chunk *chunk)
{
	if (start != s->equal_start || end != s->equal_end)
		open_equal(s, chunk);
	if (s->nequal == 0)
		finish_until(s, start);
	if (s->n + s->nequal >= FOLDED_OPEN_MAX) {
		ledger_add(&chunk->ledger, &folded_losses[FOLDED_TOO_DEEP], offset, 1);
		return;
	}
	if (!array_room(&s->equal, s->nequal, &s->equal_cap, sizeof *s->equal)) {
		chunk->text.failed = true;
		return;
	}
	s->equal[s->nequal++] = frame;
	s->equal_start = start;
	s->equal_end = end;
	s->equal_offset = offset;
}

void
folded_stack_end(struct folded_stack *s, struct chunk *chunk)
{
	open_equal(s, chunk);
	while (s->n > 0)
		finish(s, &s->open[--s->n]);
	s->sweep_at = SWEEP_LEAST;
}

void
folded_stack_free(struct folded_stack *s)
{
	free(s->open);
	free(s->equal);
}
