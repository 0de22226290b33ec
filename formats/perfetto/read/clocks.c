/*
 * Clocks.  Snapshots of the same set of clocks form a series.  A time is converted by the last snapshot of
 * the series that is not later than it, without interpolation, as in Perfetto.  A conversion costs a binary
 * search in each series on the shortest path to the clock of the trace; the path is found by breadth-first
 * search and cached until a new series appears.
 */
#include <stdlib.h>

#include "perfetto/read/read.h"
#include "base/compiler.h"

#define FIRST_SCOPED 64U
#define LAST_SCOPED 127U

static bool is_scoped(uint32_t clock)
{
	return clock >= FIRST_SCOPED && clock <= LAST_SCOPED;
}

static uint64_t key_of(const struct pf_state *st, uint32_t clock)
{
	return is_scoped(clock) && st->sequence != NULL ? (uint64_t)(st->sequence->index + 1) << 32 | clock
	                                                : clock;
}

static struct pf_clock *find_clock(const struct pf_clocks *c, uint64_t key)
{
	const uint32_t i = table64_get(&c->index, key);

	return i != TABLE_NONE ? &c->list[i] : NULL;
}

void pf_clocks_free(struct pf_clocks *c)
{
	for (uint32_t i = 0; i < c->nseries; i++)
		free(c->series[i].values);
	free(c->series);
	free(c->list);
	free(c->late_events);
	free(c->late);
	table64_free(&c->late_index);
	table64_free(&c->index);
	table64_free(&c->sets);
}

/* Returns the clock of the trace's times; 0: not stated so far. */
static uint32_t target_of(const struct pf_clocks *c)
{
	return c->fixed != 0 ? c->fixed : c->trace;
}

/* ---- snapshots ---- */

struct snapshot {
	struct pf_clock_reading clocks[PF_MAX_SNAPSHOT_CLOCKS];
	uint32_t n;
};

struct pf_clock_reading pf_read_clock(struct slice s)
{
	static const struct pf_member members[] = {
		PF_MEMBER(PF_clock_clock_id, struct pf_clock_reading, id, U32),
		PF_MEMBER(PF_clock_timestamp, struct pf_clock_reading, time, U64),
		PF_MEMBER(PF_clock_is_incremental, struct pf_clock_reading, is_incremental, BOOL),
		PF_MEMBER(PF_clock_unit_multiplier_ns, struct pf_clock_reading, unit, U64),
	};
	struct pf_clock_reading c = { .id = 0 };

	PF_READ(s, members, &c);
	c.unit = c.unit != 0 ? c.unit : 1;
	return c;
}

static bool read_snapshot(struct pf_state *st, struct slice bytes, struct snapshot *s)
{
	struct pf_wire w = pf_wire_on(bytes);

	s->n = 0;
	while (pf_wire_find(&w, PF_TAG(PF_snapshot_clocks, PF_BYTES))) {
		if (s->n == PF_MAX_SNAPSHOT_CLOCKS) {
			pf_report_limit(st, PF_FULL_CLOCKS, "more than %u clocks in a snapshot",
			                PF_MAX_SNAPSHOT_CLOCKS);
			return false;
		}
		s->clocks[s->n] = pf_read_clock(pf_wire_slice(&w));
		s->clocks[s->n].key = key_of(st, s->clocks[s->n].id);
		s->n++;
	}
	return true;
}

uint32_t pf_trace_clock(struct slice snapshot, uint32_t before)
{
	const uint32_t primary = (uint32_t)pf_number(snapshot, PF_snapshot_primary_trace_clock);
	struct pf_wire w = pf_wire_on(snapshot);
	bool has_boottime = false, has_file = false;

	while (pf_wire_find(&w, PF_TAG(PF_snapshot_clocks, PF_BYTES))) {
		const uint32_t id = pf_read_clock(pf_wire_slice(&w)).id;
		has_boottime |= id == PF_BOOTTIME;
		has_file |= id == PF_TRACE_FILE;
	}
	return primary != 0 ? primary : has_boottime && !has_file ? PF_BOOTTIME : before;
}

