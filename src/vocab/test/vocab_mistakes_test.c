/* Mistakes in vocabularies: each is reported at its position, and nothing of the file is added. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vocab/vocab.h"

#define R(name) (&vocab_rules[VOCAB_RULE_##name])

struct found {
	size_t n;
	const struct rule *rule;
	uint64_t line, column, offset;
	char message[1024];
};

/* Keeps the last finding. */
static void keep(void *ctx, const struct findings *j, const struct finding *f)
{
	struct found *const k = ctx;

	k->n++;
	k->rule = f->rule;
	k->line = f->line;
	k->column = f->column;
	k->offset = f->offset;
	snprintf(k->message, sizeof k->message, "%s", f->message);
}

static bool load(struct vocabulary *v, const char *text, size_t n, struct found *k)
{
	struct findings j;

	*k = (struct found){ .n = 0 };
	findings_init(&j, "test.yaml", keep, k);
	const bool ok = vocab_add_text(v, text, n, &j, NULL);
	cr_expect_eq(ok, j.levels[LEVEL_ERROR] == 0);
	findings_free(&j);
	return ok;
}

#define HEAD "format: heph\ntables: {t: trace}\nevents:\n"

/* One mistake in each text, at the position of the @, which is removed. */
static const struct {
	const char *text;
	const struct rule *rule;
	const char *says;
} mistakes[] = {
	/* the text as a whole */
	{ "@", R(SYNTAX), "holds nothing" },
	{ "@# nothing\n", R(SYNTAX), "holds nothing" },
	{ "@heph", R(BAD_VALUE), "a vocabulary is a mapping (key: value), not a text" },
	{ "@[format]", R(BAD_VALUE), "not a list" },
	{ "@events: []", R(BAD_VALUE), "format is needed" },
	{ "format: heph\n@format: heph", R(SYNTAX), "duplicate key" },
	{ "@{format: heph", R(SYNTAX), "" },
	{ "format: heph\n@--- \nformat: heph", R(SYNTAX), "second document" },
	{ "format: heph\nevents: @&x []", R(SYNTAX), "anchors" },
	{ "format: @&x heph", R(SYNTAX), "anchors" },
	{ "format: @*x", R(SYNTAX), "aliases" },
	{ "format: @!x heph", R(SYNTAX), "tags" },
	{ "format: heph\nevents: @!!seq []", R(SYNTAX), "tags" },
	{ "format: heph\n@[x]: y", R(SYNTAX), "a key is a text" },
	{ "format: heph\n@eventz: []", R(UNKNOWN_KEY), "did you mean events?" },
	{ "format: heph\n@zzzzzzzz: []", R(UNKNOWN_KEY), "a vocabulary has no key \"zzzzzzzz\"" },
	/* format */
	{ "format: @[heph]", R(BAD_VALUE), "format is a text, not a list" },
	{ "format: @{heph: 1}", R(BAD_VALUE), "format is a text, not a mapping" },
	{ "format: @''", R(BAD_VALUE), "format is empty" },
	{ "format: @hehp", R(BAD_VALUE), "did you mean heph?" },
	{ "format: @xyz", R(BAD_VALUE), "there are heph, ovni" },
	/* tables */
	{ "format: heph\ntables: @[t]", R(BAD_VALUE), "tables is a mapping" },
	{ "format: heph\ntables: {t: @proces}", R(BAD_VALUE),
	  "one of process, thread, trace, not \"proces\"" },
	{ "format: heph\ntables: {t: trace, @t: trace}", R(SYNTAX), "duplicate key" },
	{ "format: heph\ntables: {@'a|b': trace}", R(BAD_VALUE), "holds none of" },
	/* tracks */
	{ "format: heph\ntracks: @x", R(BAD_VALUE), "tracks is a mapping" },
	{ "format: heph\ntracks: {@proces: x}", R(UNKNOWN_KEY), "did you mean process?" },
	{ "format: heph\ntracks: {process: @'{pid}'}", R(BAD_VALUE), "process can only refer to {id}" },
	{ "format: heph\ntables: {t: trace}\ntracks: {thread: @'{id|t}'}", R(BAD_VALUE),
	  "thread can only refer to {id}" },
	{ "format: heph\ntracks: {process: @'{id} {id}'}", R(BAD_VALUE), "more than once" },
	{ "format: heph\ntracks: {threads: @[a]}", R(BAD_VALUE), "threads is a mapping of numbers to names" },
	{ "format: heph\ntracks: {threads: {@a: b}}", R(BAD_VALUE),
	  "is not a number from 0 to 18446744073709551615: \"a\"" },
	{ "format: heph\ntracks: {threads: {@18446744073709551616: b}}", R(BAD_VALUE), "is not a number" },
	{ "format: heph\ntracks: {threads: {@-1: b}}", R(BAD_VALUE), "is not a number" },
	{ "format: heph\ntracks: {threads: {1: b, @01: c}}", R(SYNTAX), "duplicate key" },
	{ "format: heph\ntracks: {threads: {1: @[b]}}", R(BAD_VALUE), "a name is a text" },
	/* rules */
	{ "format: heph\nevents: @x", R(BAD_VALUE), "events is a list of rules" },
	{ HEAD " - @x", R(BAD_VALUE), "a rule is a mapping" },
	{ HEAD " - @{phase: begin}", R(BAD_VALUE), "event or match is needed" },
	{ HEAD " - {event: @[]}", R(BAD_VALUE), "event is an empty list" },
	{ HEAD " - {event: [a, @'']}", R(BAD_VALUE), "event is empty" },
	{ HEAD " - {event: [a, @[b]]}", R(BAD_VALUE), "event is a text, not a list" },
	{ HEAD " - {match: @{a: b}}", R(BAD_VALUE), "match is a text, not a mapping" },
	{ HEAD " - {event: a, @evnt: b}", R(UNKNOWN_KEY), "did you mean event?" },
	{ HEAD " - event: a\n   @phse: begin", R(UNKNOWN_KEY), "did you mean phase?" },
	{ HEAD " - event: a\n   @event: b", R(SYNTAX), "duplicate key" },
	{ HEAD " - {event: a, phase: @beginn}", R(BAD_VALUE),
	  "phase is one of span, begin, end, state, state-end, instant, counter, structure" },
	{ HEAD " - {event: a, fields: @[]}", R(BAD_VALUE), "fields is an empty list" },
	{ HEAD " - {event: a, named: @[b]}", R(BAD_VALUE), "named is a text" },
	{ HEAD " - {event: a, named: b, category: @c}", R(BAD_VALUE), "does not go with named" },
	{ HEAD " - {event: a, phase: instant, pair: @p}", R(BAD_VALUE), "pair goes with phase begin or end" },
	{ HEAD " - {event: a, phase: span, key: @p}", R(BAD_VALUE), "key goes with phase begin or end" },
	{ HEAD " - {event: a, phase: counter, async: @true}", R(BAD_VALUE),
	  "async goes with phase span, begin or end" },
	{ HEAD " - {event: a, phase: begin, async: @yes}", R(BAD_VALUE),
	  "async is one of false, true, not \"yes\"" },
	{ HEAD " - {event: a, phase: begin, state: @s}", R(BAD_VALUE),
	  "state goes with phase state or state-end" },
	{ HEAD " - @{event: a, phase: state}", R(BAD_VALUE), "state is needed" },
	{ HEAD " - @{event: a, phase: state-end}", R(BAD_VALUE), "state is needed" },
	{ HEAD " - {event: a, phase: instant, duration: @d}", R(BAD_VALUE), "duration goes with phase span" },
	{ HEAD " - {event: a, phase: instant, values: @d}", R(BAD_VALUE), "values goes with phase counter" },
	{ HEAD " - {event: a, phase: instant, series: @t}", R(BAD_VALUE), "series goes with phase counter" },
	{ HEAD " - {event: a, phase: counter, series: @u}", R(BAD_VALUE), "table" },
	{ HEAD " - {event: a, key: @'{x'}", R(BAD_VALUE), "not closed" },
	{ HEAD " - {event: a, key: @'{x} y'}", R(BAD_VALUE), "key is a field or one {reference}" },
	{ HEAD " - {event: a, key: @'{{x}}'}", R(BAD_VALUE), "key is a field or one {reference}" },
	{ HEAD " - {event: a, epoch: @[x]}", R(BAD_VALUE), "epoch is a text" },
	{ HEAD " - {event: a, facts: @[x]}", R(BAD_VALUE), "facts is a text" },
	{ HEAD " - {event: a, category: @{x: y}}", R(BAD_VALUE), "category is a text, not a mapping" },
	{ HEAD " - {event: a, category: @'{x}'}", R(BAD_VALUE), "can only refer to parts, not to" },
	{ HEAD " - {event: a, parts: 'a {x}', category: @['{x|t}']}", R(BAD_VALUE), "can only refer to" },
	{ HEAD " - {event: a, parts: @a b}", R(BAD_VALUE), "has no {part} in it" },
	{ HEAD " - {event: a, parts: @'{x}{y}'}", R(BAD_VALUE), "between two parts" },
	{ HEAD " - {event: a, parts: @'{x|t}'}", R(BAD_VALUE), "nothing is looked up" },
	{ HEAD " - {event: a, named: b, parts: @'{c}'}", R(BAD_VALUE), "does not go with named" },
	{ HEAD " - {event: a, parts: @[]}", R(BAD_VALUE), "parts is an empty list" },
	{ HEAD " - {event: a, stack: @[x]}", R(BAD_VALUE), "stack is a text" },
	{ "format: heph\nnone: @[a]", R(BAD_VALUE), "none is a mapping" },
	{ "format: heph\nnone: {a: @b}", R(BAD_VALUE), "not a number" },
	{ "format: heph\nnone: {a: [1, @-1]}", R(BAD_VALUE), "not a number" },
	/* templates */
	{ HEAD " - {event: a, name: @[]}", R(BAD_VALUE), "name is an empty list" },
	{ HEAD " - {event: a, name: @{a: b}}", R(BAD_VALUE), "name is a text, not a mapping" },
	{ HEAD " - {event: a, name: @'{a|b'}", R(BAD_VALUE), "the brace in \"{a|b\" is not closed" },
	{ HEAD " - {event: a, name: @'a}'}", R(BAD_VALUE), "a } without its {" },
	{ HEAD " - {event: a, name: @'{a{b}'}", R(BAD_VALUE), "not closed" },
	{ HEAD " - {event: a, name: @'{}'}", R(BAD_VALUE), "a field has no name" },
	{ HEAD " - {event: a, name: @'{a,|t}'}", R(BAD_VALUE), "a field has no name" },
	{ HEAD " - {event: a, name: @'{a,b}'}", R(BAD_VALUE), "name the table" },
	{ HEAD " - {event: a, name: @'{a,b,c|t}'}", R(BAD_VALUE), "more than two fields" },
	{ HEAD " - {event: a, name: @'{a|}'}", R(BAD_VALUE), "does not declare \"\"" },
	{ HEAD " - {event: a, name: @'{a|tt}'}", R(BAD_VALUE), "does not declare \"tt\"; is it \"t\"?" },
	{ HEAD " - {event: a, name: @'{a|t|t|t|t}'}", R(BAD_VALUE), "3 tables at most" },
	{ HEAD " - {event: a, name: [x, @'{a|zz}', y]}", R(BAD_VALUE), "does not declare \"zz\"" },
	/* waiting */
	{ HEAD " - {event: a, phase: instant, waiting: @true}", R(BAD_VALUE),
	  "waiting goes with phase span, begin or state" },
	{ HEAD " - {event: a, phase: begin, waiting: @perhaps}", R(BAD_VALUE), "waiting" },
	{ HEAD " - {event: a, named: x, phase: begin, waiting: @true}", R(BAD_VALUE),
	  "waiting does not go with named" },
	/* layout */
	{ HEAD " - {event: a, layout: @x}", R(BAD_VALUE), "layout is a list of fields" },
	{ HEAD " - {event: a, layout: [@x]}", R(BAD_VALUE), "a name and a type" },
	{ HEAD " - {event: a, layout: [@{a: u8, b: u8}]}", R(BAD_VALUE), "a name and a type" },
	{ HEAD " - {event: a, layout: [a: @u9]}", R(BAD_VALUE), "a type is one of u8" },
	{ HEAD " - {event: a, layout: [a: @'[]']}", R(BAD_VALUE), "a type is one of u8" },
	{ HEAD " - {event: a, layout: [a: @'string[]']}", R(BAD_VALUE), "only types of fixed size" },
	{ HEAD " - {event: a, layout: [a: 'u8[]', @b: u8]}", R(BAD_VALUE), "takes the rest of the payload" },
	{ HEAD " - {event: a, layout: [a: bytes, @b: u8]}", R(BAD_VALUE), "takes the rest of the payload" },
	{ HEAD " - {event: a, layout: {a: u8, @a: u8}}", R(BAD_VALUE), "two fields named \"a\"" },
	{ HEAD " - {event: a, payload: @[x]}", R(BAD_VALUE), "payload is a text" },
	/* track */
	{ HEAD " - {event: a, track: @[]}", R(BAD_VALUE), "track is an empty list" },
	{ HEAD " - {event: a, track: @{id: x}}", R(BAD_VALUE), "track has no name" },
	{ HEAD " - {event: a, track: {name: x, @di: x}}", R(UNKNOWN_KEY), "track has no key \"di\"" },
	{ HEAD " - {event: a, track: [@'{a} {b}']}", R(BAD_VALUE), "one reference at most, this has 2" },
	{ HEAD " - {event: a, track: {name: x, below: @1}}", R(BAD_VALUE), "below is one of false, true" },
	/* define */
	{ HEAD " - {event: a, define: @x}", R(BAD_VALUE), "define is a mapping" },
	{ HEAD " - {event: a, define: @[]}", R(BAD_VALUE), "define is an empty list" },
	{ HEAD " - {event: a, define: @{key: a, value: b}}", R(BAD_VALUE), "define lacks its table" },
	{ HEAD " - {event: a, define: @{table: t, value: b}}", R(BAD_VALUE), "define lacks its key" },
	{ HEAD " - {event: a, define: [@{table: t, key: b}]}", R(BAD_VALUE), "define lacks its value" },
	{ HEAD " - {event: a, define: {table: @u, key: a, value: b}}", R(BAD_VALUE),
	  "does not declare \"u\"" },
	{ HEAD " - {event: a, define: {table: t, key: @[a, b, c], value: b}}", R(BAD_VALUE),
	  "one field or two, not 3" },
	{ HEAD " - {event: a, define: {table: t, key: a, value: @'{a,b|t}'}}", R(BAD_VALUE),
	  "one field, not two" },
	/* flow */
	{ HEAD " - {event: a, flow: @x}", R(BAD_VALUE), "flow is a mapping" },
	{ HEAD " - {event: a, flow: @{out: x}}", R(BAD_VALUE), "flow lacks its name" },
	{ HEAD " - {event: a, flow: @{name: x}}", R(BAD_VALUE), "flow needs out or in" },
	{ HEAD " - {event: a, flow: {name: x, out: @[x]}}", R(BAD_VALUE), "out is a text" },
	/* reader */
	{ HEAD " - {event: a, reader: @x}", R(BAD_VALUE), "reader is a mapping" },
	{ HEAD " - {event: a, reader: {x: @[]}}", R(BAD_VALUE), "a word is a text" },
	{ HEAD " - {event: a, reader: {x: y, @x: z}}", R(SYNTAX), "duplicate key" },
	/* columns count bytes */
	{ "format: heph\nevents: [{event: '\xc3\xa4\xe2\x82\xac', @phsae: x}]", R(UNKNOWN_KEY),
	  "did you mean phase?" },
	{ "format: heph\r\nevents:\r\n  - event: a\r\n    @phsae: x", R(UNKNOWN_KEY), "did you mean phase?" },
	/* bytes that are not UTF-8 */
	{ "format: heph\n# \xc3\xa4 @\xff", R(SYNTAX), "no UTF-8" },
	{ "format: he@\xed\xa0\x80", R(SYNTAX), "no UTF-8" },
	{ "format: he@\x01", R(SYNTAX), "control characters" },
};

