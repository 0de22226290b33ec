/* Counts events of batches by name, category, class and track, in a separate thread while the pipeline
 * reads. */
#include "stats/stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "base/workers.h"
#include "model/event_traits.h"
#include "model/trace_engine.h"
#include "stats/tables/tables.h"

/* ---- stats thread ---- */

static void count(struct stats_thread *t, struct batch *b)
{
	if (!atomic_load(&t->no_memory) && !stats_batch(t->stats, b))
		atomic_store(&t->no_memory, true);
	batch_release(b);
}

static void finish(void *ctx, size_t slot)
{
	struct stats_thread *const t = ctx;

	count(t, t->slots[slot]);
	t->slots[slot] = NULL;
}

bool stats_thread_begin(struct stats_thread *t, struct stats *s, unsigned threads)
{
	static const struct workers_ops ops = { .finish = finish };

	*t = (struct stats_thread){ .stats = s };
	return threads < 2 || (t->workers = workers_new(STATS_SLOTS, 1, &ops, t)) != NULL;
}

bool stats_thread_put(struct stats_thread *t, struct batch *b)
{
	if (t->workers == NULL) {
		count(t, b);
	} else {
		t->slots[workers_slot(t->workers)] = b;
		workers_put(t->workers);
	}
	return !atomic_load(&t->no_memory);
}

bool stats_thread_settle(struct stats_thread *t)
{
	if (t->workers != NULL)
		workers_settle(t->workers);
	return !atomic_load(&t->no_memory);
}

void stats_thread_end(struct stats_thread *t)
{
	stats_thread_settle(t);
	workers_free(t->workers);
	t->workers = NULL;
}

/* ---- stats ---- */

void stats_init(struct stats *s)
{
	*s = (struct stats){ .first_ns = UINT64_MAX, .start_ns = UINT64_MAX };
	self_times_init(&s->times);
	names_init(&s->spans.names, &s->text);
	names_init(&s->async.names, &s->text);
	names_init(&s->categories, &s->text);
	names_init(&s->instants.names, &s->text);
	names_init(&s->counters.names, &s->text);
	names_init(&s->classes.names, &s->text);
	series_init(&s->series, &s->text);
}

static void free_tally(struct tally *t)
{
	names_free(&t->names);
	groups_free_set(&t->set);
	free(t->counts);
}

static void free_spans(struct span_table *t)
{
	names_free(&t->names);
	groups_free_set(&t->set);
	free(t->groups);
	free(t->decades);
	longest_free(&t->longest);
}

void stats_free(struct stats *s)
{
	free_spans(&s->spans);
	free_spans(&s->async);
	free_tally(&s->instants);
	free_tally(&s->counters);
	free_tally(&s->classes);
	groups_free(s);
	free(s->seen);
	free(s->class_category);
	free(s->counter_category);
	text_free(&s->examples.text);
	series_free(&s->series);
	names_free(&s->categories);
	histogram_pool_free(&s->pool);
	self_times_free(&s->times);
	arena_free(&s->text);
	*s = (struct stats){ 0 };
}

/* ---- names ---- */

static bool class_category(struct stats *s, const struct class *cls, uint32_t *category)
{
	if (cls->index < s->nclasses && s->class_category[cls->index] != 0) {
		*category = s->class_category[cls->index] - 1;
		return true;
	}
	if (!array_reach(&s->class_category, &s->nclasses, cls->index, sizeof *s->class_category))
		return false;
	*category = names_index(&s->categories, cls->category, 0);
	if (*category == NAMES_FAILED)
		return false;
	if (*category == NAMES_OTHER)
		*category = NAMES_MAX;
	s->class_category[cls->index] = *category + 1;
	return true;
}

/* Finds the number of a span's name and category, ensures its group, and keeps the number in the cache. */
static NOINLINE bool find_span_name(struct stats *s, struct span_table *t, const struct event *e,
                                    uint32_t *name)
{
	struct stats_lookup l; /* again: that of the caller stays in registers */
	uint32_t category;

	if (stats_known_find(t->known, e->name, e->cls, &l, name))
		return true;
	if (!class_category(s, e->cls, &category))
		return false;
	*name = names_index(&t->names, e->name, category);
	if (*name == NAMES_FAILED)
		return false;
	if (*name != NAMES_OTHER && !array_reach(&t->groups, &t->cap, *name, sizeof *t->groups))
		return false;
	stats_known_keep(&l, &t->names, *name);
	return true;
}

