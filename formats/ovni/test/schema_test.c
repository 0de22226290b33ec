/*
 * The built-in vocabulary, against the table of events that an independent reading of ovni's sources gave;
 * the specification's own bytes, against values taken from them by hand; hardware counters, which are numbers
 * in a jumbo event, named by the metadata of the stream.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "vocab/vocab.h"

/* ---- the table of events ---- */

#define EVENTS 365

enum column {
	MODEL,
	CHARACTER,
	VERSION,
	CODE,
	JUMBO,
	ARGS,
	KIND,
	MATCH,
	LABEL,
	NESTING,
	NEEDS,
	TYPE,
	VALUE,
	SINCE,
	COLUMNS
};

struct row {
	char *columns[COLUMNS];
};

static struct row table_rows[EVENTS];
static char *table;

/* Reads the table in the folder next to the traces; NULL: it is missing. */
static char *read_table(void)
{
	const char *const traces = getenv("TRACETOOL_TRACES");
	char path[1024];
	size_t n;

	snprintf(path, sizeof path, "%s/../formats/ovni-events.tsv",
	         traces != NULL ? traces : "../shared/traces");
	return read_whole(path, &n);
}

static bool load_rows(void)
{
	size_t n = 0;
	char *line = table = read_table();

	if (table == NULL)
		return false;
	line = strchr(line, '\n') + 1; /* names of columns */
	for (char *next; *line != '\0' && (next = strchr(line, '\n')) != NULL; line = next + 1, n++) {
		*next = '\0';
		cr_assert_lt(n, EVENTS);
		for (int i = 0; i < COLUMNS; i++) {
			table_rows[n].columns[i] = line;
			line = strchr(line, '\t');
			cr_assert(line != NULL || i == COLUMNS - 1, "row %zu has %d columns", n, i + 1);
			if (line != NULL)
				*line++ = '\0';
		}
	}
	cr_assert_eq(n, EVENTS);
	return true;
}

static struct vocabulary *load_vocabulary(void)
{
	const struct slice text = vocab_builtin("ovni");
	struct vocabulary *const v = vocab_new("ovni");
	struct findings findings;

	cr_assert_not_null(text.p);
	cr_assert_not_null(v);
	findings_init(&findings, "built in", NULL, NULL);
	cr_assert(vocab_add_text(v, text.p, text.n, &findings, NULL));
	cr_expect_eq(findings.ncounts, 0);
	findings_free(&findings);
	return v;
}

static const struct plan *find(const struct vocabulary *v, const char *code)
{
	return v->ops->find(v, slice_str(code), NULL, NULL);
}

static const char *type_name(const struct plan_layout_field *f)
{
	static const char *const names[] = {
		[VALUE_U8] = "u8",   [VALUE_U16] = "u16", [VALUE_U32] = "u32",
		[VALUE_U64] = "u64", [VALUE_I8] = "i8",   [VALUE_I16] = "i16",
		[VALUE_I32] = "i32", [VALUE_I64] = "i64", [VALUE_STRING] = "str",
	};

	return f->type < sizeof names / sizeof names[0] && names[f->type] != NULL ? names[f->type] : "?";
}

/* Expects the layout in the notation of the table: "u32:typeid,str:label". */
static void expect_layout(const struct plan *m, const struct row *row)
{
	char text[256] = "-";
	size_t n = 0;

	cr_expect(m->has_layout, "%s has no layout", row->columns[CODE]);
	for (uint32_t i = 0; i < m->nlayout; i++)
		n +=
		    (size_t)snprintf(text + n, sizeof text - n, "%s%s:%.*s", i > 0 ? "," : "",
		                     type_name(&m->layout[i]), (int)m->layout[i].name.n, m->layout[i].name.p);
	cr_expect_str_eq(text, row->columns[ARGS], "%s", row->columns[CODE]);
}

