/* Numbers as text, and numbers with units from text.  Integers: eight digits at a time within a 64-bit word
 * (or sixteen with SSE2), no division by 10 in a loop.  Doubles: 17 exact digits from a 128-bit product,
 * shortened while they read back the same. */
#include "base/compiler.h"
#include "base/numbers.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- integers ---- */

#if defined(__SSE2__) && defined(__x86_64__)
#include <emmintrin.h>
#define VECTOR 1
#else
#define VECTOR 0
#endif

#define E8 UINT64_C(100000000)
#define E16 UINT64_C(10000000000000000)
#define E19 UINT64_C(10000000000000000000)
#define ZEROS UINT64_C(0x3030303030303030)

/*
 * v < 10^8 as eight digits, one a byte, the first in the lowest byte.  Halves all lanes at once: 4+4 digits,
 * 2+2+2+2, then single ones.  A lane x becomes its quotient q and, in the lane above, x - q * base; shifting
 * first makes that one product and one subtraction.  10486 / 2^20 and 103 / 2^10 are exact for the quotients
 * by 100 and by 10 that occur.
 */
static inline uint64_t digits8(uint64_t v)
{
	const uint64_t by10000 = v / 10000;
	const uint64_t four = (v << 32) - by10000 * ((UINT64_C(10000) << 32) - 1);
	const uint64_t by100 = four * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
	const uint64_t two = (four << 16) - by100 * ((100 << 16) - 1);
	const uint64_t by10 = two * 103 >> 10 & UINT64_C(0x000f000f000f000f);

	return (two << 8) - by10 * ((10 << 8) - 1);
}

/* The same for v < 10^16: two words of eight digits. */
struct digits16 {
	uint64_t first, last;
};

#if VECTOR

/* As digits8(), both words at once; 5243 / 2^19 and 6554 / 2^16 are the quotients by 100 and by 10. */
static inline struct digits16 digits16(uint64_t v)
{
	const uint64_t high = v / E8;
	const __m128i eight = _mm_set_epi64x((long long)(v - high * E8), (long long)high);

	/* 3518437209 / 2^45 is 1 / 10000 for all below 10^8. */
	const __m128i by10000 = _mm_srli_epi64(_mm_mul_epu32(eight, _mm_set1_epi64x(3518437209)), 45);
	const __m128i low4 = _mm_sub_epi64(eight, _mm_mul_epu32(by10000, _mm_set1_epi64x(10000)));
	const __m128i four = _mm_or_si128(by10000, _mm_slli_epi64(low4, 32));

	const __m128i by100 = _mm_srli_epi16(_mm_mulhi_epu16(four, _mm_set1_epi16(5243)), 3);
	const __m128i low2 = _mm_sub_epi16(four, _mm_mullo_epi16(by100, _mm_set1_epi16(100)));
	const __m128i two = _mm_or_si128(by100, _mm_slli_epi32(low2, 16));

	const __m128i by10 = _mm_mulhi_epu16(two, _mm_set1_epi16(6554));
	const __m128i low1 = _mm_sub_epi16(two, _mm_mullo_epi16(by10, _mm_set1_epi16(10)));
	const __m128i one = _mm_or_si128(by10, _mm_slli_epi16(low1, 8));

	return (struct digits16){ (uint64_t)_mm_cvtsi128_si64(one),
		                  (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(one, one)) };
}

#else

static inline struct digits16 digits16(uint64_t v)
{
	return (struct digits16){ digits8(v / E8), digits8(v % E8) };
}

#endif

/* Number of zeros before the digits of v < 10^8, at most `max`.  It is computed before the digits, so that
 * the position of the following bytes is known early. */
static inline unsigned zeros8(uint32_t v, unsigned max)
{
	static const uint32_t tens[] = { 0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000 };
	const unsigned n = (32U - (unsigned)__builtin_clz(v | 1)) * 1233 >> 12; /* digits, or one less */
	const unsigned zeros = 8 - n - (v >= tens[n]);

	return zeros < max ? zeros : max;
}

/* Writes the digits of v < 10^8 without leading zeros; always stores eight bytes.  The last digit is kept
 * even if it is 0. */
