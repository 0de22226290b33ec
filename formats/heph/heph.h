/*
 * Private header of the Heph format ("Trace Format", version 0.1.0).
 *
 * read.c reads a packet: its head, then an event or an option, whose attributes attributes.c decodes; check.c
 * checks its counter and time, meaning.c finds its track.  Valid packets that are only checked or copied pass
 * fast.c instead.  After damage, it searches for the next packet.
 *
 *   read.c        the row of the format, findings, packets, events and options; after damage, recovery
 *   attributes.c  attributes of events and options, repeated names
 *   fast.c        valid packets that are only checked or copied
 *   meaning.c     tracks; options and attributes that tracetool wrote
 *   check.c       streams, their counters, gaps; the epoch
 *   raw.c         fields of raw packets, the copier
 *   write.c       the writer of events of other formats
 */
#ifndef HEPH_HEPH_H
#define HEPH_HEPH_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include "base/compiler.h"
#include "base/numbers.h"
#include "base/scan.h"
#include "base/slice.h"
#include "format/format.h"
#include "format/recover.h"
#include "out/words.h"

/* ---- bytes ---- */

/*
 * All numbers are big-endian.  A packet starts with a magic constant and its size in bytes, which includes
 * these 8.  The name of an option and the description of an event have their length before them (16 bits);
 * an option's value and an event's attributes follow, up to the end of the packet.
 *
 * attribute: name length (16), name, type (8), value
 *
 * (The document's "[31..63]" means bits 32 to 63, and its sketch `struct Event` lacks fields.)
 */
#define HEPH_MAGIC_METADATA UINT32_C(0x75D11D4D)
#define HEPH_MAGIC_EVENT UINT32_C(0xC1FC1FB7)

/* Offsets in packets. */
enum heph_offset {
	HEPH_AT_SIZE = 4,
	HEPH_AT_NAME = 8,   /* of an option */
	HEPH_AT_STREAM = 8, /* and the others: of an event */
	HEPH_AT_COUNTER = 12,
	HEPH_AT_SUBSTREAM = 16, /* 64 bits, like start and end */
	HEPH_AT_START = 24,
	HEPH_AT_END = 32,
	HEPH_AT_DESCRIPTION = 40,
};

#define HEPH_HEAD_SIZE 8     /* magic and size */
#define HEPH_METADATA_MIN 10 /* an empty name, no value */
#define HEPH_EVENT_MIN 42    /* an empty description, no attributes */
#define HEPH_ATTRIBUTE_MIN 5 /* an empty name and an empty string or array */
#define HEPH_EPOCH_SIZE 8

enum heph_type {
	HEPH_UNSIGNED = 1, /* 64 bits */
	HEPH_SIGNED = 2,
	HEPH_FLOAT = 3,
	HEPH_STRING = 4,  /* length (16), bytes */
	HEPH_ARRAY = 0x80 /* flag of an array of one of the above: count (16), values */
};

/* Limits, far above real traces, so that hostile input costs little. */
#define HEPH_MAX_ATTRIBUTES 65000U /* retained attributes of one event */
#define HEPH_MAX_ELEMENTS 262144U  /* of all arrays of one event; see max_elements() in attributes.c */
#define HEPH_MAX_STREAMS 65536U    /* streams that are distinguished */

/* Names of fields of an event beside its attributes. */
#define HEPH_COUNTER_FIELD "stream_counter"
#define HEPH_END_FIELD "end"

/* ---- rules ---- */

enum heph_rule {
#define RULE(name, id, level, text, spec, explain) HEPH_RULE_##name,
#include "heph/rules.def"
#undef RULE
	HEPH_RULE_COUNT
};

extern const struct rule heph_rules[HEPH_RULE_COUNT + 1]; /* ended by an id of NULL */

/* ---- packets ---- */

/* A packet whose bytes are all in the window. */
struct heph_packet {
	const char *p, *end;
	uint64_t offset, ordinal;
	bool followed;     /* another packet starts at `end`, or the input ends there: the size is credible */
	const char *fault; /* the first byte that cannot be interpreted; NULL: none */

	struct slice text; /* the description of an event, the name of an option */

