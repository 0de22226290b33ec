#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chrome/test/rig_test.h"
#include "cmd/test/cli_test_util.h"
#include "format/registry.h"

/* ---- async spans ---- */

Test(chrome, async_spans_are_pairs_of_lines)
{
	struct chrome_rig r;

	chrome_rig_begin(&r);
	const struct track *const a = chrome_rig_thread(&r, 7, "a"), *const b = chrome_rig_thread(&r, 8, "b");
	chrome_rig_event(&r, PHASE_SPAN, "task \"1\"", a, 1001, 5000)->flags = EVENT_ASYNC;
	chrome_rig_field(&r, "n", value_u64(3));
	chrome_rig_event(&r, PHASE_SPAN, "task \"1\"", b, 1002, 7000)->flags = EVENT_ASYNC;
	r.batch.events[1].offset = r.batch.events[0].offset; /* as in two files of a folder */
	chrome_rig_event(&r, PHASE_SPAN, "task \"1\"", b, 1003, 9000)->flags = EVENT_ASYNC;
	chrome_rig_event(&r, PHASE_SPAN, "task \"1\"", b, 1004, 11000)->flags = EVENT_ASYNC;
	r.batch.events[3].offset = r.batch.events[2].offset; /* as in two files of a process */
	chrome_rig_parse(&r);
	char ids[4][32];
	for (int i = 0; i < 4; i++) {
		const cJSON *const from = chrome_rig_next(&r), *const to = chrome_rig_next(&r);
		cr_assert_str_eq(chrome_text_of(from, "ph"), "b");
		cr_assert_str_eq(chrome_text_of(to, "ph"), "e");
		cr_assert_str_eq(chrome_text_of(from, "name"), "task \"1\"");
		cr_assert_str_eq(chrome_text_of(to, "name"), "task \"1\"");
		cr_assert_str_eq(chrome_text_of(from, "cat"), "first");
		cr_assert_str_eq(chrome_text_of(to, "cat"), "first");
		const char *const id = chrome_text_of(cJSON_GetObjectItemCaseSensitive(from, "id2"), "local");
		cr_assert_str_eq(id, chrome_text_of(cJSON_GetObjectItemCaseSensitive(to, "id2"), "local"));
		cr_assert_eq(chrome_number_of(from, "tid"), i == 0 ? 7 : 8);
		cr_assert_eq(chrome_number_of(to, "tid"), i == 0 ? 7 : 8);
		cr_assert_eq(chrome_number_of(from, "pid"), chrome_number_of(to, "pid"));
		cr_assert_float_eq(chrome_number_of(from, "ts"), 1.001 + i / 1000.0, 1e-9);
		cr_assert_float_eq(chrome_number_of(to, "ts"), 6.001 + i * 2.001, 1e-9);
		cr_assert_eq(chrome_number_of(from, "dur"), -1);
		cr_assert_eq(chrome_number_of(chrome_args_of(from), "n"), i == 0 ? 3 : -1);
		cr_assert_null(chrome_args_of(to));
		snprintf(ids[i], sizeof ids[i], "%s", id);
		cr_assert_eq(strncmp(ids[i], "0x", 2), 0);
	}
	for (int i = 1; i < 4; i++)
		for (int k = 0; k < i; k++)
			cr_assert_str_neq(ids[i], ids[k]);
	cr_assert_eq(r.total.n, 0);
	chrome_rig_finish(&r);
}

/* The digits are exact.  An end that a double rounds is counted;
 * an end after the last time is the last time. */
Test(chrome, ends_of_async_spans)
{
	struct chrome_rig r;

	chrome_rig_begin(&r);
	const struct track *const a = chrome_rig_thread(&r, 7, "a");
	chrome_rig_event(&r, PHASE_SPAN, "x", a, 5, ((UINT64_C(1000) << 52) | 1) - 5)->flags = EVENT_ASYNC;
	chrome_rig_event(&r, PHASE_SPAN, "x", a, UINT64_MAX - 10, 11)->flags = EVENT_ASYNC;
	chrome_rig_event(&r, PHASE_SPAN, "x", a, UINT64_MAX - 10, 10)->flags = EVENT_ASYNC;
	chrome_rig_parse(&r);
	cr_assert_eq(chrome_rig_loss_of(&r, "chrome/time-rounded"), 3);
	cr_assert_not_null(strstr(r.chunk.text.p, "\"ts\":4503599627370496.001,"));
	cr_assert_not_null(strstr(r.chunk.text.p, "\"ts\":18446744073709551.615,"));
	cr_assert_null(strstr(r.chunk.text.p, "\"ts\":0.000,"));
	chrome_rig_finish(&r);
}

