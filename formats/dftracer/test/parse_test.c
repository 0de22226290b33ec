/*
 * The parser and the fast path.  Records that the parser accepts without a flaw are JSON to a strict check
 * and to cJSON, with the same values; records with a flaw are not.  The fast path gives the same result as
 * the parser for each line that both read, with every scanner.
 *
 * cJSON is less strict: it accepts control bytes and invalid UTF-8 in strings, numbers such as 01, 1. and +1
 * (as strtod), and lone low surrogates; so it checks only input that the strict check accepts.
 */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dftracer/dftracer.h"
#include "json/test/random.h"
#include "json/scan.h"
#include "test/fuzz/fuzz_check.h"
#include "test/fuzz/strict_json.h"
#include "test/support/strength.h"

/* ---- random records: any members in any order, any values ---- */

static inline void random_key(struct random_text *x, bool arg)
{
	static const char *const tops[] = { "id",  "name", "cat", "type", "pid",
		                            "tid", "ts",   "dur", "ph",   "more" };
	static const char *const args[] = { "hhash", "fhash",    "ret",
		                            "name",  "value",    "dft_cnt",
		                            "dur",   "hostname", "a key of more than 16 bytes" };

	random_put(x, "\"");
	random_put(x, arg ? args[random_below(x, sizeof args / sizeof args[0])]
	                  : tops[random_below(x, sizeof tops / sizeof tops[0])]);
	random_put(x, "\":");
	random_blank(x);
}

/* Makes a record that is valid except for repeated keys. */
static inline void random_record(struct random_text *x)
{
	const uint32_t n = random_below(x, 9), args = random_below(x, n + 3);

	x->n = 0;
	x->plain = random_below(x, 3) > 0;
	random_put(x, "{");
	for (uint32_t i = 0; i < n; i++) {
		random_put(x, i > 0 ? "," : "");
		random_blank(x);
		if (i != args) {
			random_key(x, false);
			random_value(x, 3);
			continue;
		}
		random_put(x, "\"args\":{");
		for (uint32_t k = 0, max = random_below(x, 6); k < max; k++) {
			random_put(x, k > 0 ? "," : "");
			random_key(x, true);
			random_value(x, 0);
		}
		random_put(x, "}");
	}
	random_put(x, "}");
}

/* ---- the parser ---- */

struct parser {
	struct dft_record rec;
	struct dft_keys keys;
};

static void parser_init(struct parser *x)
{
	cr_assert(dft_record_init(&x->rec));
	x->keys = (struct dft_keys){ .keys = NULL };
	cr_assert(dft_keys_init(&x->keys));
}

static void parser_free(struct parser *x)
{
	dft_record_free(&x->rec);
	dft_keys_free(&x->keys);
}

/* Whether the bytes are a record without flaws, followed by blanks only. */
static bool is_valid(struct parser *x, const char *p, size_t n)
{
	if (n == 0 || *p != '{' || !dft_parse(&x->rec, &x->keys, p, p + n))
		return false;
	for (uint32_t i = 0; i < x->rec.json.nflaws; i++)
		if (x->rec.json.flaws[i].kind != DFT_FLAW_DUPLICATE_KEY)
			return false;
	return json_skip_blanks(x->rec.end, p + n) == p + n;
}

static void same_text(const struct dft_record *rec, const struct dft_arg *a, const cJSON *v)
{
	struct arena arena = { 0 };
	const struct slice raw = dft_token_text(rec, a->value);
	const struct slice text = a->kind == JSON_ESCAPED ? json_unescape(&arena, raw) : raw;

	cr_assert(cJSON_IsString(v));
	/* a NUL, which JSON allows as an escape, ends cJSON's text */
	if (memchr(text.p, '\0', text.n) == NULL)
		cr_expect(strlen(v->valuestring) == text.n && memcmp(v->valuestring, text.p, text.n) == 0,
		          "%.*s", (int)text.n, text.p);
	arena_free(&arena);
}