/* Reports faults of the snapshot.  Returns false if it is not used. */
static bool check_snapshot(struct pf_state *st, const struct snapshot *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct pf_clock_reading *const c = &s->clocks[i];
		const struct pf_clock *const known = find_clock(&st->clocks, c->key);
		uint32_t first = 0;
		while (s->clocks[first].id != c->id)
			first++;
		if (is_scoped(c->id) && st->packet.sequence == 0)
			return pf_report(st, PF_RULE_CLOCK_SCOPED,
			                 "clock %" PRIu32 " in a packet without a sequence", c->id);
		if (first < i)
			return pf_report(st, PF_RULE_CLOCK_SNAPSHOT, "clock %" PRIu32 " occurs twice", c->id);
		if (c->is_incremental && !is_scoped(c->id))
			return pf_report(st, PF_RULE_CLOCK_SNAPSHOT, "clock %" PRIu32 " is incremental",
			                 c->id);
		if (known != NULL && known->unit != c->unit)
			return pf_report(st, PF_RULE_CLOCK_SNAPSHOT,
			                 "clock %" PRIu32 " has a unit of %" PRIu64 " ns after %" PRIu64,
			                 c->id, c->unit, known->unit);
		if (c->time > UINT64_MAX / c->unit)
			return pf_report(st, PF_RULE_CLOCK_SNAPSHOT,
			                 "clock %" PRIu32 " is at %" PRIu64 " units of %" PRIu64
			                 " ns, which exceeds 64 bits",
			                 c->id, c->time, c->unit);
	}
	return true;
}

/* Enters clocks that are new. */
static bool enter_clocks(struct pf_state *st, const struct snapshot *s)
{
	struct pf_clocks *const c = &st->clocks;

	for (uint32_t i = 0; i < s->n; i++) {
		const uint32_t at = table64_element(&c->index, s->clocks[i].key, &c->list, &c->n, &c->cap,
		                                    sizeof *c->list, PF_MAX_CLOCKS);
		if (at == TABLE_NONE)
			pf_report_limit(st, PF_FULL_CLOCKS, "more than %u clocks", PF_MAX_CLOCKS);
		st->r->no_memory |= at == TABLE_FAILED;
		if (at >= TABLE_FAILED)
			return false;
		c->list[at].unit = s->clocks[i].unit; /* a known clock has this unit */
	}
	return true;
}

/* Sets the running values of incremental clocks. */
static void start_deltas(struct pf_state *st, const struct snapshot *s)
{
	struct pf_sequence *const q = st->sequence;

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t k = 0;
		if (!s->clocks[i].is_incremental || q == NULL)
			continue;
		while (k < q->nclocks && q->clocks[k].id != s->clocks[i].id)
			k++;
		if (k == q->nclocks) { /* at most 64 */
			if (!reader_reserve(st->r, &q->clocks, k, &q->clocks_cap, sizeof *q->clocks))
				return;
			q->clocks[q->nclocks++].id = s->clocks[i].id;
		}
		q->clocks[k].value = s->clocks[i].time;
	}
}

/* Adds a series and links it to its clocks, which are in the list. */
static struct pf_series *add_series(struct pf_state *st, const struct snapshot *s, uint64_t hash)
{
	struct pf_clocks *const c = &st->clocks;
	struct pf_series added = { .nclocks = s->n };

	if (c->nseries == PF_MAX_SERIES) {
		pf_report_limit(st, PF_FULL_CLOCKS, "more than %u sets of clocks in snapshots",
		                PF_MAX_SERIES);
		return NULL;
	}
	added.keys = arena_alloc(&st->arena, s->n * sizeof *added.keys);
	added.next = arena_alloc(&st->arena, s->n * sizeof *added.next);
	if (note_failure(&st->r->no_memory,
	                 added.keys == NULL || added.next == NULL ||
	                     !array_reserve(&c->series, c->nseries, &c->series_cap, sizeof *c->series) ||
	                     !table64_put(&c->sets, hash, c->nseries)))
		return NULL;
	for (uint32_t k = 0; k < s->n; k++) {
		struct pf_clock *const clock = find_clock(c, s->clocks[k].key);
		added.keys[k] = s->clocks[k].key;
		added.next[k] = clock->series;
		clock->series = c->nseries + 1;
	}
	c->version++;
	c->series[c->nseries] = added;
	return &c->series[c->nseries++];
}

