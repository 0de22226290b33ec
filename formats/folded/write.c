/*
 * The writer of folded stacks.  Events arrive track by track in order of time.  The open spans of a track
 * become paths in the tree, which sums their self times and counts samples.  The tree is written at the end
 * of the output, or when it is full: a stack may then have several lines, which readers add up.
 *
 * Self time of spans that overlap without nesting is computed as in stats: a span covers time of each span
 * around it once, and the last of several spans with equal start and end encloses the others.
 */
#include "folded/folded.h"

#include "base/open_spans.h"
#include "model/call_stack.h"
#include "model/event_traits.h"

#define MAX_RUNS 64U /* runs that are searched for enclosing spans of a span */

/* The open spans of one track. */
struct stack {
	struct folded_tree *tree;
	uint32_t root;             /* node of the track */
	struct covered_spans open; /* ns; `what` is the node */
	uint32_t *pending; /* frames of the last spans, which have equal start and end and are not open yet */
	uint32_t npending, pending_cap;
	uint64_t pending_start, pending_end, pending_offset;
};

struct folded_writer {
	struct folded_tree tree;
	struct stack stack;
	enum plan_stack samples;   /* samples to count; PLAN_STACK_ANY: count spans instead */
	const struct track *track; /* current track; NULL before the first */
	uint64_t bias;             /* makes signed times sort as unsigned ones */
};

/* ---- self times of open spans ---- */

static void close_until(struct stack *s, uint64_t time)
{
	for (const struct covered_span *o; (o = covered_spans_pop(&s->open, time)) != NULL;) {
		struct folded_node *const node = &s->tree->nodes[o->what];
		node->self += o->end - o->start - o->covered;
		node->shown |= o->start == o->end;
	}
}

/* Opens the pending spans, the last one first. */
static void open_pending(struct stack *s, struct chunk *chunk)
{
	const uint64_t start = s->pending_start, end = s->pending_end;
	const struct covered_span *parent;

	while (s->npending > 0) {
		if (!covered_spans_cover(&s->open, start, end, MAX_RUNS, &parent))
			ledger_add(&chunk->ledger, &folded_losses[FOLDED_OVERLAP], s->pending_offset, 1);
		const uint32_t node = folded_node_of(s->tree, parent != NULL ? parent->what : s->root,
		                                     s->pending[--s->npending]);
		if (node == UINT32_MAX || !covered_spans_push(&s->open, start, end, node)) {
			chunk->text.failed = true;
			return;
		}
	}
}

/* Makes a span pending, after opening pending spans with another start or end, or around it (EVENT_INNER). */
static void add_pending(struct stack *s, uint64_t start, uint64_t end, uint32_t frame, uint64_t offset,
                        bool inner, struct chunk *chunk)
{
	if (s->npending == 0 || start != s->pending_start || end != s->pending_end || inner) {
		open_pending(s, chunk);
		close_until(s, start);
	}
	if (s->open.n + s->npending >= FOLDED_OPEN_MAX) {
		ledger_add(&chunk->ledger, &folded_losses[FOLDED_TOO_DEEP], offset, 1);
		return;
	}
	if (!array_reserve(&s->pending, s->npending, &s->pending_cap, sizeof *s->pending)) {
		chunk->text.failed = true;
		return;
	}
	s->pending[s->npending++] = frame;
	s->pending_start = start;
	s->pending_end = end;
	s->pending_offset = offset;
}

static void close_all(struct stack *s, struct chunk *chunk)
{
	open_pending(s, chunk);
	close_until(s, UINT64_MAX);
	s->open.sweep_at = 0;
}

/* ---- tracks, and a full tree ---- */

/* Returns the node of a track, a child of the node of its process. */
static uint32_t track_node(struct folded_tree *t, const struct track *k)
{
	const struct track *const process = track_process(k);
	uint32_t node = folded_node_of(t, 0, folded_frame_of(t, process->name));

	if (process != k && node != UINT32_MAX)
		node = folded_node_of(t, node, folded_frame_of(t, k->name));
	return node;
}

static void enter_track(struct folded_writer *st, const struct track *k, struct chunk *chunk)
{
	if (k == st->track)
		return;
	close_all(&st->stack, chunk);
	st->track = k;
	st->stack.root = track_node(&st->tree, k);
	if (st->stack.root == UINT32_MAX)
		chunk->text.failed = true;
}

/* Writes the tree and starts a new one with the stacks of the open spans. */
static void restart_tree(struct folded_writer *st, struct chunk *chunk)
{
	struct folded_tree fresh = { .nodes = NULL };
	struct stack *const s = &st->stack;
	bool ok = folded_tree_begin(&fresh);

	folded_tree_write(&st->tree, chunk);
	if (ok && st->track != NULL)
		s->root = folded_node_copy(&fresh, &st->tree, s->root);
	ok = ok && s->root != UINT32_MAX;
	for (uint32_t i = 0; i < s->open.n && ok; i++) {
		s->open.spans[i].what = folded_node_copy(&fresh, &st->tree, s->open.spans[i].what);
		ok = s->open.spans[i].what != UINT32_MAX;
	}
	for (uint32_t i = 0; i < s->npending && ok; i++) {
		if (s->pending[i] != FOLDED_LEFT_OUT)
			s->pending[i] = folded_frame_of(&fresh, st->tree.frames[s->pending[i]].name);
		ok = s->pending[i] != UINT32_MAX;
	}
	chunk->text.failed |= !ok;
	folded_tree_free(&st->tree);
	st->tree = fresh;
}

/* ---- events ---- */