/* Like find_span_name(), inline for names in the cache. */
static inline bool span_name(struct stats *s, struct span_table *t, const struct event *e, uint32_t *name)
{
	struct stats_lookup l;

	return stats_known_find(t->known, e->name, e->cls, &l, name) || find_span_name(s, t, e, name);
}

/* ---- one event ---- */

static inline void count_span(struct stats *s, struct span_group *g, const struct event *e)
{
	const uint64_t end = event_end(e);

	if (e->ts < g->first_ns || g->count == 0)
		g->first_ns = e->ts;
	if (end > g->last_ns)
		g->last_ns = end;
	if (e->dur > g->durations.max || g->count == 0) {
		g->longest_offset = e->offset;
		g->longest_ns = e->ts;
		g->longest_track = e->track;
	}
	g->count++;
	total_add(&g->sum, e->dur);
	histogram_add_late(&g->durations, &s->pool, &s->late, e->dur);
}

static bool add_decade(struct span_table *t, uint32_t number, uint64_t ns)
{
	uint64_t *const decades =
	    groups_at(&t->decades, &t->ndecades, sizeof *t->decades, number, t->other_decades);

	if (decades != NULL)
		decades[span_decade(ns)]++;
	return decades != NULL;
}

static bool add_example(struct stats *s, struct span_table *t, uint32_t number, const struct batch *b,
                        const struct event *e)
{
	const struct longest_item item = {
		.length = e->dur, .ts = e->ts, .offset = e->offset, .track = e->track
	};

	number = number == NAMES_OTHER ? LONGEST_OTHER : number;
	t->longest.limit = t->longest.limit > 0 ? t->longest.limit : s->examples.n;
	if (!longest_wants(&t->longest, number, e->dur))
		return true;
	const struct slice fields = s->examples.fields(s->examples.ctx, &s->examples.text, b, e);
	return !s->examples.text.failed &&
	       longest_add(&t->longest, number, item, e->name, e->cls->category, fields);
}

/* Finds the number of a span's group, and ensures the group. */
static inline bool span_number(struct stats *s, struct span_table *t, const struct batch *b,
                               const struct event *e, uint32_t *number)
{
	if (s->by.n == 0)
		return span_name(s, t, e, number);
	*number = groups_find(s, &t->set, b, e);
	return groups_at(&t->groups, &t->cap, sizeof *t->groups, *number, &t->other) != NULL;
}

/* options: decades or examples are wanted. */
static inline bool add_span(struct stats *s, const struct batch *b, const struct event *e, bool options)
{
	const bool async = (e->flags & EVENT_ASYNC) != 0;
	struct span_table *const t = async ? &s->async : &s->spans;
	const struct plan *const m = e->cls->plan;
	uint32_t name;

	if (!span_number(s, t, b, e, &name))
		return false;
	if (options && ((s->hist && !add_decade(t, name, e->dur)) ||
	                (s->examples.n > 0 && !add_example(s, t, name, b, e))))
		return false;
	if (!async)
		self_times_add(&s->times, e->track->index, e->ts, e->dur,
		               name == NAMES_OTHER ? SELF_OTHER : name, m != NULL && m->waiting,
		               (e->flags & EVENT_INNER) != 0);
	struct span_group *const g = name == NAMES_OTHER ? &t->other : &t->groups[name];
	count_span(s, g, e);
	if (s->sum_of.n > 0)
		groups_sum(s, &g->field, b, e);
	if (e->nfields > 0 && m != NULL && m->nbytes > 0)
		groups_count_bytes(s, &g->bytes, b, e);
	return true;
}

static bool count_one(struct tally *t, uint32_t number)
{
	uint64_t *const count = number < t->cap
	                            ? &t->counts[number]
	                            : groups_at(&t->counts, &t->cap, sizeof *count, number, &t->other);

	if (count != NULL)
		++*count;
	return count != NULL;
}

/* Counts a name.  *number: its number, or NAMES_OTHER. */
static bool tally_add(struct tally *t, struct slice name, uint32_t *number)
{
	*number = stats_known_index(t->known, &t->names, name);
	return count_one(t, *number);
}