/* Like cJSON_Compare(), but allows repeated names. */
static bool same_json(const cJSON *a, const cJSON *b)
{
	const cJSON *x = a->child, *y = b->child;

	if ((a->string == NULL) != (b->string == NULL) ||
	    (a->string != NULL && strcmp(a->string, b->string) != 0) || (a->type & 0xff) != (b->type & 0xff))
		return false;
	if (cJSON_IsString(a) && strcmp(a->valuestring, b->valuestring) != 0)
		return false;
	if (cJSON_IsNumber(a) && memcmp(&a->valuedouble, &b->valuedouble, sizeof a->valuedouble) != 0)
		return false;
	for (; x != NULL && y != NULL; x = x->next, y = y->next)
		if (!same_json(x, y))
			return false;
	return x == y;
}

/* Objects and arrays are kept as text: compares the parsed text. */
static void same_nested(struct slice raw, const cJSON *v)
{
	cJSON *const again = cJSON_ParseWithLength(raw.p, raw.n), of_v = *v;

	of_v.string = NULL;
	cr_assert_not_null(again);
	cr_expect(same_json(again, &of_v), "%.*s", (int)raw.n, raw.p);
	cJSON_Delete(again);
}

static void same_value(const struct dft_record *rec, const struct dft_arg *a, const cJSON *v)
{
	const struct slice raw = dft_token_text(rec, a->value);
	char number[64];

	switch ((enum json_kind)a->kind) {
	case JSON_UINT:
	case JSON_INT:
	case JSON_NUMBER:
		cr_assert(cJSON_IsNumber(v));
		snprintf(number, sizeof number, "%.*s", (int)raw.n, raw.p);
		if (raw.n < sizeof number - 1)
			cr_expect(strtod(number, NULL) == v->valuedouble ||
			              v->valuedouble - v->valuedouble != 0,
			          "%s", number);
		break;
	case JSON_STRING:
	case JSON_ESCAPED:
		same_text(rec, a, v);
		break;
	case JSON_TRUE:
		cr_expect(cJSON_IsTrue(v));
		break;
	case JSON_FALSE:
		cr_expect(cJSON_IsFalse(v));
		break;
	case JSON_NULL:
		cr_expect(cJSON_IsNull(v));
		break;
	case JSON_OBJECT:
	case JSON_ARRAY:
		cr_expect(a->kind == JSON_OBJECT ? cJSON_IsObject(v) : cJSON_IsArray(v));
		same_nested(raw, v);
		break;
	default:
		cr_assert_fail("a valid record with a value of kind %u", a->kind);
	}
}

/* Compares the arguments, in order. */
static void same_args(const struct dft_record *rec, const cJSON *json)
{
	const cJSON *args = cJSON_GetObjectItemCaseSensitive(json, "args"), *v;
	uint32_t i = 0;

	if (!cJSON_IsObject(args))
		args = NULL;
	cJSON_ArrayForEach(v, args)
	{
		cr_assert_lt(i, rec->nargs);
		same_value(rec, &rec->args[i++], v);
	}
	cr_expect_eq(i, rec->nargs);
}

/* Compares the members of the record: each known one once, and the others in order. */
static void same_fields(const struct dft_record *rec, const cJSON *json)
{
	const cJSON *v;
	uint32_t known = 0, extras = 0;

	cJSON_ArrayForEach(v, json)
	{
		const enum dft_top which = dft_top_of(slice_str(v->string));
		const bool first = which != DFT_TOPS && (known & 1u << which) == 0;
		if (!first) {
			if (extras < rec->nextras)
				same_value(rec, &rec->extras[extras++], v);
			continue;
		}
		known |= 1u << which;
		const struct dft_arg a = { .value = rec->top[which],
			                   .kind = (uint8_t)dft_top_kind(rec, which) };
		if (which != DFT_ARGS || a.kind != JSON_OBJECT)
			same_value(rec, &a, v);
	}
	cr_expect_eq(extras, rec->nextras);
}

static void agree_on(struct parser *x, const char *bytes, size_t n)
{
	char *const p = malloc(n + 1); /* cJSON wants one byte more */
	size_t at;

	if (memchr(bytes, '\n', n) != NULL) {
		free(p);
		return; /* more than a line */
	}
	cr_assert_not_null(p);
	memcpy(p, bytes, n);
	p[n] = '\0';
	const bool valid = is_valid(x, p, n);
	const bool strict = n > 0 && *p == '{' && strict_json_fault(p, n, &at) == NULL;
	cr_assert_eq(valid, strict, "%s: %.*s", valid ? "accepted" : "refused", (int)n, p);
	cJSON *const json = valid ? cJSON_ParseWithLength(p, n + 1) : NULL;
	cr_assert(!valid || json != NULL, "cJSON refuses: %.*s", (int)n, p);
	if (valid && x->rec.json.nflaws == 0)
		same_args(&x->rec, json);
	if (valid && !x->rec.too_many && memchr(p, '\\', n) == NULL) /* keys are compared unchanged */
		same_fields(&x->rec, json);
	cJSON_Delete(json);
	free(p);
}

