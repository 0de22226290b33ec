#include "run/meaning/test/interpret_stage_test.h"

/* Payloads, names, tracks. */

/* ---- layouts ---- */

static const struct plan_layout_field all_types[] = {
	{ SLICE_LIT("u8"), VALUE_U8, false },      { SLICE_LIT("u16"), VALUE_U16, false },
	{ SLICE_LIT("u32"), VALUE_U32, false },    { SLICE_LIT("u64"), VALUE_U64, false },
	{ SLICE_LIT("i8"), VALUE_I8, false },      { SLICE_LIT("i16"), VALUE_I16, false },
	{ SLICE_LIT("i32"), VALUE_I32, false },    { SLICE_LIT("i64"), VALUE_I64, false },
	{ SLICE_LIT("f32"), VALUE_F32, false },    { SLICE_LIT("f64"), VALUE_F64, false },
	{ SLICE_LIT("at"), VALUE_ADDRESS, false }, { SLICE_LIT("s"), VALUE_STRING, false },
	{ SLICE_LIT("list"), VALUE_I16, true },
};
static const struct plan all_layout = {
	.has_layout = true,
	.payload = SLICE_LIT("payload"),
	.layout = all_types,
	.nlayout = sizeof all_types / sizeof *all_types,
};

/* Appends n bytes of v in a byte order. */
static size_t put(char *to, size_t at, uint64_t v, size_t n, bool big)
{
	for (size_t i = 0; i < n; i++)
		to[at + (big ? n - 1 - i : i)] = (char)(v >> 8 * i & 0xff);
	return at + n;
}

static size_t all_bytes(char *to, bool big)
{
	static const uint8_t sizes[] = { 1, 2, 4, 8, 1, 2, 4, 8 };
	const float f = -1.5f;
	const double d = 2.25;
	uint32_t f_bits;
	uint64_t d_bits;
	size_t n = 0;

	for (size_t i = 0; i < 8; i++)
		n = put(to, n, i < 4 ? UINT64_C(0x8182838485868788) >> (64 - 8 * sizes[i]) : (uint64_t)-2,
		        sizes[i], big);
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

static void expect_all(const struct interpret_rig *g, uint32_t i)
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

static struct event *add_payload(struct interpret_rig *g, const struct class *cls, const char *p, size_t n)
{
	struct event *const e = add(g, cls, 0, 1);

	add_field(g, e, SLICE_LIT("before"), value_u64(1));
	add_field(g, e, SLICE_LIT("payload"),
	          (struct value){ .type = VALUE_BYTES, .count = (uint32_t)n, .p = p });
	add_field(g, e, SLICE_LIT("behind"), value_u64(2));
	return e;
}

Test(interpret, layout_of_all_types)
{
	struct interpret_rig g;
	char little[128], big[128];

	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES | WANT_FIELDS);
	g.cls->plan = &all_layout;
	add_payload(&g, g.cls, little, all_bytes(little, false));
	add_payload(&g, g.cls, big, all_bytes(big, true))->flags = EVENT_BIG;
	run(&g);
	expect_all(&g, 0);
	expect_all(&g, 1);
	cr_assert_null(field(&g, 0, "rest"));
	cr_assert_eq(g.findings.ncounts, 0);
	stage_free(&g);
}

/* Payloads of each length: the fields that fit, then the remaining bytes; no byte of the payload is lost. */
Test(interpret, short_payloads)
{
	struct interpret_rig g;
	char bytes[128];
	const size_t size = all_bytes(bytes, false);

	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES | WANT_FIELDS);
	g.cls->plan = &all_layout;
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
	cr_assert_eq(findings_count(&g.findings, &input_rules[INPUT_RULE_PAYLOAD_SHORT]), size - 4);
	cr_assert_eq(findings_count(&g.findings, &input_rules[INPUT_RULE_PAYLOAD_LONG]), 2,
	             "half a number of the list is left");
	stage_free(&g);
}

