/* The conditions of a selection: whether an event meets them, and which parts of events they read. */
#include "run/choose/select.h"

#include "base/match.h"
#include "format/field_path.h"
#include "format/fields_json.h"
#include "model/event_traits.h"
#include "model/number.h"
#include "output/text.h"

/* ---- one condition ---- */

static bool has_id(const struct track *t, enum track_kind kind, uint64_t id)
{
	return t->kind == kind && t->has_id && t->id == id;
}

static bool has_name(const struct track *t, enum track_kind kind, struct slice glob)
{
	return t->kind == kind && glob_fits(glob, t->name);
}

static bool track_matches(const struct track *t, struct slice glob)
{
	for (; t != NULL; t = t->parent)
		if (glob_fits(glob, t->name))
			return true;
	return false;
}

struct slice select_value_text(const struct value *v, char space[SELECT_VALUE_TEXT])
{
	if (v->type == VALUE_STRING || v->type == VALUE_JSON)
		return value_text(v);
	if (v->type == VALUE_BYTES) {
		struct text t = text_start(space, SELECT_VALUE_TEXT);
		text_str(&t, "0x");
		text_hex(&t, v->p, v->count < SELECT_BYTES_MAX ? v->count : SELECT_BYTES_MAX);
		return slice_of(space, t.n);
	}
	return slice_of(space, (size_t)(fields_json_scalar(space, v) - space));
}

/* Texts that are numbers are compared as numbers: some formats write numbers as text. */
static bool comparison_holds(const struct select_condition *c, const struct value *v)
{
	struct value number;
	int order;

	if (v->type == VALUE_STRING || v->type == VALUE_JSON) {
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

static bool scalar_matches(const struct select_condition *c, const struct value *v)
{
	char space[SELECT_VALUE_TEXT];

	return c->compare == SELECT_GLOB ? glob_fits(c->glob, select_value_text(v, space))
	                                 : comparison_holds(c, v);
}

/* A list matches if one of its entries does; nested lists are ignored. */
static bool value_matches(const struct select_condition *c, const struct value *v)
{
	if (!value_is_list(v))
		return scalar_matches(c, v);
	const size_t per = v->type == VALUE_MAP ? 2 : 1;
	for (size_t i = per - 1; i < value_entries(v); i += per)
		if (v->values[i].type < VALUE_LIST && scalar_matches(c, &v->values[i]))
			return true;
	return false;
}

static bool field_matches(const struct field *fields, uint32_t n, const struct select_condition *c)
{
	struct path_value member;
	bool named = false;

	for (uint32_t i = 0; i < n; i++)
		if (slice_equal(fields[i].name, c->key)) {
			named = true;
			if (value_matches(c, &fields[i].value))
				return true;
		}
	const struct value *const v = named ? NULL : field_path_find(fields, n, c->key, &member);
	return v != NULL && value_matches(c, v);
}

bool select_meets(const struct select_condition *c, const struct batch *b, const struct event *e)
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
		return has_id(track_thread(e->track), TRACK_THREAD, c->number);
	case SELECT_TRACK:
		return track_matches(e->track, c->glob);
	case SELECT_MIN_DUR:
		return dur >= c->number;
	case SELECT_MAX_DUR:
		return dur <= c->number;
	case SELECT_PROCESS:
		return has_name(track_process(e->track), TRACK_PROCESS, c->glob);
	case SELECT_THREAD:
		return has_name(track_thread(e->track), TRACK_THREAD, c->glob);
	case SELECT_WAITING:
		return event_is_waiting(e);
	case SELECT_WHERE:
		return field_matches(b->fields + e->first_field, e->nfields, c) ||
		       field_matches(e->cls->parts, e->cls->nparts, c);
	default:
		return true;
	}
}

/* ---- a selection ---- */

bool select_meets_kinds(const struct select *s, const struct batch *b, const struct event *e, unsigned kinds)
{
	unsigned asked = 0, met = 0;

	for (uint32_t k = 0; k < s->n; k++) {
		const struct select_condition *const c = &s->conditions[k];
		const unsigned bit = SELECT_BIT(c->kind);
		if ((kinds & bit) == 0)
			continue;
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

unsigned select_kinds(const struct select *s)
{
	unsigned kinds = 0;

	for (uint32_t i = 0; i < s->n; i++)
		kinds |= SELECT_BIT(s->conditions[i].kind);
	return kinds;
}

unsigned select_wants(const struct select *s)
{
	const unsigned kinds = select_kinds(s), named = SELECT_BIT(SELECT_PROCESS) |
	                                                SELECT_BIT(SELECT_THREAD) | SELECT_BIT(SELECT_TRACK);

	return ((kinds & SELECT_BIT(SELECT_WHERE)) != 0 ? (unsigned)WANT_FIELDS : 0U) |
	       ((kinds & named) != 0 ? (unsigned)WANT_NAMES : 0U);
}

bool select_reads_names(const struct select *s)
{
	return (select_kinds(s) & (SELECT_BIT(SELECT_NAME) | SELECT_BIT(SELECT_WHERE))) != 0;
}

bool select_reads_tracks(const struct select *s)
{
	return (select_kinds(s) &
	        (SELECT_BIT(SELECT_PID) | SELECT_BIT(SELECT_TID) | SELECT_BIT(SELECT_PROCESS) |
	         SELECT_BIT(SELECT_THREAD) | SELECT_BIT(SELECT_TRACK))) != 0;
}