	/* events */
	uint32_t stream, counter;
	uint64_t substream, start, stop;

	struct value option; /* the value of an option */

	/* attributes */
	uint32_t nattributes; /* number of complete attributes */
	uint32_t nfields;     /* in heph_state.fields */
	uint32_t nelements;   /* retained elements of arrays */
	bool build;           /* attributes become fields */
	bool lists;           /* some are arrays */
	bool clash;           /* names may be repeated: they have to be compared */
};

static inline void heph_read_numbers(struct heph_packet *k)
{
	k->stream = load_u32(k->p + HEPH_AT_STREAM, true);
	k->counter = load_u32(k->p + HEPH_AT_COUNTER, true);
	k->substream = load_u64(k->p + HEPH_AT_SUBSTREAM, true);
	k->start = load_u64(k->p + HEPH_AT_START, true);
	k->stop = load_u64(k->p + HEPH_AT_END, true);
}

/* Returns the end of an event, which has no length if it ends before it starts. */
static inline uint64_t heph_packet_end(const struct heph_packet *k)
{
	return k->stop < k->start ? k->start : k->stop;
}

/* Returns the number of fields that an event has before its attributes: the counter, and the end if it ends
 * before it starts. */
static inline uint32_t heph_fixed_fields(const struct heph_packet *k)
{
	return k->stop < k->start ? 2 : 1;
}

/* Same as heph_packet_min() for less than 4 bytes. */
uint32_t heph_packet_min_of_part(const char *p, const char *end);

/* Returns the minimum size of the packet whose magic constant, or the available part of one, is at p; 0 if
 * there is none. */
static inline uint32_t heph_packet_min(const char *p, const char *end)
{
	if (end - p < 4)
		return heph_packet_min_of_part(p, end);
	const uint32_t magic = load_u32(p, true);
	return magic == HEPH_MAGIC_EVENT      ? HEPH_EVENT_MIN
	       : magic == HEPH_MAGIC_METADATA ? HEPH_METADATA_MIN
	                                      : 0;
}

/* Whether a whole packet starts at p, within [p, inside), and ends where another one starts or the
 * input ends. */
bool heph_is_packet(const char *p, const char *inside, const char *end);

/* ---- state: streams, counters, epoch ---- */

struct heph_stream {
	uint32_t id;
	uint32_t last; /* counter of its last packet */
	uint64_t end;  /* end of the event of that packet */
	const struct track *process;
	const struct track *gaps; /* track for its gaps; NULL: no gaps so far */
};

#define HEPH_DIRECT 64U /* streams of smaller ids are found without hashing */

struct heph_streams {
	struct heph_stream *list;
	uint32_t n, cap;
	struct table64 index;         /* id -> list[] */
	uint32_t direct[HEPH_DIRECT]; /* index + 1; 0: none */
};

/*
 * Counters of stream 0, whose packets may be slightly out of order: one bit for each of the 4096 numbers
 * [base, base + 4096), modulo 2^32.
 */
#define HEPH_SHARED_WINDOW 4096U

struct heph_shared {
	bool any;
	uint32_t base, lowest, highest;
	uint64_t bits[HEPH_SHARED_WINDOW / 64]; /* bit of n: n % 4096 */
	uint64_t missing;                       /* numbers between lowest and highest without a packet */
	struct finding_tally first;             /* packet with the lowest number */
};

/*
 * Gaps in the counters of streams, for consumers that want them; otherwise only the first gap of stream 0,
 * for a finding.  A missing number of stream 0 may still arrive until it has left the window, so gaps of
 * stream 0 are pending.  They are few in a valid trace; beyond HEPH_MAX_GAPS the latest ones are combined.
 */
#define HEPH_MAX_GAPS 256U

struct heph_gap {
	uint32_t stream, first;  /* first: the lowest number */
	uint64_t span;           /* numbers from the first to the last */
	uint64_t missing;        /* numbers of the span without a packet */
	uint64_t from, to;       /* times: ends of the events before and after */
	uint64_t offset, record; /* of the packet after */
};

