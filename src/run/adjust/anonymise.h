#ifndef PIPELINE_ANONYMISE_H
#define PIPELINE_ANONYMISE_H

#include "base/siphash.h"
#include "model/batch_fill.h"

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

/* The pseudonym of a text, in the arena; no text has none.  p NULL: no memory. */
struct slice anonymise_text(const struct anonymise *a, struct slice s, struct arena *into);

/* Of a number.  bits: how many it has. */
uint64_t anonymise_number(const struct anonymise *a, uint64_t v, unsigned bits);

/* A value with all texts in it replaced, and with hide_numbers the numbers.  false: no memory. */
bool anonymise_value(const struct anonymise *a, struct value *v, struct arena *into);

#endif
