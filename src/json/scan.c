/* The index of JSON text, in two steps: bytes to bit masks, one bit per byte, then masks to positions.  There
 * is one implementation per instruction set; the plain one processes eight bytes in a word. */
#include "json/scan.h"

#include <string.h>

#include "base/compiler.h"
#include "base/cursor.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include <arm_neon.h>

#define NEON 1
#endif

static bool always(void)
{
	return true;
}

/* ---- bits to positions ---- */

INLINE unsigned count_bits(uint64_t w)
{
#if defined(__POPCNT__) || defined(NEON)
	return bit_count(w);
#else
	/* Without a popcount instruction the builtin would call a function. */
	w -= w >> 1 & UINT64_C(0x5555555555555555);
	w = (w & UINT64_C(0x3333333333333333)) + (w >> 2 & UINT64_C(0x3333333333333333));
	w = (w + (w >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (unsigned)(w * UINT64_C(0x0101010101010101) >> 56);
#endif
}

/* Always writes eight positions, as the branches of a loop over the set bits would be mispredicted.  The next
 * call overwrites surplus positions, and so those for *w == 0, which has no lowest bit. */
INLINE void put_eight(uint32_t *to, uint64_t *w, uint32_t at)
{
	for (unsigned i = 0; i < 8; i++) {
		to[i] = at + low_bit(*w | UINT64_C(1) << 63);
		*w &= *w - 1;
	}
}

INLINE void flatten(const uint64_t *masks, size_t blocks, struct json_positions *out)
{
	uint32_t *to = out->at;

	for (size_t i = 0; i < blocks; i++) {
		uint64_t w = masks[i];
		if (w == 0)
			continue;
		const unsigned count = count_bits(w);
		const uint32_t at = (uint32_t)(i * JSON_BLOCK);
		put_eight(to, &w, at);
		if (count > 8) {
			put_eight(to + 8, &w, at);
			for (unsigned k = 16; k < count; k += 8)
				put_eight(to + k, &w, at);
		}
		to += count;
	}
	out->n = (uint32_t)(to - out->at);
}

static void flatten_plain(const uint64_t *masks, size_t blocks, struct json_positions *out)
{
	flatten(masks, blocks, out);
}

/* ---- bytes to bits: eight at a time ---- */

#define LANES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* Returns the highest bit of each byte of w, as eight bits. */
INLINE uint64_t gather(uint64_t w)
{
	return ((w & HIGHS) >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

/* Returns 0x80 in each byte that is c, and 0 in all others, as comparing the lower seven bits causes no carry
 * into the next byte. */
INLINE uint64_t equal(uint64_t w, char c)
{
	const uint64_t x = w ^ LANES * (unsigned char)c;

	return ~(((x & ~HIGHS) + ~HIGHS) | x) & HIGHS;
}

/* Returns 0x80 in each byte that is less than 0x20, DEL or not ASCII. */
INLINE uint64_t beyond(uint64_t w)
{
	return (~((w & ~HIGHS) + LANES * (0x80 - 0x20)) | ((w & ~HIGHS) + LANES) | w) & HIGHS;
}

static void masks_plain(const char *p, size_t blocks, struct json_masks *out)
{
	for (size_t i = 0; i < blocks; i++) {
		uint64_t quotes = 0, lines = 0, odd = 0;
		for (unsigned k = 0; k < 8; k++, p += 8) {
			const uint64_t w = load_u64(p, false);
			quotes |= gather(equal(w, '"')) << 8 * k;
			lines |= gather(equal(w, '\n')) << 8 * k;
			odd |= gather(beyond(w) | equal(w, '\\')) << 8 * k;
		}
		out->quotes[i] = quotes;
		out->lines[i] = lines;
		out->odd[i] = odd & ~lines;
	}
}

/* ---- bytes to bits: SIMD ---- */

#if defined(__x86_64__)

/* As signed bytes plus one, control bytes, DEL and bytes that are not ASCII are at most ' '. */
static void masks_sse2(const char *p, size_t blocks, struct json_masks *out)
{
	const __m128i quote = _mm_set1_epi8('"'), line = _mm_set1_epi8('\n');
	const __m128i back = _mm_set1_epi8('\\'), one = _mm_set1_epi8(1);
	const __m128i above = _mm_set1_epi8(' ' + 1);

	for (size_t i = 0; i < blocks; i++) {
		uint64_t quotes = 0, lines = 0, odd = 0;
		for (unsigned k = 0; k < 4; k++, p += 16) {
			const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
			const __m128i o = _mm_or_si128(_mm_cmpgt_epi8(above, _mm_add_epi8(v, one)),
			                               _mm_cmpeq_epi8(v, back));
			quotes |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, quote)) << 16 * k;
			lines |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, line)) << 16 * k;
			odd |= (uint64_t)(uint32_t)_mm_movemask_epi8(o) << 16 * k;
		}
		out->quotes[i] = quotes;
		out->lines[i] = lines;
		out->odd[i] = odd & ~lines;
	}
}

