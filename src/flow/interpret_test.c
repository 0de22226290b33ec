#include "flow/interpret.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/input_rules.h"
#include "flow/interpret_parts.h"

/* Meanings made by hand, on a trace of one process and two threads. */
#define REF(f) { .field = { SLICE_LIT(f) }, .nfields = 1 }
#define LOOKED_UP(f, t) { .field = { SLICE_LIT(f) }, .nfields = 1, .ntables = 1, .tables = { t } }
#define TEMPLATE(parts_) { .parts = parts_, .nparts = sizeof parts_ / sizeof *parts_ }

struct stage {
	struct vocabulary vocabulary;
	struct reader_ops reader;
	struct format format;
	struct trace trace;
	struct batch batch;
	struct judge judge;
	struct interpret in;
	struct class *cls;
	const struct track *process, *threads[2];
};

static void
stage_init(struct stage *g, enum interpret_mode mode, unsigned want)
{
	*g = (struct stage){ .format = { .name = "toy" } };
	g->format.reader = &g->reader;
	g->vocabulary.scopes[1] = MEANING_SCOPE_THREAD;
	g->vocabulary.scopes[2] = MEANING_SCOPE_TRACE;
	trace_init(&g->trace);
	g->trace.vocabulary = &g->vocabulary;
	cr_assert(batch_init(&g->batch, 64, false));
	judge_init(&g->judge, "toy", NULL, NULL);
	g->cls = trace_add_class(&g->trace, SLICE_LIT("cls"));
	g->process = trace_add_process(&g->trace, SLICE_LIT("p"));
	g->threads[0] = trace_add_thread(&g->trace, g->process, 1, SLICE_LIT("a"));
	g->threads[1] = trace_add_thread(&g->trace, g->process, 2, SLICE_LIT("b"));
	interpret_init(&g->in, &g->trace, mode, want);
}

static void
stage_free(struct stage *g)
{
	interpret_free(&g->in);
	judge_free(&g->judge);
	batch_free(&g->batch);
	trace_free(&g->trace);
}

static struct event *
add(struct stage *g, const struct class *cls, unsigned thread, uint64_t ts)
{
	struct event *const e = &g->batch.events[g->batch.n++];

	*e = (struct event){ .ts = ts, .offset = ts, .name = cls->name, .cls = cls, .track = g->threads[thread],
		             .first_field = g->batch.nfields, .phase = PHASE_INSTANT };
	return e;
}

static void
add_field(struct stage *g, struct event *e, struct slice name, struct value value)
{
	struct field *const f = batch_fields(&g->batch, 1);

	f[0] = (struct field){ name, value };
	g->batch.nfields++;
	e->nfields++;
}

static void
run(struct stage *g)
{
	cr_assert(interpret_batch(&g->in, &g->format, &g->judge, &g->batch));
}

/* What is left at the end, all in one batch. */
static void
run_out(struct stage *g)
{
	bool more;

	batch_recycle(&g->batch);
	cr_assert(interpret_finish(&g->in, &g->batch, &more));
	cr_assert_not(more);
}

static struct class *
class_of(struct stage *g, const char *name, const struct meaning *m)
{
	struct class *const cls = trace_add_class(&g->trace, slice_str(name));

	cls->meaning = m;
	return cls;
}

static const struct value *
field(const struct stage *g, uint32_t event, const char *name)
{
	return interpret_field(&g->batch, &g->batch.events[event], slice_str(name));
}

/* ---- layouts ---- */

static const struct meaning_layout_field all_types[] = {
	{ SLICE_LIT("u8"), VALUE_U8, false },   { SLICE_LIT("u16"), VALUE_U16, false }, { SLICE_LIT("u32"), VALUE_U32, false },
	{ SLICE_LIT("u64"), VALUE_U64, false }, { SLICE_LIT("i8"), VALUE_I8, false },   { SLICE_LIT("i16"), VALUE_I16, false },
	{ SLICE_LIT("i32"), VALUE_I32, false }, { SLICE_LIT("i64"), VALUE_I64, false }, { SLICE_LIT("f32"), VALUE_F32, false },
	{ SLICE_LIT("f64"), VALUE_F64, false }, { SLICE_LIT("at"), VALUE_ADDRESS, false }, { SLICE_LIT("s"), VALUE_STRING, false },
	{ SLICE_LIT("list"), VALUE_I16, true },
};
static const struct meaning all_layout = {
	.has_layout = true,
	.payload = SLICE_LIT("payload"),
	.layout = all_types,
	.nlayout = sizeof all_types / sizeof *all_types,
};

