#include <stdlib.h>

#include "folded/folded.h"
#include "model/call_stack.h"
#include "model/event_traits.h"

/* ---- stack ---- */

#define SWEEP_LEAST 64U

static void finish(struct folded_stack *s, const struct folded_open *o)
{
	struct folded_node *const node = &s->tree->nodes[o->node];

	node->self += o->end - o->start - o->covered;
	node->shown |= o->start == o->end;
}

/* Those that are over leave; below others that last, only now and then. */
static void finish_until(struct folded_stack *s, uint64_t time)
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
static uint32_t around(const struct folded_stack *s, uint32_t first, uint32_t last, uint64_t end)
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

static void cover(struct folded_open *o, uint64_t start, uint64_t end)
{
	const uint64_t from = start > o->until ? start : o->until;

	if (end <= from)
		return;
	o->covered += end - from;
	o->until = end;
}

/* Takes the span from those around it: in each run the innermost, which was taken from the others.  Returns
 * the node of the innermost of all. */
static uint32_t place(struct folded_stack *s, uint64_t start, uint64_t end, struct chunk *chunk)
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

static bool open_span(struct folded_stack *s, uint32_t frame, struct chunk *chunk)
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

static void open_equal(struct folded_stack *s, struct chunk *chunk)
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

/* Failures of memory are those of the chunk. */
static void folded_stack_span(struct folded_stack *s, uint64_t start, uint64_t end, uint32_t frame,
                              uint64_t offset, struct chunk *chunk)
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

/* Ends all. */
static void folded_stack_end(struct folded_stack *s, struct chunk *chunk)
{
	open_equal(s, chunk);
	while (s->n > 0)
		finish(s, &s->open[--s->n]);
	s->sweep_at = SWEEP_LEAST;
}

static void folded_stack_free(struct folded_stack *s)
{
	free(s->open);
	free(s->equal);
}

/* ---- write ---- */

/*
 * Folded stacks: a line for each stack of spans, with the sum of their self
 * times in ns.  Events come track by track; stacks are kept until the end of
 * the output, or until their table is full.
 */

const struct loss folded_losses[FOLDED_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "folded/losses.def"
#undef LOSS
};

struct folded_writer {
	struct folded_tree tree;
	struct folded_stack stack;
	enum plan_stack samples;   /* that are counted instead of spans; ANY: spans are */
	const struct track *track; /* whose spans come; NULL: none yet */
	uint64_t bias;             /* makes signed times order as unsigned ones */
};

/* ---- tracks ---- */

/* The node of a track: its process, and itself. */
static uint32_t root_of(struct folded_tree *t, const struct track *k)
{
	const struct track *const process = track_process(k);
	uint32_t node = folded_node(t, 0, folded_frame_of(t, process->name));

	if (process != k && node != UINT32_MAX)
		node = folded_node(t, node, folded_frame_of(t, k->name));
	return node;
}

static void enter_track(struct folded_writer *st, const struct track *k, struct chunk *chunk)
{
	if (k == st->track)
		return;
	folded_stack_end(&st->stack, chunk);
	st->track = k;
	st->stack.root = root_of(&st->tree, k);
	if (st->stack.root == UINT32_MAX)
		chunk->text.failed = true;
}

/* ---- a full table ---- */

/* The lines are written; what is open begins a new table. */
static void renew(struct folded_writer *st, struct chunk *chunk)
{
	struct folded_tree fresh = { .nodes = NULL };
	struct folded_stack *const s = &st->stack;
	bool well = folded_tree_begin(&fresh);

	folded_tree_write(&st->tree, chunk);
	if (well && st->track != NULL)
		s->root = folded_node_copy(&fresh, &st->tree, s->root);
	well = well && s->root != UINT32_MAX;
	for (uint32_t i = 0; i < s->n && well; i++) {
		s->open[i].node = folded_node_copy(&fresh, &st->tree, s->open[i].node);
		well = s->open[i].node != UINT32_MAX;
	}
	for (uint32_t i = 0; i < s->nequal && well; i++) {
		s->equal[i] = folded_frame_of(&fresh, st->tree.frames[s->equal[i]].name);
		well = s->equal[i] != UINT32_MAX;
	}
	chunk->text.failed |= !well;
	folded_tree_free(&st->tree);
	st->tree = fresh;
}

/* ---- events ---- */

static void put_span(struct folded_writer *st, const struct event *e, struct chunk *chunk)
{
	const uint64_t start = e->ts ^ st->bias;
	const uint64_t end = e->dur > UINT64_MAX - start ? UINT64_MAX : start + e->dur;
	const uint32_t frame = folded_frame_of(&st->tree, e->name);

	if (frame == UINT32_MAX) {
		chunk->text.failed = true;
		return;
	}
	if (e->name.n > FOLDED_NAME_MAX)
		ledger_add(&chunk->ledger, &folded_losses[FOLDED_NAME_CUT], e->offset, 1);
	folded_stack_span(&st->stack, start, end, frame, e->offset, chunk);
	if (!chunk->text.failed && folded_tree_size(&st->tree) >= FOLDED_TREE_ROOM)
		renew(st, chunk);
}