#define AVX2 TARGET("avx2,bmi,bmi2,popcnt")

AVX2 static void masks_avx2(const char *p, size_t blocks, struct json_masks *out)
{
	const __m256i quote = _mm256_set1_epi8('"'), line = _mm256_set1_epi8('\n');
	const __m256i back = _mm256_set1_epi8('\\'), one = _mm256_set1_epi8(1);
	const __m256i above = _mm256_set1_epi8(' ' + 1);

	for (size_t i = 0; i < blocks; i++) {
		uint64_t quotes = 0, lines = 0, odd = 0;
		for (unsigned k = 0; k < 2; k++, p += 32) {
			const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
			const __m256i o = _mm256_or_si256(_mm256_cmpgt_epi8(above, _mm256_add_epi8(v, one)),
			                                  _mm256_cmpeq_epi8(v, back));
			quotes |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, quote))
			          << 32 * k;
			lines |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, line))
			         << 32 * k;
			odd |= (uint64_t)(uint32_t)_mm256_movemask_epi8(o) << 32 * k;
		}
		out->quotes[i] = quotes;
		out->lines[i] = lines;
		out->odd[i] = odd & ~lines;
	}
}

/* As put_eight(), but returns the remaining bits.  The position for w == 0 is 64. */
AVX2 static inline uint64_t put_eight_bmi(uint32_t *to, uint64_t w, uint32_t at)
{
	for (unsigned i = 0; i < 8; i++) {
		to[i] = at + (uint32_t)_tzcnt_u64(w);
		w = _blsr_u64(w);
	}
	return w;
}

AVX2 static void flatten_avx2(const uint64_t *masks, size_t blocks, struct json_positions *out)
{
	uint32_t *to = out->at;

	for (size_t i = 0; i < blocks; i++) {
		uint64_t w = masks[i];
		if (w == 0)
			continue;
		const unsigned count = bit_count(w);
		const uint32_t at = (uint32_t)(i * JSON_BLOCK);
		w = put_eight_bmi(to, w, at);
		for (unsigned k = 8; k < count; k += 8)
			w = put_eight_bmi(to + k, w, at);
		to += count;
	}
	out->n = (uint32_t)(to - out->at);
}

static bool has_avx2(void)
{
	return CPU_HAS("avx2") && CPU_HAS("bmi") && CPU_HAS("bmi2") && CPU_HAS("popcnt");
}

#define AVX512 TARGET("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")

AVX512 static void masks_avx512(const char *p, size_t blocks, struct json_masks *out)
{
	const __m512i quote = _mm512_set1_epi8('"'), line = _mm512_set1_epi8('\n');
	const __m512i back = _mm512_set1_epi8('\\'), one = _mm512_set1_epi8(1);
	const __m512i above = _mm512_set1_epi8(' ' + 1);

	for (size_t i = 0; i < blocks; i++, p += JSON_BLOCK) {
		const __m512i v = _mm512_loadu_si512(p);
		const uint64_t lines = _mm512_cmpeq_epi8_mask(v, line);
		out->quotes[i] = _mm512_cmpeq_epi8_mask(v, quote);
		out->lines[i] = lines;
		out->odd[i] = (_mm512_cmplt_epi8_mask(_mm512_add_epi8(v, one), above) |
		               _mm512_cmpeq_epi8_mask(v, back)) &
		              ~lines;
	}
}

/* Writes sixteen positions: each byte plus `at`. */
AVX512 static inline void put_sixteen(uint32_t *to, __m128i bytes, __m512i at)
{
	_mm512_storeu_si512(to, _mm512_add_epi32(_mm512_cvtepu8_epi32(bytes), at));
}

/* Compresses the numbers 0 to 63 to the numbers of the set bits. */
AVX512 static void flatten_avx512(const uint64_t *masks, size_t blocks, struct json_positions *out)
{
	static const uint8_t counting[64] = {
		0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
		22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
		44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
	};
	const __m512i all = _mm512_loadu_si512(counting);
	uint32_t *to = out->at;

	for (size_t i = 0; i < blocks; i++) {
		if (masks[i] == 0)
			continue;
		const unsigned count = bit_count(masks[i]);
		const __m512i set = _mm512_maskz_compress_epi8(masks[i], all),
		              at = _mm512_set1_epi32((int)(i * JSON_BLOCK));
		put_sixteen(to, _mm512_castsi512_si128(set), at);
		if (count > 16)
			put_sixteen(to + 16, _mm512_extracti32x4_epi32(set, 1), at);
		if (count > 32) {
			put_sixteen(to + 32, _mm512_extracti32x4_epi32(set, 2), at);
			put_sixteen(to + 48, _mm512_extracti32x4_epi32(set, 3), at);
		}
		to += count;
	}
	out->n = (uint32_t)(to - out->at);
}

