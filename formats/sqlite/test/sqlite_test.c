/* The SQLite writer: databases of samples, values, groups of rows, failures. */
#include <criterion/criterion.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "model/trace_engine.h"
#include "run/write/test/writer_rig_test.h"
#include "sqlite/sqlite.h"

/* ---- databases ---- */

/* Returns the first column of the first row.  The caller frees it. */
static char *run_query(const char *path, const char *query)
{
	sqlite3_stmt *row = NULL;
	sqlite3 *db = NULL;

	cr_assert_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK, "%s", path);
	cr_assert_eq(sqlite3_prepare_v2(db, query, -1, &row, NULL), SQLITE_OK, "%s: %s", query,
	             sqlite3_errmsg(db));
	const int code = sqlite3_step(row);
	cr_assert(code == SQLITE_ROW || code == SQLITE_DONE, "%s: %s", query, sqlite3_errmsg(db));
	const unsigned char *const text = code == SQLITE_ROW ? sqlite3_column_text(row, 0) : NULL;
	char *const copy = strdup(text != NULL ? (const char *)text : "");
	sqlite3_finalize(row);
	sqlite3_close(db);
	return copy;
}

static void expect_value(const char *path, const char *query, const char *want)
{
	char *const got = run_query(path, query);

	cr_expect_str_eq(got, want, "%s: %s: %s", path, query, got);
	free(got);
}

static void convert_to(const char *input, const char *path, const char *lanes)
{
	struct ran r =
	    run_tool((const char *const[]){ "convert", "-qf", "--lanes", lanes, input, path, NULL }, NULL, 0);

	cr_assert_lt(r.status, 2, "%s: %s", input, r.err);
	ran_free(&r);
}

/* Expects the counts and sums of `stats` in the tables. */
static void expect_stats(const char *input, const char *path)
{
	static const char query[] =
	    "SELECT count(*) FROM (SELECT json_extract(j.value, '$.name') AS n,"
	    " json_extract(j.value, '$.category') AS c, json_extract(j.value, '$.count') AS k,"
	    " json_extract(j.value, '$.dur_ns.sum') AS ns FROM json_each('%s', '$.inputs[0].spans') j)"
	    " JOIN (SELECT name, category, count(*) AS rows, sum(dur_ns) AS total FROM spans"
	    " WHERE kind = 'span' GROUP BY name, category) s ON s.name = n AND s.category = c"
	    " WHERE k != rows OR ns != total";
	struct ran r =
	    run_tool((const char *const[]){ "stats", "-q", "--format", "json", input, NULL }, NULL, 0);
	char *const sql = sqlite3_mprintf("%s", query), *p = strstr(sql, "%s");
	char *const quoted = sqlite3_mprintf("%.*s%q%s", (int)(p - sql), sql, r.out, p + 2);

	expect_value(path, quoted, "0");
	sqlite3_free(quoted);
	sqlite3_free(sql);
	ran_free(&r);
}

Test(sqlite, samples_are_sound_databases)
{
	static const char *const inputs[] = {
		"testdata/htdump/good/overlapping.htdump", "testdata/htdump/good/wire-little.htdump",
		"testdata/htdump/bad/invalid-utf8.htdump", "testdata/htdump/good/odd-doubles.htdump",
		"testdata/heph/good/all-types.bin.log",    "testdata/heph/good/mixed.bin.log",
		"testdata/dftracer/good/sound.pfw",        "testdata/dial9/good/document.dial9",
		"testdata/ovni/good/document.obs",
	};
	char *const dir = make_folder(), path[1024], off[1024];

	snprintf(path, sizeof path, "%s/a.db", dir);
	snprintf(off, sizeof off, "%s/off.sqlite", dir);
	for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
		convert_to(inputs[i], path, "on");
		convert_to(inputs[i], off, "off");
		expect_value(path, "PRAGMA integrity_check", "ok");
		expect_value(path, "PRAGMA foreign_key_check", "");
		expect_stats(inputs[i], path);
		char *const on =
		    run_query(path, "SELECT group_concat(id || ':' || coalesce(parent, 0)) FROM span");
		expect_value(off, "SELECT group_concat(id || ':' || coalesce(parent, 0)) FROM span", on);
		free(on);
	}
	remove_folder(dir);
}

/* ---- values ---- */

