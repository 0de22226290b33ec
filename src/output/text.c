/* A growing buffer, and formatting of values into it.  The capacity doubles; text_reserve() always allocates
 * one byte more than requested. */
#include "output/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/scan.h"
#include "output/text_json.h"
#include "output/text_visible.h"

#define SIZE_FIRST ((size_t)256)

/* Closes the text: it has no more space, so that nothing is added after a gap. */
static bool fail(struct text *t)
{
	t->failed = true;
	t->cap = t->n;
	return false;
}

bool text_grow(struct text *t, size_t n)
{
	if (t->failed || n >= PTRDIFF_MAX - t->n)
		return fail(t);

	const size_t need = t->n + n + 1;
	size_t cap = t->cap <= PTRDIFF_MAX / 2 ? t->cap * 2 : PTRDIFF_MAX;
	if (cap < SIZE_FIRST)
		cap = SIZE_FIRST;
	if (cap < need)
		cap = need;

	char *p = realloc(t->borrowed ? NULL : t->p, cap);
	if (p == NULL)
		return fail(t);
	if (t->borrowed)
		memcpy(p, t->p, t->n);
	t->borrowed = false;
	t->p = p;
	t->cap = cap;
	return true;
}

void text_clear(struct text *t)
{
	t->n = 0;
}

void text_free(struct text *t)
{
	if (!t->borrowed)
		free(t->p);
	*t = (struct text){ 0 };
}

void text_add(struct text *t, const char *p, size_t n)
{
	char *const to = text_reserve(t, n);

	if (to != NULL)
		t->n += (size_t)(text_put(to, p, n) - to);
}

void text_str(struct text *t, const char *s)
{
	text_add(t, s, strlen(s));
}

void text_slice(struct text *t, struct slice s)
{
	text_add(t, s.p, s.n);
}

void text_u64(struct text *t, uint64_t v)
{
	char *const to = text_reserve(t, DECIMAL_U64_MAX);

	if (to != NULL)
		t->n += (size_t)(decimal_u64(to, v) - to);
}

void text_ns_from(struct text *t, uint64_t zero, uint64_t ns)
{
	if (ns < zero)
		text_char(t, '-');
	text_u64(t, ns < zero ? zero - ns : ns - zero);
}

void text_i64(struct text *t, int64_t v)
{
	char *const to = text_reserve(t, DECIMAL_I64_MAX);

	if (to != NULL)
		t->n += (size_t)(decimal_i64(to, v) - to);
}

void text_u128(struct text *t, uint128 v)
{
	char *const to = text_reserve(t, DECIMAL_U128_MAX);

	if (to != NULL)
		t->n += (size_t)(decimal_u128(to, v) - to);
}

void text_hex(struct text *t, const char *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *to = text_reserve(t, n * 2);

	if (to == NULL)
		return;
	for (size_t i = 0; i < n; i++) {
		*to++ = digits[(unsigned char)p[i] >> 4];
		*to++ = digits[p[i] & 15];
	}
	t->n += n * 2;
}

