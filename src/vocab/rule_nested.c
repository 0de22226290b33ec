/*
 * Keys of a rule whose values are lists and mappings: layout, track, define, flow, reader, and the parts and
 * the category of the class's name.
 */
#include <stdio.h>

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

/* Returns the index in types[], and in *repeated whether "[]" follows the name. */
static bool read_type(struct vocab_draft *d, const struct yaml_node *node, uint32_t *type, bool *repeated)
{
	struct yaml_node one = *node;

	*repeated = node->kind == NODE_SCALAR && node->text.n > 2 &&
	            memcmp(node->text.p + node->text.n - 2, "[]", 2) == 0;
	if (*repeated)
		one.text.n -= 2;
	if (!vocab_choice(d, &one, "a type", type_names, type))
		return false;
	if (!*repeated || types[*type].size > 0)
		return true;
	vocab_report(d, VOCAB_RULE_BAD_VALUE, node, "only types of fixed size are repeated, not %s",
	             type_names[*type]);
	return false;
}

static bool has_layout_field(const struct plan *m, const struct plan_layout_field *fields, struct slice name)
{
	for (uint32_t i = 0; i < m->nlayout; i++)
		if (slice_equal(fields[i].name, name))
			return true;
	return false;
}

static void read_layout_field(struct vocab_draft *d, const struct yaml_node *key, struct plan *m,
                              struct plan_layout_field *fields)
{
	struct plan_layout_field *const f = &fields[m->nlayout];
	const struct plan_layout_field *const previous = m->nlayout > 0 ? f - 1 : NULL;
	struct quoted q;
	uint32_t type;

	if (!vocab_text(d, key, "the name of a field", &f->name) ||
	    !read_type(d, key->next, &type, &f->repeated))
		return;
	if (has_layout_field(m, fields, f->name)) {
		vocab_report(d, VOCAB_RULE_BAD_VALUE, key, "the layout has two fields named %s",
		             quoted(&q, f->name));
		return;
	}
	if (previous != NULL && (previous->repeated || previous->type == VALUE_BYTES)) {
		vocab_report(d, VOCAB_RULE_BAD_VALUE, key,
		             "%s follows a field that takes the rest of the payload", quoted(&q, f->name));
		return;
	}
	f->type = types[type].type;
	if (f->repeated || types[type].size == 0)
		m->layout_open = true;
	else
		m->layout_size += types[type].size;
	m->nlayout++;
}

/* [a: u8, b: u16] is a list of mappings with one key each; {a: u8, b: u16} means the same. */
void vocab_read_layout(struct vocab_draft *d, const struct yaml_node *value, struct plan *m)
{
	const uint32_t max = value->n < VOCAB_MAX_LAYOUT ? value->n : VOCAB_MAX_LAYOUT;
	struct plan_layout_field *const fields = vocab_alloc(d, max + 1, sizeof *fields);

	if (fields == NULL)
		return;
	m->has_layout = true;
	m->layout = fields;
	if (value->kind == NODE_SCALAR) {
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value,
		             "layout is a list of fields with their types, as in [cpu: i32, tag: u64]");
		return;
	}
	for (const struct yaml_node *item = value->child; item != NULL; item = item->next) {
		const struct yaml_node *const key = value->kind == NODE_MAP ? item : item->child;
		if (m->nlayout == VOCAB_MAX_LAYOUT) {
			vocab_report(d, VOCAB_RULE_BAD_VALUE, item, "the layout has more than %u fields",
			             VOCAB_MAX_LAYOUT);
			return;
		}
		if (value->kind == NODE_LIST && (item->kind != NODE_MAP || item->n != 2))
			vocab_report(d, VOCAB_RULE_BAD_VALUE, item,
			             "a field of the layout is a name and a type, as in cpu: i32");
		else
			read_layout_field(d, key, m, fields);
		if (value->kind == NODE_MAP)
			item = item->next;
	}
}

/* ---- track ---- */

struct track_draft {
	struct plan_track track;
	bool named;
};

static void track_name(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct track_draft *const t = ctx;
	uint32_t refs = 0;

	t->named = true;
	if (!vocab_template(d, value, "name", &t->track.name))
		return;
	for (uint32_t i = 0; i < t->track.name.nparts; i++)
		if (t->track.name.parts[i].ref.nfields > 0) {
			t->track.number = t->track.name.parts[i].ref;
			refs++;
		}
	if (refs > 1)
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value,
		             "the name of a track has one reference at most, this has %u", refs);
}

static void track_id(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct track_draft *const t = ctx;

	vocab_ref(d, value, "id", false, &t->track.id);
}

static void track_below(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct track_draft *const t = ctx;

	vocab_bool(d, value, "below", &t->track.child);
}

