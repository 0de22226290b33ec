#ifndef DIAL9_WALK_H
#define DIAL9_WALK_H

#include "dial9/state.h"

/*
 * The grammar of values, by the table of types: the one place where their
 * bytes are walked over, whether to check them, to drop them or to make values
 * of them.
 */

enum d9_walk_mode {
	D9_WALK_OVER,   /* nothing is checked but what sizes depend on */
	D9_WALK_CHECK,  /* sets `odd` if there is something to report that does not end reading */
	D9_WALK_REPORT, /* reports it */
};

struct d9_walk {
	struct d9_bytes bytes;
	struct d9_state *st;
	const struct d9_frame *f;
	const struct d9_schema *s;
	const struct d9_field *field;
	struct batch *b; /* for values */
	uint8_t mode;    /* enum d9_walk_mode */
	bool raw;        /* values are as the bytes have them: nothing is looked up */
	bool odd;
	bool stuck; /* the event cannot be read on; why: */
	uint8_t rule;
	uint64_t at, value;
};

/* On the values of an event that was checked: nothing can go wrong but memory. */
static inline void
d9_walk_values(struct d9_walk *w, struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f,
               struct batch *b)
{
	*w = (struct d9_walk){ .bytes = d9_bytes_of(st, f), .st = st, .f = f, .s = s, .b = b };
	w->bytes.p += d9_schema_head(s);
	w->raw = d9_wants_raw(st);
}

/* Walks over the next value, and makes *v of it unless v is NULL.  `depth`: lists and maps around it, whose
 * elements have types.  false: it is not all there, or stuck. */
bool d9_walk_value(struct d9_walk *w, uint8_t type, unsigned depth, struct value *v);

/* Checks an event in the window and sets f->end.  It is reported on only when it is complete, because a frame
 * at the end of a window is walked more than once. */
enum d9_result d9_walk_event(struct d9_state *st, const struct d9_schema *s, struct d9_frame *f);

/* Walks over an event in pieces, behind the frame at the start of the window. */
enum d9_result d9_walk_pieces(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f);

/* A LEB128 number that was checked: D9_VARINT_MAX bytes at most. */
static inline uint64_t
d9_varint(const char **p)
{
	uint64_t byte = (unsigned char)*(*p)++, v = byte & 0x7f;

	for (unsigned shift = 7; byte >= 0x80; shift += 7) {
		byte = (unsigned char)*(*p)++;
		v |= (byte & 0x7f) << shift;
	}
	return v;
}

#endif
