#include <stdlib.h>

#include "heph/heph_state.h"

/* Streams: their counters and tracks. */

/* The stream of an id, made when it is met first.  TABLE_NONE: there are too many, which was said; *no_memory
 * is set when that is why. */
static uint32_t
new_stream(struct heph_state *st, const struct heph_packet *k, bool *no_memory)
{
	if (st->nstreams == HEPH_MAX_STREAMS) {
		heph_find(st, HEPH_RULE_STREAM_LIMIT, k, k->p + 8,
		          "stream %" PRIu32 " and others are not told apart", k->stream);
		return TABLE_NONE;
	}
	if (!array_room(&st->streams, st->nstreams, &st->streams_cap, sizeof *st->streams)) {
		*no_memory = true;
		return TABLE_NONE;
	}
	if (k->stream < HEPH_DIRECT) {
		st->direct[k->stream] = st->nstreams + 1;
	} else if (!table64_put(&st->stream_index, k->stream, st->nstreams)) {
		*no_memory = true;
		return TABLE_NONE;
	}
	st->streams[st->nstreams] = (struct heph_stream){ .id = k->stream };
	return st->nstreams++;
}

static inline uint32_t
find_stream(const struct heph_state *st, uint32_t id)
{
	return id < HEPH_DIRECT ? st->direct[id] - 1 : table64_get(&st->stream_index, id);
}

/* ---- counters ---- */

static bool
is_set(const struct heph_shared *s, uint32_t n)
{
	return (s->bits[n % HEPH_SHARED_WINDOW / 64] >> n % 64 & 1) != 0;
}

/* Moves the window so that it ends with `last`. */
static void
slide(struct heph_shared *s, uint32_t last)
{
	const uint32_t base = last - HEPH_SHARED_WINDOW + 1;

	if (base - s->base >= HEPH_SHARED_WINDOW)
		memset(s->bits, 0, sizeof s->bits);
	else
		for (uint32_t n = s->base; n != base; n++)
			s->bits[n % HEPH_SHARED_WINDOW / 64] &= ~((uint64_t)1 << n % 64);
	s->base = base;
}

static void
begin_shared(struct heph_shared *s, const struct heph_packet *k)
{
	s->any = true;
	s->base = k->counter - HEPH_SHARED_WINDOW / 2;
	s->lowest = s->highest = k->counter;
	s->bits[k->counter % HEPH_SHARED_WINDOW / 64] |= (uint64_t)1 << k->counter % 64;
	finding_tally_add(&s->first, k->offset, k->ordinal, k->counter, 0);
}

/* Stream 0 is shared by threads, so its packets may change places; what counts is whether a number never
 * comes. */
static void
check_shared(struct heph_shared *s, const struct heph_packet *k)
{
	const uint32_t c = k->counter;

	if (c - s->base > INT32_MAX)
		return; /* thousands of packets late, or another run: nothing is remembered of there */
	if (c - s->base >= HEPH_SHARED_WINDOW)
		slide(s, c);
	if (is_set(s, c))
		return;
	s->bits[c % HEPH_SHARED_WINDOW / 64] |= (uint64_t)1 << c % 64;
	if (c - s->highest <= INT32_MAX) {
		if (c - s->highest > 1)
			finding_tally_add(&s->jump, k->offset, k->ordinal, c, s->highest);
		s->missing += c - s->highest - 1;
		s->highest = c;
	} else if (s->lowest - s->base < HEPH_SHARED_WINDOW && c - s->base < s->lowest - s->base) {
		if (s->lowest - c > 1)
			finding_tally_add(&s->jump, k->offset, k->ordinal, s->lowest, c);
		s->missing += s->lowest - c - 1;
		s->lowest = c;
		s->first =
		    (struct finding_tally){ .count = 1, .offset = k->offset, .record = k->ordinal, .now = c };
	} else {
		s->missing--;
	}
	if (s->missing == 0)
		s->jump.count = 0;
}

static void
check_own(struct heph_state *st, const struct heph_packet *k, uint32_t last)
{
	const uint32_t now = k->counter, gap = now - last - 1;

	if (now == last)
		heph_find(st, HEPH_RULE_COUNTER_REPEATED, k, k->p + 12,
		          "stream %" PRIu32 ": counter %" PRIu32 " again", k->stream, now);
	else if (gap < INT32_MAX)
		heph_find(st, HEPH_RULE_COUNTER_GAP, k, k->p + 12,
		          "stream %" PRIu32 ": counter %" PRIu32 " after %" PRIu32 ", %" PRIu32 " missing",
		          k->stream, now, last, gap);
	else
		heph_find(st, HEPH_RULE_COUNTER_BACK, k, k->p + 12,
		          "stream %" PRIu32 ": counter %" PRIu32 " after %" PRIu32, k->stream, now, last);
}

