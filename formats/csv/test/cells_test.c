/*
 * Every kind of cell, byte for byte, and as the module csv of Python reads it.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/test/cli_test_util.h"
#include "model/event_traits.h"
#include "model/value.h"
#include "format/registry.h"
#include "run/write/test/writer_rig_test.h"

static void add_texts(struct batch *b, const struct class *cls, const struct track *process,
                      const struct track *thread)
{
	static const char bad[] = "b\xff,\x1b", nul[] = "n\0l";
	struct event *e = writer_rig_event(b, cls, thread, 1, SLICE_LIT("-[A b]"));

	e->phase = PHASE_SPAN;
	e->dur = UINT64_MAX;
	writer_rig_field(b, slice_str("k\"\n"), value_string(slice_str("a\"b\\c\td")));
	writer_rig_field(b, SLICE_LIT("plain"), value_string(SLICE_LIT("x, y")));
	writer_rig_event(b, cls, process, 2, slice_of(bad, sizeof bad - 1));
	writer_rig_event(b, cls, thread, 3, slice_of(nul, sizeof nul - 1));
	e = writer_rig_event(b, cls, thread, 4, slice_str("two\r\nlines\tand \\ \xe2\x80\xae"));
	e->phase = PHASE_FLOW_IN;
	e->dur = 77;
	e = writer_rig_event(b, cls, thread, 5, SLICE_LIT(""));
	e->phase = PHASE_SPAN;
	e->flags = EVENT_ASYNC;
	e = writer_rig_event(b, cls, thread, 6, slice_str("\"\",\n"));
	e->phase = PHASE_FLOW_IN;
	e->flags = EVENT_STEP;
	e->dur = 78;
	writer_rig_event(b, cls, thread, 7, slice_str(" caf\xc3\xa9\\t\r"));
}

/* The name of each field describes its value. */
static void add_values(struct batch *b, const struct class *cls, const struct track *thread)
{
	static const struct value list[] = { { .type = VALUE_U8, .u64 = 1 },
		                             { .type = VALUE_STRING, .count = 2, .p = "\"," } };

	writer_rig_event(b, cls, thread, UINT64_MAX, SLICE_LIT("values"))->phase = PHASE_COUNTER;
	writer_rig_field(b, SLICE_LIT("most"), value_u64(UINT64_MAX));
	writer_rig_field(b, SLICE_LIT("least"), (struct value){ .type = VALUE_I64, .i64 = INT64_MIN });
	writer_rig_field(b, SLICE_LIT("exact"), value_u64((UINT64_C(1) << 53) - 1));
	writer_rig_field(b, SLICE_LIT("inexact"), value_u64((UINT64_C(1) << 53) + 1));
	writer_rig_field(b, SLICE_LIT("negative"), (struct value){ .type = VALUE_I8, .i64 = -1 });
	writer_rig_field(b, SLICE_LIT("half"), (struct value){ .type = VALUE_F64, .f64 = -0.5 });
	writer_rig_field(b, SLICE_LIT("nan"), (struct value){ .type = VALUE_F64, .f64 = (double)NAN });
	writer_rig_field(b, SLICE_LIT("inf"), (struct value){ .type = VALUE_F32, .f64 = -HUGE_VAL });
	writer_rig_field(b, SLICE_LIT("yes"), (struct value){ .type = VALUE_BOOL, .u64 = 1 });
	writer_rig_field(b, SLICE_LIT("none"), (struct value){ .type = VALUE_NONE });
	writer_rig_field(b, SLICE_LIT("empty"), value_string(SLICE_LIT("")));
	writer_rig_field(b, SLICE_LIT("bytes"),
	                 (struct value){ .type = VALUE_BYTES, .count = 2, .p = "\x01\xff" });
	writer_rig_field(b, SLICE_LIT("address"), (struct value){ .type = VALUE_ADDRESS, .u64 = 4096 });
	writer_rig_field(b, SLICE_LIT("list"),
	                 (struct value){ .type = VALUE_LIST, .count = 2, .values = list });
	writer_rig_field(b, SLICE_LIT("json"),
	                 (struct value){ .type = VALUE_JSON, .count = 9, .p = "{\"a\":\n\t1}" });
}

static bool fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	if (number > 0)
		return false;
	const struct track *const process = trace_add_process(trace, slice_str("p,\"q\""));
	const struct track *const thread = trace_add_thread(trace, process, UINT64_MAX, SLICE_LIT("=1+1"));
	const struct track *const child = trace_child_track(trace, thread, slice_str("a\tchild"));
	const struct class *const cls = trace_plan_class(trace, &(struct class){ .name = SLICE_LIT("c") });

	(void)ctx;
	cr_assert(process != NULL && thread != NULL && child != NULL && cls != NULL);
	add_texts(b, cls, process, thread);
	add_values(b, cls, child);
	return true;
}

