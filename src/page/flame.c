/* Trees of stacks: one of spans, one of the samples of each kind of call stack.  Threads are not told apart.
 * A sample counts once, as in folded stacks (formats/folded). */
#include "page/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/call_stack.h"
#include "output/columns.h"

const struct page_sampled page_sampled[PAGE_FLAMES] = {
	[PLAN_STACK_CPU] = { "cpu", "CPU samples", "running threads" },
	[PLAN_STACK_OFF_CPU] = { "off-cpu", "Off-CPU samples", "waiting threads and tasks" },
	[PLAN_STACK_ALLOC] = { "alloc", "Allocation samples", "allocations" },
};

/* ---- the tree ---- */

uint32_t flame_node(struct page *p, struct page_flame *f, uint32_t parent, uint32_t name)
{
	const uint32_t max = f->nodes[parent].depth == PAGE_DEPTH ? 0 : PAGE_NODES;
	const uint32_t i = table64_element(&f->node_of, (uint64_t)parent << 32 | name, &f->nodes, &f->nnodes,
	                                   &f->nodes_cap, sizeof *f->nodes, max);

	f->full |= i == TABLE_NONE && f->nnodes == PAGE_NODES;
	p->no_memory |= i == TABLE_FAILED;
	if (i >= TABLE_FAILED)
		return parent;
	f->nodes[i].parent = parent;
	f->nodes[i].name = name;
	f->nodes[i].depth = (uint16_t)(f->nodes[parent].depth + 1);
	return i;
}

bool flame_sample(struct page *p, const struct batch *b, const struct event *e)
{
	const enum plan_stack kind = call_stack_kind(e->cls);
	struct page_flame *const f = &p->flames[kind];
	char address[CALL_STACK_ADDRESS];
	struct call_stack stack;
	uint32_t node = 0;

	f->samples[p->side]++;
	if (kind == PLAN_STACK_ANY)
		return true;
	if (!call_stack_get(&stack, b, e) || stack.n == 0) {
		f->bare[p->side]++;
		return true;
	}
	for (uint32_t i = 0; i < stack.n && f->nodes[node].depth < PAGE_DEPTH && !p->no_memory; i++) {
		const uint32_t name = names_index(&p->frames, call_stack_from_root(&stack, i, address), 0);
		if (name == NAMES_FAILED)
			return false;
		const uint32_t next =
		    flame_node(p, f, node, name == NAMES_OTHER ? PAGE_NAME_OTHER : PAGE_NAME_FRAME + name);
		if (next == node)
			break; /* full */
		node = next;
	}
	f->nodes[node].self[p->side]++;
	f->nodes[node].count[p->side]++;
	return !p->no_memory;
}

/* ---- the largest nodes ---- */

struct node_rank {
	uint32_t node, parent;
	uint64_t total; /* of the side with more */
};

static int by_parent(const void *a, const void *b)
{
	const struct node_rank *const x = a, *const y = b;

	return x->parent != y->parent ? ORDER(x->parent, y->parent)
	       : x->total != y->total ? ORDER(y->total, x->total)
	                              : ORDER(x->node, y->node);
}

/* Sums the time of each node and those inside it: that of the side with more. */
static void add_totals(const struct page_flame *f, uint64_t *totals)
{
	for (uint32_t i = f->nnodes - 1; i > 0; i--) { /* a parent precedes its children */
		uint64_t sides[PAGE_SIDES] = { f->nodes[i].self[0], f->nodes[i].self[1] };
		for (unsigned s = 0; s < PAGE_SIDES; s++)
			page_add_saturating(&sides[s], f->nodes[i].waiting[s]);
		page_add_saturating(&totals[i], sides[0] > sides[1] ? sides[0] : sides[1]);
		page_add_saturating(&totals[f->nodes[i].parent], totals[i]);
	}
}

/* Adds all but the `max` nodes with the largest totals to their parents.  Returns the least total that is
 * kept.  sorted: space for two numbers of each node. */