static bool fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	static const char nul[] = "n\0l", bad[] = "b\xff";
	const struct track *const process = trace_add_process(trace, SLICE_LIT("p"));
	const struct track *const thread =
	    trace_add_thread(trace, process, UINT64_MAX, slice_str("');DROP TABLE span;--"));
	const struct class *const cls = trace_plan_class(trace, &(struct class){ .name = SLICE_LIT("c") });

	(void)ctx;
	cr_assert(process != NULL && thread != NULL && cls != NULL);
	if (number > 0)
		return false;
	struct event *const e = writer_rig_event(b, cls, thread, UINT64_MAX, slice_of(nul, 3));
	e->phase = PHASE_SPAN;
	writer_rig_field(b, SLICE_LIT("big"), value_u64(UINT64_MAX));
	writer_rig_field(b, SLICE_LIT("bad"), value_string(slice_of(bad, 2)));
	writer_rig_field(b, SLICE_LIT("small"), value_u64(INT64_MAX));
	return true;
}

/* Runs the job, and stores its database in dir; path: gets its path. */
static void make_database(struct writer_rig *r, const struct writer_rig_job *job, const char *dir,
                          char path[1024])
{
	snprintf(path, 1024, "%s/a.db", dir);
	writer_rig_run_all(r, job);
	cr_assert(r->written && r->nfiles == 1);
	cr_assert(write_whole(path, r->files[0].text.p, r->files[0].text.n));
}

Test(sqlite, values_keep_what_sqlite_lacks)
{
	const struct writer_rig_job job = { .to = format_by_name("sqlite"), .fill = fill };
	char *const dir = make_folder(), path[1024];
	struct writer_rig r;

	make_database(&r, &job, dir, path);
	expect_value(path, "PRAGMA integrity_check", "ok");
	expect_value(path, "SELECT hex(text) FROM string WHERE typeof(text) = 'blob'", "6E006C");
	expect_value(path, "SELECT typeof(value) || value FROM args WHERE name = 'big'",
	             "text18446744073709551615");
	expect_value(path, "SELECT typeof(value) || value FROM args WHERE name = 'small'",
	             "integer9223372036854775807");
	expect_value(path, "SELECT typeof(value) || hex(value) FROM args WHERE name = 'bad'", "blob62FF");
	expect_value(path, "SELECT typeof(tid) || tid || name FROM thread",
	             "text18446744073709551615');DROP TABLE span;--");
	expect_value(path, "SELECT ts_ns FROM span", "9223372036854775807");
	expect_value(path, "SELECT group_concat(id || count) FROM loss", "sqlite/time-too-large1");
	writer_rig_free(&r);
	remove_folder(dir);
}

/* ---- tracks ---- */

/* An instant on a process, on a track below it, on a thread, on tracks below that,
 * and on one below a lane. */
static bool fill_tracks(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	const struct track *const process = trace_add_process(trace, SLICE_LIT("p"));
	const struct track *const below = trace_child_track(trace, process, SLICE_LIT("below p"));
	const struct track *const thread = trace_add_thread(trace, process, 7, SLICE_LIT("t"));
	const struct track *const child = trace_child_track(trace, thread, SLICE_LIT("below t"));
	struct track *const lane = trace_add_thread(trace, process, 7, SLICE_LIT("t (2)"));
	const struct track *const tracks[] = { process,
		                               below,
		                               thread,
		                               child,
		                               trace_child_track(trace, child, SLICE_LIT("lowest")),
		                               trace_child_track(trace, lane, SLICE_LIT("below")) };
	const struct class *const cls = trace_plan_class(trace, &(struct class){ .name = SLICE_LIT("c") });

	(void)ctx;
	lane->lane = 1;
	lane->parent = thread;
	for (uint64_t i = 0; i < sizeof tracks / sizeof tracks[0]; i++)
		(void)writer_rig_event(b, cls, tracks[i], i, SLICE_LIT("e"));
	return number == 0;
}

