/* Maps of names: a YAML mapping of names of the old side to names of the new one. */
#include "change/change.h"

#include <stdlib.h>

#include "yaml/yaml.h"

static bool add_name(struct change_map *m, struct slice old, struct slice new)
{
	if (!array_reserve(&m->names, m->n, &m->cap, sizeof *m->names) ||
	    !tabletext_put(&m->index, old, m->n))
		return false;
	m->names[m->n++] = (struct change_name){ .old = old, .new = new };
	return true;
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
		yaml_report(&f, YAML_BAD_VALUE, root,
		            "a map has names with a colon behind them: \"old: new\"");
	for (const struct yaml_node *key = root != NULL && root->kind == NODE_MAP ? root->child : NULL;
	     key != NULL && !f.no_memory; key = key->next->next)
		if (yaml_is_text(&f, key, "an old name") && yaml_is_text(&f, key->next, "a new name"))
			f.no_memory |= !add_name(m, key->text, key->next->text);
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