struct heph_gaps {
	struct heph_gap other;                 /* of another stream than 0; missing == 0: none */
	struct heph_gap shared[HEPH_MAX_GAPS]; /* of stream 0: a ring */
	uint32_t head, n;
	struct heph_gap first; /* first gap of stream 0, once certain; missing == 0: not yet */
	struct heph_gap next;  /* of the last RECORD_IS_MISSING */
	bool ended;            /* no packets follow */
};

struct heph_epoch {
	bool known;
	uint64_t ns;
	struct finding_tally latest; /* latest.now: the latest time before the epoch was known */
};

/* ---- state: tracks, tracetool's own options, names ---- */

#define HEPH_CACHED 256U

/* The track of a stream and substream. */
struct heph_track {
	const struct track *track;
	uint64_t substream;
	uint32_t stream;
	bool is_described; /* by an option of tracetool */
};

struct heph_tracks {
	struct heph_track *list;
	uint32_t n, cap;
	struct table64 index;                 /* hash of stream and substream -> list[] */
	struct heph_track cache[HEPH_CACHED]; /* track NULL: empty */
	const struct track *overflow;         /* of events beyond the limit of tracks */
};

#define HEPH_OWN_RECENT 64U

struct heph_own {
	bool active;              /* events have attributes of tracetool */
	bool full;                /* the limit of `text` was reported */
	bool seen;                /* an option occurred, also in copies, where options have no effect */
	uint64_t text;            /* bytes of options and classes that are retained */
	struct table64 processes; /* stream -> trace.tracks[] */
	uint32_t nclasses;
	bool classes_full;                     /* a class beyond a limit was reported */
	struct class *recent[HEPH_OWN_RECENT]; /* by a hash of the name */
};

#define HEPH_SIGNED_NAMES 32U /* attribute names of an event that are compared one by one */

/* Signatures of the attribute names of one event: names with different signatures differ.  Before the first
 * one, `seen` and `n` are set to 0; the list is not cleared: it is large. */
struct heph_names {
	uint64_t seen; /* a bit for each remainder of a signature */
	uint32_t n;
	uint32_t list[HEPH_SIGNED_NAMES];
};

/* ---- state ---- */

/* The search for a packet after damage. */
struct heph_search {
	bool open;
	bool failed; /* no packet follows */
	enum heph_rule rule;
	uint64_t offset, record; /* of the finding */
	uint64_t from;           /* offset of the first byte that is skipped */
	char detail[200];
};

/* State of an input. */
struct heph_state {
	struct reader *r;
	bool raw; /* raw events are wanted */
	struct heph_packet packet;
	struct field *fields; /* its attributes */
	uint32_t fields_cap;
	struct class *event_class, *metadata_class;
	struct heph_search search;
	uint64_t searched; /* offset: packets in which others were searched have no complete one before it */
	struct heph_long {
		uint64_t size, left; /* bytes of a packet that is skipped, and of its rest */
		uint64_t offset, record;
	} long_packet;
	struct heph_streams streams;
	struct heph_shared shared;       /* counters of stream 0 */
	struct finding_tally late_start; /* streams that do not start at counter 0 */
	struct heph_gaps gaps;
	struct heph_tracks tracks;
	struct heph_epoch epoch;
	struct heph_own own;
	struct finding_tally repeated; /* events with a repeated attribute name */
	struct quoted repeated_name;   /* first such name */
};

/* Functions that return void set r->no_memory on OOM. */

/* ---- read.c ---- */

/* Reports a finding at a position in the packet. */
#define heph_report(st, rule, k, at, ...)                                                                    \
	READER_FIND((st)->r->findings, &heph_rules[rule], (k)->offset + (uint64_t)((at) - (k)->p),           \
	            (k)->ordinal, __VA_ARGS__)

/* Reports that `what` needs n bytes, but only `left` follow in the packet. */
void heph_report_past_packet(struct heph_state *st, const struct heph_packet *k, const char *at,
                             const char *what, uint64_t n, uint64_t left) COLD;

/* Reports a text that is not UTF-8. */
void heph_report_text(struct heph_state *st, const struct heph_packet *k, const char *what, struct slice s)
    COLD;

/* ---- fast.c ---- */

