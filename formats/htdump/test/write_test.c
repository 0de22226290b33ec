/*
 * The writer alone, fed by hand, with its output read back by the oracle or the reader: values, texts, kinds,
 * times, numbers of threads, names, limits.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "htdump/htdump.h"
#include "htdump/test/write_run_test.h"
#include "model/test/lane_track_test.h"

/* ---- values ---- */

static void add_numbers(struct htw_run *r)
{
	static const struct {
		const char *name;
		struct value v;
	} rows[] = {
		{ "true", { .type = VALUE_BOOL, .u64 = 1 } },
		{ "false", { .type = VALUE_BOOL, .u64 = 0 } },
		{ "u8", { .type = VALUE_U8, .u64 = 255 } },
		{ "u16", { .type = VALUE_U16, .u64 = 65535 } },
		{ "u32", { .type = VALUE_U32, .u64 = UINT32_MAX } },
		{ "u64", { .type = VALUE_U64, .u64 = UINT64_MAX } },
		{ "i8", { .type = VALUE_I8, .i64 = INT8_MIN } },
		{ "i16", { .type = VALUE_I16, .i64 = INT16_MIN } },
		{ "i32", { .type = VALUE_I32, .i64 = INT32_MIN } },
		{ "i64", { .type = VALUE_I64, .i64 = INT64_MIN } },
		{ "f32", { .type = VALUE_F32, .f64 = 0.5 } },
		{ "f64", { .type = VALUE_F64, .f64 = -1e300 } },
		{ "address", { .type = VALUE_ADDRESS, .u64 = UINT64_MAX - 1 } },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		htw_run_named(r, rows[i].name, rows[i].v);
}

Test(htdump_write, numbers)
{
	struct htw_run r;

	htw_run_begin(&r);
	htw_run_event(&r, PHASE_INSTANT, SLICE_LIT("numbers"), 5, 0);
	add_numbers(&r);
	const struct oracle_event *const e = htw_run_nth(htw_run_decode(&r), 0);
	htw_run_expect_number(e, "true", ORACLE_UNSIGNED, 1);
	htw_run_expect_number(e, "false", ORACLE_UNSIGNED, 0);
	htw_run_expect_number(e, "u8", ORACLE_UNSIGNED, 255);
	htw_run_expect_number(e, "u16", ORACLE_UNSIGNED, 65535);
	htw_run_expect_number(e, "u32", ORACLE_UNSIGNED, UINT32_MAX);
	htw_run_expect_number(e, "u64", ORACLE_UNSIGNED, UINT64_MAX);
	htw_run_expect_number(e, "i8", ORACLE_SIGNED, (uint64_t)INT8_MIN);
	htw_run_expect_number(e, "i16", ORACLE_SIGNED, (uint64_t)INT16_MIN);
	htw_run_expect_number(e, "i32", ORACLE_SIGNED, (uint64_t)INT32_MIN);
	htw_run_expect_number(e, "i64", ORACLE_SIGNED, (uint64_t)INT64_MIN);
	cr_expect(oracle_find(e, "f32")->kind == ORACLE_FLOAT && oracle_find(e, "f32")->d == 0.5);
	cr_expect(oracle_find(e, "f64")->kind == ORACLE_DOUBLE && oracle_find(e, "f64")->d == -1e300);
	htw_run_expect_number(e, "address", ORACLE_POINTER, UINT64_MAX - 1);
	cr_expect_eq(e->nfields, 2 + 13);
	cr_expect_eq(r.total.n, 0);
	htw_run_finish(&r);
}

Test(htdump_write, numbers_that_are_none)
{
	const uint64_t bits[] = { UINT64_C(0x7ff8000000000000), UINT64_C(0xfff0000020000000),
		                  UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff0000000000001) };
	const uint32_t narrow[] = { 0x7fc00000, 0xff800001, 0x7f800000, 0x7fc00000 };
	struct htw_run r;
	char name[8];

	htw_run_begin(&r);
	htw_run_event(&r, PHASE_INSTANT, SLICE_LIT("x"), 5, 0);
	for (size_t i = 0; i < 8; i++) {
		snprintf(name, sizeof name, "%zu", i);
		htw_run_field(&r, arena_copy(&r.batch.scratch, slice_str(name)),
		              (struct value){ .type = i < 4 ? VALUE_F64 : VALUE_F32, .u64 = bits[i % 4] });
	}
	const struct oracle_event *const e = htw_run_nth(htw_run_decode(&r), 0);
	for (size_t i = 0; i < 4; i++) {
		cr_expect_eq(e->fields[2 + i].u, bits[i]);
		cr_expect_eq(e->fields[6 + i].u, narrow[i], "%" PRIx64, e->fields[6 + i].u);
	}
	cr_expect_eq(r.total.n, 0);
	htw_run_finish(&r);
}

