#ifndef HEPH_STATE_H
#define HEPH_STATE_H

#include <inttypes.h>
#include <stdio.h>

#include "format/format.h"
#include "heph/heph_wire.h"

enum heph_rule {
#define RULE(name, id, level, text, spec, explain) HEPH_RULE_##name,
#include "heph/heph_rules.def"
#undef RULE
	HEPH_RULE_COUNT
};

extern const struct rule heph_rules[HEPH_RULE_COUNT + 1]; /* ended by an id of NULL */

/* One packet where it lies, all of it in the window. */
struct heph_packet {
	const char *p, *end;
	uint64_t offset, ordinal;
	bool followed; /* at `end` another packet starts, or the input ends: the size can be trusted */
	const char
	    *fault; /* NULL: it is whole; else from here on its content cannot be read (a finding said why) */

	/* events */
	uint32_t stream, counter;
	uint64_t substream, start, stop;
	struct slice description;
	uint32_t nfields;   /* put behind those in use in the batch */
	uint32_t nelements; /* of arrays that are kept */
};

struct heph_stream {
	uint32_t id;
	uint32_t last; /* counter of its last packet */
	const struct track *process;
};

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

/* Which track the latest packets of a stream and substream went to. */
#define HEPH_CACHED 256U
struct heph_cached {
	const struct track *track; /* NULL: empty */
	uint64_t substream;
	uint32_t stream;
};

/* Streams of small ids are found without hashing. */
#define HEPH_DIRECT 64U

#define HEPH_SIGNED_NAMES 32U /* attribute names of an event that are compared one by one */

/* The names of one event, to tell which come twice. */
struct heph_names {
	uint64_t seen; /* a bit for each remainder of a signature */
	uint32_t n;    /* may be more than are remembered */
	bool clash;    /* perhaps a name comes twice: look again with care */
	uint32_t signatures[HEPH_SIGNED_NAMES];
	struct slice names[HEPH_SIGNED_NAMES];
};

/* A place from which on no packet was found yet. */
struct heph_gap {
	bool open;
	enum heph_rule rule;
	uint64_t offset, record; /* of the finding */
	uint64_t from;           /* the first byte that is skipped */
	char detail[200];
};

struct heph_state {
	struct reader *r;
	bool raw; /* raw events are wanted */
	struct class *event_class, *metadata_class;
	struct heph_gap gap;

	struct heph_stream *streams;
	uint32_t nstreams, streams_cap;
	struct table64 stream_index;  /* id -> streams[] */
	uint32_t direct[HEPH_DIRECT]; /* index + 1; 0: not met */
	struct table64 tracks;        /* hash of stream and substream -> trace.tracks[] */
	uint64_t seed;                /* of that hash */
	struct heph_cached cache[HEPH_CACHED];
	const struct track *more; /* for all that is beyond the limit */
	struct heph_shared shared;
	struct finding_tally late_start;

	bool epoch_known; /* of this input */
	uint64_t epoch_ns;
	struct finding_tally latest; /* now: the latest time before the epoch was known */
	struct heph_names names;
	struct finding_tally repeated;
	struct quoted repeated_name;
};

/* What came of one step. */
enum heph_result {
	HEPH_DONE,
	HEPH_MORE, /* the window ends too early, nothing happened */
	HEPH_END,  /* nothing more can be read; a finding said why */
	HEPH_NO_MEMORY,
};

/* ---- heph_read.c ---- */

extern const struct reader_ops heph_reader_ops;

/* Says a finding at a place in the packet. */
void heph_find(struct heph_state *st, enum heph_rule rule, const struct heph_packet *k, const char *at,
               const char *fmt, ...) __attribute__((format(printf, 5, 6)));

static inline bool
heph_is_ascii(const char *p, uint32_t n)
{
	uint64_t w, any = 0;

	if (n < 8) {
		for (uint32_t i = 0; i < n; i++)
			any |= (unsigned char)p[i];
		return (any & 0x80) == 0;
	}
	for (uint32_t i = 0; i < n - 8; i += 8) {
		memcpy(&w, p + i, sizeof w);
		any |= w;
	}
	memcpy(&w, p + n - 8, sizeof w);
	return ((any | w) & UINT64_C(0x8080808080808080)) == 0;
}

/* Text whose bytes are there.  Who only checks needs not know whether JSON must escape something. */
static inline struct slice
heph_text(const char *p, uint32_t n, bool build)
{
	if (!build && heph_is_ascii(p, n))
		return (struct slice){ p, n, SLICE_UTF8 };
	return textscan_slice(p, n);
}

/* Whether somebody will see the next finding of a rule: else its message need not be made. */
static inline bool
heph_is_shown(const struct heph_state *st, enum heph_rule rule)
{
	return finding_is_shown(st->r->findings, &heph_rules[rule]);
}

