/*
 * The writer over generated events, with 1, 2 and 7 threads; the oracle reads the output back.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctf/test/oracle_test.h"
#include "ctf/ctf.h"
#include "model/event_traits.h"
#include "run/write/test/writer_rig_test.h"

extern const struct format ctf_format;

#define TEXT(s) ((struct slice){ s, sizeof(s) - 1, 0 })

struct made {
	void (*fill)(struct trace *t, struct batch *b, uint32_t number);
	uint32_t batches;
};

static bool fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	const struct made *const m = ctx;

	if (number < m->batches)
		m->fill(trace, b, number);
	return number < m->batches;
}

static void run(struct writer_rig *r, struct ctf_oracle *o,
                void (*make)(struct trace *, struct batch *, uint32_t), uint32_t batches)
{
	struct made m = { make, batches };
	const struct writer_rig_job job = { .to = &ctf_format, .fill = fill, .ctx = &m };
	size_t n = 0;

	writer_rig_run_all(r, &job);
	cr_assert(r->written);
	const char *const metadata = writer_rig_text(r, "metadata"), *const stream =
	                                                                 writer_rig_text(r, "events");
	cr_assert_not_null(metadata);
	for (uint32_t i = 0; i < r->nfiles; i++)
		if (strcmp(r->files[i].name, "events") == 0)
			n = r->files[i].text.n;
	cr_assert(ctf_oracle_read(o, metadata, stream, n), "%s", o->error);
}

static void free_run(struct writer_rig *r, struct ctf_oracle *o)
{
	ctf_oracle_free(o);
	writer_rig_free(r);
}

static const struct track *add_thread(struct trace *t, uint64_t pid, uint64_t tid, struct slice process_name,
                                      struct slice name)
{
	struct track *const process = trace_add_process(t, process_name);

	process->has_id = pid > 0;
	process->id = pid;
	struct track *const thread = trace_add_thread(t, process, tid, name);
	thread->has_id = tid > 0;
	return thread;
}

/* ---- types ---- */

