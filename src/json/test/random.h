#ifndef JSON_TEST_RANDOM_H
#define JSON_TEST_RANDOM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* JSON at random, for tests: any values, valid until they are spoiled. */

#define RANDOM_TEXT 8192

struct random_text {
	uint64_t state; /* the seed */
	char p[RANDOM_TEXT];
	size_t n;
	bool plain; /* nothing but ASCII without escapes, and no blanks between */
};

/* splitmix64, below `max` */
static inline uint32_t random_below(struct random_text *x, uint32_t max)
{
	uint64_t z = x->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ z >> 31) >> 16) % max;
}

static inline void random_put(struct random_text *x, const char *s)
{
	const size_t n = strlen(s);

	if (n < sizeof x->p - x->n) {
		memcpy(x->p + x->n, s, n);
		x->n += n;
	}
}

static inline void random_blank(struct random_text *x)
{
	if (!x->plain && random_below(x, 8) == 0)
		random_put(x, random_below(x, 2) == 0 ? " " : "\t");
}

static inline void random_string(struct random_text *x)
{
	static const char *const pieces[] = { "a",
		                              "read",
		                              "/",
		                              "0123456789abcdef",
		                              " ",
		                              "{",
		                              "}",
		                              ",",
		                              ":",
		                              "[",
		                              "]",
		                              "x y",
		                              "\\\"",
		                              "\\\\",
		                              "\\n",
		                              "\\u00e9",
		                              "\\ud83d\\ude00",
		                              "\xc3\xa9",
		                              "\xf0\x9f\x98\x80",
		                              "\xe2\x82\xac",
		                              "\\/" };

	random_put(x, "\"");
	for (uint32_t n = random_below(x, 6); n > 0; n--) {
		const uint32_t i = random_below(x, x->plain ? 12 : sizeof pieces / sizeof pieces[0]);
		random_put(x, pieces[i]);
	}
	random_put(x, "\"");
}

static inline void random_number(struct random_text *x)
{
	static const char *const odd[] = { "0",
		                           "-0",
		                           "-1",
		                           "1.5",
		                           "1e+06",
		                           "-2.25E-3",
		                           "18446744073709551615",
		                           "18446744073709551616",
		                           "-9223372036854775808",
		                           "0.1",
		                           "123456789012345678901234567890" };
	char s[32];

	if (random_below(x, 3) == 0) {
		random_put(x, odd[random_below(x, sizeof odd / sizeof odd[0])]);
		return;
	}
	snprintf(s, sizeof s, "%u%0*u", random_below(x, 9) + 1, (int)random_below(x, 9) + 1,
	         random_below(x, 10));
	random_put(x, s);
}

static inline void random_value(struct random_text *x, unsigned depth);

static inline void random_list(struct random_text *x, unsigned depth, bool object)
{
	random_put(x, object ? "{" : "[");
	for (uint32_t i = 0, n = random_below(x, 4); i < n; i++) {
		random_put(x, i > 0 ? "," : "");
		random_blank(x);
		if (object) {
			random_string(x);
			random_put(x, ":");
		}
		random_value(x, depth + 1);
		random_blank(x);
	}
	random_put(x, object ? "}" : "]");
}

static inline void random_value(struct random_text *x, unsigned depth)
{
	switch (random_below(x, depth < 5 ? 12 : 9)) {
	case 0:
		random_put(x, "true");
		break;
	case 1:
		random_put(x, "null");
		break;
	case 2:
	case 3:
	case 4:
		random_string(x);
		break;
	case 9:
	case 10:
		random_list(x, depth, true);
		break;
	case 11:
		random_list(x, depth, false);
		break;
	default:
		random_number(x);
	}
}

/* Some bytes changed, taken out, or doubled. */
static inline void random_spoil(struct random_text *x)
{
	static const char bytes[] = "\"\"\"{}[]:,,\\\\ \t\r-+.eE0019nulltrufasqx\x01\x7f\x80\xc3\xff";

	for (uint32_t times = 1 + random_below(x, 3); times > 0 && x->n > 2; times--) {
		const size_t at = 1 + random_below(x, (uint32_t)x->n - 1);
		switch (random_below(x, 3)) {
		case 0:
			x->p[at] = bytes[random_below(x, sizeof bytes)]; /* the NUL is one of them */
			break;
		case 1:
			memmove(x->p + at, x->p + at + 1, --x->n - at);
			break;
		default:
			if (x->n < sizeof x->p) {
				memmove(x->p + at + 1, x->p + at, x->n++ - at);
				x->p[at] = bytes[random_below(x, sizeof bytes)];
			}
		}
	}
}

#endif