Test(vocab_mistakes, each_is_found_at_its_place)
{
	static const char *const formats[] = { "heph", "ovni", NULL };

	for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
		struct vocabulary *const v = vocab_new("heph");
		const char *const at = strchr(mistakes[i].text, '@');
		const size_t before = (size_t)(at - mistakes[i].text);
		char text[1000];
		struct found k;
		uint64_t line = 1, column = 1;
		snprintf(text, sizeof text, "%.*s%s", (int)before, mistakes[i].text, at + 1);
		for (const char *p = text; p < text + before; p++)
			if (*p == '\n') {
				line++;
				column = 1;
			} else {
				column++;
			}
		vocab_set_formats(v, formats);
		cr_expect_not(load(v, text, strlen(text), &k), "taken: %s", text);
		cr_expect(k.n == 1 && k.rule == mistakes[i].rule &&
		              strstr(k.message, mistakes[i].says) != NULL,
		          "%s\n%zu, %s: %s", text, k.n, k.rule != NULL ? k.rule->id : "", k.message);
		/* the parser decides where an unclosed list ends */
		if (strstr(k.message, "while parsing") == NULL)
			cr_expect(k.line == line && k.column == column && k.offset == before,
			          "%s\nline %" PRIu64 ", column %" PRIu64 ", byte %" PRIu64 ", %s", text,
			          k.line, k.column, k.offset, k.message);
		cr_expect_null(v->ops->find(v, slice_str("a"), NULL, NULL));
		vocab_free(v);
	}
}

