/* All scanners of this machine give the same, correct positions. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "json/scan.h"

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static bool is_odd(char c)
{
	const unsigned char u = (unsigned char)c;

	return u >= 0x7f || c == '\\' || (u < 0x20 && c != '\n');
}

static void expect_positions(const struct json_positions *got, const char *p, size_t n, int what,
                             const char *name)
{
	uint32_t k = 0;

	for (size_t i = 0; i < n; i++) {
		const bool is = what == 0 ? p[i] == '"' : what == 1 ? p[i] == '\n' : is_odd(p[i]);
		if (!is)
			continue;
		cr_assert(k < got->n && got->at[k] == i, "%s: what %d at %zu of %zu is not found", name, what,
		          i, n);
		k++;
	}
	cr_assert_eq(k, got->n, "%s: what %d: %u found, %u there", name, what, got->n, k);
	for (unsigned i = 0; i < JSON_GUARDS; i++)
		cr_assert_eq(got->at[k + i], UINT32_MAX, "%s: guard", name);
}

/* Copies the bytes into an allocation of their exact size, so that a memory checker sees any overrun. */
static void expect_all_agree(const char *bytes, size_t n)
{
	struct json_index *const ix = malloc(sizeof *ix);
	char *const p = malloc(n > 0 ? n : 1);

	cr_assert(ix != NULL && p != NULL);
	memcpy(p, bytes, n);
	for (const struct json_scanner *s = json_scanners; s->name != NULL; s++) {
		if (!s->usable())
			continue;
		json_index_make(ix, s, p, n);
		cr_assert_eq(ix->base, p);
		cr_assert_eq(ix->n, n);
		expect_positions(&ix->quotes, p, n, 0, s->name);
		expect_positions(&ix->lines, p, n, 1, s->name);
		expect_positions(&ix->odd, p, n, 2, s->name);
	}
	free(ix);
	free(p);
}

Test(json_scan, every_byte_at_every_place)
{
	char p[200];

	for (int c = 0; c < 256; c++)
		for (size_t at = 0; at < 130; at += c % 7 == 0 ? 1 : 13) {
			memset(p, 'a', sizeof p);
			p[at] = (char)c;
			p[at + 1] = (char)(c ^ 0x80);
			expect_all_agree(p, 131 + at % 5);
		}
}

Test(json_scan, all_lengths)
{
	char p[300];

	for (size_t i = 0; i < sizeof p; i++)
		p[i] = "\"\n\\\x01\x80 a\xff"[i * 7 % 8];
	for (size_t n = 0; n <= sizeof p; n++)
		expect_all_agree(p, n);
}

Test(json_scan, random_bytes_dense_and_sparse)
{
	static char p[JSON_CHUNK];
	uint64_t random = 1;

	for (unsigned round = 0; round < 60; round++) {
		for (size_t i = 0; i < sizeof p; i++) {
			const uint64_t r = next_random(&random);
			p[i] = r % (round + 1) == 0 ? "\"\n\\\t\x1f\x7f\x80\xff"[r / 64 % 8]
			                            : (char)('a' + r % 26);
		}
		expect_all_agree(p, sizeof p - round);
	}
	memset(p, '"', sizeof p);
	expect_all_agree(p, sizeof p);
}

Test(json_scan, the_last_needs_nothing)
{
	const struct json_scanner *s = json_scanners;

	cr_assert_not_null(json_scanner_best()->name);
	while (s[1].name != NULL)
		s++;
	cr_expect_str_eq(s->name, "plain");
	cr_expect(s->usable());
}
