#ifndef COMPARE_COMPARE_H
#define COMPARE_COMPARE_H

#include <stdbool.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "base/table.h"
#include "format/features.h"
#include "format/ledger.h"
#include "json/scan.h"
#include "model/batch.h"
#include "model/batch_pool.h"
#include "model/class.h"
#include "model/event.h"
#include "model/event_traits.h"
#include "model/trace.h"
#include "model/track.h"
#include "run/stage.h"

/* ---- wide hash ---- */

/*
 * A hash of 128 bits without a seed: the same on every machine and in every run, so that two people can
 * compare what they see.  The two lanes mix differently.  It finds accidents; nobody should take it for a
 * signature: who wants two traces with the same hash can make them.
 */
struct wide_hash {
	uint64_t a, b;
};

/* Odd numbers without structure: fraction digits of the square roots of 2, 3 and 5. */
#define WIDE_HASH_A UINT64_C(0x6a09e667f3bcc909)
#define WIDE_HASH_B UINT64_C(0xbb67ae8584caa73b)
#define WIDE_HASH_C UINT64_C(0x3c6ef372fe94f82b)

/* tag: what is hashed; things of different tags are different. */
static inline struct wide_hash wide_hash_start(uint64_t tag)
{
	return (struct wide_hash){ WIDE_HASH_A ^ tag, WIDE_HASH_B + tag * WIDE_HASH_C };
}

/* Each step can be undone, so after the same beginning no two words give the same. */
static inline void wide_hash_add(struct wide_hash *h, uint64_t word)
{
	h->a = (h->a ^ word) * WIDE_HASH_B;
	h->a ^= h->a >> 32;
	h->b = h->b + word * WIDE_HASH_A;
	h->b = (h->b << 29 | h->b >> 35) * WIDE_HASH_C;
}

static inline void wide_hash_add_hash(struct wide_hash *h, struct wide_hash other)
{
	wide_hash_add(h, other.a);
	wide_hash_add(h, other.b);
}

static inline uint64_t wide_hash_mix(uint64_t v)
{
	v = (v ^ v >> 31) * WIDE_HASH_C;
	v = (v ^ v >> 29) * WIDE_HASH_A;
	return v ^ v >> 32;
}

/* What came out; both lanes depend on all bits of both.  Not needed for what is only compared, or added to
 * another hash; needed for what goes into a sum, or into a table. */
static inline struct wide_hash wide_hash_end(struct wide_hash h)
{
	const uint64_t a = wide_hash_mix(h.a + (h.b << 17 | h.b >> 47)), b = wide_hash_mix(h.b ^ a);

	return (struct wide_hash){ wide_hash_mix(a + b * WIDE_HASH_B), b };
}

/* The last bytes of a text, 1 to 7, as a word whose further bytes are 0. */
static inline uint64_t wide_hash_last(const char *p, size_t n)
{
	if (n >= 4)
		return load_u32(p, false) | (uint64_t)load_u32(p + n - 4, false) << (8 * (n - 4));
	return (uint8_t)p[0] | (uint64_t)(uint8_t)p[n / 2] << (8 * (n / 2)) |
	       (uint64_t)(uint8_t)p[n - 1] << (8 * (n - 1));
}

/* Bytes and how many they are.  In pieces: the length first, then pieces of a multiple of 8 bytes each. */
static inline void wide_hash_add_piece(struct wide_hash *h, const char *p, size_t n)
{
	for (; n >= 8; p += 8, n -= 8)
		wide_hash_add(h, load_u64(p, false));
	if (n > 0)
		wide_hash_add(h, wide_hash_last(p, n));
}

static inline void wide_hash_add_text(struct wide_hash *h, struct slice s)
{
	wide_hash_add(h, s.n);
	wide_hash_add_piece(h, s.p, s.n);
}

/* Sums do not depend on the order; modulo 2^128. */
static inline void wide_hash_sum(struct wide_hash *sum, struct wide_hash h)
{
	const uint64_t a = sum->a + h.a;

	sum->b += h.b + (a < h.a);
	sum->a = a;
}

static inline void wide_hash_subtract(struct wide_hash *sum, struct wide_hash h)
{
	const bool borrow = sum->a < h.a;

	sum->a -= h.a;
	sum->b -= h.b + borrow;
}

static inline bool wide_hash_equal(struct wide_hash x, struct wide_hash y)
{
	return x.a == y.a && x.b == y.b;
}