Test(interpret, payload_that_should_not_be_there)
{
	static const struct plan none = { .has_layout = true, .payload = SLICE_LIT("payload") };
	struct interpret_rig g;

	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES | WANT_FIELDS);
	g.cls->plan = &none;
	add_payload(&g, g.cls, "abc", 3);
	struct event *const e = add(&g, g.cls, 0, 2);
	add_field(&g, e, SLICE_LIT("before"), value_u64(1));
	run(&g);
	cr_assert(slice_is(value_text(field(&g, 0, "rest")), "abc"));
	cr_assert_eq(g.batch.events[1].nfields, 1);
	cr_assert_eq(findings_count(&g.findings, &input_rules[INPUT_RULE_PAYLOAD_LONG]), 1);
	g.trace_ops.checks_payloads = true;
	batch_recycle(&g.batch);
	add_payload(&g, g.cls, "abc", 3);
	run(&g);
	cr_assert_eq(findings_count(&g.findings, &input_rules[INPUT_RULE_PAYLOAD_LONG]), 1,
	             "the reader says so itself");
	stage_free(&g);
}

/* ---- definitions and names ---- */

static const struct plan_define type_is = {
	.table = 0, .key = { SLICE_LIT("id") }, .nkeys = 1, .value = REF("label")
};
static const struct plan define_type = { .defines = &type_is, .ndefines = 1, .needs_fields = true };

static const struct plan_part looked_up[] = { { SLICE_LIT(""), LOOKED_UP("id", 0) } };
static const struct plan_part described[] = { { SLICE_LIT("type "), REF("id") },
	                                      { SLICE_LIT(" of \""), REF("kind") },
	                                      { .text = SLICE_LIT("\"") } };
static const struct plan_part plain[] = { { .text = SLICE_LIT("fixed") } };
static const struct plan_template names[] = { TEMPLATE(looked_up), TEMPLATE(described), TEMPLATE(plain) };
static const struct plan named_by_type = { .names = names, .nnames = 3, .needs_fields = true };

static void add_typed(struct interpret_rig *g, const struct class *cls, const struct track *track,
                      uint64_t id, const char *kind)
{
	struct event *const e = add(g, cls, 0, 5);

	e->track = track;
	add_field(g, e, SLICE_LIT("id"), value_u64(id));
	if (kind != NULL)
		add_field(g, e, SLICE_LIT("kind"), value_string(slice_str(kind)));
}

Test(interpret, names_from_definitions)
{
	struct interpret_rig g;
	char label[] = "first label";

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES | WANT_FIELDS);
	const struct track *const other = trace_add_process(&g.trace, SLICE_LIT("q"));
	const struct track *const elsewhere = trace_add_thread(&g.trace, other, 9, SLICE_LIT("c"));
	const struct class *const def = class_of(&g, "define", &define_type), *const use = class_of(
	                                                                          &g, "use", &named_by_type);
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
	static const struct plan_part neg[] = { { SLICE_LIT("a"), REF("i") },
		                                { SLICE_LIT(" b"), REF("f") },
		                                { SLICE_LIT(" c"), REF("at") },
		                                { SLICE_LIT(" d"), REF("yes") },
		                                { SLICE_LIT(" e"), REF("text") } };
	static const struct plan_template name = TEMPLATE(neg);
	static const struct plan m = { .names = &name, .nnames = 1, .needs_fields = true };
	struct interpret_rig g;
	char *const big = malloc(1 << 20);

	memset(big, 'x', 1 << 20);
	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES | WANT_FIELDS);
	g.cls->plan = &m;
	for (int i = 0; i < 2; i++) {
		struct event *const e = add(&g, g.cls, 0, 5);
		add_field(&g, e, SLICE_LIT("i"), (struct value){ .type = VALUE_I32, .i64 = -5 });
		add_field(&g, e, SLICE_LIT("f"), (struct value){ .type = VALUE_F64, .f64 = 0.1 });
		add_field(&g, e, SLICE_LIT("at"), (struct value){ .type = VALUE_ADDRESS, .u64 = 255 });
		add_field(&g, e, SLICE_LIT("yes"), (struct value){ .type = VALUE_BOOL, .u64 = 1 });
		add_field(&g, e, SLICE_LIT("text"),
		          value_string(i == 0 ? slice_str("\"\xff") : slice_of(big, 1 << 20)));
	}
	run(&g);
	cr_assert(slice_is(g.batch.events[0].name, "a-5 b0.1 c0xff dtrue e\"\xff"));
	cr_assert_eq(g.batch.events[0].name.flags, 0, "one piece is not plain");
	cr_assert_eq(g.batch.events[1].name.n, 4096, "what is put together is cut");
	free(big);
	stage_free(&g);
}

