/* Events, values and fields as text for people, and as members of JSON. */
#include "cmd/events/event_text.h"

#include "base/memory.h"
#include "base/numbers.h"
#include "format/field_path.h"
#include "model/event.h"
#include "out/field_names.h"
#include "out/kind.h"
#include "output/text_json.h"
#include "output/text_visible.h"

/* ---- values for people ---- */

#define MAX_DEPTH 64

static void put_quoted(struct text *t, struct slice s)
{
	text_char(t, '"');
	/* text_visible() does not escape quotes */
	for (uint32_t from = 0; from <= s.n;) {
		const char *const quote = s.n > from ? memchr(s.p + from, '"', s.n - from) : NULL;
		const uint32_t to = quote != NULL ? (uint32_t)(quote - s.p) : s.n;
		text_visible(t, slice_of(s.p + from, to - from), 0);
		if (quote != NULL)
			text_str(t, "\\\"");
		from = to + 1;
	}
	text_char(t, '"');
}

/* ASCII that needs no quotes in `name=value`. */
static bool is_of_word(char c)
{
	static const bool others[256] = { [0x7f] = true, ['"'] = true, ['\\'] = true, ['='] = true };

	return c > ' ' && !others[(unsigned char)c];
}

void value_text_word(struct text *t, struct slice s)
{
	for (uint32_t i = 0; i < s.n; i++)
		if (!is_of_word(s.p[i])) {
			put_quoted(t, s);
			return;
		}
	if (s.n > 0)
		text_add(t, s.p, s.n);
	else
		text_str(t, "\"\"");
}

static void put(struct text *t, const struct value *v, unsigned depth)
{
	char *p;

	switch ((enum value_type)v->type) {
	case VALUE_NONE:
		text_str(t, "none");
		break;
	case VALUE_STRING:
		put_quoted(t, value_text(v));
		break;
	case VALUE_BYTES:
		text_str(t, "0x");
		text_hex(t, v->p, v->count);
		break;
	case VALUE_JSON:
		text_visible(t, value_text(v), 0);
		break;
	case VALUE_LIST:
	case VALUE_MAP: {
		const size_t per = v->type == VALUE_MAP ? 2 : 1;
		text_char(t, per == 2 ? '{' : '[');
		for (size_t i = 0; depth < MAX_DEPTH && i < v->count * per; i++) {
			if (i > 0)
				text_str(t, i % per == 1 ? ": " : ", ");
			put(t, &v->values[i], depth + 1);
		}
		text_char(t, per == 2 ? '}' : ']');
		break;
	}
	default:
		if ((p = text_reserve(t, DECIMAL_F64_MAX)) != NULL)
			t->n = (size_t)(fields_json_scalar(p, v) - t->p);
	}
}

void value_text_put(struct text *t, const struct value *v)
{
	put(t, v, 0);
}

/* ---- events as JSON ---- */

static void put_text(struct json_out *o, const char *key, struct slice s, struct fields_json_lost *lost)
{
	lost->bad_text += text_json_string(json_out_value(o, key), s) > 0;
}

static void put_named(struct json_out *o, const char *name, const char *number, const struct event *e,
                      const struct track *k, struct fields_json_lost *lost)
{
	if (k == NULL)
		return;
	put_text(o, name, event_track_name(e, k), lost);
	if (k->has_id)
		json_out_u64_or_string(o, number, k->id);
}

/* Process, thread, and the track if it is a child of its thread or process; a lane counts as its parent. */
static void put_track(struct json_out *o, const struct event *e, struct fields_json_lost *lost)
{
	const struct track *const k = e->track;
	const struct track *const base = k->lane > 0 ? k->parent : k;
	const struct track *thread = base;

	while (thread != NULL && (thread->is_child || thread->parent == NULL))
		thread = thread->parent;
	put_named(o, "process", "pid", e, track_process(k), lost);
	put_named(o, "thread", "tid", e, thread, lost);
	if (base->is_child)
		put_text(o, "track", event_track_name(e, base), lost);
	if (k->lane > 0)
		json_out_u64(o, "lane", k->lane);
}

void event_json(struct json_out *o, const struct event *e, uint64_t zero, struct fields_json_lost *lost)
{
	json_out_string(o, "kind", event_kind_name(event_kind(e)));
	json_out_ns(o, "ts_ns", e->ts, zero);
	if (e->phase == PHASE_SPAN)
		json_out_u64_or_string(o, "dur_ns", e->dur);
	if (event_is_flow(e))
		json_out_u64_or_string(o, "id", e->dur);
	if (e->phase != PHASE_STRUCTURE) {
		put_text(o, "name", e->name, lost);
		put_text(o, "category", e->cls->category, lost);
		if (e->track != NULL)
			put_track(o, e, lost);
	}
	json_out_u64_or_string(o, "offset", e->offset);
}

/* ---- fields in tables ---- */

#define MAX_FIELDS_TEXT 8192 /* bytes of the fields of an event; further fields are left out */

bool shown_fields_parse(struct shown_fields *f, const char *words)
{
	f->named = true;
	if (strcmp(words, "none") == 0)
		return true;
	for (const char *p = words; p != NULL;) {
		const size_t n = strcspn(p, ",");
		if (f->n == SHOWN_FIELDS_MAX || n == 0)
			return false;
		f->names[f->n++] = slice_of(p, n);
		p = p[n] == ',' ? p + n + 1 : NULL;
	}
	return f->n > 0;
}

static bool is_wanted(const struct shown_fields *which, const struct field *f)
{
	if (!which->named)
		return f->value.type == VALUE_STRING || which->json;
	for (unsigned i = 0; i < which->n; i++)
		if (slice_equal(f->name, which->names[i]))
			return true;
	return false;
}

static void put_field(struct text *t, bool json, const struct field *f, struct fields_json_lost *lost)
{
	const size_t before = t->n;

	if (t->n > 0)
		text_char(t, json ? ',' : ' ');
	if (json) {
		fields_json(t, f, 1, lost);
	} else {
		value_text_word(t, f->name);
		text_char(t, '=');
		value_text_put(t, &f->value);
	}
	if (t->n > MAX_FIELDS_TEXT)
		t->n = before;
}

/* Values at paths, after the fields. */
static void put_members(struct text *t, const struct shown_fields *which, const struct batch *b,
                        const struct event *e, struct fields_json_lost *lost)
{
	const struct field *const own = b->fields + e->first_field;
	struct path_value member;

	for (unsigned i = 0; i < which->n; i++) {
		const struct value *const v = field_find(own, e->nfields, which->names[i]) == NULL
		                                  ? field_path_find(own, e->nfields, which->names[i], &member)
		                                  : NULL;
		if (v != NULL)
			put_field(t, which->json, &(struct field){ which->names[i], *v }, lost);
	}
}

struct slice shown_fields_put(struct text *t, const struct shown_fields *which, const struct batch *b,
                              const struct event *e)
{
	struct field *const own = b->fields + e->first_field;
	struct fields_json_lost lost = { 0 };
	struct arena a = { 0 };
	uint32_t renamed = 0;
	const struct field *const fields =
	    which->json ? field_names_unique_utf8(&a, own, e->nfields, &renamed) : own;

	text_clear(t);
	t->failed |= fields == NULL && e->nfields > 0;
	for (uint32_t i = 0; fields != NULL && i < e->nfields; i++)
		if (is_wanted(which, &own[i]))
			put_field(t, which->json, &fields[i], &lost);
	put_members(t, which, b, e, &lost);
	arena_free(&a);
	return slice_of(t->p, t->n);
}