static inline char *put_stripped(char *p, uint32_t v, uint64_t digits)
{
	const unsigned skip = zeros8(v, 7);

	store_uint(p, (digits | ZEROS) >> skip * 8, 8, false);
	return p + 8 - skip;
}

static inline char *put8(char *p, uint64_t digits)
{
	store_uint(p, digits | ZEROS, 8, false);
	return p + 8;
}

/* Writes v < 10^4 without leading zeros; stores four bytes.  Half of digits8() and put_stripped(). */
static inline char *put_head4(char *p, uint32_t v)
{
	const uint32_t by100 = v * 10486 >> 20;
	const uint32_t two = (v << 16) - by100 * ((100 << 16) - 1);
	const uint32_t by10 = two * 103 >> 10 & 0x000f000f;
	const uint32_t digits = (two << 8) - by10 * ((10 << 8) - 1);
	const unsigned skip = low_bit(digits | 1u << 24) / 8;

	store_uint(p, (digits | 0x30303030) >> skip * 8, 4, false);
	return p + 4 - skip;
}

/* Writes all but the last eight digits of v >= 10^8, which are stored in *last.  Compilers find it too large
 * to inline; a call costs a fifth of the time. */
INLINE char *put_upper(char *p, uint64_t v, uint64_t *last)
{
	struct digits16 low;

	if (v < E16) {
		low = digits16(v);
		p = put_stripped(p, (uint32_t)(v / E8), low.first);
	} else {
		const uint64_t high = v / E16;
		low = digits16(v - high * E16);
		p = put8(put_head4(p, (uint32_t)high), low.first);
	}
	*last = low.last;
	return p;
}

static inline char *put_u64(char *p, uint64_t v)
{
	uint64_t last;

	if (v < 10) {
		*p = (char)('0' + v);
		return p + 1;
	}
	if (v < E8)
		return put_stripped(p, (uint32_t)v, digits8(v));
	p = put_upper(p, v, &last);
	return put8(p, last);
}

char *decimal_u64(char *p, uint64_t v)
{
	return put_u64(p, v);
}

