#ifndef HEPH_OWN_STATE_H
#define HEPH_OWN_STATE_H

#include "format/format.h"

/* What the reader takes of heph_own.h. */

#define HEPH_OWN_RECENT 64U

struct heph_own_track {
	struct track *track;
	uint64_t substream;
	uint32_t stream;
};

struct heph_own {
	bool active; /* events have attributes of this program */
	bool full;   /* so much was said that no more is retained, which was reported */
	uint64_t text;
	uint64_t seed; /* of the hash below */
	struct heph_own_track *tracks;
	uint32_t n, cap;
	struct table64 index;     /* hash of stream and substream -> tracks[] */
	struct table64 processes; /* stream -> trace.tracks[] */
	uint32_t nclasses;
	struct class *recent[HEPH_OWN_RECENT]; /* by a hash of the name */
};

struct heph_packet;
struct heph_state;

/* Reads an option of this program, its value from `value` to the end of the packet.  false: it is none that
 * is known.  No memory: the state remembers. */
bool heph_own_option(struct heph_state *st, struct heph_packet *k, struct slice name, const char *value,
                     struct batch *b);

/* What an option said of a stream and substream; NULL: nothing. */
const struct track *heph_own_track(const struct heph_state *st, uint32_t stream, uint64_t substream);
const struct track *heph_own_process(const struct heph_state *st, uint32_t stream);

/* Makes an event of a trace that is `active` what its attributes say.  Its fields are the last of the batch.
 * No memory: the state remembers. */
void heph_own_event(struct heph_state *st, const struct heph_packet *k, struct event *e, struct batch *b);

/* Gives n values the types that the words say, where that can be. */
void heph_own_types_apply(struct slice words, struct field *f, uint32_t n, struct batch *b);

void heph_own_free(struct heph_own *own);

#endif
