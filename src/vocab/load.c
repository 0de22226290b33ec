#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/match.h"
#include "vocab/private.h"

/* ---- vocab value ---- */

/* Mistakes, and the plain values of the language. */

_Static_assert((int)VOCAB_RULE_UNREADABLE == (int)YAML_UNREADABLE &&
                   (int)VOCAB_RULE_BAD_VALUE == (int)YAML_BAD_VALUE,
               "rules stand in the order of enum yaml_mistake");

void vocab_say(struct vocab_draft *d, enum vocab_rule rule, const struct yaml_node *at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	yaml_say_v(&d->file, (enum yaml_mistake)rule, at->line, at->column, fmt, ap);
	va_end(ap);
}

void *vocab_alloc(struct vocab_draft *d, size_t n, size_t size)
{
	void *const p = arena_zalloc(&d->v->arena, n, size);

	d->file.no_memory |= p == NULL;
	return p;
}

struct slice vocab_copy(struct vocab_draft *d, struct slice s)
{
	const char *const known = tabletext_key(&d->v->texts, s);
	const struct slice copy =
	    known != NULL ? (struct slice){ known, s.n, s.flags } : arena_copy(&d->v->arena, s);

	if (copy.p == NULL || (known == NULL && !tabletext_put(&d->v->texts, copy, 0)))
		d->file.no_memory = true;
	return copy;
}

bool vocab_text(struct vocab_draft *d, const struct yaml_node *node, const char *what, struct slice *out)
{
	if (!yaml_is_text(&d->file, node, what))
		return false;
	*out = vocab_copy(d, node->text);
	return out->p != NULL;
}

bool vocab_texts(struct vocab_draft *d, const struct yaml_node *node, const char *what,
                 const struct slice **out, uint32_t *n)
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

bool vocab_bool(struct vocab_draft *d, const struct yaml_node *node, const char *what, bool *out)
{
	static const char *const words[] = { "false", "true", NULL };
	uint32_t i;

	if (!vocab_choice(d, node, what, words, &i))
		return false;
	*out = i == 1;
	return true;
}

bool vocab_choice(struct vocab_draft *d, const struct yaml_node *node, const char *what,
                  const char *const *words, uint32_t *out)
{
	return yaml_word(&d->file, node, what, words, out);
}

bool vocab_number_word(struct vocab_draft *d, struct tabletext *words, const struct yaml_node *node,
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

bool vocab_table(struct vocab_draft *d, const struct yaml_node *at, struct slice name, uint8_t *out)
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

bool vocab_map(struct vocab_draft *d, const struct yaml_node *node, const char *what,
               const struct vocab_key *keys, size_t nkeys, void *ctx)
{
	const struct yaml_node *values[VOCAB_MAX_KEYS];

	if (!yaml_keys(&d->file, node, what, &keys[0].name, sizeof keys[0], nkeys, values))
		return false;
	for (size_t i = 0; i < nkeys; i++)
		if (values[i] != NULL && keys[i].take != NULL)
			keys[i].take(d, values[i], ctx);
	return true;
}

/* ---- vocab load ---- */

/* A file as a whole: its format, tables, names of tracks, and rules. */

/* ---- names of processes and threads ---- */

void vocab_names_free(struct vocab_names *n)
{
	table64_free(&n->by_id);
	free(n->single);
	*n = (struct vocab_names){ .all = NULL };
}

/* The template of one name, whose only reference can be to the number. */
static const struct plan_template *take_name(struct vocab_draft *d, const struct yaml_node *value,
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
			vocab_say(d, VOCAB_RULE_BAD_VALUE, value, "%s can only refer to {id}", what);
			return NULL;
		}
	}
	if (refs <= 1)
		return t;
	vocab_say(d, VOCAB_RULE_BAD_VALUE, value, "%s refers to {id} more than once", what);
	return NULL;
}

static bool put_single(struct vocab_names *n, uint64_t id, const struct plan_template *t)
{
	if (n->nsingle == n->single_cap) {
		const uint32_t cap = n->single_cap == 0 ? 16 : n->single_cap * 2;
		const struct plan_template **const p =
		    realloc(n->single, cap * sizeof(const struct plan_template *));
		if (p == NULL)
			return false;
		n->single = p;
		n->single_cap = cap;
	}
	n->single[n->nsingle] = t;
	return table64_put(&n->by_id, id, n->nsingle++);
}

