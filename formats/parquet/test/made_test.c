/* The writer with made-up events and 1, 2 and 7 threads; the oracle reads the output. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/event_traits.h"
#include "parquet/test/made_test.h"
#include "parquet/parquet.h"

#define TEXT(s) ((struct slice){ s, sizeof(s) - 1, 0 })

/* ---- cells ---- */

static void expect_i64(const struct pq_file *f, const char *column, uint64_t row, int64_t want)
{
	const struct pq_cell *const c = &pq_column(f, column)->cells[row];

	cr_expect(!c->null && c->i == want, "%s[%" PRIu64 "]: %" PRId64 ", not %" PRId64, column, row, c->i,
	          want);
}

static void expect_null(const struct pq_file *f, const char *column, uint64_t row)
{
	cr_expect(pq_column(f, column)->cells[row].null, "%s[%" PRIu64 "]", column, row);
}

static void expect_text(const struct pq_file *f, const char *column, uint64_t row, struct slice want)
{
	const struct pq_cell *const c = &pq_column(f, column)->cells[row];

	cr_expect(!c->null && slice_equal(c->text, want), "%s[%" PRIu64 "]: %.*s, not %.*s", column, row,
	          (int)c->text.n, c->text.p, (int)want.n, want.p);
}

/* ---- all columns of a row ---- */

static void make_rows(struct trace *t, struct batch *b, uint32_t number)
{
	struct track *const process = trace_add_process(t, TEXT("p\xc3\xa4th"));
	struct track *const thread = trace_add_thread(t, process, UINT64_MAX, TEXT(""));
	struct class *const cls = trace_add_class(t, TEXT("c\xff"));
	struct event *e;

	(void)number;
	process->has_id = thread->has_id = true;
	process->id = 42;
	e = writer_rig_event(b, cls, thread, 0, TEXT("a\0b"));
	e->phase = PHASE_SPAN;
	e->dur = INT64_MAX;
	writer_rig_field(b, TEXT("most"), value_u64(UINT64_MAX));
	writer_rig_field(b, TEXT("least"), (struct value){ .type = VALUE_I64, .i64 = INT64_MIN });
	writer_rig_field(b, TEXT("nan"), (struct value){ .type = VALUE_F64, .f64 = (double)NAN });
	writer_rig_field(b, TEXT("bad"), value_string(TEXT("x\xc3")));
	e = writer_rig_event(b, cls, thread, 5, TEXT("\xf0\x9f\x90\x9f"));
	e->phase = PHASE_SPAN;
	e->dur = 3;
	e = writer_rig_event(b, cls, thread, 5, TEXT(""));
	e->phase = PHASE_FLOW_IN;
	e->flags = EVENT_STEP;
	e->dur = 5;
	e = writer_rig_event(b, cls, process, 6, TEXT("out\xe2\x82"));
	e->phase = PHASE_FLOW_OUT;
	e->dur = UINT64_MAX - 1;
	e = writer_rig_event(b, cls, thread, 7, TEXT("task"));
	e->phase = PHASE_SPAN;
	e->flags = EVENT_ASYNC;
	e = writer_rig_event(b, cls, thread, UINT64_MAX, TEXT("late"));
	e->offset = 8;
}

static void expect_first_rows(const struct pq_file *f)
{
	expect_i64(f, "ts_ns", 0, 0);
	expect_i64(f, "dur_ns", 0, INT64_MAX);
	expect_text(f, "kind", 0, TEXT("span"));
	expect_text(f, "name", 0, TEXT("a\0b"));
	expect_text(f, "category", 0, TEXT("c\xef\xbf\xbd"));
	expect_text(f, "process", 0, TEXT("p\xc3\xa4th"));
	expect_i64(f, "pid", 0, 42);
	expect_text(f, "thread", 0, TEXT(""));
	expect_i64(f, "tid", 0, -1);
	expect_null(f, "track", 0);
	expect_i64(f, "lane", 0, 0);
	expect_i64(f, "depth", 0, 0);
	expect_null(f, "id", 0);
	expect_i64(f, "offset", 0, 0);
	expect_text(f, "args", 0,
	            TEXT("{\"most\":\"18446744073709551615\",\"least\":\"-9223372036854775808\","
	                 "\"nan\":\"NaN\",\"bad\":\"x\xef\xbf\xbd\"}"));
	expect_text(f, "name", 1, TEXT("\xf0\x9f\x90\x9f"));
	expect_i64(f, "depth", 1, 1);
	expect_null(f, "args", 1);
}