Test(htdump_write, values_as_text)
{
	const struct value numbers[] = { value_u64(1),
		                         { .type = VALUE_I64, .i64 = -2 },
		                         { .type = VALUE_F64, .f64 = 0.5 },
		                         { .type = VALUE_BOOL, .u64 = 1 },
		                         { .type = VALUE_NONE },
		                         { .type = VALUE_ADDRESS, .u64 = 255 },
		                         { .type = VALUE_F32, .f64 = 0.25 },
		                         { .type = VALUE_JSON, .p = "{}", .count = 2 } };
	const struct value pairs[] = { value_string(SLICE_LIT("a")), value_u64(1),
		                       value_string(slice_str("\"")), value_string(slice_str("\n")) };
	const struct value mixed[] = { value_u64(1),
		                       { .type = VALUE_BYTES, .p = "\xff", .count = 1 },
		                       value_u64(2),
		                       { .type = VALUE_LIST } };
	struct htw_run r;

	htw_run_begin(&r);
	htw_run_event(&r, PHASE_SPAN, SLICE_LIT("x"), 5, 1);
	htw_run_named(&r, "null", (struct value){ .type = VALUE_NONE });
	htw_run_named(&r, "bytes", (struct value){ .type = VALUE_BYTES, .p = "\0\x7f", .count = 2 });
	htw_run_named(&r, "list", (struct value){ .type = VALUE_LIST, .values = numbers, .count = 8 });
	htw_run_named(&r, "map", (struct value){ .type = VALUE_MAP, .values = pairs, .count = 2 });
	htw_run_named(&r, "odd", (struct value){ .type = VALUE_MAP, .values = mixed, .count = 2 });
	htw_run_named(&r, "json", (struct value){ .type = VALUE_JSON, .p = "[1, 2]", .count = 6 });
	const struct oracle_event *const e = htw_run_nth(htw_run_decode(&r), 0);
	htw_run_expect_text(e, "null", "null");
	htw_run_expect_text(e, "bytes", "0x007f");
	htw_run_expect_text(e, "list", "[1,-2,0.5,true,null,\"0xff\",0.25,{}]");
	htw_run_expect_text(e, "map", "{\"a\":1,\"\\\"\":\"\\n\"}");
	htw_run_expect_text(e, "odd", "[[1,\"0xff\"],[2,[]]]");
	htw_run_expect_text(e, "json", "[1, 2]");
	cr_expect_eq(htw_run_loss_of(&r, "htdump/value-as-text"), 6);
	cr_expect_eq(r.total.n, 1);
	htw_run_finish(&r);
}

/* ---- texts ---- */

Test(htdump_write, long_names)
{
	static const size_t sizes[] = { 0, 1, 65535, 65536, HTW_MAX_TEXT };
	struct htw_run r;

	htw_run_begin(&r);
	for (size_t i = 0; i < 5; i++) {
		char *const p = htw_run_filled(sizes[i], 'x');
		htw_run_event(&r, PHASE_SPAN, slice_of(p, sizes[i]), i, 1);
		htw_run_named(&r, "too", value_string(slice_of(p, sizes[i])));
		htw_run_flush(&r);
		free(p);
	}
	htw_run_finish_output(&r);
	for (size_t i = 0; i < 5; i++) {
		const struct batch *b;
		const struct event *const e = htw_run_live_event(&r, i, &b);
		cr_expect_eq(e->name.n, sizes[i]);
		cr_expect_eq(b->fields[e->first_field + 1].value.count,
		             i < 4 ? sizes[i] : HTW_MAX_RECORD - HTW_MAX_TEXT);
	}
	cr_expect_eq(htw_run_loss_of(&r, "htdump/text-cut"), 1);
	htw_run_finish(&r);
}

