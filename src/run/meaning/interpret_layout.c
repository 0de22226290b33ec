/* The bytes of a payload become fields. */
#include <inttypes.h>

#include "base/cursor.h"
#include "base/textscan.h"
#include "check/input_rules.h"
#include "run/meaning/interpret_parts.h"

#define LIST_MAX 65536U /* values of a repeated field; a value takes more room than its byte */

static uint64_t
load_bytes(const char *p, uint32_t n, bool big)
{
	switch (n) {
	case 1:
		return (uint8_t)*p;
	case 2:
		return load_u16(p, big);
	case 4:
		return load_u32(p, big);
	default:
		return load_u64(p, big);
	}
}

/* The value of a type with a size. */
static struct value
value_at(const char *p, uint8_t type, bool big)
{
	const uint64_t raw = load_bytes(p, plan_width(type), big);
	struct value v = { .type = type, .u64 = raw };
	uint32_t raw32 = (uint32_t)raw;
	float f;

	switch ((enum value_type)type) {
	case VALUE_I8:
		v.i64 = (int8_t)raw;
		break;
	case VALUE_I16:
		v.i64 = (int16_t)raw;
		break;
	case VALUE_I32:
		v.i64 = (int32_t)raw;
		break;
	case VALUE_F32:
		memcpy(&f, &raw32, sizeof f);
		v.f64 = f;
		break;
	case VALUE_F64:
		memcpy(&v.f64, &raw, sizeof v.f64);
		break;
	default:
		break;
	}
	return v;
}

/* A list of all that is left. */
static void
take_list(struct batch *b, struct cursor *c, uint8_t type, struct value *v)
{
	const size_t left = cursor_left(c) / plan_width(type);
	const uint32_t n = left < LIST_MAX ? (uint32_t)left : LIST_MAX;
	struct value *const list = arena_alloc(&b->scratch, n * sizeof *list);

	*v = (struct value){ .type = VALUE_LIST, .count = list != NULL ? n : 0, .values = list };
	for (uint32_t i = 0; i < v->count; i++)
		list[i] = value_at(c->p + i * plan_width(type), type, c->big);
	c->p += n * plan_width(type);
}

/* false: there are too few bytes. */
static bool
take_value(struct batch *b, struct cursor *c, const struct plan_layout_field *f, struct value *v)
{
	const uint32_t left = (uint32_t)cursor_left(c);

	if (f->type == VALUE_BYTES) {
		*v = (struct value){ .type = VALUE_BYTES, .count = left, .p = c->p };
		c->p = c->end;
		return true;
	}
	if (f->type == VALUE_STRING) {
		struct slice text;
		if (!textscan_cstring(c->p, c->end, &text))
			return false;
		*v = value_string(text);
		c->p = text.p + text.n + 1;
		return true;
	}
	if (plan_width(f->type) == 0)
		return false;
	if (f->repeated) {
		take_list(b, c, f->type, v);
		return true;
	}
	if (left < plan_width(f->type))
		return false;
	*v = value_at(c->p, f->type, c->big);
	c->p += plan_width(f->type);
	return true;
}

static void
check_size(const struct interpret *in, const struct batch *b, const struct event *e, const struct plan *m,
           uint32_t size, uint32_t lacking, size_t rest)
{
	struct quoted q, q2;

	if (in->checks_payloads)
		return;
	struct findings *const findings = interpret_findings(b, e);
	if (lacking < m->nlayout)
		finding_add(findings, &input_rules[INPUT_RULE_PAYLOAD_SHORT], e->offset, 0,
		            "an event of %s: %" PRIu32 " bytes of payload end before field %s is whole",
		            quoted(&q, e->cls->name), size, quoted(&q2, m->layout[lacking].name));
	else if (rest > 0)
		finding_add(findings, &input_rules[INPUT_RULE_PAYLOAD_LONG], e->offset, 0,
		            "an event of %s: %" PRIu32 " bytes of payload, its fields take %zu of them",
		            quoted(&q, e->cls->name), size, size - rest);
}

/* The event's payload, or NULL. */
static const struct field *
find_payload(const struct batch *b, const struct event *e, const struct plan *m)
{
	const struct field *const first = b->fields + e->first_field;

	for (uint32_t i = 0; i < e->nfields; i++)
		if (first[i].value.type == VALUE_BYTES && slice_equal(first[i].name, m->payload))
			return &first[i];
	return NULL;
}

void
interpret_layout(const struct interpret *in, struct batch *b, struct event *e, const struct plan *m)
{
	const struct field *from = find_payload(b, e, m);
	const uint32_t at = from != NULL ? (uint32_t)(from - (b->fields + e->first_field)) : e->nfields;
	const struct slice bytes = from != NULL ? value_text(&from->value) : slice_of("", 0);
	struct cursor c = cursor_on(bytes.p, bytes.p + bytes.n, (e->flags & EVENT_BIG) != 0);
	uint32_t n = at, i = 0;

	if (from == NULL && m->nlayout == 0)
		return;
	struct field *const to = (uint64_t)e->nfields + m->nlayout < UINT16_MAX
	                             ? batch_fields(b, e->nfields + m->nlayout + 1)
	                             : NULL;
	if (to == NULL)
		return; /* the bytes stay as they are */
	const struct field *const old = b->fields + e->first_field;
	if (at > 0)
		memcpy(to, old, at * sizeof *to);
	for (; i < m->nlayout; i++, n++) {
		to[n].name = m->layout[i].name;
		if (!take_value(b, &c, &m->layout[i], &to[n].value))
			break;
	}
	check_size(in, b, e, m, bytes.n, i, cursor_left(&c));
	if (cursor_left(&c) > 0)
		to[n++] =
		    (struct field){ SLICE_LIT("rest"),
			            { .type = VALUE_BYTES, .count = (uint32_t)cursor_left(&c), .p = c.p } };
	if (at + 1U < e->nfields) {
		memcpy(to + n, old + at + 1, (e->nfields - at - 1U) * sizeof *to);
		n += e->nfields - at - 1U;
	}
	e->first_field = b->nfields;
	e->nfields = (uint16_t)n;
	b->nfields += n;
}
