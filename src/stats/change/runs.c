/* The table of a run: spans of its statistics, with names of the old side mapped to those of the new one (a
 * YAML mapping), and source lines removed from names. */
#include "stats/change/change.h"

#include <stdlib.h>

#include "base/match.h"
#include "yaml/yaml.h"

/* ---- maps of names ---- */

static void add_name(struct change_map *m, struct yaml_file *f, const struct yaml_node *key)
{
	if (tabletext_get(&m->index, key->text) != TABLE_NONE)
		yaml_repeated(f, key);
	else if (array_reserve(&m->names, m->n, &m->cap, sizeof *m->names) &&
	         tabletext_put(&m->index, key->text, m->n))
		m->names[m->n++] = (struct change_name){ .old = key->text, .new = key->next->text };
	else
		f->no_memory = true;
}

bool change_map_read(struct change_map *m, const char *path, struct findings *findings, bool *no_memory)
{
	struct yaml_file f = { .rules = compare_rules, .findings = findings };
	size_t n;

	*no_memory = false;
	if (!yaml_read(path, CHANGE_MAP_MAX_BYTES, compare_rules, findings, &m->text, &n))
		return false;
	f.text = slice_of(m->text, n);
	const struct yaml_node *const root = yaml_root(&f);
	if (root != NULL && root->kind != NODE_MAP)
		yaml_report(&f, YAML_BAD_VALUE, root, "a map has lines \"old: new\"");
	for (const struct yaml_node *key = root != NULL && root->kind == NODE_MAP ? root->child : NULL;
	     key != NULL && !f.no_memory; key = key->next->next)
		if (yaml_is_text(&f, key, "an old name") && yaml_is_text(&f, key->next, "a new name"))
			add_name(m, &f, key);
	m->nodes = f.nodes;
	*no_memory = f.no_memory;
	return f.mistakes == 0 && root != NULL && !f.no_memory;
}

void change_map_free(struct change_map *m)
{
	arena_free(&m->nodes);
	free(m->text);
	free(m->names);
	tabletext_free(&m->index);
	*m = (struct change_map){ .text = NULL };
}

/* ---- tables of runs ---- */

/* Returns the name on the new side: that of the map, else the same. */
static struct slice mapped(struct change_map *map, struct slice name)
{
	const uint32_t i = map != NULL ? tabletext_get(&map->index, name) : TABLE_NONE;

	if (i == TABLE_NONE)
		return name;
	map->names[i].met = true;
	return map->names[i].new;
}

/* Returns the key that a map applies to: the name, or if it is not a key, the first one. */
static unsigned mapped_key(const struct stats *s)
{
	for (unsigned i = 0; i < group_by_count(&s->by); i++)
		if (strcmp(group_by_key(&s->by, i), "name") == 0)
			return i;
	return 0;
}

struct adding {
	struct stats *run;
	const struct stats *from;
	struct change_map *map;
	bool ignore_lines;
	unsigned key; /* that the map applies to */
};

static bool add_row(void *ctx, const struct span_table *t, struct span_row *row)
{
	const struct adding *const a = ctx;
	struct span_table *const to = t == &a->from->spans ? &a->run->spans : &a->run->async;
	struct slice *const name = &row->values[a->key];

	*name = mapped(a->map, *name);
	if (a->ignore_lines && !row->other)
		*name = slice_without_line(*name);
	return stats_add_span(a->run, to, row, &a->from->pool, NULL);
}

bool change_add(struct stats *run, const struct stats *from, struct change_map *map, bool ignore_lines)
{
	struct adding a = { run, from, map, ignore_lines, mapped_key(run) };

	run->joint = true;
	run->pool.coarse += from->pool.coarse;
	run->has_bytes |= from->has_bytes;
	return stats_each_span(from, add_row, &a);
}

uint64_t change_count_moved(const struct change *c)
{
	const unsigned key = mapped_key(c->sides[CHANGE_OLD].runs[0]);
	struct tabletext gone = { .slots = NULL };
	uint64_t n = 0;
	bool ok = true;

	for (uint32_t i = 0; i < c->n && ok; i++) {
		const struct slice name = c->pairs[i].keys[key], place = slice_without_line(name);
		if (!c->pairs[i].sides[CHANGE_NEW].there && place.n < name.n)
			ok = tabletext_put(&gone, place, i);
	}
	for (uint32_t i = 0; i < c->n && ok; i++) {
		const struct slice name = c->pairs[i].keys[key], place = slice_without_line(name);
		n += !c->pairs[i].sides[CHANGE_OLD].there && place.n < name.n &&
		     tabletext_get(&gone, place) != TABLE_NONE;
	}
	tabletext_free(&gone);
	return n;
}
