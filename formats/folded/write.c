/*
 * The writer of folded stacks, the input of flame graph tools: one line per stack of names, with the sum of
 * its self times in ns or the number of its samples.  Events arrive track by track in order of time.  The
 * open spans of a track become paths in the tree, which sums their self times and counts samples.  The tree
 * is written at the end of the output, or when it is full: a stack may then have several lines, which readers
 * add up.
 *
 * Self time of spans that overlap without nesting is computed as in stats: a span covers time of each span
 * around it once, and the last of several spans with equal start and end encloses the others.
 */
#include <stdlib.h>

#include "base/compiler.h"
#include "base/open_spans.h"
#include "base/table.h"
#include "format/format.h"
#include "model/call_stack.h"
#include "model/event_traits.h"
#include "out/facts.h"
#include "output/text_visible.h"

enum folded_loss {
#define LOSS(row, ...) FOLDED_##row,
#include "folded/losses.def"
#undef LOSS
	FOLDED_LOSSES
};

static const struct loss losses[FOLDED_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "folded/losses.def"
#undef LOSS
};

/* ---- limits ---- */

#define FOLDED_NAME_MAX 1024U              /* bytes of a name that are shown */
#define FOLDED_TREE_MAX ((size_t)64 << 20) /* bytes of the tree; a full one is written and emptied */
#define FOLDED_OPEN_MAX 4096U              /* open spans of a track, frames of a sample */
#define MAX_DEPTH (FOLDED_OPEN_MAX + 2)    /* process, thread, spans */
#define MAX_LINES ((uint64_t)64 << 20)     /* bytes of lines written in full, per tree */
#define SHORT_STACK 64                     /* minimum bytes of a line after that */
#define MAX_RUNS 64U                       /* runs that are searched for enclosing spans of a span */

/* ---- the tree of stacks ---- */

/*
 * The tree of all stacks (a trie of frames), and its lines.  Frames are interned by name, nodes by parent and
 * frame, so that adding a stack costs one hash lookup per frame.
 *
 * Lines repeat the frames of their parents: deep stacks make the output quadratic.  After MAX_LINES bytes,
 * each line ends with the first frame beyond SHORT_STACK bytes, which is a loss.
 */

/* A stack: a path of frames from the root. */
struct folded_node {
	uint128 self;    /* ns, or number of samples */
	uint32_t parent; /* less than the number of the node */
	uint32_t frame;
	bool shown; /* written even if self is 0 */
};

/* Texts are in the arena of the tree. */
struct folded_frame {
	struct slice name;  /* name of the events, cut to FOLDED_NAME_MAX + 1 bytes */
	struct slice shown; /* name as written */
};

/* Frame of spans that are not selected: they take time from the spans around them, and have no line. */
#define FRAME_LEFT_OUT (UINT32_MAX - 1)

/* Zero-initialise, then call begin_tree().  Nodes and frames are numbers; UINT32_MAX is OOM, also as
 * an argument. */
struct folded_tree {
	struct folded_node *nodes; /* [0] is the root, which has no frame */
	uint32_t nnodes, nodes_cap;
	struct folded_frame *frames;
	uint32_t nframes, frames_cap;
	struct arena arena;
	struct tabletext frame_of;            /* name -> frames[] */
	struct known_text known[KNOWN_TEXTS]; /* cache of frame_of */
	struct table64 node_of;               /* parent << 32 | frame -> nodes[] */
	struct text scratch;
	uint64_t line_bytes_left; /* bytes of lines that are written in full, see FOLDED_STACK_CUT */
};

/* ---- frames ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Replaces the blank before a number at the end of a name: flame graph tools read " 12" or " 12.5" at the end
 * of a stack as a second count. */
static void join_number(char *p, size_t n)
{
	size_t i = n;

	while (i > 0 && is_digit(p[i - 1]))
		i--;
	if (i > 0 && p[i - 1] == '.') {
		i--;
		while (i > 0 && is_digit(p[i - 1]))
			i--;
	}
	if (i > 0 && i < n && is_digit(p[i]) && p[i - 1] == ' ')
		p[i - 1] = '_';
}