static const char *const documents[] = {
	"{}",
	"{ }",
	"{\"id\":1,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":8,\"ts\":1727387307981693,\"dur\":0,"
	"\"ph\":\"X\",\"args\":{\"hhash\":5692,\"p_idx\":-1}}",
	"{\"args\":{\"a\":[1,2,{\"b\":[]},\"\\u00e9\\ud83d\\ude00\"],\"t\":true,\"f\":false,\"n\":null,\"e\":"
	"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}}",
	"{\"args\" : { \"x\" : -0.5e-3 , \"y\" : 1E+9, \"z\":0 , \"\":{} } , \"ph\":1}",
	"{\"args\":{\"utf\":\"na\xc3\xafve \xe6\x89\x93 "
	"\xf0\x9f\x98\x80\",\"a\":18446744073709551615,\"b\":-9223372036854775808}}",
	"{\"args\":{\"deep\":[[[[[[[[{\"a\":[{}]}]]]]]]]]}, \"other\":[true,false,null,\"x\",0.1]}",
	"{\"a\":007,\"b\":+1,\"c\":1.,\"d\":.5,\"e\":1e,\"f\":nan,\"g\":-inf,\"h\":True}",
	"{\"args\":{\"a\":1,},\"b\":[1,],\"c\":{\"x\":1,}}",
	"{\"name\":\"a\"b\",\"cat\":\"C:\\dir\",\"pid\":12q}",
};

Test(dftracer_parse, documents_and_each_byte_of_them_changed)
{
	struct parser x;
	char p[512];

	parser_init(&x);
	for (size_t d = 0; d < sizeof documents / sizeof documents[0]; d++) {
		const size_t n = strlen(documents[d]);
		for (size_t cut = 0; cut <= n; cut++)
			agree_on(&x, documents[d], cut);
		for (size_t at = 1; at < n; at++)
			for (int c = 0; c < 256; c += at % 3 == 0 ? 1 : 3) {
				memcpy(p, documents[d], n);
				p[at] = (char)c;
				agree_on(&x, p, n);
			}
	}
	parser_free(&x);
}

/* Random strings of pieces of JSON. */
Test(dftracer_parse, random_pieces)
{
	static const char *const pieces[] = { "{",  "}",           "[",        "]",        ",",    ":",
		                              "\"", "\"a\"",       "\"args\"", "1",        "-",    "0",
		                              ".5", "e9",          "true",     "null",     " ",    "\t",
		                              "\\", "\\u0041",     "\\ud800",  "\xc3\xa9", "\xff", "nan",
		                              "q",  "{\"args\":{", "\"k\":",   "}}" };
	uint64_t random = 7;
	struct parser x;

	parser_init(&x);
	for (unsigned round = 0; round < 60000; round++) {
		char p[300] = "{";
		size_t n = 1;
		for (unsigned left = 1 + round % 12; left > 0; left--) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			const char *const piece = pieces[(random >> 33) % (sizeof pieces / sizeof pieces[0])];
			memcpy(p + n, piece, strlen(piece));
			n += strlen(piece);
		}
		agree_on(&x, p, n);
	}
	parser_free(&x);
}

/* Records of all kinds, valid and damaged. */
Test(dftracer_parse, random_records)
{
	static struct random_text t;
	struct parser x;

	t.state = test_seed(1);
	parser_init(&x);
	for (unsigned long left = strength(15000, 100000, 2000000); left > 0; left--) {
		random_record(&t);
		agree_on(&x, t.p, t.n);
		random_spoil(&t);
		agree_on(&x, t.p, t.n);
	}
	parser_free(&x);
}

