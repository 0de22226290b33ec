#include "dftracer/dftracer_state.h"

/* Records as events: which span, on whose track, with which fields. */

/* ---- text ---- */

/* A token as text for people: escapes resolved.  p NULL: no memory. */
static struct slice
plain_text(struct batch *b, const struct dft_record *rec, struct dft_token t, enum json_kind kind)
{
	const struct slice raw = dft_token_text(rec, t);

	if (kind == JSON_ESCAPED || kind == JSON_BAD_STRING)
		return json_unescape(&b->scratch, raw);
	/* the others were looked through: text is sound, and the rest of a record is no text but ASCII */
	return kind == JSON_STRING ? textscan_slice(raw.p, raw.n) : raw;
}

/* Texts of whole lines without odd bytes need no second look. */
static inline struct slice
clean(struct slice s)
{
	s.flags = SLICE_UTF8 | SLICE_JSON;
	return s;
}

/* ---- classes ---- */

static struct class *
find_class(struct dft_state *st, const struct dft_record *rec, struct slice name, struct slice category)
{
	struct trace *const trace = st->r->trace;
	const uint32_t known = tabletext_get(&st->sh->classes, name);

	if (known != TABLE_NONE)
		return trace->classes[known];
	if (trace->nclasses >= DFT_MAX_CLASSES || name.n > DFT_MAX_CLASS_BYTES - st->sh->class_bytes) {
		dft_limit(st, DFT_LIMIT_CLASSES, rec);
		if (st->sh->more_class == NULL)
			st->sh->more_class = trace_add_class(trace, SLICE_LIT("more categories"));
		return st->sh->more_class;
	}
	struct class *const c = trace_add_class(trace, name);
	if (c == NULL || !tabletext_put(&st->sh->classes, c->name, c->index))
		return NULL;
	st->sh->class_bytes += name.n;
	if (!slice_equal(name, category)) {
		c->category = arena_copy(&trace->arena, category);
		if (c->category.p == NULL)
			return NULL;
	}
	trace_mean(trace, c, NULL, NULL);
	return c;
}

/* Two capitals in brackets keep the tracer's own metadata apart from categories of that name. */
static struct class *
metadata_class(struct dft_state *st, const struct dft_record *rec)
{
	static const struct {
		const char *name;
		struct slice class;
	} rows[] = {
		{ "HH", SLICE_LIT("HH (host name)") },
		{ "FH", SLICE_LIT("FH (file name)") },
		{ "SH", SLICE_LIT("SH (string)") },
		{ "PR", SLICE_LIT("PR (process)") },
		{ "CM", SLICE_LIT("CM (custom metadata)") },
		{ "EH", SLICE_LIT("EH (entity)") },
		{ "ET", SLICE_LIT("ET (entity type)") },
		{ "ER", SLICE_LIT("ER (entity relation)") },
		{ "process_name", SLICE_LIT("process_name") },
		{ "thread_name", SLICE_LIT("thread_name") },
	};
	const struct slice name =
	    dft_top_kind(rec, DFT_NAME) == JSON_STRING ? dft_top_text(rec, DFT_NAME) : slice_of(NULL, 0);

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (slice_is(name, rows[i].name))
			return find_class(st, rec, rows[i].class, SLICE_LIT("dftracer"));
	return find_class(st, rec, SLICE_LIT("metadata"), SLICE_LIT("dftracer"));
}

static struct class *
class_of(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f, struct batch *b)
{
	const enum json_kind kind = dft_top_kind(rec, DFT_CAT);
	struct slice cat = kind != JSON_ABSENT ? dft_top_text(rec, DFT_CAT) : slice_of("", 0);

	if (f->phase == DFT_PHASE_METADATA)
		return metadata_class(st, rec);
	struct class **const recent =
	    &st->sh->recent_class[cat.n > 0 ? (uint32_t)(unsigned char)cat.p[cat.n - 1] % DFT_RECENT : 0];
	if (kind == JSON_STRING && *recent != NULL && slice_equal((*recent)->name, cat))
		return *recent;
	if (kind == JSON_ABSENT)
		cat = SLICE_LIT("no category");
	else
		cat = plain_text(b, rec, rec->top[DFT_CAT], kind);
	struct class *const c = cat.p != NULL ? find_class(st, rec, cat, cat) : NULL;
	if (kind == JSON_STRING)
		*recent = c;
	return c;
}

/* ---- values ---- */

/* Numbers that no 64 bits hold keep their digits as they stand. */
static struct value
value_of_json(struct slice s)
{
	return (struct value){ .type = VALUE_JSON, .count = s.n, .p = s.p };
}