static void make_types(struct trace *t, struct batch *b, uint32_t number)
{
	static const struct value bytes = { .type = VALUE_U8, .u64 = 255 },
	                          negative = { .type = VALUE_I8, .i64 = -1 };
	static const struct value u16s[] = { { .type = VALUE_U16, .u64 = 1 },
		                             { .type = VALUE_U16, .u64 = 65535 } };
	static const struct value mixed[] = { { .type = VALUE_U16, .u64 = 1 },
		                              { .type = VALUE_BOOL, .u64 = 1 } };
	static const struct value frames[] = { { .type = VALUE_STRING, .count = 4, .p = "main" },
		                               { .type = VALUE_ADDRESS, .u64 = 4096 } };
	struct class *const cls = trace_add_class(t, TEXT("types"));

	writer_rig_event(b, cls, add_thread(t, 1, 2, TEXT("p"), TEXT("t")), 7, TEXT("all"));
	writer_rig_field(b, TEXT("u8"), bytes);
	writer_rig_field(b, TEXT("i8"), negative);
	writer_rig_field(b, TEXT("u16"), u16s[1]);
	writer_rig_field(b, TEXT("i16"), (struct value){ .type = VALUE_I16, .i64 = INT16_MIN });
	writer_rig_field(b, TEXT("u32"), (struct value){ .type = VALUE_U32, .u64 = UINT32_MAX });
	writer_rig_field(b, TEXT("i32"), (struct value){ .type = VALUE_I32, .i64 = INT32_MIN });
	writer_rig_field(b, TEXT("u64"), value_u64(UINT64_MAX));
	writer_rig_field(b, TEXT("i64"), (struct value){ .type = VALUE_I64, .i64 = INT64_MIN });
	writer_rig_field(b, TEXT("f32"), (struct value){ .type = VALUE_F32, .f64 = -0.5 });
	writer_rig_field(b, TEXT("f64"), (struct value){ .type = VALUE_F64, .f64 = 0.1 });
	writer_rig_field(b, TEXT("inf"), (struct value){ .type = VALUE_F64, .f64 = (double)INFINITY });
	writer_rig_field(b, TEXT("addr"), (struct value){ .type = VALUE_ADDRESS, .u64 = 0xdead });
	writer_rig_field(b, TEXT("yes"), (struct value){ .type = VALUE_BOOL, .u64 = 1 });
	writer_rig_field(b, TEXT("none"), (struct value){ .type = VALUE_NONE });
	writer_rig_field(b, TEXT("text"), value_string(TEXT("a b")));
	writer_rig_field(b, TEXT("bytes"),
	                 (struct value){ .type = VALUE_BYTES, .count = 2, .p = "\x0f\xf0" });
	writer_rig_field(b, TEXT("json"), (struct value){ .type = VALUE_JSON, .count = 7, .p = "{\"a\":1}" });
	writer_rig_field(b, TEXT("number"), (struct value){ .type = VALUE_JSON, .count = 4, .p = "-2e3" });
	writer_rig_field(b, TEXT("round"),
	                 (struct value){ .type = VALUE_JSON, .count = 16, .p = "9007199254740992" });
	writer_rig_field(b, TEXT("long"),
	                 (struct value){ .type = VALUE_JSON, .count = 21, .p = "-18446744073709551617" });
	writer_rig_field(b, TEXT("exact"),
	                 (struct value){ .type = VALUE_JSON, .count = 19, .p = "0.10000000000000001" });
	writer_rig_field(b, TEXT("rounded"),
	                 (struct value){ .type = VALUE_JSON, .count = 18, .p = "9007199254740993.0" });
	writer_rig_field(
	    b, TEXT("list"),
	    (struct value){ .type = VALUE_LIST, .element = VALUE_U16, .count = 2, .values = u16s });
	writer_rig_field(b, TEXT("empty"), (struct value){ .type = VALUE_LIST, .element = VALUE_F64 });
	writer_rig_field(b, TEXT("mixed"), (struct value){ .type = VALUE_LIST, .count = 2, .values = mixed });
	writer_rig_field(b, TEXT("stack"),
	                 (struct value){ .type = VALUE_LIST, .count = 2, .values = frames });
}

Test(ctf_write, values_keep_their_types)
{
	struct writer_rig r;
	struct ctf_oracle o;

	run(&r, &o, make_types, 1);
	cr_expect_str_eq(
	    o.lines.p,
	    "7 types:instant: track=1 vpid=1 vtid=2 procname=\"p\" thread=\"t\" | name=\"all\" u8=255 "
	    "i8=-1 u16=65535 i16=-32768 u32=4294967295 i32=-2147483648 u64=18446744073709551615 "
	    "i64=-9223372036854775808 f32=-0.5 f64=0.10000000000000001 inf=inf addr=0xdead yes=1 "
	    "text=\"a b\" bytes=\"0ff0\" json=\"{\"a\":1}\" number=-2000 "
	    "round=9007199254740992 long=\"-18446744073709551617\" "
	    "exact=0.10000000000000001 rounded=\"9007199254740993.0\" _list_length=2 list=[1,65535] "
	    "_empty_length=0 empty=[] mixed=\"[1,true]\" _stack_length=2 "
	    "stack=[\"main\",\"0x1000\"]\n");
	cr_expect_eq(writer_rig_lost(&r, "ctf/value-as-text"), 6);
	cr_expect_eq(writer_rig_lost(&r, "ctf/null"), 1);
	cr_expect_eq(r.losses.n, 2);
	free_run(&r, &o);
}

/* ---- hostile names ---- */