/* What does not fit: it takes n bytes, `left` are there. */
void heph_past_packet(struct heph_state *st, const struct heph_packet *k, const char *at, const char *what,
                      uint64_t n, uint64_t left);

void heph_bad_text(struct heph_state *st, const struct heph_packet *k, const char *what, struct slice s);

/* ---- heph_search.c: the next packet after damage ---- */

/* Opens a gap: the next packet is searched from `from` on, and the finding about `place` is said when it, or
 * the end, is found.  What is skipped starts with the packet, or with its fault. */
void heph_search_begin(struct heph_state *st, enum heph_rule rule, const struct heph_packet *k,
                       const char *place, const char *from, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* Searches some bytes.  HEPH_DONE: call again, or the gap is closed; HEPH_END: no packet follows. */
enum heph_result heph_search(struct heph_state *st);

/* Whether a whole packet lies at the start of [p, inside), and another one starts behind it, or the input
 * ends. */
bool heph_is_packet(const char *p, const char *inside, const char *end);

/* The same as below for less than 4 bytes. */
uint32_t heph_cut_packet_min(const char *p, const char *end);

/* Whether the bytes at p, as far as they are there, may start a packet: 0: no; else the least size of its
 * kind. */
static inline uint32_t
heph_packet_min(const char *p, const char *end)
{
	if (end - p < 4)
		return heph_cut_packet_min(p, end);
	const uint32_t magic = load_u32(p, true);
	return magic == HEPH_MAGIC_EVENT      ? HEPH_EVENT_MIN
	       : magic == HEPH_MAGIC_METADATA ? HEPH_METADATA_MIN
	                                      : 0;
}

/* Whether another packet starts at p, or the input ends there. */
static inline bool
heph_is_packet_end(const char *p, const char *end)
{
	return p == end || heph_packet_min(p, end) != 0;
}

/* ---- heph_event.c ---- */

/* What events bring besides their attributes, under these names. */
#define HEPH_COUNTER_FIELD "stream_counter"
#define HEPH_END_FIELD "end"

/* Reads an event packet. */
enum heph_result heph_event_read(struct heph_state *st, struct heph_packet *k, struct batch *b);

/* ---- heph_raw.c: packets as they are ---- */

/* What the classes declare: the fields that every raw event or option has, in file order. */
#define HEPH_RAW_EVENT_FIELDS 8
#define HEPH_RAW_OPTION_FIELDS 4
extern const struct class_field heph_raw_event_fields[HEPH_RAW_EVENT_FIELDS];
extern const struct class_field heph_raw_option_fields[HEPH_RAW_OPTION_FIELDS];

/* The fields of an event before its attributes. */
enum heph_result heph_raw_add_event(struct heph_packet *k, struct batch *b);

/* The fields of an option, which become those of e. */
enum heph_result heph_raw_add_option(const struct heph_packet *k, struct slice name, struct value value,
                                     struct event *e, struct batch *b);

/* ---- heph_attribute.c ---- */

/* Reads the attributes from p to the end of the packet; b: where fields go, NULL: nowhere. */
enum heph_result heph_attributes_read(struct heph_state *st, struct heph_packet *k, const char *p,
                                      struct batch *b);

/* ---- heph_names.c: attributes of one name ---- */

/* Compares a name of which a number like it was seen with those that are remembered. */
void heph_names_compare(struct heph_names *names, struct slice name, uint32_t signature);

/* Looks with care at the names of the n attributes at p, which are whole; gives fields that are in the batch
 * (b may be NULL) names of their own. */
enum heph_result heph_names_settle(struct heph_state *st, const struct heph_packet *k, const char *p,
                                   uint32_t n, struct batch *b);

/* ---- heph_option.c ---- */

enum heph_result heph_option_read(struct heph_state *st, struct heph_packet *k, struct batch *b);

/* A time of an event: remembered or compared with the epoch. */
void heph_check_time(struct heph_state *st, const struct heph_packet *k);

/* ---- heph_stream.c ---- */

/* The counter of an event. */
enum heph_result heph_check_counter(struct heph_state *st, const struct heph_packet *k);

/* What is known about stream counters only at the end. */
void heph_streams_finish(struct heph_state *st);

/* NULL: no memory. */
const struct track *heph_track_far(struct heph_state *st, const struct heph_packet *k);

static inline const struct track *
heph_track(struct heph_state *st, const struct heph_packet *k)
{
	const struct heph_cached *const c = &st->cache[(k->stream * 31 + k->substream) % HEPH_CACHED];

	if (c->track != NULL && c->stream == k->stream && c->substream == k->substream)
		return c->track;
	return heph_track_far(st, k);
}

/* ---- heph_probe.c ---- */

int heph_probe(struct slice head, bool whole);

#endif
