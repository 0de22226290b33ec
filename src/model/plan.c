/* Plans of classes: parts of class names, compilation to field numbers, and call stacks.  Once per class,
 * except the functions for call stacks. */
#include "model/plan.h"

#include "base/match.h"
#include "base/numbers.h"
#include "base/scan.h"
#include "json/number.h"
#include "model/call_stack.h"
#include "model/event.h"
#include "model/event_traits.h"
#include "model/trace.h"

/* ---- class parts ---- */

/* The last offset of the text in name[0, end); UINT32_MAX: none. */
static uint32_t last_place(struct slice name, uint32_t end, struct slice text)
{
	for (uint32_t i = end; i >= text.n; i--)
		if (memcmp(name.p + i - text.n, text.p, text.n) == 0)
			return i - text.n;
	return UINT32_MAX;
}

/* Whether a name has the shape: its text in place, and at least one byte for each reference; the first
 * reference takes as much as it can.  Sets part[i] to the text of the i-th part's reference, p NULL if it has
 * none. */
static bool match_shape(const struct plan_template *shape, struct slice name, struct slice *part)
{
	uint32_t end = name.n;

	for (uint32_t i = shape->nparts; i-- > 0;) {
		const struct plan_part *const p = &shape->parts[i];
		const bool takes = p->ref.nfields > 0;
		const uint32_t n = p->text.n;
		uint32_t at = 0;
		if (end < n + takes)
			return false;
		if (i > 0)
			at = takes ? last_place(name, end - 1, p->text) : end - n;
		if (at == UINT32_MAX || (n > 0 && memcmp(name.p + at, p->text.p, n) != 0) ||
		    (i == 0 && !takes && end > n))
			return false;
		part[i] = takes ? textscan_slice(name.p + at + n, end - at - n) : SLICE_NONE;
		end = at;
	}
	return true;
}

/* A number of 19 digits fits 64 bits; with a leading 0 it is a text. */
static struct value value_of(struct slice text)
{
	uint64_t number;

	return text.n <= 19 && (text.n == 1 || text.p[0] != '0') && json_digits_any(text.p, text.n, &number)
	           ? value_u64(number)
	           : value_string(text);
}

/* Without a matching shape there are no parts. */
static bool find_parts(struct class *cls, const struct plan *m, struct arena *arena)
{
	struct slice part[PLAN_MAX_PARTS];
	uint32_t shape = 0, n = 0;

	while (shape < m->nshapes && !match_shape(&m->shapes[shape], cls->name, part))
		shape++;
	if (shape == m->nshapes)
		return true;
	const struct plan_template *const t = &m->shapes[shape];
	struct field *const fields = arena_alloc(arena, t->nparts * sizeof *fields);
	if (fields == NULL)
		return false;
	for (uint32_t i = 0; i < t->nparts; i++)
		if (part[i].p != NULL)
			fields[n++] = (struct field){ t->parts[i].ref.field[0], value_of(part[i]) };
	cls->parts = fields;
	cls->nparts = n;
	return true;
}

struct made {
	char text[CLASS_CATEGORY_MAX];
	uint32_t n;
	bool cut;
};

/* Appends a text up to the capacity, in whole characters. */
static void add(struct made *to, struct slice text)
{
	const uint32_t space = to->cut ? 0 : CLASS_CATEGORY_MAX - to->n;
	const uint32_t n = (uint32_t)utf8_cut(text.p, text.n, space);

	to->cut |= n < text.n;
	if (n > 0)
		memcpy(to->text + to->n, text.p, n);
	to->n += n;
}

/* Returns false if a part is missing. */
static bool make_text(struct made *to, const struct class *cls, const struct plan_template *t)
{
	char digits[24];

	*to = (struct made){ .n = 0 };
	for (uint32_t i = 0; i < t->nparts; i++) {
		add(to, t->parts[i].text);
		if (t->parts[i].ref.nfields == 0)
			continue;
		const struct field *const f = field_find(cls->parts, cls->nparts, t->parts[i].ref.field[0]);
		if (f == NULL)
			return false;
		if (f->value.type == VALUE_STRING)
			add(to, value_text(&f->value));
		else
			add(to, decimal_slice(digits, f->value.u64));
	}
	return to->n > 0;
}