static void expect_word(const struct plan *m, const char *word, const char *value, const char *code)
{
	cr_expect(slice_is(plan_word(m, word), value), "%s: %s is not %s", code, word, value);
}

static void expect_phase(const struct plan *m, const struct row *row)
{
	const char *const kind = row->columns[KIND];

	if (strcmp(kind, "push") == 0)
		cr_expect_eq(m->phase, PLAN_BEGIN, "%s", row->columns[CODE]);
	else if (strcmp(kind, "pop") == 0)
		cr_expect_eq(m->phase, PLAN_END, "%s", row->columns[CODE]);
	else if (strcmp(kind, "create") == 0)
		cr_expect_eq(m->phase, PLAN_INSTANT, "%s", row->columns[CODE]);
}

/* Codes that push or pop a state name its stack; the others name none. */
static void expect_state(const struct plan *m, const struct row *row)
{
	const char *const nesting = row->columns[NESTING];
	const bool push = strcmp(row->columns[KIND], "push") == 0 || strcmp(row->columns[KIND], "pop") == 0;
	const bool labels =
	    strncmp(row->columns[CODE], "PP", 2) == 0 || strncmp(row->columns[CODE], "PQ", 2) == 0;
	char value[64];

	if (!push || strcmp(nesting, "ignored") == 0 || row->columns[CODE][0] == 'O') {
		cr_expect_null(plan_word(m, "stack").p, "%s", row->columns[CODE]);
		return;
	}
	snprintf(value, sizeof value, "%s.%s", row->columns[TYPE], row->columns[VALUE]);
	expect_word(m, "value", labels ? "51.label" : value, row->columns[CODE]);
	if (strcmp(nesting, "task") != 0)
		expect_word(m, "repeat", strcmp(nesting, "stack-norepeat") == 0 ? "error" : "allowed",
		            row->columns[CODE]);
}

static void expect_needs(const struct plan *m, const struct row *row)
{
	static const char *const words[][2] = {
		{ "any+oncpu", "any" },   { "active", "active" },
		{ "running", "running" }, { "active+oncpu", "active-on-cpu" },
		{ "any", "any" },
	};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(words[i][0], row->columns[NEEDS]) == 0)
			expect_word(m, "needs", words[i][1], row->columns[CODE]);
}

Test(ovni_schema, has_the_table_of_events)
{
	if (!load_rows())
		cr_skip_test("the table is not here");
	struct vocabulary *const v = load_vocabulary();

	for (int i = 0; i < EVENTS; i++) {
		const char *const code = table_rows[i].columns[CODE];
		const struct plan *const m = find(v, code);
		cr_assert_not_null(m, "%s", code);
		expect_layout(m, &table_rows[i]);
		expect_phase(m, &table_rows[i]);
		expect_state(m, &table_rows[i]);
		expect_needs(m, &table_rows[i]);
		expect_word(m, "kind", table_rows[i].columns[KIND], code);
		expect_word(m, "model", table_rows[i].columns[MODEL], code);
		cr_expect(slice_is(m->category, table_rows[i].columns[MODEL]), "%s", code);
		cr_expect_eq(plan_word(m, "jumbo").p != NULL, table_rows[i].columns[JUMBO][0] == '1', "%s",
		             code);
	}
	vocab_free(v);
	free(table);
}

/* A code that begins a span is paired with its partner of the table. */
Test(ovni_schema, partners)
{
	if (!load_rows())
		cr_skip_test("the table is not here");
	struct vocabulary *const v = load_vocabulary();
	int pairs = 0;

	for (int i = 0; i < EVENTS; i++) {
		if (strcmp(table_rows[i].columns[KIND], "push") != 0)
			continue;
		const struct plan *const begin = find(v, table_rows[i].columns[CODE]),
		                         *const end = find(v, table_rows[i].columns[MATCH]);
		cr_assert(begin != NULL && end != NULL);
		cr_expect_neq(begin->pair, 0, "%s", table_rows[i].columns[CODE]);
		cr_expect_eq(begin->pair, end->pair, "%s", table_rows[i].columns[CODE]);
		cr_expect_eq(end->phase, PLAN_END, "%s", table_rows[i].columns[CODE]);
		pairs++;
	}
	cr_expect_eq(pairs, 163);
	vocab_free(v);
	free(table);
}

