/*
 * Fields of events as arguments of records.  Some names have a meaning in this format: hosts, files and
 * strings become hashes, and a name that would be mistaken for one gets a number.  Numbers keep all digits,
 * all other values are JSON on one line.
 */
#include "dftracer/write/write.h"
#include "format/fields_json.h"
#include "model/event_traits.h"
#include "out/field_names.h"

#define MAX_FIELDS 59000U /* of one event; readers limit them */
#define MAX_DEPTH 50U     /* nested lists and maps */

/* ---- values ---- */

/* Whether lists and maps are nested deeper than `max`.  A map whose keys are not all text is written
 * as a list of lists, so each counts twice. */
static bool is_deeper(const struct value *v, unsigned max)
{
	const unsigned own = v->type == VALUE_LIST ? 1 : v->type == VALUE_MAP ? 2 : 0;

	if (own > max)
		return true;
	for (size_t i = 0; i < (size_t)v->count * own && own > 0; i++)
		if (is_deeper(&v->values[i], max - own))
			return true;
	return false;
}

/* The same for JSON text. */
static bool is_deeper_text(const char *p, uint32_t n)
{
	unsigned depth = 0;
	bool quoted = false;

	for (uint32_t i = 0; i < n; i++)
		if (p[i] == '"')
			quoted = !quoted;
		else if (quoted)
			i += p[i] == '\\';
		else if (p[i] == '[' || p[i] == '{') {
			if (++depth > MAX_DEPTH)
				return true;
		} else if (p[i] == ']' || p[i] == '}')
			depth--;
	return false;
}

/* Adds JSON on one line: in valid JSON, line ends and tabs are only between values. */
static void put_json(struct text *t, const char *p, uint32_t n)
{
	const size_t from = t->n;

	text_json_text(t, p, n);
	for (size_t i = from; i < t->n; i++)
		if ((unsigned char)t->p[i] < ' ')
			t->p[i] = ' ';
}

static void put_as_json(struct chunk *chunk, const struct value *v, uint64_t offset)
{
	struct fields_json_lost lost = { 0 };

	fields_json_value(&chunk->text, v, &lost);
	if (lost.bad_text > 0)
		ledger_add(&chunk->ledger, &dfw_losses[DFW_BAD_TEXT], offset, lost.bad_text);
	if (lost.not_a_number > 0)
		ledger_add(&chunk->ledger, &dfw_losses[DFW_NOT_A_NUMBER], offset, lost.not_a_number);
}

void dfw_value(struct chunk *chunk, const struct value *v, uint64_t offset)
{
	if (v->type >= VALUE_U8 && v->type <= VALUE_U64)
		text_u64(&chunk->text, v->u64);
	else if (v->type >= VALUE_I8 && v->type <= VALUE_I64)
		text_i64(&chunk->text, v->i64);
	else if (is_deeper(v, MAX_DEPTH) || (v->type == VALUE_JSON && is_deeper_text(v->p, v->count))) {
		text_str(&chunk->text, "null");
		dfw_lose(chunk, DFW_TOO_DEEP, offset);
	} else if (v->type == VALUE_JSON)
		put_json(&chunk->text, v->p, v->count);
	else
		put_as_json(chunk, v, offset);
}

/* ---- arguments of one event ---- */

struct args {
	struct dfw_state *st;
	const struct event *e;
	struct dfw_owner owner;
	struct chunk *chunk;
	const struct field *fields;
	uint32_t n;
	const struct value *id, *type; /* members of the record */
	bool is_start, is_end;         /* records of the tracer itself */
	bool comma;
	struct tabletext seen; /* earlier names, if there are more than FEW */
};

#define FEW 48 /* max number of names that are compared one by one */

static struct args args_of(struct dfw_state *st, const struct batch *b, const struct event *e,
                           struct dfw_owner owner, struct chunk *chunk)
{
	const bool tracer = slice_is(e->cls->category, "dftracer");

	return (struct args){ .st = st,
		              .e = e,
		              .owner = owner,
		              .chunk = chunk,
		              .fields = b->fields + e->first_field,
		              .n = e->nfields,
		              .id = dfw_id_of(st, b, e),
		              .type = dfw_type_of(st, b, e),
		              .is_start = tracer && slice_is(e->name, "start"),
		              .is_end = tracer && slice_is(e->name, "end") };
}

/* ---- members of the record ---- */

const struct value *dfw_id_of(const struct dfw_state *st, const struct batch *b, const struct event *e)
{
	const struct field *const f = b->fields + e->first_field;

	return st->own && e->nfields > 0 && slice_is(f->name, "id") && f->value.type == VALUE_U64 &&
	               e->phase == PHASE_SPAN
	           ? &f->value
	           : NULL;
}

