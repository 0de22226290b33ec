#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "model/trace_engine.h"

/* Interned texts: one copy of each in the trace, within limits. */

Test(trace_text, equal_texts_are_one)
{
	char first[] = "worker", again[] = "worker";
	struct trace t;

	trace_init(&t);
	const struct slice a = trace_text(&t, (struct slice){ first, 6, SLICE_UTF8 }),
	                   b = trace_text(&t, (struct slice){ again, 6, SLICE_UTF8 });
	cr_assert(a.p != first && a.p == b.p && a.n == 6);
	cr_assert(a.flags == (SLICE_UTF8 | SLICE_STAYS) && b.flags == a.flags);
	memset(first, 'x', 6);
	cr_assert(slice_is(a, "worker"));
	cr_assert_neq(trace_text(&t, slice_of(first, 6)).p, a.p);
	trace_free(&t);
}

Test(trace_text, empty_and_long_texts_are_not_interned)
{
	static char text[257];
	struct trace t;

	trace_init(&t);
	memset(text, 'a', sizeof text);
	cr_assert_eq(trace_text(&t, slice_of(text, 0)).flags, 0);
	cr_assert_eq(trace_text(&t, slice_of(text, 256)).flags, SLICE_STAYS);
	const struct slice s = trace_text(&t, slice_of(text, 257));
	cr_assert(s.p == text && s.flags == 0);
	trace_free(&t);
}

/* Interns texts of n bytes until one is refused; returns the number of interned texts. */
static uint32_t count_until_full(struct trace *t, uint32_t n)
{
	char text[257];
	uint32_t i = 0;

	for (;; i++) {
		snprintf(text, sizeof text, "%0*u", (int)n, (unsigned)i);
		if ((trace_text(t, slice_of(text, n)).flags & SLICE_STAYS) == 0)
			return i;
	}
}

Test(trace_text, count_and_bytes_are_bounded)
{
	struct trace t;

	trace_init(&t);
	cr_assert_eq(count_until_full(&t, 8), 32768);
	cr_assert_eq(trace_text(&t, SLICE_LIT("00000007")).flags & SLICE_STAYS, SLICE_STAYS, "still known");
	trace_free(&t);
	trace_init(&t);
	cr_assert_eq(count_until_full(&t, 256), 8192);
	trace_free(&t);
}
