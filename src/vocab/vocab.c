/*
 * Vocabularies: loads their files, finds the rules for a class by its name, and the plan of these rules.
 * Exact names are hashed, globs are compared one by one; both lists are in the order of the rules, so the
 * first rule wins.  A class with several rules (rules with `named`, rules that inherit `reader`) has a
 * combined plan, created once and shared by all classes with the same combination of rules.
 */
#include "vocab/vocab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/match.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "output/text_json.h"
#include "vocab/private.h"
#include "yaml/yaml.h"

/* ---- index of patterns ---- */

static uint32_t add_pattern(struct vocab_patterns *p, struct slice text, uint32_t row)
{
	if (!array_reserve(&p->rows, p->n, &p->cap, sizeof *p->rows))
		return VOCAB_NONE;
	p->rows[p->n] = (struct vocab_pattern){ text, row, VOCAB_NONE };
	return p->n++;
}

/* Links an exact name in the order of the rows.  Must be called for the last row first, as a pattern is
 * placed before the others of its file.  first: the first row of the file. */
static bool index_exact(struct vocab *v, struct slice text, uint32_t row, uint32_t first)
{
	const uint32_t i = add_pattern(&v->exact, text, row);
	uint32_t head = tabletext_get(&v->exact_index, text), previous = VOCAB_NONE;

	if (i == VOCAB_NONE)
		return false;
	for (; head != TABLE_NONE && v->exact.rows[head].row < first; head = v->exact.rows[head].next)
		previous = head; /* a pattern of an earlier file */
	v->exact.rows[i].next = head != TABLE_NONE ? head : VOCAB_NONE;
	if (previous == VOCAB_NONE)
		return tabletext_put(&v->exact_index, text, i);
	v->exact.rows[previous].next = i;
	return true;
}

/* Adds the rows from `first` on to the indexes. */
static bool vocab_index_rows(struct vocab *v, uint32_t first)
{
	for (uint32_t i = v->nrows; i-- > first;)
		for (uint32_t k = 0; k < v->rows[i]->exact.n; k++)
			if (!index_exact(v, v->rows[i]->exact.list[k], i, first))
				return false;
	for (uint32_t i = first; i < v->nrows; i++)
		for (uint32_t k = 0; k < v->rows[i]->globs.n; k++)
			if (add_pattern(&v->globs, v->rows[i]->globs.list[k], i) == VOCAB_NONE)
				return false;
	return true;
}

/*
 * Loads a file: its format, tables, names of tracks, null values and rules.  The draft becomes part of the
 * vocabulary only if the whole file has no mistake.  Memory of a failed file stays allocated in the arena
 * until the vocabulary is freed.
 */

/* ---- names of processes and threads ---- */

static void vocab_names_free(struct vocab_names *n)
{
	table64_free(&n->by_id);
	free(n->single);
	*n = (struct vocab_names){ .all = NULL };
}

/* Reads the template of a name.  It may refer to {id} once, and to nothing else. */
static const struct plan_template *read_track_name(struct vocab_draft *d, const struct yaml_node *value,
                                                   const char *what)
{
	struct plan_template *const t = vocab_alloc(d, 1, sizeof *t);
	uint32_t refs = 0;

	if (t == NULL || !vocab_template(d, value, what, t))
		return NULL;
	for (uint32_t i = 0; i < t->nparts; i++) {
		const struct plan_ref *const ref = &t->parts[i].ref;
		refs += ref->nfields > 0;
		if (ref->nfields > 0 && (ref->ntables > 0 || !slice_is(ref->field[0], "id"))) {
			yaml_bad(&d->file, value, "%s can only refer to {id}", what);
			return NULL;
		}
	}
	if (refs <= 1)
		return t;
	yaml_bad(&d->file, value, "%s refers to {id} more than once", what);
	return NULL;
}

static bool add_single(struct vocab_names *n, uint64_t id, const struct plan_template *t)
{
	if (!array_reserve(&n->single, n->nsingle, &n->single_cap, sizeof(const struct plan_template *)))
		return false;
	n->single[n->nsingle] = t;
	return table64_put(&n->by_id, id, n->nsingle++);
}

