/* Many rows: pages, row groups, full dictionaries, parts. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "parquet/test/made_test.h"
#include "parquet/parquet.h"
#include "test/support/strength.h"

#define TEXT(s) ((struct slice){ s, sizeof(s) - 1, 0 })

/* ---- the run ---- */

static bool fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	const struct parquet_made *const m = ctx;

	if (number < m->batches)
		m->fill(trace, b, number);
	return number < m->batches;
}

void parquet_run(struct parquet_run *run, const struct parquet_made *made)
{
	struct parquet_made m = *made;
	const struct writer_rig_job job = {
		.to = made->in_parts ? &parquet_dir_format : &parquet_format,
		.threads = 1,
		.options = made->options,
		.fill = fill,
		.ctx = &m,
		.sort_memory = made->sort_memory,
	};

	*run = (struct parquet_run){ .file = { .p = NULL } };
	if (made->one_thread)
		writer_rig_run(&run->rig, &job);
	else
		writer_rig_run_all(&run->rig, &job);
	cr_assert(run->rig.written, "%s", run->rig.finding);
	if (made->in_parts)
		return;
	cr_assert_eq(run->rig.nfiles, 1);
	const struct text *const t = &run->rig.files[0].text;
	cr_assert(pq_read(&run->file, t->p, t->n), "%s", run->file.error);
}

void parquet_run_free(struct parquet_run *run)
{
	pq_free(&run->file);
	writer_rig_free(&run->rig);
}

/* ---- many rows ---- */

#define A_BATCH 1000U

/* All of an event follows from its number.  Events are not in the order of their times. */
static uint64_t time_of(uint64_t i)
{
	return i ^ 5;
}

static void make_many(struct trace *t, struct batch *b, uint32_t number)
{
	const struct track *const process = t->ntracks > 0 ? t->tracks[0] : trace_add_process(t, TEXT("p"));
	const struct track *const thread =
	    t->ntracks > 1 ? t->tracks[1] : trace_add_thread(t, process, 7, TEXT("t"));
	struct class *const cls = trace_add_class(t, TEXT("many"));

	for (uint64_t i = (uint64_t)number * A_BATCH; i < (uint64_t)(number + 1) * A_BATCH; i++) {
		const uint64_t ts = time_of(i);
		const struct slice name =
		    ts % 2 == 0 ? arena_printf(&b->scratch, "name %" PRIu64, ts) : TEXT("odd");
		struct event *const e = writer_rig_event(b, cls, thread, ts, name);
		if (ts % 3 == 0)
			writer_rig_field(b, TEXT("n"), value_u64(ts * 7));
		e->phase = ts % 5 == 0 ? PHASE_SPAN : PHASE_INSTANT;
	}
}

static void expect_many(const struct pq_file *f, uint64_t from)
{
	const struct pq_column *const ts = pq_column(f, "ts_ns"), *const name = pq_column(f, "name");
	const struct pq_column *const n = pq_column(f, "n"), *const args = pq_column(f, "args");
	char text[64];

	for (uint64_t i = 0; i < f->rows; i++) {
		const uint64_t at = from + i;
		cr_assert_eq(ts->cells[i].i, (int64_t)at, "row %" PRIu64, at);
		(void)snprintf(text, sizeof text, "name %" PRIu64, at);
		cr_assert(slice_is(name->cells[i].text, at % 2 == 0 ? text : "odd"), "row %" PRIu64, at);
		cr_assert_eq(n->cells[i].null, at % 3 != 0);
		cr_assert_eq(args->cells[i].null, at % 3 != 0);
		cr_assert(at % 3 != 0 || n->cells[i].i == (int64_t)at * 7, "row %" PRIu64, at);
		(void)snprintf(text, sizeof text, "{\"n\":%" PRIu64 "}", at * 7);
		cr_assert(at % 3 != 0 || slice_is(args->cells[i].text, text), "row %" PRIu64, at);
		cr_assert_eq(pq_column(f, "dur_ns")->cells[i].null, at % 5 != 0);
	}
}

static const struct option_value lift_n = { "column", "n:int", NULL };

/* More names than a dictionary can have, and more rows than a group. */
Test(parquet_groups, many_rows)
{
	struct parquet_run run;

	parquet_run(&run, &(struct parquet_made){ make_many, 150, .options = &lift_n });
	cr_assert_eq(run.file.rows, 150 * A_BATCH);
	cr_expect_eq(run.file.groups, 2);
	cr_expect_eq(run.file.largest_group, GROUP_ROWS);
	cr_expect(pq_column(&run.file, "kind")->all_by_dictionary);
	cr_expect(pq_column(&run.file, "tid")->all_by_dictionary);
	cr_expect_not(pq_column(&run.file, "name")->all_by_dictionary);
	expect_many(&run.file, 0);
	cr_expect_eq(run.rig.losses.n, 0);
	parquet_run_free(&run);
}