/* Writes with 1, 2 and 7 threads. */
static void run_with(struct writer_rig *r, const char *format, const struct option_value *options)
{
	const struct writer_rig_job job = { .to = format_by_name(format), .fill = fill, .options = options };

	writer_rig_run_all(r, &job);
	cr_assert(r->written);
}

static void run(struct writer_rig *r, const char *format)
{
	run_with(r, format, NULL);
}

#define TRACK "\"p,\"\"q\"\"\",,=1+1,18446744073709551615,,0,"

Test(csv_cells, are_quoted_as_the_rfc_says)
{
	static const char want[] =
	    "kind,ts_ns,dur_ns,name,category,process,pid,thread,tid,track,lane,id,args,offset\r\n"
	    "span,1,18446744073709551615,-[A b],c," TRACK
	    ",\"{\"\"k\\\"\"\\n\"\":\"\"a\\\"\"b\\\\c\\td\"\",\"\"plain\"\":\"\"x, y\"\"}\",1\r\n"
	    "instant,2,,\"b\xef\xbf\xbd,\xef\xbf\xbd\",c,\"p,\"\"q\"\"\",,,,,0,,,2\r\n"
	    "instant,3,,n\xef\xbf\xbdl,c," TRACK ",,3\r\n"
	    "flow_in,4,,\"two\r\nlines\tand \\ \xef\xbf\xbd\",c," TRACK "77,,4\r\n"
	    "async,5,0,,c," TRACK ",,5\r\n"
	    "flow_step,6,,\"\"\"\"\",\n\",c," TRACK "78,,6\r\n"
	    "instant,7,,\" caf\xc3\xa9\\t\r\",c," TRACK ",,7\r\n"
	    "counter,18446744073709551615,,values,c,\"p,\"\"q\"\"\",,=1+1,18446744073709551615,=1+1: "
	    "a\tchild,0,,"
	    "\"{\"\"most\"\":\"\"18446744073709551615\"\",\"\"least\"\":\"\"-9223372036854775808\"\","
	    "\"\"exact\"\":9007199254740991,\"\"inexact\"\":\"\"9007199254740993\"\",\"\"negative\"\":-1,"
	    "\"\"half\"\":-0.5,\"\"nan\"\":\"\"NaN\"\",\"\"inf\"\":\"\"-Infinity\"\",\"\"yes\"\":true,"
	    "\"\"none\"\":null,\"\"empty\"\":\"\"\"\",\"\"bytes\"\":\"\"0x01ff\"\",\"\"address\"\":"
	    "\"\"0x1000\"\","
	    "\"\"list\"\":[1,\"\"\\\"\",\"\"],\"\"json\"\":{\"\"a\"\":\n\t1}}\",18446744073709551615\r\n";
	struct writer_rig r;

	run(&r, "csv");
	cr_expect_str_eq(writer_rig_text(&r, NULL), want, "%s", writer_rig_text(&r, NULL));
	cr_expect_eq(writer_rig_lost(&r, "csv/invalid-utf8"), 1);
	cr_expect_eq(writer_rig_lost(&r, "csv/control-character"), 3);
	cr_expect_eq(writer_rig_lost(&r, "csv/not-a-number"), 2);
	writer_rig_free(&r);
}

#undef TRACK
#define TRACK "p,\"q\"\t\t=1+1\t18446744073709551615\t\t0\t"

Test(csv_cells, tabs_need_no_quotes)
{
	static const char want[] =
	    "kind\tts_ns\tdur_ns\tname\tcategory\tprocess\tpid\tthread\ttid\ttrack\tlane\tid\targs\toffset\n"
	    "span\t1\t18446744073709551615\t-[A b]\tc\t" TRACK
	    "\t{\"k\\\\\"\\\\n\":\"a\\\\\"b\\\\\\\\c\\\\td\",\"plain\":\"x, y\"}\t1\n"
	    "instant\t2\t\tb\\xff,\\x1b\tc\tp,\"q\"\t\t\t\t\t0\t\t\t2\n"
	    "instant\t3\t\tn\\x00l\tc\t" TRACK "\t\t3\n"
	    "flow_in\t4\t\ttwo\\r\\nlines\\tand \\\\ \\u{202e}\tc\t" TRACK "77\t\t4\n"
	    "async\t5\t0\t\tc\t" TRACK "\t\t5\n"
	    "flow_step\t6\t\t\"\",\\n\tc\t" TRACK "78\t\t6\n"
	    "instant\t7\t\t caf\xc3\xa9\\\\t\\r\tc\t" TRACK "\t\t7\n"
	    "counter\t18446744073709551615\t\tvalues\tc\tp,\"q\"\t\t=1+1\t18446744073709551615\t=1+1: "
	    "a\\tchild\t0\t\t"
	    "{\"most\":\"18446744073709551615\",\"least\":\"-9223372036854775808\","
	    "\"exact\":9007199254740991,\"inexact\":\"9007199254740993\",\"negative\":-1,"
	    "\"half\":-0.5,\"nan\":\"NaN\",\"inf\":\"-Infinity\",\"yes\":true,"
	    "\"none\":null,\"empty\":\"\",\"bytes\":\"0x01ff\",\"address\":\"0x1000\","
	    "\"list\":[1,\"\\\\\",\"],\"json\":{\"a\":  1}}\t18446744073709551615\n";
	struct writer_rig r;

	run(&r, "tsv");
	cr_expect_str_eq(writer_rig_text(&r, NULL), want, "%s", writer_rig_text(&r, NULL));
	cr_expect_eq(r.losses.n, 1);
	cr_expect_eq(writer_rig_lost(&r, "tsv/not-a-number"), 2);
	writer_rig_free(&r);
}

