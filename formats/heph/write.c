/*
 * The writer of events of any format: spans are packets of Heph, all other events are spans of no length
 * whose attributes state what they are.  Tracetool's own options describe tracks and the trace (see heph.h).
 * Memory: about 100 bytes a track, at most MAX_TRACKS of them; all further ones share a stream.
 */
#include <stdlib.h>

#include "heph/heph.h"
#include "model/event_traits.h"
#include "model/value.h"
#include "out/times.h"

/* ---- attributes ---- */

static void put_text(struct hpw_packet *k, struct slice name, struct slice text)
{
	const struct value v = value_string(text);

	hpw_attribute(k, name, &v);
}

static void put_number(struct hpw_packet *k, struct slice name, uint64_t number)
{
	const struct value v = value_u64(number);

	hpw_attribute(k, name, &v);
}

/* ---- facts of the trace ---- */

/* Writes the facts known at the beginning, in one option. */
static void put_first_facts(struct hpw_state *st, const struct writer *w, struct chunk *chunk)
{
	struct hpw_packet k = hpw_begin_option(st, chunk, HEPH_OWN_TRACE, 0);
	struct facts facts = facts_of(w, FACTS_WORDS);
	struct fact f;

	put_number(&k, SLICE_LIT("version"), HEPH_OWN_VERSION);
	while (facts_next(&facts, &f))
		hpw_attribute(&k, f.name, &f.value);
	hpw_finish(&k);
}

static void put_fact(struct hpw_state *st, struct chunk *chunk, const struct fact *f)
{
	struct hpw_packet k = hpw_begin_option(st, chunk, HEPH_OWN_FACT, 0);
	struct text *const name = &st->scratch;

	text_clear(name);
	fact_put_name(name, f);
	chunk->text.failed |= name->failed;
	if (!name->failed)
		hpw_field(&k, slice_of(name->p, name->n), &f->value);
	hpw_types(&k);
	hpw_finish(&k);
}

/* Writes the epoch, which is certain only at the end; it applies to the whole trace wherever it is. */
static void put_epoch(struct hpw_state *st, const struct writer *w, struct chunk *chunk)
{
	const uint64_t epoch = w->trace->epoch_ns + (w->rebased ? w->rebased_by : 0);

	if (!w->trace->epoch_known)
		return;
	if (epoch < w->trace->epoch_ns || st->latest > UINT64_MAX - epoch) {
		ledger_add(&chunk->ledger, &hpw_losses[HPW_EPOCH], 0, 1);
		return;
	}
	struct hpw_packet k = hpw_begin_option(st, chunk, "epoch", 0);
	hpw_number(&k, epoch, 8);
	hpw_finish(&k);
}

static void put_last_facts(struct hpw_state *st, const struct writer *w, struct chunk *chunk)
{
	struct facts facts =
	    facts_of(w, FACTS_OF(FACT_REBASED_BY) | FACTS_OF(FACT_TRACE) | FACTS_OF(FACT_LOSS));
	struct fact f;

	put_epoch(st, w, chunk);
	while (facts_next(&facts, &f))
		put_fact(st, chunk, &f);
}

/* ---- tracks ---- */

#define MAX_TRACKS 98000U
#define MAX_DESCRIBED (60U << 20) /* bytes of the options that describe tracks */
#define SHARED_STREAM UINT32_MAX  /* of all tracks beyond the limits */

/* A process is a stream, its threads are the substreams.  Both keep their ids if these fit and are free (see
 * out/tracks.h); an option states what each number means. */

static void free_tracks(struct hpw_tracks *t)
{
	free(t->list);
	free(t->counters);
	track_numbers_free(&t->streams);
	track_numbers_free(&t->substreams);
}

static bool number_stream(struct hpw_tracks *all, const struct track *process, struct hpw_track *to)
{
	const uint64_t *const own = process->has_id && process->id < UINT32_MAX ? &process->id : NULL;
	uint64_t id;

	if (!track_numbers_assign(&all->streams, 0, own, &id))
		return false;
	to->stream = (uint32_t)id;
	all->nstreams++;
	return true;
}

static bool number_substream(struct hpw_tracks *all, const struct track *t, struct hpw_track *to)
{
	static const uint64_t of_process = 0;
	const uint64_t *const own = track_has_own_tid(t)       ? &t->id
	                            : t->kind == TRACK_PROCESS ? &of_process
	                                                       : NULL;

	return track_numbers_assign(&all->substreams, to->stream, own, &to->substream);
}

/* Tracks beyond the limits. */
static const struct hpw_track shared = {
	.stream = SHARED_STREAM, .numbered = true, .reported = true, .changed = true
};