/* The order stage uses a temporary file; the bytes are the same. */
Test(parquet_groups, little_memory_for_sorting)
{
	struct parquet_run run, again;

	parquet_run(&run, &(struct parquet_made){ make_many, 10, .options = &lift_n, .sort_memory = 65536 });
	parquet_run(&again, &(struct parquet_made){ make_many, 10, .options = &lift_n, .one_thread = true });
	expect_many(&run.file, 0);
	const struct text *const a = &run.rig.files[0].text, *const b = &again.rig.files[0].text;
	cr_expect(a->n == b->n && memcmp(a->p, b->p, a->n) == 0);
	parquet_run_free(&run);
	parquet_run_free(&again);
}

/* ---- texts that fill a row group, and parts ---- */

#define BLOB 100000U

static void make_blobs(struct trace *t, struct batch *b, uint32_t number)
{
	struct class *const cls = trace_add_class(t, TEXT("blobs"));
	const struct track *const process = t->ntracks > 0 ? t->tracks[0] : trace_add_process(t, TEXT("p"));
	uint64_t seed = number + 1;

	for (uint32_t i = 0; i < 10; i++) { /* noise, which does not compress */
		char *const p = arena_alloc(&b->scratch, BLOB);
		for (uint32_t k = 0; k < BLOB; k++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			p[k] = (char)(seed >> 56);
		}
		writer_rig_event(b, cls, process, number * 10 + i, TEXT("blob"));
		writer_rig_field(b, TEXT("b"), (struct value){ .type = VALUE_BYTES, .count = BLOB, .p = p });
	}
}

static void expect_blobs(const struct pq_file *f)
{
	const struct pq_column *const args = pq_column(f, "args");

	for (uint64_t i = 0; i < f->rows; i++)
		cr_assert_eq(args->cells[i].text.n, 2 * BLOB + sizeof "{\"b\":\"0x\"}" - 1);
}

Test(parquet_groups, texts_fill_a_row_group)
{
	struct parquet_run run;

	parquet_run(&run, &(struct parquet_made){ make_blobs, 17, .options = NULL, .one_thread = true });
	cr_assert_eq(run.file.rows, 170);
	cr_expect_eq(run.file.groups, 3); /* of 16 MiB, at 200,010 bytes a row */
	cr_expect_leq(run.file.largest_group, GROUP_BYTES / (2 * BLOB) + 1);
	expect_blobs(&run.file);
	parquet_run_free(&run);
}

static void expect_loss(const struct pq_file *f, const char *begins)
{
	const struct slice losses = pq_about(f, "tracetool.losses");

	cr_expect(losses.n > strlen(begins) && memcmp(losses.p, begins, strlen(begins)) == 0, "%.*s",
	          (int)losses.n, losses.p);
}

/* Each part is a complete file, sorted, with the facts of the whole trace. */
Test(parquet_groups, parts)
{
	static const struct option_value size = { "part-size", "1048576", &lift_n };
	struct parquet_run run;
	int64_t last = 0;
	uint64_t rows = 0;

	parquet_run(&run, &(struct parquet_made){ make_blobs, 17, .options = &size, .in_parts = true,
	                                          .one_thread = true });
	cr_assert_eq(run.rig.nfiles, 3);
	for (uint32_t i = 0; i < run.rig.nfiles; i++) {
		struct pq_file f;
		char name[64];
		(void)snprintf(name, sizeof name, "part-%05" PRIu32 ".parquet", i);
		cr_expect_str_eq(run.rig.files[i].name, name);
		cr_assert(pq_read(&f, run.rig.files[i].text.p, run.rig.files[i].text.n), "%s", f.error);
		const struct pq_column *const ts = pq_column(&f, "ts_ns");
		cr_expect_geq(ts->cells[0].i, last);
		last = ts->cells[f.rows - 1].i;
		rows += f.rows;
		expect_blobs(&f);
		expect_loss(&f, "[{\"id\":\"parquet/no-arg\",");
		pq_free(&f);
	}
	cr_expect_eq(rows, 170);
	parquet_run_free(&run);
}

Test(parquet_groups, parts_hold_all_rows_in_order)
{
	static const struct option_value size = { "part-size", "1048576", &lift_n };
	struct parquet_run run;
	uint64_t from = 0;

	parquet_run(&run, &(struct parquet_made){ make_many, 528, .options = &size, .in_parts = true,
	                                          .one_thread = true });
	cr_assert_eq(run.rig.nfiles, 2);
	for (uint32_t i = 0; i < run.rig.nfiles; i++) {
		struct pq_file f;
		cr_assert(pq_read(&f, run.rig.files[i].text.p, run.rig.files[i].text.n), "%s", f.error);
		expect_many(&f, from);
		from += f.rows;
		pq_free(&f);
	}
	cr_expect_eq(from, 528 * A_BATCH);
	parquet_run_free(&run);
}

/* ---- an output that fails ---- */

Test(parquet_groups, a_failed_output_is_told)
{
	struct parquet_made m = { make_many, 140, .options = NULL };
	struct writer_rig r;

	for (uint64_t after = 1; after < 3000000; after = after * strength(81, 9, 9) + 1) {
		writer_rig_run(
		    &r,
		    &(struct writer_rig_job){
		        .to = &parquet_format, .threads = 2, .fill = fill, .ctx = &m, .fail_after = after });
		cr_expect(r.written || r.failed, "after %" PRIu64, after);
		cr_expect_not(r.no_memory);
		cr_expect_eq(r.puts_after_failure, 0);
		writer_rig_free(&r);
	}
}
