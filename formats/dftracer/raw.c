/*
 * Raw events: a record with its unmodified members and its bytes.  The bytes between records are events too,
 * so that all bytes together are the input.
 */
#include "dftracer/dftracer.h"

#include "model/value.h"

/* ---- fields of records ---- */

static struct value value_of(const struct dft_record *rec, const struct dft_arg *m, struct arena *a)
{
	const enum json_kind kind = (enum json_kind)m->kind;
	const struct slice s = dft_token_text(rec, m->value);

	if (json_is_string(kind))
		return value_string(dft_text(rec, m->value, kind, a));
	if (kind == JSON_INT && slice_is(s, "-0"))
		return value_json(s); /* an integer does not give the same digits back */
	return dft_value_of(rec, m->value, kind);
}

static void add_members(const struct dft_record *rec, struct batch *b, struct event *e)
{
	struct field *const to = batch_event_fields(b, e, (uint16_t)rec->nmembers);

	for (uint32_t i = 0; to != NULL && i < rec->nmembers; i++) {
		const struct dft_arg *const m = &rec->members[i];
		to[i] = (struct field){ dft_text(rec, m->key, JSON_ESCAPED, &b->scratch),
			                value_of(rec, m, &b->scratch) };
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

/* No other class of this format declares fields. */
bool dft_is_gap(const struct class *c)
{
	return c->nfields == 1 && c->fields[0].name.p == reader_bytes_field.name.p;
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
		                    .fields = &reader_bytes_field,
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
	} else {
		reader_bytes_fields(b, e, rec->p, rec->end);
	}
}

/* ---- recovery ---- */

/*
 * Recovery: keeps whole records, one a line, and drops what the reader drops.  Commas after records and
 * objects around the records are removed, as lines are not members of an array; a missing closing bracket is
 * added.
 */

struct dft_recover {
	bool line_kept, line_dropped; /* some bytes of the current line were kept, dropped */
};

static const char *const structure[] = { "dftracer/broken-json", "dftracer/cut-record",
	                                 "dftracer/two-records", "dftracer/trailing-comma", NULL };

static void begin_line(struct recovery *rc, const char *at, enum dft_rule rule, const char *why)
{
	recover_replace(rc, at, "\n", 1, &dft_rules[rule], "%s", why);
}

/* Drops the start of the object around the records, except the bracket, which gets a line of its own. */
static void drop_wrapper_start(struct recovery *rc)
{
	struct dft_recover *const s = rc->state;
	const struct input *const in = rc->r->in;

	recover_drop_for(rc, in->p, &dft_rules[DFT_RULE_WRAPPED],
	                 "records are in the array traceEvents of an object");
	recover_replace(rc, in->p, "[", 1, &dft_rules[DFT_RULE_WRAPPED], "the array of records stays");
	if (in->p < in->end && *in->p != '\n')
		begin_line(rc, in->p, DFT_RULE_BRACKET, "the bracket gets a line of its own");
	s->line_dropped = s->line_kept = true;
}

/* Keeps or drops one item, which ends where the window starts. */
static void take_item(struct recovery *rc, const struct record *rec)
{
	const struct dft_state *const st = rc->r->state;
	struct dft_recover *const s = rc->state;
	const char *const to = rc->r->in->p;

	recover_keep(rc, rec->p);
	if (rec->role < RECORD_IS_GAP) {
		if (st->line.records > 1)
			begin_line(rc, rec->p, DFT_RULE_TWO_RECORDS, "record is not the first of its line");
		recover_keep(rc, to);
		s->line_kept = true;
	} else if (st->line.dropped) {
		if (*rec->p == '\0')
			recover_drop_for(rc, to, &dft_rules[DFT_RULE_NUL_BYTES], "NUL bytes");
		else
			recover_drop(rc, to);
		s->line_dropped = true;
	} else if (st->trailer && rec->offset >= st->trailer_start) {
		recover_drop_for(rc, to, &dft_rules[DFT_RULE_WRAPPED],
		                 "members of the object after the array are not records");
		s->line_dropped = true;
	} else if (*rec->p == '{') {
		drop_wrapper_start(rc);
	} else if (*rec->p == '\n' && s->line_dropped && !s->line_kept) {
		recover_drop(rc, to);
	} else if (*rec->p == ',' && st->line.records > 0) {
		recover_replace(rc, to, "", 0, &dft_rules[DFT_RULE_TRAILING_COMMA], "comma after a record");
	} else {
		recover_keep(rc, to);
		s->line_kept |= *rec->p != '\n';
	}
	if (!st->line.begun)
		*s = (struct dft_recover){ .line_kept = false };
}

static bool keep(struct recovery *rc, enum record_status status)
{
	struct dft_state *const st = rc->r->state;
	const char *const end = rc->r->in->p;

	if (status != RECORD_END)
		return true;
	recover_keep(rc, end);
	dft_line_finish(st);
	if (st->opened && !st->closed)
		recover_replace(rc, end, rc->last == '\n' ? "]\n" : "\n]\n", rc->last == '\n' ? 2 : 3,
		                &dft_rules[DFT_RULE_NO_BRACKETS], "the closing ] is missing");
	return true;
}

const struct recover_ops dft_recover_ops = {
	.state_size = sizeof(struct dft_recover),
	.structure = structure,
	.record = take_item,
	.keep = keep,
};