Test(chrome, ends_of_async_spans_before_the_first_time)
{
	struct chrome_rig r;

	chrome_rig_begin(&r);
	r.run.rebased = r.run.signed_time = true;
	text_clear(&r.chunk.text);
	cr_assert(r.chrome->writer->open(&r.writer, &r.chunk));
	const struct track *const a = chrome_rig_thread(&r, 7, "a");
	chrome_rig_event(&r, PHASE_SPAN, "x", a, -(uint64_t)3000, 1000)->flags = EVENT_ASYNC;
	chrome_rig_event(&r, PHASE_SPAN, "x", a, -(uint64_t)3000, 5000)->flags = EVENT_ASYNC;
	chrome_rig_event(&r, PHASE_SPAN, "x", a, 1, UINT64_MAX)->flags = EVENT_ASYNC;
	chrome_rig_parse(&r);
	chrome_rig_next(&r);
	cr_assert_eq(chrome_number_of(chrome_rig_next(&r), "ts"), -2);
	chrome_rig_next(&r);
	cr_assert_eq(chrome_number_of(chrome_rig_next(&r), "ts"), 2);
	cr_assert_not_null(strstr(r.chunk.text.p, "\"ts\":9223372036854775.807,"));
	cr_assert_eq(chrome_rig_loss_of(&r, "chrome/time-rounded"), 1);
	chrome_rig_finish(&r);
}

/* ---- arrows ---- */

Test(chrome, both_ends_of_an_arrow_agree)
{
	struct chrome_rig r;

	chrome_rig_begin(&r);
	const struct track *const a = chrome_rig_thread(&r, 7, "a");
	chrome_rig_event(&r, PHASE_FLOW_OUT, "wake", a, 1000, UINT64_MAX);
	chrome_rig_event(&r, PHASE_FLOW_IN, "wake", a, 2000, UINT64_MAX)->cls = r.other;
	chrome_rig_parse(&r);
	const cJSON *const s = chrome_rig_next(&r), *const f = chrome_rig_next(&r);
	cr_assert_str_eq(chrome_text_of(s, "ph"), "s");
	cr_assert_str_eq(chrome_text_of(f, "ph"), "f");
	cr_assert_str_eq(chrome_text_of(f, "bp"), "e");
	cr_assert_str_eq(chrome_text_of(s, "id"), "0xffffffffffffffff");
	cr_assert_str_eq(chrome_text_of(f, "id"), "0xffffffffffffffff");
	cr_assert_str_eq(chrome_text_of(s, "cat"), "flow");
	cr_assert_str_eq(chrome_text_of(f, "cat"), "flow");
	cr_assert_str_eq(chrome_text_of(f, "name"), "wake");
	chrome_rig_finish(&r);
}

/* ---- instants, counters, args ---- */

Test(chrome, series_of_counters_are_numbers)
{
	struct chrome_rig r;

	chrome_rig_begin(&r);
	chrome_rig_event(&r, PHASE_COUNTER, "queues", chrome_rig_thread(&r, 7, "a"), 1000, 0);
	chrome_rig_field(&r, "text", value_string(SLICE_LIT("no number")));
	chrome_rig_field(&r, "large", value_u64(UINT64_MAX));
	chrome_rig_field(&r, "low", (struct value){ .type = VALUE_I64, .i64 = INT64_MIN });
	chrome_rig_field(&r, "nan", (struct value){ .type = VALUE_F64, .f64 = strtod("nan", NULL) });
	chrome_rig_field(&r, "half \"x\"", (struct value){ .type = VALUE_F32, .f64 = 0.5 });
	chrome_rig_field(&r, "on", (struct value){ .type = VALUE_BOOL, .u64 = 1 });
	chrome_rig_field(&r, "where", (struct value){ .type = VALUE_ADDRESS, .u64 = 1 });
	chrome_rig_event(&r, PHASE_COUNTER, "nothing", chrome_rig_thread(&r, 8, "b"), 1000, 0);
	chrome_rig_field(&r, "text", value_string(SLICE_LIT("no number")));
	chrome_rig_event(&r, PHASE_COUNTER, "no field", chrome_rig_thread(&r, 8, "b"), 1000, 0);
	chrome_rig_parse(&r);
	const cJSON *const c = chrome_rig_next(&r), *const args = chrome_args_of(c);
	cr_assert_str_eq(chrome_text_of(c, "ph"), "C");
	cr_assert_eq(cJSON_GetArraySize(args), 4);
	for (const cJSON *x = args->child; x != NULL; x = x->next)
		cr_assert(cJSON_IsNumber(x));
	cr_assert_eq(chrome_number_of(args, "on"), 1);
	cr_assert_float_eq(chrome_number_of(args, "half \"x\""), 0.5, 0);
	cr_assert_not_null(strstr(r.chunk.text.p, ":18446744073709551615,\"low\":-9223372036854775808,"));
	cr_assert_eq(cJSON_GetArraySize(chrome_args_of(chrome_rig_next(&r))), 0);
	cr_assert_str_eq(chrome_text_of(chrome_rig_next(&r), "ph"), "i");
	cr_assert_eq(chrome_rig_loss_of(&r, "chrome/counter-text"), 4);
	chrome_rig_finish(&r);
}

Test(chrome, instants_of_threads_and_of_processes)
{
	struct chrome_rig r;

	chrome_rig_begin(&r);
	chrome_rig_event(&r, PHASE_INSTANT, "a", chrome_rig_thread(&r, 7, "a"), 1000, 0);
	chrome_rig_event(&r, PHASE_INSTANT, "b", r.process, 1000, 0);
	chrome_rig_parse(&r);
	cr_assert_str_eq(chrome_text_of(chrome_rig_next(&r), "s"), "t");
	cr_assert_str_eq(chrome_text_of(chrome_rig_next(&r), "s"), "p");
	chrome_rig_finish(&r);
}