/* Writes a name as a frame: not empty, without ';', line feeds and invisible characters.  The manual lists
 * the escapes. */
static void put_name(struct text *t, struct slice name)
{
	struct text shown = { .p = NULL };
	const size_t at = t->n;

	text_visible(&shown, name.n > 0 ? name : SLICE_LIT("(no name)"), FOLDED_NAME_MAX);
	for (size_t i = 0; i < shown.n; i++)
		if (shown.p[i] == ';')
			text_str(t, "\\x3b");
		else if (shown.p[i] == '#' && i == 0)
			text_str(t, "\\x23"); /* '#' starts a comment */
		else
			text_char(t, shown.p[i]);
	t->failed |= shown.failed;
	if (!t->failed)
		join_number(t->p + at, t->n - at);
	text_free(&shown);
}

/* Returns the frame of a name, after adding it if it is new. */
static uint32_t find_frame(struct folded_tree *t, struct slice name)
{
	if (name.n > FOLDED_NAME_MAX + 1)
		name.n = FOLDED_NAME_MAX + 1; /* one more, so that text_visible() shows the cut */
	struct known_text *const known = known_text(t->known, KNOWN_TEXTS, name, 0);
	if (known_text_is(known, name, 0))
		return known->number;
	const uint32_t i = tabletext_get(&t->frame_of, name);
	if (i != TABLE_NONE) {
		known_text_set(known, name, 0, i);
		return i;
	}
	text_clear(&t->scratch);
	put_name(&t->scratch, name);
	const struct slice own = arena_copy(&t->arena, name);
	const struct slice text = arena_copy(&t->arena, slice_of(t->scratch.p, t->scratch.n));
	if (t->scratch.failed || own.p == NULL || text.p == NULL ||
	    !array_reserve(&t->frames, t->nframes, &t->frames_cap, sizeof *t->frames) ||
	    !tabletext_put(&t->frame_of, own, t->nframes))
		return UINT32_MAX;
	t->frames[t->nframes] = (struct folded_frame){ own, text };
	return t->nframes++;
}

/* ---- nodes ---- */

static uint32_t add_node(struct folded_tree *t, uint32_t parent, uint32_t frame)
{
	if (!array_reserve(&t->nodes, t->nnodes, &t->nodes_cap, sizeof *t->nodes))
		return UINT32_MAX;
	t->nodes[t->nnodes] = (struct folded_node){ .parent = parent, .frame = frame };
	return t->nnodes++;
}

/* Returns the child of a node that has this frame, after adding it if it is new. */
static uint32_t find_node(struct folded_tree *t, uint32_t parent, uint32_t frame)
{
	if (parent == UINT32_MAX || frame == UINT32_MAX)
		return UINT32_MAX;
	const uint64_t key = (uint64_t)parent << 32 | frame;
	const uint32_t i = table64_get(&t->node_of, key);

	if (i != TABLE_NONE)
		return i;
	if (!table64_put(&t->node_of, key, t->nnodes))
		return UINT32_MAX;
	return add_node(t, parent, frame);
}

static bool begin_tree(struct folded_tree *t)
{
	t->line_bytes_left = MAX_LINES;
	return add_node(t, 0, 0) == 0;
}

static void free_tree(struct folded_tree *t)
{
	free(t->nodes);
	free(t->frames);
	arena_free(&t->arena);
	tabletext_free(&t->frame_of);
	table64_free(&t->node_of);
	text_free(&t->scratch);
}

/* Returns the bytes of memory that the tree uses. */
static size_t tree_size(const struct folded_tree *t)
{
	/* Arrays grow by doubling. */
	return 2 * (t->nnodes * sizeof *t->nodes + t->nframes * sizeof *t->frames) + t->arena.used +
	       (t->node_of.mask + 1) * sizeof *t->node_of.slots +
	       (t->frame_of.mask + 1) * sizeof *t->frame_of.slots;
}

