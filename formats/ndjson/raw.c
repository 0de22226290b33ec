/*
 * Raw records: any line as one event, whose fields are the members in the order of the line.  An unreadable
 * line is a record too, with one text.
 */
#include "ndjson/ndjson.h"

#include "base/numbers.h"

/* Returns the class of lines of this type; NDJSON_TYPES: unreadable ones. */
static struct class *raw_class(struct ndjson_reading *st, enum ndjson_type type)
{
	struct class **const c = &st->raw_classes[type];

	if (*c == NULL)
		*c = trace_add_class(st->r->trace,
		                     slice_str(type < NDJSON_TYPES ? ndjson_type_names[type] : "unreadable"));
	return *c;
}

/* Returns a number or text as such, any other value as JSON. */
static struct value raw_value(const struct ndjson_target *to, const struct json_token *t)
{
	struct slice s = json_token_text(t);
	uint64_t v;

	if (t->kind == JSON_UINT && json_digits_any(s.p, s.n, &v))
		return value_u64(v);
	if (json_is_string(t->kind))
		return value_string(ndjson_string_of(to, t));
	return (struct value){ .type = VALUE_JSON, .count = s.n, .p = s.p };
}

/* Adds the members as fields, in the order of the line. */
static bool add_members(struct ndjson_reading *st, struct batch *b)
{
	const struct ndjson_line *const line = &st->line;
	const struct ndjson_target to = { .b = b, .arena = &b->scratch };
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
	struct field *const f = batch_fields(b, n);
	for (uint32_t i = 0; f != NULL && i < n; i++) {
		f[i].name = slice_str(ndjson_member_names[order[i]]);
		f[i].name.flags = SLICE_UTF8 | SLICE_JSON;
		f[i].value = raw_value(&to, &line->of[order[i]]);
	}
	st->event.first_field = b->nfields;
	st->event.nfields = (uint16_t)n;
	b->nfields += f != NULL ? n : 0;
	return f != NULL;
}

/* Adds an unreadable line as one text. */
static bool add_line(struct ndjson_reading *st, struct batch *b)
{
	const struct ndjson_line *const line = &st->line;
	struct field *const f = batch_fields(b, 1);

	if (f == NULL)
		return false;
	*f = (struct field){ SLICE_LIT("text"),
		             value_string(textscan_slice(line->p, (uint32_t)(line->end - line->p))) };
	st->event.first_field = b->nfields++;
	st->event.nfields = 1;
	return true;
}

void ndjson_read_raw(struct ndjson_reading *st, struct batch *b, bool parsed, size_t n)
{
	const struct input *const in = st->r->in;
	const enum ndjson_type type = parsed ? st->line.type : NDJSON_TYPES;
	struct event *const e = &st->event;

	if (type >= NDJSON_STRUCTURE)
		*e = (struct event){ .phase = PHASE_STRUCTURE };
	struct class *const cls = raw_class(st, type);
	if (cls == NULL || !(parsed ? add_members(st, b) : add_line(st, b))) {
		st->no_memory = true;
		return;
	}
	cls->records++;
	e->cls = cls;
	e->name = cls->name;
	e->offset = input_offset(in, in->p);
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(in->p, n);
	b->events[b->n++] = *e;
}