/* ---- canon ---- */

/*
 * Values in one form, so that formats with other types agree about them:
 *  - numbers count by their value, not by their type and width; true is 1, false is 0.  A float of 32 bits
 *    counts as its shortest decimal text says: 0.1 is 0.1.  All NaNs are the same.
 *  - an address is a number; so is text of the form 0x1f, in which outputs of text write addresses.
 *  - bytes are the text of their digits: 0x00ff.
 *  - text of the digits of an integer beyond +-(2^53 - 1) is that integer, as outputs of JSON write it.
 *  - other texts count by their bytes; no value is another value than any text or number.
 *  - lists count in order.  A map whose keys are all text counts as a JSON object, whose members have no
 *    order; any other as a list of pairs.
 *  - JSON counts as what it says: its blanks, escapes and the order of its members do not.
 *  - what lies deeper than CANON_DEPTH lists and maps does not count.
 */
#define CANON_DEPTH 100
#define CANON_INTEGER 16U /* or 17: the second half of the hash of an integer; the first is its magnitude */

/* Zero-initialise to start. */
struct canon {
	struct arena scratch; /* failed: hashes are of no use */
};

/* Without wide_hash_end(): to be compared, or added to another hash. */
struct wide_hash canon_value(struct canon *c, const struct value *v);

/* The same of an integer. */
static inline struct wide_hash canon_integer(bool negative, uint64_t magnitude)
{
	return (struct wide_hash){ magnitude, CANON_INTEGER + (negative && magnitude > 0) };
}

void canon_free(struct canon *c);

/* ---- event identity ---- */

/*
 * What an interpreted event is, in whatever format it is written: its phase, time, duration (of spans), name,
 * category (but not of arrows), and its fields, in any order, each a name and a value as compare/canon.h
 * says.  Whether a span is async counts, and whether an arrow goes on from where it arrives; a counter
 * without fields is an instant; "no category" is an empty one.  Not part of it are the ids of arrows, the
 * class, the offset and the track, which compare/track_identity.h knows.
 */
struct event_identity {
	struct wide_hash name, category, fields;
	uint64_t ts, dur;
	uint16_t nfields;
	uint8_t phase; /* enum phase */
	bool async;    /* a span */
	bool step;     /* the arrival of an arrow */
};

/* What to leave out of comparisons. */
enum event_part {
	PART_TIME = AFFECTS_TIME,
	PART_DURATION = AFFECTS_DURATION,
	PART_NAME = AFFECTS_NAME,
	PART_CATEGORY = AFFECTS_CATEGORY,
	PART_FIELDS = AFFECTS_FIELDS, /* all of them */
	PART_TRACK = AFFECTS_TRACK,
	PART_PHASE = AFFECTS_PHASE,
};

/* Says whether a field counts. */
typedef bool event_field_counts(const void *ctx, struct slice name);

/* Which fields count: all but those that `counts` refuses, and the first one of each name in `added`. */
struct event_fields {
	event_field_counts *counts; /* NULL: all */
	const void *ctx;
	const char *const *added; /* lists of words; NULL: none */
};

static inline bool event_all_fields_count(const struct event_fields *f)
{
	return f->counts == NULL && f->added == NULL;
}

/* The place of a word in lists of words with spaces between them, ended by NULL; UINT32_MAX: it is none. */
uint32_t event_words_at(const char *const *lists, struct slice word);

static inline bool event_words_have(const char *const *lists, struct slice word)
{
	return event_words_at(lists, word) != UINT32_MAX;
}

/* Whether a field counts; `seen` is 0 for the first field of an event, and kept for its further ones. */
bool event_field_counts_in(const struct event_fields *f, struct slice name, unsigned *seen);

/* fields: NULL: all count.  Memory is out if c->scratch.failed. */
struct event_identity event_identity(struct canon *c, const struct batch *b, const struct event *e,
                                     const struct event_fields *fields);

/* The category of the class that was seen last, so that it is not hashed for each event.  Zero-initialise to
 * start, for each trace. */
struct category_memo {
	const struct class *of;
	struct wide_hash hash;
};

/* One hash of all parts, for sums: faster than event_identity_hash(), of which it is no value; memory as
 * above. */
struct wide_hash event_hash(struct canon *c, struct category_memo *m, const struct batch *b,
                            const struct event *e, const struct event_fields *fields);

