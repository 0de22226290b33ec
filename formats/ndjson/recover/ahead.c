/*
 * Indexes that later lines define.  A reference to one of them is damaged; a reference to an undefined index
 * has lost its line.  A damaged line of type trace or trace_end is not needed if a whole one follows.  Each
 * line is searched once, when the first such reference occurs, up to AHEAD bytes after the current line: the
 * cost is linear.
 */
#include "ndjson/recover/recover.h"

#define AHEAD (1u << 20)
#define FIRST_MEMBERS 8 /* members of a line that include type and index */

static bool put_index(struct ndjson_ahead *a, struct table64 *to, uint64_t index, uint64_t offset)
{
	const uint32_t known = table64_get(to, index);

	if (known != TABLE_NONE) {
		a->list[known] = offset;
		return true;
	}
	if (!array_reserve(&a->list, a->n, &a->cap, sizeof *a->list) || !table64_put(to, index, a->n))
		return false;
	a->list[a->n++] = offset;
	return true;
}

/* Notes a line of a track, a class, or the trace.  Returns false on OOM. */
static bool look_at_line(struct ndjson_ahead *a, const char *p, const char *e, uint64_t offset, uint64_t here)
{
	struct json x = { .complete = true, .depth = JSON_MAX_DEPTH };
	enum ndjson_type type = NDJSON_TYPES;
	uint64_t index = 0;
	bool has_index = false;

	p = json_skip_blanks(p, e);
	if (p == e || *p != '{')
		return true;
	struct json_walk w = json_walk(&x, p, e);
	for (int i = 0; i < FIRST_MEMBERS && (type == NDJSON_TYPES || !has_index) && json_walk_next(&w);
	     i++) {
		const struct slice text = json_token_text(&w.value);
		const enum ndjson_member m = ndjson_find_member(json_token_text(&w.key));
		if (m == NDJSON_M_TS)
			return true;
		if (m == NDJSON_M_TYPE)
			type = ndjson_find_type(text, false);
		if (m == NDJSON_M_INDEX)
			has_index = w.value.kind == JSON_UINT && json_digits_any(text.p, text.n, &index);
	}
	if (type == NDJSON_TRACE && ndjson_begins(p, e) == type)
		a->head = a->head > here ? a->head : offset + 1;
	if (type == NDJSON_TRACE_END && ndjson_begins(p, e) == type)
		a->end = offset + 1;
	if (!has_index || (type != NDJSON_TRACK && type != NDJSON_CLASS))
		return true;
	return put_index(a, type == NDJSON_TRACK ? &a->tracks : &a->classes, index, offset);
}

/* Searches the lines up to AHEAD bytes after in->p that were not searched yet.  Returns false on OOM. */
static bool look(struct recovery *rc, struct ndjson_ahead *a)
{
	struct input *const in = rc->r->in;
	const uint64_t here = input_offset(in, in->p);
	const size_t held = (size_t)(here - rc->at);

	in->p -= held;
	(void)input_need(in, held + AHEAD);
	in->p += held;
	a->to = a->to < here ? here : a->to;
	a->looked = a->looked < a->to ? a->to : a->looked;
	const char *const limit = in->end - in->p > (ptrdiff_t)AHEAD ? in->p + AHEAD : in->end;
	while (a->looked < input_offset(in, limit)) {
		const char *const p = in->p + (a->to - here), *const q = in->p + (a->looked - here);
		const char *const feed = memchr(q, '\n', (size_t)(limit - q));
		if (feed == NULL && !(limit == in->end && in->last)) {
			a->looked = input_offset(in, limit);
			break;
		}
		const char *const end = feed != NULL ? feed : limit;
		if (!look_at_line(a, p, end, a->to, here))
			return false;
		a->to = a->looked = input_offset(in, end) + (feed != NULL);
	}
	return true;
}

bool ndjson_is_ahead(struct recovery *rc, bool track, uint64_t index)
{
	struct ndjson_recovery *const s = rc->state;
	struct ndjson_ahead *const a = &s->ahead;

	if (!look(rc, a)) {
		rc->r->no_memory = true;
		return false;
	}
	const uint32_t found = table64_get(track ? &a->tracks : &a->classes, index);
	return found != TABLE_NONE && a->list[found] >= input_offset(rc->r->in, rc->r->in->p);
}

bool ndjson_type_is_ahead(struct recovery *rc, enum ndjson_type type)
{
	const struct input *const in = rc->r->in;
	struct ndjson_recovery *const s = rc->state;

	if (!look(rc, &s->ahead)) {
		rc->r->no_memory = true;
		return false;
	}
	return type == NDJSON_TRACE ? s->ahead.head == input_offset(in, in->p) + 1
	                            : s->ahead.end > input_offset(in, in->p);
}