bool vocab_take_id(struct slice s, uint64_t *id)
{
	*id = 0;
	for (uint32_t i = 0; i < s.n; i++) {
		const unsigned digit = (unsigned)(s.p[i] - '0');
		if (digit > 9 || *id > (UINT64_MAX - digit) / 10)
			return false;
		*id = *id * 10 + digit;
	}
	return s.n > 0;
}

static void take_singles(struct vocab_draft *d, const struct yaml_node *value, const char *what,
                         struct vocab_names *n)
{
	struct quoted q;
	uint64_t id;

	if (value->kind != NODE_MAP) {
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value, "%s is a mapping of numbers to names", what);
		return;
	}
	for (const struct yaml_node *key = value->child; key != NULL; key = key->next->next) {
		if (key->kind != NODE_SCALAR || !vocab_take_id(key->text, &id)) {
			vocab_say(d, VOCAB_RULE_BAD_VALUE, key,
			          "%s has a key that is no number from 0 to %" PRIu64 ": %s", what,
			          UINT64_MAX,
			          quoted(&q, key->kind == NODE_SCALAR ? key->text : SLICE_LIT("")));
			continue;
		}
		if (table64_get(&n->by_id, id) != TABLE_NONE) {
			vocab_say(d, VOCAB_RULE_SYNTAX, key, "the key %s stands here a second time",
			          quoted(&q, key->text));
			continue;
		}
		const struct plan_template *const t = take_name(d, key->next, "a name");
		d->file.no_memory |= t != NULL && !put_single(n, id, t);
	}
}

static void take_process(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	d->processes.all = take_name(d, value, "process");
}

static void take_thread(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	d->threads.all = take_name(d, value, "thread");
}

static void take_processes(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	take_singles(d, value, "processes", &d->processes);
}

static void take_threads(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	take_singles(d, value, "threads", &d->threads);
}

static void take_tracks(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	static const struct vocab_key keys[] = { { "process", take_process },
		                                 { "thread", take_thread },
		                                 { "processes", take_processes },
		                                 { "threads", take_threads } };

	vocab_map(d, value, "tracks", keys, sizeof keys / sizeof keys[0], NULL);
}

/* An earlier file wins; if it names all, it also names those that this one names singly. */
static bool merge_names(struct vocab_names *to, const struct vocab_names *from)
{
	if (to->all != NULL)
		return true;
	for (size_t i = 0; from->by_id.slots != NULL && i <= from->by_id.mask; i++) {
		const struct table64_slot *const slot = &from->by_id.slots[i];
		if (slot->value != TABLE_NONE && table64_get(&to->by_id, slot->key) == TABLE_NONE &&
		    !put_single(to, slot->key, from->single[slot->value]))
			return false;
	}
	to->all = from->all;
	return true;
}

/* ---- format, tables, events ---- */

static void take_format(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	const char *const *const known = d->v->formats, *best = NULL;
	size_t distance = SIZE_MAX, used = 0;
	char list[200] = "";
	struct slice name;
	struct quoted q;

	if (!vocab_text(d, value, "format", &name))
		return;
	d->format = name;
	for (size_t i = 0; known != NULL && known[i] != NULL; i++) {
		const size_t far = edit_distance(name.p, known[i]);
		if (far == 0)
			return;
		if (far < distance && edit_distance_plausible(name.p, known[i])) {
			distance = far;
			best = known[i];
		}
	}
	if (known == NULL)
		return;
	for (size_t i = 0; known[i] != NULL && used < sizeof list; i++)
		used +=
		    (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", known[i]);
	if (best != NULL)
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value,
		          "there is no input format named %s; did you mean %s?", quoted(&q, name), best);
	else
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value, "there is no input format named %s; there are %s",
		          quoted(&q, name), list);
}

