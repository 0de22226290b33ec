/*
 * The writer: fed by hand with values, names and limits, its output read back; and traces of other
 * formats, which must come back as they were.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "dial9/dial9.h"
#include "dial9/test/oracle.h"
#include "dial9/test/run_test.h"
#include "format/registry.h"
#include "input/test/memory_input.h"
#include "run/write/test/writer_rig_test.h"

#define WANT (WANT_TIMES | WANT_FIELDS)

struct made {
	void (*fill)(struct made *m, struct batch *b);
	struct class *cls;
	const struct track *thread;
};

static bool fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	struct made *const m = ctx;

	if (number > 0)
		return false;
	m->cls = trace_add_class(trace, SLICE_LIT("cls"));
	m->thread = trace_add_thread(trace, trace_add_process(trace, SLICE_LIT("p")), 7, SLICE_LIT("t"));
	m->fill(m, b);
	return true;
}

struct run {
	struct writer_rig rig;
	struct d9t_run back;
	const struct batch *b; /* the first */
};

static void run(struct run *r, void (*f)(struct made *m, struct batch *b), const char *version)
{
	const struct option_value option = { "to-dialect", version, NULL };
	struct made m = { .fill = f };

	writer_rig_run_all(&r->rig,
	                   &(struct writer_rig_job){
	                       .to = format_by_name("dial9"), .options = &option, .fill = fill, .ctx = &m });
	cr_assert(r->rig.written);
	const struct text *const t = &r->rig.files[0].text;
	d9t_open(&r->back, input_from_memory(t->p, t->n), WANT);
	d9t_read(&r->back, 1024);
	cr_assert_eq(r->back.status, READ_END);
	for (int level = 1; level < 3; level++)
		cr_expect_eq(r->back.findings.levels[level], 0, "findings of level %d", level);
	r->b = &r->back.batches[0];
}

static void run_free(struct run *r)
{
	d9t_free(&r->back);
	writer_rig_free(&r->rig);
}

static uint64_t lost(const struct run *r, const char *id)
{
	for (size_t i = 0; i < r->rig.losses.n; i++)
		if (strcmp(r->rig.losses.rows[i].loss->id, id) == 0)
			return r->rig.losses.rows[i].count;
	return 0;
}

/* ---- values ---- */

static const struct value inner[] = {
	{ .type = VALUE_ADDRESS, .u64 = 255 },
	{ .type = VALUE_STRING, .p = "main", .count = 4, .flags = SLICE_UTF8 }
};

static const struct value texts[] = { { .type = VALUE_STRING, .p = "k", .count = 1 },
	                              { .type = VALUE_STRING, .p = "v", .count = 1 } };

static const struct value addresses[] = { { .type = VALUE_ADDRESS, .u64 = 1 },
	                                  { .type = VALUE_ADDRESS, .u64 = UINT64_MAX } };

static const struct field values[] = {
	{ SLICE_LIT("none"), { .type = VALUE_NONE } },
	{ SLICE_LIT("bool"), { .type = VALUE_BOOL, .u64 = 1 } },
	{ SLICE_LIT("u8"), { .type = VALUE_U8, .u64 = 255 } },
	{ SLICE_LIT("u16"), { .type = VALUE_U16, .u64 = 65535 } },
	{ SLICE_LIT("u32"), { .type = VALUE_U32, .u64 = UINT32_MAX } },
	{ SLICE_LIT("u64"), { .type = VALUE_U64, .u64 = UINT64_MAX } },
	{ SLICE_LIT("i8"), { .type = VALUE_I8, .i64 = INT8_MIN } },
	{ SLICE_LIT("i16"), { .type = VALUE_I16, .i64 = INT16_MIN } },
	{ SLICE_LIT("i32"), { .type = VALUE_I32, .i64 = INT32_MIN } },
	{ SLICE_LIT("i64"), { .type = VALUE_I64, .i64 = INT64_MIN } },
	{ SLICE_LIT("f32"), { .type = VALUE_F32, .f64 = 0.5 } },
	{ SLICE_LIT("f64"), { .type = VALUE_F64, .f64 = -1e300 } },
	{ SLICE_LIT("address"), { .type = VALUE_ADDRESS, .u64 = UINT64_MAX - 1 } },
	{ SLICE_LIT("text"), { .type = VALUE_STRING, .p = "x", .count = 1 } },
	{ SLICE_LIT("not UTF-8"), { .type = VALUE_STRING, .p = "\xff", .count = 1 } },
	{ SLICE_LIT("bytes"), { .type = VALUE_BYTES, .p = "\xff", .count = 1 } },
	{ SLICE_LIT("json"), { .type = VALUE_JSON, .p = "{\"a\":1}", .count = 7 } },
	{ SLICE_LIT("stack"), { .type = VALUE_LIST, .count = 2, .values = inner } },
	{ SLICE_LIT("addresses"), { .type = VALUE_LIST, .count = 2, .values = addresses } },
	{ SLICE_LIT("texts"), { .type = VALUE_MAP, .count = 1, .values = texts } },
	{ SLICE_LIT("a:f32"), { .type = VALUE_U64, .u64 = 3 } },
	{ SLICE_LIT("tracetool"), { .type = VALUE_U64, .u64 = 4 } },
};

