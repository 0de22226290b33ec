/* The writer alone, fed by hand, its output read back: threads, names, bounds. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "htdump/htdump.h"
#include "htdump/test/write_run_test.h"
#include "model/test/lane_track_test.h"

/* ---- threads ---- */

struct who {
	const char *kind, *name;
	uint64_t has_pid, pid, has_tid, tid;
};

static void expect_track(const struct oracle_event *e, const struct who *want, uint64_t number)
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
	static const struct who want[] = {
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
	expect_track(htw_run_with(o, "has_pid", 9), &(struct who){ "thread", "idle", 1, 99, 1, 12 }, 12);
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
	cr_expect_eq(htw_run_loss_of(&r, "htdump/field-renamed"), 16);
	cr_expect_eq(r.total.n, 2);
	htw_run_finish(&r);
}

/* Fields in any order, of any type, and back again: each set is described once. */
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

/* ---- bounds ---- */

/* An event of a class of its own: n fields named by a number. */
static void own_fields(struct htw_run *r, uint32_t which, uint32_t n)
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
		own_fields(&r, i, 3);
	}
	htw_run_finish_output(&r);
	cr_expect_eq(htw_run_live_events(&r), 2000);
	cr_expect_eq(r.live.trace.nclasses, 2000 + HTW_ID_FREE);
	cr_expect_eq(htw_run_loss_of(&r, "htdump/fields-as-text"), 0);
	htw_run_finish(&r);
}

/* More sets of fields than a reader keeps: the fields of what is beyond are one text. */
Test(htdump_write_names, too_many_classes)
{
	const uint32_t n = HTW_MOST_CLASSES + 1000;
	const struct batch *b;
	struct htw_run r;

	htw_run_begin(&r);
	for (uint32_t i = 0; i < n; i++)
		own_fields(&r, i, 1);
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
	const uint32_t n = HTW_MOST_FIELDS / HTW_CLASS_FIELDS + 10;
	struct htw_run r;

	htw_run_begin(&r);
	own_fields(&r, 0, HTW_CLASS_FIELDS + 1);
	for (uint32_t i = 1; i < n; i++)
		own_fields(&r, i, HTW_CLASS_FIELDS);
	htw_run_finish_output(&r);
	cr_expect_eq(htw_run_live_events(&r), n);
	cr_expect_eq(htw_run_loss_of(&r, "htdump/fields-as-text"), 10);
	htw_run_finish(&r);
}

/* Names that take more room than a reader has for descriptions. */
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
