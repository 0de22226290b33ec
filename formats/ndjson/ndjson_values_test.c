#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ndjson/ndjson_agree_test.h"
#include "testing/splitmix.h"

/* Events made by hand and at random: what no reader gives yet, or seldom. */

struct run {
	struct trace trace;
	struct batch batch;
	struct agree g;
	struct text lines;
	struct class *cls;
	const struct track *process, *track;
	uint32_t tracks, classes; /* shown so far */
	uint64_t state;           /* of what is random */
};

static void
begin(struct run *r, struct writer w)
{
	*r = (struct run){ .state = 7 };
	trace_init(&r->trace);
	r->trace.format = "made";
	cr_assert(batch_init(&r->batch, 64, false));
	r->cls = trace_add_class(&r->trace, SLICE_LIT("class"));
	r->process = trace_add_process(&r->trace, SLICE_LIT("process"));
	r->track = trace_add_thread(&r->trace, r->process, 7, SLICE_LIT("thread"));
	cr_assert(r->cls != NULL && r->track != NULL);
	w.trace = &r->trace;
	agree_begin(&r->g, "made by hand", w);
	r->g.keep = &r->lines;
}

/* The fields that follow are of this event. */
static struct event *
event(struct run *r, enum phase phase, const char *name)
{
	struct event *const e = &r->batch.events[r->batch.n++];

	*e = (struct event){ .ts = 5,
		             .name = slice_str(name),
		             .cls = r->cls,
		             .track = r->track,
		             .phase = (uint8_t)phase,
		             .first_field = r->batch.nfields };
	return e;
}

static void
field(struct run *r, struct slice name, struct value v)
{
	struct field *const f = batch_fields(&r->batch, 1);

	cr_assert_not_null(f);
	*f = (struct field){ name, v };
	r->batch.nfields++;
	r->batch.events[r->batch.n - 1].nfields++;
}

static void
render(struct run *r)
{
	r->batch.tracks = r->trace.tracks + r->tracks;
	r->batch.ntracks = r->trace.ntracks - r->tracks;
	r->batch.classes = r->trace.classes + r->classes;
	r->batch.nclasses = r->trace.nclasses - r->classes;
	agree_batch(&r->g, &r->batch);
	r->tracks = r->trace.ntracks;
	r->classes = r->trace.nclasses;
	batch_recycle(&r->batch);
}

static void
finish(struct run *r)
{
	agree_end(&r->g);
	text_free(&r->lines);
	batch_free(&r->batch);
	trace_free(&r->trace);
}

/* The last line but the end, which must be this. */
static void
expect_line(struct run *r, const char *want)
{
	render(r);
	const char *p = r->lines.p + r->lines.n - 1;
	while (p > r->lines.p && p[-1] != '\n')
		p--;
	const struct slice line = slice_of(p, (size_t)(r->lines.p + r->lines.n - 1 - p));
	cr_expect(slice_is(line, want), "%.*s\n  instead of\n%s", (int)line.n, line.p, want);
}

static void
declare(struct run *r, const char *name, enum value_type type)
{
	struct class_field *const f = arena_alloc(&r->trace.arena, (r->cls->nfields + 1) * sizeof *f);

	cr_assert_not_null(f);
	if (r->cls->nfields > 0)
		memcpy(f, r->cls->fields, r->cls->nfields * sizeof *f);
	f[r->cls->nfields] =
	    (struct class_field){ .name = slice_str(name), .type = SLICE_LIT("t"), .value = (uint8_t)type };
	r->cls->fields = f;
	r->cls->nfields++;
}

static struct value
integer(enum value_type type, int64_t v)
{
	return (struct value){ .type = (uint8_t)type, .i64 = v };
}

static struct value
number(enum value_type type, double v)
{
	return (struct value){ .type = (uint8_t)type, .f64 = v };
}

static struct value
run_of(enum value_type type, const char *p, size_t n)
{
	return (struct value){ .type = (uint8_t)type, .count = (uint32_t)n, .p = p };
}

#define NAME(s) slice_str(s)
#define HEAD                                                                                                 \
	"{\"type\":\"instant\",\"ts\":5,\"name\":\"x\",\"class\":0,\"category\":\"class\",\"track\":1,"      \
	"\"tid\":7,\"offset\":0"

