#ifndef COMPARE_IDENTITY_H
#define COMPARE_IDENTITY_H

/*
 * Identities of events, values and tracks, to compare two traces: hashes that depend neither on the format
 * nor on the order in which it writes them.
 */
#include <stdbool.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "base/table.h"
#include "format/ledger.h"
#include "model/batch.h"
#include "model/event.h"
#include "model/event_traits.h"
#include "model/trace.h"

/* ---- hashes ---- */

/*
 * A hash of 128 bits without a seed: the same on every machine and in every run, so that two people can
 * compare digests.  The two halves mix differently.  Not cryptographic: it detects accidental differences,
 * but two traces with the same hash can be constructed.
 */
struct wide_hash {
	uint64_t a, b;
};

/* Odd numbers without structure: fraction digits of the square roots of 2, 3 and 5. */
#define WIDE_HASH_A UINT64_C(0x6a09e667f3bcc909)
#define WIDE_HASH_B UINT64_C(0xbb67ae8584caa73b)
#define WIDE_HASH_C UINT64_C(0x3c6ef372fe94f82b)

/* tag: the kind of the hashed object; hashes of different kinds differ. */
static inline struct wide_hash wide_hash_start(uint64_t tag)
{
	return (struct wide_hash){ WIDE_HASH_A ^ tag, WIDE_HASH_B + tag * WIDE_HASH_C };
}

/* Each step is invertible: added to equal hashes, different words give different hashes. */
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

/* Finishes a hash: both halves then depend on all bits of both.  Needed for sums and tables; not for hashes
 * that are only compared, or added to another hash. */
static inline struct wide_hash wide_hash_end(struct wide_hash h)
{
	const uint64_t a = wide_hash_mix(h.a + (h.b << 17 | h.b >> 47)), b = wide_hash_mix(h.b ^ a);

	return (struct wide_hash){ wide_hash_mix(a + b * WIDE_HASH_B), b };
}

/* Returns the last 1 to 7 bytes of a text as a word, padded with 0. */
static inline uint64_t wide_hash_last(const char *p, size_t n)
{
	if (n >= 4)
		return load_u32(p, false) | (uint64_t)load_u32(p + n - 4, false) << (8 * (n - 4));
	return (uint8_t)p[0] | (uint64_t)(uint8_t)p[n / 2] << (8 * (n / 2)) |
	       (uint64_t)(uint8_t)p[n - 1] << (8 * (n - 1));
}

/* Adds bytes without their length.  For a text in pieces, add its length first, then pieces of a multiple of
 * 8 bytes. */
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

/* Adds modulo 2^128: sums do not depend on the order. */
static inline void wide_hash_sum(struct wide_hash *sum, struct wide_hash h)
{
	const uint64_t a = sum->a + h.a;

	sum->b += h.b + (a < h.a);
	sum->a = a;
}

static inline bool wide_hash_equal(struct wide_hash x, struct wide_hash y)
{
	return x.a == y.a && x.b == y.b;
}

/* ---- values (canon.c) ---- */

/*
 * Hashes of values in a canonical form, equal for formats with different types:
 *  - numbers by value, whatever their type and width; true is 1, false is 0.  A float of 32 bits has the
 *    value of its shortest decimal text: 0.1 is 0.1.  All NaNs are equal.
 *  - an address is a number; so is text of the form 0x1f, in which text outputs write addresses.
 *  - bytes are the text of their hexadecimal digits: 0x00ff.
 *  - text of the digits of an integer beyond +-(2^53 - 1) is that integer, as JSON outputs write it.
 *  - other texts by their bytes; null differs from all texts and numbers.
 *  - lists in order.  A map whose keys are all text is a JSON object, whose members have no order; any other
 *    map is a list of pairs.
 *  - JSON by its values: blanks, escapes and the order of members are ignored.
 *  - lists and maps deeper than CANON_DEPTH are null.
 */
#define CANON_DEPTH 100
/* Second half of the hash of an integer, 17 if it is negative; the first half is its magnitude. */
#define CANON_INTEGER 16U

struct event_fields;

/* Zero-initialise to start. */
struct canon {
	struct arena scratch;              /* failed: hashes are invalid */
	const struct event_fields *fields; /* selects the compared members of maps; NULL: all */
	struct slice field;                /* name of the field whose value is hashed */
};

/* The hash is not finished by wide_hash_end(): only compare it, or add it to another hash. */
struct wide_hash canon_value(struct canon *c, const struct value *v);

/* The same for an integer. */
static inline struct wide_hash canon_integer(bool negative, uint64_t magnitude)
{
	return (struct wide_hash){ magnitude, CANON_INTEGER + (negative && magnitude > 0) };
}

void canon_free(struct canon *c);

/* ---- events (identity.c) ---- */

/*
 * The identity of an interpreted event in any format: phase, time, duration (only of spans), name, category
 * (not of arrows), the fields in any order (name and canonical value), whether a span is async, and whether
 * an arrow continues after its arrival.  Not included: ids of arrows, class, offset, and the track, which has
 * an identity of its own.  A counter without fields is an instant; a missing category is an empty one.
 */
struct event_identity {
	struct wide_hash name, category, fields;
	uint64_t ts, dur;
	uint16_t nfields;
	uint8_t phase; /* enum phase */
	bool async;    /* of a span */
	bool step;     /* of the arrival of an arrow */
};

/* Parts of events, in the bits of format/ledger.h. */
enum event_part {
	PART_TIME = AFFECTS_TIME,
	PART_DURATION = AFFECTS_DURATION,
	PART_NAME = AFFECTS_NAME,
	PART_CATEGORY = AFFECTS_CATEGORY,
	PART_FIELDS = AFFECTS_FIELDS, /* all of them */
	PART_TRACK = AFFECTS_TRACK,
	PART_PHASE = AFFECTS_PHASE,
};

