#include "model/definitions.h"

#include <criterion/criterion.h>

#include "model/value.h"

#define KEYS 7U

/* Compared with a plain array: tables, scopes and keys are distinct, and the latest definition counts. */
Test(definitions, the_latest_counts)
{
	static uint64_t known[3][2][KEYS][KEYS]; /* 0: none */
	struct definitions d = { .slots = NULL };
	uint64_t random = 1;

	for (uint64_t i = 1; i < 5000; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		const uint64_t r = random >> 33;
		const uint8_t table = (uint8_t)(r % 3);
		const uint32_t scope = r / 3 % 2 != 0 ? DEFINITIONS_WHOLE_TRACE : 0;
		const uint64_t a = r / 6 % KEYS, b = r / 6 / KEYS % KEYS;
		const struct value v = definitions_get(&d, table, scope, a, b);
		cr_assert_eq(v.type == VALUE_NONE ? 0 : v.u64, known[table][scope != 0][a][b]);
		known[table][scope != 0][a][b] = i;
		definitions_put(&d, table, scope, a, b, value_u64(i));
	}
	cr_assert_eq(d.forgotten, 0);
	definitions_free(&d);
}

/* Old numbers are dropped and counted, the newest numbers and all texts stay, and memory does not grow. */
Test(definitions, old_numbers_are_forgotten)
{
	const uint64_t n = 5 * (uint64_t)DEFINITIONS_MAX;
	struct definitions d = { .slots = NULL };
	uint64_t there = 0;

	definitions_put(&d, 1, 0, 5, 0, value_string(SLICE_LIT("label")));
	for (uint64_t i = 0; i < n; i++)
		definitions_put(&d, 0, 0, i << 40, 0, value_u64(i));
	cr_assert_leq(d.n, DEFINITIONS_MAX);
	for (uint64_t i = 0; i < n; i++) {
		const struct value v = definitions_get(&d, 0, 0, i << 40, 0);
		cr_assert(v.type == VALUE_NONE ? i + DEFINITIONS_MAX / 3 < n : v.u64 == i);
		there += v.type != VALUE_NONE;
	}
	cr_assert_eq(there + d.forgotten, n);
	const struct value label = definitions_get(&d, 1, 0, 5, 0);
	cr_assert(label.type == VALUE_STRING && slice_is(value_text(&label), "label"));
	definitions_free(&d);
}

/* Texts are never dropped; those beyond the limit are counted. */
Test(definitions, texts_are_bounded)
{
	struct definitions d = { .slots = NULL };
	static char text[1 << 20];

	memset(text, 'x', sizeof text);
	for (uint64_t i = 0; i < 20; i++)
		definitions_put(&d, 0, 0, i, 0, value_string(slice_of(text, sizeof text)));
	cr_assert_eq(d.forgotten, 4);
	cr_assert_eq(definitions_get(&d, 0, 0, 15, 0).count, sizeof text);
	cr_assert_eq(definitions_get(&d, 0, 0, 16, 0).type, VALUE_NONE);
	definitions_free(&d);
}

/* Texts leave space for numbers, so that a new number is always stored, at a bounded cost. */
Test(definitions, short_texts_do_not_fill_it)
{
	struct definitions d = { .slots = NULL };

	for (uint64_t i = 0; i < DEFINITIONS_MAX + 8; i++)
		definitions_put(&d, 0, 0, i, 0, value_string(SLICE_LIT("x")));
	cr_assert_eq(definitions_get(&d, 0, 0, DEFINITIONS_TEXTS - 1, 0).type, VALUE_STRING);
	cr_assert_eq(definitions_get(&d, 0, 0, DEFINITIONS_TEXTS, 0).type, VALUE_NONE);
	cr_assert_eq(d.forgotten, DEFINITIONS_MAX + 8 - DEFINITIONS_TEXTS);
	for (uint64_t i = 0; i < 2 * (uint64_t)DEFINITIONS_MAX; i++) {
		definitions_put(&d, 1, 0, i, 0, value_u64(i));
		cr_assert_eq(definitions_get(&d, 1, 0, i, 0).u64, i);
	}
	/* a new value of an existing key takes no more space */
	const uint32_t n = d.n;
	definitions_put(&d, 0, 0, 0, 0, value_u64(7));
	definitions_put(&d, 0, 0, 1, 0, value_string(SLICE_LIT("y")));
	cr_assert_eq(d.n, n);
	cr_assert_eq(d.ntexts, DEFINITIONS_TEXTS - 1);
	definitions_free(&d);
}

/* Numbers large and small, and texts, under one key: the latest counts, wherever it is kept. */
Test(definitions, one_key_changes_its_kind)
{
	struct definitions d = { .slots = NULL };

	for (uint32_t i = 0; i < 3; i++) {
		definitions_put(&d, 0, 4, 1, 0, value_u64(7));
		cr_assert_eq(definitions_get(&d, 0, 4, 1, 0).u64, 7);
		definitions_put(&d, 0, 4, 1, 0, value_u64(UINT64_MAX));
		cr_assert_eq(definitions_get(&d, 0, 4, 1, 0).u64, UINT64_MAX);
		definitions_put(&d, 0, 4, 1, 0, value_string(SLICE_LIT("text")));
		cr_assert_eq(definitions_get(&d, 0, 4, 1, 0).type, VALUE_STRING);
		cr_assert_eq(definitions_get(&d, 0, 5, 1, 0).type, VALUE_NONE);
		cr_assert_eq(definitions_get(&d, 1, 4, 1, 0).type, VALUE_NONE);
	}
	definitions_free(&d);
}

/* An old value of a key does not reappear when a later value of this key is dropped. */
Test(definitions, nothing_comes_back)
{
	struct definitions d = { .slots = NULL };

	definitions_put(&d, 0, 0, 1, 0, value_u64(7));
	definitions_put(&d, 0, 0, 1, 0, value_u64(UINT64_MAX));
	for (uint64_t i = 0; i < 2 * (uint64_t)DEFINITIONS_MAX; i++)
		definitions_put(&d, 0, 0, i << 40, 0, value_u64(i));
	cr_assert_eq(definitions_get(&d, 0, 0, 1, 0).type, VALUE_NONE);
	definitions_free(&d);
}
