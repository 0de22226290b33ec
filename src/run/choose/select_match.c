#include "run/choose/select_match.h"

#include <stdio.h>

#include "base/decimal.h"
#include "base/glob.h"
#include "model/class.h"
#include "model/plan.h"
#include "model/track.h"
#include "run/sort/value_order.h"

const struct track *
select_thread_of(const struct track *t)
{
	while (t->is_child && t->parent != NULL)
		t = t->parent;
	return t;
}

static bool
has_id(const struct track *t, enum track_kind kind, uint64_t id)
{
	return t->kind == kind && t->has_id && t->id == id;
}

static bool
has_name(const struct track *t, enum track_kind kind, struct slice glob)
{
	return t->kind == kind && glob_fits(glob, t->name);
}

static bool
track_matches(const struct track *t, struct slice glob)
{
	for (; t != NULL; t = t->parent)
		if (glob_fits(glob, t->name))
			return true;
	return false;
}

struct slice
select_value_text(const struct value *v, char room[SELECT_VALUE_TEXT])
{
	char *end = room;

	switch ((enum value_type)v->type) {
	case VALUE_BOOL:
		return v->u64 != 0 ? slice_str("true") : slice_str("false");
	case VALUE_U8:
	case VALUE_U16:
	case VALUE_U32:
	case VALUE_U64:
		end = decimal_u64(room, v->u64);
		break;
	case VALUE_I8:
	case VALUE_I16:
	case VALUE_I32:
	case VALUE_I64:
		end = decimal_i64(room, v->i64);
		break;
	case VALUE_ADDRESS:
		end = decimal_hex(room, v->u64);
		break;
	case VALUE_F32:
	case VALUE_F64:
		if (v->f64 - v->f64 != 0)
			end = room + snprintf(room, DECIMAL_F64_MAX, "%g", v->f64);
		else
			end = v->type == VALUE_F32 ? decimal_f32(room, (float)v->f64)
			                           : decimal_f64(room, v->f64);
		break;
	case VALUE_STRING:
	case VALUE_BYTES:
	case VALUE_JSON:
		return value_text(v);
	default:
		break;
	}
	return slice_of(room, (size_t)(end - room));
}

/* What a text says, if it is a number, is compared too: DFTracer and others write numbers as text. */
static bool
compares(const struct select_condition *c, const struct value *v)
{
	struct value number;
	int order;

	if (v->type == VALUE_STRING || v->type == VALUE_BYTES || v->type == VALUE_JSON) {
		if (!value_number(value_text(v), &number))
			return false;
		v = &number;
	}
	if (!value_order(v, &c->with, &order))
		return false;
	switch (c->compare) {
	case SELECT_LESS:
		return order < 0;
	case SELECT_AT_MOST:
		return order <= 0;
	case SELECT_MORE:
		return order > 0;
	default:
		return order >= 0;
	}
}

static bool
scalar_matches(const struct select_condition *c, const struct value *v)
{
	char room[SELECT_VALUE_TEXT];

	return c->compare == SELECT_GLOB ? glob_fits(c->glob, select_value_text(v, room)) : compares(c, v);
}

/* One of a list's entries is enough; entries of lists within it are not looked at. */
static bool
value_matches(const struct select_condition *c, const struct value *v)
{
	if (v->type != VALUE_LIST && v->type != VALUE_MAP)
		return scalar_matches(c, v);
	const size_t per = v->type == VALUE_MAP ? 2 : 1;
	for (size_t i = per - 1; i < v->count * per; i += per)
		if (v->values[i].type < VALUE_LIST && scalar_matches(c, &v->values[i]))
			return true;
	return false;
}

static bool
field_matches(const struct field *fields, uint32_t n, const struct select_condition *c)
{
	for (uint32_t i = 0; i < n; i++)
		if (slice_equal(fields[i].name, c->key) && value_matches(c, &fields[i].value))
			return true;
	return false;
}

bool
select_meets(const struct select_condition *c, const struct batch *b, const struct event *e)
{
	const uint64_t dur = e->phase == PHASE_SPAN ? e->dur : 0;

	switch (c->kind) {
	case SELECT_NAME:
		return glob_fits(c->glob, e->name);
	case SELECT_CATEGORY:
		return glob_fits(c->glob, e->cls->category);
	case SELECT_PID:
		return has_id(track_process(e->track), TRACK_PROCESS, c->number);
	case SELECT_TID:
		return has_id(select_thread_of(e->track), TRACK_THREAD, c->number);
	case SELECT_TRACK:
		return track_matches(e->track, c->glob);
	case SELECT_MIN_DUR:
		return dur >= c->number;
	case SELECT_MAX_DUR:
		return dur <= c->number;
	case SELECT_PROCESS:
		return has_name(track_process(e->track), TRACK_PROCESS, c->glob);
	case SELECT_THREAD:
		return has_name(select_thread_of(e->track), TRACK_THREAD, c->glob);
	case SELECT_WHERE:
		return field_matches(b->fields + e->first_field, e->nfields, c) ||
		       field_matches(e->cls->parts, e->cls->nparts, c);
	default:
		return true;
	}
}

bool
select_matches(const struct select *s, const struct batch *b, uint32_t i)
{
	const struct event *const e = &b->events[i];
	unsigned asked = 0, met = 0;

	for (uint32_t k = 0; k < s->n; k++) {
		const struct select_condition *const c = &s->conditions[k];
		const unsigned bit = 1U << c->kind;
		if (!c->inverted) {
			asked |= bit;
			if ((met & bit) == 0 && select_meets(c, b, e))
				met |= bit;
		} else if (select_meets(c, b, e)) {
			return false;
		}
	}
	return asked == met;
}