Test(vocab_mistakes, all_of_a_file_are_told)
{
	static const char text[] = "format: heph\n"
	                           "tables: {t: nowhere}\n"
	                           "events:\n"
	                           "  - {event: a, phase: x, name: ['{', '}'], layout: [a: b, c]}\n"
	                           "  - {phase: begin}\n"
	                           "  - {event: good}\n"
	                           "  - 7\n";
	struct vocabulary *const v = vocab_new("heph");
	struct found k;

	cr_expect_not(load(v, text, sizeof text - 1, &k));
	cr_expect_eq(k.n, 8, "%zu mistakes", k.n);
	cr_expect_null(v->ops->find(v, slice_str("good"), NULL, NULL));
	cr_expect(load(v, "format: heph\nevents: [event: good]", 34, &k));
	cr_expect_not_null(v->ops->find(v, slice_str("good"), NULL, NULL));
	vocab_free(v);
}

/* A file with mistakes adds neither rules nor tables. */
Test(vocab_mistakes, nothing_of_a_bad_file_is_taken)
{
	struct vocabulary *const v = vocab_new("heph");
	struct found k;

	for (int i = 0; i < 200; i++) {
		char text[200];
		snprintf(text, sizeof text,
		         "format: heph\ntables: {t%d: trace}\nevents: [{event: a, name: '{x|t%d}'}, {}]", i,
		         i);
		cr_expect_not(load(v, text, strlen(text), &k));
		cr_expect_eq(k.n, 1, "%s", k.message);
	}
	cr_expect_eq(v->ops->table(v, slice_str("t0")), PLAN_NO_TABLE);
	cr_expect_null(v->ops->find(v, slice_str("a"), NULL, NULL));
	vocab_free(v);
}