Test(ndjson_values, types_that_the_form_tells)
{
	struct run r;

	begin(&r, (struct writer){ .raw = false });
	event(&r, PHASE_INSTANT, "x");
	field(&r, NAME("a"), value_u64(UINT64_MAX));
	field(&r, NAME("b"), integer(VALUE_I64, INT64_MIN));
	field(&r, NAME("c"), number(VALUE_F64, -0.0));
	field(&r, NAME("d"), number(VALUE_F64, 1e300));
	field(&r, NAME("e"), value_string(NAME("\"\xc3\xa9\n\\")));
	field(&r, NAME("f"), integer(VALUE_NONE, 0));
	field(&r, NAME("g"), integer(VALUE_BOOL, 1));
	expect_line(&r, HEAD ",\"fields\":{\"a\":18446744073709551615,\"b\":-9223372036854775808,\"c\":-0.0,"
	                     "\"d\":1e+300,\"e\":\"\\\"\xc3\xa9\\n\\\\\",\"f\":null,\"g\":true}}");
	finish(&r);
}

Test(ndjson_values, types_that_are_said)
{
	struct run r;

	begin(&r, (struct writer){ .raw = false });
	event(&r, PHASE_INSTANT, "x");
	field(&r, NAME("a"), integer(VALUE_U8, 255));
	field(&r, NAME("b"), integer(VALUE_I64, 5));
	field(&r, NAME("c"), number(VALUE_F32, 0.5));
	field(&r, NAME("d"), number(VALUE_F64, (double)-INFINITY));
	field(&r, NAME("e"), integer(VALUE_ADDRESS, 0xabc));
	field(&r, NAME("f"), run_of(VALUE_BYTES, "\0\xff", 2));
	field(&r, NAME("g"), run_of(VALUE_STRING, "caf\xe9\\", 5));
	field(&r, NAME("h"), run_of(VALUE_JSON, "{\"a\": 1.50}", 11));
	field(&r, NAME("i"), run_of(VALUE_JSON, "[\n]", 3));
	expect_line(&r, HEAD
	            ",\"fields\":{\"a\":255,\"b\":5,\"c\":0.5,\"d\":\"-Infinity\",\"e\":\"0xabc\","
	            "\"f\":\"00ff\",\"g\":\"caf\\\\xe9\\\\\\\\\",\"h\":{\"a\": 1.50},\"i\":\"[\\n]\"},"
	            "\"types\":{\"a\":\"u8\",\"b\":\"i64\",\"c\":\"f32\",\"d\":\"f64\",\"e\":\"address\","
	            "\"f\":\"bytes\",\"g\":\"escaped\",\"h\":\"json\",\"i\":\"json-text\"}}");
	finish(&r);
}

Test(ndjson_values, types_that_the_class_declares)
{
	struct run r;

	begin(&r, (struct writer){ .raw = true });
	declare(&r, "a", VALUE_U8);
	declare(&r, "b", VALUE_F32);
	declare(&r, "c", VALUE_BYTES);
	declare(&r, "a", VALUE_I8); /* not the first of this name */
	event(&r, PHASE_INSTANT, "x");
	field(&r, NAME("c"), run_of(VALUE_BYTES, "a", 1)); /* in another order */
	field(&r, NAME("a"), integer(VALUE_U8, 5));
	field(&r, NAME("b"), number(VALUE_F32, 2));
	expect_line(&r, HEAD ",\"fields\":{\"c\":\"61\",\"a\":5,\"b\":2}}");
	event(&r, PHASE_INSTANT, "x");
	field(&r, NAME("a"), value_string(NAME("no number"))); /* its form tells */
	field(&r, NAME("b"), value_u64(2));                    /* could be an f32 */
	field(&r, NAME("c"), integer(VALUE_NONE, 0));
	expect_line(&r,
	            HEAD ",\"fields\":{\"a\":\"no number\",\"b\":2,\"c\":null},\"types\":{\"b\":\"u64\"}}");
	event(&r, PHASE_INSTANT, "x");
	field(&r, NAME("a"), integer(VALUE_I8, -5));
	field(&r, NAME("b"), number(VALUE_F32, (double)NAN));
	field(&r, NAME("c"), value_string(NAME("61")));
	expect_line(&r, HEAD ",\"fields\":{\"a\":-5,\"b\":\"NaN\",\"c\":\"61\"},"
	                     "\"types\":{\"a\":\"i8\",\"c\":\"string\"}}");
	finish(&r);
}

