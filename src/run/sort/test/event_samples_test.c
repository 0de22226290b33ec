#include "run/sort/test/event_samples_test.h"

#include <criterion/criterion.h>

static const struct class classes[3] = { { .name = SLICE_LIT("a") },
	                                 { .name = SLICE_LIT("b"), .index = 1 },
	                                 { .name = SLICE_LIT("c"), .index = 2 } };

/* In no order of memory. */
static const struct track tracks[8] = { { .index = 5 }, { .index = 0 }, { .index = 7 }, { .index = 2 },
	                                { .index = 1 }, { .index = 6 }, { .index = 4 }, { .index = 3 } };

void event_samples_init(struct event_samples *s, uint64_t seed)
{
	*s = (struct event_samples){ .random = seed * 2 + 1, .time_range = 1000 };
}

uint64_t event_samples_random(struct event_samples *s)
{
	s->random = s->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return s->random >> 33;
}

static uint64_t below(struct event_samples *s, uint64_t n)
{
	return event_samples_random(s) % n;
}

static uint64_t any_u64(struct event_samples *s)
{
	static const uint64_t edges[] = { 0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX };

	if (below(s, 4) == 0)
		return edges[below(s, 5)];
	return event_samples_random(s) << 33 ^ event_samples_random(s);
}

static struct slice any_text(struct event_samples *s, struct batch *b, uint32_t max)
{
	static const char stays[] = "this text stays as long as the trace";
	const uint32_t n = (uint32_t)below(s, max + 1), flags = (uint32_t)below(s, 8);

	switch (below(s, 6)) {
	case 0:
		return (struct slice){ stays + below(s, 10), (uint32_t)below(s, 20), SLICE_STAYS | flags };
	case 1:
		return (struct slice){ NULL, 0, flags };
	case 2:
		return (struct slice){ "", 0, flags };
	default:
		break;
	}
	char *const p = arena_alloc(&b->scratch, n);
	for (uint32_t i = 0; i < n; i++)
		p[i] = (char)below(s, 256);
	return (struct slice){ p, n, flags };
}

static struct value any_value(struct event_samples *s, struct batch *b, int depth);

static struct value any_list(struct event_samples *s, struct batch *b, uint8_t type, uint32_t n, int depth)
{
	struct value v = { .type = type, .count = n };
	const uint32_t entries = type == VALUE_MAP ? 2 * n : n;
	struct value *const list = arena_alloc(&b->scratch, entries * sizeof *list);

	for (uint32_t i = 0; i < entries; i++)
		list[i] = any_value(s, b, depth + 1);
	v.values = list;
	return v;
}

static struct value any_value(struct event_samples *s, struct batch *b, int depth)
{
	uint8_t type = (uint8_t)below(s, VALUE_JSON + 1);

	if ((type == VALUE_LIST || type == VALUE_MAP) && depth < 4)
		return any_list(s, b, type, (uint32_t)below(s, 4), depth);
	if (type == VALUE_STRING || type == VALUE_BYTES || type == VALUE_JSON) {
		struct value v = value_string(any_text(s, b, 20));
		v.type = type;
		v.element = (uint8_t)below(s, 3);
		return v;
	}
	if (type == VALUE_LIST || type == VALUE_MAP)
		type = VALUE_U64;
	return (struct value){ .type = type, .element = (uint8_t)below(s, 3), .u64 = any_u64(s) };
}

static void any_fields(struct event_samples *s, struct batch *b, struct event *e)
{
	uint32_t n = below(s, 3) == 0 ? 0 : (uint32_t)below(s, 6);

	if (below(s, 500) == 0)
		n = 300;
	if (s->large && below(s, 3000) == 0)
		n = UINT16_MAX;
	struct field *const f = batch_fields(b, n);
	e->first_field = b->nfields;
	e->nfields = (uint16_t)n;
	for (uint32_t i = 0; i < n; i++)
		f[i] = (struct field){ any_text(s, b, 12), any_value(s, b, 0) };
	if (n > 0 && s->large && below(s, 400) == 0)
		f[0].value = any_list(s, b, VALUE_LIST, 20000, 3);
	if (n > 0 && s->large && below(s, 400) == 0)
		f[n - 1].value = value_string(any_text(s, b, 300000));
	b->nfields += n;
}