const struct value *dfw_type_of(const struct dfw_state *st, const struct batch *b, const struct event *e)
{
	const bool second = dfw_id_of(st, b, e) != NULL;
	const struct field *const f = b->fields + e->first_field + second;

	return st->own && st->dialect == DFW_D5 && e->nfields > second && slice_is(f->name, "type") &&
	               f->value.type == VALUE_U64 && e->phase != PHASE_COUNTER
	           ? &f->value
	           : NULL;
}

/* ---- hashes ---- */

static const struct {
	struct slice text, hash;
	enum dft_hash_kind kind;
} hashed[] = {
	{ SLICE_LIT("hostname"), SLICE_LIT("hhash"), DFT_HASH_HOST },
	{ SLICE_LIT("fname"), SLICE_LIT("fhash"), DFT_HASH_FILE },
	{ SLICE_LIT("cmd"), SLICE_LIT("cmd_hash"), DFT_HASH_STRING },
	{ SLICE_LIT("exec"), SLICE_LIT("exec_hash"), DFT_HASH_STRING },
};

enum { HASHED = sizeof hashed / sizeof hashed[0] };

/* Returns the row of a field, or HASHED if it has none. */
static size_t row_of(const struct args *a, const struct field *f)
{
	/* cmd and exec have this meaning in a start record alone */
	const size_t max = a->is_start ? HASHED : 2;
	size_t i = 0;

	if (f->value.type != VALUE_STRING || f->value.count == 0)
		return HASHED;
	while (i < max && !slice_equal(f->name, hashed[i].text))
		i++;
	return i < max ? i : HASHED;
}

/* Whether the field is the host of the process. */
static bool is_host(const struct args *a, const struct field *f)
{
	return f->value.type == VALUE_STRING && slice_is(f->name, "hostname") &&
	       slice_equal(value_text(&f->value), a->owner.process->host);
}

static struct dfw_hash hash_of(struct args *a, const struct field *f, size_t row)
{
	if (hashed[row].kind == DFT_HASH_HOST)
		return is_host(a, f) ? a->owner.process->host_hash : (struct dfw_hash){ .n = 0 };
	return dfw_hash_of(a->st, a->chunk, a->owner, hashed[row].kind, value_text(&f->value));
}

void dfw_define_hashes(struct dfw_state *st, const struct batch *b, const struct event *e,
                       struct dfw_owner owner, struct chunk *chunk)
{
	struct args a = args_of(st, b, e, owner, chunk);

	for (uint32_t i = 0; i < a.n; i++) {
		const size_t row = row_of(&a, &a.fields[i]);
		if (row < HASHED)
			(void)hash_of(&a, &a.fields[i], row);
	}
}

/* ---- names ---- */

static bool is_seen(const struct args *a, struct slice name, uint32_t n)
{
	if (a->n > FEW)
		return tabletext_get(&a->seen, name) != TABLE_NONE;
	return field_find(a->fields, n, name) != NULL;
}

/* Whether a name would be mistaken for a hash or the host. */
static bool is_reserved(const struct args *a, const struct field *f)
{
	for (size_t i = 0; i < HASHED; i++)
		if (slice_equal(f->name, hashed[i].hash))
			return true;
	return slice_is(f->name, "hostname") && !is_host(a, f);
}

/* Adds `"name (2)":`, with the first number that is free. */
static void put_renamed(struct args *a, uint32_t i)
{
	struct text *const t = &a->st->scratch;
	const struct field *const f = &a->fields[i];
	uint32_t k = a->n > FEW ? i + 1 : 2; /* no search among many */

	do {
		text_clear(t);
		text_slice(t, f->name);
		text_printf(t, " (%" PRIu32 ")", k++);
		a->chunk->text.failed |= t->failed;
	} while (!t->failed && a->n <= FEW && is_seen(a, slice_of(t->p, t->n), a->n));
	dfw_text(a->chunk, slice_of(t->p, t->failed ? 0 : t->n), a->e->offset);
	dfw_lose(a->chunk, DFW_RENAMED, a->e->offset);
}

static void put_name(struct args *a, uint32_t i)
{
	const struct field *const f = &a->fields[i];
	const bool seen = is_seen(a, f->name, i);

	if (a->n > FEW && !seen)
		a->chunk->text.failed |= !tabletext_put(&a->seen, f->name, 1);
	if (seen || is_reserved(a, f))
		put_renamed(a, i);
	else
		dfw_text(a->chunk, f->name, a->e->offset);
	text_char(&a->chunk->text, ':');
}

/* ---- arguments ---- */

static void put_comma(struct args *a)
{
	if (a->comma)
		text_char(&a->chunk->text, ',');
	a->comma = true;
}

static void put_hash(struct args *a, struct slice name, const struct dfw_hash *h)
{
	struct text *const t = &a->chunk->text;

	put_comma(a);
	text_char(t, '"');
	text_slice(t, name);
	text_str(t, "\":");
	text_add(t, h->text, h->n);
}

/* Adds a field of an end record that describes the records before it, changed to describe the written ones.
 * Returns false for other fields. */
