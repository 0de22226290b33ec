#ifndef HEPH_HEPH_H
#define HEPH_HEPH_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include "base/slice.h"
#include "base/scan.h"
#include "format/format.h"
#include "out/tracks.h"
#include "format/recover.h"

/* ---- wire ---- */

/*
 * Facts of the bytes.  Everything is big-endian.  A packet starts with a magic
 * constant and its size in bytes, these 8 included.
 *
 * metadata  0 magic  4 size  8 name length (16 bits)  10 name, value up to the end
 * event     0 magic  4 size  8 stream  12 counter  16 substream (64)  24 start (64)  32 end (64)
 *           40 description length (16)  42 description, attributes up to the end
 * attribute 0 name length (16)  2 name, type (8), value
 *
 * (The document's "[31..63]" is to be read as bits 32 to 63, and its sketch `struct Event` lacks fields.)
 */
#define HEPH_MAGIC_METADATA UINT32_C(0x75D11D4D)
#define HEPH_MAGIC_EVENT UINT32_C(0xC1FC1FB7)
#define HEPH_START 8         /* magic and size */
#define HEPH_METADATA_MIN 10 /* an empty name, no value */
#define HEPH_EVENT_MIN 42    /* an empty description, no attributes */
#define HEPH_ATTRIBUTE_MIN 5 /* an empty name and an empty string or array */
#define HEPH_EPOCH_SIZE 8

/* Types of values. */
enum heph_type {
	HEPH_UNSIGNED = 1, /* 64 bits */
	HEPH_SIGNED = 2,
	HEPH_FLOAT = 3,
	HEPH_STRING = 4,  /* length (16), bytes */
	HEPH_ARRAY = 0x80 /* with one of the above: count (16), values */
};

/* Bounds of this program, far above what a real trace holds, so that hostile input costs little. */
#define HEPH_MAX_PACKET (2U << 20)   /* bytes; arrays of 65,535 numbers of each type fit */
#define HEPH_MAX_ATTRIBUTES 65000U   /* of one event, that are retained */
#define HEPH_MAX_ELEMENTS 262144U    /* of all arrays of one event, likewise */
#define HEPH_MAX_STREAMS 65536U      /* that are distinguished */
#define HEPH_NEXT_BYTES (256U << 10) /* read at one go, plus one packet */
#define HEPH_NEXT_FIELDS (64U << 10) /* likewise */
#define HEPH_SEARCH_BYTES (1U << 20) /* searched at one go for the next packet */

/* ---- finding ---- */

enum heph_rule {
#define RULE(name, id, level, text, spec, explain) HEPH_RULE_##name,
#include "heph/rules.def"
#undef RULE
	HEPH_RULE_COUNT
};

extern const struct rule heph_rules[HEPH_RULE_COUNT + 1]; /* ended by an id of NULL */

struct heph_packet;
struct heph_state;

