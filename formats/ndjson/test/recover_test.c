/*
 * Recovery of NDJSON.  For any damage, each line of the output is strict JSON, validation finds no error, the
 * output contains all lines outside of the damage, and recovering it again changes nothing.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/test/cli_test_util.h"
#include "ndjson/ndjson.h"
#include "run/write/test/recover_rig_test.h"
#include "test/fuzz/strict_json.h"
#include "test/properties/rows_test.h"
#include "test/support/strength.h"

/* RECOVER_SAVE: a file for the first input that breaks a promise. */
#define LARGEST 20000

extern const struct format ndjson_format;

/* ---- kinds of damage ---- */

#define HEAD_OF(mode)                                                                                        \
	"{\"type\":\"trace\",\"version\":1,\"tool\":\"t\",\"mode\":\"" mode                                  \
	"\",\"rebased\":false,\"format\":\"tick\","                                                          \
	"\"clock\":\"monotonic\"}\n"
#define HEAD HEAD_OF("interpreted")
#define PROCESS "{\"type\":\"track\",\"index\":0,\"kind\":\"process\",\"name\":\"p\",\"id\":7}\n"
#define THREAD "{\"type\":\"track\",\"index\":1,\"kind\":\"thread\",\"name\":\"t\",\"id\":8,\"parent\":0}\n"
#define CLASS "{\"type\":\"class\",\"index\":0,\"name\":\"c\",\"category\":\"k\"}\n"
#define START HEAD PROCESS THREAD CLASS
#define EVENT_WITH(ts, more)                                                                                 \
	"{\"kind\":\"instant\",\"ts_ns\":" #ts                                                               \
	",\"name\":\"n\",\"class_index\":0,\"category\":\"k\",\"track_index\":1,"                            \
	"\"pid\":7,\"tid\":8,\"offset\":4" more "}"
#define EVENT(ts) EVENT_WITH(ts, "") "\n"
#define FACTS "\"format\":\"tick\",\"clock\":\"monotonic\""
#define END_OF(n) "{\"type\":\"trace_end\",\"records\":" #n ",\"events\":" #n "," FACTS ",\"losses\":{}}\n"
#define END END_OF(2)
#define NEW_HEAD                                                                                             \
	"{\"type\":\"trace\",\"version\":1,\"tool\":\"tracetool\",\"mode\":\"interpreted\",\"rebased\":"     \
	"false,"                                                                                             \
	"\"format\":\"unknown\",\"clock\":\"unknown\"}\n"
#define NEW_CLASS "{\"type\":\"class\",\"index\":0,\"name\":\"k\",\"category\":\"k\"}\n"
#define NEW_THREAD                                                                                           \
	"{\"type\":\"track\",\"index\":1,\"kind\":\"thread\",\"name\":\"thread 8\",\"id\":8,\"parent\":0}\n"

