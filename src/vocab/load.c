/* Loads a file: its format, tables, names of tracks, null values and rules.  The draft becomes part of the
 * vocabulary only if the whole file has no mistake.  Memory of a failed file stays allocated in the arena
 * until the vocabulary is freed. */
#include "vocab/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/match.h"
#include "base/numbers.h"

/* ---- names of processes and threads ---- */

void vocab_names_free(struct vocab_names *n)
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
			yaml_bad(&d->file, key, "%s has a key that is not a number from 0 to %" PRIu64 ": %s",
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
	       yaml_bad(&d->file, node, "none has a value that is not a number: %s",
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

/* Notes that a text was added, and assigns its use to the rules from `first` on.  Returns false on OOM. */
static bool note_use(struct vocab *v, uint32_t first)
{
	if (v->use == NULL)
		return true;
	atomic_store(&v->use->added, true);
	if (slice_is(v->last_format, v->format))
		atomic_store(&v->use->fits, true);
	if (v->nrows == first)
		return true;
	struct vocab_uses *const u = arena_alloc(&v->arena, sizeof *u);
	if (u == NULL)
		return false;
	*u = (struct vocab_uses){ v->use, v->uses };
	v->uses = u;
	for (uint32_t i = first; i < v->nrows; i++)
		v->rows[i]->use = v->use;
	return true;
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

	v->last_format = SLICE_NONE;
	v->no_memory = false;
	if (n > VOCAB_MAX_BYTES) {
		d.file.text.n = 0;
		yaml_report_at(&d.file, YAML_UNREADABLE, 1, 1, "the file is larger than %u MiB",
		               VOCAB_MAX_BYTES >> 20);
	} else {
		ok = read_nodes(&d) && commit(&d, nrows) && note_use(v, nrows);
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
