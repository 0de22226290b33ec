#include "vocab/vocab.h"

#include <stdlib.h>

#include "base/match.h"
#include "base/memory.h"
#include "vocab/private.h"

/* ---- vocab find ---- */

/* Which rules are for a class, and what they make together. */

static uint32_t add_pattern(struct vocab_patterns *p, struct slice text, uint32_t row)
{
	if (!array_room(&p->rows, p->n, &p->cap, sizeof *p->rows))
		return VOCAB_NONE;
	p->rows[p->n] = (struct vocab_pattern){ text, row, VOCAB_NONE };
	return p->n++;
}

/* Rows are put in from the last to the first, so that the newest pattern of a text goes before the others of
 * the same file. */
static bool index_exact(struct vocab *v, struct slice text, uint32_t row, uint32_t first)
{
	const uint32_t i = add_pattern(&v->exact, text, row);
	uint32_t head = tabletext_get(&v->exact_index, text), before = VOCAB_NONE;

	if (i == VOCAB_NONE)
		return false;
	for (; head != TABLE_NONE && v->exact.rows[head].row < first; head = v->exact.rows[head].next)
		before = head; /* of earlier files */
	v->exact.rows[i].next = head != TABLE_NONE ? head : VOCAB_NONE;
	if (before == VOCAB_NONE)
		return tabletext_put(&v->exact_index, text, i);
	v->exact.rows[before].next = i;
	return true;
}

bool vocab_index_rows(struct vocab *v, uint32_t first)
{
	for (uint32_t i = v->nrows; i-- > first;)
		for (uint32_t k = 0; k < v->rows[i]->nexact; k++)
			if (!index_exact(v, v->rows[i]->exact[k], i, first))
				return false;
	for (uint32_t i = first; i < v->nrows; i++)
		for (uint32_t k = 0; k < v->rows[i]->nglobs; k++)
			if (add_pattern(&v->globs, v->rows[i]->globs[k], i) == VOCAB_NONE)
				return false;
	return true;
}

/* ---- a class ---- */

struct search {
	const struct vocab *v;
	struct slice name;
	trace_has_field *has;
	const void *ctx;
	uint32_t exact, glob; /* where each list goes on */
};

static bool has_fields(const struct search *s, const struct vocab_row *row)
{
	for (uint32_t i = 0; i < row->nfields; i++)
		if (s->has == NULL || !s->has(s->ctx, row->fields[i]))
			return false;
	return true;
}

/* The next rule for the class; VOCAB_NONE: no more. */
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

/* The next rule that has words for the reader, whatever an event is called; VOCAB_NONE: no more. */
static uint32_t next_worded(struct search *s)
{
	uint32_t row;

	while ((row = next_row(s)) != VOCAB_NONE) {
		const struct plan *const m = &s->v->rows[row]->plan;
		if (m->named.p == NULL && m->words != NULL)
			break;
	}
	return row;
}

/* ---- meanings of more than one rule: those that ask for the event's own name, and those without words for
 * the reader ---- */

static void vocab_chains_free(struct vocab_chains *c)
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

/* A copy of a rule's meaning that is one with something else; `code` says with what, and then what both are.
 * *fresh: it is new, and the rest is to be put in.  NULL: there are too many, or memory is out. */
static struct plan *made(const struct vocab *v, uint32_t row, uint32_t *code, bool *fresh)
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
		c->made[i = c->n++] = m;
	}
	*code = i + 1;
	return c->made[i];
}

/* The words for the reader are facts of the format: a rule that says nothing of them leaves them as they are.
 */
static void inherit_words(struct plan *m, const struct plan *from)
{
	if (m->words != NULL || from == NULL || from->words == NULL)
		return;
	m->words = from->words;
	m->nwords = from->nwords;
	if (!m->has_layout)
		m->shape = from->shape != NULL || from->has_layout ? plan_shape(from) : NULL;
}

