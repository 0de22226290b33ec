/* Synthetic events: checks values, names, times and tracks in the output with the oracle. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "heph/test/oracle.h"
#include "run/write/test/writer_rig_test.h"

struct made {
	void (*fill)(struct made *m, struct batch *b);
	const struct track *process, *thread, *twin; /* twin: of another process with the same ids */
	struct trace *trace;
	const struct class *cls;
	struct writer_rig rig;
	struct heph_oracle o;
};

static bool fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	struct made *const m = ctx;

	if (number > 0)
		return false;
	struct track *const process = trace_add_process(trace, SLICE_LIT("process")),
	                    *const other = trace_add_process(trace, SLICE_LIT("other"));
	process->has_id = other->has_id = true;
	process->id = other->id = 7;
	m->trace = trace;
	m->process = process;
	m->thread = trace_add_thread(trace, process, UINT64_MAX, SLICE_LIT("thread"));
	m->twin = trace_add_thread(trace, other, UINT64_MAX, SLICE_LIT("twin"));
	m->cls = trace_add_class(trace, SLICE_LIT("cls"));
	trace->format = "made";
	m->fill(m, b);
	return true;
}

/* Expects the same, valid bytes with several threads. */
static void run(struct made *m, void (*events)(struct made *, struct batch *))
{
	*m = (struct made){ .fill = events };
	writer_rig_run_all(&m->rig,
	                   &(struct writer_rig_job){ .to = format_by_name("heph"), .fill = fill, .ctx = m });
	cr_assert(m->rig.written);
	const struct text *const t = &m->rig.files[0].text;
	struct ran v = run_tool((const char *const[]){ "validate", "-", NULL }, t->p, t->n);
	cr_expect(v.status == 0 && strstr(v.out, "warning") == NULL && strstr(v.out, "note") == NULL, "%s",
	          v.out);
	ran_free(&v);
	heph_oracle_decode(&m->o, (const unsigned char *)t->p, t->n);
	cr_assert_null(m->o.fault, "%s", m->o.fault);
}

static void made_free(struct made *m)
{
	heph_oracle_free(&m->o);
	writer_rig_free(&m->rig);
}

static struct event *span(struct made *m, struct batch *b, const char *name)
{
	struct event *const e = writer_rig_event(b, m->cls, m->thread, 100, slice_str(name));

	e->phase = PHASE_SPAN;
	e->dur = 10;
	return e;
}

static uint64_t lost(const struct made *m, const char *id)
{
	for (size_t i = 0; i < m->rig.losses.n; i++)
		if (strcmp(m->rig.losses.rows[i].loss->id, id) == 0)
			return m->rig.losses.rows[i].count;
	return 0;
}

static const struct heph_oracle_attribute *attribute(const struct heph_oracle_event *e, const char *name)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->attributes[i].name_n == strlen(name) &&
		    memcmp(e->attributes[i].name, name, e->attributes[i].name_n) == 0)
			return &e->attributes[i];
	cr_assert_fail("there is no attribute %s", name);
	return NULL;
}

static void expect_text(const struct heph_oracle_event *e, const char *name, const char *want)
{
	const struct heph_oracle_attribute *const a = attribute(e, name);

	cr_assert_eq(a->type, 4, "%s", name);
	cr_expect(a->values[0].n == strlen(want) && memcmp(a->values[0].s, want, a->values[0].n) == 0,
	          "%s: %.*s", name, (int)a->values[0].n, a->values[0].s);
}

/* ---- values ---- */