/* Appends n bytes of v in a byte order. */
static size_t
put(char *to, size_t at, uint64_t v, size_t n, bool big)
{
	for (size_t i = 0; i < n; i++)
		to[at + (big ? n - 1 - i : i)] = (char)(v >> 8 * i & 0xff);
	return at + n;
}

static size_t
all_bytes(char *to, bool big)
{
	static const uint8_t sizes[] = { 1, 2, 4, 8, 1, 2, 4, 8 };
	const float f = -1.5f;
	const double d = 2.25;
	uint32_t f_bits;
	uint64_t d_bits;
	size_t n = 0;

	for (size_t i = 0; i < 8; i++)
		n = put(to, n, i < 4 ? UINT64_C(0x8182838485868788) >> (64 - 8 * sizes[i]) : (uint64_t)-2, sizes[i], big);
	memcpy(&f_bits, &f, sizeof f);
	memcpy(&d_bits, &d, sizeof d);
	n = put(to, n, f_bits, 4, big);
	n = put(to, n, d_bits, 8, big);
	n = put(to, n, 0xdeadbeef, 8, big);
	memcpy(to + n, "hi", 3);
	n += 3;
	n = put(to, n, (uint64_t)-7, 2, big);
	return put(to, n, 300, 2, big);
}

static void
expect_all(const struct stage *g, uint32_t i)
{
	cr_assert_eq(field(g, i, "u8")->u64, 0x81);
	cr_assert_eq(field(g, i, "u16")->u64, 0x8182);
	cr_assert_eq(field(g, i, "u32")->u64, 0x81828384);
	cr_assert_eq(field(g, i, "u64")->u64, UINT64_C(0x8182838485868788));
	cr_assert(field(g, i, "i8")->i64 == -2 && field(g, i, "i16")->i64 == -2);
	cr_assert(field(g, i, "i32")->i64 == -2 && field(g, i, "i64")->i64 == -2);
	cr_assert(field(g, i, "f32")->f64 == -1.5 && field(g, i, "f64")->f64 == 2.25);
	cr_assert(field(g, i, "at")->type == VALUE_ADDRESS && field(g, i, "at")->u64 == 0xdeadbeef);
	cr_assert(slice_is(value_text(field(g, i, "s")), "hi"));
	const struct value *const list = field(g, i, "list");
	cr_assert(list->count == 2 && list->values[0].i64 == -7 && list->values[1].i64 == 300);
	cr_assert_null(field(g, i, "payload"));
	cr_assert(field(g, i, "before") != NULL && field(g, i, "behind") != NULL);
}

static struct event *
add_payload(struct stage *g, const struct class *cls, const char *p, size_t n)
{
	struct event *const e = add(g, cls, 0, 1);

	add_field(g, e, SLICE_LIT("before"), value_u64(1));
	add_field(g, e, SLICE_LIT("payload"), (struct value){ .type = VALUE_BYTES, .count = (uint32_t)n, .p = p });
	add_field(g, e, SLICE_LIT("behind"), value_u64(2));
	return e;
}

Test(interpret, layout_of_all_types)
{
	struct stage g;
	char little[128], big[128];

	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES | WANT_FIELDS);
	g.cls->meaning = &all_layout;
	add_payload(&g, g.cls, little, all_bytes(little, false));
	add_payload(&g, g.cls, big, all_bytes(big, true))->flags = EVENT_BIG;
	run(&g);
	expect_all(&g, 0);
	expect_all(&g, 1);
	cr_assert_null(field(&g, 0, "rest"));
	cr_assert_eq(g.judge.ncounts, 0);
	stage_free(&g);
}