/* Texts are cut between characters, so that they stay UTF-8. */
Test(htdump_write, texts_that_are_too_long)
{
	const size_t n = (5U << 20) + 1;
	char *const p = htw_run_filled(n, 'x');
	const struct batch *b;
	struct htw_run r;

	for (size_t i = 1; i + 3 <= n; i += 3)
		memcpy(p + i, "\xe2\x82\xac", 3);
	htw_run_begin(&r);
	htw_run_event(&r, PHASE_SPAN, slice_of(p, n), 1, 1);
	for (int i = 0; i < 3; i++)
		htw_run_named(&r, "too", value_string(slice_of(p, n)));
	htw_run_finish_output(&r);
	const struct event *const e = htw_run_live_event(&r, 0, &b);
	cr_expect(e->name.n <= HTW_MAX_TEXT && e->name.n > HTW_MAX_TEXT - 3);
	cr_expect_eq(e->name.n % 3, 1);
	cr_expect((e->name.flags & SLICE_UTF8) != 0);
	cr_expect_eq(b->fields[e->first_field + 3].value.count, 0);
	cr_expect_eq(htw_run_loss_of(&r, "htdump/text-cut"), 4);
	free(p);
	htw_run_finish(&r);
}

Test(htdump_write, texts_with_nul)
{
	char *const nuls = htw_run_filled(HTW_MAX_TEXT, '\0');
	struct htw_run r;

	htw_run_begin(&r);
	htw_run_event(&r, PHASE_SPAN, slice_of("a\0b\0", 4), 1, 1);
	htw_run_named(&r, "value", value_string(slice_of("\0", 1)));
	htw_run_event(&r, PHASE_SPAN, SLICE_LIT("x"), 2, 1);
	htw_run_field(&r, slice_of("na\0me", 5), value_u64(1));
	htw_run_field(&r, slice_of("na\0me", 5), value_u64(2));
	htw_run_event(&r, PHASE_SPAN, slice_of(nuls, HTW_MAX_TEXT), 3, 1);
	const struct oracle *const o = htw_run_decode(&r);
	htw_run_expect_text(htw_run_nth(o, 0), "label",
	                    "a\xef\xbf\xbd"
	                    "b\xef\xbf\xbd");
	htw_run_expect_text(htw_run_nth(o, 0), "value", "\xef\xbf\xbd");
	htw_run_expect_text(htw_run_nth(o, 1), "fields", "{\"na\\u0000me\":1,\"na\\u0000me (2)\":2}");
	cr_expect_eq(strlen(oracle_find(htw_run_nth(o, 2), "label")->s), HTW_MAX_TEXT / 3 * 3);
	cr_expect_eq(htw_run_loss_of(&r, "htdump/text-nul"), 3);
	cr_expect_eq(htw_run_loss_of(&r, "htdump/fields-as-text"), 1);
	cr_expect_eq(htw_run_loss_of(&r, "htdump/field-renamed"), 1);
	cr_expect_eq(htw_run_loss_of(&r, "htdump/text-cut"), 1);
	free(nuls);
	htw_run_finish(&r);
}

/* ---- kinds ---- */

