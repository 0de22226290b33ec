#ifndef DIAL9_FRAME_H
#define DIAL9_FRAME_H

#include "dial9/wire.h"
#include "format/format.h"

/* Frames where they lie, and who reads which. */

struct d9_state;

/* What came of one step.  Without memory it does not matter: d9_state.no_memory is set then. */
enum d9_result {
	D9_DONE,
	D9_MORE, /* the window ends inside it: nothing happened, and d9_state.lack is what is missing */
	D9_BAD,  /* nothing after this place can be trusted; a finding is the reason */
};

/* One frame, or one entry of a pool. */
struct d9_frame {
	const char *p, *end;      /* all of its bytes; until it is measured, `end` is the end of the window */
	uint64_t offset, ordinal; /* of the frame, for findings */
	uint64_t at; /* offset of its own first byte: the frame's, but for later entries of a pool */
	uint8_t tag;
};

/* A pool or annotation frame whose entries are being read. */
struct d9_open_frame {
	uint8_t tag;
	uint32_t left, count; /* entries */
	uint64_t type_id;     /* annotations */
	uint64_t offset;
};

/* reader_ops.next */
enum read_status d9_frames_next(struct reader *r, struct batch *b);

/* What stands at the start of the window, which is not empty: a frame, or the next entry of the open one. */
enum d9_result d9_next_frame(struct d9_state *st, struct batch *b);

/*
 * The kinds of frames.  Each of these reads the frame, or the entry of one, at
 * f->p, sets f->end and adds a record to the batch if it is wanted.
 */
enum d9_result d9_event_frame(struct d9_state *st, struct d9_frame *f, struct batch *b);
enum d9_result d9_schema_frame(struct d9_state *st, struct d9_frame *f, struct batch *b);

/* The head of a frame with its first entry, if it has one; sets st->open. */
enum d9_result d9_pool_head(struct d9_state *st, struct d9_frame *f, struct batch *b);
enum d9_result d9_annotations_head(struct d9_state *st, struct d9_frame *f, struct batch *b);

/* The next entry of st->open. */
enum d9_result d9_pool_entry(struct d9_state *st, struct d9_frame *f, struct batch *b);
enum d9_result d9_annotation(struct d9_state *st, struct d9_frame *f, struct batch *b);

/* The same for an event or entry that is too large to hold: it is dropped in pieces.  Its bytes are gone
 * then, even when it is cut. */
enum d9_result d9_event_skip(struct d9_state *st, const struct d9_frame *f);
enum d9_result d9_pool_skip(struct d9_state *st, const struct d9_frame *f);
enum d9_result d9_annotation_skip(struct d9_state *st);

#endif
