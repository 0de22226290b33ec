#include "parquet/bounds.h"

#include <math.h>
#include <string.h>

/* Fields of Statistics. */
enum { NULL_COUNT = 3, MAX_VALUE = 5, MIN_VALUE = 6, MAX_EXACT = 7, MIN_EXACT = 8 };

void
bounds_f64(struct bounds *b, double v)
{
	b->not_number |= isnan(v) != 0;
	if (!b->any || v < b->f64.min)
		b->f64.min = v;
	if (!b->any || v > b->f64.max)
		b->f64.max = v;
	b->any = true;
}

/* ---- texts ---- */

static int
compare(struct slice a, const struct bounds_text *b)
{
	const size_t n = a.n < b->n ? a.n : b->n;
	const int d = n > 0 ? memcmp(a.p, b->p, n) : 0;

	return d != 0 ? d : (a.n > b->n) - (a.n < b->n);
}

static void
keep(struct bounds_text *to, struct slice s)
{
	to->cut = s.n > BOUNDS_TEXT;
	to->n = to->cut ? BOUNDS_TEXT : s.n;
	if (to->n > 0)
		memcpy(to->p, s.p, to->n);
}

void
bounds_text(struct bounds *b, struct slice s)
{
	if (!b->any || compare(s, &b->min) < 0)
		keep(&b->min, s);
	if (!b->any || compare(s, &b->max) > 0)
		keep(&b->max, s);
	b->any = true;
}

/* What is not greater than the text: less of it, so that it ends with a character. */
static struct slice
lower(const struct bounds_text *t)
{
	uint32_t n = t->n;

	if (t->cut) {
		while (n > 0 && ((unsigned char)t->p[n - 1] & 0xc0) == 0x80)
			n--;
		if (n > 0 && (unsigned char)t->p[n - 1] >= 0xc0)
			n--;
	}
	return (struct slice){ t->p, n, 0 };
}

/* What is greater than all that begin so: the last ASCII character is made the next one.  n 0: there is none.
 */
static struct slice
upper(struct bounds_text *t)
{
	if (!t->cut)
		return (struct slice){ t->p, t->n, 0 };
	while (t->n > 0 && (unsigned char)t->p[t->n - 1] >= 0x7f)
		t->n--;
	if (t->n > 0)
		t->p[t->n - 1]++;
	return (struct slice){ t->p, t->n, 0 };
}

static void
put_texts(const struct bounds *b, struct thrift *t)
{
	struct bounds_text max = b->max;
	const struct slice greatest = upper(&max), least = lower(&b->min);
	const bool has_max = !b->max.cut || greatest.n > 0;

	if (has_max)
		thrift_text(t, MAX_VALUE, greatest);
	thrift_text(t, MIN_VALUE, least);
	if (has_max)
		thrift_bool(t, MAX_EXACT, !b->max.cut);
	thrift_bool(t, MIN_EXACT, !b->min.cut);
}

/* ---- numbers ---- */

static void
put_number(struct thrift *t, int id, uint64_t bits, uint32_t size)
{
	char p[8];

	for (uint32_t i = 0; i < size; i++, bits >>= 8)
		p[i] = (char)bits;
	thrift_text(t, id, (struct slice){ p, size, 0 });
}

static void
put_numbers(struct thrift *t, uint64_t max, uint64_t min, uint32_t size)
{
	put_number(t, MAX_VALUE, max, size);
	put_number(t, MIN_VALUE, min, size);
	thrift_bool(t, MAX_EXACT, true);
	thrift_bool(t, MIN_EXACT, true);
}

static uint64_t
bits_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	return bits;
}

void
bounds_put(const struct bounds *b, enum bounds_kind kind, uint64_t nulls, struct thrift *t)
{
	thrift_i64(t, NULL_COUNT, (int64_t)nulls);
	if (!b->any || kind == BOUNDS_NONE)
		return;
	if (kind == BOUNDS_TEXTS)
		put_texts(b, t);
	else if (kind != BOUNDS_F64)
		put_numbers(t, (uint64_t)b->i64.max, (uint64_t)b->i64.min, kind == BOUNDS_I32 ? 4 : 8);
	else if (!b->not_number) /* readers take both zeros to be between -0.0 and 0.0 */
		put_numbers(t, bits_of(b->f64.max == 0 ? 0.0 : b->f64.max),
		            bits_of(b->f64.min == 0 ? -0.0 : b->f64.min), 8);
}