static void values(struct made *m, struct batch *b)
{
	static const struct value bools[] = { { .type = VALUE_BOOL, .u64 = 1 }, { .type = VALUE_BOOL } };
	static const struct value mixed[] = { { .type = VALUE_U64, .u64 = 1 }, { .type = VALUE_NONE } };

	span(m, b, "values");
	writer_rig_field(b, SLICE_LIT("plain"), value_u64(UINT64_MAX));
	writer_rig_field(b, SLICE_LIT("u8"), (struct value){ .type = VALUE_U8, .u64 = 255 });
	writer_rig_field(b, SLICE_LIT("i16"), (struct value){ .type = VALUE_I16, .i64 = -2 });
	writer_rig_field(b, SLICE_LIT("f64"), (struct value){ .type = VALUE_F64, .f64 = 0.5 });
	writer_rig_field(b, SLICE_LIT("f32"), (struct value){ .type = VALUE_F32, .f64 = 0.25 });
	writer_rig_field(b, SLICE_LIT("bytes"),
	                 (struct value){ .type = VALUE_BYTES, .count = 3, .p = "\x00\xff\x10" });
	writer_rig_field(b, SLICE_LIT("none"), (struct value){ .type = VALUE_NONE });
	writer_rig_field(
	    b, SLICE_LIT("bools"),
	    (struct value){ .type = VALUE_LIST, .element = VALUE_BOOL, .count = 2, .values = bools });
	writer_rig_field(b, SLICE_LIT("mixed"),
	                 (struct value){ .type = VALUE_LIST, .count = 2, .values = mixed });
	writer_rig_field(b, SLICE_LIT("tracetool.kind"), value_string(SLICE_LIT("instant")));
	writer_rig_field(b, SLICE_LIT("plain"), value_string(SLICE_LIT("second")));
}

Test(heph_write_made, values)
{
	struct made m;

	run(&m, values);
	const struct heph_oracle_event *const e = &m.o.events[0];
	cr_expect(e->start == 100 && e->end == 110 && e->counter == 0);
	cr_expect(attribute(e, "plain")->type == 1 && attribute(e, "plain")->values[0].bits == UINT64_MAX);
	cr_expect(attribute(e, "u8")->type == 1 && attribute(e, "u8")->values[0].bits == 255);
	cr_expect(attribute(e, "i16")->type == 2 && attribute(e, "i16")->values[0].bits == (uint64_t)-2);
	cr_expect(attribute(e, "f64")->type == 3 &&
	          heph_oracle_double(attribute(e, "f64")->values[0].bits) == 0.5);
	cr_expect(attribute(e, "f32")->type == 3 &&
	          heph_oracle_double(attribute(e, "f32")->values[0].bits) == 0.25);
	cr_expect(attribute(e, "bools")->type == 0x81 && attribute(e, "bools")->n == 2 &&
	          attribute(e, "bools")->values[0].bits == 1 && attribute(e, "bools")->values[1].bits == 0);
	expect_text(e, "bytes", "00ff10");
	expect_text(e, "none", "null");
	expect_text(e, "mixed", "[1,null]");
	expect_text(e, "tracetool.field.tracetool.kind", "instant");
	expect_text(e, "plain (2)", "second");
	expect_text(e, "tracetool.class", "cls");
	expect_text(e, "tracetool.types", ",u8,i16,,f32,bytes,none,[bool],json");
	cr_expect_eq(lost(&m, "heph/value-as-text"), 1);
	cr_expect_eq(lost(&m, "heph/name-repeated"), 1);
	cr_expect_eq(m.rig.losses.n, 2);
	made_free(&m);
}

/* ---- texts ---- */

/* 65,534 bytes, then a character of two bytes, which does not fit. */
static void texts(struct made *m, struct batch *b)
{
	char *const p = arena_alloc(&b->scratch, 70000);

	cr_assert_not_null(p);
	memset(p, 'x', 70000);
	memcpy(p + 65534, "\xc3\xa9", 2);
	span(m, b, "texts")->name = slice_of(p, 70000);
	writer_rig_field(b, SLICE_LIT("bad"),
	                 value_string(slice_of("a\xff\xfe"
	                                       "b",
	                                       4)));
	writer_rig_field(b, SLICE_LIT("long bytes"),
	                 (struct value){ .type = VALUE_BYTES, .count = 40000, .p = p });
}

Test(heph_write_made, texts)
{
	struct made m;

	run(&m, texts);
	const struct heph_oracle_event *const e = &m.o.events[0];
	cr_expect_eq(e->name_n, 65534);
	expect_text(e, "bad",
	            "a\xef\xbf\xbd\xef\xbf\xbd"
	            "b");
	cr_expect_eq(attribute(e, "long bytes")->values[0].n, 65534);
	cr_expect_eq(lost(&m, "heph/text-cut"), 2);
	cr_expect_eq(lost(&m, "heph/text-replaced"), 1);
	made_free(&m);
}

