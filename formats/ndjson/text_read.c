#include "ndjson/read.h"

/* What texts say: escapes, hexadecimal digits, numbers that JSON has no form for. */

struct slice
ndjson_string_of(const struct ndjson_into *to, const struct ndjson_token *t)
{
	const struct slice raw = json_text(t->p, t->end, t->kind);

	if (t->kind == JSON_ESCAPED)
		return json_unescape(to->arena, raw);
	struct slice s = textscan_slice(raw.p, raw.n);
	return to->copy ? arena_copy(to->arena, s) : s;
}

int
ndjson_hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

struct slice
ndjson_unescape_bytes(struct arena *a, struct slice s, bool *bad)
{
	char *const start = arena_alloc(a, s.n), *to = start;

	for (uint32_t i = 0; start != NULL && i < s.n;) {
		if (s.p[i] != '\\') {
			*to++ = s.p[i++];
		} else if (i + 1 < s.n && s.p[i + 1] == '\\') {
			*to++ = '\\';
			i += 2;
		} else {
			const bool whole = s.n - i >= 4 && s.p[i + 1] == 'x';
			const int high = whole ? ndjson_hex_digit(s.p[i + 2]) : -1;
			const int low = whole ? ndjson_hex_digit(s.p[i + 3]) : -1;
			*bad = high < 0 || low < 0;
			if (*bad)
				return (struct slice){ NULL, 0, 0 };
			*to++ = (char)(high << 4 | low);
			i += 4;
		}
	}
	return start != NULL ? textscan_slice(start, (uint32_t)(to - start)) : (struct slice){ NULL, 0, 0 };
}

/* "0x" and digits; false: they are none. */
bool
ndjson_hexadecimal(struct slice s, uint64_t *v)
{
	*v = 0;
	if (s.n < 3 || s.n > 18 || s.p[0] != '0' || s.p[1] != 'x')
		return false;
	for (uint32_t i = 2; i < s.n; i++) {
		const int d = ndjson_hex_digit(s.p[i]);
		if (d < 0)
			return false;
		*v = *v << 4 | (unsigned)d;
	}
	return true;
}

bool
ndjson_not_finite(struct slice s, uint64_t *bits)
{
	if (slice_is(s, "NaN"))
		*bits = UINT64_C(0x7ff8000000000000);
	else if (slice_is(s, "Infinity"))
		*bits = UINT64_C(0x7ff0000000000000);
	else if (slice_is(s, "-Infinity"))
		*bits = UINT64_C(0xfff0000000000000);
	else if (s.n > 4 && memcmp(s.p, "NaN:", 4) == 0)
		return ndjson_hexadecimal(slice_of(s.p + 4, s.n - 4), bits);
	else
		return false;
	return true;
}

/* Digits and a power of ten that doubles hold exactly give the nearest double by one operation. */
bool
ndjson_exact_f64(const char *p, const char *e, double *to)
{
	static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
		                         1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
		                         1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
	const bool minus = *p == '-';
	uint64_t digits = 0;
	unsigned behind = 0;
	bool point = false;

	for (p += minus; p < e; p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		if (*p < '0' || *p > '9' || digits >= UINT64_C(900719925474099))
			return false;
		digits = digits * 10 + (uint64_t)(*p - '0');
		behind += point;
	}
	if (behind >= sizeof powers / sizeof powers[0])
		return false;
	*to = (double)digits / powers[behind];
	*to = minus ? -*to : *to;
	return true;
}
