/*
 * Lines of .test files: escapes of output, and comparison with the expected lines.
 * Expected and actual lines are aligned at minimum cost (edit distance); "..." matches any lines at no cost.
 * Output fits if the cost is 0; a failure prints the alignment.
 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "test/commands/lines_test_util.h"

#define LONE 4U    /* cost of an unmatched line */
#define CHANGED 3U /* cost of two similar lines; below LONE, so that "..." matches neither */
#define NEVER UINT32_MAX
#define SWALLOWED 12 /* max number of lines matched by "..." that a failure prints */

void lines_add(struct lines *l, struct slice line)
{
	if ((l->n & (l->n - 1)) == 0) /* a power of two: full */
		l->v = realloc(l->v, (l->n > 0 ? 2 * l->n : 1) * sizeof *l->v);
	cr_assert_not_null(l->v);
	l->v[l->n++] = line;
}

/* ---- escapes ---- */

static bool begins(struct slice s, const char *word)
{
	return s.n >= strlen(word) && memcmp(s.p, word, strlen(word)) == 0;
}

/* Returns true for lines with a meaning in a .test file, and for lines with invisible characters. */
static bool needs_escape(struct slice s)
{
	bool hidden;

	if (begins(s, "\\") || begins(s, "#") || begins(s, "$ ") || begins(s, "> ") || begins(s, "2>") ||
	    begins(s, "== ") || (begins(s, "[") && s.n < 6 && s.p[s.n - 1] == ']') ||
	    (s.n > 0 && s.p[s.n - 1] == ' ') || !utf8_valid_hidden(s.p, s.n, &hidden) || hidden)
		return true;
	for (uint32_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
			return true;
	return false;
}

static void put_escaped(struct text *t, struct slice s)
{
	for (uint32_t i = 0; i < s.n; i++) {
		const char c = s.p[i];
		if (c == '\t' || c == '\r' || c == '\\')
			text_printf(t, "\\%c", c == '\t' ? 't' : c == '\r' ? 'r' : c);
		else if (c < ' ' || c > '~' || (c == ' ' && i + 1 == s.n))
			text_printf(t, "\\x%02x", (unsigned char)c);
		else
			text_char(t, c);
	}
}

void lines_shown(struct lines *l, const char *prefix, const char *p, size_t n, struct text *kept)
{
	struct lines ends = { NULL, 0 }; /* lengths only, since *kept moves as it grows */

	for (const char *const end = p + n, *next; p < end; p = next) {
		const char *const stop = memchr(p, '\n', (size_t)(end - p));
		const struct slice line = slice_of(p, (size_t)((stop != NULL ? stop : end) - p));
		const size_t start = kept->n;
		next = stop != NULL ? stop + 1 : end;
		text_str(kept, prefix);
		if (stop == NULL || needs_escape(line) || (line.n == 0 && (next == end || *prefix != '\0'))) {
			text_char(kept, '\\');
			put_escaped(kept, line);
			if (stop == NULL)
				text_str(kept, "\\c");
		} else {
			text_slice(kept, line);
		}
		lines_add(&ends, slice_of(NULL, kept->n - start));
	}
	const char *at = kept->p + kept->n;
	for (size_t i = ends.n; i > 0; i--)
		at -= ends.v[i - 1].n;
	for (size_t i = 0; i < ends.n; at += ends.v[i++].n)
		lines_add(l, slice_of(at, ends.v[i].n));
	free(ends.v);
}

/* ---- comparison ---- */

static const struct slice dots = { "...", 3, 0 };

static bool is_any(struct slice want)
{
	return slice_equal(want, dots) || slice_is(want, "2> ...");
}

static const char *find(const char *p, const char *end, struct slice word)
{
	for (; (size_t)(end - p) >= word.n; p++)
		if (memcmp(p, word.p, word.n) == 0)
			return p;
	return NULL;
}

static bool line_fits(struct slice want, struct slice got)
{
	const char *p = want.p, *const stop = want.p + want.n, *at = got.p, *const end = got.p + got.n;
	const char *gap = find(p, stop, dots);

	if (gap == NULL)
		return slice_equal(want, got);
	if (got.n < gap - p || memcmp(p, at, (size_t)(gap - p)) != 0)
		return false;
	for (at += gap - p, p = gap + dots.n; (gap = find(p, stop, dots)) != NULL; p = gap + dots.n) {
		const struct slice word = slice_of(p, (size_t)(gap - p));
		if ((at = find(at, end, word)) == NULL)
			return false;
		at += word.n;
	}
	return end - at >= stop - p && memcmp(end - (stop - p), p, (size_t)(stop - p)) == 0;
}

static uint32_t same_start(struct slice a, struct slice b)
{
	uint32_t n = 0;

	while (n < a.n && n < b.n && a.p[n] == b.p[n])
		n++;
	return n;
}

/* Similar lines: common prefix and suffix are half of the shorter line, or 12 bytes of the expected line
 * occur in the other. */
static bool resemble(struct slice a, struct slice b)
{
	uint32_t end = 0;

	while (end < a.n && end < b.n && a.p[a.n - 1 - end] == b.p[b.n - 1 - end])
		end++;
	for (uint32_t i = 0; i + 12 <= a.n; i += 6)
		if (find(b.p, b.p + b.n, slice_of(a.p + i, 12)) != NULL)
			return true;
	return 2 * (same_start(a, b) + end) >= (a.n < b.n ? a.n : b.n) && a.n > 0 && b.n > 0;
}

static uint32_t cost_of_pair(struct slice want, struct slice got)
{
	return line_fits(want, got) ? 0 : resemble(want, got) ? CHANGED : NEVER;
}

static uint32_t min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Returns cost[i * (got->n + 1) + j], the cost of the lines from want i and got j on. */
static uint32_t *align(const struct lines *want, const struct lines *got)
{
	const size_t wide = got->n + 1;

	cr_assert_lt((want->n + 1) * wide, 1U << 26,
	             "too much output to compare: let a command look for the words");
	uint32_t *const cost = calloc((want->n + 1) * wide, sizeof *cost);
	cr_assert_not_null(cost);
	for (size_t i = want->n + 1; i-- > 0;)
		for (size_t j = wide; j-- > 0;) {
			uint32_t *const c = &cost[i * wide + j],
			                best = i == want->n && j == got->n ? 0 : NEVER;
			const bool any = i < want->n && is_any(want->v[i]);
			if (i < want->n)
				best = min(best, c[wide] + (any ? 0 : LONE));
			if (j < got->n)
				best = min(best, c[1] + (any ? 0 : LONE));
			if (i < want->n && j < got->n && !any) {
				const uint32_t pair = cost_of_pair(want->v[i], got->v[j]);
				best = min(best, pair != NEVER ? c[wide + 1] + pair : NEVER);
			}
			*c = best;
		}
	return cost;
}

static void put_line(struct text *t, const char *mark, struct slice line)
{
	text_str(t, mark);
	text_slice(t, line);
	text_char(t, '\n');
}

/* Marks the first difference of two lines, unless the expected one has "...". */
static void put_caret(struct text *t, struct slice want, struct slice got)
{
	const uint32_t at = same_start(want, got);

	if (find(want.p, want.p + want.n, dots) != NULL)
		return;
	text_str(t, "      ");
	for (uint32_t i = 0; i < at; i++)
		if (((unsigned char)want.p[i] & 0xc0) != 0x80)
			text_char(t, ' ');
	text_str(t, "^\n");
}

bool lines_fit(const struct lines *want, const struct lines *got, struct text *shown, struct text *mended)
{
	uint32_t *const cost = align(want, got);
	const size_t wide = got->n + 1;
	const bool fit = cost[0] == 0;
	size_t swallowed = 0;

	for (size_t i = 0, j = 0; i < want->n || j < got->n;) {
		const uint32_t *const c = &cost[i * wide + j];
		const bool any = i < want->n && is_any(want->v[i]);
		const uint32_t pair =
		    i < want->n && j < got->n && !any ? cost_of_pair(want->v[i], got->v[j]) : NEVER;
		if (any && j < got->n && *c == c[1]) {
			if (swallowed++ < SWALLOWED)
				put_line(shown, "    . ", got->v[j]);
			j++;
		} else if (any) {
			if (swallowed > SWALLOWED)
				text_printf(shown, "    . (%zu lines more)\n", swallowed - SWALLOWED);
			put_line(shown, "      ", want->v[i]);
			put_line(mended, "", want->v[i++]);
			swallowed = 0;
		} else if (pair != NEVER && *c == c[wide + 1] + pair) {
			put_line(shown, pair == 0 ? "      " : "    - ", want->v[i]);
			if (pair > 0) {
				put_line(shown, "    + ", got->v[j]);
				put_caret(shown, want->v[i], got->v[j]);
			}
			put_line(mended, "", pair == 0 ? want->v[i] : got->v[j]);
			i++;
			j++;
		} else if (i < want->n && *c == c[wide] + LONE) {
			put_line(shown, "    - ", want->v[i++]);
		} else {
			put_line(shown, "    + ", got->v[j]);
			put_line(mended, "", got->v[j++]);
		}
	}
	free(cost);
	return fit;
}

/* shown: the expected difference; "" if want and got fit. */
static void expect_lines(const char *want, const char *got, const char *shown)
{
	struct lines a = { NULL, 0 }, b = { NULL, 0 };
	struct text kept[2] = { 0 }, diff = { 0 }, mended = { 0 };

	lines_shown(&a, "", want, strlen(want), &kept[0]);
	lines_shown(&b, "", got, strlen(got), &kept[1]);
	const bool fit = lines_fit(&a, &b, &diff, &mended);
	text_char(&diff, '\0');
	cr_expect_eq(fit, *shown == '\0', "%s", want);
	if (!fit)
		cr_expect_str_eq(diff.p, shown);
	free(a.v);
	free(b.v);
	text_free(&kept[0]);
	text_free(&kept[1]);
	text_free(&diff);
	text_free(&mended);
}

Test(command_lines, fit_or_are_shown)
{
	expect_lines("", "", "");
	expect_lines("a\n\nb\n", "a\n\nb\n", "");
	expect_lines("...\n", "", "");
	expect_lines("...\nb\n...\n", "a\nb\nc\n", "");
	expect_lines("a...c\n", "abc\n", "");
	expect_lines("a...b...c\n", "a b b c\n", "");
	expect_lines("aa...aa\n", "aaa\n", "    - aa...aa\n    + aaa\n");
	expect_lines("...ab\n", "abc\n", "    - ...ab\n    + abc\n");
	expect_lines("one word\nb\n", "one sword\nb\n",
	             "    - one word\n    + one sword\n          ^\n      b\n");
	expect_lines("a\n", "a", "    - a\n    + \\a\\c\n");
	expect_lines("", "a\tb\x1b \n", "    + \\a\\tb\\x1b\\x20\n");
	expect_lines("...\nlast line\n", "first\nlast life\n",
	             "    . first\n      ...\n    - last line\n    + last life\n             ^\n");
}
