/*
 * Strict reading accepts the same texts as a strict check that shares no code with it, and cJSON finds the
 * same values in them.  Lenient reading accepts further texts, and lists their flaws. cJSON is lax where the
 * strict check is not: it accepts control bytes and bytes that are not UTF-8 in texts, numbers such as 01, 1.
 * and +1 (as strtod does), and lone surrogates of the lower half.  So it reads only texts that the strict
 * check accepts.
 */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdlib.h>

#include "test/fuzz/strict_json.h"
#include "json/number.h"
#include "json/test/random.h"
#include "json/token.h"
#include "test/support/strength.h"

/* ---- against cJSON, by the functions that walk ---- */

/* Compares the text of a string, up to a NUL (an escape in JSON), where cJSON's text ends. */
static void same_text(struct slice raw, enum json_kind kind, const char *want)
{
	struct arena arena = { 0 };
	const struct slice text = kind == JSON_ESCAPED ? json_unescape(&arena, raw) : raw;

	cr_assert_eq(kind == JSON_ESCAPED, memchr(raw.p, '\\', raw.n) != NULL);
	if (memchr(text.p, '\0', text.n) == NULL)
		cr_expect(strlen(want) == text.n && memcmp(want, text.p, text.n) == 0, "%.*s", (int)text.n,
		          text.p);
	arena_free(&arena);
}

static void same_number(struct slice raw, enum json_kind kind, double want)
{
	char number[64];
	uint64_t v;
	bool fraction = false;

	for (uint32_t i = 0; i < raw.n; i++)
		fraction |= strchr(".eE", raw.p[i]) != NULL;
	cr_expect_eq(kind, fraction ? JSON_NUMBER : *raw.p == '-' ? JSON_INT : JSON_UINT);
	if (raw.n < sizeof number) {
		snprintf(number, sizeof number, "%.*s", (int)raw.n, raw.p);
		cr_expect(strtod(number, NULL) == want || want - want != 0, "%s", number);
	}
	if (kind == JSON_UINT && json_digits_any(raw.p, raw.n, &v))
		cr_expect_eq((double)v, want, "%.*s", (int)raw.n, raw.p);
}

static void same_scalar(const char *p, const char *q, enum json_kind kind, const cJSON *v)
{
	const struct slice raw = json_text(p, q, kind);

	switch (kind) {
	case JSON_UINT:
	case JSON_INT:
	case JSON_NUMBER:
		cr_assert(cJSON_IsNumber(v));
		same_number(raw, kind, v->valuedouble);
		break;
	case JSON_STRING:
	case JSON_ESCAPED:
		cr_assert(cJSON_IsString(v));
		same_text(raw, kind, v->valuestring);
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		cr_expect(kind == JSON_TRUE ? cJSON_IsTrue(v) : cJSON_IsFalse(v));
		break;
	case JSON_NULL:
		cr_expect(cJSON_IsNull(v));
		break;
	default:
		cr_assert_fail("kind %u in valid JSON", kind);
	}
}

/* Compares the value at p member by member.  Returns its end. */
static const char *same_value(struct json *x, const char *p, const char *e, const cJSON *v)
{
	const bool object = *p == '{';
	const cJSON *child = v->child;
	struct slice key;
	enum json_kind kind;
	bool more;

	const char *const whole = json_value(x, p, e, &kind);
	cr_assert_not_null(whole);
	if (!object && *p != '[') {
		same_scalar(p, whole, kind, v);
		return whole;
	}
	cr_expect(object ? kind == JSON_OBJECT && cJSON_IsObject(v) : kind == JSON_ARRAY && cJSON_IsArray(v));
	struct json_walk w = json_walk(x, p, e);
	for (p = json_first(x, p, e, &more); more; p = json_next(x, p, e, object ? '}' : ']', &more)) {
		cr_assert(p != NULL && child != NULL);
		if (object) {
			p = json_key(x, p, e, &key, &kind);
			cr_assert_not_null(p);
			same_text(key, kind, child->string);
		}
		cr_assert(json_walk_next(&w) && w.value.p == p);
		cr_expect(!object || slice_equal(json_token_text(&w.key), key));
		p = same_value(x, p, e, child);
		cr_expect_eq(w.value.end, p);
		child = child->next;
	}
	cr_expect_eq(p, whole);
	cr_expect_null(child);
	cr_expect(!json_walk_next(&w));
	cr_expect_eq(w.p, whole);
	return whole;
}