/* list: `=` a repair, `+` an insertion, `-` dropped bytes, each with the rule. */
static const struct {
	const char *in, *out, *list;
} cases[] = {
	{ START EVENT(1) EVENT(2) END, START EVENT(1) EVENT(2) END, "" },
	/* before, between and after the lines */
	{ "\xef\xbb\xbf" START EVENT(1) END, START EVENT(1) END, "=not-json" },
	{ "\n \r\n" START "\n" EVENT(1) END "\n", START EVENT(1) END,
	  "=not-json=not-json=not-json=not-json" },
	{ "  " START " " EVENT(1) END, "  " START " " EVENT(1) END, "" },
	{ START "text\n" EVENT(1) "[1]\n" END, START EVENT(1) END, "-not-json-not-json" },
	{ START EVENT_WITH(1, "") ",\n" END, START EVENT(1) END, "=not-json" },
	{ START "log: " EVENT(1) END, START EVENT(1) END, "-not-json" },
	{ START "{\"kind\":\"instant\",\"ts_ns\":2," EVENT_WITH(1, "") ",\"name\":\"n\"}\n" END,
	  START EVENT(1) END, "-not-json-not-json" },
	{ START EVENT_WITH(1, "") EVENT(2) END, START EVENT(1) EVENT(2) END, "+not-json" },
	{ START EVENT_WITH(1, "") ", " EVENT(2) END, START EVENT(1) EVENT(2) END, "=not-json+not-json" },
	/* the ends of the file */
	{ START EVENT(1) "{\"type\":\"trace_end\",\"records\":2,\"events\":2," FACTS ",\"losses\":{}}",
	  START EVENT(1) END, "+cut-line" },
	{ START EVENT(1), START EVENT(1) END_OF(1), "+no-end" },
	{ START EVENT(1) "{\"type\":\"trace_end\",\"records\":1,\"events\":~}\n" END_OF(1),
	  START EVENT(1) END_OF(1), "-not-json" },
	{ START EVENT_WITH(1, ""), START EVENT(1) END_OF(1), "+cut-line+no-end" },
	{ START EVENT(1) "{\"kind\":\"inst", START EVENT(1) END_OF(1), "-cut-line+no-end" },
	{ START EVENT(1) "{\"type\":\"trace_end\",\"records\":2,\"events\":2," FACTS ",\"los",
	  START EVENT(1) END, "=cut-line+cut-line" },
	{ PROCESS THREAD CLASS EVENT(1) END, NEW_HEAD PROCESS THREAD CLASS EVENT(1) END, "+no-trace" },
	{ "garbage\n" PROCESS THREAD CLASS EVENT(1) END, NEW_HEAD PROCESS THREAD CLASS EVENT(1) END,
	  "-not-json+no-trace" },
	{ "garbage\n" START EVENT(1) END, START EVENT(1) END, "-not-json" },
	{ "{\"type\":\"trbce\",\"version\":1,\"tool\":\"t\",\"mode\":\"raw\",\"rebased\":false," FACTS
	  "}\n" EVENT(1),
	  HEAD_OF("raw") NEW_CLASS
	  "{\"type\":\"track\",\"index\":1,\"kind\":\"process\",\"name\":\"thread 8\"}\n" EVENT(1) END_OF(1),
	  "=unknown-type+unknown-reference+no-end" },
	{ "{\"type\":\"trace\",\"version\":1,\"tool\":\"t\",\"mode\":\"raw\",\"rebased\":false,"
	  "\"form\n" PROCESS,
	  "{\"type\":\"trace\",\"version\":1,\"tool\":\"t\",\"mode\":\"raw\",\"rebased\":false,\"format\":"
	  "\"unknown\","
	  "\"clock\":\"unknown\"}\n" PROCESS
	  "{\"type\":\"trace_end\",\"records\":0,\"events\":0,\"format\":\"unknown\",\"clock\":\"unknown\","
	  "\"losses\":{}}\n",
	  "=not-json+no-end" },
	{ START EVENT(1) END EVENT(2) HEAD, START EVENT(1) END, "-unexpected-line-unexpected-line" },
	{ HEAD START EVENT(1) END, START EVENT(1) END, "-unexpected-line" },
	{ START EVENT(1) HEAD PROCESS EVENT(2) END, START EVENT(1) END_OF(1),
	  "-unexpected-line-unexpected-line-unexpected-line-unexpected-line+no-end" },
	/* JSON that is repaired */
	{ START EVENT_WITH(1, ",\"args\":{\"a\":nan,\"b\":\"x\ty\",\"c\":\"say \"hi\"\"}") "\n" END,
	  START EVENT_WITH(1, ",\"args\":{\"a\":\"NaN\",\"b\":\"x\\ty\",\"c\":\"say \\\"hi\\\"\"}") "\n" END,
	  "=not-json" },
	{ START EVENT_WITH(1, ",\"args\":{\"a\":\"caf\xe9\"}") "\n" END,
	  START EVENT_WITH(1, ",\"args\":{\"a\":\"caf\xef\xbf\xbd\"}") "\n" END, "=bad-utf8" },
	{ START EVENT_WITH(1, ",,\"args\":{\"a\":1 \"b\":2,},") "\n" END,
	  START EVENT_WITH(1, ",\"args\":{\"a\":1,\"b\":2}") "\n" END, "=not-json" },
	{ START "{\"kind\":\"instant\",\"ts_ns\":1,\"name\":\"n\",\"class_index\":0,\"category\":\"k\","
	        "\"track_index\":1,\"offset\":4,\"args\":{\"a\":1}\n" END,
	  START "{\"kind\":\"instant\",\"ts_ns\":1,\"name\":\"n\",\"class_index\":0,\"category\":\"k\","
	        "\"track_index\":1,\"offset\":4,\"args\":{\"a\":1}}\n" END,
	  "=not-json" },
	/* a number that is perhaps cut, a cut text, a record on the same line */
	{ START "{\"kind\":\"instant\",\"ts_ns\":1,\"name\":\"n\",\"class_index\":0,\"category\":\"k\","
	        "\"track_index\":1,\"offset\":4\n" END,
	  START END, "-not-json" },
	{ START "{\"kind\":\"instant\",\"ts_ns\":1,\"na" EVENT(2) END, START EVENT(2) END, "-not-json" },
	{ START "{\"kind\":\"instant\",\"ts_ns\":1,\"args\":{\"a\":{" EVENT(2) END, START EVENT(2) END,
	  "-not-json" },
	/* parts of a line that the reader leaves out */
	{ START EVENT_WITH(1,
	                   ",\"tid\":9,\"args\":{\"a\":1,\"b\":2,\"a\":3},\"types\":{\"b\":\"u8\"}") "\n" END,
	  START EVENT_WITH(1, ",\"args\":{\"a\":1,\"b\":2},\"types\":{\"b\":\"u8\"}") "\n" END,
	  "=duplicate-member" },
	{ START EVENT_WITH(
	      1, ",\"args\":{\"a\":300,\"b\":2},\"types\":{\"a\":\"u8\",\"b\":\"u8\",\"c\":\"u8\"}") "\n" END,
	  START EVENT_WITH(1, ",\"args\":{\"b\":2},\"types\":{\"b\":\"u8\"}") "\n" END, "=out-of-range" },
	{ START EVENT_WITH(1, ",\"pairs\":[[\"a\",1],[\"a\"],[\"a\",{\"$u8\":1}]]") "\n" END,
	  START EVENT_WITH(1, ",\"pairs\":[[\"a\",1],[\"a\",{\"$u8\":1}]]") "\n" END, "=bad-value" },
	{ START EVENT_WITH(1, ",\"args\":[],\"async\":0") "\n" END, START EVENT(1) END, "=wrong-type" },
	{ HEAD "{\"type\":\"track\",\"index\":0,\"kind\":\"process\",\"name\":\"p\",\"id\":\"x\",\"id\":7}"
	       "\n" THREAD CLASS EVENT(1) END,
	  START EVENT(1) END, "=duplicate-member" },
	{ START EVENT_WITH(1, ",\"tid\":9,\"tid\":9,\"tid\":9,\"tid\":9,\"tid\":9,\"tid\":9") "\n" END,
	  START EVENT(1) END, "=duplicate-member" },
	{ START EVENT_WITH(1, ",\"args\":[],\"async\":0,\"types\":1,\"pairs\":1,\"escaped\":1") "\n" END,
	  START EVENT(1) END, "=wrong-type" },
	{ START EVENT_WITH(1, ",\"colour\":0") "\n" END, START EVENT_WITH(1, ",\"colour\":0") "\n" END, "" },
	{ START EVENT(1) "{\"type\":\"trace_end\",\"records\":2,\"events\":2," FACTS
	                 ",\"losses\":{\"a\":-1,\"b\":2}}\n",
	  START EVENT(1) "{\"type\":\"trace_end\",\"records\":2,\"events\":2," FACTS
	                 ",\"losses\":{\"b\":2}}\n",
	  "=out-of-range" },
	/* a wrong escaped form */
	{ HEAD "{\"type\":\"track\",\"index\":0,\"kind\":\"process\",\"name\":\"p\",\"id\":7,\"host\":"
	       "\"\\\\x1\",\"escaped\":[\"host\"]}\n" THREAD CLASS EVENT(1) END,
	  HEAD "{\"type\":\"track\",\"index\":0,\"kind\":\"process\",\"name\":\"p\",\"id\":7,\"escaped\":["
	       "\"host\"]}\n" THREAD CLASS EVENT(1) END,
	  "=bad-value" },
	{ "{\"type\":\"trace\",\"version\":1,\"tool\":\"t\",\"mode\":\"raw\",\"rebased\":false,\"format\":"
	  "\"\\\\x1\","
	  "\"clock\":\"c\",\"escaped\":[\"format\"]}\n" PROCESS END,
	  "{\"type\":\"trace\",\"version\":1,\"tool\":\"t\",\"mode\":\"raw\",\"rebased\":false,\"format\":"
	  "\"\\\\x1\","
	  "\"clock\":\"c\",\"escaped\":[\"format\"]}\n" PROCESS END,
	  "" },
	/* lost lines, and lines that refer to them */
	{ HEAD PROCESS THREAD EVENT(1) EVENT(2) END, HEAD PROCESS THREAD NEW_CLASS EVENT(1) EVENT(2) END,
	  "+unknown-reference" },
	{ HEAD PROCESS CLASS EVENT(1) END, HEAD PROCESS CLASS NEW_THREAD EVENT(1) END, "+unknown-reference" },
	{ HEAD "{\"type\":\"track\",\"index\":0,\"kind\":\"\n" THREAD CLASS EVENT(1) END,
	  HEAD
	  "{\"type\":\"track\",\"index\":0,\"kind\":\"process\",\"name\":\"track 0\"}\n" THREAD CLASS EVENT(1)
	      END,
	  "-not-json+unknown-reference" },
	{ EVENT(1) HEAD PROCESS THREAD EVENT(2) END, HEAD PROCESS THREAD NEW_CLASS EVENT(2) END,
	  "-unknown-reference+unknown-reference" },
	{ EVENT(99999999999999999999) HEAD PROCESS END,
	  HEAD NEW_CLASS
	  "{\"type\":\"track\",\"index\":1,\"kind\":\"process\",\"name\":\"thread 8\"}\n" PROCESS END,
	  "-out-of-range+unknown-reference" },
	/* damaged references and indexes: the lines that they name follow */
	{ HEAD PROCESS THREAD EVENT(1) CLASS EVENT(2) END, HEAD PROCESS THREAD CLASS EVENT(2) END,
	  "-unknown-reference" },
	{ HEAD "{\"type\":\"track\",\"index\":1,\"kind\":\"process\",\"name\":\"p\"}\n" THREAD CLASS EVENT(1)
	      END,
	  HEAD
	  "{\"type\":\"track\",\"index\":0,\"kind\":\"process\",\"name\":\"track 0\"}\n" THREAD CLASS EVENT(1)
	      END,
	  "-index-twice+unknown-reference" },
	{ START PROCESS EVENT(1) END, START EVENT(1) END, "-index-twice" },
};

