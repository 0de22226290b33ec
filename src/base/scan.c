/* UTF-8: validation, cutting, and the characters that terminals obey.  Scans of text: the NUL of a string,
 * and whether it is ASCII and needs escapes in JSON, in one pass.  Sixteen bytes give three bit masks; at the
 * end of the memory, where fewer bytes are left, shorter overlapping loads are combined. */
#define _GNU_SOURCE /* memmem, memrchr */

#include "base/compiler.h"
#include "base/scan.h"

#include "base/cursor.h"

/* ---- bytes ---- */

const char *slice_find(struct slice s, struct slice what)
{
	return s.n > 0 ? memmem(s.p, s.n, what.p, what.n) : NULL;
}

const char *slice_find_last(struct slice s, char c)
{
	return s.n > 0 ? memrchr(s.p, c, s.n) : NULL;
}

/* ---- validation of UTF-8 ---- */

/* The bytes that may follow a lead byte.  Only the second byte has its own bounds (against overlong forms,
 * surrogates, and code points above U+10FFFF); the others are 80..BF. */
struct lead {
	unsigned char size; /* bytes of the whole character; 0: not a lead byte */
	unsigned char low, high;
};

static inline struct lead lead_of(unsigned char c)
{
	if (c < 0xc2 || c > 0xf4)
		return (struct lead){ 0, 0, 0 };
	if (c < 0xe0)
		return (struct lead){ 2, 0x80, 0xbf };
	if (c < 0xf0)
		return (struct lead){ 3, c == 0xe0 ? 0xa0 : 0x80, c == 0xed ? 0x9f : 0xbf };
	return (struct lead){ 4, c == 0xf0 ? 0x90 : 0x80, c == 0xf4 ? 0x8f : 0xbf };
}

/* The number of bytes at p, of n, that are the start of one valid character: lead.size if it is complete. */
static inline size_t good_bytes(const unsigned char *p, size_t n, struct lead lead)
{
	if (n < 2 || p[1] < lead.low || p[1] > lead.high)
		return 1;

	size_t i = 2;
	while (i < lead.size && i < n && (p[i] & 0xc0) == 0x80)
		i++;
	return i;
}

static inline size_t ascii_prefix(const unsigned char *p, size_t n)
{
	size_t i = 0;

	for (; n - i >= 8; i += 8) {
		const uint64_t high = load_u64((const char *)p + i, false) & UINT64_C(0x8080808080808080);
		if (high != 0)
			return i + low_bit(high) / 8;
	}
	while (i < n && p[i] < 0x80)
		i++;
	return i;
}

size_t utf8_cut(const char *p, size_t n, size_t max)
{
	size_t to = max;

	if (n <= max)
		return n;
	while (to > 0 && max - to < 3 && ((unsigned char)p[to] & 0xc0) == 0x80)
		to--;
	return to;
}

size_t utf8_size(const char *text, size_t n)
{
	const unsigned char *const p = (const unsigned char *)text;
	const struct lead lead = lead_of(p[0]);

	if (p[0] < 0x80)
		return 1;
	return lead.size > 0 && good_bytes(p, n, lead) == lead.size ? lead.size : 0;
}

size_t utf8_invalid_run(const char *text, size_t n)
{
	const unsigned char *const p = (const unsigned char *)text;
	const struct lead lead = lead_of(p[0]);

	return lead.size == 0 ? 1 : good_bytes(p, n, lead);
}

/* ---- hidden characters ---- */

uint32_t utf8_point(const char *p, size_t size)
{
	uint32_t c = (unsigned char)*p & (size == 1 ? 0x7fu : 0x7fu >> size);

	for (size_t i = 1; i < size; i++)
		c = c << 6 | ((unsigned char)p[i] & 0x3f);
	return c;
}

