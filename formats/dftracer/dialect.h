#ifndef DFTRACER_DIALECT_H
#define DFTRACER_DIALECT_H

#include "dftracer/record.h"
#include "dftracer/wire.h"

/* Which version of the tracer wrote a trace. */

extern const char *const dft_dialects[]; /* ended by NULL */

/* What the first bytes say; complete: they are all there are.  NULL: no memory. */
const char *dft_dialect_of(struct slice head, bool complete);

/* What of a record decides about its dialect, as far as it takes to know that it is that of the last one; not
 * of records that define a hash.  Never 0. */
static inline uint64_t
dft_signature(const struct dft_record *rec, enum dft_phase phase)
{
	const struct dft_arg *const host = dft_arg_of(rec, DFT_ROLE_HHASH);
	const struct dft_arg *const file = dft_arg_of(rec, DFT_ROLE_FHASH);
	uint64_t s = rec->shape | (uint64_t)phase << 40;

	if (host != NULL)
		s |= (uint64_t)host->kind << 44 | (uint64_t)(host->value.n > 5) << 48 |
		     (uint64_t)(host->value.n > 1) << 49;
	if (file != NULL)
		s |= (uint64_t)file->kind << 50 | (uint64_t)(file->value.n > 5) << 54 |
		     (uint64_t)(file->value.n > 1) << 55;
	return s | (uint64_t)(rec->special[DFT_ROLE_HOSTNAME] != 0) << 56 | (uint64_t)1 << 63;
}

/* Bits of enum dft_tallied: forms that are usual in this dialect, so not reported in a trace of it. */
unsigned dft_dialect_forms(const char *dialect);

/* reader_ops.probe */
int dft_probe(struct slice head, bool complete);

#endif
