/* The closure of a selection (closure.h): a graph of records and keys, in which need is propagated as soon as
 * it is known, in any order of definitions and uses. */
#include "run/write/closure.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "format/copier.h"

#define INPUT_SHIFT 48 /* position of a record: its offset, and the number of the input in the high bits */

/* A record of structure. */
struct node {
	uint64_t position;
	uint32_t first_use, nuses; /* in closure.uses */
	bool kept;
};

struct key {
	uint32_t first; /* definition: index + 1; 0: none */
	bool needed;
};

struct definition {
	uint32_t node, next; /* next of the key: index + 1; 0: none */
};

struct closure {
	struct node *nodes;
	struct key *keys;
	struct definition *definitions;
	uint32_t *uses;  /* indexes of keys, by node */
	uint32_t *queue; /* of keys that became needed */
	uint32_t nnodes, nodes_cap, nkeys, keys_cap, ndefinitions, definitions_cap, nuses, uses_cap,
	    queue_cap;
	struct table64 by_key; /* -> keys[] */
	struct table64 kept;   /* positions */
	uint64_t position;     /* of the current record */
	bool event, selected;  /* kind of the current record */
	bool keep_all, failed;
};

struct closure *closure_new(void)
{
	return calloc(1, sizeof(struct closure));
}

void closure_record(struct closure *cl, uint64_t input, uint64_t offset, bool event, bool kept)
{
	cl->position = input << INPUT_SHIFT ^ offset;
	cl->event = event;
	cl->selected = kept;
	cl->keep_all |= offset >> INPUT_SHIFT != 0 || input >> (64 - INPUT_SHIFT) != 0 ||
	                cl->nnodes == CLOSURE_MAX || cl->nkeys >= CLOSURE_MAX;
	if (event || cl->keep_all || cl->failed)
		return;
	cl->failed = !array_reserve(&cl->nodes, cl->nnodes, &cl->nodes_cap, sizeof *cl->nodes);
	if (!cl->failed)
		cl->nodes[cl->nnodes++] = (struct node){ .position = cl->position, .first_use = cl->nuses };
}

static uint32_t find_key(struct closure *cl, uint64_t key)
{
	const uint32_t known = table64_get(&cl->by_key, key);

	if (known != TABLE_NONE)
		return known;
	if (note_failure(&cl->failed, !array_reserve(&cl->keys, cl->nkeys, &cl->keys_cap, sizeof *cl->keys) ||
	                                  !table64_put(&cl->by_key, key, cl->nkeys)))
		return TABLE_NONE;
	cl->keys[cl->nkeys] = (struct key){ .first = 0 };
	return cl->nkeys++;
}

static void queue_key(struct closure *cl, uint32_t key, uint32_t *n)
{
	if (cl->keys[key].needed)
		return;
	cl->keys[key].needed = true;
	if (array_reserve(&cl->queue, *n, &cl->queue_cap, sizeof *cl->queue))
		cl->queue[(*n)++] = key;
	else
		cl->failed = true;
}

static void keep_node(struct closure *cl, uint32_t node, uint32_t *n)
{
	struct node *const x = &cl->nodes[node];

	if (x->kept)
		return;
	x->kept = true;
	cl->failed |= !table64_put(&cl->kept, x->position, 1);
	for (uint32_t i = 0; i < x->nuses; i++)
		queue_key(cl, cl->uses[x->first_use + i], n);
}

/* Keeps the definitions of the queued keys, and of the keys that these use. */
static void propagate(struct closure *cl, uint32_t n)
{
	while (n > 0 && !cl->failed) {
		const uint32_t key = cl->queue[--n];
		for (uint32_t d = cl->keys[key].first; d != 0; d = cl->definitions[d - 1].next)
			keep_node(cl, cl->definitions[d - 1].node, &n);
	}
}

void copier_needs(struct copier *c)
{
	struct closure *const cl = c->closure;
	uint32_t n = 0;

	if (cl->keep_all || cl->failed || cl->event)
		return;
	keep_node(cl, cl->nnodes - 1, &n);
	propagate(cl, n);
}

void copier_uses(struct copier *c, uint64_t key)
{
	struct closure *const cl = c->closure;
	uint32_t n = 0;

	if (cl->keep_all || cl->failed || (cl->event && !cl->selected))
		return;
	const uint32_t i = find_key(cl, key);
	if (i == TABLE_NONE)
		return;
	if (cl->event || cl->nodes[cl->nnodes - 1].kept) {
		queue_key(cl, i, &n);
		propagate(cl, n);
	} else if (array_reserve(&cl->uses, cl->nuses, &cl->uses_cap, sizeof *cl->uses)) {
		cl->uses[cl->nuses++] = i;
		cl->nodes[cl->nnodes - 1].nuses++;
	} else {
		cl->failed = true;
	}
}

static void define(struct copier *c, uint64_t key, bool again)
{
	struct closure *const cl = c->closure;

	if (cl->keep_all || cl->failed || cl->event)
		return;
	const uint32_t i = find_key(cl, key);
	if (i == TABLE_NONE)
		return;
	if (note_failure(&cl->failed, !array_reserve(&cl->definitions, cl->ndefinitions, &cl->definitions_cap,
	                                             sizeof *cl->definitions)))
		return;
	cl->definitions[cl->ndefinitions++] =
	    (struct definition){ cl->nnodes - 1, again ? 0 : cl->keys[i].first };
	cl->keys[i].first = cl->ndefinitions;
	if (cl->keys[i].needed)
		copier_needs(c);
}

void copier_defines(struct copier *c, uint64_t key)
{
	define(c, key, false);
}

void copier_redefines(struct copier *c, uint64_t key)
{
	define(c, key, true);
}

static void free_graph(struct closure *cl)
{
	free(cl->nodes);
	free(cl->keys);
	free(cl->definitions);
	free(cl->uses);
	free(cl->queue);
	table64_free(&cl->by_key);
}

bool closure_end(struct closure *cl)
{
	const struct closure rest = { .kept = cl->kept, .keep_all = cl->keep_all, .failed = cl->failed };

	free_graph(cl);
	*cl = rest;
	return !cl->failed;
}

bool closure_keeps(const struct closure *cl, uint64_t input, uint64_t offset)
{
	return cl->keep_all || table64_get(&cl->kept, input << INPUT_SHIFT ^ offset) != TABLE_NONE;
}

void closure_free(struct closure *cl)
{
	if (cl == NULL)
		return;
	free_graph(cl);
	table64_free(&cl->kept);
	free(cl);
}
