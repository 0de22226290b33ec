#ifndef BASE_NUMBERS_H
#define BASE_NUMBERS_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/slice.h"

/* ---- decimal ---- */

/*
 * Numbers as text, exact, without printf and without a locale.  Each function writes at p, which must have
 * space for DECIMAL_..._MAX bytes (all of which may be overwritten, even for a short text), and returns one
 * past the last byte of the text.  No NUL is written.
 */
#define DECIMAL_U64_MAX 20
#define DECIMAL_I64_MAX 20
#define DECIMAL_USEC_MAX 22 /* sign included */
#define DECIMAL_U128_MAX 39
#define DECIMAL_F64_MAX 32
#define DECIMAL_HEX_MAX 18 /* "0x" and up to 16 digits */

char *decimal_u64(char *p, uint64_t v);

/* The digits as a text, which are stored at p. */
static inline struct slice decimal_slice(char *p, uint64_t v)
{
	return (struct slice){ p, (uint32_t)(decimal_u64(p, v) - p), SLICE_UTF8 | SLICE_JSON };
}

char *decimal_i64(char *p, int64_t v);

/* Nanoseconds as microseconds with exactly three decimals: 1234567 -> 1234.567 */
char *decimal_usec(char *p, uint64_t ns);
char *decimal_usec_signed(char *p, int64_t ns);
char *decimal_u128(char *p, uint128 v);

/* "0x" and lower-case digits, no leading zeros: 0x0, 0xdeadbeef */
char *decimal_hex(char *p, uint64_t v);

/* The shortest decimal text that reads back as the same double (the first of %.15g, %.16g and %.17g that
 * does), as a JSON number, always with '.' as decimal point: 0.1, 1e+300, -0.0 as -0.  v must be finite. */
char *decimal_f64(char *p, double v);

/* Likewise for a float: %.6g to %.9g. */
char *decimal_f32(char *p, float v);

/* The double of this text of a float, for v that is one: 12.6, not 12.600000381469727.  NaN and infinities
 * stay. */
double decimal_widen(double v);

#define DECIMAL_TEXT_MAX 400 /* bytes; enough for any double without an exponent */

/* Reads a whole text as strtod() does: also blanks before it, "inf", "nan" and hexadecimal numbers.  Returns
 * false if it is no number, or longer than DECIMAL_TEXT_MAX. */
bool decimal_read_f64(struct slice s, double *v);

/* Reads a finite number that begins with a digit or a minus and a digit. */
bool decimal_read_finite(struct slice s, double *v);

/* ---- hexadecimal, with lower-case digits ---- */

/* The value of a digit; -1: c is none. */
static inline int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads "0x" and 1 to 16 digits. */
bool hex_number(struct slice s, uint64_t *v);

/* Reads two digits for each byte; `to` has space for s.n / 2 bytes. */
bool hex_bytes(char *to, struct slice s);

/* ---- units ---- */

/* Numbers with units, as people write them in a policy or on the command line.  The functions return false if
 * the whole text is not such a number, or the number is too large. */

/* "0", "500us", "1.5 ms", "2 h": ns, us, ms, s, min or h. */
bool units_time(struct slice s, uint64_t *ns);

#define DAY_NS UINT64_C(86400000000000)

/* "2026-05-09", "2026-05-09T22:08:04.5Z": UTC, from 1970 on, as ns since then. */
bool units_wall(struct slice s, uint64_t *ns);

/* "2.5%": 0.025. */
bool units_share(struct slice s, double *share);

/* "12.5%" of `whole`, a multiple of 100.  Also returns false if the part is not an integer, or is more than
 * `whole`. */
bool units_part(struct slice s, uint64_t whole, uint64_t *part);

/* "104857600", "64k", "100M", "1.5G" and "64KiB" to "1.5GiB": by 1024; "100kB", "100MB", "2GB": by 1000. */
bool units_bytes(struct slice s, uint64_t *n);

/* Digits alone. */
bool units_count(struct slice s, uint64_t *n);

/* "100/s", "2.5 / ms": events per second. */
bool units_rate(struct slice s, double *per_second);

/* ---- errors ---- */

/* The text of errno: strerror() for threads. */
void errno_text(char *text, size_t size, int error);

/* ---- bytes ---- */

static inline uint64_t double_bits(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	return bits;
}

/* Stores the low `size` bytes of a number at p, in a given byte order.  Returns the position after them. */
static inline char *store_uint(char *p, uint64_t v, unsigned size, bool big)
{
	if (big)
		v <<= 64 - 8 * size;
	if (big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		v = __builtin_bswap64(v);
	memcpy(p, &v, size);
	return p + size;
}

/* Copies n bytes to `to` and returns one past them.  Traces have many short texts, for which a call of memcpy
 * costs more than the copy. */
static inline char *text_put(char *to, const char *from, size_t n)
{
	if (n > 64)
		return (char *)memcpy(to, from, n) + n;
	if (n > 32) {
		memcpy(to, from, 32);
		memcpy(to + n - 32, from + n - 32, 32);
	} else if (n >= 16) {
		memcpy(to, from, 16);
		memcpy(to + n - 16, from + n - 16, 16);
	} else if (n >= 8) {
		memcpy(to, from, 8);
		memcpy(to + n - 8, from + n - 8, 8);
	} else if (n >= 4) {
		memcpy(to, from, 4);
		memcpy(to + n - 4, from + n - 4, 4);
	} else if (n > 0) {
		to[0] = from[0];
		to[n / 2] = from[n / 2];
		to[n - 1] = from[n - 1];
	}
	return to + n;
}

#define text_put_literal(to, s) text_put(to, s, sizeof(s) - 1)

#endif