/* A name made of a number or a Bool is in the batch, which a span may outlive. */
Test(interpret, names_of_values_stay_in_their_batch)
{
	static const struct plan_part parts[] = { { .ref = REF("v") } };
	static const struct plan_template name = TEMPLATE(parts);
	static const struct value values[] = { { .type = VALUE_U64, .u64 = 7 },
		                               { .type = VALUE_BOOL, .u64 = 1 },
		                               { .type = VALUE_STRING, .p = "x", .count = 1 } };
	struct interpret_rig g;

	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES | WANT_FIELDS);
	for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
		struct slice text;
		bool lasting = true;
		struct event *const e = add(&g, g.cls, 0, 5);
		add_field(&g, e, SLICE_LIT("v"), values[i]);
		cr_assert(interpret_template(&g.in, &g.batch, e, &name, &text, &lasting) && !lasting, "%u",
		          i);
	}
	stage_free(&g);
}

Test(interpret, rules_for_names_of_events)
{
	static const struct plan_template fixed = TEMPLATE(plain);
	static const struct plan other = {
		.phase = PLAN_INSTANT, .names = &fixed, .nnames = 1, .named = SLICE_LIT("w*")
	};
	static const struct plan reads = { .phase = PLAN_BEGIN,
		                           .named = SLICE_LIT("r*"),
		                           .otherwise = &other };
	struct interpret_rig g;

	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES);
	g.cls->plan = &reads;
	add(&g, g.cls, 0, 1)->name = SLICE_LIT("read");
	add(&g, g.cls, 0, 1)->name = SLICE_LIT("write");
	add(&g, g.cls, 0, 1)->name = SLICE_LIT("stat");
	run(&g);
	cr_assert(g.batch.events[0].phase == PHASE_BEGIN && slice_is(g.batch.events[0].name, "read"));
	cr_assert(g.batch.events[1].phase == PHASE_INSTANT && slice_is(g.batch.events[1].name, "fixed"));
	cr_assert(g.batch.events[2].phase == PHASE_INSTANT && slice_is(g.batch.events[2].name, "stat"));
	stage_free(&g);
}

/* ---- tracks ---- */

static const struct plan_part worker_parts[] = { { SLICE_LIT("worker "), REF("w") } };
static const struct plan_part marks_parts[] = { { .text = SLICE_LIT("marks") } };
static const struct plan_track worker_lines[] = {
	{ .name = TEMPLATE(worker_parts), .number = REF("w"), .id = REF("tid") },
	{ .name = TEMPLATE(worker_parts), .number = REF("w") },
	{ .name = TEMPLATE(marks_parts), .child = true },
};
static const struct plan on_worker = { .tracks = worker_lines, .ntracks = 3, .needs_fields = true };

Test(interpret, time_lines)
{
	struct interpret_rig g;

	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES);
	g.cls->plan = &on_worker;
	for (int i = 0; i < 6; i++) {
		struct event *const e = add(&g, g.cls, i == 5, (uint64_t)i);
		if (i < 3)
			add_field(&g, e, SLICE_LIT("w"), value_u64(i == 0 ? 1 : 2));
		if (i < 2)
			add_field(&g, e, SLICE_LIT("tid"),
			          i == 0 ? value_string(SLICE_LIT("main")) : value_u64(77));
	}
	run(&g);
	const struct event *const e = g.batch.events;
	cr_assert(slice_is(e[0].track->name, "worker 1") && !e[0].track->has_id &&
	          e[0].track->parent == g.process);
	cr_assert(slice_is(e[1].track->name, "worker 2") && e[1].track->has_id && e[1].track->id == 77);
	cr_assert_eq(e[2].track, e[1].track, "the same name is the same line");
	cr_assert(slice_is(e[3].track->name, "a: marks") && e[3].track->is_child &&
	          e[3].track->parent == g.threads[0]);
	cr_assert_eq(e[4].track, e[3].track);
	cr_assert(slice_is(e[5].track->name, "b: marks"));
	stage_free(&g);
}

/* An id from a table is used if the table has it when the track is made; otherwise the track has no id,
 * and gets none later. */
static const struct plan_track looked_up_line = { .name = TEMPLATE(worker_parts),
	                                          .number = REF("w"),
	                                          .id = LOOKED_UP("w", 0) };
static const struct plan on_looked_up = { .tracks = &looked_up_line, .ntracks = 1, .needs_fields = true };
static const struct plan_define thread_is = {
	.table = 0, .key = { SLICE_LIT("w") }, .nkeys = 1, .value = REF("tid")
};
static const struct plan define_thread = { .defines = &thread_is, .ndefines = 1, .needs_fields = true };

