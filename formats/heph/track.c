#include "heph/track.h"

#include "heph/finding.h"

/* Streams as processes, substreams as their threads. */

/* A process of the stream's number. */
static const struct track *
stream_process(struct heph_state *st, struct heph_stream *s)
{
	struct trace *const trace = st->r->trace;

	if (s->process == NULL)
		s->process = heph_own_process(st, s->id);
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

	if (st->tracks.more == NULL) {
		const struct track *const process = trace_add_process(trace, SLICE_LIT("more streams"));
		if (process != NULL)
			st->tracks.more =
			    trace_add_thread(trace, process, UINT64_MAX, SLICE_LIT("more substreams"));
	}
	return st->tracks.more;
}

static const struct track *
new_track(struct heph_state *st, const struct heph_packet *k, struct heph_stream *s, uint64_t key)
{
	struct trace *const trace = st->r->trace;

	if (trace->ntracks + 2 > TRACE_MAX_TRACKS) {
		heph_finding_add(st, HEPH_RULE_STREAM_LIMIT, k, k->p + 8,
		                 "stream %" PRIu32 ", substream %" PRIu64 " and others share one track",
		                 k->stream, k->substream);
		return more_track(st);
	}
	const struct track *const process = stream_process(st, s);
	const struct slice name = trace_track_name(trace, false, "substream", k->substream);
	const struct track *const t =
	    process != NULL && name.p != NULL ? trace_add_thread(trace, process, k->substream, name) : NULL;
	return t != NULL && table64_put(&st->tracks.index, key, t->index) ? t : NULL;
}

const struct track *
heph_track_far(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_cached *const c = heph_track_cached(st, k->stream, k->substream);
	struct heph_stream *const s = heph_stream_find(&st->streams, k->stream);
	const struct track *t = heph_own_track(st, k->stream, k->substream);
	uint32_t known;

	if (t != NULL) {
		*c = (struct heph_cached){ t, k->substream, k->stream };
		return t;
	}
	if (s == NULL)
		return more_track(st); /* reported with its counter */
	/* The key is a hash of both ids, so it is compared; the track of another pair is passed over. */
	uint64_t key = hash_u64(k->substream, hash_u64(k->stream, st->tracks.seed));
	while ((known = table64_get(&st->tracks.index, key)) != TABLE_NONE) {
		t = st->r->trace->tracks[known];
		if (t->id == k->substream && t->parent == s->process)
			break;
		key++;
	}
	if (known == TABLE_NONE)
		t = new_track(st, k, s, key);
	*c = (struct heph_cached){ t, k->substream, k->stream };
	return t;
}

void
heph_track_forget(struct heph_state *st, uint32_t stream, uint64_t substream)
{
	heph_track_cached(st, stream, substream)->track = NULL;
}

const struct track *
heph_track_lost(struct heph_state *st, uint32_t stream)
{
	struct heph_stream *const s = heph_stream_find(&st->streams, stream);

	if (s == NULL) /* too many streams, which was reported */
		return more_track(st);
	if (s->lost == NULL) {
		const struct track *const process = stream_process(st, s);
		s->lost = process != NULL ? reader_gap_track(st->r, process) : NULL;
	}
	return s->lost;
}