static bool has_avx512(void)
{
	return has_avx2() && CPU_HAS("avx512f") && CPU_HAS("avx512bw") && CPU_HAS("avx512vl") &&
	       CPU_HAS("avx512vbmi") && CPU_HAS("avx512vbmi2");
}

#elif defined(NEON)

/* Converts four vectors of bytes 0 or 0xff to 64 bits. */
INLINE uint64_t bits_of(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
	static const uint8_t weights[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
	const uint8x16_t weight = vld1q_u8(weights);
	const uint8x16_t ab = vpaddq_u8(vandq_u8(a, weight), vandq_u8(b, weight));
	const uint8x16_t cd = vpaddq_u8(vandq_u8(c, weight), vandq_u8(d, weight));
	const uint8x16_t abcd = vpaddq_u8(ab, cd);

	return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(abcd, abcd)), 0);
}

INLINE uint8x16_t odd_of(uint8x16_t v)
{
	const uint8x16_t low = vcgtq_s8(vdupq_n_s8(' ' + 1), vreinterpretq_s8_u8(vaddq_u8(v, vdupq_n_u8(1))));

	return vorrq_u8(low, vceqq_u8(v, vdupq_n_u8('\\')));
}

static void masks_neon(const char *p, size_t blocks, struct json_masks *out)
{
	const uint8x16_t quote = vdupq_n_u8('"'), line = vdupq_n_u8('\n');

	for (size_t i = 0; i < blocks; i++, p += JSON_BLOCK) {
		const uint8_t *const at = (const uint8_t *)p;
		const uint8x16_t a = vld1q_u8(at), b = vld1q_u8(at + 16), c = vld1q_u8(at + 32),
		                 d = vld1q_u8(at + 48);
		const uint64_t lines =
		    bits_of(vceqq_u8(a, line), vceqq_u8(b, line), vceqq_u8(c, line), vceqq_u8(d, line));
		out->quotes[i] =
		    bits_of(vceqq_u8(a, quote), vceqq_u8(b, quote), vceqq_u8(c, quote), vceqq_u8(d, quote));
		out->lines[i] = lines;
		out->odd[i] = bits_of(odd_of(a), odd_of(b), odd_of(c), odd_of(d)) & ~lines;
	}
}

#endif

/* ---- the index ---- */

const struct json_scanner json_scanners[] = {
#if defined(__x86_64__)
	{ "avx512", masks_avx512, flatten_avx512, has_avx512 },
	{ "avx2", masks_avx2, flatten_avx2, has_avx2 },
	{ "sse2", masks_sse2, flatten_plain, always },
#elif defined(NEON)
	{ "neon", masks_neon, flatten_plain, always },
#endif
	{ "plain", masks_plain, flatten_plain, always },
	{ NULL, NULL, NULL, NULL },
};

const struct json_scanner *json_scanner_best(void)
{
	const struct json_scanner *s = json_scanners;

	while (!s->usable())
		s++;
	return s;
}

static void put_guards(struct json_positions *out)
{
	for (unsigned i = 0; i < JSON_GUARDS; i++)
		out->at[out->n + i] = UINT32_MAX;
}

/* Makes the masks of the last, incomplete block.  It is padded with blanks, which set no bit. */
static void mask_last_block(struct json_index *ix, const struct json_scanner *how, const char *p, size_t n,
                            size_t block)
{
	char padded[JSON_BLOCK];
	struct json_masks last;

	memset(padded, ' ', sizeof padded);
	memcpy(padded, p, n);
	how->masks(padded, 1, &last);
	ix->masks.quotes[block] = last.quotes[0];
	ix->masks.lines[block] = last.lines[0];
	ix->masks.odd[block] = last.odd[0];
}

void json_index_make(struct json_index *ix, const struct json_scanner *how, const char *p, size_t n)
{
	size_t blocks;

	if (n > JSON_CHUNK)
		n = JSON_CHUNK;
	blocks = n / JSON_BLOCK;
	how->masks(p, blocks, &ix->masks);
	if (n % JSON_BLOCK != 0) {
		mask_last_block(ix, how, p + blocks * JSON_BLOCK, n % JSON_BLOCK, blocks);
		blocks++;
	}
	how->positions(ix->masks.quotes, blocks, &ix->quotes);
	how->positions(ix->masks.lines, blocks, &ix->lines);
	how->positions(ix->masks.odd, blocks, &ix->odd);
	put_guards(&ix->quotes);
	put_guards(&ix->lines);
	put_guards(&ix->odd);
	ix->base = p;
	ix->n = (uint32_t)n;
}