static struct value
integer_value(const struct dft_record *rec, struct dft_token t, bool minus)
{
	struct dft_token digits = { t.at + minus, t.n - minus };
	uint64_t v;

	if (!dft_digits(rec, digits, &v) || (minus && v > (uint64_t)1 << 63))
		return value_of_json(dft_token_text(rec, t)); /* more than 64 bits */
	if (minus)
		return (struct value){ .type = VALUE_I64, .i64 = (int64_t)-v };
	return value_u64(v);
}

static struct value
not_finite_value(struct slice s)
{
	const bool minus = *s.p == '-';
	const char first = (char)(s.p[*s.p == '-' || *s.p == '+'] | 0x20);
	const double inf = (double)__builtin_inf();

	return (struct value){ .type = VALUE_F64,
		               .f64 = first == 'n' ? (double)__builtin_nan("")
		                      : minus      ? -inf
		                                   : inf };
}

/* false: no memory. */
static bool
arg_value(struct batch *b, const struct dft_record *rec, const struct dft_arg *a, struct value *v)
{
	const struct slice s = dft_token_text(rec, a->value);

	switch ((enum json_kind)a->kind) {
	case JSON_UINT:
		*v = integer_value(rec, a->value, false);
		return true;
	case JSON_INT:
		*v = integer_value(rec, a->value, true);
		return true;
	case JSON_ESCAPED: /* valid as it stands, quotes included */
		*v = value_of_json(slice_of(s.p - 1, s.n + 2));
		return true;
	case JSON_BAD_STRING: {
		const struct slice text = json_unescape(&b->scratch, s);
		*v = value_string(text);
		return text.p != NULL;
	}
	case JSON_TRUE:
	case JSON_FALSE:
		*v = (struct value){ .type = VALUE_BOOL, .u64 = a->kind == JSON_TRUE };
		return true;
	case JSON_NUMBER:
	case JSON_OBJECT:
	case JSON_ARRAY:
		*v = value_of_json(s);
		return true;
	case JSON_NOT_FINITE:
		*v = not_finite_value(s);
		return true;
	case JSON_ABSENT:
	case JSON_NULL:
		*v = (struct value){ .type = VALUE_NONE };
		return true;
	default:
		*v = value_string(textscan_slice(s.p, s.n));
		return true;
	}
}

/* ---- fields ---- */

/* What an event shows beside its name, times and track. */
struct fields {
	const struct dft_state *st;
	struct batch *b;
	const struct dft_record *rec;
	const struct dft_facts *facts;
	struct field *to;
	uint32_t hashes; /* that were met */
};

static bool
put_arg(struct fields *x, const struct dft_arg *a)
{
	const struct slice key = dft_token_text(x->rec, a->key);
	struct field *const to = x->to;

	if (a->repeats > 0) {
		to->name = arena_printf(&x->b->scratch, "%.*s (%u)", (int)key.n, key.p, a->repeats + 1);
		if (to->name.p == NULL)
			return false;
		to->name = textscan_slice(to->name.p, to->name.n);
	} else {
		to->name = x->rec->clean ? clean(key) : textscan_slice(key.p, key.n);
	}
	if (a->kind == JSON_STRING && x->rec->clean)
		to->value = value_string(clean(dft_token_text(x->rec, a->value)));
	else if (!arg_value(x->b, x->rec, a, &to->value))
		return false;
	x->to++;
	return true;
}

/* The names that stand for the hashes, unless the record has an argument of that name. */
static const struct {
	struct slice name;
	enum dft_plan taken;
} readable[] = {
	[DFT_MEANS_HHASH] = { SLICE_LIT("hostname"), DFT_MEANS_HOSTNAME },
	[DFT_MEANS_FHASH] = { SLICE_LIT("fname"), DFT_MEANS_FNAME },
	[DFT_MEANS_CMD_HASH] = { SLICE_LIT("cmd"), DFT_MEANS_CMD },
	[DFT_MEANS_EXEC_HASH] = { SLICE_LIT("exec"), DFT_MEANS_EXEC },
	[DFT_MEANS_CWD] = { SLICE_LIT("cwd"), DFT_MEANS_NOTHING },
};

static struct slice
name_of_hash(struct fields *x, const struct dft_arg *a)
{
	const enum dft_plan m = (enum dft_plan)a->plan;
	const uint32_t i = x->hashes++;
	struct dft_hash h;

	if (i < x->facts->nnames)
		return x->facts->names[i];
	if (x->facts->phase != DFT_PHASE_METADATA ||
	    !dft_hash_read(x->rec, a->value, (enum json_kind)a->kind, &h))
		return slice_of(NULL, 0);
	return dft_name_look(x->st, dft_hash_kind_of(m), h, x->facts->pid);
}

