#include <stdio.h>

#include "base/decimal.h"
#include "base/utf8.h"
#include "chrome/state.h"

/*
 * pid and tid: viewers hold 32 bits.  Perfetto turns a larger number into 0,
 * and a tid of 0 into the pid, so that strangers meet on one track.  Ids that
 * fit are kept; larger ones of threads get the smallest numbers that are free,
 * and the true id is said in names and arguments.  Extra lanes, tracks below
 * others, processes without an id, and process or thread 0, come beside true
 * ids that are still to be met: their numbers start where those of no operating
 * system lie, so that they take away no other thread's number.
 *
 * A thread whose number is that of its process is its main thread to viewers:
 * it stands first and may be called otherwise.  So no invented number is the
 * other one: of processes they are odd, of threads even.
 */
#define LAST_TRUE_ID 4194304U /* the largest pid of Linux */

static bool
is_free(const struct chrome_ids *ids, uint32_t pid, uint32_t tid)
{
	return table64_get(&ids->used, (uint64_t)pid << 32 | tid) == TABLE_NONE;
}

static bool
take(struct chrome_ids *ids, uint32_t pid, uint32_t tid)
{
	return table64_put(&ids->used, (uint64_t)pid << 32 | tid, 1);
}

static bool
keeps_its_id(const struct track *t)
{
	return t->has_id && t->lane == 0 && !t->is_child && t->id > 0 && t->id <= UINT32_MAX;
}

static uint32_t
free_pid(struct chrome_ids *ids)
{
	if (ids->next_pid == 0)
		ids->next_pid = LAST_TRUE_ID - 1;
	do
		ids->next_pid += 2;
	while (!is_free(ids, ids->next_pid, 0));
	return ids->next_pid;
}

/* All processes draw from the same two sequences, so the search never starts over. */
static uint32_t
free_tid(struct chrome_ids *ids, uint32_t pid, bool extra)
{
	uint32_t *const next = extra ? &ids->next_extra_tid : &ids->next_tid;

	if (extra && *next == 0)
		*next = LAST_TRUE_ID;
	do
		*next += extra ? 2 : 1;
	while (*next == pid || !is_free(ids, pid, *next));
	return *next;
}

static void
number_process(struct chrome_state *st, const struct track *t, struct chrome_track *c)
{
	const bool kept = keeps_its_id(t) && is_free(&st->ids, (uint32_t)t->id, 0);

	c->pid = kept ? (uint32_t)t->id : free_pid(&st->ids);
	c->renamed = t->has_id && t->id != c->pid;
}

static void
number_thread(struct chrome_state *st, const struct track *t, struct chrome_track *c)
{
	const struct track *const process = track_process(t);

	c->pid = chrome_track_of(process)->pid;
	const bool invented = !process->has_id || process->id != c->pid;
	const bool kept =
	    keeps_its_id(t) && is_free(&st->ids, c->pid, (uint32_t)t->id) && !(invented && t->id == c->pid);
	c->tid =
	    kept ? (uint32_t)t->id : free_tid(&st->ids, c->pid, t->lane > 0 || t->is_child || t->id == 0);
	c->renamed = t->has_id && t->id != c->tid;
}

bool
chrome_declare_track(struct chrome_state *st, struct track *t)
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
	return take(&st->ids, c->pid, c->tid);
}