static uint64_t fold_small(struct page_flame *f, const uint64_t *totals, uint64_t *sorted, uint32_t max)
{
	const uint32_t n = f->nnodes;

	if (n <= max)
		return 0;
	memcpy(sorted, totals, n * sizeof *totals);
	for (unsigned shift = 0; shift < 64; shift += 2 * RADIX_BITS) {
		radix_pass(sorted, sorted + n, n, shift);
		radix_pass(sorted + n, sorted, n, shift + RADIX_BITS);
	}
	const uint64_t least = sorted[n - 1 - max] + 1;
	for (uint32_t i = n - 1; i > 0; i--) {
		struct page_node *const up = &f->nodes[f->nodes[i].parent];
		for (unsigned s = 0; totals[i] < least && s < PAGE_SIDES; s++) {
			page_add_saturating(&up->self[s], f->nodes[i].self[s]);
			page_add_saturating(&up->waiting[s], f->nodes[i].waiting[s]);
		}
	}
	return least;
}

/* Visits n nodes, sorted by parent, in preorder.  first: for each node the position + 1 of its first child in
 * `ranks`; 0: none. */
static void visit_ranks(const struct page_flame *f, const struct node_rank *ranks, uint32_t n,
                        const uint32_t *first, void (*visit)(void *ctx, const struct page_node *node),
                        void *ctx)
{
	uint32_t path[PAGE_DEPTH + 2], depth = 0; /* positions in `ranks` */

	if (first[0] > 0)
		path[depth++] = first[0] - 1;
	while (depth > 0) {
		const struct node_rank *const r = &ranks[path[depth - 1]];
		visit(ctx, &f->nodes[r->node]);
		if (first[r->node] > 0) {
			path[depth++] = first[r->node] - 1;
			continue;
		}
		for (; depth > 0; depth--) {
			const uint32_t next = path[depth - 1] + 1;
			if (next < n && ranks[next].parent == ranks[next - 1].parent) {
				path[depth - 1] = next;
				break;
			}
		}
	}
}

bool flame_visit(struct page_flame *f, uint32_t max, void (*visit)(void *ctx, const struct page_node *node),
                 void *ctx, uint32_t *shown, uint32_t *all)
{
	const uint32_t n = f->nnodes;
	uint64_t *const totals = calloc(n, sizeof *totals);
	uint64_t *const counts = malloc((size_t)n * 2 * sizeof *counts);
	struct node_rank *const ranks = malloc((size_t)n * sizeof *ranks);
	uint32_t *const first = calloc(n, sizeof *first);
	const bool ok = totals != NULL && counts != NULL && ranks != NULL && first != NULL;
	uint32_t kept = 0;

	*all = 0;
	if (ok) {
		add_totals(f, totals);
		const uint64_t least = fold_small(f, totals, counts, max);
		memset(counts, 0, n * sizeof *counts);
		/* put_around() leaves nodes without spans, which are not shown */
		for (uint32_t i = n - 1; i > 0; i--) {
			page_add_saturating(&counts[i], f->nodes[i].count[0]);
			page_add_saturating(&counts[i], f->nodes[i].count[1]);
			page_add_saturating(&counts[f->nodes[i].parent], counts[i]);
			*all += counts[i] > 0;
		}
		for (uint32_t i = 1; i < n; i++)
			if (totals[i] >= least && counts[i] > 0)
				ranks[kept++] = (struct node_rank){ i, f->nodes[i].parent, totals[i] };
		array_sort(ranks, kept, sizeof *ranks, by_parent);
		for (uint32_t i = kept; i-- > 0;)
			first[ranks[i].parent] = i + 1;
		visit_ranks(f, ranks, kept, first, visit, ctx);
	}
	*shown = kept;
	free(totals);
	free(counts);
	free(ranks);
	free(first);
	return ok;
}

/* ---- frames by name ---- */

struct frame_sum {
	uint32_t frame; /* index of page.frames; page.frames.n: names beyond the limits */
	uint64_t self[PAGE_SIDES], total[PAGE_SIDES];
};

static int most_samples_first(const void *a, const void *b)
{
	const struct frame_sum *const x = a, *const y = b;

	for (unsigned s = PAGE_SIDES; s-- > 0;) {
		if (x->self[s] != y->self[s])
			return ORDER(y->self[s], x->self[s]);
		if (x->total[s] != y->total[s])
			return ORDER(y->total[s], x->total[s]);
	}
	return ORDER(x->frame, y->frame);
}

