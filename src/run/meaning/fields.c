/* Fields of one event: parts of the class name, payloads decoded by a layout, references to fields and the
 * texts composed of them, and series of counters.  Hot: called for each event with such a plan. */
#include <inttypes.h>
#include <math.h>

#include "base/cursor.h"
#include "base/numbers.h"
#include "base/scan.h"
#include "check/rules.h"
#include "format/fields_json.h"
#include "run/engine_losses.h"
#include "run/meaning/interpret.h"

/* ---- parts of the class name ---- */

void interpret_class_parts(struct interpret *in, struct batch *b, struct event *e)
{
	const uint32_t n = e->cls->nparts;
	uint32_t to = e->nfields;

	if (n > UINT16_MAX - to) {
		ledger_add(&in->pairing.ledger, &engine_losses[ENGINE_LOSS_PARTS_LEFT_OUT], e->offset, n);
		return;
	}
	struct field *const fields = batch_fields(b, to + n);
	if (fields == NULL)
		return;
	memcpy(fields, b->fields + e->first_field, to * sizeof *fields);
	for (uint32_t i = 0; i < n; i++) {
		if (field_find(b->fields + e->first_field, e->nfields, e->cls->parts[i].name) != NULL)
			ledger_add(&in->pairing.ledger, &engine_losses[ENGINE_LOSS_PARTS_LEFT_OUT], e->offset,
			           1);
		else
			fields[to++] = e->cls->parts[i];
	}
	batch_set_fields(b, e, (uint16_t)to);
}

/* ---- payloads ---- */

#define LIST_MAX 65536U /* values of a repeated field; a value takes more memory than its bytes */

/* Reads the remaining values as a list. */
static void read_list(struct batch *b, struct cursor *c, uint8_t type, struct value *v)
{
	const size_t left = cursor_left(c) / plan_width(type);
	const uint32_t n = left < LIST_MAX ? (uint32_t)left : LIST_MAX;
	struct value *const list = arena_alloc(&b->scratch, n * sizeof *list);

	*v = (struct value){ .type = VALUE_LIST, .count = list != NULL ? n : 0, .values = list };
	for (uint32_t i = 0; i < v->count; i++)
		list[i] = interpret_value_at(c->p + i * plan_width(type), type, c->big);
	c->p += n * plan_width(type);
}

/* Reads one value.  Returns false if bytes are missing. */
static bool read_value(struct batch *b, struct cursor *c, const struct plan_layout_field *f, struct value *v)
{
	const uint32_t left = (uint32_t)cursor_left(c);

	if (f->type == VALUE_BYTES) {
		*v = (struct value){ .type = VALUE_BYTES, .count = left, .p = c->p };
		c->p = c->end;
		return true;
	}
	if (f->type == VALUE_STRING) {
		struct slice text;
		if (!textscan_cstring(c->p, c->end, &text))
			return false;
		*v = value_string(text);
		c->p = text.p + text.n + 1;
		return true;
	}
	if (plan_width(f->type) == 0)
		return false;
	if (f->repeated) {
		read_list(b, c, f->type, v);
		return true;
	}
	if (left < plan_width(f->type))
		return false;
	*v = interpret_value_at(c->p, f->type, c->big);
	c->p += plan_width(f->type);
	return true;
}

static void check_size(const struct interpret *in, const struct batch *b, const struct event *e,
                       const struct plan *m, uint32_t size, uint32_t lacking, size_t rest)
{
	struct quoted q, q2;

	if (in->checks_payloads)
		return;
	struct findings *const findings = interpret_findings(b, e);
	if (lacking < m->nlayout)
		finding_add(findings, &input_rules[INPUT_RULE_PAYLOAD_SHORT], e->offset, 0,
		            "an event of %s: %" PRIu32 " bytes of payload end before field %s is whole",
		            quoted(&q, e->cls->name), size, quoted(&q2, m->layout[lacking].name));
	else if (rest > 0)
		finding_add(findings, &input_rules[INPUT_RULE_PAYLOAD_LONG], e->offset, 0,
		            "an event of %s: %" PRIu32 " bytes of payload, its fields take %zu of them",
		            quoted(&q, e->cls->name), size, size - rest);
}

/* Returns the payload of the event, or NULL. */
static const struct field *find_payload(const struct batch *b, const struct event *e, const struct plan *m)
{
	const struct field *const first = b->fields + e->first_field;

	for (uint32_t i = 0; i < e->nfields; i++)
		if (first[i].value.type == VALUE_BYTES && slice_equal(first[i].name, m->payload))
			return &first[i];
	return NULL;
}

/* Decodes a payload of the right size into the only fields of the event. */
static void decode_fixed(struct batch *b, struct event *e, const struct plan *m, const char *p)
{
	const bool big = (e->flags & EVENT_BIG) != 0;
	struct field *const to = batch_event_fields(b, e, (uint16_t)m->nlayout);

	for (uint32_t i = 0; to != NULL && i < m->nlayout; i++) {
		to[i] = (struct field){ m->layout[i].name, interpret_value_at(p, m->layout[i].type, big) };
		p += plan_width(m->layout[i].type);
	}
}