Test(htdump_write, kinds)
{
	static const struct {
		enum phase phase;
		const char *word, *loss;
	} rows[] = {
		{ PHASE_SPAN, "span", NULL },
		{ PHASE_INSTANT, "instant", NULL },
		{ PHASE_COUNTER, "counter", NULL },
		{ PHASE_FLOW_OUT, "arrow out", "htdump/arrow" },
		{ PHASE_FLOW_IN, "arrow in", "htdump/arrow" },
		{ PHASE_BEGIN, "begin", "htdump/half-span" },
		{ PHASE_END, "end", "htdump/half-span" },
		{ PHASE_SPAN, "async span", "htdump/async-span" },
	};
	struct htw_run r;

	htw_run_begin(&r);
	for (size_t i = 0; i < 8; i++) {
		htw_run_event(&r, rows[i].phase, slice_str(rows[i].word), 10 * i, 5)->flags =
		    i == 7 ? EVENT_ASYNC : 0;
		htw_run_named(&r, "n", value_u64(i));
	}
	const struct oracle *const o = htw_run_decode(&r);
	for (size_t i = 0; i < 8; i++) {
		const struct oracle_event *const e = htw_run_nth(o, i), *const class =
		                                                            htw_run_with(o, "class_id", i);
		cr_expect_str_eq(e->name, rows[i].word);
		cr_expect(e->ts == 10 * i && e->tid == 7 && e->span == (rows[i].phase == PHASE_SPAN));
		cr_expect_eq(e->dur, e->span ? 5 : 0);
		htw_run_expect_number(e, "n", ORACLE_UNSIGNED, i);
		htw_run_expect_text(class, "name", "first");
		htw_run_expect_text(class, "kind", rows[i].word);
		if (i == 3 || i == 4)
			htw_run_expect_number(e, "arrow_id", ORACLE_UNSIGNED, 5);
		if (i > 0)
			cr_expect_gt(e->id, htw_run_nth(o, i - 1)->id);
		if (rows[i].loss != NULL)
			cr_expect_eq(htw_run_loss_of(&r, rows[i].loss), i == 7 ? 1 : 2, "%s", rows[i].loss);
	}
	cr_expect_eq(htw_run_count_of(o, "first"), 8);
	cr_expect_eq(r.total.n, 4);
	htw_run_finish(&r);
}

Test(htdump_write, nothing)
{
	struct htw_run r;

	htw_run_begin(&r);
	trace_add_meta(&r.trace, SLICE_LIT("host"), value_string(SLICE_LIT("node")));
	trace_add_meta(&r.trace, SLICE_LIT("cpus"), value_u64(4));
	const struct oracle *const o = htw_run_decode(&r);
	cr_expect_str_eq(htw_run_fact(o, "format"), "test");
	cr_expect_str_eq(htw_run_fact(o, "tool"), "test");
	cr_expect_str_eq(htw_run_fact(o, "clock"), "unknown");
	cr_expect_str_eq(htw_run_fact(o, "trace.host"), "node");
	cr_expect_str_eq(htw_run_fact(o, "trace.cpus"), "4");
	cr_expect_null(htw_run_fact(o, "dialect"));
	cr_expect_null(htw_run_fact(o, "epoch_ns"));
	cr_expect_eq(htw_run_count_of(o, "tracetool_Track"), 1); /* describes the process too */
	htw_run_finish(&r);
}

/* ---- times ---- */

Test(htdump_write, times_before_0_and_past_the_last)
{
	struct htw_run r;

	htw_run_begin_with(&r, true);
	htw_run_event(&r, PHASE_SPAN, SLICE_LIT("early"), (uint64_t)-5, 20);
	htw_run_event(&r, PHASE_SPAN, SLICE_LIT("fine"), 5, 20);
	htw_run_event(&r, PHASE_SPAN, SLICE_LIT("long"), 5, UINT64_MAX);
	const struct oracle *o = htw_run_decode(&r);
	cr_expect(htw_run_nth(o, 0)->ts == 0 && htw_run_nth(o, 0)->dur == 20);
	cr_expect(htw_run_nth(o, 1)->ts == 5 && htw_run_nth(o, 1)->dur == 20);
	cr_expect(htw_run_nth(o, 2)->ts == 5 && htw_run_nth(o, 2)->dur == UINT64_MAX - 5);
	cr_expect_eq(htw_run_loss_of(&r, "htdump/negative-time"), 1);
	cr_expect_eq(htw_run_loss_of(&r, "htdump/late-end"), 1);
	cr_expect_str_eq(htw_run_fact(o, "losses.htdump/late-end"), "1");
	htw_run_finish(&r);
	htw_run_begin(&r);
	htw_run_event(&r, PHASE_SPAN, SLICE_LIT("late"), UINT64_MAX, 0);
	o = htw_run_decode(&r);
	cr_expect_eq(htw_run_nth(o, 0)->ts, UINT64_MAX);
	cr_expect_eq(r.total.n, 0);
	htw_run_finish(&r);
}

