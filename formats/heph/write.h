#ifndef HEPH_WRITE_H
#define HEPH_WRITE_H

#include "format/format.h"
#include "heph/own.h"
#include "heph/wire.h"

/*
 * The writer.  Packets of a Heph trace are written as they are; what other
 * formats hold becomes events of Heph.
 */

enum hpw_loss {
#define LOSS(row, ...) HPW_##row,
#include "heph/losses.def"
#undef LOSS
	HPW_LOSSES
};

extern const struct loss hpw_losses[HPW_LOSSES + 1];
extern const struct writer_ops hpw_ops;

/* Offsets in packets: heph_wire.h. */
#define HPW_AT_SIZE 4
#define HPW_AT_STREAM 8
#define HPW_AT_COUNTER 12
#define HPW_AT_SUBSTREAM 16
#define HPW_AT_START 24
#define HPW_AT_END 32
#define HPW_AT_DESCRIPTION 40

static inline void
hpw_store(char *p, uint64_t v, unsigned size)
{
	v <<= 64 - 8 * size;
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		v = __builtin_bswap64(v);
	memcpy(p, &v, size);
}

/* ---- heph_write_streams.c: the streams of raw packets ---- */

struct hpw_stream {
	uint32_t id;    /* in the input */
	uint32_t out;   /* in the output */
	uint32_t input; /* where it was met last: the number of the input */
	uint32_t last;  /* counter of its last packet in the input; of stream 0: the highest */
	uint32_t less;  /* what counters are less by in the output: packets that were left out */
	uint32_t next;  /* in_turn: the next counter in the output */
	bool in_turn;   /* its counters are given in the order of the file */
};

#define HPW_DIRECT 64U

struct hpw_streams {
	struct hpw_stream *list;
	uint32_t n, cap;
	struct table64 index;        /* id -> list[] */
	uint32_t direct[HPW_DIRECT]; /* the same of small ids: index + 1; 0: not met */
	struct table64 taken;        /* ids in use in the output, and 2^32 + ids of inputs */
	bool selected;               /* packets are left out */
	uint32_t free;               /* no number from 0 to here is given to a stream whose own is taken */
};

/* The stream of a packet of the `input`-th input (from 0).  `renumbered`: it is new, and its number was
 * taken. NULL: no memory. */
struct hpw_stream *hpw_stream_of(struct hpw_streams *all, uint32_t id, uint32_t counter, uint32_t input,
                                 bool *renumbered);

/* A packet of a stream of the first input that is known and of which nothing is left out.  false: it is none.
 */
static inline bool
hpw_stream_goes_on(struct hpw_streams *all, uint32_t id, uint32_t counter)
{
	if (id >= HPW_DIRECT || all->direct[id] == 0)
		return false;
	struct hpw_stream *const s = &all->list[all->direct[id] - 1];
	if (id != 0 || counter - s->last <= INT32_MAX)
		s->last = counter;
	return true;
}

/* The counter of a packet in the output. */
uint32_t hpw_stream_counter(struct hpw_stream *s, uint32_t counter);

void hpw_streams_free(struct hpw_streams *all);

/* ---- heph_write_options.c: options of raw packets that describe tracks ---- */

struct hpw_held {
	struct text next;     /* those that came since the last event */
	struct text *streams; /* those that wait for an event of their stream */
	uint32_t n, used;
	struct table64 index; /* stream -> streams[] */
	uint64_t bytes;       /* that wait, or waited */
};

#define HPW_MOST_HELD HEPH_OWN_MAX_TEXT

bool hpw_is_track(struct slice bytes);

/* Such an option came; it is written by one of the next two before the next packet, or waits. */
void hpw_hold(struct hpw_held *h, struct text *out, struct slice bytes);
void hpw_release_in_place(struct hpw_held *h, struct text *out);
void hpw_release(struct hpw_held *h, struct text *out, const struct hpw_stream *s); /* of one stream */
void hpw_withhold(struct hpw_held *h, struct text *out);

/* How many options were not written. */
uint32_t hpw_waiting(const struct hpw_held *h);

void hpw_held_free(struct hpw_held *h);

/* ---- heph_write_raw.c ---- */

struct hpw_state;

struct hpw_raw {
	struct hpw_streams streams;
	struct hpw_held held;
	bool any, any_event;
	uint32_t input;    /* number of the present one */
	uint64_t offset;   /* of the last record */
	bool epoch_known;  /* it was read ... */
	bool epoch_held;   /* ... and is to be written before the next event */
	uint32_t epoch_of; /* which input it is of */
	uint64_t epoch;    /* as the input has it */
	uint64_t by;       /* subtracted from times */
	struct slice run;  /* packets that lie side by side, to be written */
	struct chunk *chunk;
};