Test(dftracer_parse, repeated_keys_are_counted)
{
	static const char text[] = "{\"args\":{\"a\":1,\"b\":2,\"a\":3,\"a\":{\"a\":4},\"a key of more than "
	                           "sixteen bytes\":1,\"a key of more than sixteen bytez\":1}}";
	struct parser x;

	parser_init(&x);
	for (int i = 0; i < 3; i++) {
		cr_assert(dft_parse(&x.rec, &x.keys, text, text + sizeof text - 1));
		cr_assert_eq(x.rec.nargs, 6);
		cr_expect_eq(x.rec.args[0].repeats, 0);
		cr_expect_eq(x.rec.args[1].repeats, 0);
		cr_expect_eq(x.rec.args[2].repeats, 1);
		cr_expect_eq(x.rec.args[3].repeats, 2);
		cr_expect_eq(x.rec.args[4].repeats, 0);
		cr_expect_eq(x.rec.args[5].repeats, 0);
		cr_expect_eq(x.rec.json.nflaws, 1);
	}
	parser_free(&x);
}

/* ---- the fast path ---- */

struct paths {
	struct dft_record fast, slow;
	struct dft_keys keys;
	struct dft_paths paths;
	struct json_index *index;
	unsigned long followed, learned;
};

static void paths_init(struct paths *x)
{
	*x = (struct paths){ .index = malloc(sizeof *x->index) };
	cr_assert(x->index != NULL && dft_record_init(&x->fast) && dft_record_init(&x->slow) &&
	          dft_keys_init(&x->keys) && dft_paths_init(&x->paths));
}

static void paths_free(struct paths *x)
{
	free(x->index);
	dft_record_free(&x->fast);
	dft_record_free(&x->slow);
	dft_keys_free(&x->keys);
	dft_paths_free(&x->paths);
}

static bool same_token(struct dft_token a, struct dft_token b)
{
	return a.at == b.at && a.n == b.n;
}

static void expect_same_record(const struct dft_record *a, const struct dft_record *b)
{
	cr_assert_eq(a->end, b->end);
	cr_assert_eq(a->shape, b->shape);
	cr_assert_eq(a->hashes, b->hashes);
	cr_assert_eq(a->nargs, b->nargs);
	cr_assert_eq(a->nextras, b->nextras);
	cr_assert_eq(memcmp(a->special, b->special, sizeof a->special), 0);
	for (int i = 0; i < DFT_TOPS; i++)
		if (dft_top_kind(a, (enum dft_top)i) != JSON_ABSENT &&
		    !(i == DFT_ARGS && dft_top_kind(a, DFT_ARGS) == JSON_OBJECT))
			cr_assert(same_token(a->top[i], b->top[i]), "field %d", i);
	for (uint32_t i = 0; i < a->nargs; i++) {
		const struct dft_arg *const x = &a->args[i], *const y = &b->args[i];
		cr_assert(same_token(x->key, y->key) && same_token(x->value, y->value), "argument %u", i);
		cr_assert(x->number == y->number && x->kind == y->kind && x->role == y->role &&
		              x->repeats == y->repeats,
		          "argument %u", i);
	}
}

/* Reads a line in both ways.  p: n bytes, then space for a line end and DFT_SPARE bytes. */
static void both_paths(struct paths *x, const struct json_scanner *scanner, char *p, size_t n)
{
	const char *const e = p + n;

	p[n] = '\n';
	memset(p + n + 1, '7', DFT_SPARE);
	if (n == 0 || *p != '{' || memchr(p, '\n', n) != NULL)
		return;
	json_index_make(x->index, scanner, p, n + 1 + DFT_SPARE);
	if (n >= JSON_CHUNK || x->index->lines.at[0] != n || x->index->odd.at[0] < n)
		return;
	const uint32_t *quotes = x->index->quotes.at;
	const bool valid = dft_parse(&x->slow, &x->keys, p, e) && x->slow.end == e &&
	                   x->slow.json.nflaws == 0 && x->slow.nextras == 0 && !x->slow.too_many;
	const struct dft_shape *const shape = dft_paths_follow(&x->paths, &x->fast, p, &quotes, p, e);
	if (shape != NULL) {
		dft_record_apply(&x->fast, shape, p, e);
		cr_assert(valid, "accepted: %.*s", (int)n, p);
		expect_same_record(&x->fast, &x->slow);
		cr_assert_eq(*quotes, UINT32_MAX); /* all of them were used */
		x->followed++;
	} else if (valid) {
		x->learned++;
		dft_paths_learn(&x->paths, &x->slow, x->followed + x->learned);
	}
}