void event_samples_fill(struct event_samples *s, struct batch *b, uint32_t n)
{
	for (; b->n < n; b->n++) {
		struct event *const e = &b->events[b->n];
		*e = (struct event){ .ts = below(s, 50) == 0 ? any_u64(s) : below(s, s->time_range),
			             .dur = below(s, 5) == 0 ? any_u64(s) : below(s, 4),
			             .name = any_text(s, b, 30),
			             .cls = &classes[below(s, 3)],
			             .track = &tracks[below(s, 8)],
			             .offset = any_u64(s),
			             .phase = (uint8_t)(below(s, 2) == 0 ? PHASE_SPAN
			                                                 : below(s, PHASE_STRUCTURE + 1)),
			             .flags = (uint8_t)below(s, 256) };
		if (e->phase == PHASE_STRUCTURE && below(s, 2) == 0)
			e->track = NULL;
		any_fields(s, b, e);
		if (b->bytes != NULL)
			b->bytes[b->n] = any_text(s, b, 40);
	}
}

struct value event_samples_nest(struct batch *b, uint32_t depth)
{
	struct value v = value_string(slice_of("deep", 4));

	for (uint32_t i = 0; i < depth; i++) {
		struct value *const inner = arena_alloc(&b->scratch, sizeof *inner);
		*inner = v;
		v = (struct value){ .type = VALUE_LIST, .count = 1, .values = inner };
	}
	return v;
}

/* ---- comparing ---- */

/* A text may stay where it did not before. */
static const char *texts_differ(struct slice a, struct slice b)
{
	if (a.n != b.n || (a.flags | (b.flags & SLICE_STAYS)) != b.flags)
		return "length or flags of a text";
	if ((a.p == NULL) != (b.p == NULL))
		return "a text that is NULL";
	if ((a.flags & SLICE_STAYS) != 0 && a.p != b.p)
		return "place of a text that stays";
	if ((a.flags & SLICE_STAYS) == 0 && a.n > 0 && a.p == b.p)
		return "a text that was not copied";
	return slice_equal(a, b) ? NULL : "bytes of a text";
}

static const char *values_differ(const struct value *a, const struct value *b)
{
	const char *what = NULL;

	/* A long way down it is always a list of one: no recursion there. */
	for (; a->type == VALUE_LIST && b->type == VALUE_LIST && a->count == 1 && b->count == 1;) {
		a = a->values;
		b = b->values;
	}
	if (a->type != b->type || a->count != b->count || a->outer != b->outer || a->flags != b->flags)
		return "type, count or flags of a value";
	if (a->type == VALUE_STRING || a->type == VALUE_BYTES || a->type == VALUE_JSON)
		return texts_differ(value_text(a), value_text(b));
	if (a->type != VALUE_LIST && a->type != VALUE_MAP)
		return a->u64 == b->u64 ? NULL : "a number";
	for (uint32_t i = 0; what == NULL && i < (a->type == VALUE_MAP ? 2 * a->count : a->count); i++)
		what = values_differ(&a->values[i], &b->values[i]);
	return what;
}

const char *event_samples_differ(const struct batch *a, uint32_t i, const struct batch *b, uint32_t j)
{
	const struct event *const x = &a->events[i], *const y = &b->events[j];
	const char *what = texts_differ(x->name, y->name);

	if (x->ts != y->ts || x->dur != y->dur || x->offset != y->offset || x->phase != y->phase ||
	    x->flags != y->flags)
		return "a number of the event";
	if (x->cls != y->cls || x->track != y->track)
		return "class or track";
	if (x->nfields != y->nfields || y->first_field + y->nfields > b->nfields)
		return "number of fields";
	const struct field *const f = a->fields + x->first_field, *const g = b->fields + y->first_field;
	for (uint32_t k = 0; what == NULL && k < x->nfields; k++) {
		what = texts_differ(f[k].name, g[k].name);
		what = what != NULL ? what : values_differ(&f[k].value, &g[k].value);
	}
	if (what == NULL && a->bytes != NULL && b->bytes != NULL)
		what = texts_differ(a->bytes[i], b->bytes[j]);
	return what;
}
