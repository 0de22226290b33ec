#ifndef OUTPUT_TEXT_H
#define OUTPUT_TEXT_H

#include "base/slice.h"

/*
 * A growing run of bytes, the place where output is made.  When memory runs
 * out, `failed` is set and stays, and further bytes are dropped: makers write
 * straight on, whoever hands the bytes over asks once.  Zero-initialise to start.
 */
struct text {
	char *p;
	size_t n, cap;
	bool failed;
};

/* Grows so that at least `room` bytes can be written at t->p + t->n; false on failure (and `failed` is set).
 */
bool text_grow(struct text *t, size_t room);

/* A place for at least `room` bytes; the caller writes there and then sets t->n.  NULL on failure. */
static inline char *
text_room(struct text *t, size_t room)
{
	/* `<`, not `<=`: memory that was never given must not pass for a room of 0 bytes. */
	if (room < t->cap - t->n || text_grow(t, room))
		return t->p + t->n;
	return NULL;
}

/* Copies n bytes to `to` and returns one past them: for the short texts of which traces are full, where the
 * call of memcpy costs more than the copy. */
static inline char *
text_put(char *to, const char *from, size_t n)
{
	if (n > 32)
		return (char *)memcpy(to, from, n) + n;
	if (n >= 16) {
		memcpy(to, from, 16);
		memcpy(to + n - 16, from + n - 16, 16);
	} else if (n >= 8) {
		memcpy(to, from, 8);
		memcpy(to + n - 8, from + n - 8, 8);
	} else if (n >= 4) {
		memcpy(to, from, 4);
		memcpy(to + n - 4, from + n - 4, 4);
	} else if (n > 0) {
		to[0] = from[0];
		to[n / 2] = from[n / 2];
		to[n - 1] = from[n - 1];
	}
	return to + n;
}

static inline void
text_char(struct text *t, char c)
{
	char *const p = text_room(t, 1);

	if (p != NULL) {
		*p = c;
		t->n++;
	}
}

void text_add(struct text *t, const char *p, size_t n);
void text_str(struct text *t, const char *s); /* NUL-terminated */
void text_slice(struct text *t, struct slice s);
void text_u64(struct text *t, uint64_t v);
void text_i64(struct text *t, int64_t v);
void text_u128(struct text *t, unsigned __int128 v);
void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Empties it, memory is kept. */
static inline void
text_clear(struct text *t)
{
	t->n = 0;
}

void text_free(struct text *t);

/* ---- JSON ---- */

/* `s` as a JSON string with its quotes.  Bytes that are not UTF-8 become U+FFFD, one for each maximal
 * subpart; returns how many.  Control bytes, '"' and '\\' are escaped (\b \f \n \r \t or \u00XX), DEL and
 * non-ASCII are written as they are.  SLICE_JSON text is copied without looking. */
static inline size_t text_json_string(struct text *t, struct slice s);

/* The same without quotes. */
size_t text_json_chars(struct text *t, struct slice s);

/* The part of text_json_string that looks at the bytes; use that one. */
size_t text_json_quoted(struct text *t, struct slice s);

static inline size_t
text_json_string(struct text *t, struct slice s)
{
	if ((s.flags & SLICE_JSON) == 0)
		return text_json_quoted(t, s);

	char *p = text_room(t, (size_t)s.n + 2);
	if (p == NULL)
		return 0;
	*p++ = '"';
	p = text_put(p, s.p, s.n);
	*p++ = '"';
	t->n += (size_t)s.n + 2;
	return 0;
}

/* Integers that a JSON reader with doubles would round (beyond +-(2^53 - 1)) are written as strings. */
void text_json_u64(struct text *t, uint64_t v);
void text_json_i64(struct text *t, int64_t v);

/* Shortest text that reads back the same; NaN and the infinities become the strings "NaN", "Infinity",
 * "-Infinity" and the return value is false. */
bool text_json_f64(struct text *t, double v);
bool text_json_f32(struct text *t, float v);

/* ---- people ---- */

/* Trace text for a terminal: printable UTF-8 as it is, everything else (controls, C1, DEL, invalid bytes,
 * bidirectional marks) as \xNN or \u{NNNN}; backslash doubled.  At most `max` bytes of `s` are shown (cut at
 * a character), then "..."; max 0: all. */
void text_visible(struct text *t, struct slice s, size_t max);

/* The same, but what is too long loses its middle: names are often paths, and their ends tell them apart. */
void text_visible_ends(struct text *t, struct slice s, size_t max);

#endif