/* Codes match by state, not by letters. */
Test(ovni_schema, one_state_of_two_names)
{
	struct vocabulary *const v = load_vocabulary();

	cr_expect_eq(find(v, "VS[")->pair, find(v, "VSn")->pair);
	cr_expect_neq(find(v, "VS[")->pair, find(v, "VU]")->pair);
	vocab_free(v);
}

/* Each code has one rule; all are in the table, but two old ones. */
Test(ovni_schema, one_rule_for_each_code)
{
	const struct slice text = vocab_builtin("ovni");
	const char *const end = text.p + text.n;
	char seen[400][4];
	int n = 0;

	for (const char *p = text.p; (p = strstr(p, "{event: \"")) != NULL && p < end; p += 9, n++) {
		cr_assert_lt(n, 400);
		memcpy(seen[n], p + 9, 3);
		seen[n][3] = '\0';
		for (int i = 0; i < n; i++)
			cr_expect_str_neq(seen[i], seen[n]);
	}
	cr_expect_eq(n, EVENTS + 2);
}

/* Codes outside of the table: bursts and events of regions with any letter, and old ones. */
Test(ovni_schema, others)
{
	struct vocabulary *const v = load_vocabulary();

	cr_expect_not_null(find(v, "OBx"));
	cr_expect_not_null(find(v, "OUj"));
	cr_expect_not_null(find(v, "6TC"));
	cr_expect_null(find(v, "6Tz"));
	cr_expect_null(find(v, "RT["));
	vocab_free(v);
}

/* ---- examples of the specification ---- */

struct expected {
	const char *at, *code, *time, *fields;
};

static void expect_lines(const char *path, const struct expected *want, size_t n)
{
	const char *const args[] = { "cat", path, NULL };
	struct ran r = run_tool(args, NULL, 0);
	char *line = strtok(r.out, "\n");

	cr_expect_eq(r.status, 0, "%s", r.err);
	for (size_t i = 0; i < n; i++, line = strtok(NULL, "\n")) {
		cr_assert_not_null(line, "%s ends before event %zu", path, i + 1);
		cr_expect_eq(strncmp(line, want[i].at, strlen(want[i].at)), 0, "%s", line);
		cr_expect_not_null(strstr(line, want[i].code), "%s", line);
		cr_expect_not_null(strstr(line, want[i].time), "%s", line);
		cr_expect_not_null(strstr(line, want[i].fields), "%s", line);
	}
	cr_expect_null(line, "one event too many: %s", line);
	ran_free(&r);
}

Test(ovni_document, the_examples_of_one_event)
{
	static const struct expected want[] = {
		{ "@8 ", " OHx ", " ts=4859384881529176 ", " cpu=0 tid=-1 tag=0" },
		{ "@36 ", " VYc ", " ts=5295892685636075 ", " typeid=1 label=\"testtype1\"" },
		{ "@66 ", " OHe ", " ts=5295892744619265 ", "" },
	};

	expect_lines("testdata/ovni/good/document-events.obs", want, sizeof want / sizeof want[0]);
}

Test(ovni_document, the_dump)
{
	static const struct expected want[] = {
		{ "@8 ", " OHx ", " ts=194292982135304 ", " cpu=0 tid=-1 tag=0" },
		{ "@36 ", " VYc ", " ts=194292982137404 ", " typeid=1 label=\"testtype1\"" },
		{ "@66 ", " VTc ", " ts=194292982139971 ", " taskid=1 typeid=1" },
		{ "@86 ", " VTx ", " ts=194292982140163 ", " taskid=1" },
		{ "@102 ", " VTp ", " ts=194292982709547 ", " taskid=1" },
		{ "@118 ", " VTr ", " ts=194292983287235 ", " taskid=1" },
		{ "@134 ", " VTe ", " ts=194292983870979 ", " taskid=1" },
		{ "@150 ", " OHe ", " ts=194292983871221 ", "" },
	};

	expect_lines("testdata/ovni/good/document.obs", want, sizeof want / sizeof want[0]);
}