#define NVALUES (sizeof values / sizeof values[0])

static void fill_values(struct made *m, struct batch *b)
{
	writer_rig_event(b, m->cls, m->thread, 5, SLICE_LIT("all"));
	for (size_t i = 0; i < NVALUES; i++)
		writer_rig_field(b, values[i].name, values[i].value);
}

static bool equal(const struct value *a, const struct value *b)
{
	if (a->type != b->type)
		return false;
	if (a->type == VALUE_STRING || a->type == VALUE_BYTES || a->type == VALUE_JSON)
		return slice_equal(value_text(a), value_text(b));
	if (a->type != VALUE_LIST && a->type != VALUE_MAP)
		return a->u64 == b->u64;
	bool same = a->count == b->count;
	for (uint32_t i = 0; same && i < a->count << (a->type == VALUE_MAP); i++)
		same = equal(&a->values[i], &b->values[i]);
	return same;
}

Test(dial9_write, values_have_their_types_again)
{
	struct run r;

	run(&r, fill_values, "0.4");
	const struct event *const e = &r.b->events[0];
	cr_assert_eq(e->nfields, NVALUES);
	for (size_t i = 0; i < NVALUES; i++) {
		const struct field *const f = &r.b->fields[e->first_field + i];
		cr_expect(slice_equal(f->name, values[i].name), "%.*s", (int)f->name.n, f->name.p);
		cr_expect(equal(&f->value, &values[i].value), "%.*s", (int)f->name.n, f->name.p);
	}
	cr_expect(slice_is(e->name, "all") && slice_is(e->cls->name, "cls"));
	cr_expect(e->ts == 5 && e->phase == PHASE_INSTANT && slice_is(e->track->name, "t") &&
	          e->track->id == 7 && slice_is(track_process(e->track)->name, "p"));
	cr_expect_eq(r.rig.losses.n, 0);
	run_free(&r);
}

/* A list of names and addresses is text there. */
Test(dial9_write, version_0_3_has_no_lists)
{
	struct run r;

	run(&r, fill_values, "0.3");
	const struct value *const stack = &r.b->fields[r.b->events[0].first_field + 17].value;
	cr_expect(stack->type == VALUE_JSON && slice_is(value_text(stack), "[\"0xff\",\"main\"]"), "%.*s",
	          (int)stack->count, stack->p);
	cr_expect_eq(lost(&r, "dial9/value-as-text"), 1);
	cr_expect_eq(r.rig.losses.n, 1);
	run_free(&r);
}

/* ---- kinds ---- */

static void fill_kinds(struct made *m, struct batch *b)
{
	for (int phase = PHASE_SPAN; phase < PHASE_STRUCTURE; phase++) {
		struct event *const e =
		    writer_rig_event(b, m->cls, m->thread, 100 - (uint64_t)phase, SLICE_LIT("x"));
		e->phase = (uint8_t)phase;
		e->dur = 9;
	}
	struct event *const e = writer_rig_event(b, m->cls, m->thread, UINT64_MAX - 3, SLICE_LIT("late"));
	e->phase = PHASE_SPAN;
	e->flags = EVENT_ASYNC;
	e->dur = 5;
}

Test(dial9_write, kinds)
{
	struct run r;
	struct d9o o;

	run(&r, fill_kinds, "0.3");
	cr_assert_eq(r.b->n, PHASE_STRUCTURE + 1);
	for (int phase = PHASE_SPAN; phase < PHASE_STRUCTURE; phase++) {
		const struct event *const e = &r.b->events[phase];
		const bool has = phase == PHASE_SPAN || phase == PHASE_FLOW_OUT || phase == PHASE_FLOW_IN;
		cr_expect(e->phase == phase && e->ts == 100 - (uint64_t)phase && e->flags == 0, "%d", phase);
		cr_expect_eq(e->dur, has ? 9 : 0, "%d", phase);
	}
	const struct event *const late = &r.b->events[PHASE_STRUCTURE];
	cr_expect(late->phase == PHASE_SPAN && late->flags == EVENT_ASYNC && late->dur == 3);
	cr_expect_eq(lost(&r, "dial9/late-end"), 1);
	d9o_decode(&o, (const unsigned char *)r.rig.files[0].text.p, r.rig.files[0].text.n);
	cr_expect_null(o.fault, "%s", o.fault);
	cr_expect_eq(o.frames['T'], 1);
	d9o_free(&o);
	run_free(&r);
}

/* ---- names and limits ---- */

static void fill_names(struct made *m, struct batch *b)
{
	writer_rig_event(b, m->cls, m->thread, 1, SLICE_LIT("one"));
	writer_rig_field(b, SLICE_LIT("n"), value_u64(1));
	writer_rig_field(b, SLICE_LIT("n"), value_u64(2));
	writer_rig_field(b, SLICE_LIT("tracetool.name"), value_u64(3));
	writer_rig_event(b, m->cls, m->thread, 2, slice_of("\xff", 1));
	writer_rig_field(b, slice_of("\xff", 1), value_u64(1));
}