static void read_one_track(struct vocab_draft *d, const struct yaml_node *value, struct plan_track *out)
{
	static const struct vocab_key keys[] = { { "name", track_name },
		                                 { "id", track_id },
		                                 { "below", track_below } };
	struct track_draft t = { .named = false };

	if (value->kind == NODE_SCALAR)
		track_name(d, value, &t);
	else if (vocab_map(d, value, "track", keys, sizeof keys / sizeof keys[0], &t) && !t.named)
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value, "track has no name");
	*out = t.track;
}

void vocab_read_track(struct vocab_draft *d, const struct yaml_node *value, void *row)
{
	struct plan *const m = &((struct vocab_row *)row)->plan;
	const bool list = value->kind == NODE_LIST;
	struct plan_track *const tracks = vocab_alloc(d, list ? value->n : 1, sizeof *tracks);

	if (tracks == NULL)
		return;
	m->tracks = tracks;
	for (const struct yaml_node *item = list ? value->child : value; item != NULL;
	     item = list ? item->next : NULL)
		read_one_track(d, item, &tracks[m->ntracks++]);
	if (m->ntracks == 0)
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value, "track is an empty list");
}

/* ---- define ---- */

struct define_draft {
	struct plan_define define;
	bool table, key, value;
};

static void define_table(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct define_draft *const t = ctx;
	struct slice name;

	t->table = true;
	if (vocab_text(d, value, "table", &name))
		vocab_table(d, value, name, &t->define.table);
}

static void define_key(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct define_draft *const t = ctx;
	const struct slice *fields;
	uint32_t n;

	t->key = true;
	if (!vocab_texts(d, value, "key", &fields, &n))
		return;
	if (n > 2) {
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value, "key is one field or two, not %u", n);
		return;
	}
	t->define.nkeys = (uint8_t)n;
	for (uint32_t i = 0; i < n; i++)
		t->define.key[i] = fields[i];
}

static void define_value(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct define_draft *const t = ctx;

	t->value = true;
	vocab_ref(d, value, "value", true, &t->define.value);
}

static void read_one_define(struct vocab_draft *d, const struct yaml_node *value, struct plan_define *out)
{
	static const struct vocab_key keys[] = { { "table", define_table },
		                                 { "key", define_key },
		                                 { "value", define_value } };
	struct define_draft t = { .table = false };

	if (vocab_map(d, value, "define", keys, sizeof keys / sizeof keys[0], &t) &&
	    !(t.table && t.key && t.value))
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value, "define lacks its %s",
		             !t.table ? "table"
		             : !t.key ? "key"
		                      : "value");
	*out = t.define;
}

void vocab_read_define(struct vocab_draft *d, const struct yaml_node *value, void *row)
{
	struct plan *const m = &((struct vocab_row *)row)->plan;
	const bool list = value->kind == NODE_LIST;
	struct plan_define *const defines = vocab_alloc(d, list ? value->n : 1, sizeof *defines);

	if (defines == NULL)
		return;
	m->defines = defines;
	for (const struct yaml_node *item = list ? value->child : value; item != NULL;
	     item = list ? item->next : NULL)
		read_one_define(d, item, &defines[m->ndefines++]);
	if (m->ndefines == 0)
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value, "define is an empty list");
}

/* ---- flow ---- */

static void flow_name(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct plan *const m = ctx;

	vocab_text(d, value, "name", &m->flow_name);
}

static void flow_out(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct plan *const m = ctx;

	vocab_text(d, value, "out", &m->flow_out);
}

static void flow_in(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct plan *const m = ctx;

	vocab_text(d, value, "in", &m->flow_in);
}

void vocab_read_flow(struct vocab_draft *d, const struct yaml_node *value, void *row)
{
	struct plan *const m = &((struct vocab_row *)row)->plan;
	static const struct vocab_key keys[] = { { "name", flow_name },
		                                 { "out", flow_out },
		                                 { "in", flow_in } };
	const uint64_t mistakes = d->file.mistakes;

	if (!vocab_map(d, value, "flow", keys, sizeof keys / sizeof keys[0], m) ||
	    d->file.mistakes != mistakes)
		return;
	if (m->flow_name.p == NULL)
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value, "flow lacks its name");
	else if (m->flow_out.p == NULL && m->flow_in.p == NULL)
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value,
		             "flow needs out or in: the field that both ends of an arrow share");
}

/* ---- reader ---- */

void vocab_read_reader(struct vocab_draft *d, const struct yaml_node *value, void *row)
{
	struct plan *const m = &((struct vocab_row *)row)->plan;
	if (value->kind != NODE_MAP) {
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value, "reader is a mapping of words");
		return;
	}
	if (value->n / 2 > VOCAB_MAX_READER) {
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value, "reader has more than %u words",
		             VOCAB_MAX_READER);
		return;
	}
	struct field *const entries = vocab_alloc(d, value->n / 2 + 1, sizeof *entries);
	if (entries == NULL)
		return;
	m->words = entries;
	for (const struct yaml_node *key = value->child; key != NULL; key = key->next->next) {
		struct slice name, text;
		struct quoted q;
		if (!vocab_text(d, key, "the name of a word", &name) ||
		    !vocab_text(d, key->next, "a word", &text))
			continue;
		if (plan_word(m, name.p).p != NULL)
			vocab_report(d, VOCAB_RULE_SYNTAX, key, "the key %s stands here a second time",
			             quoted(&q, name));
		else
			entries[m->nwords++] = (struct field){ name, value_string(text) };
	}
}

