#ifndef COMPARE_COMPARE_H
#define COMPARE_COMPARE_H

/*
 * Comparison of two traces: by their bytes, by a digest of their events, or event by event.  A trace and its
 * conversion may differ in the parts that the ledger of the writer declares.
 */
#include <stdbool.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "base/table.h"
#include "compare/identity.h"
#include "format/ledger.h"
#include "model/batch.h"
#include "model/trace_engine.h"
#include "run/stage.h"

/* ---- traces as a whole (whole.c) ---- */

struct format;
struct input_files;

/*
 * Returns true if two traces of a format are byte for byte the same: files with equal bytes, or folders with
 * files of equal names and bytes.  A file equals a folder with this file only.  Files that readers of the
 * format ignore are ignored; packed files are unpacked.  files: of the run that reads `a`, or NULL.  Also
 * returns false on OOM, or if a trace cannot be read to its end.
 */
bool trace_bytes_same(const char *a, const char *b, const struct format *of, struct input_files *files);

/*
 * Digest: a hash of all events of a trace with their tracks.  It does not depend on the order of events, on
 * the format, on packing, or on the division into files.  Without events it is 0.  Events with EVENT_LEFT_OUT
 * are not included.
 */
struct digest_track {
	struct wide_hash sum;
	uint64_t events; /* 0: none, or added to an equal track */
	const struct track *track;
};

/* Parts and events that the digest includes. */
struct digest_rules {
	bool no_tracks;
	bool referred; /* events with EVENT_REFERRED are included */
	struct event_fields fields;
	const char *const *extra_classes; /* lists of names, or NULL: their events are not included */
};

/* Zero-initialise to start; then `rules` can be set. */
struct digest {
	struct digest_rules rules;
	uint64_t extra_events; /* events of rules.extra_classes */
	struct canon canon;
	struct category_cache category;
	struct track_identities identities;
	struct digest_track *tracks; /* by index of the track */
	uint32_t ntracks;
	uint64_t events;
};

bool digest_add(struct digest *d, const struct batch *b);

/* Completes the digest after the last batch.  Called once; d->identities.without can be set before. */
bool digest_end(struct digest *d, const struct trace *trace, struct wide_hash *out);
void digest_free(struct digest *d);

/* ---- event by event (differ.c, pending.c) ---- */

struct pending_event {
	struct event_identity id;
	struct wide_hash track, own; /* of its track: track_identity(), track_own_identity() */
	struct wide_hash key;        /* equal for partners */
	char *packed;                /* event_pack() */
	uint32_t next, tail; /* chain of equal key.a, ends with PENDING_NONE; tail: valid in its first */
	uint32_t partner;    /* index on the other side, of a pair to be reported; or PENDING_NONE */
	bool removed;        /* matched or reported */
};

#define PENDING_NONE UINT32_MAX

/* Limits of one side, so that memory does not grow with the trace. */
#define PENDING_MAX 65536U
#define PENDING_MAX_BYTES (UINT64_C(64) << 20)

/* Events of one side without a partner, in order of time: copies, since batches are reused.  Zero-initialise
 * to start. */
struct pending {
	struct pending_event *list;
	uint32_t n, cap, alive; /* alive: not removed */
	uint32_t oldest;        /* all before it are removed */
	uint64_t bytes;         /* of packed events */
	struct table64 keys;    /* key.a -> the first of its events */
	char *buffer;           /* for packing */
	uint64_t buffer_size;
};

#define BY_NAME_MAX 65536U
#define BY_NAME_MAX_TEXT 256U /* bytes; longer names are cut */

struct by_name_row {
	struct slice name;
	uint64_t events[2], only[2]; /* by side */
	uint64_t changed;            /* pairs */
	uint128 dur[2];              /* ns, of spans */
};

/* Counts of the events of two traces by name.  Zero-initialise to start. */
struct by_name {
	struct by_name_row *rows; /* in order of arrival; at BY_NAME_MAX the last is for all other names */
	uint32_t n, cap;
	struct table64 index; /* hash of the name -> rows[] */
	struct arena texts;
	uint32_t last; /* row of the last lookup */
};

void by_name_free(struct by_name *t);

/*
 * Compares two traces event by event.  Both sides deliver interpreted events in order of time.  The partner
 * of an event is an event of the other side on the same track, within the tolerance of time and duration,
 * with all other compared parts equal.  Events without a partner are paired with the most similar ones, and
 * count as changed.  The rest is on one side only.
 *
 * With rules.in_step, the next events of both sides are partners if they are equal or the sink accepts their
 * difference; else one of them has no partner, if the sink accepts that.  Nothing becomes pending.
 *
 * Memory: events without a partner are kept until their time has passed, at most PENDING_MAX or
 * PENDING_MAX_BYTES of a side.
 */

enum { DIFFER_A, DIFFER_B, DIFFER_SIDES };

struct differ_source {
	enum stage_status (*next)(void *ctx, struct batch **out); /* as stage_next() */
	void *ctx;
	const struct trace *trace; /* owns the tracks of the events */
	bool signed_time;          /* ts is a signed number */
};