bool utf8_is_hidden(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x7f, 0x9f },       /* DEL, C1 */
		{ 0xad, 0xad },       /* soft hyphen */
		{ 0x61c, 0x61c },     /* Arabic letter mark */
		{ 0x200b, 0x200b },   /* zero width space */
		{ 0x200e, 0x200f },   /* left-to-right and right-to-left mark */
		{ 0x2028, 0x202e },   /* line and paragraph separator, embeddings, overrides */
		{ 0x2060, 0x206f },   /* isolates, invisible operators */
		{ 0xfeff, 0xfeff },   /* byte order mark */
		{ 0xfff9, 0xfffb },   /* interlinear marks */
		{ 0xe0000, 0xe0fff }, /* tags */
	};

	for (size_t i = 0; i < COUNT_OF(ranges); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* No other byte begins a hidden character. */
static inline bool may_hide(unsigned char c)
{
	return c == 0x7f || c == 0xc2 || c == 0xd8 || c == 0xe2 || c == 0xef || c == 0xf3;
}

/* utf8_valid_prefix(); hidden, if not NULL: set to true if it has a hidden character. */
INLINE size_t valid_prefix(const char *text, size_t n, bool *hidden)
{
	const unsigned char *const p = (const unsigned char *)text;
	size_t i = 0;

	while (i < n) {
		if (p[i] < 0x80) {
			i += ascii_prefix(p + i, n - i);
			continue;
		}
		const struct lead lead = lead_of(p[i]);
		if (lead.size == 0 || good_bytes(p + i, n - i, lead) != lead.size)
			break;
		if (hidden != NULL && may_hide(p[i]) && utf8_is_hidden(utf8_point(text + i, lead.size)))
			*hidden = true;
		i += lead.size;
	}
	return i;
}

size_t utf8_valid_prefix(const char *text, size_t n)
{
	return valid_prefix(text, n, NULL);
}

bool utf8_valid_hidden(const char *text, size_t n, bool *hidden)
{
	*hidden = false;
	return valid_prefix(text, n, hidden) == n;
}

const char *utf8_find_hidden(const char *p, const char *end, size_t *size)
{
	for (; p < end; p++) {
		if (!may_hide((unsigned char)*p))
			continue;
		*size = utf8_size(p, (size_t)(end - p));
		if (*size > 0 && utf8_is_hidden(utf8_point(p, *size)))
			return p;
	}
	return end;
}

bool utf8_is_right_to_left(uint32_t point)
{
	return (point >= 0x590 && point <= 0x8ff) || (point >= 0xfb1d && point <= 0xfdff) ||
	       (point >= 0xfe70 && point <= 0xfeff) || (point >= 0x10800 && point <= 0x10fff) ||
	       (point >= 0x1e800 && point <= 0x1efff);
}

bool utf8_is_mark(uint32_t point)
{
	return (point >= 0x300 && point <= 0x36f) || (point >= 0x483 && point <= 0x489) ||
	       (point >= 0x1ab0 && point <= 0x1aff) || (point >= 0x1dc0 && point <= 0x1dff) ||
	       (point >= 0x20d0 && point <= 0x20ff) || (point >= 0xfe20 && point <= 0xfe2f);
}

#if defined(__SSE2__)
#include <emmintrin.h>
#define VECTOR 1
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include <arm_neon.h>
#define VECTOR 1
#else
#define VECTOR 0
#endif

/* Whether some bytes need escapes, or are not ASCII: zero if not. */
struct seen {
	unsigned escape, high;
};

static uint32_t flags_of(const char *p, size_t n, struct seen seen)
{
	bool hidden = false;

	if (seen.high != 0 && !utf8_valid_hidden(p, n, &hidden))
		return 0;
	return seen.escape != 0 || hidden ? SLICE_UTF8 : SLICE_UTF8 | SLICE_JSON;
}

static bool put_slice(const char *p, size_t n, struct seen seen, struct slice *out)
{
	if (n > UINT32_MAX)
		return false;
	*out = (struct slice){ p, (uint32_t)n, flags_of(p, n, seen) };
	return true;
}

static inline bool must_escape(char c)
{
	return (unsigned char)c < 0x20 || c == '"' || c == '\\' || c == 0x7f;
}

#define LANES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* 0x80 in each byte of w that is 0; exact in the lowest such byte, and zero when there is none. */
static inline uint64_t zero_bytes(uint64_t w)
{
	return (w - LANES) & ~w & HIGHS;
}

/* Not 0 if one of the eight bytes must be escaped or is not ASCII. */
static inline uint64_t odd_bytes(uint64_t w)
{
	const uint64_t control = (w - LANES * 0x20) & ~w & HIGHS;

	/* DEL and one more is not ASCII */
	return control | ((w | (w + LANES)) & HIGHS) | zero_bytes(w ^ LANES * '"') |
	       zero_bytes(w ^ LANES * '\\');
}

const char *textscan_plain_end_plain(const char *p, const char *end)
{
	while (end - p >= 8 && odd_bytes(load_u64(p, false)) == 0)
		p += 8;
	while (p < end && !must_escape(*p) && (unsigned char)*p < 0x80)
		p++;
	return p;
}

bool textscan_cstring_plain(const char *p, const char *end, struct slice *out)
{
	struct seen seen = { 0, 0 };

	for (const char *q = p; (q = textscan_plain_end_plain(q, end)) < end; q++)
		if (*q == '\0')
			return put_slice(p, (size_t)(q - p), seen, out);
		else if (must_escape(*q))
			seen.escape = 1;
		else
			seen.high = 1;
	return false;
}

#if VECTOR

/* Bit i of a mask is for byte i.  "Odd": a byte at which textscan_plain_end() stops. */

#if defined(__SSE2__)

typedef __m128i vec;

static inline vec load(const char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline vec vec_of(uint64_t low, uint64_t high)
{
	return _mm_set_epi64x((long long)high, (long long)low);
}

static inline unsigned bits(vec v)
{
	return (unsigned)_mm_movemask_epi8(v);
}

/* Signed and plus one: bytes above 0x7f, DEL and controls are all less than 0x21. */
static inline unsigned odd_mask(vec v)
{
	const vec small = _mm_cmplt_epi8(_mm_add_epi8(v, _mm_set1_epi8(1)), _mm_set1_epi8(0x21));
	const vec quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
	const vec backslash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));

	return bits(_mm_or_si128(small, _mm_or_si128(quote, backslash)));
}