static bool
put_hash(struct fields *x, const struct dft_arg *a)
{
	const enum dft_plan m = (enum dft_plan)a->plan;
	const bool taken = readable[m].taken != DFT_MEANS_NOTHING && x->rec->special[readable[m].taken] != 0;
	const struct slice name = name_of_hash(x, a);

	if (name.p == NULL || taken)
		return put_arg(x, a);
	*x->to++ = (struct field){ readable[m].name, value_string(name) };
	return !x->st->keep_ids || m == DFT_MEANS_CWD || put_arg(x, a);
}

/* A field of the record itself, beside its arguments; these have the better right to the name. */
static bool
put_top(struct fields *x, enum dft_top which, enum dft_plan taken, struct slice name, struct slice other)
{
	const struct dft_arg a = { .value = x->rec->top[which],
		                   .kind = (uint8_t)dft_top_kind(x->rec, which) };

	if (a.kind == JSON_ABSENT)
		return true;
	x->to->name = x->rec->special[taken] != 0 ? other : name;
	if (!arg_value(x->b, x->rec, &a, &x->to->value))
		return false;
	x->to++;
	return true;
}

/* Whether the name is one that another field of the event has, or may have. */
static bool
is_taken(const struct dft_record *rec, struct slice name)
{
	for (uint32_t i = 0; i < rec->nargs; i++)
		if (slice_equal(dft_token_text(rec, rec->args[i].key), name))
			return true;
	for (size_t i = DFT_MEANS_HHASH; i < sizeof readable / sizeof readable[0]; i++)
		if (slice_equal(readable[i].name, name))
			return true;
	return false;
}

static bool
put_extra(struct fields *x, const struct dft_arg *a)
{
	const struct slice key = dft_token_text(x->rec, a->key);
	const bool renamed = a->repeats > 0 || is_taken(x->rec, key);

	if (!put_arg(x, a))
		return false;
	if (renamed) {
		struct field *const f = x->to - 1;
		f->name =
		    arena_printf(&x->b->scratch, "%.*s (record, %u)", (int)key.n, key.p, a->repeats + 1);
		if (f->name.p == NULL)
			return false;
		f->name = textscan_slice(f->name.p, f->name.n);
	}
	return true;
}

static bool
is_number(struct slice s)
{
	enum json_kind kind;

	return s.n > 0 && json_number(s.p, s.p + s.n, &kind) == s.p + s.n;
}

/* The event's series: what it measured, and nothing of who did it, which its track says. */
static bool
put_counter(struct fields *x)
{
	for (uint32_t i = 0; i < x->rec->nargs; i++) {
		const struct dft_arg *const a = &x->rec->args[i];
		if (a->plan == DFT_MEANS_HHASH || a->plan == DFT_MEANS_HOSTNAME)
			continue;
		if (!put_arg(x, a))
			return false;
		if (a->kind == JSON_STRING && is_number(dft_token_text(x->rec, a->value)))
			x->to[-1].value = value_of_json(dft_token_text(x->rec, a->value));
	}
	return true;
}

static bool
put_all(struct fields *x)
{
	const struct dft_record *const rec = x->rec;

	if (x->facts->has_id && rec->special[DFT_MEANS_ID] == 0 && dft_top_kind(rec, DFT_ID) == JSON_UINT)
		*x->to++ = (struct field){ SLICE_LIT("id"), value_u64(x->facts->id) };
	else if (!put_top(x, DFT_ID, DFT_MEANS_ID, SLICE_LIT("id"), SLICE_LIT("id (record)")))
		return false;
	if (!put_top(x, DFT_TYPE, DFT_MEANS_TYPE, SLICE_LIT("type"), SLICE_LIT("type (record)")))
		return false;
	for (uint32_t i = 0; i < rec->nextras; i++)
		if (!put_extra(x, &rec->extras[i]))
			return false;
	for (uint32_t i = 0; i < rec->nargs; i++) {
		const struct dft_arg *const a = &rec->args[i];
		const bool hash = dft_means_hash((enum dft_plan)a->plan) && a->repeats == 0 && i < 64;
		if (hash ? !put_hash(x, a) : !put_arg(x, a))
			return false;
	}
	if (dft_top_kind(rec, DFT_ARGS) != JSON_ABSENT && dft_top_kind(rec, DFT_ARGS) != JSON_OBJECT)
		return put_top(x, DFT_ARGS, DFT_MEANS_NOTHING, SLICE_LIT("args"), SLICE_LIT("args"));
	return true;
}