static void count_span(struct folded_writer *st, const struct event *e, struct chunk *chunk)
{
	const uint64_t start = e->ts ^ st->bias;
	const uint64_t end = e->dur > UINT64_MAX - start ? UINT64_MAX : start + e->dur;
	const bool left_out = (e->flags & EVENT_LEFT_OUT) != 0;
	const uint32_t frame = left_out ? FOLDED_LEFT_OUT : folded_frame_of(&st->tree, e->name);

	if (frame == UINT32_MAX) {
		chunk->text.failed = true;
		return;
	}
	if (e->name.n > FOLDED_NAME_MAX && !left_out)
		ledger_add(&chunk->ledger, &folded_losses[FOLDED_NAME_CUT], e->offset, 1);
	add_pending(&st->stack, start, end, frame, e->offset, (e->flags & EVENT_INNER) != 0, chunk);
	if (!chunk->text.failed && folded_tree_size(&st->tree) >= FOLDED_TREE_MAX)
		restart_tree(st, chunk);
}

/* Counts a sample in its stack, below the track. */
static void count_sample(struct folded_writer *st, const struct batch *b, const struct event *e,
                         struct chunk *chunk)
{
	char address[CALL_STACK_ADDRESS];
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
		const struct slice name = call_stack_from_root(&stack, i, address);
		node = folded_node_of(&st->tree, node, folded_frame_of(&st->tree, name));
	}
	if (node == UINT32_MAX) {
		chunk->text.failed = true;
		return;
	}
	st->tree.nodes[node].self++;
	if (folded_tree_size(&st->tree) >= FOLDED_TREE_MAX)
		restart_tree(st, chunk);
}

static void count_event(struct folded_writer *st, const struct batch *b, const struct event *e,
                        struct chunk *chunk)
{
	const bool samples = st->samples != PLAN_STACK_ANY;
	const bool left_out = (e->flags & EVENT_LEFT_OUT) != 0;
	enum folded_loss loss = FOLDED_NO_DURATION;

	if (left_out && (e->phase != PHASE_SPAN || (e->flags & EVENT_ASYNC) != 0 || samples))
		return;
	if (e->phase == PHASE_INSTANT && samples && call_stack_kind(e->cls) == st->samples) {
		count_sample(st, b, e, chunk);
		return;
	}
	if (e->phase == PHASE_SPAN && (e->flags & EVENT_ASYNC) != 0) {
		loss = FOLDED_ASYNC;
	} else if (e->phase == PHASE_SPAN && samples) {
		loss = FOLDED_SPANS;
	} else if (e->phase == PHASE_SPAN) {
		enter_track(st, e->track, chunk);
		count_span(st, e, chunk);
		if (left_out)
			return;
		if (event_has_category(e))
			ledger_add(&chunk->ledger, &folded_losses[FOLDED_CATEGORY], e->offset, 1);
		if (e->nfields == 0)
			return;
		loss = FOLDED_FIELDS;
	} else if (e->phase == PHASE_COUNTER) {
		loss = FOLDED_COUNTERS;
	} else if (event_is_flow(e)) {
		loss = FOLDED_ARROWS;
	}
	ledger_add(&chunk->ledger, &folded_losses[loss], e->offset, 1);
}

/* ---- the writer ---- */

/* By enum plan_stack. */
static const char *const stack_kinds[] = { "spans", "cpu", "off-cpu", "alloc", NULL };

static bool folded_open(struct writer *w, struct chunk *chunk)
{
	struct folded_writer *const st = w->state;
	const char *const stacks = option_find(w->options, "stacks");

	st->samples = stacks != NULL ? (enum plan_stack)option_word(stack_kinds, stacks) : PLAN_STACK_ANY;
	st->bias = (uint64_t)w->run->signed_time << 63;
	st->stack.tree = &st->tree;
	return folded_tree_begin(&st->tree);
}

static void folded_write(void *state, const struct batch *b, struct chunk *chunk)
{
	for (uint32_t i = 0; i < b->n && !chunk->text.failed; i++)
		if (b->events[i].track != NULL)
			count_event(state, b, &b->events[i], chunk);
}

static bool folded_close(struct writer *w, struct chunk *chunk)
{
	struct folded_writer *const st = w->state;

	close_all(&st->stack, chunk);
	if (!chunk->text.failed)
		folded_tree_write(&st->tree, chunk);
	if (w->run->trace->nmeta > 0)
		ledger_add(&chunk->ledger, &folded_losses[FOLDED_FACTS], 0, w->run->trace->nmeta);
	return true;
}

static void folded_free(void *state)
{
	struct folded_writer *const st = state;

	folded_tree_free(&st->tree);
	free(st->stack.open.spans);
	free(st->stack.pending);
}

static const struct writer_ops folded_writer_ops = {
	.state_size = sizeof(struct folded_writer),
	.want = WANT_FIELDS,
	.modes = WRITER_TEXT | WRITER_COVERS | WRITER_FEW_FIELDS,
	.order = ORDER_TRACK_TIME,
	.open = folded_open,
	.write = folded_write,
	.close = folded_close,
	.free = folded_free,
};

/* ---- the format ---- */

const struct loss folded_losses[FOLDED_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "folded/losses.def"
#undef LOSS
};

static const char *const suffixes[] = { ".folded", NULL };

static const struct format_option options[] = {
	{ .name = "stacks",
	  .arg = "KIND",
	  .help = "what to count: spans (default), or samples of cpu, off-cpu or alloc",
	  .words = stack_kinds,
	  .of_output = true },
	{ .name = NULL },
};

const struct format folded_format = {
	.name = "folded",
	.title = "folded stacks",
	.spec = "tracetool-folded(5)",
	.suffixes = suffixes,
	.options = options,
	.writer = &folded_writer_ops,
	.losses = folded_losses,
};
