/* The events of the page.  Each span is a node of the tree of stacks, below the innermost span around it.
 * Time in which the span is the innermost one of its track (stats/tables/open.h) is added to the node, to the
 * bins of the track and to the matrix. */
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

#include "model/call_stack.h"
#include "model/event_traits.h"

/* `what` of an open span: its row in the timeline << 53 | name << 36 | the node of the span around it << 18 |
 * its node << 1 | waiting. */
#define WHAT_NODE (PAGE_NODES - 1)
#define WHAT_NAME ((1U << 17) - 1)
#define WHAT_ROW 2047U /* deeper spans are in this row */

static uint32_t node_of(uint64_t what)
{
	return (uint32_t)(what >> 1) & WHAT_NODE;
}

static uint32_t row_of(uint64_t what)
{
	return (uint32_t)(what >> 53);
}

static uint32_t node_around(uint64_t what)
{
	return (uint32_t)(what >> 18) & WHAT_NODE;
}

static struct page_node *spans_of(const struct page *p)
{
	return p->flames[PLAN_STACK_ANY].nodes;
}

static uint32_t span_node(struct page *p, uint32_t parent, uint32_t name)
{
	return flame_node(p, &p->flames[PLAN_STACK_ANY], parent, name);
}

void page_add_saturating(uint64_t *sum, uint64_t ns)
{
	*sum = saturating_add(*sum, ns);
}

static void spent(void *ctx, const struct track *track, uint64_t from, uint64_t to, uint64_t what)
{
	struct page *const p = ctx;
	const uint32_t name = (uint32_t)(what >> 36) & WHAT_NAME, node = node_of(what);
	const bool waiting = (what & 1) != 0;

	if (what == ACTIVITY_IDLE || p->no_memory)
		return;
	if ((p->parts & PAGE_STACKS) != 0)
		page_add_saturating(waiting ? &spans_of(p)[node].waiting[p->side]
		                            : &spans_of(p)[node].self[p->side],
		                    to - from);
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
	names_init(&p->frames, &p->frame_text);
	for (unsigned i = 0; i < PAGE_FLAMES; i++) {
		struct page_flame *const f = &p->flames[i];
		if (!array_reserve(&f->nodes, 0, &f->nodes_cap, sizeof *f->nodes))
			p->no_memory = true;
		else
			f->nodes[f->nnodes++] = (struct page_node){ .name = PAGE_NAME_OTHER };
	}
}

