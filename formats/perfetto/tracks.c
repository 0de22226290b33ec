#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "perfetto/state.h"

/*
 * Tracks as Perfetto has them: a process, a thread of it, or a plain track below one of them.  Tracks of one
 * name and parent are one group, which viewers pack: the lanes of a thread are such tracks.
 */

/* ---- numbers ---- */

/* Numbers below 2^32 exactly, so that few others are taken for the same. */
static uint64_t
tid_key(uint64_t pid, uint64_t tid)
{
	return tid <= UINT32_MAX ? pid << 32 | tid : hash_u64(tid, pid + 1);
}

static uint64_t
number_process(struct perfetto_state *st, const struct track *t)
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

/* All processes draw from one sequence, so the search never starts over.  A number that two threads of a
 * process have is that of one after the other: the importer keeps them apart. */
static uint64_t
number_thread(struct perfetto_state *st, const struct track *t, uint64_t pid)
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

static bool
is_plain(const struct track *t)
{
	return t->lane > 0 || t->is_child;
}

static bool
add(struct perfetto_state *st, struct track *t, struct perfetto_track *k)
{
	uint32_t *const number = arena_alloc(&st->arena, sizeof *number);

	if (number == NULL ||
	    !array_room(&st->tracks, st->ntracks, &st->tracks_cap, sizeof(struct perfetto_track *)))
		return false;
	*number = st->ntracks;
	st->tracks[st->ntracks++] = k;
	t->declared = number;
	return true;
}

/* Where a lane or child stands. */
static void
place(struct perfetto_track *k, const struct track *t, const struct perfetto_track *parent)
{
	k->pid = parent->pid;
	k->tid = parent->tid;
	k->parent = t->lane > 0 ? parent->parent : parent->uuid;
	k->name = t->lane > 0 ? parent->name : t->name;
}

bool
perfetto_declare_track(struct perfetto_state *st, struct track *t)
{
	struct perfetto_track *const k = arena_zalloc(&st->arena, 1, sizeof *k);
	const struct perfetto_track *const parent =
	    t->parent != NULL ? perfetto_track_of(st, t->parent) : NULL;

	if (k == NULL)
		return false;
	k->uuid = ++st->uuid;
	if (is_plain(t) && parent != NULL)
		place(k, t, parent);
	else {
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
	}
	return !st->body.failed && add(st, t, k);
}

/* ---- descriptors ---- */

static void
put_text(struct perfetto_state *st, struct text *t, unsigned field, struct slice s)
{
	unsigned changed;

	wire_slice(t, field, perfetto_clean(st, s, &changed));
	perfetto_lose_all(st, changed);
}

/* Where viewers show it: by number; before those, what has none, by the number that its name ends in. */
static uint64_t
rank_of(const struct track *t)
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

static void
put_process(struct perfetto_state *st, struct text *t, const struct track *k, const struct perfetto_track *p)
{
	const size_t at = wire_open(t, TRACK_PROCESS_INFO);
	char label[40];

	wire_number(t, PROCESS_PID, p->pid);
	put_text(st, t, PROCESS_NAME, k->name);
	if (k->has_id && k->id != p->pid) {
		snprintf(label, sizeof label, "pid %" PRIu64, k->id);
		wire_slice(t, PROCESS_LABELS, slice_str(label));
	}
	wire_close(t, at);
}

static void
put_thread(struct perfetto_state *st, struct text *t, const struct perfetto_track *p)
{
	const size_t at = wire_open(t, TRACK_THREAD_INFO);

	wire_number(t, THREAD_PID, p->pid);
	wire_number(t, THREAD_TID, p->tid);
	put_text(st, t, THREAD_NAME, p->name);
	wire_close(t, at);
}

static size_t
open_track(struct text *t, size_t *packet)
{
	*packet = wire_open(t, TRACE_PACKET);
	wire_number(t, PACKET_SEQUENCE, 1);
	return wire_open(t, PACKET_TRACK);
}

void
perfetto_put_track(struct perfetto_state *st, const struct track *k)
{
	const struct perfetto_track *const p = perfetto_track_of(st, k);
	struct text *const t = &st->chunk->text;
	size_t packet;
	const size_t at = open_track(t, &packet);

	wire_number(t, TRACK_UUID, p->uuid);
	if (p->parent != p->uuid) {
		put_text(st, t, TRACK_NAME, p->name);
		wire_number(t, TRACK_PARENT, p->parent);
		if (k->lane == 0) /* arrows do not bind to spans of tracks that the importer may merge */
			wire_number(t, TRACK_MERGE, MERGE_NONE);
	} else {
		if (k->kind == TRACK_PROCESS)
			put_process(st, t, k, p);
		else
			put_thread(st, t, p);
		wire_number(t, TRACK_RANK, rank_of(k));
	}
	wire_close(t, at);
	wire_close(t, packet);
}

uint64_t
perfetto_put_aside(struct perfetto_state *st, const struct perfetto_track *k, struct slice name)
{
	struct text *const t = &st->chunk->text;
	size_t packet;
	const size_t at = open_track(t, &packet);
	unsigned changed;

	wire_number(t, TRACK_UUID, ++st->uuid);
	wire_slice(t, TRACK_NAME, perfetto_clean(st, name, &changed));
	wire_number(t, TRACK_PARENT, k->parent);
	wire_close(t, at);
	wire_close(t, packet);
	return st->uuid;
}

void
perfetto_put_order(struct perfetto_state *st)
{
	struct text *const t = &st->chunk->text;
	size_t packet;
	const size_t at = open_track(t, &packet);

	wire_number(t, TRACK_UUID, 0);
	wire_number(t, TRACK_PROCESS_ORDER, ORDER_EXPLICIT);
	wire_number(t, TRACK_THREAD_ORDER, ORDER_EXPLICIT);
	wire_close(t, at);
	wire_close(t, packet);
}
