#ifndef FOLDED_TREE_H
#define FOLDED_TREE_H

#include "folded/state.h"

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

#endif