/* ---- threads ---- */

struct track_record {
	const char *kind, *name;
	uint64_t has_pid, pid, has_tid, tid;
};

static void expect_track(const struct oracle_event *e, const struct track_record *want, uint64_t number)
{
	cr_assert_not_null(e);
	htw_run_expect_number(e, "thread_id", ORACLE_UNSIGNED, number);
	htw_run_expect_text(e, "kind", want->kind);
	htw_run_expect_text(e, "name", want->name);
	htw_run_expect_number(e, "has_pid", ORACLE_UNSIGNED, want->has_pid);
	htw_run_expect_number(e, "pid", ORACLE_UNSIGNED, want->pid);
	htw_run_expect_number(e, "has_tid", ORACLE_UNSIGNED, want->has_tid);
	htw_run_expect_number(e, "tid", ORACLE_UNSIGNED, want->tid);
}

Test(htdump_write_names, threads_have_one_number_each)
{
	static const struct track_record want[] = {
		{ "thread", "worker", 0, 0, 1, 7 },           { "thread", "of another", 1, 99, 1, 7 },
		{ "thread", "large", 1, 99, 1, UINT64_MAX },  { "process", "other", 1, 99, 0, 0 },
		{ "lane", "worker (2)", 0, 0, 1, 7 },         { "child", "worker: states", 0, 0, 1, 7 },
		{ "lane", "worker: states (2)", 0, 0, 1, 7 }, { "thread", "zero", 1, 99, 1, 0 },
		{ "thread", "without", 1, 99, 0, 0 },
	};
	static const uint64_t numbers[] = { 7,       4194305, 4194306, 4194307, 4194308,
		                            4194309, 4194310, 0,       4194311 };
	struct htw_run r;

	htw_run_begin(&r);
	struct track *const other = trace_add_process(&r.trace, SLICE_LIT("other"));
	other->has_id = true;
	other->id = 99;
	const struct track *const states = trace_child_track(&r.trace, r.thread, SLICE_LIT("states"));
	struct track *const without = trace_add_thread(&r.trace, other, 0, SLICE_LIT("without"));
	without->has_id = false;
	const struct track *const tracks[] = {
		r.thread,
		trace_add_thread(&r.trace, other, 7, SLICE_LIT("of another")),
		trace_add_thread(&r.trace, other, UINT64_MAX, SLICE_LIT("large")),
		other,
		trace_lane(&r.trace, r.thread, 1),
		states,
		trace_lane(&r.trace, states, 1),
		trace_add_thread(&r.trace, other, 0, SLICE_LIT("zero")),
		without,
	};
	for (size_t round = 0; round < 2; round++)
		for (size_t i = 0; i < 9; i++)
			htw_run_event(&r, PHASE_SPAN, SLICE_LIT("x"), i, 1)->track = tracks[i];
	trace_add_thread(&r.trace, other, 12, SLICE_LIT("idle"));
	const struct oracle *const o = htw_run_decode(&r);
	for (size_t i = 0; i < 18; i++)
		cr_expect_eq(htw_run_nth(o, i)->tid, numbers[i % 9], "%zu: %" PRIu64, i,
		             htw_run_nth(o, i)->tid);
	for (size_t i = 0; i < 9; i++) {
		expect_track(htw_run_with(o, "has_pid", i), &want[i], numbers[i]);
		cr_expect_lt(htw_run_with(o, "has_pid", i)->offset, htw_run_nth(o, i)->offset);
	}
	expect_track(htw_run_with(o, "has_pid", 9), &(struct track_record){ "thread", "idle", 1, 99, 1, 12 },
	             12);
	cr_expect_null(htw_run_with(o, "has_pid", 10));
	htw_run_finish(&r);
}