static bool read_singles(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *names)
{
	struct vocab_names *const n = names;
	struct quoted q;
	uint64_t id;

	if (value->kind != NODE_MAP)
		return yaml_bad(&d->file, value, "%s is a mapping of numbers to names", what);
	for (const struct yaml_node *key = value->child; key != NULL; key = key->next->next) {
		if (key->kind != NODE_SCALAR || !units_count(key->text, &id)) {
			yaml_bad(&d->file, key, "%s has a key that is no number from 0 to %" PRIu64 ": %s",
			         what, UINT64_MAX,
			         quoted(&q, key->kind == NODE_SCALAR ? key->text : SLICE_LIT("")));
			continue;
		}
		if (table64_get(&n->by_id, id) != TABLE_NONE) {
			yaml_repeated(&d->file, key);
			continue;
		}
		const struct plan_template *const t = read_track_name(d, key->next, "a name");
		d->file.no_memory |= t != NULL && !add_single(n, id, t);
	}
	return true;
}

static bool read_all(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *names)
{
	struct vocab_names *const n = names;

	return (n->all = read_track_name(d, value, what)) != NULL;
}

static bool read_tracks(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *draft)
{
	static const struct vocab_key keys[] = {
		{ "process", read_all, offsetof(struct vocab_draft, processes) },
		{ "thread", read_all, offsetof(struct vocab_draft, threads) },
		{ "processes", read_singles, offsetof(struct vocab_draft, processes) },
		{ "threads", read_singles, offsetof(struct vocab_draft, threads) },
	};

	return VOCAB_MAP(d, value, what, keys, draft);
}

/* Adds the names of a later file.  Names of an earlier file have priority; its name for all ids has priority
 * even over names for single ids of later files. */
static bool merge_names(struct vocab_names *to, const struct vocab_names *from)
{
	if (to->all != NULL)
		return true;
	for (size_t i = 0; from->by_id.slots != NULL && i <= from->by_id.mask; i++) {
		const struct table64_slot *const slot = &from->by_id.slots[i];
		if (slot->value != TABLE_NONE && table64_get(&to->by_id, slot->key) == TABLE_NONE &&
		    !add_single(to, slot->key, from->single[slot->value]))
			return false;
	}
	to->all = from->all;
	return true;
}

/* ---- format and tables ---- */