/* ---- Python ---- */

static const char script[] =
    "import csv, json, sys\n"
    "rows = list(csv.DictReader(open(sys.argv[1], newline='', encoding='utf-8'), strict=True))\n"
    "names = ['-[A b]', 'b\\ufffd,\\ufffd', 'n\\ufffdl', 'two\\r\\nlines\\tand \\\\ \\ufffd', '',\n"
    "         '\"\",\\n', ' caf\\u00e9\\\\t\\r', 'values']\n"
    "assert [r['name'] for r in rows] == names, [r['name'] for r in rows]\n"
    "assert {r['process'] for r in rows} == {'p,\"q\"'}\n"
    "assert rows[7]['track'] == '=1+1: a\\tchild' and rows[3]['id'] == '77' and rows[0]['id'] == ''\n"
    "assert json.loads(rows[0]['args']) == {'k\"\\n': 'a\"b\\\\c\\td', 'plain': 'x, y'}\n"
    "args = json.loads(rows[7]['args'])\n"
    "assert args['least'] == str(-2**63) and args['most'] == str(2**64 - 1) and args['list'] == [1, '\",']\n"
    "assert args['json'] == {'a': 1} and args['none'] is None and args['yes'] is True\n"
    "assert rows[7]['ts_ns'] == str(2**64 - 1)\n";

Test(csv_cells, python_reads_them)
{
	char *const dir = make_folder(), path[1024];
	struct writer_rig r;

	if (system("python3 -c 'import csv' 2>/dev/null") != 0) {
		remove_folder(dir);
		cr_skip_test("python3 is not here");
	}
	run(&r, "csv");
	snprintf(path, sizeof path, "%s/a.csv", dir);
	cr_assert(write_whole(path, writer_rig_text(&r, NULL), strlen(writer_rig_text(&r, NULL))));
	struct ran ran = run_program((const char *const[]){ "python3", "-c", script, path, NULL }, NULL, 0);
	cr_expect_eq(ran.status, 0, "%s", ran.err);
	ran_free(&ran);
	writer_rig_free(&r);
	remove_folder(dir);
}

/* ---- columns of arguments ---- */

/* Fields of the first event and of the last one; the last option is the last column. */
static const struct option_value options[] = {
	{ "column", "plain", NULL },
	{ "column", "most:int", &options[0] },
	{ "column", "least:int", &options[1] },
	{ "column", "inexact:float", &options[2] },
	{ "column", "half:float", &options[3] },
	{ "column", "nan:float", &options[4] },
	{ "column", "inf:float", &options[5] },
	{ "column", "yes:bool", &options[6] },
	{ "column", "list", &options[7] },
	{ "column", "json:json", &options[8] },
	{ "column", "address:int", &options[9] },
	{ "column", "bytes:bool", &options[10] },
	{ "column", "none", &options[11] },
	{ "column", "a,b", &options[12] },
	{ "column", "k\"\n:text", &options[13] },
};
static const struct option_value *const last = &options[14];

/* Returns the text after the last "offset" of a row that begins with `start`. */
static const char *lifted_of(const char *text, const char *start, const char *offset)
{
	const char *const row = strstr(text, start);
	const char *const at = row != NULL ? strstr(row, offset) : NULL;

	cr_assert_not_null(at, "%s: %s", start, text);
	return at + strlen(offset);
}

static void expect_start(const char *text, const char *want)
{
	cr_expect_eq(strncmp(text, want, strlen(want)), 0, "%s", text);
}

