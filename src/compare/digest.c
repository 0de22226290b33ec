#include "compare/digest.h"

#include <stdlib.h>

#include "base/array.h"

enum { TRACK_DIGEST = 1 };

/* The track that the event is counted on; NULL: no memory. */
static struct digest_track *
track_of(struct digest *d, const struct event *e)
{
	const struct track *track = event_compared_track(e);

	while (track->lane > 0 && track->parent != NULL)
		track = track->parent;
	const uint32_t at = d->rules.no_tracks ? 0 : track->index;
	if (!array_reach(&d->tracks, &d->ntracks, at, sizeof *d->tracks))
		return NULL;
	d->tracks[at].track = track;
	return &d->tracks[at];
}

/* Whether the event takes part; one of the classes that do not is counted. */
static bool
takes_part(struct digest *d, const struct event *e)
{
	if (!event_is_compared(e) || (e->flags & EVENT_LEFT_OUT) != 0)
		return false;
	const bool more = d->rules.more != NULL && event_words_have(d->rules.more, e->cls->name);
	d->more += more;
	return !more;
}

bool
digest_add(struct digest *d, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		if (!takes_part(d, e))
			continue;
		struct digest_track *const to = track_of(d, e);
		if (to == NULL)
			return false;
		wide_hash_sum(&to->sum, event_hash(&d->canon, &d->category, b, e, &d->rules.fields));
		to->events++;
		d->events++;
	}
	return !d->canon.scratch.failed;
}

/* Tracks of one identity, as several files have them, are one: their sums are added to that of the first. */
static bool
join(struct digest *d, const struct trace *trace)
{
	struct table64 first = { .slots = NULL };
	bool ok = true;

	for (uint32_t i = 0; ok && i < d->ntracks; i++) {
		if (d->tracks[i].events == 0)
			continue;
		const uint64_t key = track_identity(&d->identities, trace, d->tracks[i].track).a;
		const uint32_t to = table64_get(&first, key);
		if (to == TABLE_NONE) {
			ok = table64_put(&first, key, i);
			continue;
		}
		wide_hash_sum(&d->tracks[to].sum, d->tracks[i].sum);
		d->tracks[to].events += d->tracks[i].events;
		d->tracks[i].events = 0;
	}
	table64_free(&first);
	return ok && !d->identities.failed;
}

bool
digest_end(struct digest *d, const struct trace *trace, struct wide_hash *out)
{
	*out = (struct wide_hash){ 0, 0 };
	if (!d->rules.no_tracks && !join(d, trace))
		return false;
	for (uint32_t i = 0; i < d->ntracks; i++) {
		const struct digest_track *const t = &d->tracks[i];
		struct wide_hash h = wide_hash_start(TRACK_DIGEST);
		if (t->events == 0)
			continue;
		if (!d->rules.no_tracks)
			wide_hash_add_hash(&h, track_identity(&d->identities, trace, t->track));
		wide_hash_add(&h, t->events);
		wide_hash_add_hash(&h, t->sum);
		wide_hash_sum(out, wide_hash_end(h));
	}
	return !d->identities.failed;
}

void
digest_free(struct digest *d)
{
	canon_free(&d->canon);
	track_identities_free(&d->identities);
	free(d->tracks);
}