/* Tables of one name and one scope are one, whichever files declare them. */
static void declare_table(struct vocab_draft *d, const struct yaml_node *at, struct slice name, uint8_t scope)
{
	struct vocab *const v = d->v;
	uint32_t i = 0;

	while (i < v->ntables && !(slice_equal(v->tables[i], name) && v->base.scopes[i] == scope))
		i++;
	if (i == PLAN_MAX_TABLES) {
		vocab_say(d, VOCAB_RULE_BAD_VALUE, at, "there are more than %d tables in all",
		          PLAN_MAX_TABLES);
		return;
	}
	if (i == v->ntables) {
		v->tables[i] = name;
		v->base.scopes[i] = scope;
		v->ntables++;
	}
	d->tables[d->ntables++] = (uint8_t)i;
}

static void take_tables(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	static const char *const scopes[] = { "process", "thread", "trace", NULL }; /* enum meaning_scope */
	struct quoted q;

	if (value->kind != NODE_MAP) {
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value,
		          "tables is a mapping of names to process, thread or trace");
		return;
	}
	for (const struct yaml_node *key = value->child; key != NULL; key = key->next->next) {
		struct slice name;
		uint32_t scope;
		if (!vocab_text(d, key, "the name of a table", &name) ||
		    !vocab_choice(d, key->next, "the scope of a table", scopes, &scope))
			continue;
		bool again = false;
		for (uint32_t i = 0; i < d->ntables; i++)
			again |= slice_equal(d->v->tables[d->tables[i]], name);
		if (again)
			vocab_say(d, VOCAB_RULE_SYNTAX, key, "the key %s stands here a second time",
			          quoted(&q, name));
		else if (name.n != strcspn(name.p, "{}|,"))
			vocab_say(d, VOCAB_RULE_BAD_VALUE, key,
			          "the name of a table holds none of { } | and commas");
		else
			declare_table(d, key, name, (uint8_t)scope);
	}
}

static void take_events(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	if (value->kind != NODE_LIST) {
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value, "events is a list of rules");
		return;
	}
	for (const struct yaml_node *item = value->child; item != NULL; item = item->next) {
		if (d->v->nrows == VOCAB_MAX_RULES ||
		    d->nrules == VOCAB_MAX_RULES) { /* bad ones take memory too */
			vocab_say(d, VOCAB_RULE_BAD_VALUE, item, "there are more than %u rules in all",
			          VOCAB_MAX_RULES);
			return;
		}
		vocab_take_rule(d, item);
	}
}

/* Tables and what means nothing before those who name them. */
static const struct vocab_key file_keys[] = {
	{ "format", take_format }, { "tables", take_tables }, { "none", vocab_take_none },
	{ "tracks", take_tracks }, { "events", take_events },
};

/* ---- the whole ---- */

static bool read_nodes(struct vocab_draft *d)
{
	const struct yaml_node *const root = yaml_root(&d->file);

	if (root != NULL &&
	    vocab_map(d, root, "a vocabulary", file_keys, sizeof file_keys / sizeof file_keys[0], NULL) &&
	    d->format.p == NULL && d->file.mistakes == 0)
		vocab_say(d, VOCAB_RULE_BAD_VALUE, root,
		          "the file does not say which format it is for: format is needed");
	return d->file.mistakes == 0 && !d->file.no_memory;
}

/* Takes what was read, unless it is for another format. */
static bool keep(struct vocab_draft *d, uint32_t first)
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
	const uint32_t nrows = v->nrows, ntables = v->ntables, nnamed = v->nnamed;
	bool ok = false;

	v->last_format = (struct slice){ NULL, 0, 0 };
	v->no_memory = false;
	if (n > VOCAB_MAX_BYTES) {
		d.file.text.n = 0;
		yaml_say_at(&d.file, YAML_UNREADABLE, 1, 1, "the file is larger than %u MiB",
		            VOCAB_MAX_BYTES >> 20);
	} else {
		ok = read_nodes(&d) && keep(&d, nrows);
	}
	if (!ok) {
		v->nrows = nrows;
		v->ntables = ntables;
		v->nnamed = nnamed;
		v->no_memory = d.file.no_memory || d.file.mistakes == 0;
	} else if (v->nrows == nrows) {
		v->ntables = ntables; /* it was for another format, or has no rules */
		v->nnamed = nnamed;
	}
	if (rules != NULL)
		*rules = d.nrules;
	vocab_names_free(&d.processes);
	vocab_names_free(&d.threads);
	arena_free(&d.file.nodes);
	return ok;
}