/* Writes the changes as in `cases`. */
static void write_list(const struct recovered *r, char *to, size_t size)
{
	size_t n = 0;

	*to = '\0';
	for (size_t i = 0; i < r->nchanges && n < size; i++) {
		const struct recover_change *const c = &r->changes[i];
		n += (size_t)snprintf(to + n, size - n, "%c%s",
		                      !c->repaired     ? '-'
		                      : c->length == 0 ? '+'
		                                       : '=',
		                      c->rule->id + strlen("ndjson/"));
	}
}

Test(recover_ndjson, each_kind_of_damage)
{
	struct recovered r;
	char list[1000];
	bool readable;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const size_t n = strlen(cases[i].in);
		recover_bytes(&r, &ndjson_format, true, cases[i].in, n, 0);
		write_list(&r, list, sizeof list);
		cr_expect(r.n == strlen(cases[i].out) && memcmp(r.p, cases[i].out, r.n) == 0,
		          "%zu: %s\nis\n%.*s\nnot\n%s", i, cases[i].in, (int)r.n, r.p, cases[i].out);
		cr_expect_str_eq(list, cases[i].list, "%zu: %s: %s, not %s", i, cases[i].in, list,
		                 cases[i].list);
		recovered_free(&r);
		const char *const fault = recover_fault(&ndjson_format, cases[i].in, n, &readable);
		cr_expect_null(fault, "%zu: %s", i, fault);
	}
}