/* Gets the frames from the root to a node.  Returns their number. */
static uint32_t get_path(const struct folded_tree *t, uint32_t node, uint32_t path[MAX_DEPTH])
{
	uint32_t depth = 0;

	for (uint32_t i = node; i != 0; i = t->nodes[i].parent)
		depth++;
	for (uint32_t i = depth; node != 0; node = t->nodes[node].parent)
		path[--i] = t->nodes[node].frame;
	return depth;
}

/* Copies a node of another tree, with its parents but without times. */
static uint32_t copy_node(struct folded_tree *t, const struct folded_tree *from, uint32_t node)
{
	uint32_t path[MAX_DEPTH], copy = 0;
	const uint32_t depth = get_path(from, node, path);

	for (uint32_t i = 0; i < depth && copy != UINT32_MAX; i++)
		copy = find_node(t, copy,
		                 path[i] == FRAME_LEFT_OUT ? FRAME_LEFT_OUT
		                                           : find_frame(t, from->frames[path[i]].name));
	return copy;
}

/* ---- lines ---- */

static void write_node(struct folded_tree *t, uint32_t node, struct chunk *chunk)
{
	struct text *const out = &chunk->text;
	const size_t at = out->n;
	uint32_t path[MAX_DEPTH];
	const uint32_t depth = get_path(t, node, path);
	bool cut = false;

	for (uint32_t i = 0; i < depth && !cut; i++) {
		if (path[i] == FRAME_LEFT_OUT)
			continue;
		if (i > 0)
			text_char(out, ';');
		text_slice(out, t->frames[path[i]].shown);
		cut = i + 1 < depth && out->n - at > SHORT_STACK && out->n - at > t->line_bytes_left;
	}
	if (cut)
		ledger_add(&chunk->ledger, &losses[FOLDED_STACK_CUT], LOSS_NOWHERE, 1);
	text_char(out, ' ');
	text_u128(out, t->nodes[node].self);
	text_char(out, '\n');
	t->line_bytes_left -= out->n - at < t->line_bytes_left ? out->n - at : t->line_bytes_left;
}

/* Adds a line for each stack with self time. */
static void write_tree(struct folded_tree *t, struct chunk *chunk)
{
	for (uint32_t i = 1; i < t->nnodes && !chunk->text.failed; i++)
		if ((t->nodes[i].self > 0 || t->nodes[i].shown) && t->nodes[i].frame != FRAME_LEFT_OUT)
			write_node(t, i, chunk);
}

/* ---- self times of open spans ---- */

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
			ledger_add(&chunk->ledger, &losses[FOLDED_OVERLAP], s->pending_offset, 1);
		const uint32_t node =
		    find_node(s->tree, parent != NULL ? parent->what : s->root, s->pending[--s->npending]);
		if (note_failure(&chunk->text.failed,
		                 node == UINT32_MAX || !covered_spans_push(&s->open, start, end, node)))
			return;
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
		ledger_add(&chunk->ledger, &losses[FOLDED_TOO_DEEP], offset, 1);
		return;
	}
	if (note_failure(&chunk->text.failed,
	                 !array_reserve(&s->pending, s->npending, &s->pending_cap, sizeof *s->pending)))
		return;
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
	uint32_t node = find_node(t, 0, find_frame(t, process->name));

	if (process != k && node != UINT32_MAX)
		node = find_node(t, node, find_frame(t, k->name));
	return node;
}

static void enter_track(struct folded_writer *st, const struct track *k, struct chunk *chunk)
{
	if (k == st->track)
		return;
	close_all(&st->stack, chunk);
	st->track = k;
	st->stack.root = track_node(&st->tree, k);
	chunk->text.failed |= st->stack.root == UINT32_MAX;
}

