#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/table.h"
#include "test/support/splitmix.h"

/* ---- tables ---- */

Test(table, empty_tables_know_nothing)
{
	struct table64 t = { 0 };
	struct tabletext x = { 0 };

	cr_assert_eq(table64_get(&t, 0), TABLE_NONE);
	cr_assert_eq(tabletext_get(&x, slice_str("")), TABLE_NONE);
	table64_free(&t);
	tabletext_free(&x);
}

Test(table, elements_are_found_or_appended_up_to_a_limit)
{
	enum { MAX = 40 };
	struct element {
		uint64_t key, zero;
	} *list = NULL;
	struct table64 t = { 0 };
	uint32_t n = 0, cap = 0;

	for (uint64_t round = 0; round < 3; round++)
		for (uint64_t key = 0; key < MAX + 2; key++) {
			const uint32_t at =
			    table64_element(&t, key << 40, &list, &n, &cap, sizeof *list, MAX);
			cr_assert_eq(at, key < MAX ? key : TABLE_NONE);
			if (at == TABLE_NONE)
				continue;
			cr_assert_eq(list[at].key, round > 0 ? key : 0, "a new element is zero");
			cr_assert_eq(list[at].zero, 0);
			list[at].key = key;
		}
	cr_assert_eq(n, MAX);
	free(list);
	table64_free(&t);
}

Test(table, of_numbered_keys_the_older_half_is_forgotten)
{
	enum { MAX = 40 };
	struct table64 t = { 0 };
	uint32_t n = 0;

	cr_assert(table64_drop_below(&t, 7));
	for (uint64_t key = 1; key <= 10 * MAX; key++) {
		cr_assert_eq(table64_number(&t, key << 40, &n, MAX), key);
		cr_assert_eq(table64_number(&t, key << 40, &n, MAX), key);
		cr_assert_leq(t.used, MAX);
		const uint64_t old = key > MAX / 2 ? key - MAX / 2 + 1 : 1;
		cr_assert_eq(table64_get(&t, old << 40), old);
	}
	cr_assert_eq(table64_get(&t, (uint64_t)9 * MAX << 40), TABLE_NONE);
	cr_assert(table64_drop_below(&t, n));
	cr_assert_eq(t.used, 1);
	n = TABLE_NONE - 1;
	cr_assert_eq(table64_number(&t, 7, &n, MAX), 0, "no number is left");
	table64_free(&t);
}

/* Few distinct keys, so that many are replaced; the list is searched from end to end. */
Test(table, table64_against_a_list)
{
	enum { KEYS = 700 };
	static uint64_t key[KEYS];
	static uint32_t value[KEYS];
	struct table64 t = { 0 };
	uint64_t state = 7;
	size_t n = 0;

	for (uint32_t round = 0; round < 5000; round++) {
		const uint64_t k = splitmix_next(&state) % KEYS << (round % 2 * 50);
		size_t i = 0;
		while (i < n && key[i] != k)
			i++;
		cr_assert_eq(table64_get(&t, k), i < n ? value[i] : TABLE_NONE);
		if (i == n && n == KEYS)
			continue;
		key[i] = k;
		value[i] = round;
		n += i == n;
		cr_assert(table64_put(&t, k, round));
		cr_assert_eq(table64_get(&t, k), round);
		cr_assert_eq(t.used, n);
	}
	for (size_t i = 0; i < n; i++)
		cr_assert_eq(table64_get(&t, key[i]), value[i]);
	table64_free(&t);
	cr_assert_eq(table64_get(&t, key[0]), TABLE_NONE);
}

/* Numbers in a row, multiples of large powers of two, and both ends. */
Test(table, table64_grows)
{
	for (unsigned shift = 0; shift < 48; shift += 12) {
		struct table64 t = { 0 };
		for (uint32_t i = 0; i < 60000; i++)
			cr_assert(table64_put(&t, (uint64_t)i << shift, i));
		cr_assert(table64_put(&t, UINT64_MAX, 5));
		for (uint32_t i = 0; i < 60000; i++)
			cr_assert_eq(table64_get(&t, (uint64_t)i << shift), i);
		cr_assert_eq(table64_get(&t, UINT64_MAX), 5);
		cr_assert_eq(table64_get(&t, UINT64_MAX - 1), TABLE_NONE);
		cr_assert_eq(t.used, 60001);
		cr_assert_leq(t.used, t.mask);
		table64_free(&t);
	}
}