/* Whether attributes of events become fields. */
static inline bool heph_builds_fields(const struct heph_state *st)
{
	const unsigned want = st->r->want;
	const bool needed = class_needs_fields(st->event_class) || (st->own.active && !st->raw);

	return (want & WANT_FIELDS) != 0 || ((want & WANT_TIMES) != 0 && needed);
}

/* reader_ops.run: valid event packets whose fields are not wanted; stops at any other packet. */
bool heph_run(struct reader *r, const char *limit, struct batch *b);

/* ---- check.c ---- */

void heph_check_counter_slow(struct heph_state *st, const struct heph_packet *k);

/* Reports findings about counters that are certain only at the end. */
void heph_counters_finish(struct heph_state *st);

/* Removes the next gap that is certain.  Returns false if there is none.  ended: no packets follow. */
bool heph_next_gap(struct heph_state *st, bool ended);

/* Makes a span of the gap. */
void heph_gap_event(struct heph_state *st, struct batch *b, struct event *e);

/* Reads the option `epoch`, whose value ends with the packet. */
void heph_set_epoch(struct heph_state *st, const struct heph_packet *k, const char *value);

/* Checks the times of an event against each other and against the epoch, now or once it is known. */
void heph_check_epoch(struct heph_state *st, const struct heph_packet *k);

/* Returns NULL before the first packet of the stream, or beyond HEPH_MAX_STREAMS. */
static inline struct heph_stream *heph_stream_find(const struct heph_streams *all, uint32_t id)
{
	const uint32_t i = id < HEPH_DIRECT ? all->direct[id] - 1 : table64_get(&all->index, id);

	return i != TABLE_NONE ? &all->list[i] : NULL;
}

static inline void heph_check_counter(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_stream *const s = heph_stream_find(&st->streams, k->stream);

	if (s != NULL && k->stream != 0 && k->counter == s->last + 1) {
		s->last = k->counter;
		s->end = heph_packet_end(k);
	} else {
		heph_check_counter_slow(st, k);
	}
}

/* ---- meaning.c ---- */

/* Returns the track of a packet's stream and substream without looking in the cache. */
const struct track *heph_track_slow(struct heph_state *st, const struct heph_packet *k);

/* Returns the track for gaps of a stream. */
const struct track *heph_gap_track(struct heph_state *st, uint32_t stream);

static inline struct heph_track *heph_track_slot(struct heph_tracks *all, uint32_t stream, uint64_t substream)
{
	return &all->cache[(stream * 31 + substream) % HEPH_CACHED];
}

/* Returns the track if it is in the cache, or NULL. */
static inline const struct track *heph_track_cached(struct heph_tracks *all, uint32_t stream,
                                                    uint64_t substream)
{
	const struct heph_track *const c = heph_track_slot(all, stream, substream);

	return c->stream == stream && c->substream == substream ? c->track : NULL;
}

/*
 * Options and attributes that tracetool writes and reads to avoid losses.  Other readers see ordinary options
 * and attributes.
 */

/* Options.  The value of each is a list of attributes; in HEPH_OWN_TRACK, after a stream (32 bits) and a
 * substream (64).  Attributes of events are words: see out/words.h. */
#define HEPH_OWN_TRACE WORDS_PREFIX "trace" /* the following events have words */
#define HEPH_OWN_TRACK WORDS_PREFIX "track"
#define HEPH_OWN_FACT WORDS_PREFIX "fact"
#define HEPH_OWN_VERSION 1
#define HEPH_OWN_TRACK_IDS 12 /* bytes */

/* Limits of tracks and classes that one reader retains. */
#define HEPH_OWN_MAX_TEXT (64U << 20) /* bytes */
#define HEPH_OWN_MAX_CLASSES 65536U

/* Reads an option of tracetool, whose value ends with the packet.  Returns false if the name is unknown. */
bool heph_own_option(struct heph_state *st, struct heph_packet *k, const char *value);

/* Applies tracetool's attributes to an event of a trace that is `active`.  Its fields must be the last ones
 * of the batch. */
void heph_own_event(struct heph_state *st, const struct heph_packet *k, struct event *e, struct batch *b);

/* ---- attributes.c ---- */

/* Checks the attributes from p to the end of the packet, and with k->build decodes them into st->fields. */
void heph_read_attributes(struct heph_state *st, struct heph_packet *k, const char *p);