/* The magnitude of INT64_MIN has no int64_t. */
static inline uint64_t magnitude(int64_t v)
{
	return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

char *decimal_i64(char *p, int64_t v)
{
	*p = '-';
	return put_u64(p + (v < 0), magnitude(v));
}

/* Writes the last eight digits without the first `skip`, with a point before the last three. */
static inline char *put_point8(char *p, uint64_t digits, unsigned skip)
{
	const uint64_t text = digits | ZEROS;
	const uint64_t whole = text & ((UINT64_C(1) << 40) - 1);

	/* Nine bytes: five digits, the point and two digits, the last digit. */
	store_uint(p, (whole | (uint64_t)'.' << 40 | (text >> 40) << 48) >> skip * 8, 8, false);
	p += 8 - skip;
	*p = (char)(text >> 56);
	return p + 1;
}

static inline char *put_usec(char *p, uint64_t ns)
{
	uint64_t last;

	if (ns >= E8) {
		p = put_upper(p, ns, &last);
		return put_point8(p, last, 0);
	}
	/* A single digit precedes the point. */
	return put_point8(p, digits8(ns), zeros8((uint32_t)ns, 4));
}

char *decimal_usec(char *p, uint64_t ns)
{
	return put_usec(p, ns);
}

char *decimal_usec_signed(char *p, int64_t ns)
{
	*p = '-';
	return put_usec(p + (ns < 0), magnitude(ns));
}

/* Writes exactly 19 digits; v < 10^19. */
static char *put19(char *p, uint64_t v)
{
	const uint64_t high = v / E8;
	const uint64_t three = high / E8;

	*p++ = (char)('0' + three / 100);
	*p++ = (char)('0' + three / 10 % 10);
	*p++ = (char)('0' + three % 10);
	return put8(put8(p, digits8(high % E8)), digits8(v % E8));
}

char *decimal_u128(char *p, uint128 v)
{
	if (v <= UINT64_MAX)
		return put_u64(p, (uint64_t)v);

	const uint128 high = v / E19;
	if (high < E19)
		p = put_u64(p, (uint64_t)high);
	else
		p = put19(put_u64(p, (uint64_t)(high / E19)), (uint64_t)(high % E19));
	return put19(p, (uint64_t)(v % E19));
}

/* The eight hexadecimal digits of v, the first in the lowest byte. */
static inline uint64_t hex8(uint32_t v)
{
	uint64_t w = v;

	w = (w | w << 16) & UINT64_C(0x0000ffff0000ffff);
	w = (w | w << 8) & UINT64_C(0x00ff00ff00ff00ff);
	w = (w | w << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);

	const uint64_t letters = (w + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
	return __builtin_bswap64(w + ZEROS + letters * ('a' - '0' - 10));
}

char *decimal_hex(char *p, uint64_t v)
{
	const unsigned skip = (unsigned)__builtin_clzll(v | 1) / 4;

	v <<= skip * 4;
	memcpy(p, "0x", 2);
	store_uint(p + 2, hex8((uint32_t)(v >> 32)), 8, false);
	if (skip < 8)
		store_uint(p + 10, hex8((uint32_t)v), 8, false);
	return p + 2 + 16 - skip;
}

/* ---- doubles ---- */

/* A positive double of at least 10^-4 and below 10^15 as mantissa 2^exponent; times 10^scale it is product
 * 2^-shift, with 17 digits before the point. */
struct scaled {
	uint64_t mantissa;
	uint128 product;
	uint64_t half_step; /* 5^scale: half the distance to the next double, in the units of 2 product */
	unsigned scale, shift;
};

/* scale is 2 to 21 here, so the product of 53 and at most 49 bits is exact. */
static struct scaled scale_f64(double v)
{
	static const uint64_t fives[] = { 25,
		                          125,
		                          625,
		                          3125,
		                          15625,
		                          78125,
		                          390625,
		                          1953125,
		                          9765625,
		                          48828125,
		                          244140625,
		                          1220703125,
		                          6103515625,
		                          30517578125,
		                          152587890625,
		                          762939453125,
		                          3814697265625,
		                          19073486328125,
		                          95367431640625,
		                          476837158203125 };
	const uint64_t bits = double_bits(v);
	struct scaled s;

	const int exponent = (int)(bits >> 52) - 1075;
	s.mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
	/* 1233 / 4096 is a little less than the logarithm of 2, so the first digit may come out one place too
	 * high */
	s.scale = (unsigned)(16 - ((exponent + 52) * 1233 >> 12));
	for (;; s.scale--) {
		s.half_step = fives[s.scale - 2];
		s.product = (uint128)s.mantissa * s.half_step;
		s.shift = (unsigned)(-exponent - (int)s.scale);
		if ((uint64_t)(s.product >> s.shift) < E8 * E8 * 10)
			return s;
	}
}

/* The 17 digits without those that `unit` (1, 10, 100) cuts off, rounded as printf does. */
static uint64_t round_scaled(const struct scaled *s, unsigned unit)
{
	const uint64_t whole = (uint64_t)(s->product >> s->shift), digits = whole / unit;
	const uint128 rest = s->product - ((uint128)(digits * unit) << s->shift);
	const uint128 half = (uint128)unit << (s->shift - 1);

	return digits + (rest > half || (rest == half && (digits & 1) != 0));
}

/* Whether the decimal of these 17 digits is nearer to the double than to its neighbours; a tie reads back as
 * the even one. */
static bool reads_back(const struct scaled *s, uint64_t digits)
{
	const uint128 here = (uint128)digits << (s->shift + 1), there = s->product << 1;
	uint128 away = here > there ? here - there : there - here;

	if (here < there && s->mantissa == UINT64_C(1) << 52)
		away *= 2; /* below a power of two doubles are twice as close */
	return away < s->half_step || (away == s->half_step && (s->mantissa & 1) == 0);
}

/* Writes digits / 10^places, without trailing zeros. */
static char *put_places(char *p, uint64_t digits, unsigned places)
{
	char text[DECIMAL_U64_MAX];

	for (; places >= 8 && digits % E8 == 0; places -= 8)
		digits /= E8;
	for (; places > 0 && digits % 10 == 0; places--)
		digits /= 10;
	if (places == 0)
		return put_u64(p, digits);

	const unsigned n = (unsigned)(put_u64(text, digits) - text);
	const unsigned before = n > places ? n - places : 0, zeros = n > places ? 0 : places - n;
	memcpy(p, n > places ? text : "0", before > 0 ? before : 1);
	p += before > 0 ? before : 1;
	*p++ = '.';
	memset(p, '0', zeros);
	memcpy(p + zeros, text + before, n - before);
	return p + zeros + n - before;
}

/* Writes a double from 10^-4 to 10^15, where %g has no exponent, without printf.  Returns NULL for other
 * values. */
static char *put_fixed_f64(char *p, double v)
{
	if (!(v >= 1e-4 && v < 1e15))
		return NULL;
	if (v == (double)(uint64_t)v)
		return put_u64(p, (uint64_t)v);

	const struct scaled s = scale_f64(v);
	unsigned cut = 2, unit = 100;
	uint64_t digits = round_scaled(&s, unit);
	while (cut > 0 && !reads_back(&s, digits * unit)) {
		unit /= 10;
		cut--;
		digits = round_scaled(&s, unit);
	}
	return put_places(p, digits, s.scale - cut);
}

/* Copies text of printf; in some locales its decimal point is other bytes. */
static char *copy_number(char *p, const char *s)
{
	for (bool in_point = false; *s != '\0'; s++) {
		const bool ours = (*s >= '0' && *s <= '9') || *s == '-' || *s == '+' || *s == 'e';
		if (ours || !in_point)
			*p++ = ours ? *s : '.';
		in_point = !ours;
	}
	return p;
}

char *decimal_f64(char *p, double v)
{
	char s[64];

	if (signbit(v)) {
		*p++ = '-';
		v = -v;
	}
	if (v == 0) {
		*p++ = '0';
		return p;
	}

	char *const end = put_fixed_f64(p, v);
	if (end != NULL)
		return end;
	/* those next to 0 have fewer digits than DBL_DIG */
	for (int digits = v < DBL_MIN ? 1 : DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
		(void)snprintf(s, sizeof s, "%.*g", digits, v);
		if (strtod(s, NULL) == v)
			break;
	}
	return copy_number(p, s);
}

char *decimal_f32(char *p, float v)
{
	char s[64];

	if (v > -1e6f && v < 1e6f && v == (float)(int32_t)v && !(v == 0 && signbit(v)))
		return decimal_i64(p, (int32_t)v);
	for (int digits = v > -FLT_MIN && v < FLT_MIN ? 1 : FLT_DIG; digits <= FLT_DECIMAL_DIG; digits++) {
		(void)snprintf(s, sizeof s, "%.*g", digits, (double)v);
		if (strtof(s, NULL) == v)
			break;
	}
	return copy_number(p, s);
}

double decimal_widen(double v)
{
	char text[DECIMAL_F64_MAX + 1];

	if (!isfinite(v))
		return v;
	*decimal_f32(text, (float)v) = '\0';
	return strtod(text, NULL);
}

bool decimal_read_f64(struct slice s, double *v)
{
	char text[DECIMAL_TEXT_MAX + 1], *end;

	if (s.n == 0 || s.n > DECIMAL_TEXT_MAX)
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	*v = strtod(text, &end);
	return end == text + s.n;
}

bool decimal_read_finite(struct slice s, double *v)
{
	const bool negative = s.n > 1 && s.p[0] == '-';

	return s.n > 0 && s.p[negative] >= '0' && s.p[negative] <= '9' && decimal_read_f64(s, v) &&
	       isfinite(*v);
}

/* ---- hexadecimal ---- */

bool hex_number(struct slice s, uint64_t *v)
{
	*v = 0;
	if (s.n < 3 || s.n > DECIMAL_HEX_MAX || s.p[0] != '0' || s.p[1] != 'x')
		return false;
	for (uint32_t i = 2; i < s.n; i++) {
		const int d = hex_digit(s.p[i]);
		if (d < 0)
			return false;
		*v = *v << 4 | (unsigned)d;
	}
	return true;
}

bool hex_bytes(char *to, struct slice s)
{
	for (uint32_t i = 0; i + 1 < s.n; i += 2) {
		const int high = hex_digit(s.p[i]), low = hex_digit(s.p[i + 1]);
		if (high < 0 || low < 0)
			return false;
		*to++ = (char)(high << 4 | low);
	}
	return s.n % 2 == 0;
}

/* ---- units ---- */

/* A decimal number without sign and exponent: an integer and parts of 1e-12. */
#define PARTS 12

struct number {
	uint128 whole, parts;
	bool exact; /* no digit was smaller than a part */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void skip_blanks(struct slice *s)
{
	while (s->n > 0 && s->p[0] == ' ') {
		s->p++;
		s->n--;
	}
}

static void skip_bytes(struct slice *s, uint32_t n)
{
	s->p += n;
	s->n -= n;
}

/* Reads a number, and blanks after it, from the front of *s. */
static bool read_number(struct slice *s, struct number *v)
{
	uint32_t i = 0, places = 0;

	*v = (struct number){ .exact = true };
	for (; i < s->n && is_digit(s->p[i]); i++) {
		v->whole = v->whole * 10 + (unsigned)(s->p[i] - '0');
		if (v->whole > UINT64_MAX)
			return false;
	}
	if (i == 0)
		return false;
	if (i + 1 < s->n && s->p[i] == '.' && is_digit(s->p[i + 1]))
		for (i++; i < s->n && is_digit(s->p[i]); i++) {
			if (places++ < PARTS)
				v->parts = v->parts * 10 + (unsigned)(s->p[i] - '0');
			else
				v->exact = v->exact && s->p[i] == '0';
		}
	for (; places < PARTS; places++)
		v->parts *= 10;
	skip_bytes(s, i);
	skip_blanks(s);
	return true;
}

/* Returns the parts divided by `by`, rounded once if they are fewer than 2^53. */
static double parts_by(const struct number *v, double by)
{
	return (double)(v->whole * 1000000000000 + v->parts) / by;
}

struct unit {
	const char *name;
	uint64_t times;
};

/* Sets *n to the number in the smallest unit.  Returns false if that is not an integer. */
static bool integer_of(const struct number *v, uint64_t unit, uint64_t *n)
{
	if (v->whole > UINT64_MAX / unit)
		return false;
	const uint128 rest = v->parts * unit, sum = v->whole * unit + rest / 1000000000000;
	if (sum > UINT64_MAX || rest % 1000000000000 != 0 || !v->exact)
		return false;
	*n = (uint64_t)sum;
	return true;
}

/* Returns 0 if there is no such unit. */
static uint64_t unit_of(struct slice s, const struct unit *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slice_is(s, list[i].name))
			return list[i].times;
	return 0;
}

static uint64_t unit_ns(struct slice s)
{
	static const struct unit units[] = {
		{ "ns", 1 },         { "us", 1000 },         { "ms", 1000000 },
		{ "s", 1000000000 }, { "min", 60000000000 }, { "h", 3600000000000 },
	};

	return unit_of(s, units, COUNT_OF(units));
}

bool units_time(struct slice s, uint64_t *ns)
{
	struct number v;

	if (!read_number(&s, &v))
		return false;
	const uint64_t unit = unit_ns(s);
	if (unit == 0) {
		*ns = 0;
		return s.n == 0 && v.whole == 0 && v.parts == 0 && v.exact;
	}
	return integer_of(&v, unit, ns);
}

bool units_bytes(struct slice s, uint64_t *n)
{
	static const struct unit units[] = {
		{ "", 1 },         { "k", 1U << 10 },   { "K", 1U << 10 },   { "M", 1U << 20 },
		{ "G", 1U << 30 }, { "KiB", 1U << 10 }, { "MiB", 1U << 20 }, { "GiB", 1U << 30 },
		{ "kB", 1000 },    { "KB", 1000 },      { "MB", 1000000 },   { "GB", 1000000000 },
	};
	struct number v;

	if (!read_number(&s, &v))
		return false;
	const uint64_t unit = unit_of(s, units, COUNT_OF(units));
	return unit != 0 && integer_of(&v, unit, n);
}

bool units_share(struct slice s, double *share)
{
	struct number v;

	if (!read_number(&s, &v) || !slice_is(s, "%"))
		return false;
	*share = parts_by(&v, 1e14);
	return true;
}

bool units_part(struct slice s, uint64_t whole, uint64_t *part)
{
	struct number v;

	if (!read_number(&s, &v) || !slice_is(s, "%") || v.whole > 100 || !v.exact)
		return false;
	const uint128 all = (v.whole * 1000000000000 + v.parts) * (whole / 100);
	*part = (uint64_t)(all / 1000000000000);
	return all % 1000000000000 == 0 && all / 1000000000000 <= whole;
}

bool units_count(struct slice s, uint64_t *n)
{
	struct number v;

	for (uint32_t i = 0; i < s.n; i++)
		if (!is_digit(s.p[i]))
			return false;
	if (!read_number(&s, &v))
		return false;
	*n = (uint64_t)v.whole;
	return true;
}

bool units_rate(struct slice s, double *per_second)
{
	struct number v;

	if (!read_number(&s, &v) || s.n == 0 || s.p[0] != '/')
		return false;
	skip_bytes(&s, 1);
	skip_blanks(&s);
	const uint64_t unit = unit_ns(s);
	if (unit == 0)
		return false;
	*per_second = parts_by(&v, 1e3 * (double)unit);
	return true;
}

/* ---- wall time ---- */

/* Reads n digits from the front of *s, and the byte after them (0: none). */
static bool read_digits(struct slice *s, uint32_t n, char after, uint32_t *v)
{
	if (s->n < n + (after != 0) || (after != 0 && s->p[n] != after))
		return false;
	*v = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!is_digit(s->p[i]))
			return false;
		*v = *v * 10 + (uint32_t)(s->p[i] - '0');
	}
	skip_bytes(s, n + (after != 0));
	return true;
}