/* One hash of a field; memory as above. */
struct wide_hash event_field_hash(struct canon *c, const struct field *f);

/* One hash of all parts but those in `without`; neither PART_TRACK matters nor the track. */
struct wide_hash event_identity_hash(const struct event_identity *id, unsigned without);

/* The track that an event is compared on: a counter is one of its process, as viewers take it; without fields
 * it is an instant. */
static inline const struct track *event_compared_track(const struct event *e)
{
	return e->phase == PHASE_COUNTER && e->nfields > 0 ? track_process(e->track) : e->track;
}

static inline uint8_t event_compared_phase(const struct event *e)
{
	return e->phase == PHASE_COUNTER && e->nfields == 0 ? PHASE_INSTANT : e->phase;
}

/* The duration, of spans alone. */
static inline uint64_t event_compared_length(const struct event *e)
{
	return e->phase == PHASE_SPAN ? e->dur : 0;
}

/* Events that are compared: no structure.  An arrow is compared where it arrives: an output may say of each
 * event that could wake another one that an arrow leaves there. */
static inline bool event_is_compared(const struct event *e)
{
	return e->phase != PHASE_STRUCTURE && e->phase != PHASE_FLOW_OUT && (e->flags & EVENT_REFERRED) == 0;
}

/* ---- by name ---- */

/* What two traces have of events of each name. */

#define BY_NAME_MAX 65536U
#define BY_NAME_MAX_TEXT 256U /* bytes of a name that are kept */

struct by_name_row {
	struct slice name;
	uint64_t events[2], only[2], changed; /* changed: pairs */
	unsigned __int128 dur[2];             /* ns, of spans */
};

/* Zero-initialise to start. */
struct by_name {
	struct by_name_row *rows; /* in order of arrival; the last one of too many is of all others */
	uint32_t n, cap;
	struct table64 index; /* hash of the name -> rows[] */
	struct arena texts;
	uint64_t last_key; /* of the row asked for last */
	uint32_t last;
};

/* The row of an event's name; NULL: no memory. */
struct by_name_row *by_name_row(struct by_name *t, struct slice name, const struct event_identity *id);
void by_name_free(struct by_name *t);

/* ---- pending ---- */

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

static inline bool pending_is_full(const struct pending *p)
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

/* ---- track identity ---- */

/*
 * Which tracks of two traces are the same.  A process is known by its number and its name; without a number
 * it is known by nothing, for its name is that of the file mostly.  Any other track is known by its process,
 * its number and its name; what lies between them (the thread of a child track) does not count.  Numbers
 * above those of Linux do not count, as writers give them to tracks that have none.
 *
 * A lane is the track that it belongs to.  So is the lane of an output that was read back: a track that has
 * the name of another one of its process with "(2)" or more behind it, and no other number.
 */
#define TRACK_MAX_NUMBER 4194304U

/* What of tracks does not count either. */
enum tracks_without {
	/* names, and what a child track shows of its thread: a thread is known by the numbers */
	TRACKS_WITHOUT_NAMES = 1,
	TRACKS_WITHOUT_PROCESSES = 2,
	TRACKS_WITHOUT_THREADS = 4, /* all of a process are one */
};

/* Identities of the tracks of a trace, made when they are asked for.  Zero-initialise to start. */
struct track_identities {
	struct wide_hash *known; /* by index of the track; { 0, 0 }: not yet */
	uint32_t nknown;
	unsigned without;     /* enum tracks_without */
	uint32_t named;       /* tracks of the trace that are in `names` */
	struct table64 names; /* of a process and a name: the index of the first such track */
	bool failed;          /* no memory: identities are of no use */
};

/* Of a track of this trace. */
struct wide_hash track_identity(struct track_identities *t, const struct trace *trace,
                                const struct track *track);
void track_identities_free(struct track_identities *t);

/* ---- differ ---- */

/*
 * Compares two traces event by event.  Both sides give their interpreted events in order of time.  An event
 * has a partner if the other side has one on the same track, within the tolerance of its time and duration,
 * that is the same in all that counts (compare/event_identity.h).  Events of a track and a time that have
 * none are put together by their names, then by their order: they were changed.  What is left is on one side
 * only.
 *
 * in_step: what comes next on both sides are partners, if they are the same or the sink takes the difference;
 * else one of them has none, if the sink takes that.  Nothing waits.
 *
 * Memory: what has no partner is kept until the time is past, at most PENDING_MAX events of a side.
 */