/* Each length: the fields that fit, then the bytes that are left; nothing of the payload is lost. */
Test(interpret, short_payloads)
{
	struct stage g;
	char bytes[128];
	const size_t size = all_bytes(bytes, false);

	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES | WANT_FIELDS);
	g.cls->meaning = &all_layout;
	for (size_t n = 0; n <= size; n++) {
		batch_recycle(&g.batch);
		char *const exact = malloc(n + 1);
		memcpy(exact + 1, bytes, n);
		add_payload(&g, g.cls, exact + 1, n);
		run(&g);
		cr_assert_eq(field(&g, 0, "u8") != NULL, n >= 1);
		cr_assert_eq(field(&g, 0, "u16") != NULL, n >= 3);
		cr_assert_eq(field(&g, 0, "at") != NULL, n >= size - 7);
		cr_assert_eq(field(&g, 0, "s") != NULL, n >= size - 4);
		cr_assert_eq(field(&g, 0, "rest") != NULL, n == 2 || (n > 3 && field(&g, 0, "rest") != NULL));
		cr_assert_not_null(field(&g, 0, "behind"));
		free(exact);
	}
	cr_assert_eq(judge_count(&g.judge, &input_rules[INPUT_RULE_PAYLOAD_SHORT]), size - 4);
	cr_assert_eq(judge_count(&g.judge, &input_rules[INPUT_RULE_PAYLOAD_LONG]), 2, "half a number of the list is left");
	stage_free(&g);
}

Test(interpret, payload_that_should_not_be_there)
{
	static const struct meaning none = { .has_layout = true, .payload = SLICE_LIT("payload") };
	struct stage g;

	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES | WANT_FIELDS);
	g.cls->meaning = &none;
	add_payload(&g, g.cls, "abc", 3);
	struct event *const e = add(&g, g.cls, 0, 2);
	add_field(&g, e, SLICE_LIT("before"), value_u64(1));
	run(&g);
	cr_assert(slice_is(value_text(field(&g, 0, "rest")), "abc"));
	cr_assert_eq(g.batch.events[1].nfields, 1);
	cr_assert_eq(judge_count(&g.judge, &input_rules[INPUT_RULE_PAYLOAD_LONG]), 1);
	g.reader.judges_payloads = true;
	batch_recycle(&g.batch);
	add_payload(&g, g.cls, "abc", 3);
	run(&g);
	cr_assert_eq(judge_count(&g.judge, &input_rules[INPUT_RULE_PAYLOAD_LONG]), 1, "the reader says so itself");
	stage_free(&g);
}

/* ---- definitions and names ---- */

static const struct meaning_define type_is = { .table = 0, .key = { SLICE_LIT("id") }, .nkeys = 1, .value = REF("label") };
static const struct meaning define_type = { .defines = &type_is, .ndefines = 1, .needs_fields = true };

static const struct meaning_part looked_up[] = { { SLICE_LIT(""), LOOKED_UP("id", 0) } };
static const struct meaning_part described[] = { { SLICE_LIT("type "), REF("id") }, { SLICE_LIT(" of \""), REF("kind") },
	                                         { .text = SLICE_LIT("\"") } };
static const struct meaning_part plain[] = { { .text = SLICE_LIT("fixed") } };
static const struct meaning_template names[] = { TEMPLATE(looked_up), TEMPLATE(described), TEMPLATE(plain) };
static const struct meaning named_by_type = { .names = names, .nnames = 3, .needs_fields = true };

static void
add_typed(struct stage *g, const struct class *cls, const struct track *track, uint64_t id, const char *kind)
{
	struct event *const e = add(g, cls, 0, 5);

	e->track = track;
	add_field(g, e, SLICE_LIT("id"), value_u64(id));
	if (kind != NULL)
		add_field(g, e, SLICE_LIT("kind"), value_string(slice_str(kind)));
}