/* recover_fault() tests for errors of structure only. */
Test(recover_ndjson, every_error_is_one_of_structure)
{
	for (const struct rule *rule = ndjson_rules; rule->id != NULL; rule++) {
		const char *const *id = ndjson_recover_ops.structure;
		while (*id != NULL && strcmp(*id, rule->id) != 0)
			id++;
		cr_expect_eq(*id != NULL, rule->level == LEVEL_ERROR, "%s", rule->id);
	}
}

/* Writes a trace with BEYOND more classes than a reader takes, each with an event. */
#define BEYOND 10
static void put_many_classes(struct text *to, bool lost)
{
	text_str(to, HEAD PROCESS);
	for (uint32_t i = 0; i < NDJSON_MAX_CLASSES + BEYOND; i++) {
		if (!lost)
			text_printf(to,
			            "{\"type\":\"class\",\"index\":%" PRIu32
			            ",\"name\":\"c\",\"category\":\"k\"}\n",
			            i);
		text_printf(to,
		            "{\"kind\":\"instant\",\"ts_ns\":1,\"name\":\"n\",\"class_index\":%" PRIu32
		            ",\"category\":\"k\",\"track_index\":0,\"offset\":4}\n",
		            i);
	}
	cr_assert(!to->failed);
}

/* Classes beyond the limit are kept, with their events; lost ones are not written, and their events are
 * dropped. */