static void make_names(struct trace *t, struct batch *b, uint32_t number)
{
	struct class *const cls = trace_add_class(t, TEXT("c\"; }; */\\\n\0\x1b\xff"));
	static const char *const names[] = { "name", "dur", "struct", "a",        "_a",
		                             "a",    "a-b", "a.b",    "x_length", "x" };
	static const struct value one = { .type = VALUE_U64, .u64 = 1 };
	struct event *const e =
	    writer_rig_event(b, cls, add_thread(t, 0, 0, TEXT("p\0q"), TEXT("\xff")), 1, TEXT("n\0\"\n"));

	e->phase = PHASE_SPAN;
	e->dur = 5;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		writer_rig_field(b, slice_str(names[i]), value_u64(i));
	writer_rig_field(
	    b, TEXT("x"),
	    (struct value){ .type = VALUE_LIST, .element = VALUE_U64, .count = 1, .values = &one });
	writer_rig_field(b, TEXT(""), one);
}

Test(ctf_write, hostile_names_are_data)
{
	struct writer_rig r;
	struct ctf_oracle o;

	run(&r, &o, make_names, 1);
	cr_assert_eq(o.tsdl.nevents, 1);
	cr_expect_str_eq(o.tsdl.events[0].name, "c\"; }; */\\\\x0a\\x00\\x1b\\xff:span");
	cr_expect_not_null(strstr(o.lines.p,
	                          "procname=\"p\xef\xbf\xbdq\" thread=\"\xef\xbf\xbd\" | "
	                          "name=\"n\xef\xbf\xbd\"\n\" dur=5 name_2=0 dur_2=1 struct=2 a=3 _a_2=4 "
	                          "a_3=5 a_b=6 a_b_2=7 x_length=8 x=9 _x_length_2=1 x_2=[1] unnamed=1"),
	                   "%s", o.lines.p);
	cr_expect_eq(writer_rig_lost(&r, "ctf/field-name"), 1);
	cr_expect_eq(writer_rig_lost(&r, "ctf/text-nul"), 4,
	             "the event; the process, in two contexts, and as its own track");
	cr_expect_eq(writer_rig_lost(&r, "ctf/invalid-utf8"), 1);
	free_run(&r, &o);
}

/* ---- phases ---- */

static void make_phases(struct trace *t, struct batch *b, uint32_t number)
{
	static const uint8_t phases[] = { PHASE_SPAN,     PHASE_SPAN,    PHASE_BEGIN,
		                          PHASE_END,      PHASE_INSTANT, PHASE_COUNTER,
		                          PHASE_FLOW_OUT, PHASE_FLOW_IN, PHASE_FLOW_IN };
	struct class *const cls = trace_add_class(t, TEXT("c"));
	const struct track *const track = add_thread(t, 1, 2, TEXT("p"), TEXT("t"));

	for (uint64_t i = 0; i < sizeof phases; i++) {
		struct event *const e = writer_rig_event(b, cls, track, i, TEXT("n"));
		e->phase = phases[i];
		e->dur = phases[i] == PHASE_SPAN || phases[i] >= PHASE_FLOW_OUT ? 10 + i : 0;
		e->flags = i == 1 ? EVENT_ASYNC : i == 8 ? EVENT_STEP : 0;
		e->offset = 100; /* events of several inputs can have one offset */
	}
}

Test(ctf_write, each_kind_has_events_of_its_own)
{
	static const char *const want[] = { "0 c:span:",
		                            "| name=\"n\" dur=10\n1 c:async:",
		                            "| name=\"n\" dur=11 async_id=1\n2 c:begin:",
		                            "| name=\"n\"\n3 c:end:",
		                            "| name=\"n\"\n4 c:instant:",
		                            "| name=\"n\"\n5 c:counter:",
		                            "| name=\"n\"\n6 c:flow_out:",
		                            "| name=\"n\" id=16\n7 c:flow_in:",
		                            "| name=\"n\" id=17\n8 c:flow_step:",
		                            "| name=\"n\" id=18\n" };
	struct writer_rig r;
	struct ctf_oracle o;

	run(&r, &o, make_phases, 1);
	for (size_t i = 0; i < sizeof want / sizeof *want; i++)
		cr_expect_not_null(strstr(o.lines.p, want[i]), "%s is not in: %s", want[i], o.lines.p);
	cr_expect_eq(r.losses.n, 0);
	free_run(&r, &o);
}