static bool see_track(struct stats *s, const struct track *track)
{
	if (!array_reach(&s->seen, &s->nseen, track->index, 1))
		return false;
	s->tracks += s->seen[track->index] == 0 && track->kind == TRACK_THREAD;
	s->seen[track->index] = 1;
	return true;
}

static void see_time(struct stats *s, const struct event *e)
{
	const uint64_t end = event_end(e);

	if (e->ts < s->first_ns)
		s->first_ns = e->ts;
	if (end > s->last_ns)
		s->last_ns = end;
	s->events++;
}

static bool add_counter(struct stats *s, const struct batch *b, const struct event *e)
{
	uint32_t number;

	if (!tally_add(&s->counters, e->name, &number))
		return false;
	if (number == NAMES_OTHER)
		return true;
	if (!array_reach(&s->counter_category, &s->ncounter_category, number, sizeof *s->counter_category))
		return false;
	if (s->counter_category[number].p == NULL)
		s->counter_category[number] = e->cls->category.p != NULL ? e->cls->category : SLICE_LIT("");
	return series_add(&s->series, number, b, e);
}

static inline bool add_event(struct stats *s, const struct batch *b, const struct event *e, bool options)
{
	uint32_t number;

	switch ((enum phase)e->phase) {
	case PHASE_SPAN:
		return add_span(s, b, e, options);
	case PHASE_INSTANT:
		return s->by.n == 0 ? tally_add(&s->instants, e->name, &number)
		                    : count_one(&s->instants, groups_find(s, &s->instants.set, b, e));
	case PHASE_COUNTER:
		return add_counter(s, b, e);
	case PHASE_BEGIN: /* the engine pairs them into spans */
	case PHASE_END:
	case PHASE_FLOW_OUT:
	case PHASE_FLOW_IN:
	case PHASE_STRUCTURE:
		break;
	}
	return true;
}

bool stats_batch(struct stats *s, const struct batch *b)
{
	const bool options = s->hist || s->examples.n > 0;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];

		if (s->tables != NULL && !stats_tables_add(s->tables, s, b, e))
			return false;
		if ((e->flags & EVENT_LEFT_OUT) != 0) {
			if (e->phase == PHASE_SPAN && (e->flags & EVENT_ASYNC) == 0)
				self_times_add(&s->times, e->track->index, e->ts, e->dur, SELF_NOBODY, false,
				               (e->flags & EVENT_INNER) != 0);
			continue;
		}
		see_time(s, e);
		if ((e->track->index >= s->nseen || !s->seen[e->track->index]) && !see_track(s, e->track))
			return false;
		if (!add_event(s, b, e, options))
			return false;
	}
	histogram_settle(&s->pool, &s->late);
	return !s->times.failed;
}

bool stats_end(struct stats *s)
{
	longest_end(&s->spans.longest);
	longest_end(&s->async.longest);
	self_times_end(&s->times);
	s->busy = self_times_busy(&s->times);
	return !s->times.failed && !s->pool.failed && !s->series.failed && groups_label(s) &&
	       (s->tables == NULL || stats_tables_end(s->tables));
}

void stats_describe(struct stats *s, const char *path, uint64_t bytes, const struct trace *trace,
                    const struct select_found *found)
{
	s->trace = trace;
	s->zero_ns = trace->zero_ns;
	s->start_ns = select_found_first(found, s->first_ns);
	s->origin = (struct stats_origin){
		.traces = 1,
		.path = slice_str(path),
		.format = slice_str(trace->format != NULL ? trace->format : ""),
		.dialect = slice_str(trace->dialect != NULL ? trace->dialect : ""),
		.bytes = bytes,
		.records = trace->records,
		.events = found != NULL ? found->events - found->left_out : trace->events,
		.left_out = found != NULL ? found->left_out : 0,
		.epoch_ns = trace->epoch_ns,
		.epoch_known = trace->epoch_known,
		.selected = found != NULL,
	};
}

struct slice stats_title(const struct stats_origin *o, char space[48])
{
	if (o->traces == 1)
		return o->path;
	return slice_of(space, (size_t)snprintf(space, 48, "%" PRIu64 " traces", o->traces));
}

uint64_t stats_other_names(const struct stats *s)
{
	return s->spans.other.count + s->async.other.count + s->instants.other + s->counters.other;
}