void interpret_layout(const struct interpret *in, struct batch *b, struct event *e, const struct plan *m)
{
	const struct field *from = find_payload(b, e, m);
	const uint32_t at = from != NULL ? (uint32_t)(from - (b->fields + e->first_field)) : e->nfields;
	const struct slice bytes = from != NULL ? value_text(&from->value) : slice_of("", 0);
	struct cursor c = cursor_on(bytes.p, bytes.p + bytes.n, (e->flags & EVENT_BIG) != 0);
	uint32_t n = at, i = 0;

	if (from == NULL && m->nlayout == 0)
		return;
	if (e->nfields == 1 && !m->layout_open && bytes.n == m->layout_size && m->nlayout < UINT16_MAX) {
		decode_fixed(b, e, m, bytes.p);
		return;
	}
	struct field *const to = (uint64_t)e->nfields + m->nlayout < UINT16_MAX
	                             ? batch_fields(b, e->nfields + m->nlayout + 1)
	                             : NULL;
	if (to == NULL)
		return; /* the payload remains as bytes */
	const struct field *const old = b->fields + e->first_field;
	array_copy(to, old, at * sizeof *to);
	for (; i < m->nlayout; i++, n++) {
		to[n].name = m->layout[i].name;
		if (!read_value(b, &c, &m->layout[i], &to[n].value))
			break;
	}
	check_size(in, b, e, m, bytes.n, i, cursor_left(&c));
	if (cursor_left(&c) > 0)
		to[n++] =
		    (struct field){ SLICE_LIT("rest"),
			            { .type = VALUE_BYTES, .count = (uint32_t)cursor_left(&c), .p = c.p } };
	if (at + 1U < e->nfields) {
		memcpy(to + n, old + at + 1, (e->nfields - at - 1U) * sizeof *to);
		n += e->nfields - at - 1U;
	}
	batch_set_fields(b, e, (uint16_t)n);
}

/* ---- references ---- */

#define PIECES 16        /* texts and references of a composed text that are joined at a time */
#define TEXT_BYTES 4096U /* max bytes of a composed text; a single reference is not cut */

const struct value *interpret_field(const struct batch *b, const struct event *e, struct slice name)
{
	const struct value *const own = interpret_own_field(b, e, name);
	const struct field *const part = own == NULL ? field_find(e->cls->parts, e->cls->nparts, name) : NULL;

	return part != NULL ? &part->value : own;
}

/* Returns the i-th field of a reference, or NULL if it is missing or absent. */
static const struct value *ref_field(const struct batch *b, const struct event *e, const struct plan_ref *r,
                                     uint32_t i)
{
	const struct value *const v = interpret_field(b, e, r->field[i]);

	return v == NULL || (r->none[i].n > 0 && interpret_is_none(&r->none[i], v)) ? NULL : v;
}

struct value interpret_look_up(const struct interpret *in, const struct event *e, const struct plan_ref *r,
                               struct value v, uint64_t key2)
{
	uint64_t key1;

	for (uint32_t i = 0; i < r->ntables && v.type != VALUE_NONE; i++, key2 = 0) {
		if (!interpret_number(&v, &key1))
			return (struct value){ .type = VALUE_NONE };
		v = definitions_get(&in->trace->definitions, r->tables[i],
		                    interpret_scope(in, e, r->tables[i]), key1, key2);
	}
	return v;
}

struct value interpret_ref(const struct interpret *in, const struct batch *b, const struct event *e,
                           const struct plan_ref *r)
{
	const struct value none = { .type = VALUE_NONE };
	const struct value *const first = r->nfields > 0 ? ref_field(b, e, r, 0) : NULL;
	uint64_t key2 = 0;

	if (first == NULL || r->ntables == 0)
		return first != NULL ? *first : none;
	if (r->nfields > 1) {
		const struct value *const second = ref_field(b, e, r, 1);
		if (second == NULL || !interpret_number(second, &key2))
			return none;
	}
	return interpret_look_up(in, e, r, *first, key2);
}

/* ---- texts ---- */

/* Returns a value as text, p NULL if it has none.  Numbers are written to `to`, of DECIMAL_F64_MAX bytes. */
static struct slice piece_of(const struct value *v, char *to)
{
	const bool real = v->type == VALUE_F32 || v->type == VALUE_F64;

	if (v->type == VALUE_STRING)
		return value_text(v);
	const char *const end = real && !isfinite(v->f64) ? to : fields_json_scalar(to, v);
	if (end == to)
		return SLICE_NONE;
	return (struct slice){ to, (uint32_t)(end - to), SLICE_UTF8 | SLICE_JSON };
}

/* Concatenates pieces; longer texts are cut. */
static struct slice concatenate(struct arena *a, const struct slice *pieces, uint32_t n)
{
	uint32_t flags = SLICE_UTF8 | SLICE_JSON;
	uint64_t size = 0;