/* Changes a digit to another character of numbers, or one that ends them: mostly the same path. */
static void change_number(struct random_text *t, char *p, size_t n)
{
	size_t at = random_below(t, (uint32_t)n);

	while (at < n && (p[at] < '0' || p[at] > '9'))
		at++;
	if (at < n)
		p[at] = "0123456789000-+.eE,}]\"a "[random_below(t, 24)];
}

/* Reads each record several times with other values, so that later ones follow the path of the first. */
static void try_scanner(struct paths *x, const struct json_scanner *scanner, unsigned long rounds)
{
	static struct random_text t;
	static char p[RANDOM_TEXT + DFT_SPARE + 1];

	t.state = test_seed(99);
	for (unsigned long i = 0; i < rounds; i++) {
		random_record(&t);
		if (!t.plain)
			continue;
		for (int again = 0; again < 12; again++) {
			memcpy(p, t.p, t.n);
			if (again > 0)
				change_number(&t, p, t.n);
			both_paths(x, scanner, p, t.n);
		}
		random_spoil(&t);
		memcpy(p, t.p, t.n);
		both_paths(x, scanner, p, t.n);
	}
}

Test(dftracer_paths, the_fast_path_finds_what_the_slow_one_does)
{
	for (const struct json_scanner *s = json_scanners; s->name != NULL; s++) {
		struct paths x;
		if (!s->usable())
			continue;
		paths_init(&x);
		try_scanner(&x, s, strength(3000, 20000, 400000));
		cr_expect(2 * x.followed > x.learned && x.learned > 100,
		          "%s: %lu lines took a known path, %lu did not", s->name, x.followed, x.learned);
		paths_free(&x);
	}
}

/* A record whose args are not an object adds a path on which objects are not values. */
Test(dftracer_paths, args_after_a_record_without)
{
	static const char *const lines[] = { "{\"name\":\"a\",\"args\":5}", "{\"name\":\"b\",\"args\":[1]}",
		                             "{\"name\":\"c\",\"args\":{\"x\":1,\"y\":2}}",
		                             "{\"name\":\"d\",\"args\":{\"z\":1,\"z\":2}}" };
	struct paths x;
	char p[200];

	paths_init(&x);
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		strcpy(p, lines[i]);
		both_paths(&x, json_scanner_best(), p, strlen(p));
	}
	cr_expect_eq(x.followed, 1);
	cr_expect_eq(x.learned, 2);
	paths_free(&x);
}

/* Each line has a layout of its own, so learning stops but for probes; then one layout is repeated. */
Test(dftracer_paths, layouts_that_do_not_repeat_are_not_learned)
{
	struct paths x;
	char p[200];

	paths_init(&x);
	for (unsigned i = 0; i < 4000; i++) {
		snprintf(p, sizeof p, "{\"name\":\"a\",\"args\":{\"%u\":1,\"x\":2}}", i);
		both_paths(&x, json_scanner_best(), p, strlen(p));
	}
	cr_expect_geq(x.paths.unlearned, 2800);
	const unsigned long followed = x.followed;
	for (unsigned i = 0; i < 100; i++) {
		strcpy(p, "{\"args\":{\"again\":1}}");
		both_paths(&x, json_scanner_best(), p, strlen(p));
	}
	cr_expect_geq(x.followed, followed + 84);
	paths_free(&x);
}

/* The same with the whole program: lines take the fast path in large windows only. */
Test(dftracer_paths, many_random_lines)
{
	static struct random_text t;
	static char p[120000];
	struct fuzz_result r;

	for (unsigned round = 0; round < 4; round++) {
		size_t n = 0;
		t.state = round;
		while (n < sizeof p - RANDOM_TEXT) {
			random_record(&t);
			if (random_below(&t, 4) == 0)
				random_spoil(&t);
			memcpy(p + n, t.p, t.n);
			n += t.n;
			p[n++] = '\n';
		}
		cr_expect(
		    fuzz_check(&r, p, n, NULL, NULL, FUZZ_CHECK | FUZZ_EVENTS | FUZZ_CONVERT | FUZZ_SLOW_64),
		    "%s", r.fault);
	}
}
