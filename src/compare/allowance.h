#ifndef COMPARE_ALLOWANCE_H
#define COMPARE_ALLOWANCE_H

#include "compare/differ.h"
#include "format/ledger.h"

/* What a ledger allows an output to differ in. */

#define ALLOWANCE_PARTS 9 /* bits of enum touches: TOUCHES_TIME to TOUCHES_MORE */
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

#endif