static inline unsigned high_mask(vec v)
{
	return bits(v);
}

static inline unsigned nul_mask(vec v)
{
	return bits(_mm_cmpeq_epi8(v, _mm_setzero_si128()));
}

#else

typedef uint8x16_t vec;

static inline vec load(const char *p)
{
	return vld1q_u8((const uint8_t *)p);
}

static inline vec vec_of(uint64_t low, uint64_t high)
{
	return vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high)));
}

/* Converts lanes of all ones to one bit each: a weight for each lane, summed in each half. */
static inline unsigned bits(vec v)
{
	const uint8x16_t weights = vec_of(UINT64_C(0x8040201008040201), UINT64_C(0x8040201008040201));
	const uint8x16_t w = vandq_u8(v, weights);

	return vaddv_u8(vget_low_u8(w)) | (unsigned)vaddv_u8(vget_high_u8(w)) << 8;
}

static inline unsigned odd_mask(vec v)
{
	const vec small = vcltq_s8(vreinterpretq_s8_u8(vaddq_u8(v, vdupq_n_u8(1))), vdupq_n_s8(0x21));
	const vec quote = vceqq_u8(v, vdupq_n_u8('"'));
	const vec backslash = vceqq_u8(v, vdupq_n_u8('\\'));
	const vec any = vorrq_u8(small, vorrq_u8(quote, backslash));

	return vmaxvq_u8(any) == 0 ? 0 : bits(any);
}

static inline unsigned high_mask(vec v)
{
	return bits(vcltq_s8(vreinterpretq_s8_u8(v), vdupq_n_s8(0)));
}

static inline unsigned nul_mask(vec v)
{
	return bits(vceqq_u8(v, vdupq_n_u8(0)));
}

#endif

/* Loads n < 16 bytes, followed by zeros; reads no other bytes. */
static inline vec load_short(const char *p, size_t n)
{
	if (n > 8)
		return vec_of(load_u64(p, false), load_u64(p + n - 8, false) >> (16 - n) * 8);
	if (n == 8)
		return vec_of(load_u64(p, false), 0);
	if (n >= 4)
		return vec_of(load_u32(p, false) | (uint64_t)load_u32(p + n - 4, false) << (n - 4) * 8, 0);

	uint64_t w = 0;
	for (size_t i = 0; i < n; i++)
		w |= (uint64_t)(unsigned char)p[i] << i * 8;
	return vec_of(w, 0);
}