/* Adds two events of a thread with an odd id; the first field of each is its record number. */
static void numbered_events(struct chrome_rig *r, const struct option_value *options)
{
	chrome_rig_begin(r);
	r->trace.record_id = "id";
	r->writer.options = options;
	((struct chrome_state *)r->writer.state)->with_ids = options != NULL;
	const struct track *const a = chrome_rig_thread(r, UINT64_C(1) << 40, "a");
	chrome_rig_event(r, PHASE_SPAN, "a", a, 1000, 10);
	chrome_rig_field(r, "id", value_u64(41));
	chrome_rig_field(r, "id (2)", value_u64(7));
	chrome_rig_event(r, PHASE_SPAN, "a", a, 2000, 10);
	chrome_rig_field(r, "id", value_u64(42));
	chrome_rig_event(r, PHASE_SPAN, "a", a, 3000, 10);
	chrome_rig_field(r, "x", value_u64(3));
	chrome_rig_field(r, "id", value_u64(43));
	chrome_rig_event(r, PHASE_SPAN, "a", a, 4000, 10);
	chrome_rig_field(r, "id", value_string(SLICE_LIT("seven")));
	chrome_rig_parse(r);
}

/* Viewers that group by name and args must aggregate these calls. */
Test(chrome, what_numbers_events_is_no_argument)
{
	struct chrome_rig r;

	numbered_events(&r, NULL);
	const cJSON *e = chrome_rig_next(&r);
	cr_expect_eq(cJSON_GetArraySize(chrome_args_of(e)), 1);
	cr_expect_eq(chrome_number_of(chrome_args_of(e), "id (2)"), 7);
	cr_expect_eq(chrome_number_of(cJSON_GetObjectItemCaseSensitive(e, "ids"), "id"), 41);
	e = chrome_rig_next(&r);
	cr_expect_null(chrome_args_of(e));
	cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(e, "ids")), 1);
	e = chrome_rig_next(&r); /* not the first field, so it is no record number */
	cr_expect_eq(chrome_number_of(chrome_args_of(e), "id"), 43);
	e = chrome_rig_next(&r);
	cr_expect_str_eq(chrome_text_of(chrome_args_of(e), "id"), "seven");
	chrome_rig_finish(&r);
}

Test(chrome, ids_of_process_and_thread)
{
	static const struct option_value ids = { "ids", "", NULL };
	struct chrome_rig r;

	numbered_events(&r, &ids);
	const cJSON *e = chrome_rig_next(&r), *own = cJSON_GetObjectItemCaseSensitive(e, "ids");
	cr_expect_eq(cJSON_GetArraySize(chrome_args_of(e)), 1);
	cr_expect_eq(cJSON_GetArraySize(own), 2);
	cr_expect_eq(chrome_number_of(own, "id"), 41);
	cr_expect_eq(chrome_number_of(own, "true_tid"), 1099511627776.0);
	e = chrome_rig_next(&r);
	cr_expect_null(chrome_args_of(e));
	cr_expect_eq(chrome_number_of(cJSON_GetObjectItemCaseSensitive(e, "ids"), "id"), 42);
	e = chrome_rig_next(&r);
	own = cJSON_GetObjectItemCaseSensitive(e, "ids");
	cr_expect_eq(cJSON_GetArraySize(own), 1);
	chrome_rig_finish(&r);
}

/* ---- round trips ---- */

#define OBJECT "testdata/chrome/good/object.json"

/* The step of an arrow is preserved, also through other formats. */
Test(chrome_again, steps_of_arrows)
{
	static const char *const by_way[] = { "chrome", "ndjson", "heph", "dial9" };
	char *const dir = make_folder();
	char path[512];

	snprintf(path, sizeof path, "%s/between", dir);
	for (size_t i = 0; i < sizeof by_way / sizeof *by_way; i++) {
		const char *const to[] = { "convert", "-qf", "--to", by_way[i], OBJECT, path, NULL };
		const char *const back[] = { "convert", "-q", "--to=chrome", path, "-", NULL };
		struct ran r = run_tool(to, NULL, 0);
		cr_expect_eq(r.status, 0, "%s", r.err);
		ran_free(&r);
		r = run_tool(back, NULL, 0);
		cr_expect_not_null(strstr(r.out, "\"ph\":\"s\",\"id\":\"0x1\",\"ts\":2.600"), "%s", r.out);
		cr_expect_not_null(strstr(r.out, "\"ph\":\"t\",\"bp\":\"e\",\"id\":\"0x1\",\"ts\":6.75"),
		                   "%s", r.out);
		cr_expect_not_null(strstr(r.out, "\"ph\":\"f\",\"bp\":\"e\",\"id\":\"0x1\",\"ts\":9.0"), "%s",
		                   r.out);
		ran_free(&r);
	}
	remove_folder(dir);
}
