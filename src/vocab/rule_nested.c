/*
 * Keys of a rule whose values are lists and mappings: layout, track, define, flow, reader, and the parts and
 * the category of the class's name.
 */

#include "model/value.h"
#include "vocab/private.h"

/* ---- layout ---- */

static const char *const type_names[] = { "u8",  "u16", "u32", "u64",     "i8",     "i16",   "i32",
	                                  "i64", "f32", "f64", "address", "string", "bytes", NULL };

static const struct {
	uint8_t type, size; /* bytes; 0: variable */
} types[] = {
	{ VALUE_U8, 1 },      { VALUE_U16, 2 },    { VALUE_U32, 4 },   { VALUE_U64, 8 }, { VALUE_I8, 1 },
	{ VALUE_I16, 2 },     { VALUE_I32, 4 },    { VALUE_I64, 8 },   { VALUE_F32, 4 }, { VALUE_F64, 8 },
	{ VALUE_ADDRESS, 8 }, { VALUE_STRING, 0 }, { VALUE_BYTES, 0 },
};

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
	if (!*repeated || types[*type].size > 0)
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
	f->type = types[type].type;
	if (f->repeated || types[type].size == 0)
		m->layout_open = true;
	else
		m->layout_size += types[type].size;
	m->nlayout++;
	return true;
}

/* [a: u8, b: u16] is a list of mappings with one key each; {a: u8, b: u16} is equivalent. */
bool vocab_read_layout(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
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

static bool track_id(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *ref)
{
	return vocab_ref(d, value, what, false, ref);
}

static bool track_below(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *below)
{
	return yaml_bool(&d->file, value, what, below);
}

static void read_one_track(struct vocab_draft *d, const struct yaml_node *value, struct plan_track *out)
{
	static const struct vocab_key keys[] = {
		{ "name", track_name, 0 },
		{ "id", track_id, offsetof(struct track_draft, track.id) },
		{ "below", track_below, offsetof(struct track_draft, track.child) },
	};
	struct track_draft t = { .named = false };

	if (value->kind == NODE_SCALAR)
		track_name(d, value, "name", &t);
	else if (VOCAB_MAP(d, value, "track", keys, &t) && !t.named)
		yaml_bad(&d->file, value, "track has no name");
	*out = t.track;
}

bool vocab_read_track(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
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
	const struct slice *fields;
	uint32_t n;

	t->key = true;
	if (!vocab_texts(d, value, what, &fields, &n))
		return false;
	if (n > 2)
		return yaml_bad(&d->file, value, "key is one field or two, not %u", n);
	t->define.nkeys = (uint8_t)n;
	for (uint32_t i = 0; i < n; i++)
		t->define.key[i] = fields[i];
	return true;
}

static bool define_value(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *draft)
{
	struct define_draft *const t = draft;

	t->value = true;
	return vocab_ref(d, value, what, true, &t->define.value);
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

bool vocab_read_define(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
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

bool vocab_read_flow(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
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

bool vocab_read_reader(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
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

bool vocab_read_parts(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
{
	struct plan *const m = plan;
	bool ok = vocab_templates(d, value, what, &m->shapes, &m->nshapes);

	if (m->named.p != NULL)
		yaml_bad(&d->file, value, "parts does not go with named: the events of a class share them");
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

bool vocab_read_category(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
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

static bool read_bytes_named(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct plan_bytes *const bytes = to;
	bool ok = vocab_texts(d, value, what, &bytes->named, &bytes->nnamed);

	for (uint32_t i = 0; i < bytes->nnamed; i++)
		ok &= yaml_is_glob(&d->file, value, what, bytes->named[i]);
	return ok;
}

/* Reads a field, or two fields to multiply. */
static bool read_bytes_field(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct plan_bytes *const bytes = to;
	const struct slice *fields = NULL;
	uint32_t n = 0;

	vocab_texts(d, value, "bytes", &fields, &n);
	for (uint32_t i = 0; i < n && i < 2; i++)
		bytes->field[bytes->nfields++] = fields[i];
	return n <= 2 || yaml_bad(&d->file, value, "bytes is one field, or the product of two");
}

bool vocab_read_bytes(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *plan)
{
	static const struct vocab_key keys[] = { { "named", read_bytes_named, 0 },
		                                 { "field", read_bytes_field, 0 } };
	const uint32_t n = yaml_count(value);
	struct plan *const m = plan;

	if (n > VOCAB_MAX_BYTES_OF)
		return yaml_bad(&d->file, value, "bytes has more than %u entries", VOCAB_MAX_BYTES_OF);
	struct plan_bytes *bytes = vocab_alloc(d, n, sizeof *bytes);
	if (bytes == NULL)
		return false;
	m->bytes = bytes;
	m->nbytes = n;
	for (const struct yaml_node *item = yaml_first(value); item != NULL;
	     item = yaml_after(value, item), bytes++)
		if (item->kind != NODE_MAP)
			read_bytes_field(d, item, what, bytes);
		else if (VOCAB_MAP(d, item, what, keys, bytes) && bytes->nfields == 0)
			yaml_bad(&d->file, item, "bytes does not say which field");
	return true;
}
