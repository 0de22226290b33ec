#ifndef FOLDED_FOLDED_H
#define FOLDED_FOLDED_H

/*
 * Private header of folded stacks, the input of flame graph tools: one line per stack of names, with the sum
 * of its self times in ns or the number of its samples.
 *
 *   tree.c    names as frames, the tree of all stacks, its lines
 *   write.c   self time of the open spans of a track, samples, the writer
 */

#include "base/table.h"
#include "format/format.h"
#include "out/known.h"

enum folded_loss {
#define LOSS(row, ...) FOLDED_##row,
#include "folded/losses.def"
#undef LOSS
	FOLDED_LOSSES
};

extern const struct loss folded_losses[FOLDED_LOSSES + 1];

/* ---- limits ---- */

#define FOLDED_NAME_MAX 1024U              /* bytes of a name that are shown */
#define FOLDED_TREE_MAX ((size_t)64 << 20) /* bytes of the tree; a full one is written and emptied */
#define FOLDED_OPEN_MAX 4096U              /* open spans of a track, frames of a sample */

/* ---- tree.c ---- */

/* A stack: a path of frames from the root. */
struct folded_node {
	unsigned __int128 self; /* ns, or number of samples */
	uint32_t parent;        /* less than the number of the node */
	uint32_t frame;
	bool shown; /* written even if self is 0 */
};

/* Texts are in the arena of the tree. */
struct folded_frame {
	struct slice name;  /* name of the events, cut to FOLDED_NAME_MAX + 1 bytes */
	struct slice shown; /* name as written */
};

/* Frame of spans that are not selected: they take time from the spans around them, and have no line. */
#define FOLDED_LEFT_OUT (UINT32_MAX - 1)

/* Zero-initialise, then call folded_tree_begin().  Nodes and frames are numbers; UINT32_MAX is OOM, also as
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

bool folded_tree_begin(struct folded_tree *t);
void folded_tree_free(struct folded_tree *t);

/* Return the frame of a name, and the child of a node with this frame; add it if needed. */
uint32_t folded_frame_of(struct folded_tree *t, struct slice name);
uint32_t folded_node_of(struct folded_tree *t, uint32_t parent, uint32_t frame);

/* Copies a node of another tree, with its parents but without times. */
uint32_t folded_node_copy(struct folded_tree *t, const struct folded_tree *from, uint32_t node);

/* Returns the bytes of memory that the tree uses. */
size_t folded_tree_size(const struct folded_tree *t);

/* Adds a line for each stack with self time. */
void folded_tree_write(struct folded_tree *t, struct chunk *chunk);

#endif
