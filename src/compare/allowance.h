#ifndef COMPARE_ALLOWANCE_H
#define COMPARE_ALLOWANCE_H

#include "compare/differ.h"
#include "format/ledger.h"

/* What a ledger allows an output to differ in. */

#define ALLOWANCE_PARTS 9 /* bits of enum touches: TOUCHES_TIME to TOUCHES_MORE */

struct allowance {
	uint64_t left[ALLOWANCE_PARTS]; /* events; UINT64_MAX: any number */
	uint64_t tolerance;             /* ns, of times and durations */
};

/* losses: those that the writer declares, ended by an id of NULL; NULL: none that it has without counting. */
struct allowance allowance_of(const struct ledger *l, const struct loss *losses);

/* Whether the difference is allowed; it is counted then.  Side A is the trace, B the output. */
bool allowance_take(struct allowance *a, const struct difference *d);

#endif