/* ---- accepted texts ---- */

/* Lenient reading finds no flaw in valid bytes and at least one in invalid bytes that it accepts. */
static void lenient_agrees(const char *p, size_t n, bool valid)
{
	struct json x = { .lenient = true, .complete = true, .depth = JSON_MAX_DEPTH };
	const char *const from = json_skip_blanks(p, p + n);
	enum json_kind kind;
	const char *end = json_value(&x, from, p + n, &kind);

	cr_assert(end == NULL || (end > from && end <= p + n));
	cr_assert(end != NULL || (x.error.at >= p && x.error.at <= p + n && x.error.why != NULL));
	end = end != NULL ? json_skip_blanks(end, p + n) : NULL;
	if (valid)
		cr_assert(end == p + n && x.nflaws == 0 && kind != JSON_BAD_NESTED, "%.*s", (int)n, p);
	else
		cr_assert(end != p + n || x.nflaws > 0, "%.*s", (int)n, p);
	for (uint32_t i = 0; i < x.nflaws; i++)
		cr_assert(x.flaws[i].at >= p && x.flaws[i].at < p + n);
}

/* Copies the bytes into an allocation of their exact size, so that a memory checker sees any overrun. */
static bool agree_on(const char *bytes, size_t n)
{
	char *const p = malloc(n + (n == 0));
	size_t at, strict_at;

	cr_assert_not_null(p);
	memcpy(p, bytes, n);
	const char *const fault = json_document_fault(p, n, JSON_MAX_DEPTH, &at);
	const bool valid = strict_json_fault(p, n, &strict_at) == NULL;
	cr_assert_eq(fault == NULL, valid, "%s at %zu: %.*s", fault != NULL ? fault : "accepted", at, (int)n,
	             p);
	cr_assert_leq(at, n);
	if (valid) {
		struct json x = { .complete = true, .depth = JSON_MAX_DEPTH };
		cJSON *const json = cJSON_ParseWithLength(p, n);
		cr_assert_not_null(json, "cJSON refuses: %.*s", (int)n, p);
		same_value(&x, json_skip_blanks(p, p + n), p + n, json);
		cJSON_Delete(json);
	}
	lenient_agrees(p, n, valid);
	free(p);
	return valid;
}

static const char *const documents[] = {
	"{}",
	" [ ] ",
	"0",
	"-12.5e+3",
	"\"\"",
	"{\"id\":1,\"name\":\"read\",\"ts\":1727387307981693,\"args\":{\"hhash\":5692,\"p_idx\":-1}}",
	("{\"a\":[1,2,{\"b\":[]},\"\\u00e9\\ud83d\\ude00\"],\"t\":true,\"f\":false,\"n\":null,\"e\":"
	 "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}"),
	"{\n\t\"x\" : -0.5e-3 ,\r\n \"y\" : 1E+9, \"z\":0 , \"\":{} }\n",
	"[\"na\xc3\xafve \xe6\x89\x93 \xf0\x9f\x98\x80\",18446744073709551615,-9223372036854775808]",
	"[[[[[[[[{\"a\":[{}]}]]]]]]],[true,false,null,\"x\",0.1]]",
	"[007,+1,1.,.5,1e,nan,-inf,True]",
	"{\"a\":1,\"b\":[1,],\"c\":{\"x\":1,},}",
	"{\"name\":\"a\"b\",\"cat\":\"C:\\dir\",\"pid\":12q}",
};

Test(json_token, documents_and_each_byte_of_them_changed)
{
	char p[512];

	for (size_t d = 0; d < sizeof documents / sizeof documents[0]; d++) {
		const size_t n = strlen(documents[d]);
		for (size_t cut = 0; cut <= n; cut++)
			agree_on(documents[d], cut);
		for (size_t at = 0; at < n; at++)
			for (int c = 0; c < 256; c += at % 3 == 0 ? 1 : 3) {
				memcpy(p, documents[d], n);
				p[at] = (char)c;
				agree_on(p, n);
			}
	}
}