Test(sqlite, views_have_the_thread_of_each_track)
{
	const struct writer_rig_job job = { .to = format_by_name("sqlite"), .fill = fill_tracks };
	char *const dir = make_folder(), path[1024];
	struct writer_rig r;

	make_database(&r, &job, dir, path);
	expect_value(path, "PRAGMA foreign_key_check", "");
	expect_value(
	    path,
	    "SELECT group_concat(coalesce(thread, '') || coalesce(tid, '') || ':' || coalesce(track, ''))"
	    " FROM (SELECT * FROM instants ORDER BY id)",
	    ":,:p: below p,t7:,t7:t: below t,t7:t: below t: lowest,t7:t (2): below");
	writer_rig_free(&r);
	remove_folder(dir);
}

/* ---- parents ---- */

/* Four spans with the same times, and one inside. */
static bool fill_equal(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	static const char *const names[] = { "a", "b", "c", "d", "inside" };
	const struct track *const process = trace_add_process(trace, SLICE_LIT("p"));
	const struct track *const thread = trace_add_thread(trace, process, 7, SLICE_LIT("t"));
	const struct class *const cls = trace_plan_class(trace, &(struct class){ .name = SLICE_LIT("c") });

	(void)ctx;
	for (uint32_t i = 0; i < 5; i++) {
		struct event *const e =
		    writer_rig_event(b, cls, thread, i < 4 ? 10 : 11, slice_str(names[i]));
		e->phase = PHASE_SPAN;
		e->dur = i < 4 ? 8 : 2;
	}
	return number == 0;
}

Test(sqlite, of_equal_spans_the_later_is_the_parent)
{
	const struct writer_rig_job job = { .to = format_by_name("sqlite"), .fill = fill_equal };
	char *const dir = make_folder(), path[1024];
	struct writer_rig r;

	make_database(&r, &job, dir, path);
	expect_value(path,
	             "SELECT group_concat(s.name || s.depth || coalesce(p.name, '')) FROM (SELECT * FROM"
	             " spans ORDER BY id) s LEFT JOIN spans p ON p.id = s.parent",
	             "d0,c1d,b2c,a3b,inside4a");
	writer_rig_free(&r);
	remove_folder(dir);
}

/* ---- columns of arguments ---- */

/* A span, an instant and an arrow with the same fields; a counter with two series; one event without. */
static bool fill_arguments(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	static const uint8_t phases[] = { PHASE_SPAN, PHASE_INSTANT, PHASE_FLOW_OUT, PHASE_COUNTER };
	static const struct value list[] = { { .type = VALUE_U8, .u64 = 1 },
		                             { .type = VALUE_STRING, .count = 1, .p = "x" } };
	static const struct value nan = { .type = VALUE_F64, .f64 = (double)NAN };
	const struct track *const process = trace_add_process(trace, SLICE_LIT("p"));
	const struct class *const cls = trace_plan_class(trace, &(struct class){ .name = SLICE_LIT("c") });

	(void)ctx;
	if (number > 0)
		return false;
	cr_assert(process != NULL && cls != NULL);
	for (uint32_t i = 0; i < 4; i++) {
		writer_rig_event(b, cls, process, i, SLICE_LIT("e"))->phase = phases[i];
		writer_rig_field(b, SLICE_LIT("n"), value_u64(7));
		writer_rig_field(b, SLICE_LIT("big"), value_u64(UINT64_MAX));
		writer_rig_field(b, SLICE_LIT("text"), value_string(SLICE_LIT("12")));
		writer_rig_field(b, SLICE_LIT("bad"), value_string(slice_of("b\xff", 2)));
		writer_rig_field(b, SLICE_LIT("list"),
		                 (struct value){ .type = VALUE_LIST, .count = 2, .values = list });
	}
	writer_rig_event(b, cls, process, 5, SLICE_LIT("without"));
	writer_rig_field(b, SLICE_LIT("odd"),
	                 (struct value){ .type = VALUE_LIST, .count = 1, .values = &nan });
	return true;
}

