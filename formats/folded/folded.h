#ifndef FOLDED_FOLDED_H
#define FOLDED_FOLDED_H

#include "base/table.h"
#include "format/format.h"

/* ---- state ---- */

enum folded_loss {
#define LOSS(row, ...) FOLDED_##row,
#include "folded/losses.def"
#undef LOSS
	FOLDED_LOSSES
};

extern const struct loss folded_losses[FOLDED_LOSSES + 1];
extern const struct writer_ops folded_writer_ops;

/* ---- name ---- */

#define FOLDED_NAME_MAX 1024U /* bytes of a name that are shown */

/* ---- tree ---- */

/*
 * The stacks of a trace, and the time of each: a tree of frames.  Zero-
 * initialise to start, and call folded_tree_begin().
 */
#define FOLDED_TREE_ROOM ((size_t)64 << 20) /* bytes of all of it */

struct folded_node {
	unsigned __int128 self; /* ns */
	uint32_t parent;        /* less than its own number */
	uint32_t frame;
	bool shown; /* it has a line even if self is 0 */
};

/* Both texts lie in the arena. */
struct folded_frame {
	struct slice name, shown;
};

struct folded_tree {
	struct folded_node *nodes; /* [0] is the root, which has no frame */
	uint32_t nnodes, nodes_cap;
	struct folded_frame *frames;
	uint32_t nframes, frames_cap;
	struct arena arena;
	struct tabletext frame_of;
	struct table64 node_of; /* parent << 32 | frame -> node */
	struct text scratch;
	uint64_t allowed; /* bytes that lines may take whole, see FOLDED_STACK_CUT */
};

/* Numbers; UINT32_MAX: no memory, or that is what was given. */
uint32_t folded_frame_of(struct folded_tree *t, struct slice name);
uint32_t folded_node(struct folded_tree *t, uint32_t parent, uint32_t frame);

/* The node of the other tree, with those around it, in this one. */
uint32_t folded_node_copy(struct folded_tree *t, const struct folded_tree *from, uint32_t node);

/* Bytes that it takes. */
size_t folded_tree_size(const struct folded_tree *t);

/* Adds a line for each stack that has time of its own. */
void folded_tree_write(struct folded_tree *t, struct chunk *chunk);

/* Adds the root.  false: no memory. */
bool folded_tree_begin(struct folded_tree *t);
void folded_tree_free(struct folded_tree *t);

/* ---- stack ---- */

/*
 * The spans of one track that are open.  Spans come in order of their starts, of
 * equal starts the longer first.  What lies within a span takes from its self
 * time, once where several overlap; of spans that start and end together the one
 * that came last lies around the others.  The statistics count so, too.
 */
#define FOLDED_OPEN_MAX 4096U
#define FOLDED_LOOKS 64U /* runs of nested spans that are looked at for what lies around a span */

struct folded_open {
	uint64_t start, end;
	uint64_t covered, until; /* ns of it that others within it take; to where they reach */
	uint32_t node;
	uint32_t run; /* from this one on each lies around the next */
};

/* Zero-initialise to start, and set `tree` and `root`. */
struct folded_stack {
	struct folded_tree *tree;
	uint32_t root; /* the node of the track */
	struct folded_open *open;
	uint32_t n, cap;
	uint32_t sweep_at; /* n at which spans that are over are looked for below others */
	uint32_t *equal;   /* frames of spans that start and end together, and wait */
	uint32_t nequal, equal_cap;
	uint64_t equal_start, equal_end, equal_offset;
};

#endif
