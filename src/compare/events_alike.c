#include "compare/events_alike.h"

#include "event/class.h"
#include "event/event_traits.h"

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
		if ((f->counts == NULL && f->added == NULL) || event_field_counts_in(f, to->name, seen)) {
			++*i;
			return to;
		}
	}
	return NULL;
}

/* The same in the same order. */
static bool
fields_alike(const struct alike *x)
{
	uint32_t i = 0, k = 0;
	unsigned seen[2] = { 0, 0 };

	for (;;) {
		const struct field *const a = next_field(x, 0, &i, &seen[0]), *const b = next_field(x, 1, &k,
		                                                                                    &seen[1]);
		if (a == NULL || b == NULL)
			return a == b;
		if (!slice_equal(a->name, b->name) || !values_alike(&a->value, &b->value))
			return false;
	}
}

bool
events_alike(const struct alike *x)
{
	const struct event *const a = x->event[0], *const b = x->event[1];
	const bool arrow = a->phase == PHASE_FLOW_IN;

	/* a counter without fields is an instant */
	if (a->phase != b->phase || a->phase == PHASE_COUNTER || ((a->flags ^ b->flags) & EVENT_ASYNC) != 0 ||
	    event_is_step(a) != event_is_step(b))
		return false;
	if (a->phase == PHASE_SPAN && a->dur != b->dur)
		return false;
	if ((x->ignore & PART_NAME) == 0 && !slice_equal(a->name, b->name))
		return false;
	if (!arrow && (x->ignore & PART_CATEGORY) == 0 && !slice_equal(a->cls->category, b->cls->category))
		return false;
	return (x->ignore & PART_FIELDS) != 0 || fields_alike(x);
}
