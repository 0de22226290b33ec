#ifndef COMPARE_PENDING_H
#define COMPARE_PENDING_H

#include "base/table.h"
#include "compare/event_identity.h"

/*
 * Events of one side that have no partner so far, in order of time.  They are copied, as their batches go on.
 */
struct pending_event {
	struct event_identity id;
	struct wide_hash track, key; /* key: what a partner has to have */
	char *packed;                /* event_codec.h */
	uint32_t next, tail;         /* with the same key.a; tail: of the first alone; PENDING_NONE */
	bool gone;                   /* it has a partner */
};

#define PENDING_NONE UINT32_MAX

/* Bounds of one side, so that memory does not grow with the trace. */
#define PENDING_MAX 65536U
#define PENDING_MAX_BYTES (UINT64_C(64) << 20)

/* Zero-initialise to start. */
struct pending {
	struct pending_event *list;
	uint32_t n, cap, alive; /* alive: not gone */
	uint32_t oldest;        /* those before it are gone */
	uint64_t bytes;         /* of those that are packed */
	struct table64 keys;    /* key.a -> the first of its events */
	char *room;             /* for packing */
	uint64_t room_size;
};

/* What differ.c asks of a partner besides the key. */
struct pending_limits {
	uint64_t time, dur; /* at most so far apart */
};

/* Copies event i of the batch.  false: no memory. */
bool pending_add(struct pending *p, const struct batch *b, uint32_t i, const struct event_identity *id,
                 struct wide_hash track, struct wide_hash key);

/* Takes out the first event of this key within the limits; false: there is none. */
bool pending_take(struct pending *p, const struct event_identity *id, struct wide_hash key,
                  struct pending_limits limits);

static inline bool
pending_is_full(const struct pending *p)
{
	return p->alive >= PENDING_MAX || p->bytes >= PENDING_MAX_BYTES;
}

/* The event has a partner, or was reported: its memory is given back. */
void pending_drop(struct pending *p, struct pending_event *e);

/* The time of the first event that is there; false: there is none. */
bool pending_oldest(struct pending *p, uint64_t *ts);

/* Closes the gaps that events left; indexes change.  false: no memory. */
bool pending_compact(struct pending *p);

void pending_free(struct pending *p);

#endif
