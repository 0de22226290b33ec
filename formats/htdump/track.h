#ifndef HTDUMP_TRACK_H
#define HTDUMP_TRACK_H

#include "htdump/record.h"

/* What the reader calls the track of a thread, unless a vocabulary has another name for it. */
#define HT_THREAD "thread"

/* The track of the thread of this number; NULL: no memory. */
const struct track *ht_track_far(struct ht_state *st, uint64_t id, const struct ht_record *rec);

static inline const struct track *
ht_track(struct ht_state *st, uint64_t id, const struct ht_record *rec)
{
	return st->tracks.last != NULL && st->tracks.last_id == id ? st->tracks.last
	                                                           : ht_track_far(st, id, rec);
}

#endif