void hpw_raw_free(struct hpw_raw *raw);

/* ---- heph_write_packet.c: packets that are made ---- */

/* Bounds, so that memory does not grow with the trace and readers with bounds of their own (heph_wire.h) read
 * the output. */
#define HPW_MOST_TEXT UINT16_MAX /* bytes of a text, or values of a list */
#define HPW_MOST_ARGS (7U << 18) /* bytes of a packet up to the last field of an event */
#define HPW_MOST_FIELDS 64000U   /* of one event */
#define HPW_MOST_TRACKS 98000U
#define HPW_MOST_ABOUT (60U << 20) /* bytes of what is said of tracks */

/* A packet that is written.  Once memory is out (text.failed) nothing more is added. */
struct hpw_packet {
	struct hpw_state *st;
	struct text *text;
	struct ledger *ledger;
	uint64_t offset;    /* in the input, of what it is made of */
	size_t start;       /* in the text */
	uint32_t nfields;   /* fields of the event so far */
	uint32_t ntypes;    /* of how many fields st->types tells the type */
	uint32_t nelements; /* of lists */
	bool lost;          /* something of it was */
};

struct hpw_packet hpw_begin_option(struct hpw_state *st, struct chunk *chunk, const char *name,
                                   uint64_t offset);
void hpw_finish(struct hpw_packet *k);
void hpw_lose(struct hpw_packet *k, enum hpw_loss loss);

/* A number of `size` bytes; a length and a text, as much of it as fits. */
void hpw_number(struct hpw_packet *k, uint64_t v, unsigned size);
void hpw_text(struct hpw_packet *k, struct slice s);

/* Attributes. */
void hpw_text_attribute(struct hpw_packet *k, const char *name, struct slice s);
void hpw_number_attribute(struct hpw_packet *k, const char *name, uint64_t v);

/* ---- heph_write_value.c ---- */

/* A field of an event as an attribute, and what the attribute does not say of its type, for the next one. */
void hpw_field(struct hpw_packet *k, struct slice name, const struct value *v);

/* The types of all fields, unless attributes have them. */
void hpw_types(struct hpw_packet *k);

/* ---- heph_write_track.c ---- */

struct hpw_track {
	uint32_t stream;
	uint64_t substream;
	uint32_t process; /* index of its process's track */
	bool numbered, reported;
	bool changed; /* readers show its events under another name or number */
};

struct hpw_tracks {
	struct hpw_track *list; /* by index of the trace's track */
	uint32_t n;
	uint32_t *counters; /* of a process, by index of its track: packets so far */
	uint32_t ncounters;
	uint32_t shared;             /* the same of the stream that tracks beyond the bounds share */
	const struct track **tracks; /* on the way up to one that is known */
	uint32_t ntracks;
	struct table64 streams, substreams; /* in use */
	uint32_t nstreams, count, next_stream;
	uint64_t next_substream, about; /* about: bytes */
};

/* Where the events of a track go; options tell what it is before its first event. */
#define HPW_SHARED_STREAM UINT32_MAX
const struct hpw_track *hpw_track(struct hpw_state *st, const struct track *t, struct chunk *chunk,
                                  uint64_t offset);

/* At the end: the tracks without events. */
void hpw_remaining_tracks(struct hpw_state *st, const struct trace *trace, struct chunk *chunk);

void hpw_tracks_free(struct hpw_tracks *t);

/* ---- heph_write_event.c ---- */

void hpw_event(struct hpw_state *st, const struct batch *b, const struct event *e, struct chunk *chunk);

/* ---- heph_write_facts.c ---- */

void hpw_first_facts(struct hpw_state *st, const struct writer *w, struct chunk *chunk);
void hpw_last_facts(struct hpw_state *st, const struct writer *w, struct chunk *chunk);

/* ---- all of it ---- */

struct hpw_state {
	bool is_raw, rebased, signed_time;
	struct hpw_raw raw;
	struct hpw_tracks tracks;
	uint64_t latest; /* time */
	struct text types, scratch;
	const struct track *last_track; /* of the latest event ... */
	const struct hpw_track *last;   /* ... and where it went */
};

void hpw_raw(struct hpw_state *st, const struct batch *b, struct chunk *chunk);
void hpw_raw_end(struct hpw_state *st, struct chunk *chunk);

#endif