/* Writes the tree and starts a new one with the stacks of the open spans. */
static void restart_tree(struct folded_writer *st, struct chunk *chunk)
{
	struct folded_tree fresh = { .nodes = NULL };
	struct stack *const s = &st->stack;
	bool ok = begin_tree(&fresh);

	write_tree(&st->tree, chunk);
	if (ok && st->track != NULL)
		s->root = copy_node(&fresh, &st->tree, s->root);
	ok = ok && s->root != UINT32_MAX;
	for (uint32_t i = 0; i < s->open.n && ok; i++) {
		s->open.spans[i].what = copy_node(&fresh, &st->tree, s->open.spans[i].what);
		ok = s->open.spans[i].what != UINT32_MAX;
	}
	for (uint32_t i = 0; i < s->npending && ok; i++) {
		if (s->pending[i] != FRAME_LEFT_OUT)
			s->pending[i] = find_frame(&fresh, st->tree.frames[s->pending[i]].name);
		ok = s->pending[i] != UINT32_MAX;
	}
	chunk->text.failed |= !ok;
	free_tree(&st->tree);
	st->tree = fresh;
}

/* ---- events ---- */

static void count_span(struct folded_writer *st, const struct event *e, struct chunk *chunk)
{
	const uint64_t start = e->ts ^ st->bias;
	const uint64_t end = e->dur > UINT64_MAX - start ? UINT64_MAX : start + e->dur;
	const bool left_out = (e->flags & EVENT_LEFT_OUT) != 0;
	const uint32_t frame = left_out ? FRAME_LEFT_OUT : find_frame(&st->tree, e->name);

	if (note_failure(&chunk->text.failed, frame == UINT32_MAX))
		return;
	if (e->name.n > FOLDED_NAME_MAX && !left_out)
		ledger_add(&chunk->ledger, &losses[FOLDED_NAME_CUT], e->offset, 1);
	add_pending(&st->stack, start, end, frame, e->offset, (e->flags & EVENT_INNER) != 0, chunk);
	if (!chunk->text.failed && tree_size(&st->tree) >= FOLDED_TREE_MAX)
		restart_tree(st, chunk);
}

/* Counts a sample in its stack, below the track. */
static void count_sample(struct folded_writer *st, const struct batch *b, const struct event *e,
                         struct chunk *chunk)
{
	char address[CALL_STACK_ADDRESS];
	struct call_stack stack;

	if (!call_stack_get(&stack, b, e)) {
		ledger_add(&chunk->ledger, &losses[FOLDED_NO_DURATION], e->offset, 1);
		return;
	}
	enter_track(st, e->track, chunk);
	uint32_t node = st->stack.root;
	if (stack.n > FOLDED_OPEN_MAX)
		ledger_add(&chunk->ledger, &losses[FOLDED_TOO_DEEP], e->offset, 1);
	for (uint32_t i = 0; i < stack.n && i < FOLDED_OPEN_MAX && node != UINT32_MAX; i++) {
		const struct slice name = call_stack_from_root(&stack, i, address);
		node = find_node(&st->tree, node, find_frame(&st->tree, name));
	}
	if (note_failure(&chunk->text.failed, node == UINT32_MAX))
		return;
	st->tree.nodes[node].self++;
	if (tree_size(&st->tree) >= FOLDED_TREE_MAX)
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
			ledger_add(&chunk->ledger, &losses[FOLDED_CATEGORY], e->offset, 1);
		if (e->nfields == 0)
			return;
		loss = FOLDED_FIELDS;
	} else if (e->phase == PHASE_COUNTER) {
		loss = FOLDED_COUNTERS;
	} else if (event_is_flow(e)) {
		loss = FOLDED_ARROWS;
	} else if (call_stack_kind(e->cls) != PLAN_STACK_ANY) {
		loss = FOLDED_SAMPLES;
	}
	ledger_add(&chunk->ledger, &losses[loss], e->offset, 1);
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
	return begin_tree(&st->tree);
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
		write_tree(&st->tree, chunk);
	facts_lose(
	    w, (struct facts_losses){ &losses[FOLDED_FACTS], &losses[FOLDED_HOSTS], &losses[FOLDED_EPOCH] },
	    chunk);
	return true;
}

static void folded_free(void *state)
{
	struct folded_writer *const st = state;

	free_tree(&st->tree);
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
	.losses = losses,
};