/* ---- limits ---- */

/* Repeats a piece, with its number in it, n times between a head and an end. */
static bool load_many(const char *head, const char *piece, unsigned n, const char *end, struct found *k)
{
	const size_t space = strlen(head) + (size_t)n * (strlen(piece) + 24) + strlen(end) + 1;
	char *const text = malloc(space);
	struct vocabulary *const v = vocab_new("heph");
	size_t len = 0;

	cr_assert(text != NULL && v != NULL);
	len += (size_t)snprintf(text, space, "%s", head);
	for (unsigned i = 0; i < n; i++) {
		for (const char *p = piece; *p != '\0'; p++)
			len += (size_t)snprintf(text + len, space - len, *p == '#' ? "%u" : "%c",
			                        *p == '#' ? i : (unsigned)*p);
	}
	len += (size_t)snprintf(text + len, space - len, "%s", end);
	const bool ok = load(v, text, len, k);
	vocab_free(v);
	free(text);
	return ok;
}

static void expect_limit(const char *head, const char *piece, unsigned n, const char *end, const char *says)
{
	struct found k;

	cr_expect(load_many(head, piece, n, end, &k), "%u times %s: %s", n, piece, k.message);
	cr_expect_not(load_many(head, piece, n + 1, end, &k), "%u times %s", n + 1, piece);
	cr_expect(k.n == 1 && k.rule == R(BAD_VALUE) && strstr(k.message, says) != NULL, "%zu, %s", k.n,
	          k.message);
}