void text_printf(struct text *t, const char *fmt, ...)
{
	const size_t space = t->cap - t->n;
	va_list ap;

	/* usually there is space, including that for the NUL of printf */
	va_start(ap, fmt);
	const int n = vsnprintf(space > 0 ? t->p + t->n : NULL, space, fmt, ap);
	va_end(ap);
	if (n < 0) {
		(void)fail(t);
		return;
	}
	if ((size_t)n >= space) {
		char *const to = text_reserve(t, (size_t)n + 1);
		if (to == NULL)
			return;
		va_start(ap, fmt);
		(void)vsnprintf(to, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	t->n += (size_t)n;
}

/* ---- UTF-8 ---- */

size_t text_utf8(struct text *t, struct slice s)
{
	const char *p = s.p, *const end = s.p + s.n;

	if ((s.flags & (SLICE_UTF8 | SLICE_JSON)) != 0) {
		text_add(t, s.p, s.n);
		return 0;
	}
	for (size_t replaced = 0;; replaced++) {
		const size_t valid = utf8_valid_prefix(p, (size_t)(end - p));
		text_add(t, p, valid);
		p += valid;
		if (p == end)
			return replaced;
		text_str(t, TEXT_REPLACEMENT);
		p += utf8_invalid_run(p, (size_t)(end - p));
	}
}

struct slice text_repaired(struct arena *a, struct slice s)
{
	struct text t = { .p = NULL };

	if (s.p == NULL)
		return SLICE_LIT(""); /* p NULL would mean OOM */
	if (slice_is_utf8(s))
		return s;
	text_utf8(&t, s);
	const bool fits = !t.failed && t.n <= UINT32_MAX;
	const struct slice copy = fits ? arena_copy(a, slice_of(t.p, t.n)) : SLICE_NONE;
	text_free(&t);
	return copy;
}

/* ---- JSON ---- */

/* The largest n for which a double can hold all integers up to n. */
#define DOUBLE_EXACT ((UINT64_C(1) << 53) - 1)

static void add_escape(struct text *t, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	static const char letters[32] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'
	};

	if (c >= 0x20 && c < 0x7f)
		text_add(t, (const char[]){ '\\', (char)c }, 2);
	else if (c < 0x20 && letters[c] != 0)
		text_add(t, (const char[]){ '\\', letters[c] }, 2);
	else
		text_add(t, (const char[]){ '\\', 'u', '0', '0', digits[c >> 4], digits[c & 15] }, 6);
}

static void add_unit(struct text *t, uint32_t unit)
{
	text_printf(t, "\\u%04" PRIx32, unit);
}

/* Adds valid UTF-8 in which only hidden characters need an escape. */
static void add_valid(struct text *t, const char *p, const char *end)
{
	size_t size;

	for (const char *q; p < end; p = q + size) {
		q = utf8_find_hidden(p, end, &size);
		text_add(t, p, (size_t)(q - p));
		if (q == end)
			return;
		const uint32_t c = utf8_point(q, size);
		if (c >= 0x10000)
			add_unit(t, 0xd800 + ((c - 0x10000) >> 10));
		add_unit(t, c >= 0x10000 ? 0xdc00 + ((c - 0x10000) & 0x3ff) : c);
	}
}

void text_json_text(struct text *t, const char *p, size_t n)
{
	if (n > 0)
		add_valid(t, p, p + n);
}

/* Adds a run of bytes that are not ASCII; no character continues after it.  Returns the number of
 * replacements. */
static size_t add_high(struct text *t, const char *p, const char *end)
{
	for (size_t replaced = 0;; replaced++) {
		const size_t valid = utf8_valid_prefix(p, (size_t)(end - p));
		add_valid(t, p, p + valid);
		p += valid;
		if (p == end)
			return replaced;
		text_add(t, TEXT_REPLACEMENT, 3);
		p += utf8_invalid_run(p, (size_t)(end - p));
	}
}

size_t text_json_chars(struct text *t, struct slice s)
{
	if (s.n == 0)
		return 0;
	if ((s.flags & SLICE_JSON) != 0) {
		text_slice(t, s);
		return 0;
	}

	const char *p = s.p, *const end = p + s.n;
	size_t replaced = 0;
	for (;;) {
		const char *q = textscan_plain_end(p, end);
		text_add(t, p, (size_t)(q - p));
		if (q == end)
			return replaced;
		p = q;
		while (q < end && ((unsigned char)*q & 0x80) != 0)
			q++;
		if (q > p)
			replaced += add_high(t, p, q);
		else
			add_escape(t, (unsigned char)*q++);
		p = q;
	}
}

size_t text_json_quoted(struct text *t, struct slice s)
{
	text_char(t, '"');
	const size_t replaced = text_json_chars(t, s);
	text_char(t, '"');
	return replaced;
}

void text_json_u64(struct text *t, uint64_t v)
{
	const bool quoted = v > DOUBLE_EXACT;

	if (quoted)
		text_char(t, '"');
	text_u64(t, v);
	if (quoted)
		text_char(t, '"');
}

void text_json_i64(struct text *t, int64_t v)
{
	const bool quoted = v > (int64_t)DOUBLE_EXACT || v < -(int64_t)DOUBLE_EXACT;

	if (quoted)
		text_char(t, '"');
	text_i64(t, v);
	if (quoted)
		text_char(t, '"');
}

void text_json_address(struct text *t, uint64_t v)
{
	char *p = text_reserve(t, DECIMAL_HEX_MAX + 2);

	if (p == NULL)
		return;
	*p++ = '"';
	p = decimal_hex(p, v);
	*p++ = '"';
	t->n = (size_t)(p - t->p);
}

static bool add_float(struct text *t, double v, bool narrow)
{
	if (!isfinite(v)) {
		text_str(t, isnan(v) ? "\"NaN\"" : v < 0 ? "\"-Infinity\"" : "\"Infinity\"");
		return false;
	}

	char *const to = text_reserve(t, DECIMAL_F64_MAX);
	if (to != NULL)
		t->n += (size_t)((narrow ? decimal_f32(to, (float)v) : decimal_f64(to, v)) - to);
	if (v == 0 && signbit(v))
		text_str(t, ".0"); /* most readers take -0 as the integer 0 */
	return true;
}

bool text_json_f64(struct text *t, double v)
{
	return add_float(t, v, false);
}

bool text_json_f32(struct text *t, float v)
{
	return add_float(t, v, true);
}

/* ---- times and sizes ---- */

/* Writes date and time of day, without a fraction. */
static void put_seconds(struct text *t, uint64_t ns, char between)
{
	const time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm = { .tm_year = 70 };

	gmtime_r(&seconds, &tm);
	text_printf(t, "%04d-%02d-%02d%c%02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
	            between, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

void text_iso8601(struct text *t, uint64_t ns)
{
	put_seconds(t, ns, 'T');
	text_printf(t, ".%09uZ", (unsigned)(ns % 1000000000));
}

void text_wall(struct text *t, uint64_t ns)
{
	put_seconds(t, ns, ' ');
	text_printf(t, ".%03u UTC", (unsigned)(ns / 1000000 % 1000));
}

/* digits: number of significant digits, 3 or 4. */
static void put_time(struct text *t, uint128 ns, int digits)
{
	static const char *const names[] = { "us", "ms", "s" };
	const unsigned limit = digits == 3 ? 1000 : 10000;
	uint64_t unit = 1;

	if (ns < 1000) {
		text_u64(t, (uint64_t)ns);
		text_str(t, " ns");
		return;
	}
	for (unsigned i = 0; i < 3; i++) {
		unit *= 1000;
		unsigned power = limit / 10;
		for (int decimals = digits - 1; decimals >= 0; decimals--, power /= 10) {
			const uint128 v = (ns * power + unit / 2) / unit;
			if (decimals == 0 && (i == 2 || v < 1000)) {
				text_u128(t, v);
				text_printf(t, " %s", names[i]);
				return;
			}
			if (decimals > 0 && v < limit) {
				text_printf(t, "%u.%0*u %s", (unsigned)v / power, decimals,
				            (unsigned)v % power, names[i]);
				return;
			}
		}
	}
}

void text_time(struct text *t, uint128 ns)
{
	put_time(t, ns, 4);
}

void text_count(struct text *t, const char *before, uint64_t n, const char *what)
{
	text_printf(t, "%s%" PRIu64 " %s%s", before, n, what, n == 1 ? "" : "s");
}

void text_time_short(struct text *t, uint128 ns)
{
	put_time(t, ns, 3);
}

void text_since(struct text *t, uint64_t ns)
{
	const unsigned rest = (unsigned)(ns % 1000000000);

	text_char(t, '+');
	text_u64(t, ns / 1000000000);
	if (rest % 1000000 == 0)
		text_printf(t, ".%03u s", rest / 1000000);
	else if (rest % 1000 == 0)
		text_printf(t, ".%06u s", rest / 1000);
	else
		text_printf(t, ".%09u s", rest);
}

void text_percent(struct text *t, uint128 millionths)
{
	const uint64_t v = (uint64_t)((millionths + 50) / 100);

	text_printf(t, "%" PRIu64 ".%02" PRIu64 " %%", v / 100, v % 100);
}

void text_fraction(struct text *t, uint128 millionths)
{
	text_printf(t, "%" PRIu64 ".%06" PRIu64, (uint64_t)(millionths / 1000000),
	            (uint64_t)(millionths % 1000000));
}

void text_six_digits(struct text *t, double v)
{
	const bool whole = v > -1e15 && v < 1e15 && !(v > (double)(int64_t)v) && !(v < (double)(int64_t)v);

	text_printf(t, whole ? "%.0f" : "%.6g", v);
}

void text_bytes_short(struct text *t, uint128 bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
	unsigned i = 0;
	double v = (double)bytes;

	for (; v >= 999.5 && i + 1 < COUNT_OF(units); i++)
		v /= 1000;
	text_printf(t, i == 0 || v >= 99.95 ? "%.0f %s" : v >= 9.995 ? "%.1f %s" : "%.2f %s", v, units[i]);
}

void text_kib(struct text *t, uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double v = (double)bytes / 1024;
	unsigned i = 0;

	if (bytes < 1024)
		return;
	for (; v >= 1023.95 && i + 1 < COUNT_OF(units); i++)
		v /= 1024;
	text_printf(t, " (%.1f %s)", v, units[i]);
}
