#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "base/scan.h"

#include <criterion/criterion.h>
#include <sys/mman.h>
#include <unistd.h>

/* The end of readable memory: reading the next byte crashes. */
static char *fence(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(p, MAP_FAILED);
	cr_assert_eq(mprotect(p + page, page, PROT_NONE), 0);
	return p + page;
}

/* Likewise before the first byte. */
static char *fence_before(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(p, MAP_FAILED);
	cr_assert_eq(mprotect(p, page, PROT_NONE), 0);
	return p + page;
}

static bool slow_escape(char c)
{
	return (unsigned char)c < 0x20 || c == '"' || c == '\\' || c == 0x7f;
}

static uint32_t slow_flags(const char *p, size_t n)
{
	bool escape = false;

	for (size_t i = 0; i < n; i++)
		escape |= slow_escape(p[i]);
	if (!utf8_valid(p, n))
		return 0;
	for (size_t i = 0, size; i < n; i += size) {
		const unsigned char c = (unsigned char)p[i];
		size = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
		escape |= utf8_is_hidden(utf8_point(p + i, size));
	}
	return escape ? SLICE_UTF8 : SLICE_UTF8 | SLICE_JSON;
}

static const char *slow_plain_end(const char *p, const char *end)
{
	while (p < end && !slow_escape(*p) && (unsigned char)*p < 0x80)
		p++;
	return p;
}

static void check_cstring(bool (*scan)(const char *, const char *, struct slice *), const char *p,
                          const char *end)
{
	const struct slice untouched = { "x", 77, 99 };
	struct slice s = untouched;
	const char *nul = p == end ? NULL : memchr(p, '\0', (size_t)(end - p));

	if (scan(p, end, &s) != (nul != NULL))
		cr_assert_fail("wrong answer, %zu bytes", (size_t)(end - p));
	if (nul == NULL && (s.p != untouched.p || s.n != untouched.n || s.flags != untouched.flags))
		cr_assert_fail("touched");
	if (nul != NULL && (s.p != p || s.n != (size_t)(nul - p) || s.flags != slow_flags(p, s.n)))
		cr_assert_fail("%zu bytes, NUL at %zu: n %u flags %u", (size_t)(end - p), (size_t)(nul - p),
		               s.n, s.flags);
}

/* Finds each NUL that is not near the end. */
static void check_ascii_end(const char *found, const char *p, const char *end)
{
	const char *nul = p;

	while (nul<end && * nul> 0)
		nul++;
	if (found != NULL ? nul == end || *nul != '\0' || found != nul
	                  : nul < end && *nul == '\0' && end - nul >= 16)
		cr_assert_fail("ascii_end, %zu bytes, NUL at %zu", (size_t)(end - p), (size_t)(nul - p));
}

static void check_all(const char *p, const char *end)
{
	const struct slice s = textscan_slice(p, (uint32_t)(end - p));

	check_ascii_end(textscan_ascii_end(p, end), p, end);
	check_ascii_end(textscan_ascii_end_plain(p, end), p, end);
	check_cstring(textscan_cstring, p, end);
	check_cstring(textscan_cstring_plain, p, end);
	if (textscan_plain_end(p, end) != slow_plain_end(p, end))
		cr_assert_fail("plain_end, %zu bytes", (size_t)(end - p));
	if (textscan_plain_end_plain(p, end) != slow_plain_end(p, end))
		cr_assert_fail("plain_end_plain, %zu bytes", (size_t)(end - p));
	if (s.p != p || s.n != end - p || s.flags != slow_flags(p, s.n))
		cr_assert_fail("slice, %zu bytes: %u", (size_t)(end - p), s.flags);
}

/* One byte of each kind, and the neighbours of each border. */
static const char kinds[] = { 0,    1,   0x1f, 0x20, '!',        '"',        '#',        '[',
	                      '\\', ']', 0x7e, 0x7f, (char)0x80, (char)0xa0, (char)0xc3, (char)0xff };