Test(recover_ndjson, classes_beyond_the_limit)
{
	struct recovered r;
	bool readable;

	for (int lost = 0; lost < 2; lost++) {
		struct text in = { .p = NULL };
		put_many_classes(&in, lost);
		recover_bytes(&r, &ndjson_format, true, in.p, in.n, 0);
		cr_expect_eq(r.gaps, lost ? BEYOND : 0);
		cr_expect(lost || memcmp(r.p, in.p, in.n) == 0);
		recovered_free(&r);
		const char *const fault = recover_fault(&ndjson_format, in.p, in.n, &readable);
		cr_expect_null(fault, "%d: %s", lost, fault);
		text_free(&in);
	}
}

/* A head of another version is not damaged: its lines may mean something else. */
Test(recover_ndjson, another_version_is_refused)
{
	struct recovered r;
	const char text[] = "\xef\xbb\xbf{\"type\":\"trace\",\"version\":2,\"tool\":\"t\",\"mode\":\"raw\","
	                    "\"rebased\":false," FACTS "}\n" PROCESS;

	for (size_t mark = 0; mark <= 3; mark += 3) {
		recover_bytes(&r, &ndjson_format, true, text + 3 - mark, sizeof text - 4 + mark, 0);
		cr_expect(!r.readable && r.n == 0, "%zu", mark);
		recovered_free(&r);
	}
}

/* ---- prefixes and random damage ---- */

struct lines {
	struct slice list[64];
	size_t n;
};

static void list_lines(struct lines *to, const char *p, size_t n)
{
	const char *const end = p + n;

	to->n = 0;
	while (p < end && to->n < sizeof to->list / sizeof *to->list) {
		const char *const feed = memchr(p, '\n', (size_t)(end - p)), *const e =
		                                                                 feed != NULL ? feed : end;
		to->list[to->n++] = slice_of(p, (size_t)(e - p));
		p = e + 1;
	}
}

static struct slice trim(struct slice s)
{
	while (s.n > 0 && strchr(" \t\r", s.p[s.n - 1]) != NULL)
		s.n--;
	while (s.n > 0 && strchr(" \t\r", *s.p) != NULL)
		s = slice_of(s.p + 1, s.n - 1);
	return s;
}

/* Returns the end of the first line in [p, end) that is s, but for blanks around it; or begins with it, if
 * `begins`. */
static const char *find_line(const char *p, const char *end, struct slice s, bool begins)
{
	s = trim(s);
	for (const char *feed; p < end && (feed = memchr(p, '\n', (size_t)(end - p))) != NULL; p = feed + 1) {
		const struct slice line = trim(slice_of(p, (size_t)(feed - p)));
		if ((line.n == s.n || (begins && line.n > s.n)) && memcmp(line.p, s.p, s.n) == 0)
			return feed;
	}
	return NULL;
}