/* Numbers a process, or a track whose process is numbered. */
static bool number_track(struct hpw_packet *k, const struct track *t)
{
	struct hpw_tracks *const all = &k->st->tracks;
	const struct track *const process = track_process(t);
	struct hpw_track *const to = &all->list[t->index];
	bool ok = true;

	if (all->count >= MAX_TRACKS || (t == process && all->nstreams >= HEPH_MAX_STREAMS - 1) ||
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

static void describe_track(struct hpw_state *st, const struct track *t, struct chunk *chunk, uint64_t offset)
{
	struct hpw_tracks *const all = &st->tracks;
	struct hpw_track *const to = &all->list[t->index];
	struct hpw_packet k = hpw_begin_option(st, chunk, HEPH_OWN_TRACK, offset);

	hpw_number(&k, to->stream, 4);
	hpw_number(&k, to->substream, 8);
	put_text(&k, SLICE_LIT("kind"), track_kind_name(t));
	put_text(&k, SLICE_LIT("name"), t->name);
	if (t->has_id)
		put_number(&k, SLICE_LIT("id"), t->id);
	if (t->lane > 0)
		put_number(&k, SLICE_LIT("lane"), t->lane);
	if (t->parent != NULL && t->parent->parent != NULL)
		put_number(&k, SLICE_LIT("parent"), all->list[t->parent->index].substream);
	hpw_finish(&k);
	to->reported = true;
	if (chunk->text.failed)
		return;
	all->described += chunk->text.n - k.start;
	if (all->described > MAX_DESCRIBED) {
		chunk->text.n = k.start;
		hpw_lose(&k, HPW_TRACK_NAMES);
	}
	to->changed = k.lost || all->list[to->process].changed;
}

/* Numbers and describes a track whose parents are known. */
static bool add_track(struct hpw_state *st, const struct track *t, struct chunk *chunk, uint64_t offset)
{
	struct hpw_packet k = { .st = st, .text = &chunk->text, .ledger = &chunk->ledger, .offset = offset };

	if (!number_track(&k, t))
		return false;
	if (!st->tracks.list[t->index].reported)
		describe_track(st, t, chunk, offset);
	return true;
}

/* Adds a track after its parents, of which there are at most TRACE_MAX_DEPTH. */
static bool add_from_top(struct hpw_state *st, const struct track *t, struct chunk *chunk, uint64_t offset)
{
	struct hpw_tracks *const all = &st->tracks;

	if (!array_reach(&all->list, &all->n, t->index, sizeof *all->list))
		return false;
	return all->list[t->index].numbered ||
	       ((t->parent == NULL || add_from_top(st, t->parent, chunk, offset)) &&
	        add_track(st, t, chunk, offset));
}

static const struct hpw_track *find_track(struct hpw_state *st, const struct track *t, struct chunk *chunk,
                                          uint64_t offset)
{
	if (t == NULL)
		return &shared;
	if (!add_from_top(st, t, chunk, offset)) {
		chunk->text.failed = true;
		return &shared;
	}
	return &st->tracks.list[t->index];
}

/* Adds the tracks without events. */
static void put_remaining_tracks(struct hpw_state *st, const struct trace *trace, struct chunk *chunk)
{
	for (uint32_t i = 0; i < trace->ntracks && !chunk->text.failed; i++)
		if (!trace->tracks[i]->hidden)
			find_track(st, trace->tracks[i], chunk, 0);
}

/* ---- fields of an event ---- */

#define FEW 16U /* fields; their names are compared pairwise */

/* Whether two of the fields may have the same name. */
static bool repeats(const struct field *f, uint32_t n)
{
	if (n > FEW)
		return true;
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (slice_equal(f[i].name, f[k].name))
				return true;
	return false;
}

static void put_fields_renamed(struct hpw_packet *k, const struct field *f, uint32_t n)
{
	struct tabletext names = { 0 };
	struct arena a = { 0 };

	for (uint32_t i = 0; i < n && !k->text->failed; i++) {
		const struct slice name = tabletext_unique(&names, &a, f[i].name);
		if (name.n != f[i].name.n)
			hpw_lose(k, HPW_NAME_REPEATED);
		k->text->failed |= name.p == NULL;
		if (name.p != NULL)
			hpw_field(k, name, &f[i].value);
	}
	tabletext_free(&names);
	arena_free(&a);
}

static void put_fields(struct hpw_packet *k, const struct field *f, uint32_t n)
{
	if (repeats(f, n)) {
		put_fields_renamed(k, f, n);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		hpw_field(k, f[i].name, &f[i].value);
}

/* ---- events ---- */

/* Adds the words of an event: properties that Heph cannot store. */
static void put_words(struct hpw_packet *k, const struct event *e)
{
	struct words w;

	words_of_event(&w, e);
	for (unsigned i = 0; i < WORDS_OF_EVENT; i++)
		if (w.of[i].type != VALUE_NONE)
			hpw_attribute(k, word_names[i], &w.of[i]);
	hpw_types(k);
}

static const struct hpw_track *track_of(struct hpw_state *st, const struct event *e, struct chunk *chunk)
{
	if (st->last == NULL || st->last_track != e->track) {
		st->last = find_track(st, e->track, chunk, e->offset);
		st->last_track = e->track;
	}
	return st->last;
}

/* Returns the counter of a stream. */
static uint32_t *counter_of(struct hpw_tracks *all, const struct hpw_track *to)
{
	if (to->stream == SHARED_STREAM)
		return &all->shared;
	return array_reach(&all->counters, &all->ncounters, to->process, sizeof *all->counters)
	           ? &all->counters[to->process]
	           : NULL;
}

static void put_event(struct hpw_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	const struct hpw_track *const to = track_of(st, e, chunk);
	struct hpw_packet k = { .st = st,
		                .text = &chunk->text,
		                .ledger = &chunk->ledger,
		                .offset = e->offset,
		                .start = chunk->text.n };
	const struct out_times times = out_times_of(e, st->signed_time);
	const uint64_t end = times.start + times.dur;
	char *const p = text_reserve(k.text, HPW_AT_DESCRIPTION);

	uint32_t *const counter = counter_of(&st->tracks, to);

	if (p == NULL || counter == NULL) {
		chunk->text.failed = true;
		return;
	}
	if (times.negative)
		hpw_lose(&k, HPW_NEGATIVE_TIME);
	if (times.late)
		hpw_lose(&k, HPW_LATE_TIME);
	if (to->changed)
		hpw_lose(&k, HPW_TRACK_CHANGED);
	hpw_store(p, HEPH_MAGIC_EVENT, 4);
	hpw_store(p + HPW_AT_STREAM, to->stream, 4);
	hpw_store(p + HPW_AT_COUNTER, (*counter)++, 4);
	hpw_store(p + HPW_AT_SUBSTREAM, to->substream, 8);
	hpw_store(p + HPW_AT_START, times.start, 8);
	hpw_store(p + HPW_AT_END, end, 8);
	k.text->n += HPW_AT_DESCRIPTION;
	st->latest = end > st->latest ? end : st->latest;
	hpw_clear_types(st);
	hpw_text(&k, e->name);
	put_fields(&k, b->fields + e->first_field, e->nfields);
	put_words(&k, e);
	hpw_finish(&k);
}

/* ---- the writer ---- */

const struct loss hpw_losses[HPW_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "heph/losses.def"
#undef LOSS
};

static bool hpw_open(struct writer *w, struct chunk *chunk)
{
	struct hpw_state *const st = w->state;

	st->is_raw = w->raw;
	st->copy.streams.selected = w->selected;
	st->rebased = w->rebased;
	st->signed_time = w->signed_time;
	if (!w->raw)
		put_first_facts(st, w, chunk);
	return true;
}

static bool hpw_declare(struct writer *w, const struct batch *b)
{
	(void)w;
	(void)b; /* tracks are reported before their first events, classes with each event */
	return true;
}

static void hpw_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct hpw_state *const st = state;

	if (st->is_raw) {
		hpw_copy(st, b, chunk);
		return;
	}
	for (uint32_t i = 0; i < b->n && !chunk->text.failed; i++)
		if (b->events[i].phase != PHASE_STRUCTURE)
			put_event(st, b, &b->events[i], chunk);
}

static bool hpw_close(struct writer *w, struct chunk *chunk)
{
	struct hpw_state *const st = w->state;

	if (w->raw) {
		hpw_copy_end(st, chunk);
		return true;
	}
	put_remaining_tracks(st, w->trace, chunk);
	put_last_facts(st, w, chunk);
	return true;
}

static void hpw_free(void *state)
{
	struct hpw_state *const st = state;

	hpw_copy_free(&st->copy);
	free_tracks(&st->tracks);
	text_free(&st->types.text);
	text_free(&st->scratch);
}

const struct writer_ops hpw_ops = {
	.state_size = sizeof(struct hpw_state),
	.want = WANT_FIELDS | WANT_BYTES,
	.modes =
	    WRITER_RAW_SAME | WRITER_RAW_SELECT | WRITER_RAW_RUNS | WRITER_RAW_BYTES | WRITER_INTERPRETED,
	.open = hpw_open,
	.declare = hpw_declare,
	.write = hpw_write,
	.close = hpw_close,
	.free = hpw_free,
};