typedef bool event_field_filter(const void *ctx, struct slice name);
typedef bool event_member_filter(const void *ctx, struct slice field, struct slice name);

/* Compared fields: all except those that `counts` rejects, and except the first field of each name in
 * `added`. */
struct event_fields {
	event_field_filter *counts;   /* true: the field is compared; NULL: all are */
	event_member_filter *members; /* the same for members of maps, at any depth of a field */
	const void *ctx;
	const char *const *added; /* lists of names, or NULL */
};

static inline bool event_fields_are_all(const struct event_fields *f)
{
	return f->counts == NULL && f->added == NULL;
}

/* lists: texts of names separated by spaces, ended by NULL.  Returns the position of a name in all lists, or
 * UINT32_MAX. */
uint32_t name_lists_find(const char *const *lists, struct slice name);

static inline bool name_lists_contain(const char *const *lists, struct slice name)
{
	return name_lists_find(lists, name) != UINT32_MAX;
}

/* Whether a field is compared.  *seen: 0 before the first field of an event;
 * keep it for the others. */
bool event_field_is_compared(const struct event_fields *f, struct slice name, unsigned *seen);

/* fields: the compared ones; NULL: all.  OOM sets c->scratch.failed. */
struct event_identity event_identity(struct canon *c, const struct batch *b, const struct event *e,
                                     const struct event_fields *fields);

/* Cache of the last category, for the events of one class.  Zero-initialise for each trace. */
struct category_cache {
	const struct class *of;
	struct wide_hash hash;
};

/* Returns a hash of all parts of an event except the track, for a digest: the scalar parts are hashed one
 * after the other, and the hashes of fields and category are added.  fields: as above, not NULL. */
struct wide_hash event_hash(struct canon *c, struct category_cache *m, const struct batch *b,
                            const struct event *e, const struct event_fields *fields);

/* Returns a hash of the name and the value. */
struct wide_hash event_field_hash(struct canon *c, const struct field *f);

/* Returns a hash of all parts except those in `without` (enum event_part) and the track. */
struct wide_hash event_identity_hash(const struct event_identity *id, unsigned without);

/* Returns the track on which an event is compared: for counters the process, as in viewers.  A counter
 * without fields is an instant. */
static inline const struct track *event_compared_track(const struct event *e)
{
	return e->phase == PHASE_COUNTER && e->nfields > 0 ? track_process(e->track) : e->track;
}

static inline uint8_t event_compared_phase(const struct event *e)
{
	return e->phase == PHASE_COUNTER && e->nfields == 0 ? PHASE_INSTANT : e->phase;
}

/* Returns the duration of a span; 0 for other events. */
static inline uint64_t event_compared_duration(const struct event *e)
{
	return e->phase == PHASE_SPAN ? e->dur : 0;
}

/* Whether an event is compared.  Structure is not compared.  An arrow is compared at its arrival
 * only: an output may start an arrow at each event that could wake another one.  referred: events with
 * EVENT_REFERRED are compared, which a copy of selected records may lack. */
static inline bool event_is_compared(const struct event *e, bool referred)
{
	return e->phase != PHASE_STRUCTURE && e->phase != PHASE_FLOW_OUT &&
	       (referred || (e->flags & EVENT_REFERRED) == 0);
}

/* ---- tracks (identity.c) ---- */

/*
 * Identities of tracks, equal for the same track of two traces.  A process is identified by its number and
 * its name; all processes without a number are equal, since their names are mostly file names.  Any other
 * track is identified by its process, its number and its name; tracks between them (the thread of a child
 * track) are ignored.  Numbers above those of Linux are ignored: writers assign them to tracks without one.
 *
 * A lane has the identity of its track.  So has the lane of an output that is read back: a track without a
 * number of its own, named like another track of its process with "(2)" or a higher number at the end.
 */
/* Parts of identities to ignore. */
enum tracks_without {
	TRACKS_WITHOUT_NAMES = 1, /* a child track then equals its thread */
	TRACKS_WITHOUT_PROCESSES = 2,
	TRACKS_WITHOUT_THREADS = 4, /* all tracks of a process are equal */
};

/* Cache of the identities of a trace.  Zero-initialise to start. */
struct track_identities {
	struct wide_hash *known; /* by index of the track; { 0, 0 }: not computed */
	uint32_t nknown;
	unsigned without;     /* enum tracks_without */
	uint32_t named;       /* tracks of the trace that are in `names` */
	struct table64 names; /* process and name -> index of the first such track */
	bool failed;          /* OOM: identities are invalid */
};

struct wide_hash track_identity(struct track_identities *t, const struct trace *trace,
                                const struct track *track);

/* Returns the identity of a track by its own name: "T (2)" is a lane of T in track_identity() if there is a
 * track T. */
struct wide_hash track_own_identity(const struct track_identities *t, const struct track *track);

/* Whether tracks of two traces are equal.  Any two of their identities may agree, as one trace may lack a
 * track T that has no events: there, "T (2)" is a track of its own, and "T (2) (2)" is a lane of it. */
static inline bool tracks_equal(struct wide_hash a, struct wide_hash own_a, struct wide_hash b,
                                struct wide_hash own_b)
{
	return wide_hash_equal(a, b) || wide_hash_equal(own_a, own_b) || wide_hash_equal(a, own_b) ||
	       wide_hash_equal(own_a, b);
}
void track_identities_free(struct track_identities *t);

#endif