/* Days from 1970-01-01 to a day of the Gregorian calendar.  Returns false if there is no such day. */
static bool days_to(uint32_t year, uint32_t month, uint32_t day, uint64_t *days)
{
	static const uint8_t lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	if (year < 1970 || month < 1 || month > 12 || day < 1 ||
	    day > lengths[month - 1] + (month == 2 && leap ? 1U : 0U))
		return false;
	const uint64_t before = year - 1;
	*days = before * 365 + before / 4 - before / 100 + before / 400 - 719162 + day - 1;
	for (uint32_t m = 1; m < month; m++)
		*days += lengths[m - 1] + (m == 2 && leap ? 1U : 0U);
	return true;
}

/* Reads "T22:08:04.5Z"; "" is midnight. */
static bool read_clock(struct slice s, uint64_t *ns)
{
	uint32_t hour, minute;
	struct number v;

	*ns = 0;
	if (s.n == 0)
		return true;
	if (s.p[0] != 'T' || s.p[s.n - 1] != 'Z')
		return false;
	skip_bytes(&s, 1);
	if (!read_digits(&s, 2, ':', &hour) || !read_digits(&s, 2, ':', &minute) || s.n < 3 ||
	    !is_digit(s.p[1]) || !read_number(&s, &v) || !slice_is(s, "Z") || hour > 23 || minute > 59 ||
	    v.whole > 60 || v.parts % 1000 != 0 || !v.exact)
		return false;
	*ns = (hour * UINT64_C(3600) + minute * UINT64_C(60) + (uint64_t)v.whole) * 1000000000 +
	      (uint64_t)(v.parts / 1000);
	return true;
}

bool units_wall(struct slice s, uint64_t *ns)
{
	uint32_t year, month, day;
	uint64_t days, clock;

	if (!read_digits(&s, 4, '-', &year) || !read_digits(&s, 2, '-', &month) ||
	    !read_digits(&s, 2, 0, &day) || !days_to(year, month, day, &days) || !read_clock(s, &clock))
		return false;
	const uint128 sum = (uint128)days * DAY_NS + clock;
	*ns = (uint64_t)sum;
	return sum <= UINT64_MAX;
}

/* ---- errors ---- */

void errno_text(char *text, size_t size, int error)
{
	if (strerror_r(error, text, size) != 0)
		(void)snprintf(text, size, "error %d", error);
}
