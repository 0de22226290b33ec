/*
 * Packets that describe the trace and its tracks: clocks, facts (as TraceAttributes), and descriptors.  A
 * track of Perfetto is a process, a thread of it, or a plain track below one of them.  Viewers pack tracks of
 * equal name and parent into one group: the lanes of a thread are such tracks.
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/fields_json.h"
#include "base/compiler.h"
#include "out/facts.h"
#include "perfetto/perfetto.h"

/* ---- clocks ---- */

static void put_clock(struct text *t, unsigned id, uint64_t ns)
{
	const size_t at = wire_open(t, PF_snapshot_clocks);

	wire_number(t, PF_clock_clock_id, id);
	wire_number(t, PF_clock_timestamp, ns);
	wire_close(t, at);
}

/* Times of events are those of the clock "trace file"; a snapshot relates the other clocks to its time 0.
 * Without one the importer has no wall time. */
static void put_clocks(struct text *t, const struct writer *w)
{
	const int128 zero = w->run->rebased_by;
	const bool monotonic = strcmp(w->run->trace->clock, "monotonic") == 0;
	const bool unix_time = strcmp(w->run->trace->clock, "unix") == 0;
	const int128 epoch = (w->run->trace->epoch_known ? w->run->trace->epoch_ns : 0) + zero;

	if (zero > LAST_TIME || epoch < 0 || epoch > LAST_TIME ||
	    (!(monotonic && zero >= 0) && !unix_time && !w->run->trace->epoch_known))
		return;
	const struct perfetto_packet packet = perfetto_open_packet(t, PF_packet_clock_snapshot);
	put_clock(t, PF_TRACE_FILE, 0);
	if (monotonic && zero >= 0)
		put_clock(t, PF_MONOTONIC, (uint64_t)zero);
	if (unix_time || w->run->trace->epoch_known)
		put_clock(t, PF_REALTIME, (uint64_t)epoch);
	perfetto_close_packet(t, packet);
}

/* ---- facts ---- */

struct attributes {
	struct perfetto_state *st;
	struct text *t;
	struct tabletext names;
	struct arena arena;
};

static size_t open_attribute(struct attributes *a, struct slice key)
{
	const struct slice unique = tabletext_unique(&a->names, &a->arena, key);

	if (unique.n != key.n) /* the importer keeps only the last of equal names */
		perfetto_lose(a->st, PERFETTO_KEY_CHANGED, 1);
	a->t->failed |= unique.p == NULL;
	const size_t at = wire_open(a->t, PF_attributes_attribute);
	perfetto_put_text(a->st, a->t, PF_attribute_key, unique);
	return at;
}

/* Values of other types are text, and so are numbers that int64 does not hold. */
static void put_value(struct attributes *a, const struct value *v)
{
	const bool is_unsigned = v->type >= VALUE_U8 && v->type <= VALUE_U64;
	struct fields_json_lost lost = { 0 };
	struct text json = { .n = 0 };

	if (is_unsigned && v->u64 <= INT64_MAX) {
		wire_number(a->t, PF_attribute_long_value, v->u64);
		return;
	}
	if (v->type == VALUE_STRING) {
		perfetto_put_text(a->st, a->t, PF_attribute_string_value, value_text(v));
		return;
	}
	if (is_unsigned)
		text_u64(&json, v->u64);
	else
		fields_json_value(&json, v, &lost);
	wire_slice(a->t, PF_attribute_string_value, slice_of(json.p, json.n));
	a->t->failed |= json.failed;
	text_free(&json);
	if (lost.bad_text > 0)
		perfetto_lose(a->st, PERFETTO_BAD_TEXT, lost.bad_text);
	if (lost.too_deep > 0)
		perfetto_lose(a->st, PERFETTO_TOO_DEEP, lost.too_deep);
}

static void put_attribute(struct attributes *a, struct slice key, const struct value *v)
{
	const size_t at = open_attribute(a, key);

	put_value(a, v);
	wire_close(a->t, at);
}

static void put_fact(struct attributes *a, const struct fact *f)
{
	const char *const prefix = f->kind == FACT_TRACE ? "trace." : f->kind == FACT_LOSS ? "loss." : "";
	const struct slice key = ARENA_JOIN(&a->arena, slice_str(prefix), f->name);

	if (key.p == NULL)
		a->t->failed = true;
	else
		put_attribute(a, key, &f->value);
}