/* ---- name and category of the class ---- */

#define MAX_SEPARATOR 255U /* bytes between two parts */

/* Checks that a name can be split by the template: references with text between them. */
static bool check_shape(struct vocab_draft *d, const struct yaml_node *value, const struct plan_template *t)
{
	uint32_t refs = 0;

	for (uint32_t i = 0; i < t->nparts; i++) {
		const struct plan_part *const p = &t->parts[i];
		refs += p->ref.nfields > 0;
		if (p->ref.ntables > 0) {
			vocab_report(d, VOCAB_RULE_BAD_VALUE, value,
			             "parts names parts: nothing is looked up");
			return false;
		}
		if (i > 0 && p->ref.nfields > 0 && (p->text.n == 0 || p->text.n > MAX_SEPARATOR)) {
			vocab_report(d, VOCAB_RULE_BAD_VALUE, value,
			             "between two parts there are 1 to %u bytes of text, not %u",
			             MAX_SEPARATOR, p->text.n);
			return false;
		}
	}
	if (refs == 0)
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value, "parts has no {part} in it");
	return refs > 0;
}

void vocab_read_parts(struct vocab_draft *d, const struct yaml_node *value, void *row)
{
	struct plan *const m = &((struct vocab_row *)row)->plan;
	vocab_templates(d, value, "parts", &m->shapes, &m->nshapes);
	if (m->named.p != NULL)
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value,
		             "parts does not go with named: the events of a class share them");
	for (uint32_t i = 0; i < m->nshapes; i++)
		if (!check_shape(d, value, &m->shapes[i]))
			return;
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

/* Checks that a category, which all events of the class share, refers to parts of its name only. */
static void check_category(struct vocab_draft *d, const struct yaml_node *value, const struct plan *m,
                           const struct plan_template *t)
{
	struct quoted q;

	for (uint32_t i = 0; i < t->nparts; i++) {
		const struct plan_ref *const ref = &t->parts[i].ref;
		if (ref->nfields == 0 || (ref->ntables == 0 && has_part(m, ref->field[0])))
			continue;
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value, "category can only refer to parts, not to %s",
		             quoted(&q, ref->field[0]));
		return;
	}
}

void vocab_read_category(struct vocab_draft *d, const struct yaml_node *value, struct plan *m)
{
	if (value->kind == NODE_SCALAR && memchr(value->text.p, '{', value->text.n) == NULL) {
		vocab_text(d, value, "category", &m->category);
		return;
	}
	vocab_templates(d, value, "category", &m->categories, &m->ncategories);
	for (uint32_t i = 0; i < m->ncategories; i++)
		check_category(d, value, m, &m->categories[i]);
}

/* ---- bytes ---- */

static void read_bytes_named(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct plan_bytes *const bytes = ctx;

	vocab_texts(d, value, "named", &bytes->named, &bytes->nnamed);
	for (uint32_t i = 0; i < bytes->nnamed; i++)
		vocab_check_glob(d, value, "named", bytes->named[i]);
}

/* A field, or two that are multiplied. */
static void read_bytes_field(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct plan_bytes *const bytes = ctx;
	const struct slice *fields = NULL;
	uint32_t n = 0;

	vocab_texts(d, value, "bytes", &fields, &n);
	if (n > 2)
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value, "bytes is one field, or the product of two");
	for (uint32_t i = 0; i < n && i < 2; i++)
		bytes->field[bytes->nfields++] = fields[i];
}

void vocab_read_bytes(struct vocab_draft *d, const struct yaml_node *value, struct plan *m)
{
	static const struct vocab_key keys[] = { { "named", read_bytes_named },
		                                 { "field", read_bytes_field } };
	const bool is_list = value->kind == NODE_LIST;
	const struct yaml_node *item = is_list ? value->child : value;
	const uint32_t n = is_list ? value->n : 1;

	if (n > VOCAB_MAX_BYTES_OF) {
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value, "bytes has more than %u entries",
		             VOCAB_MAX_BYTES_OF);
		return;
	}
	struct plan_bytes *const bytes = vocab_alloc(d, n, sizeof *bytes);
	for (uint32_t i = 0; bytes != NULL && i < n; i++, item = item->next) {
		if (item->kind != NODE_MAP)
			read_bytes_field(d, item, &bytes[i]);
		else if (vocab_map(d, item, "bytes", keys, sizeof keys / sizeof keys[0], &bytes[i]) &&
		         bytes[i].nfields == 0)
			vocab_report(d, VOCAB_RULE_BAD_VALUE, item, "bytes does not say which field");
	}
	m->bytes = bytes;
	m->nbytes = bytes != NULL ? n : 0;
}
