#include "dftracer/raw.h"

#include "dftracer/value.h"

/* ---- records ---- */

/* The digits of a whole number; those that a number of 64 bits does not give back stay text. */
static struct value
whole_number(const struct dft_record *rec, const struct dft_member *m)
{
	const struct slice s = dft_token_text(rec, m->value);

	return slice_is(s, "-0") ? dft_json_value(s) : dft_integer_value(rec, m->value, m->kind == JSON_INT);
}

/* The text of a string.  p NULL: no memory. */
static struct slice
text_of(const struct dft_record *rec, struct dft_token t, struct arena *a)
{
	const struct slice s = dft_token_text(rec, t);

	if (rec->clean)
		return dft_clean_text(s);
	return s.n > 0 && memchr(s.p, '\\', s.n) != NULL ? json_unescape(a, s) : textscan_slice(s.p, s.n);
}

static struct value
value_of(const struct dft_record *rec, const struct dft_member *m, struct arena *a)
{
	const struct slice s = dft_token_text(rec, m->value);

	switch (m->kind) {
	case JSON_UINT:
	case JSON_INT:
		return whole_number(rec, m);
	case JSON_TRUE:
	case JSON_FALSE:
		return (struct value){ .type = VALUE_BOOL, .u64 = m->kind == JSON_TRUE };
	case JSON_NUMBER:
	case JSON_OBJECT:
	case JSON_ARRAY:
		return dft_json_value(s);
	case JSON_NOT_FINITE:
		return dft_not_finite_value(s);
	case JSON_ABSENT:
	case JSON_NULL:
		return (struct value){ .type = VALUE_NONE };
	case JSON_BAD_WORD:
	case JSON_BAD_NESTED:
		return value_string(textscan_slice(s.p, s.n));
	default:
		return value_string(text_of(rec, m->value, a));
	}
}

void
dft_raw_fields(struct dft_state *st, const struct dft_record *rec, struct batch *b, struct event *e)
{
	struct field *const to = batch_fields(b, rec->nmembers);

	st->no_memory |= to == NULL;
	if (to == NULL)
		return;
	for (uint32_t i = 0; i < rec->nmembers; i++) {
		const struct dft_member *const m = &rec->members[i];
		to[i] = (struct field){ text_of(rec, m->key, &b->scratch), value_of(rec, m, &b->scratch) };
		st->no_memory |=
		    to[i].name.p == NULL || (to[i].value.type == VALUE_STRING && to[i].value.p == NULL);
	}
	e->first_field = b->nfields;
	e->nfields = (uint16_t)rec->nmembers;
	b->nfields += rec->nmembers;
}

/* ---- bytes ---- */

/* Where the bytes that begin before p end: over those of `set` and, if nothing else is left, the end of the
 * present line. */
static const char *
over(const struct dft_state *st, const char *p, const char *set)
{
	const struct input *const in = st->r->in;
	const char *const e = p + (st->line.end - input_offset(in, p));

	while (p < e && *p != '\0' && strchr(set, *p) != NULL)
		p++;
	return p == e && e < in->end ? e + 1 : p;
}

void
dft_raw_cover(struct dft_state *st, struct batch *b, const struct dft_record *rec, const char *to)
{
	if (to == NULL)
		to = st->line.end_known ? over(st, rec->end, " \t\r,") : rec->end;
	st->covered = input_offset(st->r->in, to);
	if (b->bytes != NULL)
		b->bytes[b->n - 1].n = (uint32_t)(to - rec->p);
}

void
dft_raw_add_run(struct dft_state *st, struct batch *b, struct slice bytes)
{
	const struct class like = { .name = SLICE_LIT("records") };
	struct class **const c = &st->sh->classes.run;

	if (*c == NULL && (*c = trace_plan_class(st->r->trace, &like)) == NULL) {
		st->no_memory = true;
		return;
	}
	st->covered = input_offset(st->r->in, bytes.p + bytes.n);
	b->events[b->n] = (struct event){ .phase = PHASE_STRUCTURE,
		                          .name = (*c)->name,
		                          .cls = *c,
		                          .offset = st->covered - bytes.n };
	if (b->bytes != NULL)
		b->bytes[b->n] = bytes;
	b->n++;
}

/* ---- between records ---- */

static const struct class_field gap_field = { .name = SLICE_LIT("text"),
	                                      .type = SLICE_LIT("string"),
	                                      .value = VALUE_STRING };

/* No other class of this format declares fields. */
bool
dft_is_gap(const struct class *c)
{
	return c->nfields == 1 && c->fields[0].name.p == gap_field.name.p;
}

bool
dft_is_unreadable(const struct class *c)
{
	return dft_is_gap(c) && slice_is(c->name, "unreadable bytes");
}

static struct class *
gap_class(struct dft_state *st, bool dropped)
{
	struct class **const c = &st->sh->classes.gaps[dropped];

	const struct class like = { .name = dropped ? SLICE_LIT("unreadable bytes")
		                                    : SLICE_LIT("between records"),
		                    .fields = &gap_field,
		                    .nfields = 1 };

	if (*c == NULL)
		*c = trace_plan_class(st->r->trace, &like);
	return *c;
}

void
dft_raw_gap(struct dft_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	const uint64_t now = input_offset(in, in->p);
	const bool dropped = st->line.dropped;

	st->line.dropped = false;
	if (now <= st->covered)
		return;
	const char *const from = in->p - (now - st->covered);
	const bool whole_line = st->line.begun && st->line.end_known && !st->line.skipping && !st->trailer;
	const char *const to = whole_line ? over(st, in->p, " \t\r,[]") : in->p;
	const struct class *const c = gap_class(st, dropped);
	struct field *const f = batch_fields(b, 1);
	st->no_memory |= c == NULL || f == NULL;
	if (st->no_memory)
		return;
	const struct slice bytes = slice_of(from, (size_t)(to - from));
	*f = (struct field){ gap_field.name, value_string(textscan_slice(bytes.p, bytes.n)) };
	b->events[b->n] = (struct event){ .phase = PHASE_STRUCTURE,
		                          .name = c->name,
		                          .cls = c,
		                          .offset = st->covered,
		                          .first_field = b->nfields++,
		                          .nfields = 1 };
	if (b->bytes != NULL)
		b->bytes[b->n] = bytes;
	b->n++;
	st->covered += bytes.n;
}