static bool read_format(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *draft)
{
	const char *const *const formats = d->v->formats;
	struct nearest near = { .name = NULL };
	size_t used = 0;
	char list[200] = "";
	struct slice name;
	struct quoted q;

	if (!vocab_text(d, value, what, &name))
		return false;
	d->format = name;
	near.typed = name.p;
	for (size_t i = 0; formats != NULL && formats[i] != NULL; i++)
		nearest_add(&near, formats[i]);
	if (formats == NULL || (near.name != NULL && near.distance == 0))
		return true;
	if (near.name != NULL)
		return yaml_bad(&d->file, value, "there is no input format named %s; did you mean %s?",
		                quoted(&q, name), near.name);
	for (size_t i = 0; formats[i] != NULL && used < sizeof list; i++)
		used +=
		    (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", formats[i]);
	return yaml_bad(&d->file, value, "there is no input format named %s; there are %s", quoted(&q, name),
	                list);
}

/* Tables of the same name and scope are the same table, even if different files declare them. */
static void declare_table(struct vocab_draft *d, const struct yaml_node *at, struct slice name, uint8_t scope)
{
	struct vocab *const v = d->v;
	uint32_t i = 0;

	while (i < v->ntables && !(slice_equal(v->tables[i], name) && v->base.scopes[i] == scope))
		i++;
	if (i == PLAN_MAX_TABLES) {
		yaml_bad(&d->file, at, "there are more than %d tables in all", PLAN_MAX_TABLES);
		return;
	}
	if (i == v->ntables) {
		v->tables[i] = name;
		v->base.scopes[i] = scope;
		v->ntables++;
	}
	d->tables[d->ntables++] = (uint8_t)i;
}

static bool read_tables(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *draft)
{
	static const char *const scopes[] = { "process", "thread", "trace", NULL }; /* enum plan_scope */

	if (value->kind != NODE_MAP)
		return yaml_bad(&d->file, value, "tables is a mapping of names to process, thread or trace");
	for (const struct yaml_node *key = value->child; key != NULL; key = key->next->next) {
		struct slice name;
		uint32_t scope;
		if (!vocab_text(d, key, "the name of a table", &name) ||
		    !yaml_word(&d->file, key->next, "the scope of a table", scopes, &scope))
			continue;
		bool repeated = false;
		for (uint32_t i = 0; i < d->ntables; i++)
			repeated |= slice_equal(d->v->tables[d->tables[i]], name);
		if (repeated)
			yaml_repeated(&d->file, key);
		else if (name.n != strcspn(name.p, "{}|,"))
			yaml_bad(&d->file, key, "the name of a table holds none of { } | and commas");
		else
			declare_table(d, key, name, (uint8_t)scope);
	}
	return true;
}

/* ---- null values ---- */

struct plan_none vocab_none_of(const struct vocab_draft *d, struct slice field)
{
	const struct vocab_none *n = d->nones;

	while (n != NULL && !slice_equal(n->field, field))
		n = n->next;
	return n != NULL ? n->none : (struct plan_none){ NULL, 0 };
}

static bool read_null_value(struct vocab_draft *d, const struct yaml_node *node, uint64_t *number)
{
	struct quoted q;

	return (node->kind == NODE_SCALAR && units_count(node->text, number)) ||
	       yaml_bad(&d->file, node, "none has a value that is no number: %s",
	                quoted(&q, node->kind == NODE_SCALAR ? node->text : SLICE_LIT("")));
}

static void read_null_values(struct vocab_draft *d, const struct yaml_node *key)
{
	const struct yaml_node *const value = key->next;
	uint64_t *const numbers = vocab_alloc(d, yaml_count(value), sizeof *numbers);
	struct vocab_none *const none = vocab_alloc(d, 1, sizeof *none);

	if (numbers == NULL || none == NULL || !vocab_text(d, key, "the name of a field", &none->field))
		return;
	if (yaml_count(value) > VOCAB_MAX_NONE) {
		yaml_bad(&d->file, value, "none has more than %u values of one field", VOCAB_MAX_NONE);
		return;
	}
	none->none.values = numbers;
	for (const struct yaml_node *item = yaml_first(value); item != NULL; item = yaml_after(value, item))
		if (read_null_value(d, item, &numbers[none->none.n]))
			none->none.n++;
	none->next = d->nones;
	d->nones = none;
}

static bool read_none(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *draft)
{
	uint32_t fields = 0;

	if (value->kind != NODE_MAP)
		return yaml_bad(&d->file, value, "none is a mapping of fields to numbers");
	for (const struct yaml_node *key = value->child; key != NULL; key = key->next->next)
		if (fields++ < VOCAB_MAX_NONE)
			read_null_values(d, key);
	return fields <= VOCAB_MAX_NONE ||
	       yaml_bad(&d->file, value, "none has more than %u fields", VOCAB_MAX_NONE);
}

/* ---- the whole file ---- */

static bool read_events(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *draft)
{
	if (value->kind != NODE_LIST)
		return yaml_bad(&d->file, value, "events is a list of rules");
	for (const struct yaml_node *item = value->child; item != NULL; item = item->next) {
		if (d->v->nrows == VOCAB_MAX_RULES ||
		    d->nrules == VOCAB_MAX_RULES) /* rules with mistakes use memory, too */
			return yaml_bad(&d->file, item, "there are more than %u rules in all",
			                VOCAB_MAX_RULES);
		vocab_read_rule(d, item);
	}
	return true;
}

/* In reading order: tables and null values before the keys that refer to them. */
static const struct vocab_key file_keys[] = {
	{ "format", read_format, 0 }, { "tables", read_tables, 0 }, { "none", read_none, 0 },
	{ "tracks", read_tracks, 0 }, { "events", read_events, 0 },
};

static bool read_nodes(struct vocab_draft *d)
{
	const struct yaml_node *const root = yaml_root(&d->file);

	if (root != NULL && VOCAB_MAP(d, root, "a vocabulary", file_keys, d) && d->format.p == NULL &&
	    d->file.mistakes == 0)
		yaml_bad(&d->file, root, "the file does not say which format it is for: format is needed");
	return d->file.mistakes == 0 && !d->file.no_memory;
}

/* Adds the draft to the vocabulary, unless it is for another format. */
static bool commit(struct vocab_draft *d, uint32_t first)
{
	struct vocab *const v = d->v;

	v->last_format = d->format;
	if (v->format != NULL && !slice_is(d->format, v->format)) {
		v->nrows = first;
		return true;
	}
	return vocab_index_rows(v, first) && merge_names(&v->processes, &d->processes) &&
	       merge_names(&v->threads, &d->threads);
}

bool vocab_add_text(struct vocabulary *vocabulary, const char *text, size_t n, struct findings *findings,
                    size_t *rules)
{
	struct vocab *const v = (struct vocab *)vocabulary;
	struct vocab_draft d = {
		.v = v,
		.file = { .text = { text, (uint32_t)n, 0 }, .rules = vocab_rules, .findings = findings }
	};
	const uint32_t nrows = v->nrows, ntables = v->ntables, nnamed = v->nnamed, nglobs = v->nglobs;
	bool ok = false;

	v->last_format = (struct slice){ NULL, 0, 0 };
	v->no_memory = false;
	if (n > VOCAB_MAX_BYTES) {
		d.file.text.n = 0;
		yaml_report_at(&d.file, YAML_UNREADABLE, 1, 1, "the file is larger than %u MiB",
		               VOCAB_MAX_BYTES >> 20);
	} else {
		ok = read_nodes(&d) && commit(&d, nrows);
	}
	if (!ok)
		v->no_memory = d.file.no_memory || d.file.mistakes == 0;
	if (!ok || v->nrows == nrows) { /* a mistake, another format, or no rules */
		v->nrows = nrows;
		v->ntables = ntables;
		v->nnamed = nnamed;
		v->nglobs = nglobs;
	}
	if (rules != NULL)
		*rules = d.nrules;
	vocab_names_free(&d.processes);
	vocab_names_free(&d.threads);
	arena_free(&d.file.nodes);
	return ok;
}

/* ---- rules for a class ---- */

/* A merge of two lists in the order of rows: exact names, and globs. */
struct search {
	const struct vocab *v;
	struct slice name;
	trace_has_field *has;
	const void *ctx;
	uint32_t exact, glob; /* next pattern of each list */
};

static bool has_fields(const struct search *s, const struct vocab_row *row)
{
	for (uint32_t i = 0; i < row->fields.n; i++)
		if (s->has == NULL || !s->has(s->ctx, row->fields.list[i]))
			return false;
	return true;
}

/* Returns the next rule for the class, or VOCAB_NONE. */
static uint32_t next_row(struct search *s)
{
	const struct vocab_patterns *const exact = &s->v->exact, *const globs = &s->v->globs;

	for (;;) {
		while (s->glob < globs->n && !glob_fits(globs->rows[s->glob].text, s->name))
			s->glob++;
		const uint32_t a = s->exact != VOCAB_NONE ? exact->rows[s->exact].row : VOCAB_NONE;
		const uint32_t b = s->glob < globs->n ? globs->rows[s->glob].row : VOCAB_NONE;
		const uint32_t row = a < b ? a : b;
		if (row == VOCAB_NONE)
			return VOCAB_NONE;
		while (s->exact != VOCAB_NONE && exact->rows[s->exact].row == row)
			s->exact = exact->rows[s->exact].next;
		while (s->glob < globs->n && globs->rows[s->glob].row == row)
			s->glob++;
		if (has_fields(s, s->v->rows[row]))
			return row;
	}
}

/* Returns the next rule with `reader` and without `named`, or VOCAB_NONE. */
static uint32_t next_reader_row(struct search *s)
{
	uint32_t row;

	while ((row = next_row(s)) != VOCAB_NONE) {
		const struct plan *const m = &s->v->rows[row]->plan;
		if (m->named.p == NULL && m->words != NULL)
			break;
	}
	return row;
}

/* ---- plans of several rules ---- */

static void free_chains(struct vocab_chains *c)
{
	if (c == NULL)
		return;
	table64_free(&c->index);
	arena_free(&c->arena);
	free(c);
}

static uint32_t code_of_row(uint32_t row)
{
	return VOCAB_MAX_CHAINS + 1 + row;
}

/* Returns a copy of the rule's plan to combine with the plan `*code`, and sets *code to the code of the copy.
 * *fresh: the copy is new, and the caller completes it.  Returns NULL if there are VOCAB_MAX_CHAINS copies,
 * or on OOM. */
static struct plan *combine(const struct vocab *v, uint32_t row, uint32_t *code, bool *fresh)
{
	struct vocab_chains *const c = v->chains;
	const uint64_t key = (uint64_t)row << 32 | *code;
	uint32_t i = table64_get(&c->index, key);

	*fresh = i == TABLE_NONE;
	if (*fresh) {
		struct plan *const m = c->n < VOCAB_MAX_CHAINS ? arena_alloc(&c->arena, sizeof *m) : NULL;
		if (m == NULL || !table64_put(&c->index, key, c->n))
			return NULL;
		*m = v->rows[row]->plan;
		c->plans[i = c->n++] = m;
	}
	*code = i + 1;
	return c->plans[i];
}

/* The entries of `reader` are facts of the format: a rule without entries inherits those of the next rule. */
static void inherit_reader(struct plan *m, const struct plan *from)
{
	if (m->words != NULL || from == NULL || from->words == NULL)
		return;
	m->words = from->words;
	m->nwords = from->nwords;
	if (!m->has_layout)
		m->shape = from->shape != NULL || from->has_layout ? plan_shape(from) : NULL;
}

/* Returns the plan of a rule without `named`.  reader: the rule whose `reader` it inherits, or VOCAB_NONE. */
static const struct plan *plan_any_name(const struct vocab *v, uint32_t row, uint32_t reader, uint32_t *code)
{
	if (reader != VOCAB_NONE) {
		bool fresh;
		*code = code_of_row(reader);
		struct plan *const m = combine(v, row, code, &fresh);
		if (m != NULL && fresh)
			inherit_reader(m, &v->rows[reader]->plan);
		if (m != NULL)
			return m;
	}
	*code = code_of_row(row);
	return &v->rows[row]->plan;
}

/* Returns the plan of a rule with `named`, followed by the plan for other names. */
static const struct plan *plan_named(const struct vocab *v, uint32_t row, const struct plan *otherwise,
                                     const struct plan *reader, uint32_t *code)
{
	bool fresh;
	struct plan *const m = combine(v, row, code, &fresh);

	if (m == NULL || !fresh)
		return m;
	m->otherwise = otherwise;
	if (otherwise != NULL) {
		m->category = otherwise->category; /* shared by the class, like the parts of its name */
		m->categories = otherwise->categories;
		m->ncategories = otherwise->ncategories;
		m->shapes = otherwise->shapes;
		m->nshapes = otherwise->nshapes;
		m->stack_of = m->stack.p == NULL ? otherwise->stack_of : m->stack_of;
		m->stack = m->stack.p == NULL ? otherwise->stack : m->stack;
		m->bytes = otherwise->bytes;
		m->nbytes = otherwise->nbytes;
		m->needs_fields |= otherwise->needs_fields;
	}
	inherit_reader(m, reader);
	return m;
}

/* Implements vocabulary_ops.find. */
static const struct plan *vocab_find(const struct vocabulary *vocabulary, struct slice class_name,
                                     trace_has_field *has, const void *ctx)
{
	const struct vocab *const v = (const struct vocab *)vocabulary;
	struct search s = { v, class_name, has, ctx, tabletext_get(&v->exact_index, class_name), 0 };
	uint32_t rows[VOCAB_MAX_NAMED], n = 0, row, code = 0;
	const struct plan *m = NULL;

	while ((row = next_row(&s)) != VOCAB_NONE && v->rows[row]->plan.named.p != NULL &&
	       n < VOCAB_MAX_NAMED)
		rows[n++] = row;
	if (row != VOCAB_NONE && v->rows[row]->plan.named.p == NULL) {
		const bool has_reader = v->rows[row]->plan.words != NULL;
		m = plan_any_name(v, row, has_reader ? VOCAB_NONE : next_reader_row(&s), &code);
	}
	const struct plan *const any_name = m;
	while (n > 0) {
		const struct plan *const named = plan_named(v, rows[--n], m, any_name, &code);
		if (named == NULL)
			return NULL;
		m = named;
	}
	return m;
}

/* ---- the vocabulary ---- */

const struct rule vocab_rules[] = {
#define RULE RULE_ROW
#include "vocab/rules.def"
#undef RULE
	{ .id = NULL }
};

static uint8_t find_table(const struct vocabulary *vocabulary, struct slice name)
{
	const struct vocab *const v = (const struct vocab *)vocabulary;

	/* From the end: readers expect the scope of the built-in vocabulary, which is added last. */
	for (uint32_t i = v->ntables; i-- > 0;)
		if (slice_equal(v->tables[i], name))
			return (uint8_t)i;
	return PLAN_NO_TABLE;
}

static const struct plan_template *track_name(const struct vocabulary *vocabulary, bool process, uint64_t id)
{
	const struct vocab *const v = (const struct vocab *)vocabulary;
	const struct vocab_names *const n = process ? &v->processes : &v->threads;
	const uint32_t single = table64_get(&n->by_id, id);

	return single != TABLE_NONE ? n->single[single] : n->all;
}

static const struct vocabulary_ops ops = { vocab_find, find_table, track_name };

/* ---- the vocabulary without names of events ---- */

/* Returns a plan without what only names, arrows and sizes need; the plan itself if it has none of these, or
 * on OOM. */
static const struct plan *without_names(struct vocab_unnamed *u, const struct plan *m)
{
	if (!m->needs_fields || m->named.p != NULL || m->phase == PLAN_COUNTER)
		return m;
	struct plan *const to = arena_alloc(&u->arena, sizeof *to);
	struct plan_define *const defines = arena_zalloc(&u->arena, m->ndefines, sizeof *defines);
	if (to == NULL || u->arena.failed)
		return m;
	*to = *m;
	to->nnames = to->nbytes = to->ndefines = 0;
	to->flow_name = to->flow_out = to->flow_in = (struct slice){ NULL, 0, 0 };
	to->defines = defines;
	for (uint32_t i = 0; i < m->ndefines; i++)
		if ((u->of->placing >> m->defines[i].table & 1) != 0)
			defines[to->ndefines++] = m->defines[i];
	to->needs_fields = vocab_needs_fields(to);
	return to;
}

static const struct plan *unnamed_find(const struct vocabulary *vocabulary, struct slice class_name,
                                       trace_has_field *has, const void *ctx)
{
	struct vocab_unnamed *const u = ((const struct vocab_unnamed *)vocabulary)->of->unnamed;
	const struct plan *const m = vocab_find(&u->of->base, class_name, has, ctx);
	const uint32_t known = m != NULL ? table64_get(&u->index, (uintptr_t)m) : TABLE_NONE;

	if (m == NULL || known != TABLE_NONE)
		return m != NULL ? u->plans[known] : NULL;
	if (!array_reserve(&u->plans, u->n, &u->cap, sizeof *u->plans) ||
	    !table64_put(&u->index, (uintptr_t)m, u->n))
		return m;
	return u->plans[u->n++] = without_names(u, m);
}

static uint8_t unnamed_table(const struct vocabulary *vocabulary, struct slice name)
{
	return find_table(&((const struct vocab_unnamed *)vocabulary)->of->base, name);
}

static const struct plan_template *unnamed_track_name(const struct vocabulary *vocabulary, bool process,
                                                      uint64_t id)
{
	return track_name(&((const struct vocab_unnamed *)vocabulary)->of->base, process, id);
}

static const struct vocabulary_ops unnamed_ops = { unnamed_find, unnamed_table, unnamed_track_name };

const struct vocabulary *vocab_unnamed(const struct vocabulary *vocabulary)
{
	const struct vocab *const v = (const struct vocab *)vocabulary;

	v->unnamed->base = v->base; /* scopes of tables that were added since */
	v->unnamed->base.ops = &unnamed_ops;
	v->unnamed->of = v;
	return &v->unnamed->base;
}

static void free_unnamed(struct vocab_unnamed *u)
{
	if (u == NULL)
		return;
	table64_free(&u->index);
	free(u->plans);
	arena_free(&u->arena);
	free(u);
}

/* ---- a vocabulary ---- */

struct vocabulary *vocab_new(const char *format)
{
	struct vocab *const v = calloc(1, sizeof *v);

	if (v == NULL)
		return NULL;
	v->base.ops = &ops;
	v->format = format;
	v->chains = calloc(1, sizeof *v->chains);
	v->unnamed = calloc(1, sizeof *v->unnamed);
	if (v->chains != NULL && v->unnamed != NULL)
		return &v->base;
	free(v->chains);
	free(v->unnamed);
	free(v);
	return NULL;
}

void vocab_free(struct vocabulary *vocabulary)
{
	struct vocab *const v = (struct vocab *)vocabulary;

	if (v == NULL)
		return;
	free_chains(v->chains);
	free_unnamed(v->unnamed);
	vocab_names_free(&v->processes);
	vocab_names_free(&v->threads);
	tabletext_free(&v->exact_index);
	tabletext_free(&v->texts);
	tabletext_free(&v->pairs);
	tabletext_free(&v->states);
	free(v->exact.rows);
	free(v->globs.rows);
	free(v->rows);
	arena_free(&v->arena);
	free(v);
}

void vocab_set_formats(struct vocabulary *vocabulary, const char *const *formats)
{
	((struct vocab *)vocabulary)->formats = formats;
}

const char *vocab_last_format(const struct vocabulary *vocabulary)
{
	return ((const struct vocab *)vocabulary)->last_format.p;
}

bool vocab_no_memory(const struct vocabulary *vocabulary)
{
	return ((const struct vocab *)vocabulary)->no_memory;
}

bool vocab_read_file(const char *path, struct findings *findings, char **text, size_t *n)
{
	return yaml_read(path, VOCAB_MAX_BYTES, vocab_rules, findings, text, n);
}

struct slice vocab_builtin(const char *format)
{
	for (const struct vocab_schema *s = vocab_schemas; s->format != NULL; s++)
		if (strcmp(s->format, format) == 0)
			return slice_of((const char *)s->text, s->n);
	return (struct slice){ NULL, 0, 0 };
}

/* ---- a vocabulary as JSON: the tree of its YAML, without the comments ---- */

/* Lists and mappings at lower depths have a line for each item: keys of the file, and its rules. */
#define LINES_DEPTH 2

/* The depth of recursion is at most YAML_MAX_DEPTH, the limit of yaml_root(). */
static void put_node(struct text *t, const struct yaml_node *node, unsigned depth)
{
	const bool is_map = node->kind == NODE_MAP;
	const char *const line = depth == 0 ? "\n" : depth < LINES_DEPTH ? "\n  " : "";

	if (node->kind == NODE_SCALAR) {
		text_json_string(t, node->text);
		return;
	}
	text_char(t, is_map ? '{' : '[');
	for (const struct yaml_node *at = node->child; at != NULL; at = at->next) {
		text_str(t, at != node->child ? "," : "");
		text_str(t, line);
		if (is_map) {
			text_json_string(t, at->text);
			text_char(t, ':');
			at = at->next;
		}
		put_node(t, at, depth + 1);
	}
	text_str(t, depth < LINES_DEPTH ? "\n" : "");
	text_char(t, is_map ? '}' : ']');
}

void vocab_put_json(struct text *t, struct slice yaml)
{
	struct findings mistakes;
	struct yaml_file file = { .text = yaml, .rules = vocab_rules, .findings = &mistakes };

	findings_init(&mistakes, "", NULL, NULL);
	const struct yaml_node *const root = yaml_root(&file);
	if (root != NULL)
		put_node(t, root, 0);
	text_char(t, '\n');
	t->failed |= file.no_memory;
	arena_free(&file.nodes);
	findings_free(&mistakes);
}