Test(csv_cells, of_arguments_in_csv)
{
	struct writer_rig r;

	run_with(&r, "csv", last);
	const char *const text = writer_rig_text(&r, NULL);
	expect_start(lifted_of(text, "kind", ",args,offset"),
	             ",plain,most,least,inexact,half,nan,inf,yes,list,json,address,bytes,none,\"a,b\","
	             "\"k\"\"\n\"\r\n");
	expect_start(lifted_of(text, "span,1,", "\"\"}\",1,"), "\"x, y\",,,,,,,,,,,,,,\"a\"\"b\\c\td\"\r\n");
	expect_start(lifted_of(text, "instant,3,", ",,3,"), ",,,,,,,,,,,,,,\r\n");
	expect_start(lifted_of(text, "counter,", "1}}\",18446744073709551615,"),
	             ",,-9223372036854775808,9007199254740993,-0.5,NaN,-Infinity,true,\"[1,\"\"\\\"\","
	             "\"\"]\",\"{\"\"a\"\":\n\t1}\",4096,,,,\r\n");
	cr_expect_eq(writer_rig_lost(&r, "csv/arg-type"), 2); /* most, bytes */
	cr_expect_eq(writer_rig_lost(&r, "csv/no-arg"), 1);
	cr_expect_eq(writer_rig_lost(&r, "csv/invalid-utf8"), 1);
	cr_expect_eq(writer_rig_lost(&r, "csv/control-character"), 3);
	cr_expect_eq(writer_rig_lost(&r, "csv/not-a-number"), 2);
	writer_rig_free(&r);
}

Test(csv_cells, of_arguments_in_tsv)
{
	struct writer_rig r;

	run_with(&r, "tsv", last);
	const char *const text = writer_rig_text(&r, NULL);
	expect_start(lifted_of(text, "kind", "\targs\toffset"),
	             "\tplain\tmost\tleast\tinexact\thalf\tnan\tinf\tyes\tlist\tjson\taddress\tbytes\tnone\t"
	             "a,b\tk\"\\n\n");
	expect_start(lifted_of(text, "span\t1\t", "\"}\t1\t"),
	             "x, y\t\t\t\t\t\t\t\t\t\t\t\t\t\ta\"b\\\\c\\td\n");
	expect_start(
	    lifted_of(text, "counter\t", "1}}\t18446744073709551615\t"),
	    "\t\t-9223372036854775808\t9007199254740993\t-0.5\tNaN\t-Infinity\ttrue\t[1,\"\\\\\",\"]\t"
	    "{\"a\":\\n\\t1}\t4096\t\t\t\t\n");
	cr_expect_eq(writer_rig_lost(&r, "tsv/arg-type"), 2);
	cr_expect_eq(writer_rig_lost(&r, "tsv/no-arg"), 1);
	cr_expect_eq(r.losses.n, 3);
	writer_rig_free(&r);
}

static const char lifted_script[] =
    "import csv, json, sys\n"
    "rows = list(csv.DictReader(open(sys.argv[1], newline='', encoding='utf-8'), strict=True))\n"
    "assert len(rows) == 8 and all(None not in r and None not in r.values() for r in rows)\n"
    "assert rows[0]['plain'] == 'x, y' and rows[0]['k\"\\n'] == 'a\"b\\\\c\\td', rows[0]\n"
    "assert [r['plain'] for r in rows[1:]] == [''] * 7 and rows[7]['most'] == ''\n"
    "assert int(rows[7]['least']) == -2**63 and int(rows[7]['inexact']) == 2**53 + 1\n"
    "assert float(rows[7]['inf']) == float('-inf') and rows[7]['yes'] == 'true'\n"
    "assert json.loads(rows[7]['list']) == [1, '\",'] and json.loads(rows[7]['json']) == {'a': 1}\n"
    "assert json.loads(rows[7]['args'])['least'] == str(-2**63)\n";

Test(csv_cells, python_reads_those_of_arguments)
{
	char *const dir = make_folder(), path[1024];
	struct writer_rig r;

	if (system("python3 -c 'import csv' 2>/dev/null") != 0) {
		remove_folder(dir);
		cr_skip_test("python3 is not here");
	}
	run_with(&r, "csv", last);
	snprintf(path, sizeof path, "%s/a.csv", dir);
	cr_assert(write_whole(path, writer_rig_text(&r, NULL), strlen(writer_rig_text(&r, NULL))));
	struct ran ran =
	    run_program((const char *const[]){ "python3", "-c", lifted_script, path, NULL }, NULL, 0);
	cr_expect_eq(ran.status, 0, "%s", ran.err);
	ran_free(&ran);
	writer_rig_free(&r);
	remove_folder(dir);
}

Test(csv_cells, names_of_columns_are_taken)
{
	const struct format_option *const column = format_by_name("csv")->options;

	cr_expect_null(column->mistake("parent"));
	cr_expect_not_null(column->mistake("ARGS:json"));
	cr_expect_not_null(column->mistake("a:integer"));
	cr_expect_not_null(column->mistake(":int"));
}