	for (uint32_t i = 0; i < n; i++) {
		flags &= pieces[i].n > 0 ? pieces[i].flags : flags;
		size += pieces[i].n;
	}
	if (size > TEXT_BYTES) {
		size = TEXT_BYTES;
		flags = 0;
	}
	char *const p = arena_alloc(a, (size_t)size);
	uint32_t at = 0;
	if (p == NULL)
		return SLICE_NONE;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t left = (uint32_t)size - at, part = pieces[i].n < left ? pieces[i].n : left;
		array_copy(p + at, pieces[i].p, part);
		at += part;
	}
	return (struct slice){ p, at, flags };
}

/* Handles a template of one reference and no text, which needs no copy. */
static bool take_reference(const struct interpret *in, struct batch *b, const struct event *e,
                           const struct plan_ref *r, struct slice *text, bool *lasting)
{
	const struct value v = interpret_ref(in, b, e, r);
	char number[DECIMAL_F64_MAX];
	const struct slice s = piece_of(&v, number);

	if (s.p == NULL)
		return false;
	*lasting = v.type == VALUE_STRING && /* definitions stay */
	           (r->ntables > 0 || (v.flags & SLICE_STAYS) != 0);
	*text = s.p == number ? arena_copy(&b->scratch, s) : s;
	return text->p != NULL;
}

bool interpret_template(const struct interpret *in, struct batch *b, const struct event *e,
                        const struct plan_template *t, struct slice *text, bool *lasting)
{
	char numbers[PIECES][DECIMAL_F64_MAX];
	struct slice pieces[PIECES];
	uint32_t n = 0;

	if (t->nparts == 1 && t->parts[0].ref.nfields == 0) {
		*text = t->parts[0].text;
		*lasting = true;
		return true;
	}
	if (t->nparts == 1 && t->parts[0].text.n == 0)
		return take_reference(in, b, e, &t->parts[0].ref, text, lasting);
	*lasting = false;
	for (uint32_t i = 0; i < t->nparts; i++) {
		const struct plan_part *const part = &t->parts[i];
		if (n + 2 > PIECES) {
			pieces[0] = concatenate(&b->scratch, pieces, n);
			n = 1;
		}
		if (part->text.n > 0)
			pieces[n++] = part->text;
		if (part->ref.nfields == 0)
			continue;
		const struct value v = interpret_ref(in, b, e, &part->ref);
		pieces[n] = piece_of(&v, numbers[n]);
		if (pieces[n++].p == NULL)
			return false;
	}
	*text = concatenate(&b->scratch, pieces, n);
	return text->p != NULL;
}

/* ---- series of counters ---- */

static bool is_number(const struct value *v)
{
	return v->type >= VALUE_U8 && v->type <= VALUE_F64;
}

/* Returns the number of series of a field: for a list of numbers its length. */
static uint32_t count_series(const struct plan *m, const struct field *f)
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

/* Returns the name that the vocabulary's table has for an index of a list; p NULL: none. */
static struct slice series_name(const struct interpret *in, const struct event *e, const struct plan *m,
                                uint32_t i)
{
	if (!m->has_series)
		return SLICE_NONE;
	const struct value v =
	    definitions_get(&in->trace->definitions, m->series, interpret_scope(in, e, m->series), i, 0);
	return v.type == VALUE_STRING ? value_text(&v) : SLICE_NONE;
}

/* Adds a field for each value of a list, named by the table, else "NAME 1", "NAME 2" ... */
static void add_series(const struct interpret *in, struct batch *b, const struct event *e,
                       const struct plan *m, const struct field *list, struct field *to)
{
	for (uint32_t i = 0; i < list->value.count; i++) {
		struct slice name = series_name(in, e, m, i);
		if (name.p == NULL) {
			char digits[DECIMAL_U64_MAX];
			name = ARENA_JOIN(&b->scratch, list->name, SLICE_LIT(" "),
			                  decimal_slice(digits, i + UINT64_C(1)));
		}
		to[i] = (struct field){ name, list->value.values[i] };
	}
}

void interpret_series(const struct interpret *in, struct batch *b, struct event *e, const struct plan *m)
{
	uint64_t all = 0;
	uint32_t n = 0;

	e->phase = PHASE_COUNTER;
	for (uint32_t i = 0; i < e->nfields; i++)
		all += count_series(m, &b->fields[e->first_field + i]);
	if (all > UINT16_MAX)
		return; /* too many series: the fields remain unchanged */
	struct field *const to = batch_fields(b, (uint32_t)all);
	if (to == NULL)
		return;
	for (uint32_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		const uint32_t series = count_series(m, f);
		if (series > 0 && f->value.type != VALUE_LIST)
			to[n] = *f;
		else if (series > 0)
			add_series(in, b, e, m, f, to + n);
		n += series;
	}
	batch_set_fields(b, e, (uint16_t)n);
}