static struct pf_series *find_series(struct pf_state *st, const struct snapshot *s)
{
	struct pf_clocks *const c = &st->clocks;
	uint64_t hash = st->seed;

	for (uint32_t k = 0; k < s->n; k++)
		hash = hash_u64(s->clocks[k].key, hash);
	for (;; hash++) {
		const uint32_t i = table64_get(&c->sets, hash);
		uint32_t k = 0;
		if (i == TABLE_NONE)
			return add_series(st, s, hash);
		while (k < s->n && c->series[i].nclocks == s->n && c->series[i].keys[k] == s->clocks[k].key)
			k++;
		if (k == s->n && c->series[i].nclocks == s->n)
			return &c->series[i];
	}
}

/* Clocks go forward in a series.  Snapshots of other sets of clocks are of other producers, whose buffers can
 * stand in the file in any order.  Returns false if the clock of the trace goes back. */
static bool check_order(struct pf_state *st, const struct snapshot *s, const struct pf_series *series)
{
	struct pf_clocks *const c = &st->clocks;
	const uint32_t target = target_of(c);

	for (uint32_t i = 0; i < s->n && series->n > 0; i++) {
		const uint64_t ns = s->clocks[i].time * s->clocks[i].unit;
		const uint64_t before = series->values[(size_t)(series->n - 1) * s->n + i];
		const bool is_trace = s->clocks[i].id == target;
		if (ns >= before)
			continue;
		if (is_trace || !s->clocks[i].is_incremental)
			pf_report(st, is_trace ? PF_RULE_CLOCK_BACK : PF_RULE_CLOCK_BACKWARDS,
			          "clock %" PRIu32 " goes back: %" PRIu64 " ns after %" PRIu64,
			          s->clocks[i].id, ns, before);
		if (is_trace)
			return false;
		struct pf_clock *const clock = find_clock(c, s->clocks[i].key);
		c->version += !clock->is_back;
		clock->is_back = true;
	}
	return true;
}

static void add_snapshot(struct pf_state *st, const struct snapshot *s)
{
	if (st->clocks.total == PF_MAX_SNAPSHOTS) {
		pf_report_limit(st, PF_FULL_CLOCKS, "more than %u clock snapshots", PF_MAX_SNAPSHOTS);
		return;
	}
	struct pf_series *const to = enter_clocks(st, s) ? find_series(st, s) : NULL;
	if (to == NULL || !check_order(st, s, to))
		return;
	if (!reader_reserve(st->r, &to->values, to->n, &to->cap, s->n * sizeof *to->values))
		return;
	for (uint32_t i = 0; i < s->n; i++)
		to->values[(size_t)to->n * s->n + i] = s->clocks[i].time * s->clocks[i].unit;
	to->n++;
	st->clocks.total++;
}

/* Sorts clocks by their keys, so that equal sets are equal lists. */
static void sort_clocks(struct snapshot *s)
{
	for (uint32_t i = 1; i < s->n; i++)
		for (uint32_t k = i; k > 0 && s->clocks[k].key < s->clocks[k - 1].key; k--) {
			const struct pf_clock_reading c = s->clocks[k];
			s->clocks[k] = s->clocks[k - 1];
			s->clocks[k - 1] = c;
		}
}

void pf_snapshot(struct pf_state *st, struct slice bytes)
{
	struct pf_clocks *const c = &st->clocks;
	struct snapshot s;

	if (!read_snapshot(st, bytes, &s) || s.n == 0 || !check_snapshot(st, &s))
		return;
	if (c->version == 0)
		c->version = 1;
	c->trace = pf_trace_clock(bytes, c->trace);
	start_deltas(st, &s);
	sort_clocks(&s);
	add_snapshot(st, &s);
}

