#ifndef BASE_PIECES_H
#define BASE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Text that further threads parse ahead of its reader, piece by piece.  The reader takes the pieces in order,
 * and parses itself what it does not find in them: a piece may omit whatever is rare, and may be wrong about
 * where an item of the text begins.
 */
struct pieces;

/* A piece: the first member of a format's struct, which holds what was parsed. */
struct piece {
	const char *from, *to; /* items that begin here are parsed; from == to: the text has ended */
	const char *end;       /* of the bytes that may be read: up to pieces_ops.longest after `to` */
	bool first;            /* an item begins at `from` */
};

struct pieces_ops {
	size_t size;    /* of the format's struct, which is zeroed at first */
	size_t longest; /* bytes of an item; longer ones may be omitted */
	/* Parses a piece; called for several concurrently, on any thread. */
	void (*parse)(void *ctx, struct piece *piece);
	void (*free)(struct piece *piece); /* what the struct owns */
};

#ifndef PIECE_TEXT
#define PIECE_TEXT (128 << 10) /* of text; less to test short inputs */
#endif

/* Starts `threads` threads; an item begins at p.  The text [p, end) must remain until pieces_free().  Memory:
 * four pieces for each thread and the caller.  Returns NULL if threads do not pay for so short a text, or on
 * OOM. */
struct pieces *pieces_new(const char *p, const char *end, unsigned threads, const struct pieces_ops *ops,
                          void *ctx);

/* Returns the piece that contains p, which does not decrease from call to call; NULL: there is none.  Earlier
 * pieces are overwritten.  Parses while it waits. */
struct piece *pieces_at(struct pieces *x, const char *p);

/* Waits until no thread parses; none does until pieces_at() goes to another piece. */
void pieces_settle(struct pieces *x);

void pieces_free(struct pieces *x); /* may be NULL */

#endif