void page_free(struct page *p)
{
	for (uint32_t i = 0; i < p->ntracks; i++) {
		free(p->tracks[i].bins);
		free(p->tracks[i].spans);
		free(p->tracks[i].rows);
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
	names_free(&p->frames);
	for (unsigned i = 0; i < PAGE_FLAMES; i++) {
		table64_free(&p->flames[i].node_of);
		free(p->flames[i].nodes);
	}
	table64_free(&p->series_of);
	free(p->series);
	free(p->tracks);
	free(p->units);
	arena_free(&p->text);
	arena_free(&p->frame_text);
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
	struct stats_lookup l;

	if (!stats_known_find(p->known, e->name, e->cls, &l, name)) {
		const struct slice category = event_category(e);
		const uint32_t c =
		    names_index(&p->categories, category.p != NULL ? category : SLICE_LIT(""), 0);
		if (c == NAMES_FAILED)
			return false;
		*name = names_index(&p->names, e->name, c == NAMES_OTHER ? NAMES_MAX : c);
		stats_known_keep(&l, &p->names, *name);
	}
	if (*name == NAMES_OTHER)
		*name = PAGE_NAME_OTHER;
	return *name != NAMES_FAILED;
}

/* Returns the open spans of a track; NULL: it has had no span yet. */
static const struct activity_track *open_spans(const struct page *p, uint32_t track)
{
	return track < p->activity.ntracks && p->activity.tracks[track].track != NULL
	           ? &p->activity.tracks[track]
	           : NULL;
}

/* Max spans of equal times that are nested with the later one outside, and max nodes that each of them moves;
 * further spans are put inside. */
#define MAX_AROUND 16

/* Whether a span belongs between `last`, the innermost open one, and the span around that: of equal spans the
 * later contains the earlier. */
static bool is_around(const struct activity_span *last, const struct event *e)
{
	return last != NULL && last->start == e->ts && last->end == event_end(e) &&
	       (e->flags & EVENT_INNER) == 0;
}

static bool has_room_around(const struct page *p, const struct activity_span *inner)
{
	return spans_of(p)[node_of(inner->what)].depth - spans_of(p)[node_around(inner->what)].depth <
	       MAX_AROUND;
}

/* Puts a node of this name between the innermost open span and the span around it: the nodes below it are
 * counted again, below the new one.  No time of these spans has passed yet, so only counts move. */
static void put_around(struct page *p, struct activity_span *inner, uint32_t name)
{
	const uint32_t around = node_around(inner->what);
	uint32_t chain[MAX_AROUND], n = 0, to = span_node(p, around, name);

	page_add_saturating(&spans_of(p)[to].count[p->side], 1);
	for (uint32_t i = node_of(inner->what); i != around; i = spans_of(p)[i].parent)
		chain[n++] = i;
	while (n > 0) {
		struct page_node *const from = &spans_of(p)[chain[--n]];
		from->count[p->side]--;
		to = span_node(p, to, from->name);
		page_add_saturating(&spans_of(p)[to].count[p->side], 1);
	}
	inner->what = (inner->what & ~((uint64_t)WHAT_NODE << 1)) | (uint64_t)to << 1;
}

/* Returns the row in the timeline of a span around others of the same times, `inner` being the innermost, and
 * moves these down. */
static uint32_t row_around(struct page_track *k, struct activity_span *inner, const struct event *e)
{
	const uint32_t deepest = row_of(inner->what), next = deepest < WHAT_ROW ? deepest + 1 : deepest;

	inner->what = (inner->what & (UINT64_MAX >> 11)) | (uint64_t)next << 53;
	if (k->nequal >= MAX_AROUND || next == deepest)
		return next;
	for (uint32_t i = k->nspans, n = k->nequal; i > 0 && n > 0; i--, n--)
		if (k->spans[i - 1].start == e->ts && k->spans[i - 1].dur == event_end(e) - e->ts)
			k->spans[i - 1].depth++;
	k->depth = next > k->depth ? (uint16_t)next : k->depth;
	return next - k->nequal++;
}

/* Returns the first free row below that of the span around a span, which is `around`. */
static uint32_t row_inside(const struct page_track *k, const struct activity_span *around, uint64_t start)
{
	uint32_t row = around != NULL ? row_of(around->what) + 1 : 0;

	while (row < k->nrows && k->rows[row] > start)
		row++;
	return row < WHAT_ROW ? row : WHAT_ROW;
}

static bool add_span(struct page *p, const struct event *e)
{
	const uint32_t index = e->track->index;
	const uint64_t end = event_end(e);
	uint32_t name, row = 0, parent = 0;

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
	struct activity_span *const last = open != NULL && open->n > 0 ? &open->open[open->n - 1] : NULL;
	const struct activity_span *around = last;
	while (around != NULL && around->end < end)
		around = around != open->open ? around - 1 : NULL;
	if (around != NULL)
		parent = node_of(around->what);
	const bool around_last = is_around(last, e);
	if ((p->parts & PAGE_TIME) != 0) {
		struct page_track *const k = &p->tracks[index];
		row = around_last ? row_around(k, last, e) : row_inside(k, around, e->ts);
		k->nequal = around_last ? k->nequal : 1;
		const uint32_t lowest = last != NULL && around_last ? row_of(last->what) : row;
		if (!array_reach(&k->rows, &k->nrows, lowest, sizeof *k->rows))
			return false;
		k->rows[lowest] = end;
	}
	uint32_t node = 0;
	if ((p->parts & PAGE_STACKS) != 0 && around_last && has_room_around(p, last)) {
		put_around(p, last, name);
	} else if ((p->parts & PAGE_STACKS) != 0) {
		node = span_node(p, parent, name);
		page_add_saturating(&spans_of(p)[node].count[p->side], 1);
	}
	return ((p->parts & PAGE_TIME) == 0 || sketch_span(p, e, name, row)) &&
	       activity_add(&p->activity, e->track, e->ts, end,
	                    (uint64_t)row << 53 | (uint64_t)name << 36 | (uint64_t)parent << 18 |
	                        (uint64_t)node << 1 | event_is_waiting(e),
	                    (e->flags & EVENT_INNER) != 0);
}

bool page_batch(struct page *p, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		bool ok = true;
		if ((e->flags & EVENT_LEFT_OUT) != 0)
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
			ok = sketch_counters(p, b, e);
		else if (e->phase == PHASE_INSTANT && (p->parts & PAGE_STACKS) != 0 &&
		         call_stack_of_class(e->cls))
			ok = flame_sample(p, b, e);
		if (!ok || p->no_memory)
			return false;
	}
	return true;
}

bool page_end(struct page *p)
{
	activity_end(&p->activity);
	return !p->no_memory && !p->text.failed && !p->frame_text.failed;
}

struct slice page_name(const struct page *p, uint32_t name)
{
	if (name >= PAGE_NAME_FRAME && name - PAGE_NAME_FRAME < p->frames.n)
		return names_text(&p->frames, name - PAGE_NAME_FRAME);
	return name >= p->names.n ? SLICE_LIT(NAMES_OTHER_TEXT) : names_text(&p->names, name);
}