/* The stack of the sample, with one more below its track. */
static void put_sample(struct folded_writer *st, const struct batch *b, const struct event *e,
                       struct chunk *chunk)
{
	char room[CALL_STACK_ADDRESS];
	struct call_stack stack;

	if (!call_stack_get(&stack, b, e)) {
		ledger_add(&chunk->ledger, &folded_losses[FOLDED_NO_DURATION], e->offset, 1);
		return;
	}
	enter_track(st, e->track, chunk);
	uint32_t node = st->stack.root;
	if (stack.n > FOLDED_OPEN_MAX)
		ledger_add(&chunk->ledger, &folded_losses[FOLDED_TOO_DEEP], e->offset, 1);
	for (uint32_t i = 0; i < stack.n && i < FOLDED_OPEN_MAX && node != UINT32_MAX; i++) {
		const struct slice name = call_stack_from_root(&stack, i, room);
		node = folded_node(&st->tree, node, folded_frame_of(&st->tree, name));
	}
	if (node == UINT32_MAX) {
		chunk->text.failed = true;
		return;
	}
	st->tree.nodes[node].self++;
	if (folded_tree_size(&st->tree) >= FOLDED_TREE_ROOM)
		renew(st, chunk);
}

static void put_event(struct folded_writer *st, const struct batch *b, const struct event *e,
                      struct chunk *chunk)
{
	enum folded_loss loss = FOLDED_NO_DURATION;

	if (e->phase == PHASE_INSTANT && st->samples != PLAN_STACK_ANY &&
	    call_stack_kind(e->cls) == st->samples) {
		put_sample(st, b, e, chunk);
		return;
	}
	if (e->phase == PHASE_SPAN && (e->flags & EVENT_ASYNC) == 0 && st->samples != PLAN_STACK_ANY) {
		loss = FOLDED_SPANS;
	} else if (e->phase == PHASE_SPAN && (e->flags & EVENT_ASYNC) == 0) {
		enter_track(st, e->track, chunk);
		put_span(st, e, chunk);
		if (event_has_category(e))
			ledger_add(&chunk->ledger, &folded_losses[FOLDED_CATEGORY], e->offset, 1);
		if (e->nfields == 0)
			return;
		loss = FOLDED_FIELDS;
	} else if (e->phase == PHASE_SPAN) {
		loss = FOLDED_ASYNC;
	} else if (e->phase == PHASE_COUNTER) {
		loss = FOLDED_COUNTERS;
	} else if (event_is_flow(e)) {
		loss = FOLDED_ARROWS;
	}
	ledger_add(&chunk->ledger, &folded_losses[loss], e->offset, 1);
}

/* ---- the writer ---- */

static bool folded_begin(struct writer *w, struct chunk *chunk)
{
	struct folded_writer *const st = w->state;

	const char *const stacks = option_find(w->options, "stacks");

	(void)chunk; /* there is no head */
	st->samples = stacks == NULL                   ? PLAN_STACK_ANY
	              : strcmp(stacks, "cpu") == 0     ? PLAN_STACK_CPU
	              : strcmp(stacks, "off-cpu") == 0 ? PLAN_STACK_OFF_CPU
	              : strcmp(stacks, "alloc") == 0   ? PLAN_STACK_ALLOC
	                                               : PLAN_STACK_ANY;
	st->bias = (uint64_t)w->signed_time << 63;
	st->stack.tree = &st->tree;
	return folded_tree_begin(&st->tree);
}

static bool folded_declare(struct writer *w, const struct batch *b)
{
	(void)w;
	(void)b; /* stacks are made of what the events say */
	return true;
}

static void folded_write(void *state, const struct batch *b, struct chunk *chunk)
{
	for (uint32_t i = 0; i < b->n && !chunk->text.failed; i++)
		if (b->events[i].track != NULL)
			put_event(state, b, &b->events[i], chunk);
}

static bool folded_end(struct writer *w, struct chunk *chunk)
{
	struct folded_writer *const st = w->state;

	folded_stack_end(&st->stack, chunk);
	if (!chunk->text.failed)
		folded_tree_write(&st->tree, chunk);
	if (w->trace->nmeta > 0)
		ledger_add(&chunk->ledger, &folded_losses[FOLDED_FACTS], 0, w->trace->nmeta);
	return true;
}

static void folded_free(void *state)
{
	struct folded_writer *const st = state;

	folded_tree_free(&st->tree);
	folded_stack_free(&st->stack);
}

const struct writer_ops folded_writer_ops = {
	.state_size = sizeof(struct folded_writer),
	.want = WANT_FIELDS,
	.modes = WRITER_TEXT | WRITER_INTERPRETED,
	.order = ORDER_TRACK_TIME,
	.open = folded_begin,
	.declare = folded_declare,
	.write = folded_write,
	.close = folded_end,
	.free = folded_free,
};