/* `after` bytes of other text are between the end and the fence, so that all alignments occur. */
static void check_lengths(char *limit, size_t after)
{
	memset(limit - after, 'y', after);
	for (size_t n = 0; n <= 70; n++) {
		char *const end = limit - after, *const p = end - n;
		memset(p, 'a', n);
		check_all(p, end);
		for (size_t at = 0; at < n; at++) {
			for (size_t k = 0; k < sizeof kinds; k++) {
				p[at] = kinds[k];
				check_all(p, end);
			}
			p[at] = 'a';
		}
	}
}

Test(textscan, one_odd_byte_at_each_place_before_the_fence)
{
	char *const limit = fence();

	for (size_t after = 0; after < 16; after++)
		check_lengths(limit, after);
}

/* A NUL with special bytes before and after it: those after it must not count. */
Test(textscan, nothing_behind_the_nul_counts)
{
	char *const limit = fence();

	for (size_t n = 1; n <= 50; n++)
		for (size_t nul = 0; nul < n; nul++)
			for (size_t k = 0; k < sizeof kinds; k++) {
				char *const p = limit - n;
				memset(p, 'a', nul);
				memset(p + nul, kinds[k], n - nul);
				p[nul] = '\0';
				check_all(p, limit);
				if (nul > 0) {
					p[nul / 2] = kinds[k];
					check_all(p, limit);
				}
			}
}

Test(textscan, nothing_before_the_start_is_read)
{
	char *const p = fence_before();

	for (size_t n = 0; n <= 40; n++) {
		memset(p, 'a', 64);
		check_all(p, p + n);
		p[n] = '\0';
		check_all(p, p + n + 1);
		check_all(p, p + 64);
	}
}

Test(textscan, random_text)
{
	char *const limit = fence();

	srand(3);
	for (int round = 0; round < 60000; round++) {
		const size_t n = (size_t)rand() % 100;
		char *const p = limit - n;
		const int rare = 1 + rand() % 40;
		for (size_t i = 0; i < n; i++)
			p[i] = (char)(rand() % rare == 0 ? rand() >> 8 : 'a' + rand() % 26);
		check_all(p, limit);
	}
}

Test(textscan, utf8_is_told_from_other_bytes)
{
	static const char text[] = "a caf\xc3\xa9, \xe2\x82\xac 5 \xf0\x9f\x98\x80 and some more";
	char *const limit = fence();
	char *const p = limit - sizeof text;
	struct slice s;

	memcpy(p, text, sizeof text);
	cr_assert(textscan_cstring(p, limit, &s));
	cr_assert_eq(s.flags, SLICE_UTF8 | SLICE_JSON);
	for (size_t n = 0; n < sizeof text; n++)
		check_all(p, p + n);
	p[0] = '\n';
	cr_assert(textscan_cstring(p, limit, &s));
	cr_assert_eq(s.flags, SLICE_UTF8);
	p[6] = 'x';
	cr_assert(textscan_cstring(p, limit, &s));
	cr_assert_eq(s.flags, 0);
}

Test(textscan, empty_text_without_memory)
{
	cr_assert_eq(textscan_slice(NULL, 0).flags, SLICE_UTF8 | SLICE_JSON);
	cr_assert_null(textscan_plain_end(NULL, NULL));
}

Test(slices, first_and_last_places)
{
	const struct slice s = SLICE_LIT("a::b::c");

	cr_expect_eq(slice_find(s, SLICE_LIT("::")), s.p + 1);
	cr_expect_eq(slice_find(s, SLICE_LIT("a::b::c")), s.p);
	cr_expect_null(slice_find(s, SLICE_LIT("a::b::c:")));
	cr_expect_null(slice_find(SLICE_NONE, SLICE_LIT("a")));
	cr_expect_eq(slice_find_last(s, ':'), s.p + 5);
	cr_expect_null(slice_find_last(s, 'd'));
	cr_expect_null(slice_find_last(SLICE_NONE, 'a'));
}