Test(interpret, names_from_definitions)
{
	struct stage g;
	char label[] = "first label";

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES | WANT_FIELDS);
	const struct track *const other = trace_add_process(&g.trace, SLICE_LIT("q"));
	const struct track *const elsewhere = trace_add_thread(&g.trace, other, 9, SLICE_LIT("c"));
	const struct class *const def = class_of(&g, "define", &define_type), *const use = class_of(&g, "use", &named_by_type);
	struct event *const e = add(&g, def, 1, 1);
	add_field(&g, e, SLICE_LIT("id"), value_u64(7));
	add_field(&g, e, SLICE_LIT("label"), value_string(slice_str(label)));
	add_typed(&g, use, g.threads[0], 7, "x");
	add_typed(&g, use, g.threads[0], 8, "x");
	add_typed(&g, use, elsewhere, 7, "y");
	add_typed(&g, use, elsewhere, 7, NULL);
	run(&g);
	memset(label, '#', sizeof label - 1);
	cr_assert(slice_is(g.batch.events[1].name, "first label"), "of another thread, the same process");
	cr_assert(slice_is(g.batch.events[2].name, "type 8 of \"x\""));
	cr_assert(slice_is(g.batch.events[3].name, "type 7 of \"y\""), "another process");
	cr_assert(slice_is(g.batch.events[4].name, "fixed"));
	stage_free(&g);
}

Test(interpret, names_keep_their_promises)
{
	static const struct meaning_part neg[] = { { SLICE_LIT("a"), REF("i") }, { SLICE_LIT(" b"), REF("f") }, { SLICE_LIT(" c"), REF("at") },
		                                   { SLICE_LIT(" d"), REF("yes") }, { SLICE_LIT(" e"), REF("text") } };
	static const struct meaning_template name = TEMPLATE(neg);
	static const struct meaning m = { .names = &name, .nnames = 1, .needs_fields = true };
	struct stage g;
	char *const big = malloc(1 << 20);

	memset(big, 'x', 1 << 20);
	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES | WANT_FIELDS);
	g.cls->meaning = &m;
	for (int i = 0; i < 2; i++) {
		struct event *const e = add(&g, g.cls, 0, 5);
		add_field(&g, e, SLICE_LIT("i"), (struct value){ .type = VALUE_I32, .i64 = -5 });
		add_field(&g, e, SLICE_LIT("f"), (struct value){ .type = VALUE_F64, .f64 = 0.1 });
		add_field(&g, e, SLICE_LIT("at"), (struct value){ .type = VALUE_ADDRESS, .u64 = 255 });
		add_field(&g, e, SLICE_LIT("yes"), (struct value){ .type = VALUE_BOOL, .u64 = 1 });
		add_field(&g, e, SLICE_LIT("text"), value_string(i == 0 ? slice_str("\"\xff") : slice_of(big, 1 << 20)));
	}
	run(&g);
	cr_assert(slice_is(g.batch.events[0].name, "a-5 b0.1 c0xff dtrue e\"\xff"));
	cr_assert_eq(g.batch.events[0].name.flags, 0, "one piece is not plain");
	cr_assert_eq(g.batch.events[1].name.n, 4096, "what is put together is cut");
	free(big);
	stage_free(&g);
}

Test(interpret, rules_for_names_of_events)
{
	static const struct meaning_template fixed = TEMPLATE(plain);
	static const struct meaning other = { .phase = MEANING_INSTANT, .names = &fixed, .nnames = 1, .named = SLICE_LIT("w*") };
	static const struct meaning reads = { .phase = MEANING_BEGIN, .named = SLICE_LIT("r*"), .otherwise = &other };
	struct stage g;

	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES);
	g.cls->meaning = &reads;
	add(&g, g.cls, 0, 1)->name = SLICE_LIT("read");
	add(&g, g.cls, 0, 1)->name = SLICE_LIT("write");
	add(&g, g.cls, 0, 1)->name = SLICE_LIT("stat");
	run(&g);
	cr_assert(g.batch.events[0].phase == PHASE_BEGIN && slice_is(g.batch.events[0].name, "read"));
	cr_assert(g.batch.events[1].phase == PHASE_INSTANT && slice_is(g.batch.events[1].name, "fixed"));
	cr_assert(g.batch.events[2].phase == PHASE_INSTANT && slice_is(g.batch.events[2].name, "stat"));
	stage_free(&g);
}