Test(parquet_made, rows_have_exact_values)
{
	struct parquet_run run;

	parquet_run(&run, &(struct parquet_made){ make_rows, 1, .options = NULL });
	const struct pq_file *const f = &run.file;
	cr_assert_eq(f->rows, 6);
	expect_first_rows(f);
	expect_text(f, "name", 2, TEXT(""));
	expect_text(f, "kind", 2, TEXT("flow_step"));
	expect_i64(f, "id", 2, 5);
	expect_null(f, "dur_ns", 2);
	expect_null(f, "depth", 2);
	expect_text(f, "kind", 3, TEXT("flow_out"));
	expect_text(f, "name", 3, TEXT("out\xef\xbf\xbd"));
	expect_i64(f, "id", 3, -2);
	expect_null(f, "thread", 3);
	expect_null(f, "tid", 3);
	expect_text(f, "kind", 4, TEXT("async"));
	expect_i64(f, "dur_ns", 4, 0);
	expect_null(f, "depth", 4);
	expect_i64(f, "ts_ns", 5, INT64_MAX);
	expect_i64(f, "offset", 5, 8);
	cr_expect_eq(writer_rig_lost(&run.rig, "parquet/time-too-large"), 1);
	cr_expect_eq(writer_rig_lost(&run.rig, "parquet/id-wrapped"), 6);
	cr_expect_eq(writer_rig_lost(&run.rig, "parquet/invalid-utf8"), 6 + 1 + 1);
	cr_expect_eq(writer_rig_lost(&run.rig, "parquet/not-a-number"), 1);
	cr_expect_eq(pq_column(f, "args")->converted, 19);
	cr_expect_eq(pq_column(f, "name")->converted, 0);
	cr_expect_not_null(strstr(pq_about(f, "tracetool.losses").p, "parquet/id-wrapped"));
	parquet_run_free(&run);
}

/* ---- columns for arguments ---- */

static void make_args(struct trace *t, struct batch *b, uint32_t number)
{
	static const struct value values[] = {
		{ .type = VALUE_U64, .u64 = UINT64_MAX },
		{ .type = VALUE_I64, .i64 = INT64_MIN },
		{ .type = VALUE_F64, .f64 = -0.0 },
		{ .type = VALUE_F64, .f64 = 1e300 },
		{ .type = VALUE_BOOL, .u64 = 1 },
		{ .type = VALUE_STRING, .count = 3, .p = "-17" },
		{ .type = VALUE_STRING, .count = 3, .p = "a\0\xff" },
		{ .type = VALUE_JSON, .count = 5, .p = "false" },
		{ .type = VALUE_ADDRESS, .u64 = 0xdead },
		{ .type = VALUE_NONE },
		{ .type = VALUE_F64, .f64 = (double)NAN },
		{ .type = VALUE_I64, .i64 = (INT64_C(1) << 53) + 1 },
	};
	static const struct slice names[] = { TEXT("int"), TEXT("float"), TEXT("Bool"), TEXT("a:b"),
		                              TEXT("j") };
	struct class *const cls = trace_add_class(t, TEXT("c"));
	struct track *const process = trace_add_process(t, TEXT("p"));

	(void)number;
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		writer_rig_event(b, cls, process, i, TEXT("e"));
		for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
			writer_rig_field(b, names[k], values[i]);
	}
	writer_rig_event(b, cls, process, 12, TEXT("without"));
}

/* Returns the cells, "null" or the value, separated by blanks. */
static void expect_column(const struct pq_file *f, const char *name, const char *want)
{
	const struct pq_column *const c = pq_column(f, name);
	struct text t = { .p = NULL };

	for (uint64_t i = 0; i < f->rows; i++) {
		const struct pq_cell *const cell = &c->cells[i];
		text_str(&t, i > 0 ? " " : "");
		if (cell->null)
			text_str(&t, "null");
		else if (c->type == PQ_F64)
			text_printf(&t, "%.17g", cell->f);
		else if (c->type == PQ_TEXT)
			text_slice(&t, cell->text);
		else
			text_i64(&t, cell->i);
	}
	cr_expect(t.n == strlen(want) && memcmp(t.p, want, t.n) == 0, "%s: %.*s", name, (int)t.n, t.p);
	text_free(&t);
}

