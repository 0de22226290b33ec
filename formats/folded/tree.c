/*
 * The tree of all stacks (a trie of frames), and its lines.  Frames are interned by name, nodes by parent and
 * frame, so that adding a stack costs one hash lookup per frame.
 *
 * Lines repeat the frames of their parents: deep stacks make the output quadratic.  After MAX_LINES bytes,
 * each line ends with the first frame beyond SHORT_STACK bytes, which is a loss.
 */
#include "folded/folded.h"

#include <stdlib.h>

#include "output/text_visible.h"

#define MAX_LINES ((uint64_t)64 << 20)  /* bytes of lines written in full, per tree */
#define SHORT_STACK 64                  /* minimum bytes of a line after that */
#define MAX_DEPTH (FOLDED_OPEN_MAX + 2) /* process, thread, spans */

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

uint32_t folded_frame_of(struct folded_tree *t, struct slice name)
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

uint32_t folded_node_of(struct folded_tree *t, uint32_t parent, uint32_t frame)
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

bool folded_tree_begin(struct folded_tree *t)
{
	t->line_bytes_left = MAX_LINES;
	return add_node(t, 0, 0) == 0;
}

void folded_tree_free(struct folded_tree *t)
{
	free(t->nodes);
	free(t->frames);
	arena_free(&t->arena);
	tabletext_free(&t->frame_of);
	table64_free(&t->node_of);
	text_free(&t->scratch);
}

size_t folded_tree_size(const struct folded_tree *t)
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

uint32_t folded_node_copy(struct folded_tree *t, const struct folded_tree *from, uint32_t node)
{
	uint32_t path[MAX_DEPTH], copy = 0;
	const uint32_t depth = get_path(from, node, path);

	for (uint32_t i = 0; i < depth && copy != UINT32_MAX; i++)
		copy = folded_node_of(t, copy,
		                      path[i] == FOLDED_LEFT_OUT
		                          ? FOLDED_LEFT_OUT
		                          : folded_frame_of(t, from->frames[path[i]].name));
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
		if (path[i] == FOLDED_LEFT_OUT)
			continue;
		if (i > 0)
			text_char(out, ';');
		text_slice(out, t->frames[path[i]].shown);
		cut = i + 1 < depth && out->n - at > SHORT_STACK && out->n - at > t->line_bytes_left;
	}
	if (cut)
		ledger_add(&chunk->ledger, &folded_losses[FOLDED_STACK_CUT], 0, 1);
	text_char(out, ' ');
	text_u128(out, t->nodes[node].self);
	text_char(out, '\n');
	t->line_bytes_left -= out->n - at < t->line_bytes_left ? out->n - at : t->line_bytes_left;
}

void folded_tree_write(struct folded_tree *t, struct chunk *chunk)
{
	for (uint32_t i = 1; i < t->nnodes && !chunk->text.failed; i++)
		if ((t->nodes[i].self > 0 || t->nodes[i].shown) && t->nodes[i].frame != FOLDED_LEFT_OUT)
			write_node(t, i, chunk);
}