Test(ndjson_values, lists_and_maps)
{
	const struct value small[] = { integer(VALUE_U8, 1), integer(VALUE_U8, 2) };
	const struct value mixed[] = { value_u64(1), integer(VALUE_U8, 2), value_string(NAME("x")) };
	const struct value pairs[] = { value_string(NAME("k")), integer(VALUE_I8, 1), value_u64(2),
		                       value_u64(3) };
	const struct value dollar[] = { value_string(NAME("$u8")), value_u64(3) };
	const struct value same[] = { value_string(NAME("k")), value_u64(1), value_string(NAME("k")),
		                      value_u64(2) };
	struct run r;

	begin(&r, (struct writer){ .raw = false });
	event(&r, PHASE_INSTANT, "x");
	field(&r, NAME("a"),
	      (struct value){ .type = VALUE_LIST, .element = VALUE_U8, .count = 2, .values = small });
	field(&r, NAME("b"), (struct value){ .type = VALUE_LIST, .count = 2, .values = small });
	field(&r, NAME("c"), (struct value){ .type = VALUE_LIST, .count = 3, .values = mixed });
	field(&r, NAME("d"), (struct value){ .type = VALUE_LIST, .element = VALUE_ADDRESS });
	field(&r, NAME("e"), (struct value){ .type = VALUE_MAP, .count = 1, .values = pairs });
	field(&r, NAME("f"), (struct value){ .type = VALUE_MAP, .count = 2, .values = pairs });
	field(&r, NAME("g"), (struct value){ .type = VALUE_MAP, .count = 1, .values = dollar });
	field(&r, NAME("h"), (struct value){ .type = VALUE_MAP, .count = 2, .values = same });
	expect_line(&r,
	            HEAD ",\"fields\":{\"a\":[1,2],\"b\":[1,2],\"c\":[1,{\"$u8\":2},\"x\"],\"d\":[],"
	                 "\"e\":{\"k\":{\"$i8\":1}},\"f\":[[\"k\",{\"$i8\":1}],[2,3]],\"g\":[[\"$u8\",3]],"
	                 "\"h\":[[\"k\",1],[\"k\",2]]},\"types\":{\"a\":\"[u8]\",\"b\":\"[u8?]\","
	                 "\"d\":\"[address]\",\"f\":\"map\",\"g\":\"map\",\"h\":\"map\"}}");
	finish(&r);
}

/* Names that an object cannot hold. */
Test(ndjson_values, pairs)
{
	struct run r;

	begin(&r, (struct writer){ .raw = true });
	declare(&r, "a", VALUE_U8);
	event(&r, PHASE_INSTANT, "x");
	field(&r, NAME("a"), integer(VALUE_U8, 1));
	field(&r, NAME("a"), value_u64(2));
	expect_line(&r, HEAD ",\"pairs\":[[\"a\",{\"$u8\":1}],[\"a\",2]]}");
	event(&r, PHASE_INSTANT, "\xff");
	field(&r, NAME("caf\xe9"), value_string(NAME("\xe9")));
	expect_line(&r,
	            "{\"type\":\"instant\",\"ts\":5,\"name\":\"\\\\xff\",\"class\":0,\"category\":\"class\","
	            "\"track\":1,\"tid\":7,\"offset\":0,\"escaped\":[\"name\"],"
	            "\"pairs\":[[{\"$escaped\":\"caf\\\\xe9\"},{\"$escaped\":\"\\\\xe9\"}]]}");
	finish(&r);
}