enum { DIFFER_A, DIFFER_B, DIFFER_SIDES };

struct differ_source {
	enum stage_status (*next)(void *ctx, struct batch **out); /* as stage_next() */
	void *ctx;
	const struct trace *trace; /* of the events' tracks */
	bool signed_time;          /* ts is a signed number */
};

struct differ_rules {
	unsigned ignore;    /* enum event_part */
	uint64_t tolerance; /* ns, of times and durations */
	bool pair_all;      /* what is left of a time is put together, however much differs */
	bool sorted;        /* no event is earlier than the one before it; false: hardly any */
	bool in_step;       /* events have partners by their place alone, in whatever order they come */
	bool left_out;      /* A may have EVENT_LEFT_OUT: B may have those, too, in the same order */
	struct event_fields fields[DIFFER_SIDES];
	unsigned tracks; /* enum tracks_without */
	const char *const
	    *more; /* lists of words, ended by NULL: classes of events that only B has; or NULL */
};

/* One of both may be NULL: it is on the other side only. */
struct difference {
	const struct batch *in[DIFFER_SIDES]; /* a batch whose only event it is */
	unsigned parts;                       /* enum event_part: those that differ */
};

static inline const struct event *difference_event(const struct difference *d, int side)
{
	return d->in[side] != NULL ? &d->in[side]->events[0] : NULL;
}

/* false: stop. */
typedef bool difference_sink(void *ctx, const struct difference *d);

struct differ_side {
	struct differ_source source;
	struct batch *batch;
	uint32_t at;
	bool ended;
	bool identified;          /* all of id, and key; else only the time and the track are known */
	struct event_identity id; /* of the event at `at` */
	struct wide_hash track, key;
	uint64_t events; /* so far */
	struct track_identities identities;
	struct canon canon;
	struct pending pending;
	struct batch shown; /* for differences */
};

enum differ_status {
	DIFFER_DONE,
	DIFFER_STOPPED, /* by the sink */
	DIFFER_BAD,     /* a source could not go on */
	DIFFER_NO_MEMORY,
};

struct differ {
	struct differ_rules rules;
	struct differ_side sides[DIFFER_SIDES];
	difference_sink *sink;
	void *ctx;
	struct by_name *names;                      /* NULL: not wanted */
	uint64_t same, changed, only[DIFFER_SIDES]; /* pairs, pairs, events */
	uint64_t more;                              /* events of B of the classes in rules.more */
	uint64_t full;                              /* how many times a side had more than PENDING_MAX */
	int bad_side;                               /* after DIFFER_BAD */
};

/* sink: of each difference, in order of time. */
void differ_init(struct differ *d, const struct differ_rules *rules, struct differ_source a,
                 struct differ_source b, difference_sink *sink, void *ctx);

/* Compares all; once. */
enum differ_status differ_run(struct differ *d);
void differ_free(struct differ *d);

/* ---- leftovers.c ---- */

/* ---- allowance ---- */

/* What a ledger allows an output to differ in. */

#define ALLOWANCE_PARTS 9 /* bits of enum effect: AFFECTS_TIME to AFFECTS_MORE */
#define ALLOWANCE_WORDS 7 /* rows that say what the output adds */

struct allowance {
	uint64_t left[ALLOWANCE_PARTS];         /* events; UINT64_MAX: any number */
	uint64_t events;                        /* of the trace, that are compared */
	uint64_t tolerance;                     /* ns, of times and durations */
	unsigned tracks;                        /* enum tracks_without */
	const char *added[ALLOWANCE_WORDS + 1]; /* lists of words: fields that the output adds */
	const char *more[ALLOWANCE_WORDS + 1];  /* classes of events that only the output has: */
	uint64_t nmore;                         /* so many of them */
};

/* losses: those that the writer declares, ended by an id of NULL; NULL: none that it has without counting.
 * events: how many are compared. */
struct allowance allowance_of(const struct ledger *l, const struct loss *losses, uint64_t events);

/* Parts that may differ in each of the events, as so many were counted: comparing them has no use. */
unsigned allowance_ignore(const struct allowance *a);

/* Whether no event may differ, but for fields and events that the output adds: then the digests of the trace
 * and of the output, without those, are the same. */
bool allowance_is_none(const struct allowance *a);