Test(sqlite, arguments_become_columns)
{
	static const struct option_value options[] = {
		{ "column", "n:int", NULL },
		{ "column", "big:int", &options[0] },
		{ "column", "text:int", &options[1] },
		{ "column", "bad:text", &options[2] },
		{ "column", "list:json", &options[3] },
		{ "column", "never", &options[4] },
		{ "column", "x\"y\" BLOB); --:float", &options[5] },
	};
	static const struct option_value rounded[] = {
		{ "column", "big:float", NULL },
		{ "column", "list", &rounded[0] },
		{ "column", "n:text", &rounded[1] },
	};
	struct writer_rig_job job = { .to = format_by_name("sqlite"),
		                      .fill = fill_arguments,
		                      .options = &options[6] };
	char *const dir = make_folder(), path[1024];
	struct writer_rig r;

	make_database(&r, &job, dir, path);
	expect_value(path, "PRAGMA integrity_check", "ok");
#define CELLS                                                                                                \
	"concat_cells FROM (SELECT typeof(n) || n || typeof(big) || typeof(text) || text || typeof(bad) ||"  \
	" hex(bad) || list || typeof(never) || typeof(\"x\"\"y\"\" BLOB); --\") AS concat_cells FROM "
	static const char want[] = "integer7nullinteger12blob62FF[1,\"x\"]nullnull";
	expect_value(path, "SELECT " CELLS "spans)", want);
	expect_value(path, "SELECT " CELLS "instants WHERE name = 'e')", want);
	expect_value(path, "SELECT " CELLS "flow)", want);
	expect_value(path, "SELECT group_concat(concat_cells, ' ') FROM (SELECT " CELLS "counters))",
	             "integer7nullinteger12blob62FF[1,\"x\"]nullnull "
	             "integer7nullinteger12blob62FF[1,\"x\"]nullnull");
	expect_value(path, "SELECT typeof(n) || typeof(list) FROM instants WHERE name = 'without'",
	             "nullnull");
	expect_value(path, "SELECT count(*) FROM args WHERE name = 'list'", "4");
	expect_value(path,
	             "SELECT group_concat(type) FROM pragma_table_info('span') WHERE name IN "
	             "('n', 'bad', 'list') OR name LIKE 'x%'",
	             "INTEGER,TEXT,TEXT,REAL");
	expect_value(path, "SELECT group_concat(id || count, ' ') FROM loss",
	             "sqlite/arg-type4 sqlite/not-a-number1 sqlite/no-arg2");
	writer_rig_free(&r);
	job.options = &rounded[2];
	writer_rig_run_all(&r, &job);
	cr_assert(write_whole(path, r.files[0].text.p, r.files[0].text.n));
	expect_value(path,
	             "SELECT typeof(big) || (big = 18446744073709551616.0) || list || typeof(n) FROM span",
	             "real1[1,\"x\"]text");
	expect_value(path, "SELECT group_concat(id || count, ' ') FROM loss",
	             "sqlite/arg-rounded4 sqlite/not-a-number1");
	cr_expect_null(sqlite_column_mistake("args"));
	cr_expect_not_null(sqlite_column_mistake("Series:text"));
	cr_expect_not_null(sqlite_column_mistake("\xff"));
	writer_rig_free(&r);
	remove_folder(dir);
}

