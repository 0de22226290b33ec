/*
 * The events of the page, and the tree of stacks.  Each span is a node below the innermost span around it.
 * Time in which the span is the innermost one of its track (stats/tables/open.h) is added to the node, to
 * the bins of the track and to the matrix (sketch.c).
 */
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

#include "model/event_traits.h"

void page_add_saturating(uint64_t *sum, uint64_t ns)
{
	if (__builtin_add_overflow(*sum, ns, sum))
		*sum = UINT64_MAX;
}

/* Returns the child of a node that has the name; the parent itself beyond the limits or on OOM. */
static uint32_t flame_node(struct page *p, uint32_t parent, uint32_t name)
{
	const uint64_t key = (uint64_t)parent << 32 | name;
	const uint32_t i = table64_get(&p->node_of, key);

	if (i != TABLE_NONE)
		return i;
	if (p->nodes[parent].depth == PAGE_DEPTH)
		return parent;
	if (p->nnodes == PAGE_NODES) {
		p->nodes_full = true;
		return parent;
	}
	if (!array_reserve(&p->nodes, p->nnodes, &p->nodes_cap, sizeof *p->nodes) ||
	    !table64_put(&p->node_of, key, p->nnodes)) {
		p->no_memory = true;
		return parent;
	}
	p->nodes[p->nnodes] = (struct page_node){ .parent = parent,
		                                  .name = name,
		                                  .depth = (uint16_t)(p->nodes[parent].depth + 1) };
	return p->nnodes++;
}

/* Adds a period of a track.  what: name << 32 | node << 1 | waiting. */
static void spent(void *ctx, const struct track *track, uint64_t from, uint64_t to, uint64_t what)
{
	struct page *const p = ctx;
	const uint32_t name = (uint32_t)(what >> 32), node = (uint32_t)what >> 1;
	const bool waiting = (what & 1) != 0;

	if (what == ACTIVITY_IDLE || p->no_memory)
		return;
	if ((p->parts & PAGE_STACKS) != 0)
		page_add_saturating(
		    waiting ? &p->nodes[node].waiting[p->side] : &p->nodes[node].self[p->side], to - from);
	if ((p->parts & PAGE_TIME) == 0)
		return;
	p->no_memory |= !sketch_spent(p, track, from, to, name, waiting) ||
	                (!waiting && !matrix_add(p, track, name, to - from));
}

void page_init(struct page *p)
{
	*p = (struct page){ .no_memory = false };
	names_init(&p->names, &p->text);
	names_init(&p->categories, &p->text);
	p->no_memory = !array_reserve(&p->nodes, 0, &p->nodes_cap, sizeof *p->nodes);
	if (!p->no_memory)
		p->nodes[p->nnodes++] = (struct page_node){ .name = PAGE_NAME_OTHER };
}

void page_free(struct page *p)
{
	for (uint32_t i = 0; i < p->ntracks; i++) {
		free(p->tracks[i].bins);
		free(p->tracks[i].spans);
	}
	for (uint32_t i = 0; i < p->nseries; i++)
		free(p->series[i].bins);
	for (int i = 0; i < 2; i++) {
		table64_free(&p->cell_of[i]);
		free(p->cells[i]);
	}
	activity_free(&p->activity);
	names_free(&p->names);
	names_free(&p->categories);
	table64_free(&p->node_of);
	table64_free(&p->series_of);
	free(p->nodes);
	free(p->series);
	free(p->tracks);
	free(p->units);
	arena_free(&p->text);
}

void page_begin(struct page *p, unsigned parts, unsigned side)
{
	activity_free(&p->activity);
	p->activity = (struct activity){ .spent = spent, .ctx = p };
	memset(p->known, 0, sizeof p->known); /* its keys are classes and texts of one trace */
	p->parts = parts;
	p->side = side;
	p->two_sides |= side == PAGE_OLD;
}

/* *name: the index of a span's name, or PAGE_NAME_OTHER.  Returns false on OOM. */
static bool name_of(struct page *p, const struct event *e, uint32_t *name)
{
	const struct stats_known key = stats_known_key(e->name, e->cls);
	struct stats_known *const k = stats_known_slot(p->known, &key, e->name);

	if (stats_known_is(k, &key, e->name)) {
		*name = k->name;
		return true;
	}
	const struct slice category = event_category(e);
	const uint32_t c = names_index(&p->categories, category.p != NULL ? category : SLICE_LIT(""), 0);
	if (c == NAMES_FAILED)
		return false;
	*name = names_index(&p->names, e->name, c == NAMES_OTHER ? NAMES_MAX : c);
	if (*name == NAMES_FAILED)
		return false;
	if (*name == NAMES_OTHER)
		*name = PAGE_NAME_OTHER;
	if (*name != PAGE_NAME_OTHER || (e->name.flags & SLICE_STAYS) != 0)
		stats_known_set(k, key, &p->names, *name);
	return true;
}

/* Returns the open spans of a track; NULL: it has had no span yet. */
static const struct activity_track *open_spans(const struct page *p, uint32_t track)
{
	return track < p->activity.ntracks && p->activity.tracks[track].track != NULL
	           ? &p->activity.tracks[track]
	           : NULL;
}

static bool add_span(struct page *p, const struct event *e)
{
	const uint32_t index = e->track->index;
	const uint64_t end = event_end(e);
	uint32_t name, depth = 0, parent = 0;

	if (!name_of(p, e, &name))
		return false;
	if ((p->parts & PAGE_TIME) != 0) {
		if (!array_reach(&p->tracks, &p->ntracks, index, sizeof *p->tracks))
			return false;
		p->nwith_spans += p->tracks[index].track == NULL;
		p->tracks[index].track = e->track;
	}
	if (open_spans(p, index) != NULL)
		activity_advance(&p->activity, index, e->ts);
	const struct activity_track *const open = open_spans(p, index);
	if (open != NULL) {
		for (depth = open->n; depth > 0 && open->open[depth - 1].end < end;)
			depth--;
		parent = depth > 0 ? (uint32_t)open->open[depth - 1].what >> 1 : 0;
		depth = open->n < UINT16_MAX ? open->n : UINT16_MAX;
	}
	uint32_t node = 0;
	if ((p->parts & PAGE_STACKS) != 0) {
		node = flame_node(p, parent, name);
		page_add_saturating(&p->nodes[node].count[p->side], 1);
	}
	return ((p->parts & PAGE_TIME) == 0 || sketch_span(p, e, name, depth)) &&
	       activity_add(&p->activity, e->track, e->ts, end,
	                    (uint64_t)name << 32 | (uint64_t)node << 1 | event_is_waiting(e),
	                    (e->flags & EVENT_INNER) != 0);
}

bool page_batch(struct page *p, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		bool ok = true;
		if (e->phase == PHASE_STRUCTURE || (e->flags & EVENT_LEFT_OUT) != 0)
			continue;
		if ((p->parts & PAGE_TIME) != 0) {
			if (!p->any)
				p->first_ns = p->last_ns = e->ts;
			p->any = true;
			sketch_reach(p, event_end(e));
		}
		if (e->phase == PHASE_SPAN && (e->flags & EVENT_ASYNC) == 0)
			ok = add_span(p, e);
		else if (e->phase == PHASE_COUNTER && (p->parts & PAGE_TIME) != 0)
			ok = counters_add(p, b, e);
		if (!ok || p->no_memory)
			return false;
	}
	return true;
}

bool page_end(struct page *p)
{
	activity_end(&p->activity);
	return !p->no_memory && !p->text.failed;
}