Test(ndjson_values, members_of_events)
{
	struct run r;
	struct event *e;

	begin(&r, (struct writer){ .rebased = true, .rebased_by = 77, .signed_time = true });
	e = event(&r, PHASE_SPAN, "s");
	e->ts = (uint64_t)-9;
	e->dur = UINT64_MAX;
	e->flags = EVENT_ASYNC | EVENT_BIG;
	e->offset = UINT64_MAX;
	expect_line(&r,
	            "{\"type\":\"span\",\"ts\":-9,\"dur\":18446744073709551615,\"name\":\"s\",\"class\":0,"
	            "\"category\":\"class\",\"track\":1,\"tid\":7,\"offset\":18446744073709551615,"
	            "\"async\":true,\"big_endian\":true}");
	e = event(&r, PHASE_FLOW_OUT, "f");
	e->dur = UINT64_MAX - 1;
	expect_line(&r,
	            "{\"type\":\"flow_out\",\"ts\":5,\"id\":18446744073709551614,\"name\":\"f\",\"class\":0,"
	            "\"category\":\"class\",\"track\":1,\"tid\":7,\"offset\":0}");
	e = event(&r, PHASE_STRUCTURE, "");
	e->track = NULL;
	expect_line(&r, "{\"type\":\"structure\",\"ts\":5,\"name\":\"\",\"class\":0,\"category\":\"class\","
	                "\"offset\":0}");
	finish(&r);
}

/* ---- at random ---- */

static uint64_t
any(struct run *r, uint64_t below)
{
	return splitmix_next(&r->state) % below;
}

static struct slice
any_text(struct run *r)
{
	static const char *const texts[] = {
		"",     "a",           "b",    "name",         "NaN",   "0x10", "$u8",
		"$",    "caf\xc3\xa9", "\xe9", "\\",           "\\xe9", "\"",   "\n\x01",
		"\xff", "ab\xe2\x82",  "-1",   "\xed\xa0\x80", "12",    "\x7f"
	};
	const uint64_t i = any(r, 22);

	if (i == 20)
		return slice_of("nul\0nul", 7);
	if (i == 21) {
		char *const p = arena_alloc(&r->trace.arena, 64);
		const uint32_t n = (uint32_t)any(r, 64);
		cr_assert_not_null(p);
		for (uint32_t k = 0; k < n; k++)
			p[k] = (char)any(r, any(r, 2) == 0 ? 256 : 128);
		return textscan_slice(p, n);
	}
	return any(r, 2) == 0 ? slice_str(texts[i]) : textscan_slice(texts[i], (uint32_t)strlen(texts[i]));
}

static int64_t
any_integer(struct run *r, unsigned bits)
{
	const uint64_t v = splitmix_next(&r->state);

	switch (any(r, 4)) {
	case 0:
		return 0;
	case 1:
		return -1;
	case 2:
		return (int64_t)(UINT64_C(1) << (bits - 1));
	default:
		return (int64_t)(v >> any(r, 64));
	}
}

static double
any_double(struct run *r)
{
	static const uint64_t odd[] = { 0,
		                        UINT64_C(0x8000000000000000),
		                        UINT64_C(0x7ff8000000000000),
		                        UINT64_C(0xfff8000000000000),
		                        UINT64_C(0x7ff8000000000001),
		                        UINT64_C(0x7ff0000000000000),
		                        UINT64_C(0xfff0000000000000),
		                        1,
		                        UINT64_C(0x4340000000000000) };
	const uint64_t i = any(r, 12);
	const uint64_t bits = i < 9 ? odd[i] : splitmix_next(&r->state);
	double v;

	memcpy(&v, &bits, sizeof v);
	return i == 11 ? (double)any(r, 1000) / 8 : v;
}

static struct value any_value(struct run *r, enum value_type type, unsigned depth);

static enum value_type
any_type(struct run *r, unsigned depth)
{
	const enum value_type type = (enum value_type)any(r, VALUE_JSON + 1);

	return depth > 3 && (type == VALUE_LIST || type == VALUE_MAP) ? VALUE_NONE : type;
}

static struct value
any_list(struct run *r, enum value_type type, unsigned depth)
{
	const uint32_t n = (uint32_t)any(r, any(r, 8) == 0 ? 40 : 4);
	const size_t all = (size_t)n << (type == VALUE_MAP);
	struct value *const values = arena_alloc(&r->trace.arena, all * sizeof *values);
	const enum value_type one = any_type(r, depth + 1);
	const bool same = type == VALUE_LIST && any(r, 2) == 0;
	const bool text_keys = any(r, 2) == 0;

	cr_assert_not_null(values);
	for (size_t i = 0; i < all; i++)
		values[i] = any_value(r,
		                      same                                           ? one
		                      : type == VALUE_MAP && i % 2 == 0 && text_keys ? VALUE_STRING
		                                                                     : any_type(r, depth + 1),
		                      depth + 1);
	return (struct value){ .type = (uint8_t)type,
		               .element = same && any(r, 2) == 0 ? (uint8_t)one : VALUE_NONE,
		               .count = n,
		               .values = values };
}

