#include "run/meaning/interpret.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

/* The n-th name; each has bytes of its own. */
static struct slice name_of(char (*texts)[12], uint32_t i, unsigned long n)
{
	snprintf(texts[i], sizeof texts[i], "n%lu", n);
	return slice_str(texts[i]);
}

/* The first field of that name, or n. */
static uint32_t first_named(const struct field *fields, uint32_t n, struct slice name)
{
	uint32_t i = 0;

	while (i < n && !slice_equal(fields[i].name, name))
		i++;
	return i;
}

/* Few and many names, present in all or in few fields, some repeated: new fields of the END are added,
 * those with another value are named "end.NAME". */
Test(retained, join_tells_names_apart)
{
	static char begin_text[300][12], end_text[300][12];
	static struct field begin[300], end[300], to[600];
	uint64_t random = 7;

	for (uint32_t round = 0; round < 400; round++) {
		const uint32_t nbegin = round % 3 == 0 ? round / 20 : round % 300, nend = round * 7 % 300,
		               names = 1 + round * 13 % 500;
		struct batch b = { .cap = 0 };
		uint32_t n, k = nbegin;
		for (uint32_t i = 0; i < 300; i++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			begin[i] = (struct field){ name_of(begin_text, i, (random >> 33) % names),
				                   value_u64(random >> 63) };
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			end[i] = (struct field){ name_of(end_text, i, (random >> 33) % names),
				                 value_u64(random >> 63) };
		}
		n = retained_join(&b, begin, nbegin, end, nend, to);
		for (uint32_t i = 0; i < nend; i++) {
			const bool step = i < nbegin && slice_equal(begin[i].name, end[i].name);
			const uint32_t at = step ? i : first_named(begin, nbegin, end[i].name);
			if (at < nbegin && begin[at].value.u64 == end[i].value.u64)
				continue;
			cr_assert_lt(k, n);
			cr_assert_eq(to[k].value.u64, end[i].value.u64);
			cr_assert_eq(to[k].name.n, end[i].name.n + (at < nbegin ? 4 : 0));
			cr_assert_eq(
			    memcmp(to[k].name.p + (at < nbegin ? 4 : 0), end[i].name.p, end[i].name.n), 0);
			k++;
		}
		cr_assert_eq(k, n);
		batch_free(&b);
	}
}

/* Two ends with the maximum number of fields and no name in common: the cost is linear in their bytes. */
Test(retained, join_of_many_fields_is_quick)
{
	enum { N = 32000, ROUNDS = 40 };
	static char begin_text[N][12], end_text[N][12];
	struct field *const begin = calloc(N, sizeof *begin), *const end = calloc(N, sizeof *end),
	                    *const to = calloc(2 * N, sizeof *to);
	uint32_t n;

	cr_assert(begin != NULL && end != NULL && to != NULL);
	for (uint32_t i = 0; i < N; i++) {
		begin[i].name = name_of(begin_text, i, 100000 + i);
		end[i].name = name_of(end_text, i, 900000 + i);
	}
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct batch b = { .cap = 0 };
		n = retained_join(&b, begin, N, end, N, to);
		cr_assert_eq(n, 2 * N);
		batch_free(&b);
	}
	free(begin);
	free(end);
	free(to);
}

/* A text with SLICE_STAYS is not copied, and does not count for the limit. */
Test(retained, texts_that_stay_are_shared)
{
	const struct slice text = { "text", 4, SLICE_UTF8 | SLICE_STAYS };
	const struct field f = { text, value_string(text) };
	const uint32_t size = sizeof(struct retained) + sizeof f;
	const struct class cls = { .nfields = 0 };
	struct retained *k;

	cr_assert_eq(retained_new(&k, text, &cls, &f, 1, size, NULL), RETAINED_MADE);
	cr_assert_eq(k->bytes, size);
	cr_assert(k->name.p == text.p && k->name.flags == text.flags);
	cr_assert(k->fields[0].name.p == text.p && k->fields[0].name.flags == text.flags);
	cr_assert(k->fields[0].value.p == text.p && k->fields[0].value.flags == text.flags);
	retained_free(k);
	cr_assert_eq(retained_new(&k, SLICE_LIT("text"), &cls, &f, 1, size, NULL), RETAINED_TOO_MUCH);
}

Test(retained, an_unfinished_span_has_one_field_more)
{
	static struct field fields[UINT16_MAX];
	const struct class cls = { .nfields = 0 };
	struct retained *k;

	cr_assert_eq(retained_new(&k, SLICE_LIT("a"), &cls, fields, UINT16_MAX, UINT32_MAX, NULL),
	             RETAINED_TOO_MUCH);
	cr_assert_eq(retained_new(&k, SLICE_LIT("a"), &cls, fields, UINT16_MAX - 1, UINT32_MAX, NULL),
	             RETAINED_MADE);
	retained_free(k);
}