/* The meaning of a rule that holds for any name; `words` is the rule whose words it has. */
static const struct plan *plain(const struct vocab *v, uint32_t row, uint32_t words, uint32_t *code)
{
	if (words != VOCAB_NONE) {
		bool fresh;
		*code = code_of_row(words);
		struct plan *const m = made(v, row, code, &fresh);
		if (m != NULL && fresh)
			inherit_words(m, &v->rows[words]->plan);
		if (m != NULL)
			return m;
	}
	*code = code_of_row(row);
	return &v->rows[row]->plan;
}

/* The meaning of a rule that asks for a name, with what counts for other names. */
static const struct plan *chain(const struct vocab *v, uint32_t row, const struct plan *otherwise,
                                const struct plan *words, uint32_t *code)
{
	bool fresh;
	struct plan *const m = made(v, row, code, &fresh);

	if (m == NULL || !fresh)
		return m;
	m->otherwise = otherwise;
	if (otherwise != NULL) {
		m->category = otherwise->category; /* of the whole class, and so are the parts of its name */
		m->categories = otherwise->categories;
		m->ncategories = otherwise->ncategories;
		m->shapes = otherwise->shapes;
		m->nshapes = otherwise->nshapes;
		m->stack_of = m->stack.p == NULL ? otherwise->stack_of : m->stack_of;
		m->stack = m->stack.p == NULL ? otherwise->stack : m->stack;
		m->needs_fields |= otherwise->needs_fields;
	}
	inherit_words(m, words);
	return m;
}

/* Looks classes up; see struct vocabulary_ops. */
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
		const bool has_words = v->rows[row]->plan.words != NULL;
		m = plain(v, row, has_words ? VOCAB_NONE : next_worded(&s), &code);
	}
	const struct plan *const last = m;
	while (n > 0) {
		const struct plan *const longer = chain(v, rows[--n], m, last, &code);
		if (longer == NULL)
			return NULL;
		m = longer;
	}
	return m;
}

/* ---- vocab ---- */

const struct rule vocab_rules[] = {
#define RULE RULE_ROW
#include "vocab/vocab_rules.def"
#undef RULE
	{ .id = NULL }
};

static uint8_t find_table(const struct vocabulary *vocabulary, struct slice name)
{
	const struct vocab *const v = (const struct vocab *)vocabulary;

	for (uint32_t i = v->ntables;
	     i-- > 0;) /* of two scopes the last: the built-in's, whom readers know */
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

struct vocabulary *vocab_new(const char *format)
{
	struct vocab *const v = calloc(1, sizeof *v);

	if (v == NULL)
		return NULL;
	v->base.ops = &ops;
	v->format = format;
	v->chains = calloc(1, sizeof *v->chains);
	if (v->chains != NULL)
		return &v->base;
	free(v);
	return NULL;
}

void vocab_free(struct vocabulary *vocabulary)
{
	struct vocab *const v = (struct vocab *)vocabulary;

	if (v == NULL)
		return;
	vocab_chains_free(v->chains);
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

/* ---- files ---- */

bool vocab_read_file(const char *path, struct findings *findings, char **text, size_t *n)
{
	return yaml_read(path, VOCAB_MAX_BYTES, vocab_rules, findings, text, n);
}

bool vocab_add_file(struct vocabulary *v, const char *path, struct findings *findings, size_t *rules)
{
	char *text;
	size_t n;

	if (rules != NULL)
		*rules = 0;
	if (!vocab_read_file(path, findings, &text, &n))
		return false;
	const bool ok = vocab_add_text(v, text, n, findings, rules);
	free(text);
	return ok;
}

/* ---- what is built in ---- */

struct slice vocab_builtin(const char *format)
{
	for (const struct vocab_schema *s = vocab_schemas; s->format != NULL; s++)
		if (strcmp(s->format, format) == 0)
			return slice_of((const char *)s->text, s->n);
	return (struct slice){ NULL, 0, 0 };
}
