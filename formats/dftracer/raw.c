/*
 * Raw events: a record with its unmodified members and its bytes.  The bytes between records are events too,
 * so that all bytes together are the input.
 */
#include "dftracer/dftracer.h"

#include "model/value.h"

/* ---- fields of records ---- */

/* Returns the text of a string with escapes resolved. */
static struct slice text_of(const struct dft_record *rec, struct dft_token t, struct arena *a)
{
	const struct slice s = dft_token_text(rec, t);

	if (rec->clean)
		return dft_clean_text(s);
	return s.n > 0 && memchr(s.p, '\\', s.n) != NULL ? json_unescape(a, s) : textscan_slice(s.p, s.n);
}

static struct value value_of(const struct dft_record *rec, const struct dft_arg *m, struct arena *a)
{
	const enum json_kind kind = (enum json_kind)m->kind;
	const struct slice s = dft_token_text(rec, m->value);

	if (json_is_string(kind))
		return value_string(text_of(rec, m->value, a));
	if (kind == JSON_INT && slice_is(s, "-0"))
		return value_json(s); /* an integer does not give the same digits back */
	return dft_value_of(rec, m->value, kind);
}

static void add_members(const struct dft_record *rec, struct batch *b, struct event *e)
{
	struct field *const to = batch_event_fields(b, e, (uint16_t)rec->nmembers);

	for (uint32_t i = 0; to != NULL && i < rec->nmembers; i++) {
		const struct dft_arg *const m = &rec->members[i];
		to[i] = (struct field){ text_of(rec, m->key, &b->scratch), value_of(rec, m, &b->scratch) };
	}
}

/* ---- bytes of records ---- */

/* Skips the bytes of `set` at p and, if they end the current line, its newline. */
static const char *skip_set(const struct dft_state *st, const char *p, const char *set)
{
	const struct input *const in = st->r->in;
	const char *const e = p + (st->line.end - input_offset(in, p));

	while (p < e && *p != '\0' && strchr(set, *p) != NULL)
		p++;
	return p == e && e < in->end ? e + 1 : p;
}

const char *dft_raw_end(const struct dft_state *st, bool is_record)
{
	const struct dft_line *const l = &st->line;
	const bool whole_line = l->end_known && (is_record || (l->begun && !l->skipping && !st->trailer));
	const char *const p = st->r->in->p;

	return whole_line ? skip_set(st, p, is_record ? " \t\r," : " \t\r,[]") : p;
}

/* ---- bytes between records ---- */

static const struct class_field gap_field = { .name = SLICE_LIT("text"),
	                                      .type = SLICE_LIT("string"),
	                                      .value = VALUE_STRING };

/* No other class of this format declares fields. */
bool dft_is_gap(const struct class *c)
{
	return c->nfields == 1 && c->fields[0].name.p == gap_field.name.p;
}

bool dft_is_unreadable(const struct class *c)
{
	return dft_is_gap(c) && slice_is(c->name, "unreadable bytes");
}

void dft_raw_gap(struct dft_state *st, struct record *rec, bool dropped)
{
	struct class **const c = &st->sh->classes.gaps[dropped];
	const struct class like = { .name = dropped ? SLICE_LIT("unreadable bytes")
		                                    : SLICE_LIT("between records"),
		                    .fields = &gap_field,
		                    .nfields = 1 };

	if (*c == NULL)
		*c = trace_plan_class(st->r->trace, &like);
	st->r->no_memory |= *c == NULL;
	rec->cls = *c != NULL ? *c : &st->no_class;
	rec->ts = 0;
}

void dft_raw_fields(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	const struct dft_state *const st = r->state;

	if (rec->role < RECORD_IS_GAP) {
		dft_event_raw(st, b, e);
		add_members(&st->record, b, e);
		return;
	}
	struct field *const f = batch_event_fields(b, e, 1);
	if (f != NULL)
		*f = (struct field){ gap_field.name,
			             value_string(textscan_slice(rec->p, (uint32_t)(rec->end - rec->p))) };
}
