#include "compare/events_alike.h"

#include "model/class.h"
#include "model/event_traits.h"

static bool
bytes_alike(const struct value *a, const struct value *b)
{
	return a->count == b->count && (a->count == 0 || memcmp(a->p, b->p, a->count) == 0);
}

static bool
is_unsigned(const struct value *v)
{
	return (v->type >= VALUE_U8 && v->type <= VALUE_U64) || v->type == VALUE_ADDRESS;
}

/* Lists and maps, and values of different types, are left to their hashes. */
static bool
values_alike(const struct value *a, const struct value *b)
{
	if (is_unsigned(a))
		return is_unsigned(b) && a->u64 == b->u64;
	if (a->type >= VALUE_I8 && a->type <= VALUE_I64)
		return b->type >= VALUE_I8 && b->type <= VALUE_I64 && a->i64 == b->i64;
	if (a->type != b->type)
		return false;
	switch ((enum value_type)a->type) {
	case VALUE_NONE:
		return true;
	case VALUE_BOOL:
	case VALUE_F32:
	case VALUE_F64:
		return a->u64 == b->u64;
	case VALUE_STRING:
	case VALUE_BYTES:
	case VALUE_JSON:
		return bytes_alike(a, b);
	default:
		return false;
	}
}

/* The next field that counts, from *i on; NULL: there is none. */
static const struct field *
next_field(const struct alike *x, int side, uint32_t *i, unsigned *seen)
{
	const struct event *const e = x->event[side];
	const struct event_fields *const f = x->fields[side];

	for (; *i < e->nfields; ++*i) {
		const struct field *const to = &x->batch[side]->fields[e->first_field + *i];
		if (event_all_fields_count(f) || event_field_counts_in(f, to->name, seen)) {
			++*i;
			return to;
		}
	}
	return NULL;
}

/* Fields in the same order are usually alike; only the others need to be hashed. */
static bool
fields_alike(const struct alike *x, struct canon *c)
{
	uint32_t i = 0, k = 0;
	unsigned seen[2] = { 0, 0 };
	struct wide_hash sum_a = { 0, 0 }, sum_b = { 0, 0 };

	for (;;) {
		const struct field *const a = next_field(x, 0, &i, &seen[0]), *const b = next_field(x, 1, &k,
		                                                                                    &seen[1]);
		if (a == NULL || b == NULL)
			return a == b && wide_hash_equal(sum_a, sum_b);
		if (slice_equal(a->name, b->name) && values_alike(&a->value, &b->value))
			continue;
		wide_hash_sum(&sum_a, event_field_hash(c, a));
		wide_hash_sum(&sum_b, event_field_hash(c, b));
	}
}

static bool
categories_alike(const struct event *a, const struct event *b)
{
	const bool arrow = a->phase == PHASE_FLOW_IN;

	if (arrow || b->phase == PHASE_FLOW_IN)
		return arrow && b->phase == PHASE_FLOW_IN;
	return slice_equal(event_category(a), event_category(b));
}

/* All but the fields. */
static unsigned
plain_differences(const struct event *a, const struct event *b)
{
	unsigned parts = 0;

	if (event_compared_length(a) != event_compared_length(b))
		parts |= PART_DURATION;
	if (event_compared_phase(a) != event_compared_phase(b) || event_is_async(a) != event_is_async(b) ||
	    event_is_step(a) != event_is_step(b))
		parts |= PART_PHASE;
	if (!slice_equal(a->name, b->name))
		parts |= PART_NAME;
	if (!categories_alike(a, b))
		parts |= PART_CATEGORY;
	return parts;
}

unsigned
events_differences(const struct alike *x, struct canon *c)
{
	const unsigned parts = plain_differences(x->event[0], x->event[1]) & ~x->ignore;

	return (x->ignore & PART_FIELDS) != 0 || fields_alike(x, c) ? parts : parts | PART_FIELDS;
}