Test(vocab_mistakes, limits_are_told)
{
	expect_limit("format: heph\nevents:\n", " - {event: e#}\n", 16384, "", "more than 16384 rules");
	expect_limit("format: heph\nevents:\n", " - {event: e#, named: x}\n", 1024, "",
	             "more than 1024 rules with named");
	expect_limit("format: heph\nevents:\n", " - {match: e#*}\n", 256, "",
	             "more than 256 patterns of match");
	expect_limit("format: heph\nevents:\n - match: '", "*a", 16, "'\n", "more than 16 *");
	expect_limit("format: heph\nevents:\n - {event: e, named: '", "*a", 16, "'}\n", "more than 16 *");
	expect_limit("format: heph\ntables:\n", "  t#: trace\n", 64, "", "more than 64 tables");
	expect_limit("format: heph\nevents:\n - event: a\n   layout:\n", "   - f#: u8\n", 256, "",
	             "more than 256 fields");
	expect_limit("format: heph\nevents:\n - event: a\n   reader:\n", "     w#: x\n", 64, "",
	             "more than 64 words");
	expect_limit("format: heph\nevents:\n - event: a\n   name: '", "{f}", 63, " '",
	             "more than 63 references");
}

/* Numbers of pairs and states have 16 bits; a file can have rules for a quarter of them. */
Test(vocab_mistakes, words_of_pairs_are_limited)
{
	struct vocabulary *const v = vocab_new("heph");
	struct found k;
	unsigned words = 0;
	bool ok = true;

	while (ok && words < 70000) {
		char *const text = malloc(1U << 20);
		size_t len = (size_t)sprintf(text, "format: ovni\nevents:\n"); /* checked, and not kept */
		for (int i = 0; i < 10000; i++)
			len +=
			    (size_t)sprintf(text + len, " - {event: a, pair: w%u, phase: begin}\n", words++);
		ok = load(v, text, len, &k);
		free(text);
	}
	cr_expect_eq(words, 70000);
	cr_expect_not(ok);
	cr_expect(strstr(k.message, "more than 65535 different words") != NULL, "%s", k.message);
	vocab_free(v);
}