Test(table, tabletext_grows_and_replaces)
{
	enum { KEYS = 20000 };
	static char text[KEYS][24];
	struct tabletext t = { 0 };

	for (uint32_t i = 0; i < KEYS; i++) {
		(void)snprintf(text[i], sizeof text[i], "%*u", (int)(i % 20) + 1, i);
		cr_assert_eq(tabletext_get(&t, slice_str(text[i])), TABLE_NONE);
		cr_assert(tabletext_put(&t, slice_str(text[i]), i));
	}
	cr_assert_eq(t.used, KEYS);
	for (uint32_t i = 0; i < KEYS; i += 3) {
		char copy[24];
		memcpy(copy, text[i], sizeof copy);
		cr_assert(tabletext_put(&t, slice_str(copy), i + 1));
		cr_assert(tabletext_key(&t, slice_str(copy)) == text[i], "the bytes first given");
		memset(copy, 'x', sizeof copy);
	}
	cr_assert_eq(t.used, KEYS);
	for (uint32_t i = 0; i < KEYS; i++)
		cr_assert_eq(tabletext_get(&t, slice_str(text[i])), i % 3 == 0 ? i + 1 : i);
	for (uint32_t i = 0; i < KEYS; i++)
		cr_assert(tabletext_entries(&t)[i].p == text[i], "in order of arrival");
	tabletext_free(&t);
}

Test(table, tabletext_keys_of_any_bytes)
{
	struct tabletext t = { 0 };
	static const char zeros[40];

	cr_assert(tabletext_put(&t, (struct slice){ NULL, 0, 0 }, 1000));
	for (uint32_t n = 1; n <= 40; n++)
		cr_assert(tabletext_put(&t, slice_of(zeros, n), n));
	cr_assert_eq(tabletext_get(&t, slice_of(zeros, 0)), 1000);
	for (uint32_t n = 1; n <= 40; n++)
		cr_assert_eq(tabletext_get(&t, slice_of(zeros, n)), n);
	cr_assert_eq(t.used, 41);
	tabletext_free(&t);
}

Test(table, seed_is_one_for_the_process)
{
	cr_assert_neq(hash_seed(), 0);
	cr_assert_eq(hash_seed(), hash_seed());
}

/* The buffer is exactly as long as the key, so that a sanitizer sees each read after it. */
Test(table, hash_reads_all_bytes_and_no_others)
{
	for (size_t n = 0; n <= 70; n++) {
		unsigned char *p = malloc(n == 0 ? 1 : n);
		memset(p, 0x5a, n);
		const uint64_t h = hash_bytes((char *)p, n, 99);
		cr_assert_eq(hash_bytes((char *)p, n, 99), h);
		cr_assert_neq(hash_bytes((char *)p, n, 100), h);
		for (size_t bit = 0; bit < n * 8; bit++) {
			p[bit / 8] ^= (unsigned char)(1u << bit % 8);
			cr_assert_neq(hash_bytes((char *)p, n, 99), h, "length %zu bit %zu", n, bit);
			p[bit / 8] ^= (unsigned char)(1u << bit % 8);
		}
		free(p);
	}
}

/* Each input bit must flip about half of the output bits, each output bit about half of the time. */
static void check_avalanche(size_t n, bool number)
{
	enum { TRIALS = 1000 };
	static unsigned flips[64];
	uint64_t state = 12345;

	for (size_t bit = 0; bit < n * 8; bit++) {
		memset(flips, 0, sizeof flips);
		for (int trial = 0; trial < TRIALS; trial++) {
			uint64_t w[4];
			for (size_t i = 0; i < 4; i++)
				w[i] = splitmix_next(&state);
			const uint64_t before = number ? hash_u64(w[0], 77) : hash_bytes((char *)w, n, 77);
			((unsigned char *)w)[bit / 8] ^= (unsigned char)(1u << bit % 8);
			const uint64_t after = number ? hash_u64(w[0], 77) : hash_bytes((char *)w, n, 77);
			for (size_t i = 0; i < 64; i++)
				flips[i] += (unsigned)((before ^ after) >> i) & 1;
		}
		/* Fair coins: 500 +- 6 standard deviations of 15.8. */
		for (size_t i = 0; i < 64; i++)
			cr_assert(flips[i] > 405 && flips[i] < 595, "%zu bytes, bit %zu to %zu: %u", n, bit,
			          i, flips[i]);
	}
}

Test(table, hash_is_good_in_all_bits)
{
	check_avalanche(8, true);
	check_avalanche(3, false);
	check_avalanche(6, false);
	check_avalanche(12, false);
	check_avalanche(16, false);
	check_avalanche(29, false);
}

/* ---- seen numbers ---- */

