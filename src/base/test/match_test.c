#include "base/match.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* A reference: the meaning of a pattern, in exponential time. */
static bool fits(const char *p, const char *pe, const char *t, const char *te)
{
	if (p == pe)
		return t == te;
	if (*p == '*')
		return fits(p + 1, pe, t, te) || (t < te && fits(p, pe, t + 1, te));
	if (t == te)
		return false;
	if (*p == '?')
		return fits(p + 1, pe, t + 1, te);
	if (*p == '\\' && p + 1 < pe)
		p++;
	return *p == *t && fits(p + 1, pe, t + 1, te);
}

static bool expect_same(struct slice pattern, struct slice text)
{
	const bool is = glob_fits(pattern, text);

	cr_expect_eq(is, fits(pattern.p, pattern.p + pattern.n, text.p, text.p + text.n), "%.*s and %.*s",
	             (int)pattern.n, pattern.p, (int)text.n, text.p);
	return is;
}

static uint32_t fill(char *to, uint32_t max, const char *letters, size_t n, unsigned *seed)
{
	const uint32_t length = (uint32_t)rand_r(seed) % (max + 1);

	for (uint32_t i = 0; i < length; i++)
		to[i] = letters[(size_t)rand_r(seed) % n];
	return length;
}

Test(glob, means_what_it_says)
{
	static const char *const rows[][2] = {
		{ "", "" },
		{ "", "a" },
		{ "*", "" },
		{ "*", "abc" },
		{ "a*", "a" },
		{ "a*", "ba" },
		{ "*a", "ba" },
		{ "*a", "ab" },
		{ "a?c", "abc" },
		{ "a?c", "ac" },
		{ "**", "" },
		{ "*?*", "" },
		{ "*?*", "x" },
		{ "\\*", "*" },
		{ "\\*", "a" },
		{ "\\", "\\" },
		{ "a\\", "a\\" },
		{ "*\\", "a\\" },
		{ "\\\\", "\\" },
		{ "\\?", "?" },
		{ "a*b*c", "abc" },
		{ "a*b*c", "axbxbxc" },
		{ "a*b*c", "acb" },
		{ "*ab*ab*", "ab" },
		{ "*ab*ab*", "abab" },
		{ "ab*ba", "aba" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		expect_same(slice_str(rows[i][0]), slice_str(rows[i][1]));
}

Test(glob, random_ones)
{
	char pattern[12], text[16];
	unsigned seed = 7;
	size_t fitting = 0;

	for (int i = 0; i < 100000; i++) {
		const uint32_t n = fill(pattern, sizeof pattern, "ab**?\\", 6, &seed);
		const uint32_t m = fill(text, sizeof text, "aaab*\\", 6, &seed);
		fitting += expect_same(slice_of(pattern, n), slice_of(text, m));
	}
	cr_expect(fitting > 5000 && fitting < 95000, "%zu", fitting);
}

/* Parts that are searched for in long texts, which contain them at a random position, or not. */
Test(glob, long_texts)
{
	char text[3000], pattern[72];
	unsigned seed = 9;

	for (int i = 0; i < 3000; i++) {
		const uint32_t n = 1 + (uint32_t)rand_r(&seed) % 68,
		               m = 1500 + (uint32_t)rand_r(&seed) % 1500;
		const uint32_t at = (uint32_t)rand_r(&seed) % (m - n);
		for (uint32_t k = 0; k < m; k++)
			text[k] = "ab"[rand_r(&seed) % 16 == 0];
		pattern[0] = '*';
		for (uint32_t k = 0; k < n; k++)
			pattern[k + 1] = rand_r(&seed) % 8 == 0 ? '?' : text[at + k];
		pattern[n + 1] = '*';
		cr_expect(glob_fits(slice_of(pattern, n + 2), slice_of(text, m)), "%.*s at %u", (int)n + 2,
		          pattern, at);
		pattern[1 + (uint32_t)rand_r(&seed) % n] = 'c'; /* in no text */
		cr_expect_not(glob_fits(slice_of(pattern, n + 2), slice_of(text, m)));
	}
}

/* A part that nearly matches at every position of a text. */
Test(glob, hostile_ones)
{
	static char text[1 << 20], pattern[200];

	memset(text, 'a', sizeof text);
	memset(pattern, 'a', sizeof pattern);
	pattern[0] = pattern[64] = pattern[128] = pattern[192] = '*';
	pattern[63] = pattern[127] = pattern[191] = 'b';
	cr_expect(glob_is_linear(slice_of(pattern, sizeof pattern)));
	for (int i = 0; i < 20; i++)
		cr_expect_not(glob_fits(slice_of(pattern, sizeof pattern), slice_of(text, sizeof text)));
	pattern[63] = pattern[127] = pattern[191] = 'a';
	cr_expect(glob_fits(slice_of(pattern, sizeof pattern), slice_of(text, sizeof text)));
}

Test(glob, what_is_linear)
{
	char pattern[80];

	memset(pattern, 'a', sizeof pattern);
	cr_expect(glob_is_linear(slice_of(pattern, 80)));
	pattern[0] = '*';
	cr_expect(glob_is_linear(slice_of(pattern, 80)));
	pattern[66] = '*';
	cr_expect_not(glob_is_linear(slice_of(pattern, 80)));
	pattern[65] = '*';
	cr_expect(glob_is_linear(slice_of(pattern, 80)));
	cr_expect(glob_is_linear(slice_of(pattern, 0)));
}