Test(parquet_made, arguments_become_columns)
{
	static const struct option_value options[] = {
		{ "column", "int:int", NULL },          { "column", "float:float", &options[0] },
		{ "column", "Bool:bool", &options[1] }, { "column", "a:b:text", &options[2] },
		{ "column", "j:json", &options[3] },    { "column", "never", &options[4] },
	};
	struct parquet_run run;

	parquet_run(&run, &(struct parquet_made){ make_args, 1, .options = &options[5] });
	const struct pq_file *const f = &run.file;
	cr_assert_eq(f->ncolumns, COLS + 6);
	cr_expect(slice_is(f->columns[COLS].name, "int") && slice_is(f->columns[COLS + 5].name, "never"));
	expect_column(f, "int",
	              "null -9223372036854775808 0 null 1 -17 null null 57005 null null "
	              "9007199254740993 null");
	expect_column(f, "float",
	              "1.8446744073709552e+19 -9.2233720368547758e+18 -0 1.0000000000000001e+300 1 -17 "
	              "null null 57005 null nan 9007199254740992 null");
	expect_column(f, "Bool", "null null null null 1 null null 0 null null null null null");
	expect_null(f, "a:b", 12);
	expect_text(f, "a:b", 6, TEXT("a\0\xef\xbf\xbd"));
	expect_text(f, "a:b", 0, TEXT("18446744073709551615"));
	expect_text(f, "j", 6, TEXT("\"a\\u0000\xef\xbf\xbd\""));
	expect_text(f, "j", 7, TEXT("false"));
	expect_column(f, "never", "null null null null null null null null null null null null null");
	cr_expect_eq(pq_column(f, "int")->type, PQ_I64);
	cr_expect_eq(pq_column(f, "Bool")->type, PQ_BOOL);
	cr_expect_eq(pq_column(f, "j")->converted, 19);
	cr_expect_eq(writer_rig_lost(&run.rig, "parquet/arg-rounded"), 2);
	cr_expect_eq(writer_rig_lost(&run.rig, "parquet/arg-type"), 5 + 2 + 9);
	cr_expect_eq(writer_rig_lost(&run.rig, "parquet/no-arg"), 1);
	parquet_run_free(&run);
}

/* ---- negative times, no events ---- */

static void make_nothing(struct trace *t, struct batch *b, uint32_t number)
{
	(void)t;
	(void)b;
	(void)number;
}

Test(parquet_made, a_trace_without_events_is_a_file)
{
	struct parquet_run run;

	parquet_run(&run, &(struct parquet_made){ make_nothing, 1, .options = NULL });
	cr_expect_eq(run.file.rows, 0);
	cr_expect_eq(run.file.groups, 0);
	cr_expect_eq(run.file.ncolumns, COLS);
	parquet_run_free(&run);
}

static void make_long(struct trace *t, struct batch *b, uint32_t number)
{
	static char zeros[(VALUE_MAX >> 1) + 10];
	struct class *const cls = trace_add_class(t, TEXT("c"));
	struct track *const process = trace_add_process(t, TEXT("p"));

	(void)number;
	writer_rig_event(b, cls, process, 1, TEXT("long"));
	writer_rig_field(b, TEXT("b"),
	                 (struct value){ .type = VALUE_BYTES, .count = sizeof zeros, .p = zeros });
	writer_rig_event(b, cls, process, 2, TEXT("short"));
	writer_rig_field(b, TEXT("b"), (struct value){ .type = VALUE_BYTES, .count = 1, .p = zeros });
}

Test(parquet_made, very_long_arguments_are_left_out)
{
	struct parquet_run run;

	parquet_run(&run, &(struct parquet_made){ make_long, 1, .options = NULL, .one_thread = true });
	expect_null(&run.file, "args", 0);
	expect_text(&run.file, "args", 1, TEXT("{\"b\":\"0x00\"}"));
	cr_expect_eq(writer_rig_lost(&run.rig, "parquet/too-long"), 1);
	parquet_run_free(&run);
}
