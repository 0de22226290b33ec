#ifndef SPEEDSCOPE_FRAMES_H
#define SPEEDSCOPE_FRAMES_H

#include "speedscope/state.h"

/*
 * The frames that all profiles of a file share: a name, and a category, each
 * pair once.  They are kept as JSON until the end of the output, within
 * SPEEDSCOPE_FRAMES_ROOM.  Zero-initialise to start.
 */
#define SPEEDSCOPE_FRAMES_ROOM ((size_t)32 << 20) /* bytes of JSON */
#define SPEEDSCOPE_FRAMES_MAX (1U << 20)

struct speedscope_frames {
	struct text json; /* elements of the list of frames */
	struct text key;  /* of the frame that is looked for */
	struct arena keys;
	struct tabletext table;      /* number of the category, name -> number of the frame */
	struct tabletext categories; /* their texts are those of classes */
	uint32_t n, ncategories;
	uint32_t other; /* the number + 1 of the frame for what has no room; 0: not made yet */
};

/* A category's number, from 1 on; 0: no memory.  The text stays where it is. */
uint32_t speedscope_category(struct speedscope_frames *f, struct slice category);

/* The number of the frame.  category: see above; 0: it has none, and `text` is not looked at.  Failures of
 * memory are those of the chunk.  offset: of the event. */
uint32_t speedscope_frame(struct speedscope_frames *f, struct slice name, uint32_t category,
                          struct slice text, uint64_t offset, struct chunk *chunk);

void speedscope_frames_free(struct speedscope_frames *f);

#endif
