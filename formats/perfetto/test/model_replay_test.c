#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "perfetto/test/model_events_test.h"

struct stack {
	uint32_t *open; /* in slices */
	uint32_t n, cap;
};

struct replay {
	struct model *m;
	struct stack *stacks; /* by index of the track in m->tracks */
	struct table64 tracks, starts;
};

static int by_time(const void *x, const void *y)
{
	const struct model_event *const a = x, *const b = y;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

/* Instants end at a later event or when another instant starts. */
static void drop_instants(struct replay *r, struct stack *s, uint64_t ts, bool begin)
{
	while (s->n > 0) {
		const struct model_slice *const top = &r->m->slices[s->open[s->n - 1]];
		if (top->dur != 0 || (top->ts == ts && !begin))
			return;
		s->n--;
	}
}

static uint32_t push(struct replay *r, struct stack *s, const struct model_event *e)
{
	const uint32_t i = r->m->nslices;

	cr_assert(e->has_name);
	cr_assert_lt(s->n, 512);
	struct model_slice *const x = ADD(r->m->slices, r->m->nslices, r->m->slices_cap);
	*x = (struct model_slice){
		.ts = e->ts, .dur = e->type == 3 ? 0 : -1, .depth = s->n, .track = e->track
	};
	x->parent = s->n > 0 ? (int64_t)s->open[s->n - 1] : -1;
	x->name = e->name;
	x->category = e->category;
	x->args = e->args;
	*ADD(s->open, s->n, s->cap) = i;
	return i;
}

static void end(struct replay *r, struct stack *s, const struct model_event *e)
{
	drop_instants(r, s, e->ts, true);
	cr_assert_gt(s->n, 0, "an end at %" PRIu64 " of nothing", e->ts);
	cr_assert(!e->has_name);
	struct model_slice *const x = &r->m->slices[s->open[--s->n]];
	x->dur = (int64_t)(e->ts - x->ts);
}

static void arrow(struct replay *r, struct stack *s, const struct model_event *e)
{
	const struct model_track *const t = model_track(r->m, e->track);

	drop_instants(r, s, e->ts, false);
	cr_assert_gt(s->n, 0, "an arrow outside of all spans");
	cr_assert(t->kind != ' ' || t->merge == 2, "an arrow on a track that may be merged");
	const uint32_t at = s->open[s->n - 1];
	if (e->legacy == 's') {
		cr_assert(table64_put(&r->starts, e->id, at));
		return;
	}
	const uint32_t from = table64_get(&r->starts, e->id);
	cr_assert((e->legacy == 'f' || e->legacy == 't') && from != TABLE_NONE,
	          "an arrow that ends without a begin");
	if (e->legacy == 't') /* it continues from here */
		cr_assert(table64_put(&r->starts, e->id, at));
	*ADD(r->m->arrows, r->m->narrows, r->m->arrows_cap) = (struct model_arrow){ from, at, e->category };
}

static void take(struct replay *r, const struct model_event *e)
{
	const uint32_t place = table64_get(&r->tracks, e->track);

	cr_assert_neq(place, TABLE_NONE, "track %" PRIu64 " has no descriptor", e->track);
	struct stack *const s = &r->stacks[place];
	cr_assert_eq(e->type == 4, r->m->tracks[place].kind == 'c');
	if (e->legacy != 0) {
		arrow(r, s, e);
	} else if (e->type == 1 || e->type == 3) {
		if (e->type == 3 && s->n > 0) {
			const struct model_slice *const top = &r->m->slices[s->open[s->n - 1]];
			cr_assert(top->dur != 0 || top->ts != e->ts, "an instant in an instant");
		}
		drop_instants(r, s, e->ts, true);
		push(r, s, e);
	} else if (e->type == 2) {
		end(r, s, e);
	} else {
		cr_assert(e->type == 4 && e->has_value);
		*ADD(r->m->counts, r->m->ncounts, r->m->counts_cap) =
		    (struct model_count){ e->ts, e->track, e->value, e->args };
	}
}

void model_replay(struct model *m)
{
	struct replay r = { .m = m, .stacks = calloc(m->ntracks + 1, sizeof *r.stacks) };

	cr_assert_not_null(r.stacks);
	for (uint32_t i = 0; i < m->ntracks; i++) {
		cr_assert_eq(table64_get(&r.tracks, m->tracks[i].uuid), TABLE_NONE, "two tracks of one uuid");
		cr_assert(table64_put(&r.tracks, m->tracks[i].uuid, i));
	}
	if (m->events->n > 0)
		qsort(m->events->list, m->events->n, sizeof *m->events->list, by_time);
	for (uint32_t i = 0; i < m->events->n; i++)
		take(&r, &m->events->list[i]);
	for (uint32_t i = 0; i < m->ntracks; i++)
		free(r.stacks[i].open);
	free(r.stacks);
	table64_free(&r.tracks);
	table64_free(&r.starts);
}

const struct model_track *model_track(const struct model *m, uint64_t uuid)
{
	uint32_t low = 0, high = m->ntracks; /* uuids ascend */

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (m->tracks[middle].uuid == uuid)
			return &m->tracks[middle];
		if (m->tracks[middle].uuid < uuid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct model_track *model_track_named(const struct model *m, const char *name)
{
	for (uint32_t i = 0; i < m->ntracks; i++)
		if (slice_is(m->tracks[i].name, name))
			return &m->tracks[i];
	return NULL;
}

const struct model_slice *model_slice_named(const struct model *m, const char *name)
{
	for (uint32_t i = 0; i < m->nslices; i++)
		if (slice_is(m->slices[i].name, name))
			return &m->slices[i];
	return NULL;
}

const struct model_attribute *model_attribute(const struct model *m, const char *key)
{
	for (uint32_t i = 0; i < m->nattributes; i++)
		if (slice_is(m->attributes[i].key, key))
			return &m->attributes[i];
	return NULL;
}