/* ---- hostile files ---- */

static char *repeat(const char *piece, size_t n, const char *end)
{
	const size_t len = strlen(piece);
	char *const s = malloc(len * n + strlen(end) + 1);

	if (s == NULL)
		abort();
	for (size_t i = 0; i < n; i++)
		memcpy(s + i * len, piece, len);
	strcpy(s + len * n, end);
	return s;
}

static void expect_refused(char *text, const char *says)
{
	struct vocabulary *const v = vocab_new("heph");
	struct found k;

	cr_expect_not(load(v, text, strlen(text), &k));
	cr_expect(k.n > 0 && strstr(k.message, says) != NULL, "%.40s...: %s", text, k.message);
	vocab_free(v);
	free(text);
}

Test(vocab_mistakes, hostile_files_are_refused)
{
	expect_refused(repeat("[", 1000000, ""), "deep");
	expect_refused(repeat("{", 1000000, ""), "deep");
	expect_refused(repeat("- ", 1000000, "x"), "deep");
	expect_refused(repeat("? ", 100000, "x"), "deep");
	expect_refused(repeat("a,", 1000000, "]") /* no list at all: one long text */, "is a mapping");
	expect_refused(repeat("- a\n", 1000000, ""), "more than 262144 values");
	expect_refused(repeat("x", 4 << 20, ""), "is a mapping");
	expect_refused(repeat("x", (4 << 20) + 1, ""), "larger than 4 MiB");
	expect_refused(repeat("'", 1000001, ""), "");
	expect_refused(repeat("\t", 1000000, ""), "");
	expect_refused(repeat("a: &x [*x]\n", 1, ""), "anchors");
	expect_refused(repeat("%YAML 1.1\n", 2, "--- a"), "");
	expect_refused(repeat("zz: 1\n", 200000, ""), "");
}