bool class_parts_find(struct class *cls, const struct plan *m, struct arena *arena)
{
	struct made made;

	if (m->nshapes > 0 && !find_parts(cls, m, arena))
		return false;
	for (uint32_t i = 0; i < m->ncategories; i++) {
		if (!make_text(&made, cls, &m->categories[i]))
			continue;
		const struct slice copy = arena_copy(arena, textscan_slice(made.text, made.n));
		if (copy.p != NULL)
			cls->category = copy;
		return copy.p != NULL;
	}
	return true;
}

/* ---- class plan ---- */

static bool is_integer(uint8_t type)
{
	return (type >= VALUE_U8 && type <= VALUE_I64) || type == VALUE_ADDRESS;
}

static uint32_t field_named(const struct class_plan_fields *fields, struct slice name)
{
	return fields != NULL && name.p != NULL ? fields->find(fields->ctx, name) : CLASS_PLAN_NO_FIELD;
}

static uint32_t integer_named(const struct class_plan_fields *fields, struct slice name)
{
	const uint32_t field = field_named(fields, name);

	return field != CLASS_PLAN_NO_FIELD && is_integer(fields->type(fields->ctx, field))
	           ? field
	           : CLASS_PLAN_NO_FIELD;
}

/* The field of a template that is a single reference; else NULL. */
static const struct plan_ref *only_field(const struct plan_template *t)
{
	return t->nparts == 1 && t->parts[0].text.n == 0 && t->parts[0].ref.nfields == 1 &&
	               t->parts[0].ref.ntables <= 1
	           ? &t->parts[0].ref
	           : NULL;
}

/* The first alternative whose field exists and has a suitable type. */
static void take_name(struct class_plan *p, const struct class_plan_fields *fields,
                      const struct plan_ref *ref)
{
	const uint32_t field = field_named(fields, ref->field[0]);

	if (field == CLASS_PLAN_NO_FIELD || p->name != CLASS_PLAN_NO_FIELD || p->label != CLASS_PLAN_NO_FIELD)
		return;
	const uint8_t type = fields->type(fields->ctx, field);
	if (ref->ntables == 1 && is_integer(type))
		p->label = field;
	else if (ref->ntables == 0 && type == VALUE_STRING)
		p->name = field;
}

static void compile_names(struct class_plan *p, const struct class_plan_fields *fields)
{
	const struct plan *const m = p->plan;

	if (m->nnames > 0 && m->names[0].nparts == 1 && m->names[0].parts[0].ref.nfields == 0) {
		const struct slice text = m->names[0].parts[0].text;
		p->fixed_name = textscan_slice(text.p, text.n);
		p->fixed_name.flags |= SLICE_STAYS;
		p->says |= CLASS_PLAN_FIXED_NAME;
		return;
	}
	for (uint32_t i = 0; i < m->nnames; i++) {
		const struct plan_ref *const ref = only_field(&m->names[i]);
		const uint8_t table = ref != NULL && ref->ntables == 1 ? ref->tables[0] : p->name_table;
		if (ref == NULL || (p->name_table != PLAN_NO_TABLE && table != p->name_table)) {
			p->says |= CLASS_PLAN_FIELDS;
			return;
		}
		p->name_table = table;
		p->says |= CLASS_PLAN_NAME;
		take_name(p, fields, ref);
	}
}

static void compile_track(struct class_plan *p, const struct class_plan_fields *fields)
{
	const struct plan *const m = p->plan;
	const struct plan_track *const t = m->tracks;

	if (m->ntracks == 0)
		return;
	if (m->ntracks > 1 || t->child || t->name.nparts != 1 || t->name.parts->ref.nfields != 1 ||
	    t->name.parts->ref.ntables != 0 || t->id.nfields != 1 || t->id.ntables != 0 ||
	    !slice_equal(t->id.field[0], t->name.parts->ref.field[0])) {
		p->says |= CLASS_PLAN_FIELDS;
		return;
	}
	p->says |= CLASS_PLAN_THREAD;
	p->thread = integer_named(fields, t->id.field[0]);
	p->thread_prefix = t->name.parts->text;
}