Test(dial9_write, names)
{
	struct run r;

	run(&r, fill_names, "0.4");
	const struct field *const f = &r.b->fields[r.b->events[0].first_field];
	cr_expect(slice_is(f[0].name, "n") && slice_is(f[1].name, "n (2)") &&
	          slice_is(f[2].name, "tracetool.name (2)"));
	cr_expect_eq(lost(&r, "dial9/renamed"), 1);
	cr_expect(slice_is(r.b->events[1].name, "\xff"));
	cr_expect(slice_is(r.b->fields[r.b->events[1].first_field].name, "\xef\xbf\xbd"));
	cr_expect_eq(lost(&r, "dial9/bad-name"), 1);
	run_free(&r);
}

#define LONG (5U << 20)

static void fill_long(struct made *m, struct batch *b)
{
	char *const p = arena_alloc(&b->scratch, LONG);
	struct value *const list = arena_zalloc(&b->scratch, 300000, sizeof *list);

	for (uint32_t i = 0; i < LONG; i++)
		p[i] = "\xe2\x82\xac"[i % 3];
	writer_rig_event(b, m->cls, m->thread, 1, SLICE_LIT("x"));
	writer_rig_field(b, SLICE_LIT("before"), value_u64(1));
	writer_rig_field(b, SLICE_LIT("text"), value_string(slice_of(p, LONG)));
	writer_rig_field(b, SLICE_LIT("after"), value_string(SLICE_LIT("y")));
	writer_rig_event(b, m->cls, m->thread, 2, SLICE_LIT("x"));
	writer_rig_field(b, SLICE_LIT("list"),
	                 (struct value){ .type = VALUE_LIST, .count = 300000, .values = list });
	for (uint32_t i = 0; i < 300000; i++)
		list[i] = value_u64(i);
}

/* Cut between characters, and below the limit of readers. */
Test(dial9_write, long_texts_and_lists)
{
	struct run r;

	run(&r, fill_long, "0.4");
	cr_assert(r.b->n == 2);
	const struct field *const f = &r.b->fields[r.b->events[0].first_field];
	const struct field *const second = &r.b->fields[r.b->events[1].first_field];
	cr_expect(f[1].value.count % 3 == 0 && f[1].value.count > (2U << 20), "%u", f[1].value.count);
	cr_expect(slice_is(value_text(&f[2].value), "y"));
	cr_expect_eq(second[0].value.count, (3U << 20) / 16);
	cr_expect_eq(lost(&r, "dial9/text-cut"), 2);
	run_free(&r);
}

#define MANY 60001U

static void fill_many(struct made *m, struct batch *b)
{
	writer_rig_event(b, m->cls, m->thread, 1, SLICE_LIT("x"));
	for (uint32_t i = 0; i < MANY; i++) {
		const struct slice name = arena_printf(&b->scratch, "f%u", i);
		writer_rig_field(b, name, value_u64(i));
	}
}

Test(dial9_write, too_many_fields_are_one)
{
	struct run r;

	run(&r, fill_many, "0.4");
	const struct event *const e = &r.b->events[0];
	const struct field *const f = &r.b->fields[e->first_field];
	cr_assert_eq(e->nfields, 3);
	cr_expect(slice_is(e->cls->name, "other") && slice_is(value_text(&f[0].value), "cls"));
	cr_expect(f[2].value.type == VALUE_MAP && f[2].value.count == MANY);
	cr_expect_eq(lost(&r, "dial9/fields-in-one"), 1);
	run_free(&r);
}

/* ---- other formats ---- */

static struct ran convert(const char *path, const char *version, const char *threads)
{
	return run_tool((const char *const[]){ "convert", "-q", threads, "--to-dialect", version, "--to",
	                                       "dial9", path, "-", NULL },
	                NULL, 0);
}

/* The wall time at 0 and the facts of the trace are kept, also when times are moved. */
Test(dial9_write_formats, facts_and_wall_time)
{
	static const char *const rebase[] = { "--threads=1", "--rebase" };

	for (size_t i = 0; i < 2; i++) {
		struct ran was = run_tool(
		    (const char *const[]){ "info", "-q", "testdata/dftracer/good/d5.pfw", NULL }, NULL, 0);
		struct ran r = convert("testdata/dftracer/good/d5.pfw", "0.4", rebase[i]);
		struct ran v = run_tool((const char *const[]){ "info", "-q", "-", NULL }, r.out, r.out_n);
		const char *const from = strstr(was.out, "\ntimes:");
		cr_assert_not_null(from);
		cr_expect_not_null(strstr(v.out, "tracetool.format"), "%s", v.out);
		cr_expect_not_null(strstr(v.out, "tracetool.dialect"), "%s", v.out);
		cr_expect_eq(strstr(v.out, "wall time is not known") != NULL,
		             strstr(was.out, "wall time is not known") != NULL, "%s", v.out);
		ran_free(&was);
		ran_free(&r);
		ran_free(&v);
	}
}