Test(json_token, random_pieces)
{
	static const char *const pieces[] = {
		"{",        "}",  "[",    "]",       ",",  ":",      "\"",       "1",
		"\"a\"",    "0",  "-",    ".5",      "e9", "true",   " ",        "null",
		"\t",       "\\", "\xff", "nan",     "q",  "\n",     "\\u0041",  "\\ud800",
		"\xc3\xa9", "[[", "]]",   "{\"a\":", "}}", "\"k\":", "\\udc00\""
	};
	static struct random_text t = { .state = 7 };
	unsigned valid = 0;

	for (unsigned round = 0; round < 100000; round++) {
		char p[300];
		size_t n = 0;
		for (unsigned left = 1 + round % 12; left > 0; left--) {
			const char *const piece = pieces[random_below(&t, sizeof pieces / sizeof pieces[0])];
			memcpy(p + n, piece, strlen(piece));
			n += strlen(piece);
		}
		valid += agree_on(p, n);
	}
	cr_expect_gt(valid, 1000);
}

Test(json_token, random_values)
{
	static struct random_text t;

	t.state = test_seed(1);
	for (unsigned long left = strength(20000, 200000, 4000000); left > 0; left--) {
		t.n = 0;
		t.plain = random_below(&t, 3) > 0;
		random_list(&t, 0, random_below(&t, 2) == 0);
		cr_assert(agree_on(t.p, t.n));
		random_spoil(&t);
		agree_on(t.p, t.n);
	}
}

/* ---- errors ---- */