static void compile_definition(struct class_plan *p, const struct class_plan_fields *fields)
{
	const struct plan *const m = p->plan;
	const struct plan_define *const d = m->defines;

	if (m->ndefines == 0)
		return;
	if (m->ndefines > 1 || d->nkeys != 1 || d->value.nfields != 1 || d->value.ntables != 0) {
		p->says |= CLASS_PLAN_FIELDS;
		return;
	}
	p->says |= CLASS_PLAN_DEFINITION;
	p->key = integer_named(fields, d->key[0]);
	p->value = field_named(fields, d->value.field[0]);
	p->table = d->table;
}

void class_plan_compile(struct class_plan *p, const struct plan *m, const struct class_plan_fields *fields)
{
	*p = (struct class_plan){ .plan = m, .name_table = PLAN_NO_TABLE, .table = PLAN_NO_TABLE };
	p->duration = p->name = p->label = p->thread = CLASS_PLAN_NO_FIELD;
	p->key = p->value = p->epoch = p->facts = CLASS_PLAN_NO_FIELD;
	if (m == NULL)
		return;
	compile_names(p, fields);
	compile_track(p, fields);
	compile_definition(p, fields);
	if (m->phase == PLAN_SPAN) {
		p->says |= CLASS_PLAN_DURATION;
		p->duration = integer_named(fields, m->duration);
	}
	p->epoch = field_named(fields, m->epoch);
	p->facts = field_named(fields, m->facts);
	p->says |= m->epoch.p != NULL ? CLASS_PLAN_EPOCH : 0U;
	p->says |= m->facts.p != NULL ? CLASS_PLAN_FACTS : 0U;
	if (m->key.nfields > 0 || m->flow_name.p != NULL || m->phase == PLAN_COUNTER)
		p->says |= CLASS_PLAN_FIELDS;
	const bool own = m->phase == PLAN_AS_READ || m->phase == PLAN_SPAN || m->phase == PLAN_INSTANT ||
	                 m->phase == PLAN_STRUCTURE;
	if (!own || m->async || m->has_layout || m->named.p != NULL || m->nshapes > 0)
		p->says |= CLASS_PLAN_MORE;
}

/* ---- plan ---- */

struct slice plan_word(const struct plan *m, const char *name)
{
	for (uint32_t i = 0; i < m->nwords; i++)
		if (slice_is(m->words[i].name, name))
			return value_text(&m->words[i].value);
	return SLICE_NONE;
}

static bool is_field(struct slice name, struct slice *field)
{
	if (name.p == NULL || !slice_equal(name, *field))
		return false;
	field->p = name.p;
	return true;
}

static bool ref_uses(const struct plan_ref *r, struct slice *field)
{
	for (uint32_t i = 0; i < r->nfields; i++)
		if (is_field(r->field[i], field))
			return true;
	return false;
}

static bool template_uses(const struct plan_template *t, struct slice *field)
{
	for (uint32_t i = 0; i < t->nparts; i++)
		if (ref_uses(&t->parts[i].ref, field))
			return true;
	return false;
}

static bool define_uses(const struct plan_define *d, struct slice *field)
{
	for (uint32_t i = 0; i < d->nkeys; i++)
		if (is_field(d->key[i], field))
			return true;
	return ref_uses(&d->value, field);
}

static bool parts_use(const struct plan *m, struct slice *field)
{
	bool uses = false;

	for (uint32_t i = 0; i < m->nnames; i++)
		uses |= template_uses(&m->names[i], field);
	for (uint32_t i = 0; i < m->ntracks; i++)
		uses |= template_uses(&m->tracks[i].name, field) || ref_uses(&m->tracks[i].number, field) ||
		        ref_uses(&m->tracks[i].id, field);
	for (uint32_t i = 0; i < m->ndefines; i++)
		uses |= define_uses(&m->defines[i], field);
	return uses;
}

static bool bytes_use(const struct plan *m, struct slice *field)
{
	for (uint32_t i = 0; i < m->nbytes; i++)
		for (uint32_t k = 0; k < m->bytes[i].nfields; k++)
			if (is_field(m->bytes[i].field[k], field))
				return true;
	return false;
}

