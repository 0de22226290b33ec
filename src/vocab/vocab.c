#include "vocab/vocab.h"

#include <stdlib.h>

#include "vocab/vocab_builtin.h"
#include "vocab/vocab_state.h"

const struct rule vocab_rules[] = {
#define RULE RULE_ROW
#include "vocab/vocab_rules.def"
#undef RULE
	{ .id = NULL }
};

static uint8_t
find_table(const struct vocabulary *vocabulary, struct slice name)
{
	const struct vocab *const v = (const struct vocab *)vocabulary;

	for (uint32_t i = v->ntables;
	     i-- > 0;) /* of two scopes the last: the built-in's, whom readers know */
		if (slice_equal(v->tables[i], name))
			return (uint8_t)i;
	return PLAN_NO_TABLE;
}

static const struct plan_template *
track_name(const struct vocabulary *vocabulary, bool process, uint64_t id)
{
	const struct vocab *const v = (const struct vocab *)vocabulary;
	const struct vocab_names *const n = process ? &v->processes : &v->threads;
	const uint32_t single = table64_get(&n->by_id, id);

	return single != TABLE_NONE ? n->single[single] : n->all;
}

static const struct vocabulary_ops ops = { vocab_find, find_table, track_name };

struct vocabulary *
vocab_new(const char *format)
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

void
vocab_free(struct vocabulary *vocabulary)
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

void
vocab_set_formats(struct vocabulary *vocabulary, const char *const *formats)
{
	((struct vocab *)vocabulary)->formats = formats;
}

const char *
vocab_last_format(const struct vocabulary *vocabulary)
{
	return ((const struct vocab *)vocabulary)->last_format.p;
}

bool
vocab_no_memory(const struct vocabulary *vocabulary)
{
	return ((const struct vocab *)vocabulary)->no_memory;
}

/* ---- files ---- */

bool
vocab_read_file(const char *path, struct findings *findings, char **text, size_t *n)
{
	return yaml_read(path, VOCAB_MAX_BYTES, vocab_rules, findings, text, n);
}

bool
vocab_add_file(struct vocabulary *v, const char *path, struct findings *findings, size_t *rules)
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

struct slice
vocab_builtin(const char *format)
{
	for (const struct vocab_schema *s = vocab_schemas; s->format != NULL; s++)
		if (strcmp(s->format, format) == 0)
			return slice_of((const char *)s->text, s->n);
	return (struct slice){ NULL, 0, 0 };
}