/* ---- names ---- */

Test(htdump_write_names, names_that_mean_something)
{
	static const char *const classes[] = { "HT_Event",
		                               "Event",
		                               "HT_CallstackStringEvent",
		                               "tracetool_Event",
		                               "tracetool_Track",
		                               "HT_StringMappingEvent",
		                               "SystemInfoEvent",
		                               "HT_EventKlassInfoEvent" };
	static const char *const fields[] = { "base",      "klass", "timestamp", "id",           "duration",
		                              "thread_id", "label", "arrow_id",  "duration (2)", "x",
		                              "x",         "x (2)", "x" };
	static const char *const names[] = { "base (2)",  "klass (2)",    "timestamp (2)",
		                             "id (2)",    "duration (2)", "thread_id (2)",
		                             "label (2)", "arrow_id (2)", "duration (2) (2)",
		                             "x",         "x (2)",        "x (2) (2)",
		                             "x (3)" };
	struct htw_run r;
	char what[64];

	htw_run_begin(&r);
	for (size_t i = 0; i < 16; i++) {
		r.cls = trace_add_class(&r.trace, slice_str(classes[i / 2]));
		htw_run_event(&r, i % 2 == 0 ? PHASE_SPAN : PHASE_INSTANT, SLICE_LIT("real name"), i, 100);
		for (size_t k = 0; k < 13; k++)
			htw_run_named(&r, fields[k], value_u64(k));
	}
	const struct oracle *const o = htw_run_decode(&r);
	for (size_t i = 0; i < 16; i++) {
		const struct oracle_event *const e = htw_run_nth(o, i);
		snprintf(what, sizeof what, "%s (2)", classes[i / 2]);
		cr_expect(e->ts == i && e->span == (i % 2 == 0) && e->tid == 7 &&
		          strcmp(e->name, "real name") == 0);
		cr_expect_eq(e->dur, e->span ? 100 : 0);
		for (size_t k = 0; k < 13; k++)
			htw_run_expect_number(e, names[k], ORACLE_UNSIGNED, k);
		cr_expect_eq(htw_run_count_of(o, what), 2, "%s", what);
		htw_run_expect_text(htw_run_with(o, "class_id", i), "name", classes[i / 2]);
	}
	cr_expect_eq(htw_run_loss_of(&r, "htdump/category"), 16);
	cr_expect_eq(htw_run_loss_of(&r, "htdump/field-renamed"), 16 * 12);
	cr_expect_eq(r.total.n, 2);
	htw_run_finish(&r);
}

/* Each set of fields is described once. */
Test(htdump_write_names, sets_of_fields)
{
	struct htw_run r;
	char name[16];

	htw_run_begin(&r);
	for (size_t i = 0; i < 60; i++) {
		htw_run_event(&r, PHASE_SPAN, SLICE_LIT("x"), i, 1);
		for (size_t k = 0; k < i % 20; k++) {
			snprintf(name, sizeof name, "f%zu", k);
			const struct value v = { .type = k == 3 ? VALUE_I16 : VALUE_U32, .u64 = k };
			htw_run_field(&r, arena_copy(&r.batch.scratch, slice_str(name)), v);
		}
	}
	htw_run_event(&r, PHASE_SPAN, SLICE_LIT("x"), 60, 1);
	htw_run_named(&r, "f0", (struct value){ .type = VALUE_U64, .u64 = 5 });
	const struct oracle *const o = htw_run_decode(&r);
	cr_expect_eq(htw_run_count_of(o, "tracetool_Class"), 21);
	for (size_t i = 0; i < 60; i++)
		cr_expect_eq(htw_run_nth(o, i)->nfields, 3 + i % 20);
	cr_expect_eq(r.total.n, 0);
	htw_run_finish(&r);
}

/* ---- limits ---- */

