#include "heph/stream.h"

#include <stdlib.h>

#include "heph/finding.h"
#include "heph/packet.h"
#include "heph/state.h"

void
heph_streams_free(struct heph_streams *all)
{
	free(all->list);
	table64_free(&all->index);
}

struct heph_stream *
heph_stream_new(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_streams *const all = &st->streams;

	if (all->n == HEPH_MAX_STREAMS) {
		heph_finding_add(st, HEPH_RULE_STREAM_LIMIT, k, k->p + 8,
		                 "stream %" PRIu32 " and others are not distinguished", k->stream);
		return NULL;
	}
	if (!array_room(&all->list, all->n, &all->cap, sizeof *all->list) ||
	    (k->stream >= HEPH_DIRECT && !table64_put(&all->index, k->stream, all->n))) {
		st->no_memory = true;
		return NULL;
	}
	if (k->stream < HEPH_DIRECT)
		all->direct[k->stream] = all->n + 1;
	all->list[all->n] = (struct heph_stream){ .id = k->stream };
	return &all->list[all->n++];
}
