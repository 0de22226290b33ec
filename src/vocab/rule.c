/* A rule is one item of `events`: it names classes, and states the meaning of their events.  A function for
 * each key fills in a part of a struct vocab_row, which the table at the end names. */
#include "vocab/private.h"

#include "base/memory.h"
#include "model/value.h"

/* ---- layout ---- */

static const char *const type_names[] = { "u8",  "u16", "u32", "u64",     "i8",     "i16",   "i32",
	                                  "i64", "f32", "f64", "address", "string", "bytes", NULL };

static const uint8_t types[] = { VALUE_U8,      VALUE_U16,    VALUE_U32,  VALUE_U64, VALUE_I8,
	                         VALUE_I16,     VALUE_I32,    VALUE_I64,  VALUE_F32, VALUE_F64,
	                         VALUE_ADDRESS, VALUE_STRING, VALUE_BYTES };

/* *type: the index in types[].  *repeated: "[]" follows the name. */
static bool read_type(struct vocab_draft *d, const struct yaml_node *node, uint32_t *type, bool *repeated)
{
	struct yaml_node one = *node;

	*repeated = node->kind == NODE_SCALAR && node->text.n > 2 &&
	            memcmp(node->text.p + node->text.n - 2, "[]", 2) == 0;
	if (*repeated)
		one.text.n -= 2;
	if (!yaml_word(&d->file, &one, "a type", type_names, type))
		return false;
	if (!*repeated || plan_width(types[*type]) > 0)
		return true;
	return yaml_bad(&d->file, node, "only types of fixed size are repeated, not %s", type_names[*type]);
}

static bool has_layout_field(const struct plan *m, const struct plan_layout_field *fields, struct slice name)
{
	for (uint32_t i = 0; i < m->nlayout; i++)
		if (slice_equal(fields[i].name, name))
			return true;
	return false;
}

static bool read_layout_field(struct vocab_draft *d, const struct yaml_node *key, struct plan *m,
                              struct plan_layout_field *fields)
{
	struct plan_layout_field *const f = &fields[m->nlayout];
	const struct plan_layout_field *const previous = m->nlayout > 0 ? f - 1 : NULL;
	struct quoted q;
	uint32_t type;

	if (!vocab_text(d, key, "the name of a field", &f->name) ||
	    !read_type(d, key->next, &type, &f->repeated))
		return false;
	if (has_layout_field(m, fields, f->name))
		return yaml_bad(&d->file, key, "the layout has two fields named %s", quoted(&q, f->name));
	if (previous != NULL && (previous->repeated || previous->type == VALUE_BYTES))
		return yaml_bad(&d->file, key, "%s follows a field that takes the rest of the payload",
		                quoted(&q, f->name));
	f->type = types[type];
	if (f->repeated || plan_width(f->type) == 0)
		m->layout_open = true;
	else
		m->layout_size += plan_width(f->type);
	m->nlayout++;
	return true;
}

