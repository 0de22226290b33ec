#include "dftracer/facts.h"
#include "dftracer/value.h"

/* What an event shows beside its name, times and track. */

struct fields {
	struct dft_state *st;
	struct batch *b;
	const struct dft_record *rec;
	const struct dft_facts *facts;
	struct field *to;
	uint32_t hashes; /* that were met */
};

/* A text made in the batch. */
static struct slice
made(struct fields *x, struct slice s)
{
	x->st->no_memory |= s.p == NULL;
	return textscan_slice(s.p, s.n);
}

static struct value
value_of(struct fields *x, const struct dft_arg *a)
{
	const struct dft_record *const rec = x->rec;
	const struct slice s = dft_token_text(rec, a->value);

	switch ((enum json_kind)a->kind) {
	case JSON_UINT:
	case JSON_INT:
		return dft_integer_value(rec, a->value, a->kind == JSON_INT);
	case JSON_ESCAPED: /* valid as it stands, quotes included */
		return dft_json_value(slice_of(s.p - 1, s.n + 2));
	case JSON_BAD_STRING: {
		const struct slice text = json_unescape(&x->b->scratch, s);
		x->st->no_memory |= text.p == NULL;
		return value_string(text);
	}
	case JSON_TRUE:
	case JSON_FALSE:
		return (struct value){ .type = VALUE_BOOL, .u64 = a->kind == JSON_TRUE };
	case JSON_NUMBER:
	case JSON_OBJECT:
	case JSON_ARRAY:
		return dft_json_value(s);
	case JSON_NOT_FINITE:
		return dft_not_finite_value(s);
	case JSON_ABSENT:
	case JSON_NULL:
		return (struct value){ .type = VALUE_NONE };
	default:
		return value_string(textscan_slice(s.p, s.n));
	}
}

/* ---- arguments ---- */

/* Escapes resolved; of keys without them as they stand. */
static struct slice
key_of(struct fields *x, const struct dft_arg *a)
{
	const struct slice key = dft_token_text(x->rec, a->key);

	if (x->rec->clean || key.n == 0 || memchr(key.p, '\\', key.n) == NULL)
		return key;
	const struct slice text = json_unescape(&x->b->scratch, key);
	x->st->no_memory |= text.p == NULL;
	return text.p != NULL ? text : key;
}

static void
put_arg(struct fields *x, const struct dft_arg *a)
{
	const struct slice key = key_of(x, a);
	struct field *const to = x->to++;

	if (a->repeats > 0)
		to->name =
		    made(x, arena_printf(&x->b->scratch, "%.*s (%u)", (int)key.n, key.p, a->repeats + 1));
	else
		to->name = x->rec->clean ? dft_clean_text(key) : textscan_slice(key.p, key.n);
	if (a->kind == JSON_STRING && x->rec->clean)
		to->value = value_string(dft_clean_text(dft_token_text(x->rec, a->value)));
	else
		to->value = value_of(x, a);
}

/* The names that stand for the hashes, unless the record has an argument of that name. */
static const struct {
	struct slice name;
	enum dft_role taken;
} readable[] = {
	[DFT_ROLE_HHASH] = { SLICE_LIT("hostname"), DFT_ROLE_HOSTNAME },
	[DFT_ROLE_FHASH] = { SLICE_LIT("fname"), DFT_ROLE_FNAME },
	[DFT_ROLE_CMD_HASH] = { SLICE_LIT("cmd"), DFT_ROLE_CMD },
	[DFT_ROLE_EXEC_HASH] = { SLICE_LIT("exec"), DFT_ROLE_EXEC },
	[DFT_ROLE_CWD] = { SLICE_LIT("cwd"), DFT_ROLE_NONE },
};

static struct slice
name_of_hash(struct fields *x, const struct dft_arg *a)
{
	const enum dft_role role = (enum dft_role)a->role;
	const uint32_t i = x->hashes++;
	struct dft_hash h;

	if (i < x->facts->nnames)
		return x->facts->names[i];
	if (x->facts->phase != DFT_PHASE_METADATA ||
	    !dft_hash_read(x->rec, a->value, (enum json_kind)a->kind, &h))
		return slice_of(NULL, 0);
	return dft_name_look(x->st, dft_hash_kind_of(role), h, x->facts->pid);
}

static void
put_hash(struct fields *x, const struct dft_arg *a)
{
	const enum dft_role role = (enum dft_role)a->role, taken = readable[role].taken;
	const struct slice name = name_of_hash(x, a);

	if (name.p == NULL || (taken != DFT_ROLE_NONE && x->rec->special[taken] != 0)) {
		put_arg(x, a);
		return;
	}
	*x->to++ = (struct field){ readable[role].name, value_string(name) };
	if (x->st->keep_ids && role != DFT_ROLE_CWD)
		put_arg(x, a);
}