Test(vocab_mistakes, a_nul_byte_ends_nothing)
{
	static const char text[] = "format: heph\0\nevents: []";
	struct vocabulary *const v = vocab_new("heph");
	struct found k;

	cr_expect_not(load(v, text, sizeof text - 1, &k));
	cr_expect(k.rule == R(SYNTAX) && k.offset == 12, "%s", k.message);
	static const char escaped[] = "format: \"heph\\0x\"";
	cr_expect_not(load(v, escaped, sizeof escaped - 1, &k));
	cr_expect(k.rule == R(SYNTAX) && k.offset == 8, "%s", k.message);
	vocab_free(v);
}

/* ---- every prefix, every byte changed ---- */

static const char whole[] = "format: heph\n"
                            "tracks: {process: 'p {id}', threads: {1: \"one\\u00e4\"}}\n"
                            "tables: {t: process}\n"
                            "events:\n"
                            "  - event: [a, b]\n"
                            "    match: \"x*\"\n"
                            "    fields: [f]\n"
                            "    phase: begin # comment\n"
                            "    pair: p\n"
                            "    key: '{k|t}'\n"
                            "    name: ['{a,b|t} of {{x}}', >\n      folded\n      text]\n"
                            "    track: {name: 'w {w}', id: w, below: true}\n"
                            "    layout: [a: u8, b: \"i64[]\"]\n"
                            "    define: [{table: t, key: [a, b], value: c}]\n"
                            "    flow: {name: n, out: o, in: i}\n"
                            "    reader: {x: y}\n"
                            "  - {match: '*', named: '\\**', phase: counter, values: [v]}\n";

static void try_text(const char *text, size_t n)
{
	struct vocabulary *const v = vocab_new("heph");
	struct found k;
	char *const copy = malloc(n + 1); /* so that a checker of memory sees a step outside */

	cr_assert(v != NULL && copy != NULL);
	memcpy(copy, text, n);
	char *const exact = realloc(copy, n > 0 ? n : 1);
	if (load(v, exact, n, &k))
		v->ops->find(v, slice_str("xyz"), NULL, NULL);
	else
		cr_expect(k.n > 0);
	free(exact);
	vocab_free(v);
}

Test(vocab_mistakes, sweeps)
{
	char text[sizeof whole];
	const size_t n = sizeof whole - 1;
	static const char bytes[] = { 0,   '\n', ' ', '{', '}', '[', '"',    '\'',
		                      ':', '|',  '*', '&', '!', '-', '\x80', '\xff' };

	for (size_t i = 0; i <= n; i++)
		try_text(whole, i);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof bytes; k++) {
			memcpy(text, whole, n);
			text[i] = bytes[k];
			try_text(text, n);
		}
}

/* Items that are no rules are charged like rules: each needs memory. */
Test(vocab_mistakes, bad_rules_are_limited_too)
{
	char *const text = repeat("- x\n", 100000, "");
	const size_t space = strlen(text) + 64;
	char *const file = malloc(space);
	struct vocabulary *const v = vocab_new("heph");
	struct findings j;

	cr_assert_not_null(file);
	snprintf(file, space, "format: heph\nevents:\n%s", text);
	findings_init(&j, "test.yaml", NULL, NULL);
	cr_expect_not(vocab_add_text(v, file, strlen(file), &j, NULL));
	cr_expect_eq(j.levels[LEVEL_ERROR], 16384 + 1);
	findings_free(&j);
	vocab_free(v);
	free(file);
	free(text);
}