bool plan_uses(const struct plan *m, struct slice *field)
{
	for (; m != NULL; m = m->otherwise) {
		const struct slice single[] = { m->duration, m->flow_out,
			                        m->flow_in,  m->epoch,
			                        m->facts,    m->has_layout ? m->payload : m->facts };
		for (size_t i = 0; i < COUNT_OF(single); i++)
			if (is_field(single[i], field))
				return true;
		if (ref_uses(&m->key, field) || parts_use(m, field) || bytes_use(m, field))
			return true;
		if (m->phase == PLAN_COUNTER && m->nvalues == 0)
			return true;
		for (uint32_t i = 0; m->phase == PLAN_COUNTER && i < m->nvalues; i++)
			if (is_field(m->values[i], field))
				return true;
	}
	return false;
}

/* ---- bytes ---- */

/* The field that counts the bytes of an event of this name; NULL: none. */
static const struct plan_bytes *bytes_of(const struct plan *m, struct slice name)
{
	for (uint32_t i = 0; i < m->nbytes; i++) {
		const struct plan_bytes *const bytes = &m->bytes[i];
		uint32_t k = 0;
		while (k < bytes->nnamed && !glob_fits(bytes->named[k], name))
			k++;
		if (k < bytes->nnamed || bytes->nnamed == 0)
			return bytes;
	}
	return NULL;
}

/* All bytes of a name of at most PLAN_BYTES_NAME: the first, the last, and the second word, which may
 * overlap. */
static inline void name_words(struct slice name, uint64_t words[PLAN_BYTES_NAME / 8])
{
	uint32_t half[2];

	words[0] = words[1] = words[2] = 0;
	if (name.n >= 8) {
		memcpy(&words[0], name.p, 8);
		memcpy(&words[1], name.p + name.n - 8, 8);
		if (name.n > 16)
			memcpy(&words[2], name.p + 8, 8);
	} else if (name.n >= 4) {
		memcpy(&half[0], name.p, 4);
		memcpy(&half[1], name.p + name.n - 4, 4);
		words[0] = (uint64_t)half[1] << 32 | half[0];
	} else {
		for (uint32_t i = 0; i < name.n; i++)
			words[0] = words[0] << 8 | (unsigned char)name.p[i];
	}
}

const struct plan_bytes *plan_bytes_cached(struct plan_bytes_cache *c, const struct class *cls,
                                           struct slice name)
{
	uint64_t words[PLAN_BYTES_NAME / 8];

	if (name.n == 0 || name.n > PLAN_BYTES_NAME)
		return bytes_of(cls->plan, name);
	name_words(name, words);
	const uint64_t mix = (words[0] ^ words[1] >> 3 ^ name.n) + cls->index * UINT64_C(0x85ebca6b);
	struct plan_bytes_known *const k =
	    &c->known[(mix * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - PLAN_BYTES_BITS)];
	if (k->cls != cls || k->n != name.n || k->name[0] != words[0] || k->name[1] != words[1] ||
	    k->name[2] != words[2]) {
		*k = (struct plan_bytes_known){ .cls = cls, .n = name.n };
		memcpy(k->name, words, sizeof words);
		k->bytes = bytes_of(cls->plan, name);
	}
	return k->bytes;
}

/* ---- call stacks ---- */

bool call_stack_get(struct call_stack *stack, const struct batch *b, const struct event *e)
{
	const struct field *const fields = b->fields + e->first_field;

	if (!call_stack_of_class(e->cls))
		return false;
	for (uint32_t i = 0; i < e->nfields; i++) {
		if (fields[i].value.type != VALUE_LIST || !slice_equal(fields[i].name, e->cls->plan->stack))
			continue;
		*stack = (struct call_stack){ fields[i].value.values, fields[i].value.count };
		return true;
	}
	return false;
}

struct slice call_stack_frame(const struct call_stack *stack, uint32_t i, char text[CALL_STACK_ADDRESS])
{
	const struct value *const v = &stack->frames[i];

	if (v->type == VALUE_STRING)
		return value_text(v);
	if (v->type < VALUE_U8 || v->type > VALUE_ADDRESS || v->type == VALUE_F32 || v->type == VALUE_F64)
		return SLICE_LIT("?");
	return (struct slice){ text, (uint32_t)(decimal_hex(text, v->u64) - text), SLICE_UTF8 | SLICE_JSON };
}