/* ---- time lines ---- */

static const struct meaning_part worker_parts[] = { { SLICE_LIT("worker "), REF("w") } };
static const struct meaning_part marks_parts[] = { { .text = SLICE_LIT("marks") } };
static const struct meaning_track worker_lines[] = {
	{ .name = TEMPLATE(worker_parts), .number = REF("w"), .id = SLICE_LIT("tid") },
	{ .name = TEMPLATE(worker_parts), .number = REF("w") },
	{ .name = TEMPLATE(marks_parts), .below = true },
};
static const struct meaning on_worker = { .tracks = worker_lines, .ntracks = 3, .needs_fields = true };

Test(interpret, time_lines)
{
	struct stage g;

	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES);
	g.cls->meaning = &on_worker;
	for (int i = 0; i < 6; i++) {
		struct event *const e = add(&g, g.cls, i == 5, (uint64_t)i);
		if (i < 3)
			add_field(&g, e, SLICE_LIT("w"), value_u64(i == 0 ? 1 : 2));
		if (i == 1)
			add_field(&g, e, SLICE_LIT("tid"), value_u64(77));
	}
	run(&g);
	const struct event *const e = g.batch.events;
	cr_assert(slice_is(e[0].track->name, "worker 1") && !e[0].track->has_id && e[0].track->parent == g.process);
	cr_assert(slice_is(e[1].track->name, "worker 2") && e[1].track->has_id && e[1].track->id == 77);
	cr_assert_eq(e[2].track, e[1].track, "the same name is the same line");
	cr_assert(slice_is(e[3].track->name, "a: marks") && e[3].track->below && e[3].track->parent == g.threads[0]);
	cr_assert_eq(e[4].track, e[3].track);
	cr_assert(slice_is(e[5].track->name, "b: marks"));
	stage_free(&g);
}

Test(interpret, time_lines_are_bounded, .timeout = 60)
{
	struct stage g;
	const struct track *last = NULL;

	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES);
	g.cls->meaning = &on_worker;
	for (uint64_t i = 0; i < 2 * TRACE_MAX_TRACKS; i++) {
		batch_recycle(&g.batch);
		add_field(&g, add(&g, g.cls, 0, i), SLICE_LIT("w"), value_u64(i));
		run(&g);
		last = g.batch.events[0].track;
	}
	cr_assert_leq(g.trace.ntracks, TRACE_MAX_TRACKS + 1);
	cr_assert(slice_is(last->name, "more tracks"));
	stage_free(&g);
}

/* ---- phases ---- */

static const struct meaning mean_begin = { .phase = MEANING_BEGIN, .pair = 1 }, mean_end = { .phase = MEANING_END, .pair = 1 };
static const struct meaning running = { .phase = MEANING_STATE, .state = 3, .state_name = SLICE_LIT("life") };
static const struct meaning ended = { .phase = MEANING_STATE_END, .state = 3, .state_name = SLICE_LIT("life") };

Test(interpret, begin_and_end)
{
	struct stage g;

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES);
	const struct class *const b = class_of(&g, "b", &mean_begin), *const e = class_of(&g, "e", &mean_end);
	add(&g, b, 0, 10);
	add(&g, g.cls, 0, 11);
	add(&g, b, 1, 12);
	add(&g, e, 0, 20);
	add(&g, e, 0, 21);
	run(&g);
	cr_assert_eq(g.batch.n, 3);
	cr_assert(g.batch.events[0].cls == g.cls && g.batch.events[0].ts == 11);
	const struct event *const s = &g.batch.events[1];
	cr_assert(s->phase == PHASE_SPAN && s->ts == 10 && s->dur == 10 && s->cls == b && slice_is(s->name, "b"));
	cr_assert(g.batch.events[2].phase == PHASE_INSTANT && g.batch.events[2].cls == e, "an end of nothing");
	run_out(&g);
	cr_assert(g.batch.n == 1 && g.batch.events[0].ts == 12 && g.batch.events[0].dur == 0);
	cr_assert_eq(interpret_unpaired(&g.in), 2);
	cr_assert_eq(interpret_ledger(&g.in)->n, 2);
	stage_free(&g);
}