/* ---- packets ---- */

enum { BATCHES = 40, EVENTS = 200 };

/* Events of several threads in no order. */
static void make_many(struct trace *t, struct batch *b, uint32_t number)
{
	static const struct track *tracks[3];
	static struct class *cls;

	for (uint64_t i = 0; number == 0 && i < 3; i++)
		tracks[i] = add_thread(t, i + 1, i + 10, TEXT("process"), TEXT("thread"));
	if (number == 0)
		cls = trace_add_class(t, TEXT("many"));
	for (uint64_t i = 0; i < EVENTS; i++) {
		const uint64_t k = (uint64_t)number * EVENTS + i, ts = k * 7919 % (BATCHES * EVENTS);
		struct event *const e = writer_rig_event(b, cls, tracks[ts % 3], ts, TEXT("event"));
		e->phase = PHASE_SPAN;
		e->dur = ts;
		writer_rig_field(b, TEXT("ts"), value_u64(ts));
	}
}

Test(ctf_write, packets_are_in_order_and_hold_everything)
{
	const uint64_t n = BATCHES * EVENTS;
	struct writer_rig r;
	struct ctf_oracle o;

	run(&r, &o, make_many, BATCHES);
	cr_expect_eq(o.events, n);
	cr_expect_eq(o.dur, n * (n - 1) / 2);
	cr_expect_geq(o.packets, 2);
	cr_expect_leq(o.packets, 4);
	free_run(&r, &o);
}

static void make_one_large(struct trace *t, struct batch *b, uint32_t number)
{
	static char large[3 * CTF_PACKET_SIZE];
	static struct class *cls;
	static const struct track *track;

	memset(large, 'x', sizeof large);
	if (number == 0) {
		cls = trace_add_class(t, TEXT("large"));
		track = add_thread(t, 1, 2, TEXT("p"), TEXT("t"));
	}
	writer_rig_event(b, cls, track, number, slice_of(large, number == 1 ? sizeof large : 1));
}

Test(ctf_write, an_event_may_be_larger_than_a_packet)
{
	struct writer_rig r;
	struct ctf_oracle o;

	run(&r, &o, make_one_large, 3);
	cr_expect_eq(o.events, 3);
	cr_expect_eq(o.packets, 2);
	free_run(&r, &o);
}

static void make_nothing(struct trace *t, struct batch *b, uint32_t number)
{
}

Test(ctf_write, a_trace_without_events_has_no_stream)
{
	struct writer_rig r;
	struct ctf_oracle o;

	run(&r, &o, make_nothing, 1);
	cr_expect_eq(r.nfiles, 1);
	cr_expect_eq(o.events, 0);
	free_run(&r, &o);
}

/* ---- limits ---- */

enum { SHAPES = 200 }; /* per batch */

/* Each event has another field. */
static void make_shapes(struct trace *t, struct batch *b, uint32_t number)
{
	static const struct track *track;
	static struct class *cls;

	if (number == 0) {
		cls = trace_add_class(t, TEXT("shapes"));
		track = add_thread(t, 1, 2, TEXT("p"), TEXT("t"));
	}
	for (uint32_t i = 0; i < SHAPES; i++) {
		const struct slice name = arena_printf(&b->scratch, "f%" PRIu32, number * SHAPES + i);
		writer_rig_event(b, cls, track, (uint64_t)number * SHAPES + i, TEXT("e"));
		writer_rig_field(b, name, value_u64(i));
	}
}

static void make_wide(struct trace *t, struct batch *b, uint32_t number)
{
	const struct class like = { .name = TEXT("wide"), .category = TEXT("c") };

	writer_rig_event(b, trace_plan_class(t, &like), add_thread(t, 1, 2, TEXT("p"), TEXT("t")), 0,
	                 TEXT("e"));
	for (uint32_t i = 0; i <= CTF_CLASS_FIELDS; i++)
		writer_rig_field(b, TEXT("f"), value_u64(i));
}