/* Reports that the packet ends at p, where another one starts, and not where its size says. */
void heph_end_at_packet(struct heph_state *st, struct heph_packet *k, const char *p);

/* Decodes the elements of lists, which have been checked. */
void heph_load_lists(struct field *f, uint32_t n, struct arena *arena);

/* Adds the decoded attributes to an event, after `fixed` fields that the caller fills in.  Returns the first
 * fixed field; NULL on OOM. */
static inline struct field *heph_add_attributes(const struct heph_state *st, const struct heph_packet *k,
                                                uint32_t fixed, struct batch *b, struct event *e)
{
	struct field *const f = batch_event_fields(b, e, (uint16_t)(fixed + k->nfields));

	if (f == NULL)
		return NULL;
	for (uint32_t i = 0; i < k->nfields; i++)
		f[fixed + i] = st->fields[i];
	if (k->lists)
		heph_load_lists(f + fixed, k->nfields, &b->scratch);
	return f;
}

/* Returns equal numbers for equal names: a hash of the first bytes, those in the middle, the last ones and
 * the length. */
static inline uint32_t heph_name_signature(struct slice name)
{
	uint32_t first = 0, last = 0;

	if (name.n >= 4) {
		first = load_u32(name.p, false);
		last = load_u32(name.p + name.n - 4, false) + load_u32(name.p + name.n / 2 - 2, false);
	} else {
		for (uint32_t i = 0; i < name.n; i++)
			first = first << 8 | (unsigned char)name.p[i];
	}
	return (first + name.n) * UINT32_C(0x9E3779B1) ^ last * UINT32_C(0x85EBCA77);
}

/* Returns false if the name may be repeated, or if there are too many names. */
static inline bool heph_names_add(struct heph_names *all, struct slice name)
{
	const uint32_t signature = heph_name_signature(name);
	const uint64_t bit = (uint64_t)1 << (signature >> 26);

	if (all->n == HEPH_SIGNED_NAMES)
		return false;
	if ((all->seen & bit) != 0)
		for (uint32_t i = 0; i < all->n; i++)
			if (all->list[i] == signature)
				return false;
	all->seen |= bit;
	all->list[all->n++] = signature;
	return true;
}

/* Checks short texts by overlapping words, without a loop: lengths vary, so the end of a loop is hard to
 * predict. */
static inline bool heph_is_ascii(const char *p, uint32_t n)
{
	uint64_t any = 0;

	if (n < 4) {
		for (uint32_t i = 0; i < n; i++)
			any |= (unsigned char)p[i];
		return (any & 0x80) == 0;
	}
	if (n < 8)
		return ((load_u32(p, false) | load_u32(p + n - 4, false)) & UINT32_C(0x80808080)) == 0;
	if (n > 16) {
		for (uint32_t i = 16; i < n - 16; i += 8)
			any |= load_u64(p + i, false);
		any |= load_u64(p + 8, false) | load_u64(p + n - 16, false);
	}
	any |= load_u64(p, false) | load_u64(p + n - 8, false);
	return (any & UINT64_C(0x8080808080808080)) == 0;
}

/* Returns a text with its flags; without `build`, SLICE_JSON may be missing. */
static inline struct slice heph_text(const char *p, uint32_t n, bool build)
{
	if (!build && heph_is_ascii(p, n))
		return (struct slice){ p, n, SLICE_UTF8 };
	return textscan_slice(p, n);
}

/* ---- raw.c ---- */

/* Sets the fields that all raw events and all raw options have, in file order. */
void heph_raw_declare(struct class *event, struct class *metadata);

/* reader_ops.fields */
void heph_raw_fields(struct heph_state *st, const struct heph_packet *k, const struct record *rec,
                     struct batch *b, struct event *e);

/* ---- the writer and the copier ---- */

enum hpw_loss {
#define LOSS(row, ...) HPW_##row,
#include "heph/losses.def"
#undef LOSS
	HPW_LOSSES
};

extern const struct loss hpw_losses[HPW_LOSSES + 1];
extern const struct writer_ops hpw_ops;
extern const struct copier_ops hpw_copier_ops;

#endif
