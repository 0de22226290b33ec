#ifndef PARQUET_PARQUET_BOUNDS_H
#define PARQUET_PARQUET_BOUNDS_H

#include "parquet/thrift.h"

/*
 * The least and the greatest value of a column in a row group, by which engines skip groups: signed integers,
 * doubles, and texts in the order of their bytes, of which only the beginning is kept.
 */
#define BOUNDS_TEXT 64 /* bytes */

struct bounds_text {
	char p[BOUNDS_TEXT];
	uint32_t n;
	bool cut; /* the value goes on */
};

/* Zero-initialise to start. */
struct bounds {
	bool any;        /* there was a value */
	bool not_number; /* a NaN: there are no bounds then */
	union {
		struct {
			int64_t min, max;
		} i64;
		struct {
			double min, max;
		} f64;
	};
	struct bounds_text min, max;
};

static inline void
bounds_i64(struct bounds *b, int64_t v)
{
	if (!b->any || v < b->i64.min)
		b->i64.min = v;
	if (!b->any || v > b->i64.max)
		b->i64.max = v;
	b->any = true;
}

void bounds_f64(struct bounds *b, double v);
void bounds_text(struct bounds *b, struct slice s);

enum bounds_kind { BOUNDS_NONE, BOUNDS_I32, BOUNDS_I64, BOUNDS_F64, BOUNDS_TEXTS };

/* The fields of Statistics (parquet.thrift), in a structure that is open. */
void bounds_put(const struct bounds *b, enum bounds_kind kind, uint64_t nulls, struct thrift *t);

#endif
