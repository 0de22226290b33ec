#ifndef RUN_ADJUST_ANONYMISE_H
#define RUN_ADJUST_ANONYMISE_H

#include "base/siphash.h"
#include "format/ledger.h"
#include "model/batch_fill.h"
#include "model/trace_engine.h"

/* ---- anonymise ---- */

/*
 * Pseudonyms for the words of a trace.  A pseudonym is made of a key and the
 * word alone, so that the same word has the same pseudonym in all traces that
 * are anonymised with the key, and nobody without the key can make one.
 */
struct anonymise {
	struct siphash_key key;
	bool keep_paths;    /* the parts of a path are words of their own; the slashes stay */
	bool keep_suffixes; /* ".h5" at the end of a text stays */
	bool hide_numbers;  /* numbers of fields, and ids of processes and threads, become pseudonyms too */
	uint64_t shift;     /* ns that are added to all times; the wall time is not told then */
};

#define ANONYMISE_KEY_LEAST 16 /* bytes */

/* Takes the key from the n >= ANONYMISE_KEY_LEAST bytes at p. */
void anonymise_set_key(struct anonymise *a, const void *p, size_t n);

/* Chooses a shift by the key: the same for all traces. */
void anonymise_set_shift(struct anonymise *a);

/* ---- rehome ---- */

/*
 * Makes the events of one trace events of another.  Tracks and classes are made
 * again there, with their texts or pseudonyms of them.  The first trace lives as
 * long as the second: names of fields lie there.  One thread at a time.
 */
struct rehome {
	struct trace *to;              /* borrowed */
	const struct anonymise *words; /* borrowed; NULL: texts stay as they are */
	int64_t later;                 /* ns that are added to times */
	uint64_t flows;                /* tells flow ids of this trace from those of others; 0: they stay */
	/* The track of the second trace that this one is, whose parent has this one there; NULL: none yet,
	 * one is made.  May be NULL. */
	struct track *(*same_track)(void *ctx, const struct track *t, const struct track *parent);
	/* The name of a process that is made.  May be NULL. */
	struct slice (*process_name)(void *ctx, const struct track *process, struct arena *into);
	void *ctx;
	struct track **tracks; /* by index in the first trace; NULL: none yet */
	uint32_t ntracks;
	struct class **classes;
	uint32_t nclasses;
	struct tabletext readable; /* names of fields that were met, in `names` */
	struct arena names;
	uint32_t nnames;
	struct ledger ledger;
};

#define REHOME_MOST_NAMES 256 /* of fields, that are remembered */

void rehome_init(struct rehome *r, struct trace *to);
void rehome_free(struct rehome *r);

/* The events of a batch change their trace.  false: no memory. */
bool rehome_batch(struct rehome *r, struct batch *b);

/* At the end: tracks that are not hidden and have no events, and what the trace says of itself. */
bool rehome_rest(struct rehome *r, const struct trace *from);

/* What is known of the first trace so far: its format, clock and epoch. */
void rehome_facts(struct rehome *r, const struct trace *from);

#endif