/* Faults of stream.json are reported with their byte. */
Test(ovni_document, positions_in_stream_json)
{
	static const struct {
		const char *json, *want;
	} rows[] = {
		{ "{\"version\":3,}", "stream.json, byte 13: expected a name in quotes" },
		{ "{\n\t\"version\": 03 }", "stream.json, byte 14: invalid value" },
		{ "{\"version\":3,\"ovni\":{\"part\":\"thr\x01\"}}", "byte 32: control byte in a string" },
		{ "{\"version\":3,\"ovni\":{\"part\":\"\xff\"}}", "byte 29: string is not UTF-8" },
		{ "{\"version\":3,\"ovni\":{\"part\":\"\\udc00\"}}", "byte 29: invalid escape in a string" },
		{ "{\"version\":3", "stream.json, byte 12: unterminated object" },
		{ "{\"version\":3}]", "stream.json, byte 13: data after the end of the value" },
		{ "\xef\xbb\xbf{}", "stream.json, byte 0: byte order mark" },
	};
	char *const dir = make_folder(), path[600];
	size_t n;
	char *const stream = read_whole("testdata/ovni/good/document.obs", &n);

	cr_assert_not_null(stream);
	snprintf(path, sizeof path, "%s/stream.obs", dir);
	cr_assert(write_whole(path, stream, n));
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		put_file(dir, "stream.json", rows[i].json, strlen(rows[i].json));
		expect_ran(run_tool((const char *const[]){ "validate", path, NULL }, NULL, 0), 1,
		           rows[i].want);
	}
	free(stream);
	remove_folder(dir);
}

/* ---- hardware counters ---- */

static const char metadata[] =
    "{\"version\":3,\"ovni\":{\"part\":\"thread\",\"tid\":100,\"pid\":1,\"loom\":\"n\",\"app_id\":1,"
    "\"finished\":1,"
    "\"require\":{\"ovni\":\"1.1.0\",\"nosv\":\"2.6.0\"},\"lib\":{\"version\":\"1.14.0\",\"commit\":\"x\"},"
    "\"loom_cpus\":[{\"index\":0,\"phyid\":0}]},\"nosv\":{\"hwc\":{\"0\":{\"name\":\"cycles\"},\"1\":{"
    "\"name\":\"misses\"}}}}";

static const char stream[] =
    "ovni\1\0\0\0"
    "\x0fOHx\1\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0"
    "\x13VWC\2\0\0\0\0\0\0\0\x18\0\0\0\7\0\0\0\0\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff\5\0\0\0\0\0\0\0"
    "\0OHe\3\0\0\0\0\0\0\0";

Test(ovni_counter, series_have_the_names_of_the_metadata)
{
	char *const dir = make_folder();

	put_file(dir, "stream.json", metadata, sizeof metadata - 1);
	put_file(dir, "stream.obs", stream, sizeof stream - 1);
	const char *const args[] = { "convert", "--to", "chrome", dir, "-", NULL };
	struct ran r = run_tool(args, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	/* Three numbers and two names.  The number of the thread distinguishes its counters from those of
	 * others. */
	cr_expect_not_null(
	    strstr(r.out, "{\"name\":\"hardware counters\",\"cat\":\"nosv\",\"ph\":\"C\",\"id\":\"100\","
	                  "\"scope\":\"thread\",\"ts\":0.002,"),
	    "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\"args\":{\"cycles\":7,\"misses\":-2,\"value 3\":5}}"), "%s",
	                   r.out);
	ran_free(&r);
	remove_folder(dir);
}
