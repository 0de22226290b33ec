/*
 * Tracks in Chrome JSON: a pid and a tid of 32 bits each, and the order in which viewers show them.
 */
#include <stdlib.h>

#include "base/match.h"
#include "chrome/write/write.h"
#include "out/tracks.h"

/* ---- ids ---- */

/*
 * pid and tid: viewers use 32 bits.  Perfetto turns a larger number into 0, and a tid of 0 into the pid,
 * which puts unrelated threads on one track.  Ids that fit are kept.  Threads with a larger id get the
 * smallest unused number; names and arguments show the true id.  Lanes, child tracks, tracks without an id,
 * and process or thread 0 get numbers above TRACKS_LAST_PID, which no later thread can have.
 *
 * Viewers treat a thread with the number of its process as its main thread, list it first and may rename it.
 * So generated process numbers are odd, and generated thread numbers even.
 */

static bool is_free(const struct chrome_ids *ids, uint32_t pid, uint32_t tid)
{
	return table64_get(&ids->used, (uint64_t)pid << 32 | tid) == TABLE_NONE;
}

/* Whether the track has its own system id: without has_id, the number is undefined. */
static bool has_own_id(const struct track *t)
{
	return t->has_id && t->lane == 0 && !t->is_child;
}

static bool keeps_its_id(const struct track *t)
{
	return has_own_id(t) && t->id > 0 && t->id <= UINT32_MAX;
}

static uint32_t free_pid(struct chrome_ids *ids)
{
	if (ids->next_pid == 0)
		ids->next_pid = TRACKS_LAST_PID - 1;
	do
		ids->next_pid += 2;
	while (!is_free(ids, ids->next_pid, 0));
	return ids->next_pid;
}

/* All processes share two sequences of numbers, so the search never starts over. */
static uint32_t free_tid(struct chrome_ids *ids, uint32_t pid, bool extra)
{
	uint32_t *const next = extra ? &ids->next_extra_tid : &ids->next_tid;

	if (extra && *next == 0)
		*next = TRACKS_LAST_PID;
	do
		*next += extra ? 2 : 1;
	while (*next == pid || !is_free(ids, pid, *next));
	return *next;
}

static void number_process(struct chrome_state *st, const struct track *t, struct chrome_track *c)
{
	const bool kept = keeps_its_id(t) && is_free(&st->ids, (uint32_t)t->id, 0);

	c->pid = kept ? (uint32_t)t->id : free_pid(&st->ids);
	c->renamed = t->has_id && t->id != c->pid;
}

static void number_thread(struct chrome_state *st, const struct track *t, struct chrome_track *c)
{
	const struct track *const process = track_process(t);

	c->pid = chrome_track_of(process)->pid;
	const bool invented = !process->has_id || process->id != c->pid;
	const bool kept =
	    keeps_its_id(t) && is_free(&st->ids, c->pid, (uint32_t)t->id) && !(invented && t->id == c->pid);
	c->tid = kept ? (uint32_t)t->id : free_tid(&st->ids, c->pid, !has_own_id(t) || t->id == 0);
	/* the id of a process's lane is the pid */
	c->renamed = t->has_id && t->id != c->tid && track_without_lane(t)->kind == TRACK_THREAD;
}

bool chrome_declare_track(struct chrome_state *st, struct track *t)
{
	struct chrome_track *const c = arena_zalloc(&st->arena, 1, sizeof *c);

	if (c == NULL || (c->part = arena_zalloc(&st->arena, 1, sizeof *c->part)) == NULL)
		return false;
	if (t->kind == TRACK_PROCESS)
		number_process(st, t, c);
	else
		number_thread(st, t, c);
	c->len = (uint8_t)snprintf(c->text, sizeof c->text, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, c->pid,
	                           c->tid);
	c->changed = !utf8_valid(t->name.p, t->name.n) ||
	             (t->kind != TRACK_PROCESS && chrome_track_of(track_process(t))->changed);
	t->declared = c;
	return table64_put(&st->ids.used, (uint64_t)c->pid << 32 | c->tid, 1);
}