Test(idset, agrees_with_a_plain_array)
{
	enum { N = 100000 };
	static bool seen[N];
	struct idset s = { .pages = NULL };

	srand(7);
	for (int i = 0; i < 3 * N; i++) {
		const int id = rand() % N;
		cr_assert_eq(idset_add(&s, (uint64_t)id), seen[id], "id %d", id);
		seen[id] = true;
	}
	idset_free(&s);
}

Test(idset, sequences_with_local_disorder)
{
	struct idset s = { .pages = NULL };

	for (uint64_t base = 0; base < 1 << 20; base += 8)
		for (uint64_t i = 8; i-- > 0;)
			cr_assert_not(idset_add(&s, base + i));
	for (uint64_t id = 0; id < 1 << 20; id++)
		cr_assert(idset_add(&s, id));
	idset_free(&s);
}

Test(idset, ends_of_the_range)
{
	const uint64_t ids[] = {
		0, 1, 63, 64, 4095, 4096, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 4096, (uint64_t)1 << 63
	};
	struct idset s = { .pages = NULL };

	for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
		cr_assert_not(idset_add(&s, ids[i]), "%zu", i);
		cr_assert(idset_add(&s, ids[i]), "%zu", i);
	}
	idset_free(&s);
}

Test(idset, a_page_gives_way_only_to_one_a_span_away)
{
	struct idset s = { .pages = NULL };

	idset_add(&s, 5);
	for (uint64_t id = IDSET_PAGE; id < IDSET_SPAN; id += IDSET_PAGE)
		cr_assert_not(idset_add(&s, id));
	cr_assert(idset_add(&s, 5));
	cr_assert_not(idset_add(&s, 5 + IDSET_SPAN));
	cr_assert_not(idset_add(&s, 5)); /* forgotten, as the header says */
	idset_free(&s);
	cr_assert_not(idset_add(&s, 5)); /* and can be used again */
	idset_free(&s);
}

/* ---- siphash ---- */

/* Key 00 01 ... 0f and messages 00 01 ... of the paper's appendix and of its reference code's list. */
Test(siphash, published_vectors)
{
	static const struct siphash_key key = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) };
	unsigned char m[16];

	for (unsigned i = 0; i < sizeof m; i++)
		m[i] = (unsigned char)i;
	cr_expect_eq(siphash(&key, m, 15), UINT64_C(0xa129ca6149be45e5));
	cr_expect_eq(siphash(&key, m, 0), UINT64_C(0x726fdb47dd0e0e31));
	cr_expect_eq(siphash(&key, m, 1), UINT64_C(0x74f839c593dc67fd));
	cr_expect_eq(siphash(&key, m, 8), UINT64_C(0x93f5f5799a932462));
}

/* ---- unique names ---- */

Test(table, unique_names)
{
	static const struct {
		struct slice name;
		const char *unique;
	} rows[] = {
		{ SLICE_LIT("x"), "x" },
		{ SLICE_LIT("x"), "x (2)" },
		{ SLICE_LIT("x (3)"), "x (3)" },
		{ SLICE_LIT("x"), "x (4)" },
		{ SLICE_LIT("x (2)"), "x (2) (2)" },
		{ SLICE_LIT(""), "" },
		{ SLICE_LIT(""), " (2)" },
		{ SLICE_LIT("id"), "id (2)" },
	};
	struct tabletext t = { .slots = NULL };
	struct arena a = { 0 };

	cr_assert(tabletext_put(&t, SLICE_LIT("id"), 1));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct slice s = tabletext_unique(&t, &a, rows[i].name);
		cr_expect(slice_is(s, rows[i].unique), "%.*s", (int)s.n, s.p);
		cr_expect_eq(s.flags, rows[i].name.flags & (SLICE_UTF8 | SLICE_JSON));
	}
	tabletext_free(&t);
	cr_expect_not_null(tabletext_unique(&t, &a, slice_of(NULL, 0)).p, "a name without bytes is a name");
	tabletext_free(&t);
	arena_free(&a);
}

/* Names of any bytes; the search for a number does not start over. */
Test(table, unique_names_with_nul_and_many)
{
	const struct slice nul = { "a\0b", 3, 0 };
	struct tabletext t = { .slots = NULL };
	struct arena a = { 0 };
	struct slice last = nul;

	for (int i = 0; i < 20000; i++)
		last = tabletext_unique(&t, &a, nul);
	cr_assert_eq(last.n, 3 + strlen(" (20000)"));
	cr_assert_arr_eq(last.p, "a\0b (20000)", last.n);
	tabletext_free(&t);
	arena_free(&a);
}