/* Fields that only say what the event itself cannot hold: a time that is none, a phase that is unknown. */
static bool
put_odd(struct fields *x, const struct event *e)
{
	const struct dft_record *const rec = x->rec;
	const bool odd = x->facts->phase == DFT_PHASE_NONE || x->facts->phase >= DFT_PHASE_BEGIN;

	if (odd && !put_top(x, DFT_PH, DFT_MEANS_NOTHING, SLICE_LIT("ph (record)"), SLICE_LIT("ph")))
		return false;
	if (!x->facts->has_ts &&
	    !put_top(x, DFT_TS, DFT_MEANS_NOTHING, SLICE_LIT("ts (record)"), SLICE_LIT("ts")))
		return false;
	if ((e->phase != PHASE_SPAN || (x->facts->has_dur && e->dur != x->facts->dur)) &&
	    dft_top_kind(rec, DFT_DUR) != JSON_ABSENT)
		return put_top(x, DFT_DUR, DFT_MEANS_NOTHING, SLICE_LIT("dur (record)"), SLICE_LIT("dur"));
	return true;
}

static bool
add_fields(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f, struct batch *b,
           struct event *e)
{
	const uint32_t most = 2 * rec->nargs + rec->nextras + 6;
	struct fields x = { st, b, rec, f, batch_fields(b, most), 0 };
	const struct field *const first = x.to;

	if (first == NULL)
		return false;
	if (e->phase == PHASE_COUNTER ? !put_counter(&x) : !put_all(&x) || !put_odd(&x, e))
		return false;
	e->first_field = b->nfields;
	e->nfields = (uint16_t)(x.to - first > UINT16_MAX ? UINT16_MAX : x.to - first);
	b->nfields += e->nfields;
	return true;
}

/* ---- events ---- */

/* What it is to those who look at it; without a time it has no place among events. */
static enum phase
phase_of(const struct dft_facts *f)
{
	if (f->phase == DFT_PHASE_METADATA || f->phase == DFT_PHASE_NONE || !f->has_ts || !f->has_pid)
		return PHASE_STRUCTURE;
	switch (f->phase) {
	case DFT_PHASE_COMPLETE:
		return f->has_dur ? PHASE_SPAN : PHASE_INSTANT;
	case DFT_PHASE_COUNTER:
		return PHASE_COUNTER;
	case DFT_PHASE_BEGIN:
		return PHASE_BEGIN;
	case DFT_PHASE_END:
		return PHASE_END;
	default:
		return PHASE_INSTANT;
	}
}

bool
dft_event_is_structure(const struct dft_facts *f)
{
	return phase_of(f) == PHASE_STRUCTURE;
}

enum dft_outcome
dft_event_add(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f, struct batch *b)
{
	struct event *const e = &b->events[b->n];
	const enum json_kind kind = dft_top_kind(rec, DFT_NAME);
	struct class *const c = class_of(st, rec, f, b);

	if (c == NULL)
		return DFT_NO_MEMORY;
	c->records++;
	e->phase = (uint8_t)phase_of(f);
	if ((st->r->want & (e->phase == PHASE_STRUCTURE ? WANT_STRUCTURE : WANT_TIMES)) == 0)
		return DFT_DONE;
	e->ts = f->has_ts ? f->ts : 0;
	e->dur = e->phase == PHASE_SPAN ? f->dur : 0;
	e->cls = c;
	e->track = NULL;
	e->offset = rec->offset;
	e->first_field = b->nfields;
	e->nfields = 0;
	e->flags = 0;
	if (kind == JSON_STRING && rec->clean)
		e->name = clean(dft_top_text(rec, DFT_NAME));
	else
		e->name = kind == JSON_ABSENT ? SLICE_LIT("") : plain_text(b, rec, rec->top[DFT_NAME], kind);
	if (e->name.p == NULL)
		return DFT_NO_MEMORY;
	if (e->phase != PHASE_STRUCTURE &&
	    (e->track = dft_thread_track(st, rec, f->process, f->has_tid, f->tid, f->negative_pid)) == NULL)
		return DFT_NO_MEMORY;
	const bool fields = (st->r->want & WANT_FIELDS) != 0 || class_needs_fields(c);
	if (fields && !(st->raw ? dft_raw_fields(rec, b, e) : add_fields(st, rec, f, b, e)))
		return DFT_NO_MEMORY;
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(rec->p, (size_t)(rec->end - rec->p));
	b->n++;
	return DFT_DONE;
}