/* Adds an event with a set of fields of its own. */
static void add_event_with_fields(struct htw_run *r, uint32_t which, uint32_t n)
{
	char name[32];

	htw_run_event(r, which % 2 == 0 ? PHASE_SPAN : PHASE_FLOW_IN, SLICE_LIT("x"), which, 1);
	for (uint32_t k = 0; k < n; k++) {
		snprintf(name, sizeof name, "field %" PRIu32 " of %" PRIu32, k, which);
		htw_run_field(r, arena_copy(&r->batch.scratch, slice_str(name)), value_u64(k));
	}
}

Test(htdump_write_names, many_classes)
{
	struct htw_run r;
	char name[32];

	htw_run_begin(&r);
	for (uint32_t i = 0; i < 2000; i++) {
		snprintf(name, sizeof name, "class %" PRIu32, i);
		r.cls = trace_add_class(&r.trace, slice_str(name));
		add_event_with_fields(&r, i, 3);
	}
	htw_run_finish_output(&r);
	cr_expect_eq(htw_run_live_events(&r), 2000);
	cr_expect_eq(r.live.trace.nclasses, 2000 + HTW_ID_FREE);
	cr_expect_eq(htw_run_loss_of(&r, "htdump/fields-as-text"), 0);
	htw_run_finish(&r);
}

/* Beyond the limit of classes, all fields of an event are one text. */
Test(htdump_write_names, too_many_classes)
{
	const uint32_t n = HTW_MAX_CLASSES + 1000;
	const struct batch *b;
	struct htw_run r;

	htw_run_begin(&r);
	for (uint32_t i = 0; i < n; i++)
		add_event_with_fields(&r, i, 1);
	htw_run_finish_output(&r);
	cr_expect_eq(htw_run_live_events(&r), n);
	cr_expect_eq(htw_run_loss_of(&r, "htdump/fields-as-text"), 1000);
	const struct event *const e = htw_run_live_event(&r, n - 1, &b);
	const struct field *const f = b->fields + e->first_field;
	cr_expect(slice_is(e->name, "x") && slice_is(e->cls->name, "tracetool_OtherArrow"));
	cr_expect(slice_is(f[1].name, "arrow_id") && f[1].value.u64 == 1);
	cr_expect(slice_is(f[2].name, "class") && slice_is(value_text(&f[2].value), "first"));
	cr_expect(slice_is(f[4].name, "kind") && slice_is(value_text(&f[4].value), "arrow in"));
	cr_expect(slice_is(f[5].name, "fields") &&
	          slice_is(value_text(&f[5].value), "{\"field 0 of 33767\":0}"));
	htw_run_finish(&r);
}

Test(htdump_write_names, too_many_fields)
{
	const uint32_t n = HTW_MAX_FIELDS / HTW_CLASS_FIELDS + 10;
	struct htw_run r;

	htw_run_begin(&r);
	add_event_with_fields(&r, 0, HTW_CLASS_FIELDS + 1);
	for (uint32_t i = 1; i < n; i++)
		add_event_with_fields(&r, i, HTW_CLASS_FIELDS);
	htw_run_finish_output(&r);
	cr_expect_eq(htw_run_live_events(&r), n);
	cr_expect_eq(htw_run_loss_of(&r, "htdump/fields-as-text"), 10);
	htw_run_finish(&r);
}

/* Names that exceed the bytes that a reader accepts for descriptions. */
Test(htdump_write_names, too_long_descriptions)
{
	char *const p = htw_run_filled(1U << 20, 'x');
	struct htw_run r;

	htw_run_begin(&r);
	for (uint32_t i = 0; i < 20; i++) {
		htw_run_event(&r, PHASE_SPAN, SLICE_LIT("x"), i, 1);
		htw_run_field(&r, slice_of(p, (1U << 20) - i), value_u64(i));
		htw_run_flush(&r);
	}
	htw_run_finish_output(&r);
	cr_expect_eq(htw_run_live_events(&r), 20);
	cr_expect_eq(htw_run_loss_of(&r, "htdump/fields-as-text"), 9);
	free(p);
	htw_run_finish(&r);
}