/* ---- order ---- */

/*
 * Viewers show processes and threads by number, those without a number by name ("worker 2" before "worker
 * 10").  After a thread follow its lanes, then its child tracks with their lanes.  The order is written last,
 * when all tracks are known: metadata may be anywhere in the file.
 */
#define MAX_ORDERED 65536U /* tracks; more are of no use in a viewer, and all lines are written at once */

struct position {
	const struct track *root; /* the process, or the thread that the track is or descends from */
	const struct track *t;
	uint32_t child; /* index of the child track of root: t, or the track that t is a lane of; 0: none */
};

static struct position find_position(const struct track *t)
{
	const struct track *k = t->lane > 0 ? t->parent : t;
	struct position p = { .t = t, .child = k->is_child ? k->index : 0 };

	while ((k->is_child || k->lane > 0) && k->parent != NULL)
		k = k->parent;
	p.root = k;
	return p;
}

static uint32_t digits_start(struct slice s)
{
	uint32_t n = s.n;

	while (n > 0 && s.p[n - 1] >= '0' && s.p[n - 1] <= '9')
		n--;
	return n;
}

/* Compares numbers at the end of names as numbers. */
static int compare_names(struct slice a, struct slice b)
{
	const uint32_t i = digits_start(a), k = digits_start(b);
	const int order = slice_compare(slice_of(a.p, i), slice_of(b.p, k));

	if (order != 0)
		return order;
	a = slice_of(a.p + i, a.n - i);
	b = slice_of(b.p + k, b.n - k);
	return a.n != b.n ? ORDER(a.n, b.n) : slice_compare(a, b);
}

static int compare_roots(const struct track *a, const struct track *b)
{
	/* Tracks without an id of the system first: they are few and of more interest. */
	int order = ORDER(a->has_id, b->has_id);

	if (order == 0)
		order = a->has_id ? ORDER(a->id, b->id) : compare_names(a->name, b->name);
	return order != 0 ? order : ORDER(a->index, b->index);
}

static int compare_positions(const void *x, const void *y)
{
	const struct position *const a = x, *const b = y;
	const struct track *const p = track_process(a->root), *const q = track_process(b->root);

	if (p != q)
		return compare_roots(p, q);
	if (a->root != b->root)
		return a->root == p ? -1 : b->root == p ? 1 : compare_roots(a->root, b->root);
	return a->child != b->child ? ORDER(a->child, b->child) : ORDER(a->t->lane, b->t->lane);
}

bool chrome_put_order(const struct track *const *tracks, uint32_t ntracks, struct text *t)
{
	uint32_t n = 0, processes = 0;

	if (ntracks > MAX_ORDERED)
		return true;
	struct position *const positions = calloc((size_t)ntracks + 1, sizeof *positions);
	if (positions == NULL)
		return false;
	for (uint32_t i = 0; i < ntracks; i++) {
		if (tracks[i]->hidden)
			continue;
		positions[n++] = find_position(tracks[i]);
		processes += tracks[i]->kind == TRACK_PROCESS;
	}
	qsort(positions, n, sizeof *positions, compare_positions);
	for (uint32_t i = 0; i < n; i++) {
		const struct track *const k = positions[i].t;
		const bool process = k->kind == TRACK_PROCESS;
		if (process && processes == 1)
			continue;
		const struct chrome_track *const c = chrome_track_of(k);
		text_str(t, process ? ",\n{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":"
		                    : ",\n{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":");
		text_u64(t, c->pid);
		if (!process) {
			text_str(t, ",\"tid\":");
			text_u64(t, c->tid);
		}
		text_str(t, ",\"args\":{\"sort_index\":");
		text_u64(t, i + 1);
		text_str(t, "}}");
	}
	free(positions);
	return true;
}