/* Whether a class is damaged: its types of fields may be wrong, and its events then lose these fields. */
static bool is_class_damaged(const struct lines *lines, const char *base, size_t from, size_t to)
{
	static const char key[] = "{\"type\":\"class\"";

	for (size_t i = 0; i < lines->n; i++) {
		const struct slice s = lines->list[i];
		const size_t begin = (size_t)(s.p - base);
		if (s.n > sizeof key && memcmp(s.p, key, sizeof key - 1) == 0 && begin + s.n > from &&
		    begin < to)
			return true;
	}
	return false;
}

static struct slice without_fields(struct slice s)
{
	static const char key[] = ",\"args\":";

	for (uint32_t i = 0; i + sizeof key < s.n; i++)
		if (memcmp(s.p + i, key, sizeof key - 1) == 0)
			return slice_of(s.p, i);
	return s;
}

/* Whether the damage made the version another one. */
static bool has_other_version(const char *p, size_t n)
{
	static const char key[] = "\"version\":";

	for (size_t i = 0; i + sizeof key < n && p[i] != '\n'; i++)
		if (memcmp(p + i, key, sizeof key - 1) == 0)
			return p[i + sizeof key - 1] != '1' || p[i + sizeof key] != ',';
	return false;
}

static const char *fault_of_lines(const struct recovered *r)
{
	struct lines *const lines = malloc(sizeof *lines);
	const char *fault = NULL;
	size_t at;

	cr_assert_not_null(lines);
	list_lines(lines, r->p, r->n);
	for (size_t i = 0; i < lines->n && fault == NULL; i++)
		fault = strict_json_fault(lines->list[i].p, lines->list[i].n, &at);
	free(lines);
	return fault;
}

/* Lines that begin before `from` or end after `to`, offsets of the sample, are whole. */
static void expect(const struct sample *s, const struct lines *lines, const char *p, size_t n, size_t from,
                   size_t to, const char *how, uint64_t number)
{
	struct recovered r;
	const char *fault = NULL;
	bool readable;

	recover_bytes(&r, &ndjson_format, true, p, n, number % 16 == 0 ? 61 : 0);
	const bool begins = is_class_damaged(lines, s->p, from, to);
	const char *found = r.p;
	for (size_t i = 0; i < lines->n && fault == NULL && !has_other_version(p, n); i++) {
		const struct slice e = lines->list[i];
		const size_t begin = (size_t)(e.p - s->p), end = begin + e.n;
		if (end > from && begin < to)
			continue;
		const char *const next =
		    found != NULL ? find_line(found, r.p + r.n, begins ? without_fields(e) : e, begins)
		                  : NULL;
		fault = next == NULL ? "a line outside of the damage is lost" : NULL;
		found = next != NULL ? next + 1 : found;
	}
	if (fault == NULL && r.readable && r.n > 0)
		fault = fault_of_lines(&r);
	if (fault == NULL)
		fault = recover_fault(&ndjson_format, p, n, &readable);
	if (fault != NULL && getenv("RECOVER_SAVE") != NULL)
		write_whole(getenv("RECOVER_SAVE"), p, n);
	cr_assert_null(fault, "%s, %s %llu: %s\n%.*s\n--- is\n%.*s", s->path, how, (unsigned long long)number,
	               fault, (int)n, p, (int)r.n, r.p);
	recovered_free(&r);
}

static void sweep(const struct sample *s)
{
	static struct lines lines;
	static char space[LARGEST + 100];
	const unsigned long damages = strength(200, 1000, 100000);
	size_t from, to;

	if (s->n == 0 || s->n > LARGEST)
		return;
	list_lines(&lines, s->p, s->n);
	for (size_t n = 1; n < s->n; n += strength(7, 1, 1))
		expect(s, &lines, s->p, n, n, s->n + 1, "prefix", n);
	for (unsigned long i = 0; i < damages; i++) {
		uint64_t seed = i * 1000003 + s->n;
		memcpy(space, s->p, s->n);
		const size_t n = recover_damage(space, s->n, &seed, &from, &to);
		expect(s, &lines, space, n, from, to, "damage", i);
	}
}

Test(recover_sweep, ndjson_lines_outside_of_damage_are_kept)
{
	each_sample_of("ndjson", SAMPLES_GOOD, sweep);
}