/* ---- conversion ---- */

static bool is_target(const struct pf_clocks *c, uint64_t key)
{
	const uint32_t target = target_of(c);

	return target != 0 ? key == target : key == PF_BOOTTIME || key == PF_TRACE_FILE;
}

/* A clock that the search reached. */
struct reached {
	uint64_t key;
	uint32_t before; /* index of the clock that it was reached from */
	struct pf_path_step step;
};

#define MAX_REACHED 256U

/* Adds the clocks of a series to those that are reached.  Returns the index of the clock of the trace; 0: the
 * series does not have it. */
static uint32_t reach(struct pf_clocks *c, struct reached *list, uint32_t *n, uint32_t at, uint32_t series,
                      uint8_t from)
{
	const struct pf_series *const s = &c->series[series];

	for (uint8_t to = 0; to < s->nclocks && *n < MAX_REACHED; to++) {
		struct pf_clock *const clock = find_clock(c, s->keys[to]);
		if (clock == NULL || clock->seen == c->searches)
			continue;
		clock->seen = c->searches;
		list[*n] = (struct reached){ s->keys[to], at, { series, from, to } };
		(*n)++;
		if (is_target(c, s->keys[to]))
			return *n - 1;
	}
	return 0;
}

/* Returns false if no path of PF_MAX_PATH steps leads to the clock of the trace. */
static bool find_path(struct pf_clocks *c, uint64_t key, struct pf_path *path)
{
	struct reached list[MAX_REACHED];
	uint32_t n = 1, found = 0, steps = 0;

	list[0] = (struct reached){ .key = key };
	c->searches++;
	for (uint32_t at = 0; at < n && found == 0; at++) {
		const struct pf_clock *const clock = find_clock(c, list[at].key);
		uint32_t i = clock != NULL && !clock->is_back ? clock->series : 0;
		while (i != 0 && found == 0 && c->work < PF_MAX_CLOCK_WORK) {
			const struct pf_series *const s = &c->series[i - 1];
			uint8_t from = 0;
			while (s->keys[from] != list[at].key)
				from++;
			found = reach(c, list, &n, at, i - 1, from);
			c->work++;
			i = c->series[i - 1].next[from];
		}
	}
	for (uint32_t i = found; i != 0; i = list[i].before)
		steps++;
	if (steps == 0 || steps > PF_MAX_PATH)
		return false;
	path->n = steps;
	for (uint32_t i = found; i != 0; i = list[i].before)
		path->steps[--steps] = list[i].step;
	return true;
}

static const struct pf_path *path_of(struct pf_clocks *c, uint64_t key)
{
	struct pf_path *const slot = &c->paths[(key ^ key >> 32) % PF_PATHS];
	const uint32_t target = target_of(c);

	if (slot->version == c->version && slot->key == key && slot->target == target)
		return slot->n > 0 ? slot : NULL;
	slot->key = key;
	slot->version = c->version;
	slot->target = target;
	if (!find_path(c, key, slot))
		slot->n = 0;
	return slot->n > 0 ? slot : NULL;
}

static uint64_t step(const struct pf_series *s, uint8_t from, uint8_t to, uint64_t v)
{
	uint32_t low = 0, high = s->n; /* the last one with a time <= v */

	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;
		if ((int64_t)s->values[(size_t)middle * s->nclocks + from] <= (int64_t)v)
			low = middle;
		else
			high = middle;
	}
	const uint64_t *const row = s->values + (size_t)low * s->nclocks;
	return v - row[from] + row[to];
}

/* Converts a time in units of the clock. */
static enum pf_time convert_in(struct pf_clocks *c, uint64_t key, uint64_t value, uint64_t *ts)
{
	const struct pf_clock *const clock = c->n > 0 ? find_clock(c, key) : NULL;
	int64_t start; /* deltas of an incremental clock can take it below 0 */
	const bool fits = !ckd_mul(&start, (int64_t)value, clock != NULL ? clock->unit : 1);
	uint64_t ns = (uint64_t)start;

