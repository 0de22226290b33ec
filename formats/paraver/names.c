#include "paraver/names.h"

#include <stdlib.h>

/* ---- groups ---- */

static bool
has_room(const struct paraver_names *n, struct slice text)
{
	return text.n <= PARAVER_MOST_TEXT - n->bytes;
}

static struct slice
keep(struct paraver_names *n, struct slice text)
{
	const struct slice own = arena_copy(&n->arena, text);

	n->failed |= own.p == NULL;
	n->bytes += text.n;
	return own;
}

static uint32_t
add_group(struct paraver_names *n, enum paraver_group_kind kind, struct slice key)
{
	if (n->ngroups >= PARAVER_MOST_TYPES || !has_room(n, key))
		return TABLE_NONE;
	const struct slice own = keep(n, key);
	if (own.p == NULL || !array_room(&n->groups, n->ngroups, &n->groups_cap, sizeof *n->groups) ||
	    !tabletext_put(&n->by_label, own, n->ngroups)) {
		n->failed = true;
		return TABLE_NONE;
	}
	n->groups[n->ngroups] = (struct paraver_group){
		.label = { own.p + 1, own.n - 1, own.flags },
		.first_value = TABLE_NONE,
		.first_type = TABLE_NONE,
		.kind = kind,
	};
	return n->ngroups++;
}

uint32_t
paraver_group(struct paraver_names *n, enum paraver_group_kind kind, struct slice label)
{
	text_clear(&n->key);
	text_char(&n->key, (char)('0' + kind));
	text_slice(&n->key, label);
	if (n->key.failed || n->key.n > PARAVER_MOST_TEXT) {
		n->failed |= n->key.failed;
		return TABLE_NONE;
	}
	const struct slice key = slice_of(n->key.p, n->key.n);
	const uint32_t known = tabletext_get(&n->by_label, key);

	return known != TABLE_NONE ? known : add_group(n, kind, key);
}

/* ---- values ---- */

static uint32_t
text_of(struct paraver_names *n, struct slice name)
{
	const uint32_t known = tabletext_get(&n->by_text, name);

	if (known != TABLE_NONE)
		return known;
	if (!has_room(n, name))
		return TABLE_NONE;
	const struct slice own = keep(n, name);
	if (own.p == NULL || !array_room(&n->texts, n->ntexts, &n->texts_cap, sizeof *n->texts) ||
	    !tabletext_put(&n->by_text, own, n->ntexts)) {
		n->failed = true;
		return TABLE_NONE;
	}
	n->texts[n->ntexts] = own;
	return n->ntexts++;
}

/* Behind those that the group has.  0: no memory. */
static uint32_t
add_value(struct paraver_names *n, uint32_t group, uint32_t text)
{
	struct paraver_group *const g = &n->groups[group];

	if (!array_room(&n->values, n->nvalues, &n->values_cap, sizeof *n->values)) {
		n->failed = true;
		return 0;
	}
	n->values[n->nvalues] = (struct paraver_value){ text, TABLE_NONE };
	if (g->first_value == TABLE_NONE)
		g->first_value = n->nvalues;
	else
		n->values[g->last_value].next = n->nvalues;
	g->last_value = n->nvalues++;
	return ++g->nvalues;
}

static uint32_t
other_value(struct paraver_names *n, uint32_t group)
{
	if (n->groups[group].other == 0) {
		const uint32_t value = add_value(n, group, TABLE_NONE);
		n->groups[group].other = value;
	}
	return n->groups[group].other;
}

uint32_t
paraver_value(struct paraver_names *n, uint32_t group, struct slice name, bool *full)
{
	const uint32_t text =
	    n->nvalues < PARAVER_MOST_NAMES ? text_of(n, name) : tabletext_get(&n->by_text, name);
	const uint64_t key = (uint64_t)group << 32 | text;
	const uint32_t known = text != TABLE_NONE ? table64_get(&n->by_value, key) : TABLE_NONE;

	if (known != TABLE_NONE)
		return known;
	if (text == TABLE_NONE || n->nvalues >= PARAVER_MOST_NAMES) {
		*full = !n->failed;
		return other_value(n, group);
	}
	const uint32_t value = add_value(n, group, text);
	n->failed |= value == 0 || !table64_put(&n->by_value, key, value);
	return value;
}

/* ---- types ---- */

uint32_t
paraver_type(struct paraver_names *n, struct paraver_type like)
{
	struct paraver_group *const g = &n->groups[like.group];
	const uint64_t key =
	    (uint64_t)like.group << 40 | (uint64_t)like.lane << 24 | (uint64_t)like.level << 8 | like.kind;
	const uint32_t known = table64_get(&n->by_type, key);

	if (known != TABLE_NONE)
		return known;
	if (n->ntypes >= PARAVER_MOST_TYPES)
		return 0;
	if (!array_room(&n->types, n->ntypes, &n->types_cap, sizeof *n->types) ||
	    !table64_put(&n->by_type, key, PARAVER_FIRST_TYPE + n->ntypes)) {
		n->failed = true;
		return 0;
	}
	like.next = TABLE_NONE;
	n->types[n->ntypes] = like;
	if (g->first_type == TABLE_NONE)
		g->first_type = n->ntypes;
	else
		n->types[g->last_type].next = n->ntypes;
	g->last_type = n->ntypes;
	return PARAVER_FIRST_TYPE + n->ntypes++;
}

void
paraver_names_free(struct paraver_names *n)
{
	arena_free(&n->arena);
	free(n->groups);
	free(n->types);
	free(n->values);
	free(n->texts);
	tabletext_free(&n->by_text);
	tabletext_free(&n->by_label);
	table64_free(&n->by_value);
	table64_free(&n->by_type);
	text_free(&n->key);
}