Test(json_token, errors_have_their_place)
{
	static const struct {
		const char *text;
		size_t at;
		const char *why;
	} rows[] = {
		{ "", 0, "expected a value" },
		{ "  ", 2, "expected a value" },
		{ "\xef\xbb\xbf{}", 0, "byte order mark" },
		{ "{} x", 3, "data after the end of the value" },
		{ "{\"a\":1 \"b\":2}", 7, "expected a comma or a closing bracket" },
		{ "[1,]", 3, "expected a value" },
		{ "{\"a\":1,}", 7, "expected a name in quotes" },
		{ "{a:1}", 1, "expected a name in quotes" },
		{ "{\"a\"}", 4, "expected a colon" },
		{ "{\"a\"", 4, "expected a colon" },
		{ "{\"a\":}", 5, "expected a value" },
		{ "{\"a\":", 5, "expected a value" },
		{ "[1", 2, "unterminated array" },
		{ "{\"a\":1", 6, "unterminated object" },
		{ "[\"abc", 1, "unterminated string" },
		{ "[\"ab\\x\"]", 4, "invalid escape in a string" },
		{ "[\"ab\\ud800\"]", 4, "invalid escape in a string" },
		{ "[\"ab\tc\"]", 4, "control byte in a string" },
		{ "[\"ab\xc3\xc3\xa9\"]", 4, "string is not UTF-8" },
		{ "[1,01]", 3, "invalid value" },
		{ "[1,tru]", 3, "invalid value" },
		{ "[1,NaN]", 3, "nan and inf are not JSON numbers" },
		{ "[1,2}", 4, "expected a comma or a closing bracket" },
		{ "[[[[]]]]", 3, "values nested too deep" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		size_t at;
		const char *const why = json_document_fault(rows[i].text, strlen(rows[i].text), 3, &at);
		cr_assert_not_null(why, "%s", rows[i].text);
		cr_expect_str_eq(why, rows[i].why, "%s: %s", rows[i].text, why);
		cr_expect_eq(at, rows[i].at, "%s: %zu", rows[i].text, at);
	}
}

/* Any proper prefix of a valid text is reported as cut, so a caller can retry with more of it. */
Test(json_token, parts_are_cut)
{
	static struct random_text t = { .state = 11 };
	enum json_kind kind;

	for (unsigned round = 0; round < 3000; round++) {
		t.n = 0;
		random_list(&t, 0, random_below(&t, 2) == 0);
		for (size_t n = 1; n < t.n; n++) {
			struct json x = { .depth = JSON_MAX_DEPTH };
			cr_assert_null(json_value(&x, t.p, t.p + n, &kind), "%.*s", (int)n, t.p);
			cr_assert(x.error.cut, "%s: %.*s", x.error.why, (int)n, t.p);
		}
	}
}

/* A value in two parts ends where it does in one. */
Test(json_token, values_in_two_parts)
{
	static struct random_text t = { .state = 13 };

	for (unsigned round = 0; round < 3000; round++) {
		t.n = 0;
		random_list(&t, 0, random_below(&t, 2) == 0);
		for (size_t n = 1; n < t.n; n++) {
			struct json x = { .depth = JSON_MAX_DEPTH };
			struct json_nest nest = { .depth = 0 };
			const char *const next = json_nested_part(&x, &nest, t.p, t.p + n);
			cr_assert_not_null(next, "%s: %.*s", x.error.why, (int)n, t.p);
			cr_assert_eq(nest.depth == 0, next == t.p, "%.*s", (int)n, t.p);
			const char *const end = json_nested_part(&x, &nest, next, t.p + t.n);
			cr_assert(end == t.p + t.n && nest.depth == 0, "%zu: %s", n, t.p);
		}
	}
}

Test(json_token, numbers_and_words_may_go_on)
{
	struct json x = { .depth = 1 };
	enum json_kind kind;

	const char *const p = "12";

	cr_expect_null(json_value(&x, p, p + 2, &kind));
	cr_expect(x.error.cut);
	x.complete = true;
	cr_expect_eq(json_value(&x, p, p + 2, &kind), p + 2);
	cr_expect_eq(kind, JSON_UINT);
}

/* ---- flaws ---- */

/* The same in a list with bytes after it, the common case, which has a fast path. */
static void expect_flaw_in_list(const char *p, size_t n, size_t at, enum json_flaw flaw)
{
	struct json x = { .lenient = true, .depth = JSON_MAX_DEPTH };
	enum json_kind kind;
	char list[100];

	memset(list, ' ', sizeof list);
	list[0] = '[';
	memcpy(list + 1, p, n);
	list[sizeof list - 1] = ']';
	cr_assert_eq(json_value(&x, list, list + sizeof list, &kind), list + sizeof list, "%s", p);
	cr_expect_eq(kind, JSON_BAD_NESTED, "%s: %u", p, kind);
	cr_assert_eq(x.nflaws, 1, "%s", p);
	cr_expect_eq(x.flaws[0].kind, flaw, "%s", p);
	cr_expect_eq(x.flaws[0].at, list + 1 + at, "%s", p);
}

Test(json_token, flaws_have_their_kind_and_place)
{
	static const struct {
		const char *text;
		size_t n, at;
		enum json_flaw flaw;
		enum json_kind kind;
	} rows[] = {
		{ "\"a\tb\"", 5, 2, JSON_FLAW_CONTROL_BYTE, JSON_BAD_STRING },
		{ "\"a\0b\"", 5, 2, JSON_FLAW_NUL, JSON_BAD_STRING },
		{ "\"a\xff\"", 4, 2, JSON_FLAW_UTF8, JSON_BAD_STRING },
		{ "\"a\\x\"", 5, 2, JSON_FLAW_ESCAPE, JSON_BAD_STRING },
		{ "\"\\n\\x\\n\"", 8, 3, JSON_FLAW_ESCAPE, JSON_BAD_STRING },
		{ "-inf", 4, 0, JSON_FLAW_NOT_FINITE, JSON_NOT_FINITE },
		{ "NaN", 3, 0, JSON_FLAW_NOT_FINITE, JSON_NOT_FINITE },
		{ "None", 4, 0, JSON_FLAW_WORD, JSON_BAD_WORD },
		{ "007", 3, 0, JSON_FLAW_WORD, JSON_BAD_WORD },
		{ "12ab", 4, 0, JSON_FLAW_WORD, JSON_BAD_WORD },
		{ "truex", 5, 0, JSON_FLAW_WORD, JSON_BAD_WORD },
		{ "-1.5x", 5, 0, JSON_FLAW_WORD, JSON_BAD_WORD },
		{ "[1,]", 4, 3, JSON_FLAW_COMMA, JSON_BAD_NESTED },
		{ "{\"a\":{\"b\":1,}}", 14, 12, JSON_FLAW_COMMA, JSON_BAD_NESTED },
		{ "[\"a\\x\"]", 7, 3, JSON_FLAW_ESCAPE, JSON_BAD_NESTED },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct json x = { .lenient = true, .complete = true, .depth = JSON_MAX_DEPTH };
		const char *const p = rows[i].text;
		enum json_kind kind;
		cr_assert_eq(json_value(&x, p, p + rows[i].n, &kind), p + rows[i].n, "%s", p);
		cr_expect_eq(kind, rows[i].kind, "%s: %u", p, kind);
		cr_assert_eq(x.nflaws, 1, "%s", p);
		cr_expect_eq(x.flaws[0].kind, rows[i].flaw, "%s", p);
		cr_expect_eq(x.flaws[0].at, p + rows[i].at, "%s", p);
		expect_flaw_in_list(p, rows[i].n, rows[i].at, rows[i].flaw);
	}
}

/* The first of each kind is listed, and all are counted. */
Test(json_token, flaws_of_one_kind_are_listed_once)
{
	static const char p[] = "[\"\\x\\x\",nan,nan,]";
	struct json x = { .lenient = true, .depth = JSON_MAX_DEPTH };
	enum json_kind kind;

	cr_assert_eq(json_value(&x, p, p + sizeof p - 1, &kind), p + sizeof p - 1);
	cr_expect_eq(x.met, 5);
	cr_assert_eq(x.nflaws, 3);
	cr_expect_eq(x.flaws[0].at, p + 2);
	json_clear(&x);
	cr_expect_eq(x.nflaws, 0);
}

Test(json_token, unescaping_keeps_bad_escapes)
{
	static const char raw[] = "a\\n\\x\\u00e9\\ud800\\ud83d\\ude00\\";
	struct arena arena = { 0 };
	const struct slice text = json_unescape(&arena, slice_of(raw, sizeof raw - 1));

	cr_expect(slice_is(text, "a\n\\x\xc3\xa9\\ud800\xf0\x9f\x98\x80\\"), "%.*s", (int)text.n, text.p);
	cr_expect_eq(text.flags, SLICE_UTF8);
	arena_free(&arena);
}

Test(json_token, spare_escapes_are_compared_as_their_characters)
{
	static const char text[] = "\"\\u0070h\\\\u0070\\n\\u003c\\u00e9\"";
	struct json_token t = { .p = text, .end = text + sizeof text - 1, .kind = JSON_ESCAPED };
	char word[JSON_WORD];

	cr_expect(slice_is(json_plain(word, json_token_text(&t)), "ph\\\\u0070\\n\\u003c\\u00e9"));
	cr_expect(json_token_is(&t, "ph\\u0070\n<\xc3\xa9"));
	cr_expect_not(json_token_is(&t, "ph\\u0070\n<\xc3\xa9."));
	cr_expect_not(json_token_is(&t, "ph\\u0070\n<"));
	cr_expect_not(json_token_is(&t, ""));
	t = (struct json_token){ "\"\\u0000\"", NULL, JSON_ESCAPED };
	t.end = t.p + 8;
	cr_expect_not(json_token_is(&t, ""));
	t = (struct json_token){ text, text + 1, JSON_ABSENT };
	cr_expect_not(json_token_is(&t, "ph"));
}

/* ---- numbers ---- */

Test(json_token, digits)
{
	static const char *const rows[] = { "0",
		                            "7",
		                            "12345678",
		                            "123456789",
		                            "1727387307981693",
		                            "12345678901234567",
		                            "9999999999999999999",
		                            "18446744073709551615",
		                            "18446744073709551616",
		                            "99999999999999999999999" };
	char p[80];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (uint32_t before = 0; before < 20; before++) {
			const uint32_t n = (uint32_t)strlen(rows[i]);
			memset(p, '9', sizeof p);
			memcpy(p + before, rows[i], n);
			uint64_t v = 0;
			const bool ok = json_digits(p, before, n, &v);
			cr_expect_eq(ok, n < 20 || strcmp(rows[i], "18446744073709551615") == 0, "%s",
			             rows[i]);
			if (ok)
				cr_expect_eq(v, strtoull(rows[i], NULL, 10), "%s behind %u bytes", rows[i],
				             before);
		}
}