/* Whether the events of a pair may differ in these parts (enum event_part). */
typedef bool difference_filter(void *ctx, unsigned parts);

struct differ_rules {
	unsigned ignore;    /* parts that are not compared, enum event_part */
	uint64_t tolerance; /* ns, of times and durations */
	bool pair_all;      /* events without a partner are paired, however much they differ */
	bool sorted;        /* events are strictly in order of time; false: with rare exceptions */
	bool in_step;       /* partners by position, in any order of time */
	bool referred;      /* events with EVENT_REFERRED are compared */
	bool left_out;      /* events of A with EVENT_LEFT_OUT can be missing in B; order is the same */
	struct event_fields fields[DIFFER_SIDES];
	unsigned tracks;                  /* enum tracks_without */
	const char *const *extra_classes; /* lists of names, or NULL: only B has their events */
	difference_filter *may_differ; /* pairs that it accepts are made first; ctx: of the sink; or NULL */
};

/* A pair that differs, or an event of one side only. */
struct difference {
	const struct batch *in[DIFFER_SIDES]; /* a batch of one event; NULL: not on this side */
	unsigned parts;                       /* enum event_part that differ */
};

static inline const struct event *difference_event(const struct difference *d, int side)
{
	return d->in[side] != NULL ? &d->in[side]->events[0] : NULL;
}

/* Returns false to stop. */
typedef bool difference_sink(void *ctx, const struct difference *d);

struct differ_side {
	struct differ_source source;
	struct batch *batch;
	uint32_t at; /* index of the head, the next event */
	bool ended;
	bool identified;          /* all of id, and key, are valid; else only id.ts and track are */
	struct event_identity id; /* of the head */
	struct wide_hash track, key;
	uint64_t events; /* compared */
	struct track_identities identities;
	struct canon canon;
	struct pending pending;
	struct batch shown; /* the pending event that is being reported */
};

enum differ_status {
	DIFFER_DONE,
	DIFFER_STOPPED, /* by the sink */
	DIFFER_BAD,     /* a source failed */
	DIFFER_NO_MEMORY,
};

struct differ {
	struct differ_rules rules;
	struct differ_side sides[DIFFER_SIDES];
	difference_sink *sink;
	void *ctx;
	struct by_name *names;                      /* or NULL */
	uint64_t same, changed, only[DIFFER_SIDES]; /* pairs, pairs, events */
	uint64_t extra_events;                      /* events of B of rules.extra_classes */
	uint64_t full;                              /* how often `pending` of a side was full */
};

/* sink: gets each difference, in order of time; may be NULL. */
void differ_init(struct differ *d, const struct differ_rules *rules, struct differ_source a,
                 struct differ_source b, difference_sink *sink, void *ctx);

/* Compares all events.  Call it once. */
enum differ_status differ_run(struct differ *d);
void differ_free(struct differ *d);

/* ---- one difference (differences.c) ---- */

/* A field that differs.  a, b: its values; NULL if the side lacks the field. */
typedef void field_visitor(void *ctx, struct slice name, const struct value *a, const struct value *b);

/* Max compared fields of an event; the rest is ignored. */
#define FIELD_DIFFERENCES_MAX 256U

/* Calls `visit` for each field in which the two events of a pair differ.  Returns false on OOM. */
bool field_differences(const struct difference *d, const struct differ_rules *rules, field_visitor *visit,
                       void *ctx);

#define ALLOWANCE_PARTS 9 /* bits of enum effect: AFFECTS_TIME to AFFECTS_MORE */
#define ALLOWANCE_LISTS 7 /* losses that add fields, or classes, to the output */

/* The differences of an output that its ledger explains. */
struct allowance {
	uint64_t left[ALLOWANCE_PARTS]; /* by part: events that can still differ; UINT64_MAX: any number */
	uint64_t events;                /* compared events of the trace */
	uint64_t tolerance;             /* ns, of times and durations */
	unsigned tracks;                /* enum tracks_without */
	/* Lists of names: fields that the output adds; classes whose events only the output has. */
	const char *added[ALLOWANCE_LISTS + 1], *extra_classes[ALLOWANCE_LISTS + 1];
	uint64_t extra_events; /* max events of these classes */
};

/* losses: those that the writer declares, of which some always apply without being counted; ended by an id of
 * NULL; may be NULL.  events: the number of compared events. */
struct allowance allowance_of(const struct ledger *l, const struct loss *losses, uint64_t events);

/* Returns the parts that may differ in all events, and so need not be compared. */
unsigned allowance_ignore(const struct allowance *a);

/* Whether the output may differ only by added fields and added events.  Without these, the digests of
 * the trace and of the output are equal. */
bool allowance_is_none(const struct allowance *a);

/* Whether one more pair may differ in these parts (enum event_part). */
bool allowance_has(const struct allowance *a, unsigned parts);

/* Whether the difference is allowed, and counts it.  Side A is the trace, B the output. */
bool allowance_take(struct allowance *a, const struct difference *d);

#endif