Test(interpret, states)
{
	struct stage g;

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES | WANT_FIELDS);
	const struct class *const r = class_of(&g, "r", &running), *const e = class_of(&g, "e", &ended);
	add(&g, r, 0, 10);
	add(&g, r, 0, 20)->name = SLICE_LIT("asleep");
	add(&g, e, 0, 50);
	add(&g, r, 0, 60);
	add(&g, r, 1, 65);
	run(&g);
	cr_assert_eq(g.batch.n, 2);
	cr_assert(g.batch.events[0].ts == 10 && g.batch.events[0].dur == 10 && slice_is(g.batch.events[0].name, "r"));
	cr_assert(g.batch.events[1].ts == 20 && g.batch.events[1].dur == 30 && slice_is(g.batch.events[1].name, "asleep"));
	cr_assert(slice_is(g.batch.events[0].track->name, "a: life") && g.batch.events[1].track == g.batch.events[0].track);
	batch_recycle(&g.batch);
	add(&g, g.cls, 0, 90);
	run(&g);
	run_out(&g);
	cr_assert_eq(g.batch.n, 2);
	cr_assert(g.batch.events[0].ts == 60 && g.batch.events[0].dur == 30, "as long as its thread is heard of");
	cr_assert_eq(interpret_unpaired(&g.in), 0);
	stage_free(&g);
}

Test(interpret, spans_counters_structure)
{
	static const struct slice values[] = { SLICE_LIT("n") };
	static const struct meaning span = { .phase = MEANING_SPAN, .duration = SLICE_LIT("d"), .needs_fields = true };
	static const struct meaning one = { .phase = MEANING_COUNTER, .values = values, .nvalues = 1 };
	static const struct meaning all = { .phase = MEANING_COUNTER };
	static const struct meaning structure = { .phase = MEANING_STRUCTURE };
	const struct meaning *const meanings[] = { &span, &one, &all, &structure };
	static const char *const class_names[] = { "span", "one", "all", "structure" };
	struct stage g;

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES | WANT_FIELDS);
	for (unsigned i = 0; i < 4; i++) {
		struct event *const e = add(&g, class_of(&g, class_names[i], meanings[i]), 0, UINT64_MAX - 5);
		add_field(&g, e, SLICE_LIT("m"), value_u64(1));
		add_field(&g, e, SLICE_LIT("d"), value_u64(i == 0 ? 4 : 9));
		add_field(&g, e, SLICE_LIT("n"), (struct value){ .type = VALUE_I32, .i64 = -3 });
		add_field(&g, e, SLICE_LIT("text"), value_string(SLICE_LIT("x")));
	}
	add_field(&g, add(&g, trace_add_class(&g.trace, SLICE_LIT("span")), 0, UINT64_MAX - 5), SLICE_LIT("d"), value_u64(9));
	run(&g);
	const struct event *const e = g.batch.events;
	cr_assert_eq(g.batch.n, 4, "structure was not asked for");
	cr_assert(e[0].phase == PHASE_SPAN && e[0].dur == 4 && e[0].nfields == 3 && field(&g, 0, "d") == NULL);
	cr_assert(e[1].phase == PHASE_COUNTER && e[1].nfields == 1 && field(&g, 1, "n")->i64 == -3);
	cr_assert(e[2].phase == PHASE_COUNTER && e[2].nfields == 3);
	cr_assert(e[3].phase == PHASE_SPAN && e[3].dur == 5 && field(&g, 3, "d")->u64 == 9, "cut where time ends");
	stage_free(&g);
}