/* Reports a finding at a place in the packet. */
void heph_finding_add(struct heph_state *st, enum heph_rule rule, const struct heph_packet *k, const char *at,
                      const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Whether the next finding of a rule will be shown: else its message need not be made. */
bool heph_finding_is_shown(const struct heph_state *st, enum heph_rule rule);

/* Something that does not fit: it takes n bytes, `room` are there. */
void heph_report_past_packet(struct heph_state *st, const struct heph_packet *k, const char *at,
                             const char *what, uint64_t n, uint64_t room);

/* A text that is not UTF-8. */
void heph_report_text(struct heph_state *st, const struct heph_packet *k, const char *what, struct slice s);

/* ---- counter ---- */

struct heph_packet;
struct heph_state;

/*
 * The counters of stream 0, whose packets come a little out of order: a bit
 * for each of the 4096 numbers [base, base + 4096), modulo 2^32.
 */
#define HEPH_SHARED_WINDOW 4096U

struct heph_shared {
	bool any;
	uint32_t base, lowest, highest;
	uint64_t bits[HEPH_SHARED_WINDOW / 64]; /* bit of n: n % 4096 */
	uint64_t missing;                       /* numbers between lowest and highest that have not come */
	struct finding_tally jump;              /* the first one behind which a number is missing */
	struct finding_tally first;             /* the packet with the lowest */
};

struct heph_counters {
	struct heph_shared shared;       /* of stream 0 */
	struct finding_tally late_start; /* streams that do not begin at 0 */
};

/* Checks the counter of an event.  No memory: the state remembers. */
void heph_counter_check(struct heph_state *st, const struct heph_packet *k);

/* ---- epoch ---- */

struct heph_packet;
struct heph_state;

/* The epoch of this input. */
struct heph_epoch {
	bool known;
	uint64_t ns;
	struct finding_tally latest; /* now: the latest time before the epoch was known */
};

/* The option `epoch`, its value from `value` to the end of the packet. */
void heph_epoch_set(struct heph_state *st, const struct heph_packet *k, const char *value);

/* Checks the times of an event: against each other, and with the epoch, now or when it is known. */
void heph_epoch_check(struct heph_state *st, const struct heph_packet *k);

/* ---- lost ---- */

struct heph_packet;
struct heph_state;

/*
 * Numbers that counters of streams leave out, for who wants gaps.  One of stream 0 may still come, until it
 * is far behind; so its gaps wait here.  They are few in any trace that is sound: where many wait, the latest
 * ones become one.
 */
#define HEPH_LOST 256U

struct heph_lost {
	uint32_t stream, first; /* the lowest number */
	uint64_t span;          /* numbers from the first to the last */
	uint64_t missing;       /* of them, so far */
	uint64_t from, to;      /* ends of the events before and after */
	uint64_t offset;        /* of the packet after */
};

struct heph_losts {
	struct heph_lost own;               /* missing 0: none */
	struct heph_lost shared[HEPH_LOST]; /* of stream 0: a ring */
	uint32_t head, n;
	enum read_status ended; /* how the input did; READ_MORE: packets may come */
};

/* Whether there are any: rare. */
static inline bool heph_lost_any(const struct heph_losts *l)
{
	return l->own.missing > 0 || l->n > 0;
}

/* ---- names ---- */

struct heph_packet;
struct heph_state;

#define HEPH_SIGNED_NAMES 32U /* attribute names of an event that are compared one by one */

/* The names of one event, to find those that come twice. */
struct heph_names {
	uint64_t seen; /* a bit for each remainder of a signature */
	uint32_t n;    /* may be more than are remembered */
	bool clash;    /* perhaps a name comes twice: look again with care */
	uint32_t signatures[HEPH_SIGNED_NAMES];
	struct slice names[HEPH_SIGNED_NAMES];
};

static inline void heph_names_begin(struct heph_names *names)
{
	names->seen = 0;
	names->n = 0;
	names->clash = false;
}

/* Equal for equal names: made of the first bytes, the last ones and the length. */
static inline uint32_t heph_name_signature(struct slice name)
{
	uint32_t first = 0, last = 0;

	if (name.n >= 4) {
		memcpy(&first, name.p, 4);
		memcpy(&last, name.p + name.n - 4, 4);
	} else {
		for (uint32_t i = 0; i < name.n; i++)
			first = first << 8 | (unsigned char)name.p[i];
	}
	return (first + name.n) * UINT32_C(0x9E3779B1) ^ last * UINT32_C(0x85EBCA77);
}

/* Compares a name of which a signature like it was seen with those that are remembered. */
void heph_names_compare(struct heph_names *names, struct slice name, uint32_t signature);

static inline void heph_names_add(struct heph_names *names, struct slice name)
{
	const uint32_t signature = heph_name_signature(name);
	const uint64_t bit = (uint64_t)1 << (signature >> 26);

	if ((names->seen & bit) != 0)
		heph_names_compare(names, name, signature);
	names->seen |= bit;
	if (names->n < HEPH_SIGNED_NAMES) {
		names->signatures[names->n] = signature;
		names->names[names->n++] = name;
	} else {
		names->clash = true;
	}
}

/* Looks with care at the names of the n attributes at p, which are complete; gives fields that are in the
 * batch (b may be NULL) different names, with `all` also from those that each event has.  No memory: the
 * state remembers. */
void heph_names_settle(struct heph_state *st, const struct heph_packet *k, const char *p, uint32_t n,
                       struct batch *b, bool all);

/* ---- packet ---- */

/* One packet where it lies, all of it in the window. */
struct heph_packet {
	const char *p, *end;
	uint64_t offset, ordinal;
	bool followed;     /* at `end` another packet starts, or the input ends: the size can be trusted */
	const char *fault; /* NULL: it is sound; else from here on its content cannot be read */

	/* events */
	uint32_t stream, counter;
	uint64_t substream, start, stop;
	struct slice description;
	uint32_t nfields;   /* put behind those in use in the batch */
	uint32_t nelements; /* of arrays that are retained */
};

/* What events bring besides their attributes, under these names. */
#define HEPH_COUNTER_FIELD "stream_counter"
#define HEPH_END_FIELD "end"

/* When an event ends; one that ends before it begins has no length. */
static inline uint64_t heph_packet_end(const struct heph_packet *k)
{
	return k->stop < k->start ? k->start : k->stop;
}

/* heph_packet_min for less than 4 bytes. */
uint32_t heph_packet_min_of_part(const char *p, const char *end);

/* Whether the bytes at p, as far as they are there, may start a packet: 0: no; else the least size of its
 * kind. */
static inline uint32_t heph_packet_min(const char *p, const char *end)
{
	if (end - p < 4)
		return heph_packet_min_of_part(p, end);
	const uint32_t magic = load_u32(p, true);
	return magic == HEPH_MAGIC_EVENT      ? HEPH_EVENT_MIN
	       : magic == HEPH_MAGIC_METADATA ? HEPH_METADATA_MIN
	                                      : 0;
}

/* Whether another packet starts at p, or the input ends there. */
static inline bool heph_is_packet_end(const char *p, const char *end)
{
	return p == end || heph_packet_min(p, end) != 0;
}

/* Whether a complete packet lies at the start of [p, inside), and another one starts behind it, or the input
 * ends. */
bool heph_is_packet(const char *p, const char *inside, const char *end);

/* ---- own state ---- */

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
void heph_own_free(struct heph_own *own);

/* ---- search ---- */

/* A place from which on no packet was found yet. */
struct heph_gap {
	bool open;
	enum heph_rule rule;
	uint64_t offset, record; /* of the finding */
	uint64_t from;           /* the first byte that is skipped */
	char detail[200];
};

/* Opens a gap: the next packet is searched from `from` on, and the finding about `place` is reported when it,
 * or the end, is found.  What is skipped starts with the packet, or with its fault. */
void heph_search_begin(struct heph_state *st, enum heph_rule rule, const struct heph_packet *k,
                       const char *place, const char *from, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* Searches some bytes.  false: no packet follows; else call again, or the gap is closed. */
bool heph_search(struct heph_state *st);

/* ---- stream ---- */

struct heph_packet;
struct heph_state;

struct heph_stream {
	uint32_t id;
	uint32_t last; /* counter of its last packet */
	uint64_t end;  /* of the event of that packet */
	const struct track *process;
	const struct track *lost; /* for its gaps; NULL: it had none */
};

/* Streams of small ids are found without hashing. */
#define HEPH_DIRECT 64U

struct heph_streams {
	struct heph_stream *list;
	uint32_t n, cap;
	struct table64 index;         /* id -> list[] */
	uint32_t direct[HEPH_DIRECT]; /* index + 1; 0: not met */
};

/* NULL: it was not met yet, or there are too many. */
static inline struct heph_stream *heph_stream_find(const struct heph_streams *all, uint32_t id)
{
	const uint32_t i = id < HEPH_DIRECT ? all->direct[id] - 1 : table64_get(&all->index, id);

	return i != TABLE_NONE ? &all->list[i] : NULL;
}

/* ---- state ---- */

/* Which track the latest packets of a stream and substream went to. */
#define HEPH_CACHED 256U

struct heph_cached {
	const struct track *track; /* NULL: empty */
	uint64_t substream;
	uint32_t stream;
};

struct heph_tracks {
	struct table64 index; /* hash of stream and substream -> trace.tracks[] */
	uint64_t seed;        /* of that hash */
	struct heph_cached cache[HEPH_CACHED];
	const struct track *more; /* for all that is beyond the limit */
};

/* What the reader knows; one for each input. */
struct heph_state {
	struct reader *r;
	bool no_memory; /* memory is out: reading ends with this packet */
	bool raw;       /* raw events are wanted */
	struct class *event_class, *metadata_class;
	struct heph_gap gap;
	struct heph_streams streams;
	struct heph_counters counters;
	struct heph_losts lost;
	struct heph_tracks tracks;
	struct heph_epoch epoch;
	struct heph_own own;
	struct heph_names names;       /* of the present event */
	struct finding_tally repeated; /* events with two attributes of one name */
	struct quoted repeated_name;   /* of the first of them */
};

/* ---- text ---- */

static inline uint64_t heph_word(const char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof w);
	return w;
}

/* Short texts are looked at without a loop, by words that overlap: their lengths differ, and the end of a
 * loop is hard to predict. */
static inline bool heph_is_ascii(const char *p, uint32_t n)
{
	uint32_t first, last;
	uint64_t any = 0;

	if (n < 4) {
		for (uint32_t i = 0; i < n; i++)
			any |= (unsigned char)p[i];
		return (any & 0x80) == 0;
	}
	if (n < 8) {
		memcpy(&first, p, sizeof first);
		memcpy(&last, p + n - 4, sizeof last);
		return ((first | last) & UINT32_C(0x80808080)) == 0;
	}
	if (n > 16) {
		for (uint32_t i = 16; i < n - 16; i += 8)
			any |= heph_word(p + i);
		any |= heph_word(p + 8) | heph_word(p + n - 16);
	}
	any |= heph_word(p) | heph_word(p + n - 8);
	return (any & UINT64_C(0x8080808080808080)) == 0;
}

/* Text whose bytes are there.  Who only checks need not know whether JSON must escape something. */
static inline struct slice heph_text(const char *p, uint32_t n, bool build)
{
	if (!build && heph_is_ascii(p, n))
		return (struct slice){ p, n, SLICE_UTF8 };
	return textscan_slice(p, n);
}

/* ---- track ---- */

/* NULL: no memory. */
const struct track *heph_track_far(struct heph_state *st, const struct heph_packet *k);

/* Where it is noted which track the packets of a stream and substream, and others, went to. */
static inline struct heph_cached *heph_track_cached(struct heph_state *st, uint32_t stream,
                                                    uint64_t substream)
{
	return &st->tracks.cache[(stream * 31 + substream) % HEPH_CACHED];
}

/* For the gaps of a stream.  NULL: no memory. */
const struct track *heph_track_lost(struct heph_state *st, uint32_t stream);

/* The track of a packet's stream and substream; NULL: no memory. */
static inline const struct track *heph_track(struct heph_state *st, const struct heph_packet *k)
{
	const struct heph_cached *const c = heph_track_cached(st, k->stream, k->substream);

	if (c->track != NULL && c->stream == k->stream && c->substream == k->substream)
		return c->track;
	return heph_track_far(st, k);
}

/* ---- attribute ---- */

struct heph_state;

/* Reads the attributes from p to the end of the packet; b: where fields go, NULL: nowhere.  No memory: the
 * state remembers. */
void heph_attributes_read(struct heph_state *st, struct heph_packet *k, const char *p, struct batch *b);

/* ---- event ---- */

struct heph_state;

/* Reads an event packet.  No memory: the state remembers. */
void heph_event_read(struct heph_state *st, struct heph_packet *k, struct batch *b);

/* ---- option ---- */

struct heph_state;

/* Reads a metadata packet.  No memory: the state remembers. */
void heph_option_read(struct heph_state *st, struct heph_packet *k, struct batch *b);

/* ---- own ---- */

/*
 * What this program writes into a Heph trace so that nothing is lost, and what
 * its reader takes from there: words of options, attributes and types.  All of
 * them are ordinary options and attributes for other readers.
 */
#define HEPH_OWN_PREFIX "tracetool."
#define HEPH_OWN_PREFIX_SIZE 10

/* Options.  The value of each is a run of attributes; before those of a track: stream (32 bits), substream
 * (64).
 */
#define HEPH_OWN_TRACE HEPH_OWN_PREFIX "trace" /* the events that follow have the attributes below */
#define HEPH_OWN_TRACK HEPH_OWN_PREFIX "track"
#define HEPH_OWN_FACT HEPH_OWN_PREFIX "fact"
#define HEPH_OWN_VERSION 1
#define HEPH_OWN_TRACK_IDS 12 /* bytes */

/* Of a fact that is one of the trace: "trace." and its name. */
#define HEPH_OWN_FACT_PREFIX "trace."
#define HEPH_OWN_FACT_PREFIX_SIZE 6

/* Attributes of events.  Class comes with each, the others where they say something. */
#define HEPH_OWN_CLASS HEPH_OWN_PREFIX "class"
#define HEPH_OWN_CATEGORY HEPH_OWN_PREFIX "category" /* if it is not the class's name */
#define HEPH_OWN_KIND HEPH_OWN_PREFIX "kind"         /* if it is not a span */
#define HEPH_OWN_ARROW HEPH_OWN_PREFIX "arrow"       /* of an arrow's end: the id */
#define HEPH_OWN_DURATION HEPH_OWN_PREFIX "duration" /* of what is no span and has one */
#define HEPH_OWN_TYPES HEPH_OWN_PREFIX "types"       /* of the other attributes, with commas between */
#define HEPH_OWN_ESCAPE HEPH_OWN_PREFIX "field."     /* before names that begin with "tracetool." */
#define HEPH_OWN_ESCAPE_SIZE 16

/* Bytes of all tracks and classes that one reader keeps. */
#define HEPH_OWN_MAX_TEXT (64U << 20)
#define HEPH_OWN_MAX_CLASSES 65536U

/* Kinds of events, and types of values (enum value_type). */
enum heph_own_kind {
	HEPH_OWN_SPAN,
	HEPH_OWN_ASYNC,
	HEPH_OWN_BEGIN,
	HEPH_OWN_END,
	HEPH_OWN_INSTANT,
	HEPH_OWN_COUNTER,
	HEPH_OWN_ARROW_OUT,
	HEPH_OWN_ARROW_IN,
	HEPH_OWN_ARROW_STEP,
	HEPH_OWN_KINDS
};

extern const struct slice heph_own_kinds[HEPH_OWN_KINDS];
extern const struct slice heph_own_types[VALUE_JSON + 1];

static inline bool heph_is_own(struct slice name)
{
	return name.n > HEPH_OWN_PREFIX_SIZE && memcmp(name.p, HEPH_OWN_PREFIX, HEPH_OWN_PREFIX_SIZE) == 0;
}

/* ---- probe ---- */

/* As reader_ops.probe. */
int heph_probe(struct slice head, bool complete);

/* ---- raw ---- */

struct heph_state;

/* Declares the fields that every raw event and every raw option has, in file order. */
void heph_raw_declare(struct class *event, struct class *metadata);

/* The fields of an event before its attributes.  false: no memory. */
bool heph_raw_add_event(struct heph_packet *k, struct batch *b);

/* The fields of an option, which become those of e.  false: no memory. */
bool heph_raw_add_option(const struct heph_packet *k, struct slice name, struct value value, struct event *e,
                         struct batch *b);

/* ---- read ---- */

/* Reads one packet at the start of the window; k is as much of it as was understood.  Behind a damaged one a
 * search begins (st->gap.open).  false: the window ends too early, nothing happened.  b is not looked at when
 * nothing is wanted. */
struct heph_packet;

bool heph_read_packet(struct heph_state *st, struct heph_packet *k, struct batch *b);

extern const struct reader_ops heph_reader_ops;

/* ---- recover ---- */

extern const struct recover_ops heph_recover_ops;

/* ---- run ---- */

/* Runs of event packets with nothing to report, at full speed. */

/* Whether packets are only checked, or are wanted as runs (WANT_RUNS). */
bool heph_run_wanted(const struct heph_state *st);

/* Checks and counts plain event packets at the start of the window, up to about the offset `until`; stops at
 * anything else.  Where runs are wanted, they become one raw event of the batch, which has room.  false:
 * there are none.  No memory: the state remembers. */
bool heph_run_read(struct heph_state *st, struct batch *b, uint64_t until);

/* ---- write ---- */

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

static inline void hpw_store(char *p, uint64_t v, unsigned size)
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
static inline bool hpw_stream_goes_on(struct hpw_streams *all, uint32_t id, uint32_t counter)
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
	uint32_t shared; /* the same of the stream that tracks beyond the bounds share */
	struct track_numbers streams, substreams;
	uint32_t nstreams, count;
	uint64_t about; /* bytes that describe tracks */
};

/* Where the events of a track go; options tell what it is before its first event. */
#define HPW_SHARED_STREAM UINT32_MAX

const struct hpw_track *hpw_track(struct hpw_state *st, const struct track *t, struct chunk *chunk,
                                  uint64_t offset);

/* ---- heph_write_event.c ---- */

/* ---- heph_write_facts.c ---- */

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
