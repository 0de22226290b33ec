#include <stdarg.h>
#include <stdio.h>

#include "base/edit_distance.h"
#include "base/utf8.h"
#include "check/input_rules.h"
#include "vocab/vocab_state.h"

/* Mistakes, and the plain values of the language. */

/* Where a place of the text stands, whose column counts characters: findings count bytes. */
static const char *
place_of(struct slice text, uint32_t line, uint32_t column)
{
	const char *p = text.p, *const end = text.p + text.n;

	for (; line > 1 && p < end; line--) {
		const char *const nl = memchr(p, '\n', (size_t)(end - p));
		if (nl == NULL)
			break;
		p = nl + 1;
	}
	for (; column > 1 && p < end && *p != '\n'; column--)
		for (p++; p < end && ((unsigned char)*p & 0xc0) == 0x80;)
			p++;
	return p;
}

__attribute__((format(printf, 5, 0))) static void
say_v(struct vocab_draft *d, enum vocab_rule which, uint32_t line, uint32_t column, const char *fmt,
      va_list ap)
{
	const struct rule *const rule = &vocab_rules[which];
	char text[800];

	if (d->no_memory) /* what is missing may have stood there */
		return;
	d->mistakes++;
	if (!finding_is_shown(d->findings, rule)) {
		finding_add_line(d->findings, rule, 0, line, 0, 0, "%s", "");
		return;
	}
	vsnprintf(text, sizeof text, fmt, ap);
	const char *const at = place_of(d->text, line, column);
	const char *begin = at;
	while (begin > d->text.p && begin[-1] != '\n')
		begin--;
	finding_add_line(d->findings, rule, (uint64_t)(at - d->text.p), line, (uint64_t)(at - begin) + 1, 0,
	                 "%s", text);
}

void
vocab_say_at(struct vocab_draft *d, enum vocab_rule rule, uint32_t line, uint32_t column, const char *fmt,
             ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_v(d, rule, line, column, fmt, ap);
	va_end(ap);
}

void
vocab_say(struct vocab_draft *d, enum vocab_rule rule, const struct vocab_node *at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_v(d, rule, at->line, at->column, fmt, ap);
	va_end(ap);
}

void *
vocab_alloc(struct vocab_draft *d, size_t n, size_t size)
{
	void *const p = arena_zalloc(&d->v->arena, n, size);

	d->no_memory |= p == NULL;
	return p;
}

struct slice
vocab_copy(struct vocab_draft *d, struct slice s)
{
	const char *const known = tabletext_key(&d->v->texts, s);
	const struct slice copy =
	    known != NULL ? (struct slice){ known, s.n, s.flags } : arena_copy(&d->v->arena, s);

	if (copy.p == NULL || (known == NULL && !tabletext_put(&d->v->texts, copy, 0)))
		d->no_memory = true;
	return copy;
}

/* Whether a scalar with something in it stands there. */
static bool
is_text(struct vocab_draft *d, const struct vocab_node *node, const char *what)
{
	if (node->kind != NODE_SCALAR)
		vocab_say(d, VOCAB_RULE_BAD_VALUE, node, "%s is a text, not a %s", what,
		          node->kind == NODE_LIST ? "list" : "mapping");
	else if (node->text.n == 0)
		vocab_say(d, VOCAB_RULE_BAD_VALUE, node, "%s is empty", what);
	else
		return true;
	return false;
}

bool
vocab_text(struct vocab_draft *d, const struct vocab_node *node, const char *what, struct slice *out)
{
	if (!is_text(d, node, what))
		return false;
	*out = vocab_copy(d, node->text);
	return out->p != NULL;
}

bool
vocab_texts(struct vocab_draft *d, const struct vocab_node *node, const char *what, const struct slice **out,
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
	for (const struct vocab_node *item = list ? node->child : node; item != NULL;
	     item = list ? item->next : NULL)
		if (vocab_text(d, item, what, &texts[i]))
			i++;
	*out = texts;
	*n = i;
	return i > 0;
}

bool
vocab_bool(struct vocab_draft *d, const struct vocab_node *node, const char *what, bool *out)
{
	static const char *const words[] = { "false", "true", NULL };
	uint32_t i;

	if (!vocab_choice(d, node, what, words, &i))
		return false;
	*out = i == 1;
	return true;
}

bool
vocab_choice(struct vocab_draft *d, const struct vocab_node *node, const char *what, const char *const *words,
             uint32_t *out)
{
	char list[200] = "";
	struct quoted q;
	size_t n = 0;

	if (!is_text(d, node, what))
		return false;
	for (uint32_t i = 0; words[i] != NULL; i++) {
		if (slice_is(node->text, words[i])) {
			*out = i;
			return true;
		}
		if (n < sizeof list)
			n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i > 0 ? ", " : "", words[i]);
	}
	vocab_say(d, VOCAB_RULE_BAD_VALUE, node, "%s is one of %s, not %s", what, list,
	          quoted(&q, node->text));
	return false;
}

bool
vocab_number_word(struct vocab_draft *d, struct tabletext *words, const struct vocab_node *node,
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
			d->no_memory = true;
			return false;
		}
		d->v->nwords++;
	}
	*out = (uint16_t)number;
	return true;
}

bool
vocab_table(struct vocab_draft *d, const struct vocab_node *at, struct slice name, uint8_t *out)
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

static void
say_unknown(struct vocab_draft *d, const struct vocab_node *key, const char *what,
            const struct vocab_key *keys, size_t nkeys)
{
	const char *best = NULL;
	size_t distance = SIZE_MAX;
	struct quoted q;

	for (size_t i = 0; i < nkeys; i++) {
		const size_t far = edit_distance(key->text.p, keys[i].name);
		if (far < distance && edit_distance_plausible(key->text.p, keys[i].name)) {
			distance = far;
			best = keys[i].name;
		}
	}
	if (best != NULL)
		vocab_say(d, VOCAB_RULE_UNKNOWN_KEY, key, "%s has no key %s; did you mean %s?", what,
		          quoted(&q, key->text), best);
	else
		vocab_say(d, VOCAB_RULE_UNKNOWN_KEY, key, "%s has no key %s", what, quoted(&q, key->text));
}

bool
vocab_map(struct vocab_draft *d, const struct vocab_node *node, const char *what,
          const struct vocab_key *keys, size_t nkeys, void *ctx)
{
	const struct vocab_node *values[VOCAB_MAX_KEYS] = { NULL };
	struct quoted q;

	if (node->kind != NODE_MAP) {
		vocab_say(d, VOCAB_RULE_BAD_VALUE, node, "%s is a mapping (key: value), not a %s", what,
		          node->kind == NODE_LIST ? "list" : "text");
		return false;
	}
	for (const struct vocab_node *key = node->child; key != NULL; key = key->next->next) {
		size_t i = 0;
		while (i < nkeys && !(key->kind == NODE_SCALAR && slice_is(key->text, keys[i].name)))
			i++;
		if (key->kind != NODE_SCALAR)
			vocab_say(d, VOCAB_RULE_SYNTAX, key, "a key is a text, not a list or a mapping");
		else if (i == nkeys)
			say_unknown(d, key, what, keys, nkeys);
		else if (values[i] != NULL)
			vocab_say(d, VOCAB_RULE_SYNTAX, key, "the key %s stands here a second time",
			          quoted(&q, key->text));
		else
			values[i] = key->next;
	}
	for (size_t i = 0; i < nkeys; i++)
		if (values[i] != NULL && keys[i].take != NULL)
			keys[i].take(d, values[i], ctx);
	return true;
}