Test(interpret, ids_of_time_lines_from_definitions)
{
	struct interpret_rig g;

	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES);
	const struct class *const def = class_of(&g, "define", &define_thread), *const use = class_of(
	                                                                            &g, "use", &on_looked_up);
	static const struct {
		uint64_t worker, tid; /* 0: the event is on the worker's line */
	} events[] = { { 1, 0 }, { 1, 77 }, { 1, 0 }, { 2, 78 }, { 2, 0 }, { 2, 79 }, { 2, 0 } };
	for (uint64_t i = 0; i < sizeof events / sizeof events[0]; i++) {
		struct event *const e = add(&g, events[i].tid != 0 ? def : use, 0, i);
		add_field(&g, e, SLICE_LIT("w"), value_u64(events[i].worker));
		if (events[i].tid != 0)
			add_field(&g, e, SLICE_LIT("tid"), value_u64(events[i].tid));
	}
	run(&g);
	const struct event *const e = g.batch.events;
	cr_expect(slice_is(e[0].track->name, "worker 1") && !e[0].track->has_id);
	cr_expect_eq(e[2].track, e[0].track);
	cr_expect(slice_is(e[4].track->name, "worker 2") && e[4].track->has_id && e[4].track->id == 78);
	cr_expect_eq(e[6].track, e[4].track);
	stage_free(&g);
}

Test(interpret, time_lines_are_bounded)
{
	struct interpret_rig g;
	const struct track *last = NULL;

	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES);
	g.cls->plan = &on_worker;
	for (uint64_t i = 0; i < TRACE_MAX_TRACKS; i++) {
		batch_recycle(&g.batch);
		add_field(&g, add(&g, g.cls, 0, i), SLICE_LIT("w"), value_u64(i));
		run(&g);
		last = g.batch.events[0].track;
	}
	cr_assert_leq(g.trace.ntracks, 65536 + 1, "%u", g.trace.ntracks);
	cr_assert(slice_is(last->name, "more tracks"));
	stage_free(&g);
}

/* Children of a thread have its name in theirs: a long one counts against the bytes of all names. */
Test(interpret, children_of_a_thread_of_a_long_name)
{
	static const struct plan_track child = { .name = TEMPLATE(worker_parts),
		                                 .number = REF("w"),
		                                 .child = true };
	static const struct plan on_child = { .tracks = &child, .ntracks = 1, .needs_fields = true };
	static char name[1 << 20];
	struct interpret_rig g;

	memset(name, 'x', sizeof name);
	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES);
	g.cls->plan = &on_child;
	g.trace.tracks[g.threads[0]->index]->name = slice_of(name, sizeof name);
	for (uint64_t i = 0; i < 100; i++) {
		batch_recycle(&g.batch);
		add_field(&g, add(&g, g.cls, 0, i), SLICE_LIT("w"), value_u64(i));
		run(&g);
	}
	cr_expect_leq(g.trace.ntracks, 10, "%u", g.trace.ntracks);
	cr_expect(slice_is(g.batch.events[0].track->name, "more tracks"));
	stage_free(&g);
}

/* An event without a track keeps the phase that the reader gave it, even if a rule applies to all events;
 * definitions are taken from it. */
Test(interpret, records_without_a_track)
{
	static const struct plan_define define = {
		.table = 2, .key = { SLICE_LIT("k") }, .nkeys = 1, .value = REF("v")
	};
	static const struct plan m = {
		.phase = PLAN_BEGIN, .pair = 1, .defines = &define, .ndefines = 1, .needs_fields = true
	};
	struct interpret_rig g;

	for (unsigned wanted = 0; wanted < 2; wanted++) {
		stage_init(&g, wanted != 0 ? INTERPRET_EVENTS : INTERPRET_SPANS,
		           WANT_TIMES | (wanted != 0 ? WANT_STRUCTURE | WANT_FIELDS : 0));
		g.cls->plan = &m;
		struct event *const e = add(&g, g.cls, 0, 5);
		e->track = NULL;
		e->phase = PHASE_STRUCTURE;
		add_field(&g, e, SLICE_LIT("k"), value_u64(1));
		add_field(&g, e, SLICE_LIT("v"), value_u64(8));
		run(&g);
		cr_assert_eq(g.batch.n, wanted);
		cr_assert(wanted == 0 || g.batch.events[0].phase == PHASE_STRUCTURE);
		cr_assert_eq(definitions_get(&g.trace.definitions, 2, DEFINITIONS_WHOLE_TRACE, 1, 0).u64, 8);
		stage_free(&g);
	}
}