static void put_facts(struct attributes *a, const struct writer *w)
{
	struct facts words = facts_of(w->run, FACTS_TEXTS);
	struct facts others = facts_of(w->run, FACTS_OF(FACT_EPOCH) | FACTS_OF(FACT_REBASED_BY) |
	                                           FACTS_OF(FACT_TRACE) | FACTS_OF(FACT_LOSS));
	const struct value epoch =
	    value_string(w->run->trace->epoch_known ? SLICE_LIT("known") : SLICE_LIT("unknown"));
	struct fact f;

	while (facts_next(&words, &f))
		put_fact(a, &f);
	put_attribute(a, SLICE_LIT("epoch"), &epoch);
	while (facts_next(&others, &f))
		put_fact(a, &f);
}

void perfetto_put_facts(struct perfetto_state *st, const struct writer *w)
{
	struct text *const t = &st->chunk->text;
	struct attributes a = { .st = st, .t = t };

	st->offset = 0;
	put_clocks(t, w);
	const struct perfetto_packet packet = perfetto_open_packet(t, PF_packet_trace_attributes);
	put_facts(&a, w);
	perfetto_close_packet(t, packet);
	tabletext_free(&a.names);
	arena_free(&a.arena);
}

/* ---- numbers ---- */

/* Exact for numbers below 2^32; larger ones are hashed and rarely collide. */
static uint64_t tid_key(uint64_t pid, uint64_t tid)
{
	return tid <= UINT32_MAX ? pid << 32 | tid : hash_u64(tid, pid + 1);
}

static uint64_t number_process(struct perfetto_state *st, const struct track *t)
{
	uint64_t pid = t->id;

	if (!t->has_id || pid == 0 || pid > INT32_MAX || table64_get(&st->pids, pid) != TABLE_NONE) {
		do
			pid = ++st->next_pid;
		while (table64_get(&st->pids, pid) != TABLE_NONE);
		if (t->has_id)
			perfetto_lose(st, PERFETTO_PID, 1);
	}
	st->body.failed |= !table64_put(&st->pids, pid, 1);
	return pid;
}

/* Numbers are invented from one sequence for all processes, so the search never starts over.  Two threads of
 * a process may have the same number, one after the other: the importer keeps them apart. */
static uint64_t number_thread(struct perfetto_state *st, const struct track *t, uint64_t pid)
{
	uint64_t tid = t->id;

	if (!t->has_id)
		do
			tid = ++st->next_tid;
		while (table64_get(&st->tids, tid_key(pid, tid)) != TABLE_NONE);
	st->body.failed |= !table64_put(&st->tids, tid_key(pid, tid), 1);
	return tid;
}

/* ---- tracks ---- */

static bool add_track(struct perfetto_state *st, struct track *t, struct perfetto_track *k)
{
	uint32_t *const number = arena_alloc(&st->arena, sizeof *number);

	if (number == NULL ||
	    !array_reserve(&st->tracks, st->ntracks, &st->tracks_cap, sizeof(struct perfetto_track *)))
		return false;
	*number = st->ntracks;
	st->tracks[st->ntracks++] = k;
	t->declared = number;
	return true;
}

bool perfetto_declare_track(struct perfetto_state *st, struct track *t)
{
	struct perfetto_track *const k = arena_zalloc(&st->arena, 1, sizeof *k);
	const struct perfetto_track *const parent =
	    t->parent != NULL ? perfetto_track_of(st, t->parent) : NULL;

	if (k == NULL)
		return false;
	k->uuid = ++st->uuid;
	if ((t->lane > 0 || t->is_child) && parent != NULL) {
		/* a lane is a sibling of its thread, a child is below it */
		k->pid = parent->pid;
		k->tid = parent->tid;
		k->parent = t->lane > 0 ? parent->parent : parent->uuid;
		k->name = t->lane > 0 ? parent->name : t->name;
	} else {
		k->parent = k->uuid;
		k->name = t->name;
		if (t->kind == TRACK_PROCESS)
			k->pid = number_process(st, t);
		else if (parent != NULL)
			k->pid = parent->pid;
		else
			k->pid = number_process(st, &(struct track){ .has_id = false });
		if (t->kind == TRACK_THREAD)
			k->tid = number_thread(st, t, k->pid);
		if (t->kind == TRACK_THREAD && t->name.n == 0) {
			/* viewers name lanes without a name after their events */
			k->name = arena_printf(&st->arena, "thread %" PRIu64, k->tid);
			if (k->name.p == NULL)
				return false;
		}
	}
	return !st->body.failed && add_track(st, t, k);
}