/* A stream's first packet. */
static enum heph_result
begin_stream(struct heph_state *st, const struct heph_packet *k)
{
	bool no_memory = false;
	const uint32_t i = new_stream(st, k, &no_memory);

	if (i == TABLE_NONE)
		return no_memory ? HEPH_NO_MEMORY : HEPH_DONE;
	st->streams[i].last = k->counter;
	if (k->stream == 0)
		begin_shared(&st->shared, k);
	else if (k->counter != 0)
		finding_tally_add(&st->late_start, k->offset, k->ordinal, k->counter, k->stream);
	return HEPH_DONE;
}

enum heph_result
heph_check_counter(struct heph_state *st, const struct heph_packet *k)
{
	const uint32_t i = find_stream(st, k->stream);

	if (i == TABLE_NONE)
		return begin_stream(st, k);
	struct heph_stream *const s = &st->streams[i];
	if (k->stream == 0)
		check_shared(&st->shared, k);
	else if (k->counter != s->last + 1)
		check_own(st, k, s->last);
	s->last = k->counter;
	return HEPH_DONE;
}

void
heph_streams_finish(struct heph_state *st)
{
	struct heph_shared *const s = &st->shared;
	struct finding_tally *const late = &st->late_start;

	if (s->missing > 0)
		finding_add(st->r->findings, &heph_rules[HEPH_RULE_COUNTER_GAP], s->jump.offset + 12,
		            s->jump.record,
		            "stream 0: %" PRIu64 " counter%s between %" PRIu32 " and %" PRIu32
		            " never came; the first jump is from %" PRIu64 " to %" PRIu64,
		            s->missing, s->missing == 1 ? "" : "s", s->lowest, s->highest, s->jump.before,
		            s->jump.now);
	if (s->any && s->lowest != 0) {
		const uint64_t others = late->count;
		if (others == 0 || s->first.offset < late->offset)
			*late = s->first;
		late->count = others + 1;
	}
	if (late->count > 0)
		finding_add(st->r->findings, &heph_rules[HEPH_RULE_COUNTER_START], late->offset + 12,
		            late->record,
		            "stream %" PRIu64 " begins at counter %" PRIu64 "; %" PRIu64 " stream%s in all",
		            late->before, late->now, late->count, late->count == 1 ? "" : "s");
}

/* ---- tracks ---- */

/* A process of the stream's number. */
static const struct track *
stream_process(struct heph_state *st, struct heph_stream *s)
{
	struct trace *const trace = st->r->trace;

	if (s->process != NULL)
		return s->process;
	const struct slice name = trace_track_name(trace, true, "stream", s->id);
	struct track *const t = name.p != NULL ? trace_add_process(trace, name) : NULL;
	if (t != NULL) {
		t->has_id = true;
		t->id = s->id;
	}
	s->process = t;
	return t;
}

/* For all that is beyond the limit. */
static const struct track *
more_track(struct heph_state *st)
{
	struct trace *const trace = st->r->trace;

	if (st->more == NULL) {
		const struct track *const process = trace_add_process(trace, SLICE_LIT("more streams"));
		if (process != NULL)
			st->more = trace_add_thread(trace, process, UINT64_MAX, SLICE_LIT("more substreams"));
	}
	return st->more;
}

static const struct track *
new_track(struct heph_state *st, const struct heph_packet *k, struct heph_stream *s, uint64_t key)
{
	struct trace *const trace = st->r->trace;

	if (trace->ntracks + 2 > TRACE_MAX_TRACKS) {
		heph_find(st, HEPH_RULE_STREAM_LIMIT, k, k->p + 8,
		          "stream %" PRIu32 ", substream %" PRIu64 " and others share one track", k->stream,
		          k->substream);
		return more_track(st);
	}
	const struct track *const process = stream_process(st, s);
	const struct slice name = trace_track_name(trace, false, "substream", k->substream);
	const struct track *const t =
	    process != NULL && name.p != NULL ? trace_add_thread(trace, process, k->substream, name) : NULL;
	return t != NULL && table64_put(&st->tracks, key, t->index) ? t : NULL;
}

const struct track *
heph_track_far(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_cached *const c = &st->cache[(k->stream * 31 + k->substream) % HEPH_CACHED];
	const uint32_t i = find_stream(st, k->stream);
	const struct track *t = NULL;
	uint32_t known;

	if (i == TABLE_NONE)
		return more_track(st); /* said with its counter */
	/* The key is a hash of both ids, so whose it is must be asked; a stranger's is stepped over. */
	uint64_t key = hash_u64(k->substream, hash_u64(k->stream, st->seed));
	while ((known = table64_get(&st->tracks, key)) != TABLE_NONE) {
		t = st->r->trace->tracks[known];
		if (t->id == k->substream && t->parent == st->streams[i].process)
			break;
		key++;
	}
	if (known == TABLE_NONE)
		t = new_track(st, k, &st->streams[i], key);
	*c = (struct heph_cached){ t, k->substream, k->stream };
	return t;
}
