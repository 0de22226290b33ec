#include "htdump/track.h"

#include "htdump/finding.h"

static const struct track *
new_thread(struct ht_state *st, uint64_t id, const struct ht_record *rec)
{
	struct trace *const trace = st->r->trace;
	struct ht_tracks *const all = &st->tracks;

	if (trace->ntracks >= TRACE_MAX_TRACKS) {
		ht_finding_add(st, HT_RULE_THREAD_LIMIT, rec, "thread %" PRIu64 " and others share one track",
		               id);
		if (all->more == NULL)
			all->more =
			    trace_add_thread(trace, all->process, UINT64_MAX, SLICE_LIT("more threads"));
		return all->more;
	}
	const struct slice name = trace_track_name(trace, false, HT_THREAD, id);
	struct track *const t = name.p != NULL ? trace_add_thread(trace, all->process, id, name) : NULL;
	return t != NULL && table64_put(&all->threads, id, t->index) ? t : NULL;
}

const struct track *
ht_track_far(struct ht_state *st, uint64_t id, const struct ht_record *rec)
{
	struct ht_tracks *const all = &st->tracks;
	const uint32_t known = table64_get(&all->threads, id);

	all->last = known != TABLE_NONE ? st->r->trace->tracks[known] : new_thread(st, id, rec);
	all->last_id = id;
	return all->last;
}