	if (key != 0 && c->fixed == 0)
		c->fixed = c->trace;
	if (key != 0 && !is_target(c, key)) {
		if (clock == NULL)
			return PF_TIME_UNKNOWN;
		const struct pf_path *const path = path_of(c, key);
		if (path == NULL)
			return PF_TIME_NO_PATH;
		for (uint32_t i = 0; i < path->n; i++)
			ns = step(&c->series[path->steps[i].series], path->steps[i].from, path->steps[i].to,
			          ns);
	}
	*ts = ns;
	return !fits || ns > INT64_MAX ? PF_TIME_RANGE : PF_TIME_OK;
}

/* Converts a time with the snapshots so far, else (*late) with those of the look-ahead. */
static enum pf_time convert(struct pf_state *st, uint64_t key, uint64_t value, uint64_t *ts, bool *late)
{
	const enum pf_time t = convert_in(&st->clocks, key, value, ts);

	*late = t == PF_TIME_UNKNOWN || t == PF_TIME_NO_PATH;
	return *late && st->ahead != NULL ? convert_in(&st->ahead->clocks, key, value, ts) : t;
}

enum pf_time pf_convert_monotonic(struct pf_state *st, uint64_t value, uint64_t *ts)
{
	bool late;

	return convert(st, PF_MONOTONIC, value, ts, &late);
}

static COLD void note_late(struct pf_state *st, uint64_t key, uint64_t value)
{
	struct pf_clocks *const c = &st->clocks;
	const uint32_t i = table64_element(&c->late_index, key, &c->late, &c->nlate, &c->late_clocks_cap,
	                                   sizeof *c->late, PF_MAX_CLOCKS);

	c->late_key = key;
	c->late_value = value;
	if (i == TABLE_NONE)
		pf_report_limit(st, PF_FULL_CLOCKS, "more than %u clocks", PF_MAX_CLOCKS);
	st->r->no_memory |= i == TABLE_FAILED;
	if (i >= TABLE_FAILED)
		return;
	c->late[i].key = key;
	finding_tally_add(&c->late[i].tally, st->offset, st->ordinal, 0, 0);
}

enum pf_time pf_convert_noted(struct pf_state *st, uint32_t id, uint64_t value, uint64_t *ts)
{
	bool late;
	const enum pf_time t = convert(st, key_of(st, id), value, ts, &late);

	if (late)
		note_late(st, key_of(st, id), value);
	return t;
}

enum pf_time pf_packet_time(struct pf_state *st, const struct pf_packet *k, uint64_t *ts)
{
	struct pf_sequence *const q = st->sequence;
	uint32_t id = k->clock != 0 ? k->clock : q != NULL ? q->default_clock : 0;
	uint64_t value = k->timestamp;

	if (id == 0) { /* a time of the trace, unless its clock has changed since the first conversion */
		id = st->clocks.trace;
		if (id == 0) {
			*ts = value;
			return value > INT64_MAX ? PF_TIME_RANGE : PF_TIME_OK;
		}
	}
	for (uint32_t i = 0; is_scoped(id) && q != NULL && i < q->nclocks; i++)
		if (q->clocks[i].id == id)
			value = q->clocks[i].value += k->timestamp;
	return pf_convert_noted(st, id, value, ts);
}

void pf_late_event(struct pf_state *st)
{
	struct pf_clocks *const c = &st->clocks;
	const bool any = st->event.kind != PF_NOTHING;
	const uint32_t more = st->nbefore + st->nafter + st->samples_left;

	if (c->nlate_events == PF_MAX_LATE_EVENTS ||
	    !reader_reserve(st->r, &c->late_events, c->nlate_events, &c->late_cap, sizeof *c->late_events))
		return;
	c->late_events[c->nlate_events++] =
	    (struct pf_late_event){ .key = c->late_key,
		                    .value = c->late_value,
		                    .offset = st->offset,
		                    .record = st->ordinal,
		                    .events = st->raw ? 0 : more + any,
		                    .further = st->raw ? 0 : more + (any && st->is_inner) };
}