/* [a: u8, b: u16] is a list of mappings with one key each; {a: u8, b: u16} is equivalent. */
static bool read_layout(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
{
	struct plan *const m = plan;
	const uint32_t max = value->n < VOCAB_MAX_LAYOUT ? value->n : VOCAB_MAX_LAYOUT;
	struct plan_layout_field *const fields = vocab_alloc(d, max + 1, sizeof *fields);

	if (m->payload.p == NULL)
		m->payload = SLICE_LIT("payload");
	if (fields == NULL)
		return false;
	m->has_layout = true;
	m->layout = fields;
	if (value->kind == NODE_SCALAR)
		return yaml_bad(&d->file, value,
		                "layout is a list of fields with their types, as in [cpu: i32, tag: u64]");
	for (const struct yaml_node *item = value->child; item != NULL; item = item->next) {
		const struct yaml_node *const key = value->kind == NODE_MAP ? item : item->child;
		if (m->nlayout == VOCAB_MAX_LAYOUT)
			return yaml_bad(&d->file, item, "the layout has more than %u fields",
			                VOCAB_MAX_LAYOUT);
		if (value->kind == NODE_LIST && (item->kind != NODE_MAP || item->n != 2))
			yaml_bad(&d->file, item,
			         "a field of the layout is a name and a type, as in cpu: i32");
		else
			read_layout_field(d, key, m, fields);
		if (value->kind == NODE_MAP)
			item = item->next;
	}
	return true;
}

/* ---- track ---- */

struct track_draft {
	struct plan_track track;
	bool named;
};

static bool track_name(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *draft)
{
	struct track_draft *const t = draft;
	uint32_t refs = 0;

	t->named = true;
	if (!vocab_template(d, value, "name", &t->track.name))
		return false;
	for (uint32_t i = 0; i < t->track.name.nparts; i++)
		if (t->track.name.parts[i].ref.nfields > 0) {
			t->track.number = t->track.name.parts[i].ref;
			refs++;
		}
	return refs <= 1 ||
	       yaml_bad(&d->file, value, "the name of a track has one reference at most, this has %u", refs);
}

static bool read_bool(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	return yaml_bool(&d->file, value, what, to);
}

static void read_one_track(struct vocab_draft *d, const struct yaml_node *value, struct plan_track *out)
{
	static const struct vocab_key keys[] = {
		{ "name", track_name, 0 },
		{ "id", vocab_ref, offsetof(struct track_draft, track.id) },
		{ "below", read_bool, offsetof(struct track_draft, track.child) },
	};
	struct track_draft t = { .named = false };

	if (value->kind == NODE_SCALAR)
		track_name(d, value, "name", &t);
	else if (VOCAB_MAP(d, value, "track", keys, &t) && !t.named)
		yaml_bad(&d->file, value, "track has no name");
	*out = t.track;
}

static bool read_track(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
{
	struct plan *const m = plan;
	struct plan_track *const tracks = vocab_alloc(d, yaml_count(value), sizeof *tracks);

	if (tracks == NULL)
		return false;
	m->tracks = tracks;
	for (const struct yaml_node *item = yaml_first(value); item != NULL; item = yaml_after(value, item))
		read_one_track(d, item, &tracks[m->ntracks++]);
	return m->ntracks > 0 || yaml_bad(&d->file, value, "track is an empty list");
}

/* ---- define ---- */

struct define_draft {
	struct plan_define define;
	bool table, key, value;
};

static bool define_table(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *draft)
{
	struct define_draft *const t = draft;
	struct slice name;

	t->table = true;
	return vocab_text(d, value, what, &name) && vocab_table(d, value, name, &t->define.table);
}

static bool define_key(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *draft)
{
	struct define_draft *const t = draft;
	struct vocab_texts fields;

	t->key = true;
	if (!vocab_texts(d, value, what, &fields))
		return false;
	if (fields.n > 2)
		return yaml_bad(&d->file, value, "key is one field or two, not %u", fields.n);
	t->define.nkeys = (uint8_t)fields.n;
	memcpy(t->define.key, fields.list, fields.n * sizeof *fields.list);
	return true;
}

static bool define_value(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *draft)
{
	struct define_draft *const t = draft;

	t->value = true;
	return vocab_ref(d, value, what, &t->define.value) &&
	       (t->define.value.nfields == 1 ||
	        yaml_bad(&d->file, value, "%s takes one field, not two", what));
}

static void read_one_define(struct vocab_draft *d, const struct yaml_node *value, struct plan_define *out)
{
	static const struct vocab_key keys[] = { { "table", define_table, 0 },
		                                 { "key", define_key, 0 },
		                                 { "value", define_value, 0 } };
	struct define_draft t = { .table = false };

	if (VOCAB_MAP(d, value, "define", keys, &t) && !(t.table && t.key && t.value))
		yaml_bad(&d->file, value, "define lacks its %s",
		         !t.table ? "table"
		         : !t.key ? "key"
		                  : "value");
	*out = t.define;
}

static bool read_define(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
{
	struct plan *const m = plan;
	struct plan_define *const defines = vocab_alloc(d, yaml_count(value), sizeof *defines);

	if (defines == NULL)
		return false;
	m->defines = defines;
	for (const struct yaml_node *item = yaml_first(value); item != NULL; item = yaml_after(value, item))
		read_one_define(d, item, &defines[m->ndefines++]);
	return m->ndefines > 0 || yaml_bad(&d->file, value, "define is an empty list");
}

/* ---- flow ---- */

static bool read_flow(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
{
	static const struct vocab_key keys[] = {
		{ "name", vocab_text, offsetof(struct plan, flow_name) },
		{ "out", vocab_text, offsetof(struct plan, flow_out) },
		{ "in", vocab_text, offsetof(struct plan, flow_in) },
	};
	const struct plan *const m = plan;
	const uint64_t mistakes = d->file.mistakes;

	if (!VOCAB_MAP(d, value, what, keys, plan) || d->file.mistakes != mistakes)
		return false;
	if (m->flow_name.p == NULL)
		return yaml_bad(&d->file, value, "flow lacks its name");
	return m->flow_out.p != NULL || m->flow_in.p != NULL ||
	       yaml_bad(&d->file, value, "flow needs out or in: the field that both ends of an arrow share");
}

/* ---- reader ---- */

static bool read_reader(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
{
	struct plan *const m = plan;

	if (value->kind != NODE_MAP)
		return yaml_bad(&d->file, value, "reader is a mapping of words");
	if (value->n / 2 > VOCAB_MAX_READER)
		return yaml_bad(&d->file, value, "reader has more than %u words", VOCAB_MAX_READER);
	struct field *const entries = vocab_alloc(d, value->n / 2 + 1, sizeof *entries);
	if (entries == NULL)
		return false;
	m->words = entries;
	for (const struct yaml_node *key = value->child; key != NULL; key = key->next->next) {
		struct slice name, text;
		if (!vocab_text(d, key, "the name of a word", &name) ||
		    !vocab_text(d, key->next, "a word", &text))
			continue;
		if (plan_word(m, name.p).p != NULL)
			yaml_repeated(&d->file, key);
		else
			entries[m->nwords++] = (struct field){ name, value_string(text) };
	}
	return true;
}

/* ---- name and category of the class ---- */

#define MAX_SEPARATOR 255U /* bytes between two parts */

/* Checks that a template can split a name: it has references with text between them. */
static bool check_shape(struct vocab_draft *d, const struct yaml_node *value, const struct plan_template *t)
{
	uint32_t refs = 0;

	for (uint32_t i = 0; i < t->nparts; i++) {
		const struct plan_part *const p = &t->parts[i];
		refs += p->ref.nfields > 0;
		if (p->ref.ntables > 0)
			return yaml_bad(&d->file, value, "parts names parts: nothing is looked up");
		if (i > 0 && p->ref.nfields > 0 && (p->text.n == 0 || p->text.n > MAX_SEPARATOR))
			return yaml_bad(&d->file, value,
			                "between two parts there are 1 to %u bytes of text, not %u",
			                MAX_SEPARATOR, p->text.n);
	}
	return refs > 0 || yaml_bad(&d->file, value, "parts has no {part} in it");
}

static bool read_parts(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
{
	struct plan *const m = plan;
	bool ok = vocab_templates(d, value, what, &m->shapes, &m->nshapes);

	for (uint32_t i = 0; i < m->nshapes && ok; i++)
		ok = check_shape(d, value, &m->shapes[i]);
	return ok;
}

static bool has_part(const struct plan *m, struct slice name)
{
	for (uint32_t i = 0; i < m->nshapes; i++)
		for (uint32_t k = 0; k < m->shapes[i].nparts; k++)
			if (m->shapes[i].parts[k].ref.nfields > 0 &&
			    slice_equal(m->shapes[i].parts[k].ref.field[0], name))
				return true;
	return false;
}

/* Checks that a category refers only to parts of the class's name, as all events of the class share it. */
static bool check_category(struct vocab_draft *d, const struct yaml_node *value, const struct plan *m,
                           const struct plan_template *t)
{
	struct quoted q;

	for (uint32_t i = 0; i < t->nparts; i++) {
		const struct plan_ref *const ref = &t->parts[i].ref;
		if (ref->nfields > 0 && (ref->ntables > 0 || !has_part(m, ref->field[0])))
			return yaml_bad(&d->file, value, "category can only refer to parts, not to %s",
			                quoted(&q, ref->field[0]));
	}
	return true;
}

static bool read_category(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
{
	struct plan *const m = plan;

	if (value->kind == NODE_SCALAR && memchr(value->text.p, '{', value->text.n) == NULL)
		return vocab_text(d, value, what, &m->category);
	bool ok = vocab_templates(d, value, what, &m->categories, &m->ncategories);
	for (uint32_t i = 0; i < m->ncategories; i++)
		ok &= check_category(d, value, m, &m->categories[i]);
	return ok;
}

/* ---- bytes ---- */

static bool read_globs(struct vocab_draft *d, const struct yaml_node *value, const char *what,
                       struct vocab_texts *globs)
{
	bool ok = vocab_texts(d, value, what, globs);

	for (uint32_t i = 0; i < globs->n; i++)
		ok &= yaml_is_glob(&d->file, value, what, globs->list[i]);
	return ok;
}

static bool read_bytes_named(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct plan_bytes *const bytes = to;
	struct vocab_texts globs = { .n = 0 };
	const bool ok = read_globs(d, value, what, &globs);

	bytes->named = globs.list;
	bytes->nnamed = globs.n;
	return ok;
}

/* Reads a field, or two fields to multiply. */
static bool read_bytes_field(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct plan_bytes *const bytes = to;
	struct vocab_texts fields = { .n = 0 };

	vocab_texts(d, value, "bytes", &fields);
	for (uint32_t i = 0; i < fields.n && i < 2; i++)
		bytes->field[bytes->nfields++] = fields.list[i];
	return fields.n <= 2 || yaml_bad(&d->file, value, "bytes is one field, or the product of two");
}

static bool has_mapping(const struct yaml_node *value)
{
	for (const struct yaml_node *item = yaml_first(value); item != NULL; item = yaml_after(value, item))
		if (item->kind == NODE_MAP)
			return true;
	return false;
}

/* A field, a list of two fields to multiply, or a list of mappings. */
static bool read_bytes(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
{
	static const struct vocab_key keys[] = { { "named", read_bytes_named, 0 },
		                                 { "field", read_bytes_field, 0 } };
	const bool by_name = has_mapping(value);
	const uint32_t n = by_name ? yaml_count(value) : 1;
	struct plan *const m = plan;

	if (n > VOCAB_MAX_BYTES_OF)
		return yaml_bad(&d->file, value, "bytes has more than %u entries", VOCAB_MAX_BYTES_OF);
	struct plan_bytes *bytes = vocab_alloc(d, n, sizeof *bytes);
	if (bytes == NULL)
		return false;
	m->bytes = bytes;
	m->nbytes = n;
	if (!by_name)
		return read_bytes_field(d, value, what, bytes);
	for (const struct yaml_node *item = yaml_first(value); item != NULL;
	     item = yaml_after(value, item), bytes++)
		if (item->kind != NODE_MAP)
			yaml_bad(&d->file, item,
			         "bytes has a field beside mappings; it is field: in a mapping");
		else if (VOCAB_MAP(d, item, what, keys, bytes) && bytes->nfields == 0)
			yaml_bad(&d->file, item, "bytes does not say which field");
	return true;
}

/* ---- which classes ---- */

static bool read_match(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *globs)
{
	const uint32_t n = yaml_count(value);

	if (n > VOCAB_MAX_GLOBS - d->v->nglobs)
		return yaml_bad(&d->file, value,
		                "there are more than %u patterns of match in all; event takes names as they "
		                "are",
		                VOCAB_MAX_GLOBS);
	d->v->nglobs += n;
	return read_globs(d, value, what, globs);
}

static bool read_named(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
{
	struct plan *const m = plan;

	if (vocab_text(d, value, what, &m->named))
		yaml_is_glob(&d->file, value, what, m->named);
	if (d->v->nnamed == VOCAB_MAX_NAMED)
		return yaml_bad(&d->file, value, "there are more than %u rules with named in all",
		                VOCAB_MAX_NAMED);
	d->v->nnamed++;
	return true;
}

/* ---- phases, pairs and states ---- */

static bool read_phase(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *phase)
{
	/* as enum plan_phase, without its first value */
	static const char *const phases[] = { "span",    "begin",   "end",       "state", "state-end",
		                              "instant", "counter", "structure", NULL };
	uint32_t i;

	if (!yaml_word(&d->file, value, what, phases, &i))
		return false;
	*(uint8_t *)phase = (uint8_t)(i + 1);
	return true;
}

static bool read_pair(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *pair)
{
	struct slice ignored;

	return vocab_name_number(d, &d->v->pairs, value, what, pair, &ignored);
}

static bool read_state(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
{
	struct plan *const m = plan;

	d->v->base.stateless = false;
	return vocab_name_number(d, &d->v->states, value, what, &m->state, &m->state_name);
}

/* ---- names, stacks and values ---- */

/* Reads a field, or a mapping from the kind of stacks to the field. */
static bool read_stack(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
{
	static const char *const kinds[] = { "cpu", "off-cpu", "alloc" }; /* from PLAN_STACK_CPU on */
	const struct yaml_node *fields[3];
	struct plan *const m = plan;

	if (value->kind != NODE_MAP)
		return vocab_text(d, value, what, &m->stack);
	if (!yaml_keys(&d->file, value, what, kinds, sizeof kinds[0], 3, fields))
		return false;
	for (uint8_t i = 0; i < 3; i++) {
		if (fields[i] == NULL)
			continue;
		if (m->stack.p != NULL)
			yaml_bad(&d->file, fields[i], "an event has one stack: cpu, off-cpu or alloc");
		m->stack_of = (uint8_t)(PLAN_STACK_CPU + i);
		vocab_text(d, fields[i], kinds[i], &m->stack);
	}
	return true;
}

static bool read_name(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
{
	struct plan *const m = plan;

	return vocab_templates(d, value, what, &m->names, &m->nnames);
}

static bool read_values(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
{
	struct vocab_texts values = { .n = 0 };
	struct plan *const m = plan;
	const bool ok = vocab_texts(d, value, what, &values);

	m->values = values.list;
	m->nvalues = values.n;
	return ok;
}

static bool read_series(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
{
	struct slice table = { NULL, 0, 0 };
	struct plan *const m = plan;

	vocab_text(d, value, what, &table);
	m->has_series = table.p != NULL && vocab_table(d, value, table, &m->series);
	return m->has_series;
}

/* ---- the whole rule ---- */

#define PHASE(name) (1U << PLAN_##name)
#define BEGIN_OR_END (PHASE(BEGIN) | PHASE(END))
#define AT(member) offsetof(struct vocab_row, member)

/* In reading order: the phase before the keys that are checked by it; the payload before the layout, which
 * sets a default payload; the parts before the category, which can refer to them. */
static const struct rule_key {
	struct vocab_key key;
	unsigned phases;       /* a bit for each phase in which the key has an effect; 0: in all */
	const char *with;      /* names of these phases */
	const char *not_named; /* why the key does not go with `named`; NULL: it does */
} rule_keys[] = {
	{ { "event", vocab_texts, AT(exact) }, 0, NULL, NULL },
	{ { "match", read_match, AT(globs) }, 0, NULL, NULL },
	{ { "fields", vocab_texts, AT(fields) }, 0, NULL, NULL },
	{ { "named", read_named, AT(plan) }, 0, NULL, NULL },
	{ { "phase", read_phase, AT(plan.phase) }, 0, NULL, NULL },
	{ { "pair", read_pair, AT(plan.pair) }, BEGIN_OR_END, "begin or end", NULL },
	{ { "key", vocab_ref, AT(plan.key) }, BEGIN_OR_END, "begin or end", NULL },
	{ { "async", read_bool, AT(plan.async) }, PHASE(SPAN) | BEGIN_OR_END, "span, begin or end", NULL },
	{ { "waiting", read_bool, AT(plan.waiting) },
	  PHASE(SPAN) | PHASE(BEGIN) | PHASE(STATE),
	  "span, begin or state",
	  "it applies to all events of a class" },
	{ { "state", read_state, AT(plan) }, PHASE(STATE) | PHASE(STATE_END), "state or state-end", NULL },
	{ { "parts", read_parts, AT(plan) }, 0, NULL, "the events of a class share them" },
	{ { "stack", read_stack, AT(plan) }, 0, NULL, NULL },
	{ { "category", read_category, AT(plan) }, 0, NULL, "the events of a class share theirs" },
	{ { "name", read_name, AT(plan) }, 0, NULL, NULL },
	{ { "track", read_track, AT(plan) }, 0, NULL, NULL },
	{ { "duration", vocab_text, AT(plan.duration) }, PHASE(SPAN), "span", NULL },
	{ { "values", read_values, AT(plan) }, PHASE(COUNTER), "counter", NULL },
	{ { "flow", read_flow, AT(plan) }, 0, NULL, NULL },
	{ { "payload", vocab_text, AT(plan.payload) }, 0, NULL, NULL },
	{ { "layout", read_layout, AT(plan) }, 0, NULL, NULL },
	{ { "define", read_define, AT(plan) }, 0, NULL, NULL },
	{ { "epoch", vocab_text, AT(plan.epoch) }, 0, NULL, NULL },
	{ { "facts", vocab_text, AT(plan.facts) }, 0, NULL, NULL },
	{ { "reader", read_reader, AT(plan) }, 0, NULL, NULL },
	{ { "series", read_series, AT(plan) }, PHASE(COUNTER), "counter", NULL },
	{ { "bytes", read_bytes, AT(plan) },
	  PHASE(SPAN) | PHASE(BEGIN),
	  "span or begin",
	  "it has names of its own" },
};

#define RULE_KEYS (COUNT_OF(rule_keys))

/* Reads the value of a key, and checks that the key goes with the phase and with `named`. */
static void read_key(struct vocab_draft *d, const struct yaml_node *value, const struct rule_key *k,
                     struct vocab_row *row)
{
	const char *const name = k->key.name;

	if (k->phases != 0 && row->plan.phase != PLAN_AS_READ && (k->phases & 1U << row->plan.phase) == 0)
		yaml_bad(&d->file, value, "%s goes with phase %s", name, k->with);
	if (k->not_named != NULL && row->plan.named.p != NULL)
		yaml_bad(&d->file, value, "%s does not go with named: %s", name, k->not_named);
	k->key.read(d, value, name, (char *)row + k->key.at);
}

static bool template_needs_fields(const struct plan_template *t)
{
	for (uint32_t i = 0; i < t->nparts; i++)
		if (t->parts[i].ref.nfields > 0)
			return true;
	return false;
}

/* A layout alone changes only the fields, not the meaning.  The fields of a counter are its values. */
bool vocab_needs_fields(const struct plan *m)
{
	bool needs = m->key.nfields > 0 || m->duration.p != NULL || m->flow_out.p != NULL ||
	             m->flow_in.p != NULL || m->ndefines > 0 || m->epoch.p != NULL || m->facts.p != NULL ||
	             m->phase == PLAN_COUNTER;

	for (uint32_t i = 0; i < m->nnames; i++)
		needs |= template_needs_fields(&m->names[i]);
	for (uint32_t i = 0; i < m->ntracks; i++)
		needs |= template_needs_fields(&m->tracks[i].name) || m->tracks[i].id.nfields > 0;
	return needs;
}

static uint64_t tables_of(const struct plan_ref *r)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < r->ntables; i++)
		bits |= UINT64_C(1) << r->tables[i];
	return bits;
}

uint64_t vocab_tables(const struct plan *m)
{
	uint64_t bits = tables_of(&m->key) | (m->has_series ? UINT64_C(1) << m->series : 0);

	for (uint32_t i = 0; i < m->nnames; i++)
		for (uint32_t k = 0; k < m->names[i].nparts; k++)
			bits |= tables_of(&m->names[i].parts[k].ref);
	for (uint32_t i = 0; i < m->ntracks; i++)
		bits |= tables_of(&m->tracks[i].id) | tables_of(&m->tracks[i].number);
	for (uint32_t i = 0; i < m->ndefines; i++)
		bits |= tables_of(&m->defines[i].value);
	return bits;
}

void vocab_read_rule(struct vocab_draft *d, const struct yaml_node *node)
{
	struct vocab *const v = d->v;
	struct vocab_row *const row = vocab_alloc(d, 1, sizeof *row);
	const struct yaml_node *values[RULE_KEYS];
	const uint64_t mistakes = d->file.mistakes;

	if (row == NULL)
		return;
	d->nrules++;
	if (!yaml_keys(&d->file, node, "a rule", &rule_keys[0].key.name, sizeof rule_keys[0], RULE_KEYS,
	               values))
		return;
	for (size_t i = 0; i < RULE_KEYS; i++)
		if (values[i] != NULL)
			read_key(d, values[i], &rule_keys[i], row);
	if (d->file.mistakes != mistakes)
		return;
	if (row->exact.n == 0 && row->globs.n == 0)
		yaml_bad(&d->file, node, "the rule names no events: event or match is needed");
	if ((row->plan.phase == PLAN_STATE || row->plan.phase == PLAN_STATE_END) && row->plan.state == 0)
		yaml_bad(&d->file, node, "the rule does not say which state: state is needed");
	row->plan.needs_fields = vocab_needs_fields(&row->plan);
	if (array_reserve(&v->rows, v->nrows, &v->rows_cap, sizeof(struct vocab_row *)))
		v->rows[v->nrows++] = row;
	else
		d->file.no_memory = true;
}
