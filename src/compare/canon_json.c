#include "compare/canon_json.h"

#include <stdlib.h>

#include "json/json_token.h"

/* One pass over JSON text, that does not recurse: every open list or object is a place on a stack. */

struct level {
	bool object;
	uint64_t count;
	struct wide_hash hash; /* of a list: so far; of an object: the sum of its members */
	struct slice name;     /* of the member that is read */
};

struct walk {
	struct canon *canon;
	struct json json;
	const char *e;
	struct level levels[CANON_DEPTH];
	unsigned n, depth; /* open levels; those around the text */
};

/* What stands between quotes. */
static struct slice
plain(struct walk *w, struct slice s, enum json_kind kind)
{
	return kind == JSON_ESCAPED ? json_unescape(&w->canon->scratch, s) : s;
}

static struct wide_hash
number(struct walk *w, struct slice s)
{
	char room[64], *copy = room;
	uint64_t v;

	const bool negative = s.p[0] == '-';
	if (json_digits_any(s.p + negative, s.n - negative, &v))
		return canon_integer(negative, v);
	if (s.n >= sizeof room)
		copy = arena_alloc(&w->canon->scratch, (size_t)s.n + 1);
	if (copy == NULL)
		return canon_none();
	memcpy(copy, s.p, s.n);
	copy[s.n] = '\0';
	return canon_float(strtod(copy, NULL));
}

static struct wide_hash
scalar(struct walk *w, const char *p, const char *end, enum json_kind kind)
{
	const struct slice s = json_text(p, end, kind);

	if (json_is_string(kind) || kind == JSON_BAD_WORD) {
		const struct slice t = plain(w, s, kind);
		return t.p != NULL ? canon_text(t) : canon_none();
	}
	if (kind == JSON_TRUE || kind == JSON_FALSE)
		return canon_integer(false, kind == JSON_TRUE);
	return kind == JSON_NULL ? canon_none() : number(w, s);
}

/* The key of a member, to its value. */
static const char *
key(struct walk *w, const char *p)
{
	enum json_kind kind;
	struct slice s;

	p = json_key(&w->json, p, w->e, &s, &kind);
	if (p == NULL)
		return NULL;
	w->levels[w->n - 1].name = plain(w, s, kind);
	return w->levels[w->n - 1].name.p != NULL ? p : NULL;
}

/* A value of the innermost level. */
static void
put(struct walk *w, struct wide_hash h)
{
	struct level *const l = &w->levels[w->n - 1];

	l->count++;
	if (l->object)
		wide_hash_sum(&l->hash, canon_member(l->name, h));
	else
		wide_hash_add_hash(&l->hash, h);
}

static struct wide_hash
finish(const struct level *l)
{
	return l->object ? canon_object(l->count, l->hash) : canon_list(l->count, l->hash);
}

/* Behind a value of the innermost level, or at its opening bracket (p is behind it then): closes what ends
 * here.  To the next value; NULL: there is none, *out is the whole, or it is no JSON. */
static const char *
go_on(struct walk *w, const char *p, bool first, struct wide_hash *out, bool *done)
{
	bool more = false;

	while (w->n > 0) {
		const bool object = w->levels[w->n - 1].object;
		p = first ? json_first(&w->json, p, w->e, &more)
		          : json_next(&w->json, p, w->e, object ? '}' : ']', &more);
		first = false;
		if (p == NULL)
			return NULL;
		if (more)
			return object ? key(w, p) : p;
		*out = finish(&w->levels[--w->n]);
		if (w->n > 0)
			put(w, *out);
	}
	*done = json_skip_blanks(p, w->e) == w->e;
	return NULL;
}

/* false: it is no JSON, or there was no memory. */
static bool
walk(struct walk *w, const char *p, struct wide_hash *out)
{
	bool done = false;

	while (p != NULL) {
		enum json_kind kind;
		const bool nested = p < w->e && (*p == '{' || *p == '[');
		if (nested && w->n + w->depth < CANON_DEPTH) {
			w->levels[w->n++] = (struct level){ .object = *p == '{' };
			p = go_on(w, p, true, out, &done);
			continue;
		}
		const char *const end =
		    nested ? json_nested(&w->json, p, w->e, &kind) : json_scalar(&w->json, p, w->e, &kind);
		if (end == NULL)
			return false;
		*out = nested ? canon_none() : scalar(w, p, end, kind);
		if (w->n > 0)
			put(w, *out);
		p = go_on(w, end, false, out, &done);
	}
	return done;
}

struct wide_hash
canon_json(struct canon *c, struct slice text, unsigned depth)
{
	struct walk w; /* its levels are not set, which would take longer than the rest */
	struct wide_hash h;

	w.canon = c;
	w.json = (struct json){ .lenient = true, .complete = true, .depth = JSON_MAX_DEPTH };
	w.e = text.p + text.n;
	w.n = 0;
	w.depth = depth;

	return walk(&w, json_skip_blanks(text.p, w.e), &h) ? h : canon_text(text);
}