Test(ctf_write, an_event_with_too_many_fields_has_one_text)
{
	struct writer_rig r;
	struct ctf_oracle o;

	run(&r, &o, make_wide, 1);
	cr_expect_not_null(strstr(o.lines.p, "0 other:instant: "), "%s", o.lines.p);
	cr_expect_not_null(strstr(o.lines.p, "| name=\"e\" class=\"wide\" fields=\"{\"f\":0,\"f (2)\":1,"),
	                   "%s", o.lines.p);
	cr_expect_eq(writer_rig_lost(&r, "ctf/fields-as-text"), 1);
	cr_expect_eq(writer_rig_lost(&r, "ctf/name-repeated"), CTF_CLASS_FIELDS);
	cr_expect_eq(writer_rig_lost(&r, "ctf/category"), 1);
	free_run(&r, &o);
}

/* The declarations stay within the limit, and all events are written. */
Test(ctf_write, classes_of_the_output_are_bounded)
{
	const uint32_t batches = 180; /* 36,000 shapes */
	struct made m = { make_shapes, batches };
	const struct writer_rig_job job = { .to = &ctf_format, .threads = 1, .fill = fill, .ctx = &m };
	struct writer_rig r;

	writer_rig_run(&r, &job);
	cr_assert(r.written);
	const uint64_t others = writer_rig_lost(&r, "ctf/fields-as-text");
	cr_expect(others > 0 && others < (uint64_t)batches * SHAPES);
	const char *const metadata = writer_rig_text(&r, "metadata");
	cr_expect_lt(strlen(metadata), CTF_MAX_DESCRIBED + (64U << 10));
	cr_expect_not_null(strstr(metadata, "\"other:instant\""));
	writer_rig_free(&r);
}

/* ---- times ---- */

static void make_times(struct trace *t, struct batch *b, uint32_t number)
{
	struct class *const cls = trace_add_class(t, TEXT("c"));
	const struct track *const track = add_thread(t, 1, 2, TEXT("p"), TEXT("t"));

	t->epoch_known = true;
	t->epoch_ns = 1700000000123456789;
	writer_rig_event(b, cls, track, 11, TEXT("a"));
}

Test(ctf_write, the_epoch_is_in_the_offset)
{
	struct writer_rig r;
	struct ctf_oracle o;

	run(&r, &o, make_times, 1);
	cr_expect(o.tsdl.absolute);
	cr_expect_eq(strncmp(o.lines.p, "1700000000123456800 c:instant:", 30), 0, "%s", o.lines.p);
	free_run(&r, &o);
}

static void make_late(struct trace *t, struct batch *b, uint32_t number)
{
	make_times(t, b, 0);
	writer_rig_event(b, b->events[0].cls, b->events[0].track, UINT64_MAX, TEXT("late"));
}

Test(ctf_write, times_that_readers_cannot_hold)
{
	struct writer_rig r;
	struct ctf_oracle o;

	run(&r, &o, make_late, 1);
	cr_expect_not(o.tsdl.absolute);
	cr_expect_eq(strncmp(o.lines.p, "11 c:instant:", 13), 0, "%s", o.lines.p);
	cr_expect_not_null(strstr(o.lines.p, "\n9223372036854775806 c:instant:"), "%s", o.lines.p);
	cr_expect_eq(writer_rig_lost(&r, "ctf/time-cut"), 1);
	cr_expect_eq(writer_rig_lost(&r, "ctf/epoch"), 1);
	free_run(&r, &o);
}

/* ---- failures ---- */

Test(ctf_write, a_failure_of_the_output_ends_it)
{
	struct made m = { make_many, BATCHES };
	const struct writer_rig_job job = {
		.to = &ctf_format, .threads = 2, .fill = fill, .ctx = &m, .fail_after = CTF_PACKET_SIZE / 2
	};
	struct writer_rig r;

	writer_rig_run(&r, &job);
	cr_expect_not(r.written);
	cr_expect(r.failed);
	cr_expect_eq(r.puts_after_failure, 0);
	writer_rig_free(&r);
}