/* Whether the difference is allowed; it is counted then.  Side A is the trace, B the output. */
bool allowance_take(struct allowance *a, const struct difference *d);

/* ---- digest ---- */

/*
 * A hash of all events of a trace with their tracks, that does not depend on their order, on the format, on
 * how the trace is packed or divided into files.  It is 0 for no events.  Events that are left out
 * (EVENT_LEFT_OUT) are none of it.
 */
struct digest_track {
	struct wide_hash sum;
	uint64_t events; /* 0: there is none on this track alone */
	const struct track *track;
};

/* What does not count. */
struct digest_rules {
	bool no_tracks;             /* whose an event is */
	struct event_fields fields; /* those that it says do */
	const char *const *more;    /* lists of words, ended by NULL: events of these classes; NULL: none */
};

/* Zero-initialise to start, and set `rules` if not everything counts. */
struct digest {
	struct digest_rules rules;
	uint64_t more; /* events of classes in rules.more */
	struct canon canon;
	struct category_memo category;
	struct track_identities identities;
	struct digest_track *tracks; /* by index of the track */
	uint32_t ntracks;
	uint64_t events;
};

/* Adds events; false: no memory. */
bool digest_add(struct digest *d, const struct batch *b);

/* Of all events, when the trace was read to its end; what does not count of tracks may be set in
 * d->identities.without before.  Once; false: no memory. */
bool digest_end(struct digest *d, const struct trace *trace, struct wide_hash *out);
void digest_free(struct digest *d);

/* ---- field differences ---- */

/* A field that differs; NULL: that side does not have it. */
typedef void field_visitor(void *ctx, struct slice name, const struct value *a, const struct value *b);

/* Of events with more fields, these are looked at. */
#define FIELD_DIFFERENCES_MAX 256U

/* Calls `visit` for the fields in which the two events of a pair differ.  false: no memory. */
bool field_differences(const struct difference *d, const struct differ_rules *rules, field_visitor *visit,
                       void *ctx);

/* ---- trace bytes ---- */

struct format;
struct input_files;

/*
 * Whether two traces of a format are the same byte for byte, so that no reader can tell them apart: files
 * with the same bytes, or folders with files of the same names and bytes.  A file is also the same as a
 * folder with nothing else that is read.  Only what a reader of the format looks at counts; what is packed is
 * unpacked.  `a` is one of the files of a run, or they are NULL.  false, too: there is no memory, or one of
 * them cannot be read to its end.
 */
bool trace_bytes_same(const char *a, const char *b, const struct format *of, struct input_files *files);

/* ---- canon json ---- */

/* The parts of compare/canon.h that values and JSON text share. */

enum canon_tag { CANON_NONE = 1, CANON_FLOAT, CANON_TEXT, CANON_LIST, CANON_OBJECT, CANON_MEMBER };

/* ---- events alike ---- */

/* Two events and what is compared of them. */
struct alike {
	const struct batch *batch[2];
	const struct event *event[2];
	const struct event_fields *fields[2];
	unsigned ignore; /* enum event_part */
};

/* In which parts (enum event_part) the events differ, times and tracks aside.  Memory is out if
 * c->scratch.failed. */
unsigned events_differences(const struct alike *x, struct canon *c);

/* ---- heads ---- */

/* The next events of both sides of a differ: what can be said of them without hashing and copying them. */

/* Times in an order that all of them have. */
static inline uint64_t heads_time(const struct differ_side *s, uint32_t at)
{
	return s->batch->events[at].ts ^ (uint64_t)s->source.signed_time << 63;
}

/* Whether the event has a class of which only B has events. */
bool heads_is_more(const struct differ *d, int which, const struct event *e);

/* In which parts that count (enum event_part) both differ, times aside.  Memory is out if the scratch arena
 * of A's canon failed. */
unsigned heads_differences(struct differ *d);

/* Whether nothing waits, and both are the only events of their time: no other partner is possible. */
bool heads_are_alone(const struct differ *d);

/* Whether nothing waits, and the other side has no event of the time of this one, which is the earlier. */
bool heads_is_alone(const struct differ *d, int which);

/* Counts and reports two events that differ in these parts. */
enum differ_status heads_report_both(struct differ *d, unsigned parts);

/* Counts and reports an event without a partner. */
enum differ_status heads_report(struct differ *d, int which);

#endif