static bool put_end_field(struct args *a, const struct field *f)
{
	struct text *const t = &a->chunk->text;

	if (slice_is(f->name, "num_events")) {
		text_u64(t, a->owner.process->calls);
		if (f->value.type != VALUE_U64 || f->value.u64 != a->owner.process->calls)
			dfw_lose(a->chunk, DFW_NUM_EVENTS, a->e->offset);
		return true;
	}
	if (f->value.type != VALUE_JSON || !slice_is(f->name, "cfg"))
		return false;
	const char *const p = f->value.p, *const end = p + f->value.count;
	const struct slice unit = dft_unit_of_cfg(value_text(&f->value));
	if (unit.p == NULL)
		return false;
	text_add(t, p, (size_t)(unit.p - p));
	text_str(t, a->st->dialect == DFW_D5 ? "NS" : "US");
	text_add(t, unit.p + unit.n, (size_t)(end - unit.p) - unit.n);
	return true;
}

static void put_field(struct args *a, uint32_t i)
{
	const struct field *const f = &a->fields[i];
	const size_t row = row_of(a, f);
	const bool seen = row < HASHED && is_seen(a, f->name, i);

	if (&f->value == a->id || &f->value == a->type)
		return;
	if (row < HASHED && !seen) {
		const struct dfw_hash h = hash_of(a, f, row);
		if (h.n > 0) {
			if (hashed[row].kind != DFT_HASH_HOST || a->owner.process->host_hash.n > 0)
				put_hash(a, hashed[row].hash, &h);
			return;
		}
	}
	put_comma(a);
	put_name(a, i);
	if (!a->is_end || !put_end_field(a, f))
		dfw_value(a->chunk, &f->value, a->e->offset);
}

/* Adds the host of the process if the fields do not have it and it is needed. */
static void put_host(struct args *a, bool counter)
{
	const struct dfw_process *const p = a->owner.process;

	if (p->host.n == 0 || !(p->shares_pid || (counter && a->st->own)))
		return;
	for (uint32_t i = 0; i < a->n; i++)
		if (is_host(a, &a->fields[i]))
			return;
	if (p->host_hash.n > 0) {
		put_hash(a, SLICE_LIT("hhash"), &p->host_hash);
		return;
	}
	put_comma(a);
	text_str(&a->chunk->text, "\"hostname\":");
	dfw_text(a->chunk, p->host, a->e->offset);
}

/* Whether readers mistake the text of a counter for a number, or for the host. */
static bool is_no_series(const struct field *f)
{
	enum json_kind kind;

	return f->value.type == VALUE_STRING &&
	       (slice_is(f->name, "hostname") || json_is_number(value_text(&f->value), &kind));
}

static void check_counter(const struct args *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (is_no_series(&a->fields[i])) {
			dfw_lose(a->chunk, DFW_COUNTER_TEXT, a->e->offset);
			return;
		}
}

/* Names are compared as they are written: two that are not UTF-8 can become one. */
static void repair_names(struct args *a, const struct batch *b, struct arena *to)
{
	struct field *const f = b->fields + a->e->first_field;
	uint32_t changed = 0;
	const struct field *const repaired = field_names_repaired(to, f, a->n, &changed);

	if (repaired == f)
		return;
	if (note_failure(&a->chunk->text.failed, repaired == NULL))
		return;
	ledger_add(&a->chunk->ledger, &dfw_losses[DFW_BAD_TEXT], a->e->offset, changed);
	a->fields = repaired;
	a->id = a->id != NULL ? &repaired[0].value : NULL;
	a->type = a->type != NULL ? &repaired[a->type == &f[0].value ? 0 : 1].value : NULL;
}

void dfw_args(struct dfw_state *st, const struct batch *b, const struct event *e, struct dfw_owner owner,
              bool counter, struct chunk *chunk)
{
	struct args a = args_of(st, b, e, owner, chunk);
	const size_t start = chunk->text.n;
	struct arena names = { 0 };

	repair_names(&a, b, &names);
	const uint32_t n = a.n <= MAX_FIELDS ? a.n : 0;
	text_str(&chunk->text, ",\"args\":{");
	const size_t open = chunk->text.n;
	if (counter)
		check_counter(&a);
	put_host(&a, counter);
	for (uint32_t i = 0; i < n && chunk->text.n - start <= DFW_MAX_RECORD; i++)
		put_field(&a, i);
	if (event_is_flow(e)) {
		put_comma(&a);
		text_str(&chunk->text,
		         is_seen(&a, SLICE_LIT("arrow_id"), a.n) ? "\"arrow_id (2)\":" : "\"arrow_id\":");
		text_u64(&chunk->text, e->dur);
	}
	if (n < a.n || chunk->text.n - start > DFW_MAX_RECORD) {
		chunk->text.n = chunk->text.failed ? chunk->text.n : open;
		dfw_lose(chunk, DFW_TOO_LONG, e->offset);
	}
	text_char(&chunk->text, '}');
	tabletext_free(&a.seen);
	arena_free(&names);
}