static struct value
any_value(struct run *r, enum value_type type, unsigned depth)
{
	static const char *const json[] = { "1",           "-0",      "1.50",
		                            "\"\\u20ac\"", "null",    "{\"a\" : [ ]}",
		                            " true",       "[1,\n2]", "{}",
		                            "[[1]]",       "\"x\"  ", "1e5" };
	static const unsigned widths[] = {
		[VALUE_U8] = 8, [VALUE_U16] = 16, [VALUE_U32] = 32, [VALUE_U64] = 64,
		[VALUE_I8] = 8, [VALUE_I16] = 16, [VALUE_I32] = 32, [VALUE_I64] = 64
	};
	const struct slice text = any_text(r);

	switch (type) {
	case VALUE_NONE:
		return integer(type, 0);
	case VALUE_BOOL:
		return integer(type, (int64_t)any(r, 2));
	case VALUE_ADDRESS:
		return integer(type, any_integer(r, 64));
	case VALUE_F32:
		return number(type, (double)(float)any_double(r));
	case VALUE_F64:
		return number(type, any_double(r));
	case VALUE_STRING:
		return value_string(text);
	case VALUE_BYTES:
		return run_of(type, text.p, text.n);
	case VALUE_JSON: {
		const char *const p = json[any(r, sizeof json / sizeof *json)];
		return run_of(type, p, strlen(p));
	}
	case VALUE_LIST:
	case VALUE_MAP:
		return any_list(r, type, depth);
	default: {
		const int64_t v = any_integer(r, widths[type]);
		const unsigned cut = 64 - widths[type];
		return type <= VALUE_U64 ? integer(type, (int64_t)((uint64_t)v << cut >> cut))
		                         : integer(type, (int64_t)((uint64_t)v << cut) >> cut);
	}
	}
}

static void
any_class(struct run *r)
{
	char name[32];

	snprintf(name, sizeof name, "class %" PRIu64 "%s", any(r, 1000000), any(r, 8) == 0 ? "\xff" : "");
	r->cls = trace_add_class(&r->trace, slice_str(name));
	cr_assert_not_null(r->cls);
	r->cls->category = any(r, 2) == 0 ? r->cls->name : any_text(r);
	for (uint64_t n = r->cls->nfields == 0 ? any(r, 8) : 0; n > 0; n--) {
		const struct slice text = any_text(r);
		char *const copy = arena_zalloc(&r->trace.arena, text.n + 1, 1);
		cr_assert_not_null(copy);
		memcpy(copy, text.p, text.n);
		declare(r, copy, (enum value_type)any(r, VALUE_JSON + 1));
	}
}

static void
any_track(struct run *r)
{
	struct track *k = NULL;

	if (any(r, 4) == 0) {
		k = trace_add_process(&r->trace, any_text(r));
		r->process = k;
	} else if (any(r, 3) > 0) {
		k = trace_add_thread(&r->trace, r->process, 0, any_text(r));
	}
	if (k != NULL) {
		k->has_id = any(r, 2) == 0;
		k->id = (uint64_t)any_integer(r, 64);
		r->track = k;
	} else {
		r->track = any(r, 2) == 0 ? trace_child_track(&r->trace, r->track, any_text(r))
		                          : trace_lane(&r->trace, r->track, (uint16_t)(1 + any(r, 3)));
	}
	cr_assert_not_null(r->track);
}

/* Mostly a name that the class declares. */
static struct slice
any_name(struct run *r)
{
	static const char *const plain[] = { "one", "two", "three", "four", "five", "six", "seven", "eight" };
	char name[24];

	if (r->cls->nfields > 0 && any(r, 3) > 0)
		return r->cls->fields[any(r, r->cls->nfields)].name;
	if (any(r, 3) > 0)
		return slice_str(plain[any(r, 8)]);
	if (any(r, 3) > 0)
		return any_text(r);
	snprintf(name, sizeof name, "name %" PRIu64, any(r, 100));
	return arena_copy(&r->trace.arena, slice_str(name));
}

