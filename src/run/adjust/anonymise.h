#ifndef RUN_ADJUST_ANONYMISE_H
#define RUN_ADJUST_ANONYMISE_H

#include "base/table.h"
#include "format/ledger.h"
#include "model/batch_fill.h"
#include "model/trace_engine.h"

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
	int64_t later;                     /* ns, added to times */
	uint64_t zero, most; /* ns: zero_ns of the second trace less that of the first; last time of the
	                      * second */
	uint64_t bias;       /* of signed times 2^63, which makes them comparable by ^; else 0 */
	uint64_t flows;      /* distinguishes flow ids of this trace from those of others; 0: unchanged */
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

#endif
