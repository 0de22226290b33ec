/*
 * Raw records: any line as one event, whose fields are the members in the order of the line.  An unreadable
 * line is a record too, with one text.
 */
#include "ndjson/ndjson.h"

#include "model/value.h"

struct class *ndjson_raw_class(struct ndjson_reading *st)
{
	const enum ndjson_type type = st->readable ? st->line.type : NDJSON_TYPES;
	struct class **const c = &st->raw_classes[type];

	if (*c == NULL)
		*c = trace_add_class(st->r->trace,
		                     slice_str(type < NDJSON_TYPES ? ndjson_type_names[type] : "unreadable"));
	return *c;
}

/* Returns a number or text with its type, any other value as JSON. */
static struct value raw_value(const struct ndjson_target *to, const struct json_token *t)
{
	uint64_t v;

	if (t->kind == JSON_UINT && ndjson_magnitude(t, &v))
		return value_u64(v);
	if (json_is_string(t->kind))
		return value_string(ndjson_string_of(to, t));
	const struct slice s = json_token_text(t);
	return value_json(to->copy ? arena_copy(to->arena, s) : s);
}

/* Adds the members as fields, in the order of the line. */
static void add_members(const struct ndjson_reading *st, struct batch *b, struct event *e)
{
	const struct ndjson_line *const line = &st->line;
	const struct ndjson_target to = { .b = b, .arena = &b->scratch, .copy = st->is_plain };
	enum ndjson_member order[NDJSON_MEMBERS];
	uint32_t n = 0;

	for (unsigned m = 0; m < NDJSON_MEMBERS; m++) {
		uint32_t i = n;
		if (!ndjson_has(line, m))
			continue;
		for (n++; i > 0 && line->of[order[i - 1]].p > line->of[m].p; i--)
			order[i] = order[i - 1];
		order[i] = m;
	}
	struct field *const f = batch_event_fields(b, e, (uint16_t)n);
	for (uint32_t i = 0; f != NULL && i < n; i++) {
		f[i].name = slice_str(ndjson_member_names[order[i]]);
		f[i].name.flags = SLICE_UTF8 | SLICE_JSON;
		f[i].value = raw_value(&to, &line->of[order[i]]);
	}
}

void ndjson_raw_fields(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	const struct ndjson_reading *const st = r->state;

	if (rec->role == RECORD_IS_EVENT) {
		e->phase = st->event.phase;
		e->dur = st->event.dur;
		e->flags = st->event.flags;
	}
	if (st->readable)
		add_members(st, b, e);
	else
		reader_bytes_fields(b, e, st->line.p, st->line.end);
}
