/* The series of counters. */
#include <inttypes.h>

#include "run/meaning/interpret_parts.h"

static bool
is_number(const struct value *v)
{
	return v->type >= VALUE_U8 && v->type <= VALUE_F64;
}

/* How many series a field is: a list of numbers is as many as it has. */
static uint32_t
series_of(const struct plan *m, const struct field *f)
{
	uint32_t n = f->value.type == VALUE_LIST ? f->value.count : is_number(&f->value);

	for (uint32_t i = 0; f->value.type == VALUE_LIST && i < f->value.count; i++)
		if (!is_number(&f->value.values[i]))
			n = 0;
	for (uint32_t i = 0; i < m->nvalues; i++)
		if (slice_equal(m->values[i], f->name))
			return n;
	return m->nvalues == 0 ? n : 0;
}

/* What the vocabulary's table has for a place in a list; p NULL: nothing, or something else than a text. */
static struct slice
name_of(const struct interpret *in, const struct event *e, const struct plan *m, uint32_t place)
{
	const struct slice none = { NULL, 0, 0 };

	if (!m->has_series)
		return none;
	const struct value v =
	    definitions_get(&in->trace->definitions, m->series, interpret_scope(in, e, m->series), place, 0);
	return v.type == VALUE_STRING ? value_text(&v) : none;
}

/* As the table has it, else "NAME 1", "NAME 2" ... */
static void
put_list(const struct interpret *in, struct batch *b, const struct event *e, const struct plan *m,
         const struct field *list, struct field *to)
{
	for (uint32_t i = 0; i < list->value.count; i++) {
		struct slice name = name_of(in, e, m, i);
		if (name.p == NULL) {
			name = arena_printf(&b->scratch, "%.*s %" PRIu32, (int)list->name.n, list->name.p,
			                    i + 1);
			name.flags = list->name.flags;
		}
		to[i] = (struct field){ name, list->value.values[i] };
	}
}

void
interpret_series(const struct interpret *in, struct batch *b, struct event *e, const struct plan *m)
{
	uint64_t all = 0;
	uint32_t n = 0;

	e->phase = PHASE_COUNTER;
	for (uint32_t i = 0; i < e->nfields; i++)
		all += series_of(m, &b->fields[e->first_field + i]);
	if (all > UINT16_MAX)
		return; /* nobody's counter: it stays as it is */
	struct field *const to = batch_fields(b, (uint32_t)all);
	if (to == NULL)
		return;
	for (uint32_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		const uint32_t series = series_of(m, f);
		if (series > 0 && f->value.type != VALUE_LIST)
			to[n] = *f;
		else if (series > 0)
			put_list(in, b, e, m, f, to + n);
		n += series;
	}
	e->first_field = b->nfields;
	e->nfields = (uint16_t)n;
	b->nfields += n;
}