static void names(struct made *m, struct batch *b)
{
	writer_rig_event(b, m->cls, m->thread, 100, SLICE_LIT("names"))->phase = PHASE_SPAN;
	writer_rig_field(b, slice_of("\xff", 1), value_string(SLICE_LIT("first")));
	writer_rig_field(b, slice_of("\xfe", 1), value_string(SLICE_LIT("second")));
}

/* Names that are not UTF-8 can become one text. */
Test(heph_write_made, names_that_repair_makes_equal)
{
	struct made m;

	run(&m, names);
	expect_text(&m.o.events[0], "\xef\xbf\xbd", "first");
	expect_text(&m.o.events[0], "\xef\xbf\xbd (2)", "second");
	cr_expect_eq(lost(&m, "heph/text-replaced"), 2);
	cr_expect_eq(lost(&m, "heph/name-repeated"), 1);
	made_free(&m);
}

/* Each event of a track with another name than in the input is counted. */
static void renamed_track(struct made *m, struct batch *b)
{
	const struct track *const t = trace_add_thread(m->trace, m->process, UINT64_MAX, slice_of("\xff", 1));

	writer_rig_event(b, m->cls, t, 100, SLICE_LIT("one"));
	writer_rig_event(b, m->cls, t, 200, SLICE_LIT("two"));
	writer_rig_event(b, m->cls, m->thread, 300, SLICE_LIT("three"));
}

Test(heph_write_made, renamed_track)
{
	struct made m;

	run(&m, renamed_track);
	cr_expect_eq(lost(&m, "heph/text-replaced"), 1);
	cr_expect_eq(lost(&m, "heph/track-changed"), 2);
	made_free(&m);
}

/* ---- limits of readers ---- */

/* Lists of 70,000 numbers: three fit, cut; the others are left out. */
static void large(struct made *m, struct batch *b)
{
	static const char names[][2] = { "a", "b", "c", "d", "e" };
	struct value *const list = arena_zalloc(&b->scratch, 70000, sizeof *list);

	cr_assert_not_null(list);
	for (size_t i = 0; i < 70000; i++)
		list[i].type = VALUE_U64;
	span(m, b, "large");
	for (size_t i = 0; i < 5; i++)
		writer_rig_field(
		    b, slice_str(names[i]),
		    (struct value){
		        .type = VALUE_LIST, .element = VALUE_U64, .count = 70000, .values = list });
	writer_rig_field(b, SLICE_LIT("behind"), value_u64(1));
}

Test(heph_write_made, large_packets)
{
	struct made m;

	run(&m, large);
	const struct heph_oracle_event *const e = &m.o.events[0];
	cr_assert_eq(e->n, 5, "%zu", e->n);
	cr_expect_eq(attribute(e, "c")->n, 65535);
	cr_expect_eq(attribute(e, "behind")->values[0].bits, 1);
	cr_expect_eq(lost(&m, "heph/fields-left-out"), 2);
	made_free(&m);
}

/* ---- times, tracks ---- */

static void tracks(struct made *m, struct batch *b)
{
	span(m, b, "first")->dur = UINT64_MAX;
	span(m, b, "of the process")->track = m->process;
	span(m, b, "twin")->track = m->twin;
	struct event *const e = span(m, b, "arrow");
	e->phase = PHASE_FLOW_IN;
	e->dur = 77;
}

Test(heph_write_made, tracks_times_and_kinds)
{
	struct made m;

	run(&m, tracks);
	const struct heph_oracle_event *const e = m.o.events;
	cr_assert_eq(m.o.n, 4);
	cr_expect(e[0].stream == 7 && e[0].substream == UINT64_MAX && e[0].end == UINT64_MAX);
	cr_expect(e[1].stream == 7 && e[1].substream == 0 && e[1].counter == 1);
	cr_expect(e[2].stream != 7 && e[2].substream == UINT64_MAX && e[2].counter == 0);
	cr_expect(e[3].stream == 7 && e[3].counter == 2 && e[3].start == 100 && e[3].end == 100);
	expect_text(&e[3], "tracetool.kind", "arrow in");
	cr_expect_eq(attribute(&e[3], "tracetool.arrow")->values[0].bits, 77);
	cr_expect_eq(lost(&m, "heph/late-time"), 1);
	made_free(&m);
}
