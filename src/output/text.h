#ifndef OUTPUT_TEXT_H
#define OUTPUT_TEXT_H

#include "base/slice.h"

/* A growing run of bytes, the place where output is made.  When memory runs out, `failed` is set and stays,
 * and further bytes are dropped: makers need not check.  Zero-initialise to start. */
struct text {
	char *p;
	size_t n, cap;
	bool failed;
	bool borrowed; /* p is the caller's, see output/text_start.h */
};

void text_add(struct text *t, const char *p, size_t n);
void text_str(struct text *t, const char *s); /* NUL-terminated */
void text_slice(struct text *t, struct slice s);
void text_u64(struct text *t, uint64_t v);
void text_i64(struct text *t, int64_t v);
void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_clear(struct text *t); /* empties it, the memory is kept */
void text_free(struct text *t);
bool text_grow(struct text *t, size_t room); /* for text_room() */

/* A place for at least `room` bytes; the caller writes there and then adds to t->n.  NULL: no memory. */
static inline char *text_room(struct text *t, size_t room)
{
	/* `<`, not `<=`: memory that was never given must not pass for a room of 0 bytes. */
	if (room < t->cap - t->n || text_grow(t, room))
		return t->p + t->n;
	return NULL;
}

static inline void text_char(struct text *t, char c)
{
	char *const p = text_room(t, 1);

	if (p != NULL) {
		*p = c;
		t->n++;
	}
}

#endif