/* ---- descriptors ---- */

/* Returns the sort rank: the id; tracks without an id are first, by the number at the end of their name. */
static uint64_t rank_of(const struct track *t)
{
	uint64_t n = 0, unit = 1;

	if (t->has_id)
		return t->id < INT32_MAX ? t->id : INT32_MAX;
	for (uint32_t i = t->name.n; i > 0 && unit <= 100000000; i--, unit *= 10) {
		const char c = t->name.p[i - 1];
		if (c < '0' || c > '9')
			break;
		n += unit * (uint64_t)(c - '0');
	}
	return (uint64_t)((int64_t)n - 2000000000);
}

static void put_process(struct perfetto_state *st, struct text *t, const struct track *k,
                        const struct perfetto_track *p)
{
	const size_t at = wire_open(t, PF_descriptor_process);
	char label[40];

	wire_number(t, PF_process_pid, p->pid);
	perfetto_put_text(st, t, PF_process_process_name, k->name);
	if (k->has_id && k->id != p->pid) {
		snprintf(label, sizeof label, "pid %" PRIu64, k->id);
		wire_slice(t, PF_process_process_labels, slice_str(label));
	}
	if (k->host.n > 0) {
		const struct slice host = ARENA_JOIN(&st->arena, SLICE_LIT("host "), k->host);
		t->failed |= host.p == NULL;
		perfetto_put_text(st, t, PF_process_process_labels, host);
	}
	wire_close(t, at);
}

static void put_thread(struct perfetto_state *st, struct text *t, const struct perfetto_track *p)
{
	const size_t at = wire_open(t, PF_descriptor_thread);

	wire_number(t, PF_thread_pid, p->pid);
	wire_number(t, PF_thread_tid, p->tid);
	perfetto_put_text(st, t, PF_thread_thread_name, p->name);
	wire_close(t, at);
}

void perfetto_put_track(struct perfetto_state *st, const struct track *k)
{
	const struct perfetto_track *const p = perfetto_track_of(st, k);
	struct text *const t = &st->chunk->text;
	const struct perfetto_packet packet = perfetto_open_packet(t, PF_packet_track_descriptor);

	wire_number(t, PF_descriptor_uuid, p->uuid);
	if (p->parent != p->uuid) {
		perfetto_put_text(st, t, PF_descriptor_name, p->name);
		wire_number(t, PF_descriptor_parent_uuid, p->parent);
		if (k->lane == 0) /* arrows do not bind to spans of tracks that the importer may merge */
			wire_number(t, PF_descriptor_sibling_merge_behavior, PF_MERGE_NONE);
	} else {
		if (k->kind == TRACK_PROCESS)
			put_process(st, t, k, p);
		else
			put_thread(st, t, p);
		wire_number(t, PF_descriptor_sibling_order_rank, rank_of(k));
	}
	perfetto_close_packet(t, packet);
}

uint64_t perfetto_put_extra_track(struct perfetto_state *st, const struct perfetto_track *k,
                                  struct slice name, bool async)
{
	struct text *const t = &st->chunk->text;
	const struct perfetto_packet packet = perfetto_open_packet(t, PF_packet_track_descriptor);
	unsigned losses; /* counted where the name is written first */

	wire_number(t, PF_descriptor_uuid, ++st->uuid);
	wire_slice(t, PF_descriptor_name, perfetto_repair(st, name, &losses));
	wire_number(t, PF_descriptor_parent_uuid, async ? k->uuid : k->parent);
	if (async) /* the default; tells the reader that this is no lane of that name */
		wire_number(t, PF_descriptor_sibling_merge_behavior, PF_MERGE_NAME);
	perfetto_close_packet(t, packet);
	return st->uuid;
}

void perfetto_put_order(struct perfetto_state *st)
{
	struct text *const t = &st->chunk->text;
	const struct perfetto_packet packet = perfetto_open_packet(t, PF_packet_track_descriptor);

	wire_number(t, PF_descriptor_uuid, 0);
	wire_number(t, PF_descriptor_process_ordering, PF_ORDER_EXPLICIT);
	wire_number(t, PF_descriptor_thread_ordering, PF_ORDER_EXPLICIT);
	perfetto_close_packet(t, packet);
}