/* Notes the bytes of the lanes `wanted`. */
static inline void note_lanes(struct seen *seen, vec v, unsigned odd_lanes, unsigned wanted)
{
	const unsigned high = high_mask(v);

	seen->high |= high & wanted;
	seen->escape |= odd_lanes & ~high & wanted;
}

static inline unsigned below_lowest(unsigned mask)
{
	return ~mask & (mask - 1);
}

/* Scans the rest of a string, shorter than a vector, at the end of the memory. */
static bool cstring_tail(const char *p, const char *q, const char *end, struct seen seen, struct slice *out)
{
	const vec v = load_short(q, (size_t)(end - q));
	const unsigned nul = nul_mask(v) & ((1u << (end - q)) - 1);

	if (nul == 0)
		return false;
	note_lanes(&seen, v, odd_mask(v), below_lowest(nul));
	return put_slice(p, (size_t)(q - p) + low_bit(nul), seen, out);
}

static NOINLINE bool scan_cstring(const char *p, const char *end, struct slice *out)
{
	struct seen seen = { 0, 0 };
	const char *q = p;

	for (; end - q >= 16; q += 16) {
		const vec v = load(q);
		const unsigned odd_lanes = odd_mask(v);
		if (odd_lanes == 0)
			continue;
		const unsigned nul = nul_mask(v);
		note_lanes(&seen, v, odd_lanes, nul == 0 ? ~0u : below_lowest(nul));
		if (nul != 0)
			return put_slice(p, (size_t)(q - p) + low_bit(nul), seen, out);
	}
	return cstring_tail(p, q, end, seen, out);
}

/* Most texts are short and plain. */
bool textscan_cstring(const char *p, const char *end, struct slice *out)
{
	if (end - p >= 16) {
		const vec v = load(p);
		const unsigned nul = nul_mask(v);
		if (nul != 0 && (odd_mask(v) & below_lowest(nul)) == 0) {
			*out = (struct slice){ p, low_bit(nul), SLICE_UTF8 | SLICE_JSON };
			return true;
		}
	}
	return scan_cstring(p, end, out);
}

static NOINLINE struct slice scan_slice(const char *p, uint32_t n)
{
	struct seen seen = { 0, 0 };
	size_t i = 0;

	for (; n - i >= 16; i += 16) {
		const vec v = load(p + i);
		const unsigned odd_lanes = odd_mask(v);
		if (odd_lanes != 0)
			note_lanes(&seen, v, odd_lanes, ~0u);
	}

	const vec v = load_short(p + i, n - i);
	note_lanes(&seen, v, odd_mask(v), (1u << (n - i)) - 1);
	return (struct slice){ p, n, flags_of(p, n, seen) };
}

/* Likewise. */
struct slice textscan_slice(const char *p, uint32_t n)
{
	if (n < 16 && (odd_mask(load_short(p, n)) & ((1u << n) - 1)) == 0)
		return (struct slice){ p, n, SLICE_UTF8 | SLICE_JSON };
	return scan_slice(p, n);
}

const char *textscan_plain_end(const char *p, const char *end)
{
	for (; end - p >= 16; p += 16) {
		const unsigned odd_lanes = odd_mask(load(p));
		if (odd_lanes != 0)
			return p + low_bit(odd_lanes);
	}
	if (p == end)
		return end;
	/* The zeros after the text stop the search at `end`. */
	return p + low_bit(odd_mask(load_short(p, (size_t)(end - p))));
}

#else

bool textscan_cstring(const char *p, const char *end, struct slice *out)
{
	return textscan_cstring_plain(p, end, out);
}

struct slice textscan_slice(const char *p, uint32_t n)
{
	const char *const end = p + n;
	struct seen seen = { 0, 0 };

	for (const char *q = p; (q = textscan_plain_end_plain(q, end)) < end; q++)
		if (must_escape(*q))
			seen.escape = 1;
		else
			seen.high = 1;
	return (struct slice){ p, n, flags_of(p, n, seen) };
}

const char *textscan_plain_end(const char *p, const char *end)
{
	return textscan_plain_end_plain(p, end);
}

#endif
