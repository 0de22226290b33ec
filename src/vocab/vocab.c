/* Vocabularies: finds the rules for a class by its name, and the plan of these rules.  Exact names are
 * hashed, globs are compared one by one; both lists are in the order of the rules, so the first rule wins.
 * A class with several rules (rules with `named`, rules that inherit `reader`) has a combined plan, created
 * once and shared by all classes with the same combination of rules. */
#include "vocab/vocab.h"

#include <stdlib.h>

#include "base/match.h"
#include "base/memory.h"
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

bool vocab_index_rows(struct vocab *v, uint32_t first)
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
		if (!has_fields(s, s->v->rows[row]))
			continue;
		if (s->v->rows[row]->use != NULL)
			atomic_store(&s->v->rows[row]->use->applies, true);
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
	pthread_mutex_destroy(&c->lock);
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
		m->for_reader = from->for_reader != NULL || from->has_layout ? plan_for_reader(from) : NULL;
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

/* Returns the plan of a class.  Called with the lock. */
static const struct plan *find_plan(const struct vocab *v, struct slice class_name, trace_has_field *has,
                                    const void *ctx)
{
	struct search s = { v, class_name, has, ctx, tabletext_get(&v->exact_index, class_name), 0 };
	uint32_t rows[VOCAB_MAX_NAMED], n = 0, row, code = 0;
	const struct plan *m = NULL;

	for (const struct vocab_uses *u = v->uses; u != NULL; u = u->next)
		atomic_store(&u->use->looked, true);
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

/* Implements vocabulary_ops.find. */
static const struct plan *vocab_find(const struct vocabulary *vocabulary, struct slice class_name,
                                     trace_has_field *has, const void *ctx)
{
	const struct vocab *const v = (const struct vocab *)vocabulary;

	pthread_mutex_lock(&v->chains->lock);
	const struct plan *const m = find_plan(v, class_name, has, ctx);
	pthread_mutex_unlock(&v->chains->lock);
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

/* ---- the vocabulary without some parts ---- */

/* Whether the track of such events is needed by nothing but their track. */
static bool stands_alone(const struct plan *m)
{
	return m->phase == PLAN_INSTANT && m->key.nfields == 0 && m->named.p == NULL;
}

/* Removes the number of a track that a table has, but not one that must be present. */
static bool drop_numbers(struct arena *a, struct plan *m)
{
	struct plan_track *const tracks = arena_zalloc(a, m->ntracks, sizeof *tracks);

	for (uint32_t i = 0; tracks != NULL && i < m->ntracks; i++) {
		tracks[i] = m->tracks[i];
		if (tracks[i].id.ntables > 0)
			tracks[i].id = (struct plan_ref){ .nfields = 0 };
	}
	m->tracks = tracks;
	return tracks != NULL;
}

/* Copies a plan without what only the parts, arrows and sizes need, except for definitions.  Returns false on
 * OOM. */
static bool reduce(const struct vocab_reduced *r, struct arena *a, const struct plan *m, struct plan *to)
{
	*to = *m;
	to->nbytes = 0;
	to->flow_name = to->flow_out = to->flow_in = SLICE_NONE;
	if ((r->without & VOCAB_NAMES) != 0)
		to->nnames = 0;
	if ((r->without & VOCAB_TRACKS) == 0 || !r->of->base.stateless)
		return true;
	if (stands_alone(m))
		to->ntracks = 0;
	return to->ntracks == 0 || drop_numbers(a, to);
}

/* Returns the reduced plan; the plan itself if nothing of it can be left out, or on OOM. */
static const struct plan *reduced(struct vocab_reduced *r, const struct plan *m)
{
	if (!m->needs_fields || m->named.p != NULL || m->phase == PLAN_COUNTER)
		return m;
	struct plan *const to = arena_alloc(&r->arena, sizeof *to);
	struct plan_define *const defines = arena_zalloc(&r->arena, m->ndefines, sizeof *defines);
	if (to == NULL || r->arena.failed || !reduce(r, &r->arena, m, to))
		return m;
	to->ndefines = 0;
	to->defines = defines;
	for (uint32_t i = 0; i < m->ndefines; i++)
		if ((r->tables >> m->defines[i].table & 1) != 0)
			defines[to->ndefines++] = m->defines[i];
	to->needs_fields = vocab_needs_fields(to);
	return to;
}

static const struct plan *reduced_find(const struct vocabulary *vocabulary, struct slice class_name,
                                       trace_has_field *has, const void *ctx)
{
	const struct vocab_reduced *const v = (const struct vocab_reduced *)vocabulary;
	struct vocab_reduced *const r = &v->of->reduced[v->without];
	const struct plan *const m = vocab_find(&r->of->base, class_name, has, ctx);
	const uint32_t known = m != NULL ? table64_get(&r->index, (uintptr_t)m) : TABLE_NONE;

	if (m == NULL || known != TABLE_NONE)
		return m != NULL ? r->plans[known] : NULL;
	if (!array_reserve(&r->plans, r->n, &r->cap, sizeof *r->plans) ||
	    !table64_put(&r->index, (uintptr_t)m, r->n))
		return m;
	return r->plans[r->n++] = reduced(r, m);
}

static uint8_t reduced_table(const struct vocabulary *vocabulary, struct slice name)
{
	return find_table(&((const struct vocab_reduced *)vocabulary)->of->base, name);
}

static const struct plan_template *reduced_track_name(const struct vocabulary *vocabulary, bool process,
                                                      uint64_t id)
{
	return track_name(&((const struct vocab_reduced *)vocabulary)->of->base, process, id);
}

static const struct vocabulary_ops reduced_ops = { reduced_find, reduced_table, reduced_track_name };

/* The tables that the reduced rules refer to; all on OOM. */
static uint64_t tables_left(const struct vocab_reduced *r)
{
	struct arena arena = { .used = 0 };
	uint64_t tables = 0;

	for (uint32_t i = 0; i < r->of->nrows; i++) {
		const struct plan *const m = &r->of->rows[i]->plan;
		struct plan left;
		tables |= reduce(r, &arena, m, &left) ? vocab_tables(&left) : UINT64_MAX;
	}
	arena_free(&arena);
	return tables;
}

const struct vocabulary *vocab_reduced(const struct vocabulary *vocabulary, unsigned without)
{
	const struct vocab *const v = (const struct vocab *)vocabulary;
	struct vocab_reduced *const r = &v->reduced[without];

	r->base = v->base; /* scopes of tables that were added since */
	r->base.ops = &reduced_ops;
	if (r->of == NULL) {
		r->of = v;
		r->without = without;
		r->tables = tables_left(r);
	}
	return &r->base;
}

static void free_reduced(struct vocab_reduced *r)
{
	for (unsigned i = 0; r != NULL && i <= VOCAB_PARTS; i++) {
		table64_free(&r[i].index);
		free(r[i].plans);
		arena_free(&r[i].arena);
	}
	free(r);
}

/* ---- a vocabulary ---- */

void vocab_set_use(struct vocabulary *v, struct vocab_use *use)
{
	((struct vocab *)v)->use = use;
}

struct vocabulary *vocab_new(const char *format)
{
	struct vocab *const v = calloc(1, sizeof *v);

	if (v == NULL)
		return NULL;
	v->base.ops = &ops;
	v->base.stateless = true;
	v->format = format;
	v->chains = calloc(1, sizeof *v->chains);
	v->reduced = calloc(VOCAB_PARTS + 1, sizeof *v->reduced);
	if (v->chains != NULL && v->reduced != NULL && pthread_mutex_init(&v->chains->lock, NULL) == 0)
		return &v->base;
	free(v->chains);
	free(v->reduced);
	free(v);
	return NULL;
}

void vocab_free(struct vocabulary *vocabulary)
{
	struct vocab *const v = (struct vocab *)vocabulary;

	if (v == NULL)
		return;
	free_chains(v->chains);
	free_reduced(v->reduced);
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
	return SLICE_NONE;
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