static void
any_event(struct run *r)
{
	struct event *const e = event(r, (enum phase)any(r, PHASE_STRUCTURE + 1), "");
	const uint64_t n = any(r, 16) == 0 ? any(r, 400) : any(r, 6);

	e->name = any_text(r);
	e->ts = (uint64_t)any_integer(r, 64);
	e->dur = (uint64_t)any_integer(r, 64);
	e->offset = (uint64_t)any_integer(r, 64);
	e->flags = (uint8_t)any(r, 4);
	if (e->phase == PHASE_STRUCTURE && any(r, 2) == 0)
		e->track = NULL;
	for (uint64_t i = 0; i < n; i++) {
		const struct slice name = any_name(r);
		struct value v = any_value(r, any_type(r, 0), 0);
		for (uint32_t k = 0; k < r->cls->nfields && any(r, 2) == 0; k++)
			if (slice_equal(r->cls->fields[k].name, name))
				v = any_value(r, (enum value_type)r->cls->fields[k].value, 0);
		field(r, name, v);
	}
}

Test(ndjson_values, at_random, .timeout = 120)
{
	for (int round = 0; round < 60; round++) {
		struct run r;
		begin(&r, (struct writer){
		              .raw = round % 2 == 0, .signed_time = round % 3 == 0, .rebased = true });
		r.state = 1000 + (uint64_t)round;
		for (int batch = 0; batch < 8; batch++) {
			for (int i = 0; i < 40; i++) {
				if (any(&r, 5) == 0)
					any_class(&r);
				if (any(&r, 5) == 0)
					any_track(&r);
				any_event(&r);
			}
			render(&r);
		}
		for (int i = 0; i < 20; i++) {
			struct value v = any_value(&r, any_type(&r, 0), 0);
			cr_assert(trace_add_meta(&r.trace, any_text(&r), v));
		}
		finish(&r);
	}
}

/* As deep as readers let values nest. */
Test(ndjson_values, deep)
{
	struct value lists[64], maps[128];
	struct run r;

	for (int i = 0; i < 64; i++) {
		lists[i] = (struct value){ .type = VALUE_LIST, .count = i < 63, .values = &lists[i + 1] };
		maps[2 * i] = value_u64((uint64_t)i); /* the key */
		maps[2 * i + 1] =
		    (struct value){ .type = VALUE_MAP, .count = i < 63, .values = &maps[2 * i + 2] };
	}
	lists[63].values = maps[127].values = NULL;
	begin(&r, (struct writer){ .raw = true });
	r.g.deep = true;
	event(&r, PHASE_INSTANT, "deep");
	field(&r, NAME("lists"), lists[0]);
	field(&r, NAME("maps"), maps[1]);
	render(&r);
	finish(&r);
}

/* What a class is known as later stands behind its events. */
Test(ndjson_values, classes_that_change)
{
	struct run r;

	begin(&r, (struct writer){ .raw = true });
	event(&r, PHASE_INSTANT, "x");
	field(&r, NAME("a"), integer(VALUE_U8, 5));
	expect_line(&r, HEAD ",\"fields\":{\"a\":5},\"types\":{\"a\":\"u8\"}}");
	declare(&r, "a", VALUE_U8);
	event(&r, PHASE_INSTANT, "x"); /* by the line that stands before it */
	field(&r, NAME("a"), integer(VALUE_U8, 5));
	expect_line(&r, HEAD ",\"fields\":{\"a\":5},\"types\":{\"a\":\"u8\"}}");
	agree_end(&r.g);
	static const char again[] =
	    "\n{\"type\":\"class\",\"index\":0,\"name\":\"class\",\"category\":\"class\","
	    "\"fields\":[{\"name\":\"a\",\"type\":\"t\",\"value\":\"u8\"}]}\n";
	text_char(&r.lines, '\0');
	cr_expect_not_null(strstr(r.lines.p, again), "%s", r.lines.p);
	text_free(&r.lines);
	batch_free(&r.batch);
	trace_free(&r.trace);
}