Test(sqlite, arrows_go_from_where_they_leave_to_each_place_they_reach)
{
#define END(phase, ts, tid)                                                                                  \
	"{\"name\":\"a\",\"cat\":\"c\",\"ph\":\"" phase "\",\"id\":1,\"ts\":" ts ",\"pid\":1,\"tid\":" tid "}"
	static const char trace[] = "[" END("s", "1", "7") "," END("t", "2", "8") "," END("f", "4", "9") "]";
	char *const dir = make_folder(), in[1024], out[1024];

	snprintf(in, sizeof in, "%s/a.json", dir);
	snprintf(out, sizeof out, "%s/a.db", dir);
	cr_assert(write_whole(in, trace, sizeof trace - 1));
	struct ran r = run_tool((const char *const[]){ "convert", "--fail-on-loss", in, out, NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	expect_value(out, "SELECT group_concat(ts_ns || kind) FROM flow",
	             "1000flow_out,2000flow_step,4000flow_in");
	expect_value(out, "SELECT group_concat(delay_ns) FROM arrows", "1000,3000");
	ran_free(&r);
	remove_folder(dir);
}

/* Texts of batches that are freed before their rows are inserted, large texts among them, and a last group
 * that is not full. */
static bool fill_many(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	const struct class *const cls = trace_plan_class(trace, &(struct class){ .name = SLICE_LIT("c") });
	const size_t large = 3 * SQLITE_GROUP_BYTES / 2;

	(void)ctx;
	if (number == 0)
		cr_assert_not_null(
		    trace_add_thread(trace, trace_add_process(trace, SLICE_LIT("p")), 1, SLICE_LIT("t")));
	for (uint32_t i = 0; i < 7; i++) {
		const uint32_t k = 7 * number + i;
		const size_t n = k % 10 == 3 ? large : k;
		char *const p = arena_alloc(&b->scratch, n + 1);
		cr_assert_not_null(p);
		memset(p, 'a' + (int)(k % 26), n);
		struct event *const e = writer_rig_event(b, cls, trace->tracks[1], k, SLICE_LIT("e"));
		if (k % 2 == 0)
			e->phase = PHASE_SPAN;
		writer_rig_field(b, SLICE_LIT("n"), value_u64(k));
		writer_rig_field(b, SLICE_LIT("text"), value_string(slice_of(p, n)));
	}
	return number < 5;
}

Test(sqlite, rows_are_inserted_in_groups)
{
	const struct writer_rig_job job = { .to = format_by_name("sqlite"), .fill = fill_many };
	char *const dir = make_folder(), path[1024];
	struct writer_rig r;

	make_database(&r, &job, dir, path);
	expect_value(path, "PRAGMA integrity_check", "ok");
	expect_value(path, "SELECT count(*) || ' ' || sum(id = ts_ns + 1) FROM instant", "17 17");
	expect_value(path, "SELECT count(*) || ' ' || sum(id = ts_ns + 1) FROM span", "18 18");
	expect_value(path, "SELECT count(*) || ' ' || sum(value = event - 1) FROM args WHERE name = 'n'",
	             "35 35");
	expect_value(path,
	             "SELECT sum(length(value) = iif(event % 10 = 4, 1572864, event - 1) AND"
	             " trim(value, char(97 + (event - 1) % 26)) = '') FROM args WHERE name = 'text'",
	             "35");
	writer_rig_free(&r);
	remove_folder(dir);
}

/* ---- failures ---- */

Test(sqlite, a_temporary_file_that_cannot_be_made)
{
	static const char script[] = "TMPDIR=/nonexistent exec \"$0\" convert --to sqlite "
	                             "testdata/htdump/good/overlapping.htdump -";
	struct ran r = run_program((const char *const[]){ "sh", "-c", script, tool_path(), NULL }, NULL, 0);

	cr_expect_eq(r.status, 2, "%d", r.status);
	cr_expect_eq(r.out_n, 0);
	cr_expect_not_null(strstr(r.err, "/nonexistent: cannot create the temporary file for the database: "
	                                 "No such file or directory"),
	                   "%s", r.err);
	ran_free(&r);
}

/* ---- losses ---- */

static bool fill_late_counter(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	static const struct value bad = { .type = VALUE_STRING, .count = 1, .p = "\xff" };
	static const struct value list = { .type = VALUE_LIST, .count = 1, .values = &bad };
	const struct track *const process = trace_add_process(trace, SLICE_LIT("p"));
	const struct class *const cls = trace_plan_class(trace, &(struct class){ .name = SLICE_LIT("c") });

	(void)ctx;
	if (number > 0)
		return false;
	cr_assert(trace_add_meta(trace, SLICE_LIT("list"), list));
	writer_rig_event(b, cls, process, UINT64_MAX, SLICE_LIT("n"))->phase = PHASE_COUNTER;
	writer_rig_field(b, SLICE_LIT("x"), value_u64(1));
	writer_rig_field(b, SLICE_LIT("y"), value_u64(2));
	writer_rig_field(b, SLICE_LIT("list"), list);
	return true;
}

/* A counter has several rows, but one time; facts are losses of the trace, too. */
Test(sqlite, losses_are_counted_once_and_listed)
{
	const struct writer_rig_job job = { .to = format_by_name("sqlite"), .fill = fill_late_counter };
	char *const dir = make_folder(), path[1024];
	struct writer_rig r;

	make_database(&r, &job, dir, path);
	cr_expect_eq(writer_rig_lost(&r, "sqlite/time-too-large"), 1);
	cr_expect_eq(writer_rig_lost(&r, "sqlite/invalid-utf8"), 2);
	expect_value(path, "SELECT group_concat(id || count) FROM (SELECT * FROM loss ORDER BY id)",
	             "sqlite/invalid-utf82,sqlite/time-too-large1");
	writer_rig_free(&r);
	remove_folder(dir);
}
