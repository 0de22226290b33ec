#include <stdarg.h>
#include <stdio.h>

#include "base/edit_distance.h"
#include "vocab/vocab_state.h"

/* Mistakes, and the plain values of the language. */

_Static_assert((int)VOCAB_RULE_UNREADABLE == (int)YAML_UNREADABLE &&
                   (int)VOCAB_RULE_BAD_VALUE == (int)YAML_BAD_VALUE,
               "rules stand in the order of enum yaml_mistake");

void
vocab_say(struct vocab_draft *d, enum vocab_rule rule, const struct yaml_node *at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	yaml_say_v(&d->file, (enum yaml_mistake)rule, at->line, at->column, fmt, ap);
	va_end(ap);
}

void *
vocab_alloc(struct vocab_draft *d, size_t n, size_t size)
{
	void *const p = arena_zalloc(&d->v->arena, n, size);

	d->file.no_memory |= p == NULL;
	return p;
}

struct slice
vocab_copy(struct vocab_draft *d, struct slice s)
{
	const char *const known = tabletext_key(&d->v->texts, s);
	const struct slice copy =
	    known != NULL ? (struct slice){ known, s.n, s.flags } : arena_copy(&d->v->arena, s);

	if (copy.p == NULL || (known == NULL && !tabletext_put(&d->v->texts, copy, 0)))
		d->file.no_memory = true;
	return copy;
}

bool
vocab_text(struct vocab_draft *d, const struct yaml_node *node, const char *what, struct slice *out)
{
	if (!yaml_is_text(&d->file, node, what))
		return false;
	*out = vocab_copy(d, node->text);
	return out->p != NULL;
}

bool
vocab_texts(struct vocab_draft *d, const struct yaml_node *node, const char *what, const struct slice **out,
            uint32_t *n)
{
	const bool list = node->kind == NODE_LIST;
	struct slice *const texts = vocab_alloc(d, list ? node->n : 1, sizeof *texts);
	uint32_t i = 0;

	if (texts == NULL)
		return false;
	if (list && node->n == 0) {
		vocab_say(d, VOCAB_RULE_BAD_VALUE, node, "%s is an empty list", what);
		return false;
	}
	for (const struct yaml_node *item = list ? node->child : node; item != NULL;
	     item = list ? item->next : NULL)
		if (vocab_text(d, item, what, &texts[i]))
			i++;
	*out = texts;
	*n = i;
	return i > 0;
}

bool
vocab_bool(struct vocab_draft *d, const struct yaml_node *node, const char *what, bool *out)
{
	static const char *const words[] = { "false", "true", NULL };
	uint32_t i;

	if (!vocab_choice(d, node, what, words, &i))
		return false;
	*out = i == 1;
	return true;
}

bool
vocab_choice(struct vocab_draft *d, const struct yaml_node *node, const char *what, const char *const *words,
             uint32_t *out)
{
	return yaml_word(&d->file, node, what, words, out);
}

bool
vocab_number_word(struct vocab_draft *d, struct tabletext *words, const struct yaml_node *node,
                  const char *what, uint16_t *out, struct slice *text)
{
	if (!vocab_text(d, node, what, text))
		return false;
	uint32_t number = tabletext_get(words, *text);
	if (number == TABLE_NONE) {
		if (d->v->nwords == VOCAB_MAX_WORDS) {
			vocab_say(d, VOCAB_RULE_BAD_VALUE, node,
			          "pairs and states have more than %u different words in all",
			          VOCAB_MAX_WORDS);
			return false;
		}
		number = d->v->nwords + 1;
		if (!tabletext_put(words, *text, number)) {
			d->file.no_memory = true;
			return false;
		}
		d->v->nwords++;
	}
	*out = (uint16_t)number;
	return true;
}

bool
vocab_table(struct vocab_draft *d, const struct yaml_node *at, struct slice name, uint8_t *out)
{
	const struct slice *best = NULL;
	size_t distance = SIZE_MAX;
	struct quoted q, r;

	for (uint32_t i = 0; i < d->ntables; i++) {
		const struct slice *const known = &d->v->tables[d->tables[i]];
		if (slice_equal(*known, name)) {
			*out = d->tables[i];
			return true;
		}
		char typed[64];
		snprintf(typed, sizeof typed, "%.*s", name.n > 63 ? 63 : (int)name.n, name.p);
		const size_t far = edit_distance(typed, known->p);
		if (far < distance && edit_distance_plausible(typed, known->p)) {
			distance = far;
			best = known;
		}
	}
	if (best != NULL)
		vocab_say(d, VOCAB_RULE_BAD_VALUE, at, "tables does not declare %s; is it %s?",
		          quoted(&q, name), quoted(&r, *best));
	else
		vocab_say(d, VOCAB_RULE_BAD_VALUE, at, "tables does not declare %s", quoted(&q, name));
	return false;
}

/* ---- mappings ---- */

bool
vocab_map(struct vocab_draft *d, const struct yaml_node *node, const char *what, const struct vocab_key *keys,
          size_t nkeys, void *ctx)
{
	const struct yaml_node *values[VOCAB_MAX_KEYS];

	if (!yaml_keys(&d->file, node, what, &keys[0].name, sizeof keys[0], nkeys, values))
		return false;
	for (size_t i = 0; i < nkeys; i++)
		if (values[i] != NULL && keys[i].take != NULL)
			keys[i].take(d, values[i], ctx);
	return true;
}