/* Whether a node is inside another one of its name: its samples are in the total of that one. */
static bool is_recursive(const struct page_flame *f, uint32_t node)
{
	for (uint32_t i = f->nodes[node].parent; i != 0; i = f->nodes[i].parent)
		if (f->nodes[i].name == f->nodes[node].name)
			return true;
	return false;
}

/* Returns the sums by number of frame; NULL on OOM. */
static struct frame_sum *sum_frames(const struct page *p, const struct page_flame *f)
{
	struct frame_sum *const sums = calloc((size_t)p->frames.n + 1, sizeof *sums);
	uint64_t *const totals = calloc(f->nnodes, PAGE_SIDES * sizeof *totals);

	if (sums == NULL || totals == NULL) {
		free(sums);
		free(totals);
		return NULL;
	}
	for (uint32_t i = 0; i <= p->frames.n; i++)
		sums[i].frame = i;
	for (uint32_t i = f->nnodes - 1; i > 0; i--) {
		const struct page_node *const k = &f->nodes[i];
		struct frame_sum *const sum =
		    &sums[k->name >= PAGE_NAME_FRAME ? k->name - PAGE_NAME_FRAME : p->frames.n];
		const bool inside = is_recursive(f, i);
		for (unsigned s = 0; s < PAGE_SIDES; s++) {
			uint64_t *const total = &totals[i * (size_t)PAGE_SIDES + s];
			*total += k->self[s];
			totals[k->parent * (size_t)PAGE_SIDES + s] += *total;
			sum->self[s] += k->self[s];
			sum->total[s] += inside ? 0 : *total;
		}
	}
	free(totals);
	return sums;
}

static void put_percent(struct columns *c, uint64_t part, uint64_t of)
{
	text_printf(&c->text, "%.1f", of > 0 ? 100 * (double)part / (double)of : 0.0);
	columns_next(c);
}

bool flame_html(struct text *t, const struct page *p, enum plan_stack kind, uint32_t rows)
{
	static const struct column heads[] = {
		{ "frame", COLUMN_NAME, 10, 0 },        { "self", COLUMN_NUMBER, 0, 0 },
		{ "self %", COLUMN_NUMBER, 0, 0 },      { "total", COLUMN_NUMBER, 0, 0 },
		{ "total %", COLUMN_NUMBER, 0, 0 },     { "old self", COLUMN_NUMBER, 0, 0 },
		{ "old self %", COLUMN_NUMBER, 0, 0 },  { "old total", COLUMN_NUMBER, 0, 0 },
		{ "old total %", COLUMN_NUMBER, 0, 0 },
	};
	const struct page_flame *const f = &p->flames[kind];
	const unsigned sides = p->two_sides ? 2 : 1;
	struct frame_sum *const sums = sum_frames(p, f);
	struct columns c = { .list = heads, .n = 1 + 4 * sides };
	uint32_t n = 0;
	char title[64];

	if (sums == NULL)
		return false;
	qsort(sums, (size_t)p->frames.n + 1, sizeof *sums, most_samples_first);
	while (n <= p->frames.n && sums[n].total[PAGE_NEW] + sums[n].total[PAGE_OLD] > 0)
		n++;
	rows = rows < n ? rows : n;
	for (uint32_t i = 0; i < rows; i++) {
		columns_name(&c, sums[i].frame == p->frames.n ? SLICE_LIT(NAMES_OTHER_TEXT)
		                                              : names_text(&p->frames, sums[i].frame));
		for (unsigned k = 0; k < sides; k++) {
			const unsigned s = k == 0 ? PAGE_NEW : PAGE_OLD;
			const uint64_t of = f->samples[s] - f->bare[s];
			columns_u64(&c, sums[i].self[s]);
			put_percent(&c, sums[i].self[s], of);
			columns_u64(&c, sums[i].total[s]);
			put_percent(&c, sums[i].total[s], of);
		}
	}
	snprintf(title, sizeof title, "%s: frames", page_sampled[kind].title);
	columns_end(&c, t, FORM_HTML, title, n, rows, 0);
	free(sums);
	return !t->failed;
}
