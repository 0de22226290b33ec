#include <stdlib.h>

#include "heph/own.h"
#include "heph/write.h"

/*
 * A process is a stream, its threads are the substreams.  Both keep their
 * numbers where they have some, these fit, and nobody else has them; others get
 * numbers that no operating system gives.  Options tell who each of them is.
 */
#define FIRST_EXTRA 4194304U /* the largest pid of Linux */

void
hpw_tracks_free(struct hpw_tracks *t)
{
	free(t->list);
	free(t->counters);
	free(t->tracks);
	table64_free(&t->streams);
	table64_free(&t->substreams);
}

/* ---- numbers ---- */

static bool
number_stream(struct hpw_tracks *all, const struct track *process, struct hpw_track *to)
{
	uint64_t id = process->id;

	if (!process->has_id || id >= UINT32_MAX || table64_get(&all->streams, id) != TABLE_NONE)
		do
			id = FIRST_EXTRA + ++all->next_stream;
		while (table64_get(&all->streams, id) != TABLE_NONE);
	to->stream = (uint32_t)id;
	all->nstreams++;
	return table64_put(&all->streams, id, 1);
}

/* Which substream of which stream; two of one key would only cost one of them its number. */
static uint64_t
key(uint32_t stream, uint64_t substream)
{
	return hash_u64(substream, stream);
}

static bool
number_substream(struct hpw_tracks *all, const struct track *t, struct hpw_track *to)
{
	const bool own = t->kind == TRACK_THREAD && t->has_id && t->lane == 0 && !t->is_child;
	uint64_t id = own ? t->id : t->kind == TRACK_PROCESS ? 0 : FIRST_EXTRA + ++all->next_substream;

	while (table64_get(&all->substreams, key(to->stream, id)) != TABLE_NONE)
		id = FIRST_EXTRA + ++all->next_substream;
	to->substream = id;
	return table64_put(&all->substreams, key(to->stream, id), 1);
}

/* For all that is beyond the bounds. */
static const struct hpw_track shared = {
	.stream = HPW_SHARED_STREAM, .numbered = true, .reported = true, .changed = true
};

/* A track whose process is numbered, or that is a process. */
static bool
number(struct hpw_packet *k, const struct track *t)
{
	struct hpw_tracks *const all = &k->st->tracks;
	const struct track *const process = track_process(t);
	struct hpw_track *const to = &all->list[t->index];
	bool ok = true;

	if (all->count >= HPW_MOST_TRACKS || (t == process && all->nstreams >= HEPH_MAX_STREAMS - 1) ||
	    all->list[process->index].stream == shared.stream) {
		*to = shared;
		hpw_lose(k, HPW_TRACK_SHARED);
	} else if (t == process) {
		ok = number_stream(all, t, to);
		all->count++;
	} else {
		to->stream = all->list[process->index].stream;
	}
	to->process = process->index;
	if (ok && to->stream != shared.stream)
		ok = number_substream(all, t, to);
	all->count++;
	to->numbered = true;
	return ok;
}

/* ---- what is said of them ---- */

static struct slice
kind_word(const struct track *t)
{
	return t->kind == TRACK_PROCESS ? SLICE_LIT("process")
	       : t->is_child            ? SLICE_LIT("child")
	       : t->lane > 0            ? SLICE_LIT("lane")
	                                : SLICE_LIT("thread");
}

static void
report(struct hpw_state *st, const struct track *t, struct chunk *chunk, uint64_t offset)
{
	struct hpw_tracks *const all = &st->tracks;
	struct hpw_track *const to = &all->list[t->index];
	struct hpw_packet k = hpw_begin_option(st, chunk, HEPH_OWN_TRACK, offset);

	hpw_number(&k, to->stream, 4);
	hpw_number(&k, to->substream, 8);
	hpw_text_attribute(&k, "kind", kind_word(t));
	hpw_text_attribute(&k, "name", t->name);
	if (t->has_id)
		hpw_number_attribute(&k, "id", t->id);
	if (t->lane > 0)
		hpw_number_attribute(&k, "lane", t->lane);
	if (t->parent != NULL && t->parent->parent != NULL)
		hpw_number_attribute(&k, "parent", all->list[t->parent->index].substream);
	hpw_finish(&k);
	to->reported = true;
	if (chunk->text.failed)
		return;
	all->about += chunk->text.n - k.start;
	if (all->about > HPW_MOST_ABOUT) {
		chunk->text.n = k.start;
		hpw_lose(&k, HPW_TRACK_NAMES);
	}
	to->changed = k.lost || all->list[to->process].changed;
}

/* ---- both ---- */

/* A track above which all are known. */
static bool
learn(struct hpw_state *st, const struct track *t, struct chunk *chunk, uint64_t offset)
{
	struct hpw_packet k = { .st = st, .text = &chunk->text, .ledger = &chunk->ledger, .offset = offset };

	if (!number(&k, t))
		return false;
	if (!st->tracks.list[t->index].reported)
		report(st, t, chunk, offset);
	return true;
}

const struct hpw_track *
hpw_track(struct hpw_state *st, const struct track *t, struct chunk *chunk, uint64_t offset)
{
	struct hpw_tracks *const all = &st->tracks;
	uint32_t n = 0;
	bool ok = true;

	if (t == NULL)
		return &shared;
	for (const struct track *above = t; ok && above != NULL; above = above->parent) {
		ok = array_reach(&all->list, &all->n, above->index, sizeof *all->list) &&
		     array_reach(&all->tracks, &all->ntracks, n, sizeof(struct track *));
		if (!ok || all->list[above->index].numbered)
			break;
		all->tracks[n++] = above;
	}
	while (ok && n > 0)
		ok = learn(st, all->tracks[--n], chunk, offset);
	chunk->text.failed |= !ok;
	return ok ? &all->list[t->index] : &shared;
}

void
hpw_remaining_tracks(struct hpw_state *st, const struct trace *trace, struct chunk *chunk)
{
	for (uint32_t i = 0; i < trace->ntracks && !chunk->text.failed; i++)
		if (!trace->tracks[i]->hidden)
			hpw_track(st, trace->tracks[i], chunk, 0);
}
