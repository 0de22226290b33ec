#ifndef RUN_ADJUST_ADJUST_H
#define RUN_ADJUST_ADJUST_H

#include "base/table.h"
#include "format/ledger.h"
#include "model/batch.h"
#include "model/batch_fill.h"
#include "model/event_traits.h"
#include "model/trace_engine.h"

/* ---- pseudonyms (anonymise.c) ---- */

/*
 * Pseudonyms for the texts of a trace.  A pseudonym depends only on a key and the text: equal texts have
 * equal pseudonyms in all traces with the same key, and without the key a pseudonym cannot be computed.
 */
struct anonymise {
	struct siphash_key key;
	bool keep_paths;    /* each part of a path gets a pseudonym; slashes stay */
	bool keep_suffixes; /* suffixes such as ".h5" stay */
	bool hide_numbers;  /* also pseudonyms for numbers of fields and ids of processes and threads */
	uint64_t shift;     /* ns, added to all times; the wall time is omitted then */
};

#define ANONYMISE_KEY_LEAST 16 /* bytes */

/* Derives the key from the n >= ANONYMISE_KEY_LEAST bytes at p. */
void anonymise_set_key(struct anonymise *a, const void *p, size_t n);

/* Derives the shift from the key: the same for all traces. */
void anonymise_set_shift(struct anonymise *a);

/* ---- moving events to another trace ---- */

/*
 * Moves events from one trace to another.  Tracks and classes are created there, with their texts or
 * pseudonyms.  The first trace must outlive the second one, as names of fields point into it.  Not
 * thread-safe.
 */
struct rebind {
	struct trace *to;                  /* borrowed */
	const struct anonymise *anonymise; /* borrowed; NULL: texts are unchanged */
	int64_t offset_ns;                 /* added to times */
	uint64_t zero_change; /* added, too: zero_ns of the second trace less that of the first */
	uint64_t max_ts;      /* of the second trace; later times are cut */
	uint64_t bias;  /* 2^63 if times are signed: ts ^ bias orders them as unsigned numbers; else 0 */
	uint64_t flows; /* distinguishes flow ids of this trace from those of others; 0: unchanged */
	/* Returns the existing equivalent of `t` in the second trace, given that of its parent; NULL: create
	 * one.  May be NULL. */
	struct track *(*same_track)(void *ctx, const struct track *t, const struct track *parent);
	/* Returns the name for a new process.  May be NULL. */
	struct slice (*process_name)(void *ctx, const struct track *process, struct arena *into);
	void *ctx;
	struct track **tracks; /* by index in the first trace; NULL: not moved yet */
	uint32_t ntracks;
	struct class **classes;
	uint32_t nclasses;
	struct tabletext readable; /* names of fields seen, stored in `names` */
	struct arena names;
	uint32_t nnames;
	struct ledger ledger;
};

#define REBIND_MAX_NAMES 256 /* collected names of fields */

void rebind_init(struct rebind *r, struct trace *to);
void rebind_free(struct rebind *r);

/* Moves the events of a batch. */
bool rebind_batch(struct rebind *r, struct batch *b);

/* At the end: moves tracks without events that are not hidden, and facts of the trace. */
bool rebind_rest(struct rebind *r, const struct trace *from);

/* Copies the current format, clock and epoch of the first trace. */
void rebind_facts(struct rebind *r, const struct trace *from);

/* ---- cost of values (repeats.c) ---- */

/* The estimated size of an event in an output, in bytes: about that of a line of JSON. */
#define COST_EVENT 128U /* times, numbers, punctuation */
#define COST_VALUE 6U   /* a small number, or the punctuation of a text or a list */
#define COST_WIDE 20U   /* a large number */
#define COST_ESCAPED 6U /* a byte that needs an escape: \u0001 */
#define COST_PSEUDONYM 16U
#define COST_PATH_GROWTH 7U /* most bytes per byte of a path with pseudonyms: "a/" becomes 14 bytes */
#define COST_DEPTH 128U     /* lists in lists: more than readers make and writers show */

struct cost {
	uint64_t texts;   /* texts and lists */
	uint64_t all;     /* texts, lists and everything else */
	uint64_t entries; /* measured entries of lists */
};

/* Upper bound of its size when written. */
static inline uint64_t cost_text(uint32_t n, uint32_t flags)
{
	return (flags & (SLICE_JSON | SLICE_RAW_JSON)) != 0 ? n : (uint64_t)COST_ESCAPED * n;
}

/* Returns the length of the prefix of a text that takes at most `max` bytes when written; whole characters in
 * UTF-8. */
uint32_t cost_prefix(struct slice s, uint32_t max);

/* ---- the limit ---- */

/*
 * The stage that limits output amplification: an input may store a text or list once and refer to it often (a
 * task name, a string of a pool, a field name, a call stack).
 *
 * Events pass unchanged until their texts and lists have cost `factor` times the bytes read, or all values
 * `factor` + REPEATS_REST times the bytes read, each plus REPEATS_FREE bytes.  Then texts are cut at
 * REPEATS_SHORT bytes and lists at REPEATS_ENTRIES entries if the allowance suffices, else at REPEATS_LEAST
 * and REPEATS_FEW.  Each cut is counted.
 *
 * It runs on one thread, before events are sorted, counted or rendered, so the same input gives the same
 * cuts.
 */
#define REPEATS_SHORT 256U
#define REPEATS_ENTRIES 256U
#define REPEATS_LEAST EVENT_SHORT_NAME
#define REPEATS_FEW 4U
#define REPEATS_FACTOR 32U
#define REPEATS_REST 16U
#define REPEATS_FREE (UINT64_C(64) << 20)

struct repeats {
	struct trace *trace;        /* borrowed */
	uint64_t factor;            /* > 0 */
	struct cost allowed, spent; /* bytes */
	struct class **cut; /* by index of a class: the class with its name and category cut, or NULL */
	uint32_t ncut;
	struct ledger *ledger; /* borrowed */
	uint32_t growth;       /* cost of a byte of a text that becomes pseudonyms; 0: texts stay */
};

/* factor 0: REPEATS_FACTOR.  anonymise: applied to the events later; borrowed for the call; NULL: not
 * applied. */
void repeats_init(struct repeats *r, struct trace *trace, uint64_t factor, struct ledger *ledger,
                  const struct anonymise *anonymise);
void repeats_free(struct repeats *r);

/* Returns the max size of an output; `read`: bytes of all sources. */
uint64_t repeats_allow(uint64_t read, uint64_t factor);

/* Limits the events of a batch; `read`: bytes of all sources up to it. */
bool repeats_batch(struct repeats *r, struct batch *b, uint64_t read);

#endif