/* Lists of numbers are one series each; what holds something else is none. */
Test(interpret, counters_of_lists)
{
	static const struct slice two[] = { SLICE_LIT("n"), SLICE_LIT("odd") };
	static const struct meaning meaning = { .phase = MEANING_COUNTER, .values = two, .nvalues = 2 };
	struct value numbers[3], odd[2] = { value_u64(1), value_string(SLICE_LIT("x")) };
	struct stage g;

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES | WANT_FIELDS);
	for (uint64_t i = 0; i < 3; i++)
		numbers[i] = value_u64(70 + i);
	struct event *const e = add(&g, class_of(&g, "list", &meaning), 0, 5);
	add_field(&g, e, SLICE_LIT("other"), value_u64(1));
	add_field(&g, e, SLICE_LIT("n"), (struct value){ .type = VALUE_LIST, .count = 3, .values = numbers });
	add_field(&g, e, SLICE_LIT("odd"), (struct value){ .type = VALUE_LIST, .count = 2, .values = odd });
	run(&g);
	cr_assert_eq(g.batch.n, 1);
	cr_assert_eq(g.batch.events[0].nfields, 3);
	cr_assert_eq(field(&g, 0, "n 1")->u64, 70);
	cr_assert_eq(field(&g, 0, "n 3")->u64, 72);
	stage_free(&g);
}

Test(interpret, epoch_and_facts)
{
	static const struct meaning m = { .epoch = SLICE_LIT("wall"), .facts = SLICE_LIT("entries"), .needs_fields = true };
	struct value map[1200];
	char keys[600][8];
	struct stage g;

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES | WANT_FIELDS);
	g.cls->meaning = &m;
	for (unsigned i = 0; i < 600; i++) {
		snprintf(keys[i], sizeof keys[i], "k%u", i % 550);
		map[2 * i] = value_string(slice_str(keys[i]));
		map[2 * i + 1] = value_u64(i);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct event *const e = add(&g, g.cls, 0, 100 + i);
		add_field(&g, e, SLICE_LIT("wall"), value_u64(5000));
		add_field(&g, e, SLICE_LIT("entries"), (struct value){ .type = VALUE_MAP, .count = 600, .values = map });
	}
	run(&g);
	cr_assert(g.trace.epoch_known && g.trace.epoch_ns == 4900, "the first counts");
	cr_assert_eq(g.trace.nmeta, 512);
	cr_assert(slice_is(g.trace.meta[3].name, "k3") && g.trace.meta[3].value.u64 == 3);
	stage_free(&g);
}

Test(interpret, arrows)
{
	static const struct meaning wakes = { .flow_name = SLICE_LIT("wake"), .flow_out = SLICE_LIT("task"), .needs_fields = true };
	static const struct meaning runs = { .phase = MEANING_BEGIN, .pair = 1, .flow_name = SLICE_LIT("wake"), .flow_in = SLICE_LIT("task"),
		                             .needs_fields = true };
	struct stage g;

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES | WANT_FIELDS);
	const struct class *const w = class_of(&g, "w", &wakes), *const r = class_of(&g, "r", &runs);
	add_field(&g, add(&g, w, 0, 10), SLICE_LIT("task"), value_u64(4));
	add_field(&g, add(&g, r, 1, 15), SLICE_LIT("task"), value_u64(4));
	run(&g);
	cr_assert_eq(g.batch.n, 1);
	run_out(&g);
	cr_assert_eq(g.batch.n, 3);
	cr_assert(g.batch.events[1].phase == PHASE_FLOW_OUT && g.batch.events[1].track == g.threads[0] && g.batch.events[1].ts == 10);
	cr_assert(g.batch.events[2].phase == PHASE_FLOW_IN && g.batch.events[2].track == g.threads[1] && g.batch.events[2].ts == 15);
	cr_assert_eq(g.batch.events[1].dur, g.batch.events[2].dur);
	stage_free(&g);
}

Test(interpret, who_means_it_himself_is_left_alone)
{
	struct stage g;

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES);
	struct class *const b = class_of(&g, "b", &mean_begin);
	add(&g, b, 0, 1);
	run(&g);
	cr_assert_eq(g.batch.n, 0);
	b->meant = true;
	add(&g, b, 0, 1);
	run(&g);
	cr_assert(g.batch.n == 1 && g.batch.events[0].phase == PHASE_INSTANT);
	stage_free(&g);
}