/* ---- the end ---- */

/* Subtracts events whose times cannot be converted at the end from the counts. */
static void check_late_events(struct pf_state *st)
{
	struct pf_clocks *const c = &st->clocks;
	struct finding_tally range = { .count = 0 };
	uint64_t ts;

	for (uint32_t i = 0; i < c->nlate_events; i++) {
		const struct pf_late_event *const e = &c->late_events[i];
		const enum pf_time t = convert_in(c, e->key, e->value, &ts);
		if (t == PF_TIME_OK)
			continue;
		st->r->trace->events -= e->events;
		st->r->trace->further -= e->further;
		if (t == PF_TIME_RANGE)
			finding_tally_add(&range, e->offset, e->record, ts, 0);
	}
	finding_add_tally(st->findings, &perfetto_rules[PF_RULE_TIME_RANGE], &range, PF_RANGE_TEXT,
	                  (int64_t)range.now);
}

void pf_clocks_end(struct pf_state *st)
{
	struct pf_clocks *const c = &st->clocks;
	const bool left_out = pf_reads_once(st);
	uint64_t ts;

	check_late_events(st);
	for (uint32_t i = 0; i < c->nlate; i++) {
		const struct pf_late_clock *const l = &c->late[i];
		const uint32_t id = (uint32_t)l->key;
		const enum pf_time t = convert_in(c, l->key, 0, &ts);
		const char *const what = t == PF_TIME_UNKNOWN ? "no snapshot has it"
		                         : t == PF_TIME_NO_PATH
		                             ? "no snapshots lead to the clock of the trace"
		                         : left_out ? "its snapshot comes later, its events are left out"
		                                    : "its snapshot comes later";
		const enum pf_rule rule = t == PF_TIME_UNKNOWN   ? PF_RULE_CLOCK_UNKNOWN
		                          : t == PF_TIME_NO_PATH ? PF_RULE_CLOCK_NO_PATH
		                          : left_out             ? PF_RULE_PIPE
		                          : is_scoped(id)        ? PF_RULE_CLOCK_LATE_DELTA
		                                                 : PF_RULE_CLOCK_LATE;
		/* the snapshot of the clock may be left out */
		if ((st->limits & PF_FULL_CLOCKS) != 0 && rule != PF_RULE_PIPE)
			continue;
		finding_add_tally(st->findings, &perfetto_rules[rule], &l->tally, "clock %" PRIu32 ": %s", id,
		                  what);
	}
}

static const char *const clock_names[] = {
	NULL, "unix", "unix (coarse)", "monotonic", "monotonic (coarse)", "monotonic (raw)", "boottime"
};

void pf_clocks_facts(struct pf_state *st, const struct pf_clocks *c)
{
	struct trace *const t = st->r->trace;

	if (c->nseries == 0)
		return;
	trace_change(t);
	if (c->trace != 0 && c->trace < sizeof clock_names / sizeof *clock_names)
		t->clock = clock_names[c->trace];
	for (uint32_t i = 0; i < c->nseries; i++) {
		const struct pf_series *const s = &c->series[i];
		const uint64_t *here = NULL, *wall = NULL, *monotonic = NULL; /* in the first snapshot */
		for (uint32_t k = 0; s->n > 0 && k < s->nclocks; k++)
			if (is_target(c, s->keys[k]))
				here = &s->values[k];
			else if (s->keys[k] == PF_REALTIME)
				wall = &s->values[k];
			else if (s->keys[k] == PF_MONOTONIC)
				monotonic = &s->values[k];
		if (here != NULL && wall != NULL && *wall >= *here) {
			t->epoch_known = true;
			t->epoch_ns = *wall - *here;
		}
		if (c->trace == 0 && here != NULL && monotonic != NULL && *monotonic == *here)
			t->clock = "monotonic";
		else if (c->trace == 0 && here != NULL && wall != NULL && *wall == *here)
			t->clock = "unix";
	}
	if (c->trace == PF_REALTIME) {
		t->epoch_known = true;
		t->epoch_ns = 0;
	}
}