/* The event's series: what it measured, and nothing of who did it, which its track shows. */
static void
put_counter(struct fields *x)
{
	for (uint32_t i = 0; i < x->rec->nargs; i++) {
		const struct dft_arg *const a = &x->rec->args[i];
		const struct slice s = dft_token_text(x->rec, a->value);
		enum json_kind kind;
		if (a->role == DFT_ROLE_HHASH || a->role == DFT_ROLE_HOSTNAME)
			continue;
		put_arg(x, a);
		if (a->kind == JSON_STRING && s.n > 0 && json_number(s.p, s.p + s.n, &kind) == s.p + s.n)
			x->to[-1].value = dft_json_value(s);
	}
}

/* ---- members of the record itself ---- */

/* Beside the arguments, which have the better right to the name. */
static void
put_top(struct fields *x, enum dft_top which, enum dft_role taken, struct slice name, struct slice other)
{
	const struct dft_arg a = { .value = x->rec->top[which],
		                   .kind = (uint8_t)dft_top_kind(x->rec, which) };

	if (a.kind == JSON_ABSENT)
		return;
	*x->to++ = (struct field){ x->rec->special[taken] != 0 ? other : name, value_of(x, &a) };
}

/* Whether the name is one that another field of the event has, or may have. */
static bool
is_taken(const struct dft_record *rec, struct slice name)
{
	for (uint32_t i = 0; i < rec->nargs; i++)
		if (slice_equal(dft_token_text(rec, rec->args[i].key), name))
			return true;
	for (size_t i = DFT_ROLE_HHASH; i < sizeof readable / sizeof readable[0]; i++)
		if (slice_equal(readable[i].name, name))
			return true;
	return false;
}

static void
put_extra(struct fields *x, const struct dft_arg *a)
{
	const struct slice key = dft_token_text(x->rec, a->key);

	put_arg(x, a);
	if (a->repeats > 0 || is_taken(x->rec, key))
		x->to[-1].name = made(
		    x, arena_printf(&x->b->scratch, "%.*s (record, %u)", (int)key.n, key.p, a->repeats + 1));
}

static void
put_all(struct fields *x)
{
	const struct dft_record *const rec = x->rec;

	if (x->facts->has_id && rec->special[DFT_ROLE_ID] == 0 && dft_top_kind(rec, DFT_ID) == JSON_UINT)
		*x->to++ = (struct field){ SLICE_LIT("id"), value_u64(x->facts->id) };
	else
		put_top(x, DFT_ID, DFT_ROLE_ID, SLICE_LIT("id"), SLICE_LIT("id (record)"));
	put_top(x, DFT_TYPE, DFT_ROLE_TYPE, SLICE_LIT("type"), SLICE_LIT("type (record)"));
	for (uint32_t i = 0; i < rec->nextras; i++)
		put_extra(x, &rec->extras[i]);
	for (uint32_t i = 0; i < rec->nargs; i++) {
		const struct dft_arg *const a = &rec->args[i];
		if (dft_role_is_hash((enum dft_role)a->role) && a->repeats == 0 && i < 64)
			put_hash(x, a);
		else
			put_arg(x, a);
	}
	if (dft_top_kind(rec, DFT_ARGS) != JSON_OBJECT)
		put_top(x, DFT_ARGS, DFT_ROLE_NONE, SLICE_LIT("args"), SLICE_LIT("args"));
}

/* What the event itself cannot hold: a time that is none, a phase that is unknown. */
static void
put_odd(struct fields *x, const struct event *e)
{
	const struct dft_facts *const f = x->facts;

	if (f->phase == DFT_PHASE_NONE || f->phase >= DFT_PHASE_BEGIN)
		put_top(x, DFT_PH, DFT_ROLE_NONE, SLICE_LIT("ph (record)"), SLICE_LIT("ph"));
	if (!f->has_ts)
		put_top(x, DFT_TS, DFT_ROLE_NONE, SLICE_LIT("ts (record)"), SLICE_LIT("ts"));
	if (e->phase != PHASE_SPAN || (f->has_dur && e->dur != f->dur))
		put_top(x, DFT_DUR, DFT_ROLE_NONE, SLICE_LIT("dur (record)"), SLICE_LIT("dur"));
}

void
dft_fields_add(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f, struct batch *b,
               struct event *e)
{
	const uint32_t most = 2 * rec->nargs + rec->nextras + 6;
	struct fields x = { st, b, rec, f, batch_fields(b, most), 0 };
	const struct field *const first = x.to;

	if (first == NULL) {
		st->no_memory = true;
		return;
	}
	if (e->phase == PHASE_COUNTER) {
		put_counter(&x);
	} else {
		put_all(&x);
		put_odd(&x, e);
	}
	e->first_field = b->nfields;
	e->nfields = (uint16_t)(x.to - first > UINT16_MAX ? UINT16_MAX : x.to - first);
	b->nfields += e->nfields;
}
