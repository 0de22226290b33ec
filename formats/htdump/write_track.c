#include "htdump/write.h"

/*
 * HawkTracer knows one process and threads of 32 bits.  A thread keeps its true
 * number where that fits and no other track has it; other tracks get numbers
 * that no operating system gives.  A record tells who each of them is.
 */
#define FIRST_EXTRA 4194304U /* the largest pid of Linux */

static bool
is_free(const struct htw_state *st, uint64_t number)
{
	return table64_get(&st->numbers, number) == TABLE_NONE;
}

static bool
keeps_its_id(const struct track *t)
{
	return t->kind == TRACK_THREAD && t->has_id && t->lane == 0 && !t->is_child && t->id <= UINT32_MAX;
}

/* The thread that a lane, or a track that shows something of a thread, is of; a process if there is none. */
static const struct track *
thread_of(const struct track *t)
{
	while ((t->lane > 0 || t->is_child) && t->parent != NULL)
		t = t->parent;
	return t;
}

/* false: no memory. */
static bool
number_track(struct htw_state *st, const struct track *t, struct htw_track *to)
{
	if (keeps_its_id(t) && is_free(st, t->id)) {
		to->number = (uint32_t)t->id;
	} else {
		do
			st->next_number++;
		while (!is_free(st, FIRST_EXTRA + st->next_number));
		to->number = FIRST_EXTRA + st->next_number;
	}
	const struct track *const thread = thread_of(t);
	to->changed = t->kind == TRACK_PROCESS ||
	              (thread->has_id && thread->id <= FIRST_EXTRA && thread->id != to->number);
	to->numbered = true;
	return table64_put(&st->numbers, to->number, 1);
}

static struct slice
kind_word(const struct track *t)
{
	return t->kind == TRACK_PROCESS ? SLICE_LIT("process")
	       : t->lane > 0            ? SLICE_LIT("lane")
	       : t->is_child            ? SLICE_LIT("child")
	                                : SLICE_LIT("thread");
}

static void
report(struct htw_state *st, const struct track *t, struct chunk *chunk, uint64_t offset)
{
	const struct track *const process = track_process(t), *const thread = thread_of(t);
	const bool has_pid = process->kind == TRACK_PROCESS && process->has_id;
	const bool has_tid = thread->kind == TRACK_THREAD && thread->has_id;
	struct htw_record r = htw_begin(st, chunk, HTW_ID_TRACK, offset);

	htw_number(&r, st->tracks[t->index].number, 4);
	htw_text(&r, kind_word(t));
	htw_text(&r, process->kind == TRACK_PROCESS ? process->name : SLICE_LIT(""));
	htw_number(&r, has_pid, 1);
	htw_number(&r, has_pid ? process->id : 0, 8);
	htw_text(&r, t->name);
	htw_number(&r, has_tid, 1);
	htw_number(&r, has_tid ? thread->id : 0, 8);
	st->tracks[t->index].reported = st->tracks[process->index].reported = true;
}

uint32_t
htw_thread(struct htw_state *st, const struct track *t, struct chunk *chunk, uint64_t offset)
{
	struct htw_track *const to = &st->tracks[t->index];

	if (to->numbered)
		return to->number;
	if (number_track(st, t, to))
		report(st, t, chunk, offset);
	else
		chunk->text.failed = true;
	return to->number;
}

void
htw_remaining_tracks(struct htw_state *st, const struct trace *trace, struct chunk *chunk)
{
	/* threads first: they tell of their process too */
	for (int process = 0; process < 2; process++)
		for (uint32_t i = 0; i < trace->ntracks && i < st->ntracks && !chunk->text.failed; i++) {
			const struct track *const t = trace->tracks[i];
			if ((t->kind == TRACK_PROCESS) == process && !t->hidden && !st->tracks[i].reported)
				htw_thread(st, t, chunk, 0);
		}
}
