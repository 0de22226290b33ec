#include "output/text.h"
#include "run/meaning/test/interpret_stage_test.h"

/* The steps of a class (run/meaning/steps.c): names and tracks by fields, and by offsets in a payload;
 * caches. */

/* ---- remembered tracks ---- */

#define RULES 3
#define VALUES 4
#define ROUNDS 25

static const struct plan_part worker[] = { { .text = SLICE_LIT("worker "), .ref = REF("worker") } };

/* Three kinds of events of four workers in turn: the cache serves most of 300 look-ups. */
Test(interpret_steps, tracks_are_remembered)
{
	static const struct plan_track rule = { .name = TEMPLATE(worker), .number = REF("worker") };
	static const struct plan plan = { .phase = PLAN_INSTANT, .tracks = &rule, .ntracks = 1 };
	const struct class *classes[RULES];
	struct interpret_rig g;

	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES | WANT_FIELDS);
	for (size_t i = 0; i < RULES; i++)
		classes[i] = class_of(&g, (const char *[]){ "a", "b", "c" }[i], &plan);
	for (size_t n = 0; n < ROUNDS; n++) {
		batch_recycle(&g.batch);
		for (size_t i = 0; i < RULES * VALUES; i++)
			add_field(&g, add(&g, classes[i % RULES], 0, n), SLICE_LIT("worker"),
			          value_u64(i % VALUES));
		run(&g);
		for (size_t i = 0; i < RULES * VALUES; i++) {
			const char name[] = { 'w', 'o', 'r', 'k', 'e', 'r', ' ', (char)('0' + i % VALUES) };
			cr_assert(slice_equal(g.batch.events[i].track->name, slice_of(name, sizeof name)));
		}
	}
	cr_assert(g.in.track_misses >= RULES * VALUES && g.in.track_misses <= 3 * RULES * VALUES,
	          "%u look-ups are not remembered", (unsigned)g.in.track_misses);
	stage_free(&g);
}

/* ---- names and tracks from one field ---- */

static const uint64_t nobody[] = { 5 };
static const struct plan_part number[] = {
	{ .text = SLICE_LIT("worker "),
	  .ref = { .field = { SLICE_LIT("worker") }, .none = { { nobody, 1 } }, .nfields = 1 } },
};
static const struct plan_part place[] = { { .ref = REF("place") } };
static const struct plan_track by_number = {
	.name = TEMPLATE(number),
	.number = { .field = { SLICE_LIT("worker") }, .none = { { nobody, 1 } }, .nfields = 1 },
};
static const struct plan_template by_place = TEMPLATE(place);
static const struct plan polled = {
	.phase = PLAN_INSTANT, .tracks = &by_number, .ntracks = 1, .names = &by_place, .nnames = 1
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* Returns the text of the plan, or an equal one. */
static struct slice field_name(const struct plan_ref *r, bool own)
{
	return own ? r->field[0] : slice_is(r->field[0], "worker") ? SLICE_LIT("worker") : SLICE_LIT("place");
}

static void add_random(struct interpret_rig *g, struct event *e, uint64_t *seed)
{
	const struct slice stays = { "poll", 4, SLICE_STAYS }, other = SLICE_LIT("wait");
	const bool own = next_random(seed) % 4 > 0; /* readers do the same for all fields of a name */
	const uint64_t n = next_random(seed) % 4;

	for (uint64_t i = 0; i < n; i++) {
		const uint64_t v = next_random(seed) % 8, kind = next_random(seed) % 8;
		if (kind == 0)
			add_field(g, e, SLICE_LIT("else"), value_u64(v));
		else if (kind < 4)
			add_field(g, e, field_name(&place[0].ref, own),
			          kind == 1 ? value_u64(v) : value_string(v % 4 == 0 ? other : stays));
		else
			add_field(g, e, field_name(&number[0].ref, own),
			          kind == 4 ? value_string(other) : value_u64(v < 6 ? v : v + 26));
	}
}

/* Checks name and track against the plan, by the first field of each name. */
static void expect(const struct interpret_rig *g, const struct event *e, const struct track *own)
{
	const struct value *const v = interpret_field(&g->batch, e, SLICE_LIT("worker")),
	                          *const s = interpret_field(&g->batch, e, SLICE_LIT("place"));
	char track[32], name[32];

	snprintf(track, sizeof track, "%.*s", (int)own->name.n, own->name.p);
	if (v != NULL && v->type == VALUE_STRING)
		snprintf(track, sizeof track, "worker wait");
	else if (v != NULL && v->u64 != nobody[0])
		snprintf(track, sizeof track, "worker %u", (unsigned)v->u64);
	snprintf(name, sizeof name, "polled");
	if (s != NULL && s->type == VALUE_STRING)
		snprintf(name, sizeof name, "%.*s", (int)s->count, s->p);
	else if (s != NULL)
		snprintf(name, sizeof name, "%u", (unsigned)s->u64);
	cr_assert(slice_is(e->track->name, track), "%.*s, not %s", (int)e->track->name.n, e->track->name.p,
	          track);
	cr_assert(slice_is(e->name, name), "%.*s, not %s", (int)e->name.n, e->name.p, name);
	cr_assert(e->track == own || track_process(e->track) == track_process(own));
}

/* Events with fields that are missing, repeated, of another type or order, or absent by value. */
Test(interpret_steps, cached_fields_match_the_plan)
{
	for (uint64_t round = 0; round < 50; round++) {
		uint64_t seed = round;
		struct interpret_rig g;
		const struct track *own[16];

		stage_init(&g, INTERPRET_EVENTS, WANT_TIMES | WANT_FIELDS);
		const struct class *const cls = class_of(&g, "polled", &polled);
		g.threads[1] = trace_add_thread(&g.trace, trace_add_process(&g.trace, SLICE_LIT("q")), 2,
		                                SLICE_LIT("b"));
		for (unsigned n = 0; n < 60; n++) {
			batch_recycle(&g.batch);
			for (unsigned i = 0; i < 16; i++) {
				struct event *const e = add(&g, cls, next_random(&seed) % 4 == 0, n);
				own[i] = e->track;
				add_random(&g, e, &seed);
			}
			run(&g);
			for (unsigned i = 0; i < 16; i++)
				expect(&g, &g.batch.events[i], own[i]);
		}
		stage_free(&g);
	}
}

/* ---- payloads ---- */

static const struct plan_layout_field halves[] = {
	{ .name = SLICE_LIT("task"), .type = VALUE_U16 },
	{ .name = SLICE_LIT("place"), .type = VALUE_I8 },
};
static const struct plan_part task_label[] = { { .ref = LOOKED_UP("task", 2) } };
static const struct plan_part task_number[] = { { .text = SLICE_LIT("task "), .ref = REF("task") } };
static const struct plan_part place_number[] = { { .text = SLICE_LIT("at "), .ref = REF("place") } };
static const struct plan_template task_names[] = { TEMPLATE(task_label), TEMPLATE(task_number) };
static const struct plan_track at_place = { .name = TEMPLATE(place_number),
	                                    .number = REF("place"),
	                                    .child = true };
static const struct plan_define task_seen = {
	.table = 2, .key = { SLICE_LIT("place") }, .nkeys = 1, .value = REF("task")
};

/* Begins, ends and instants with payloads, some too short or too long.  want: of the consumer. */
static void interpret_payloads(struct interpret_rig *g, unsigned want, uint64_t seed, struct text *to)
{
	static struct plan plans[3];
	static const uint8_t phases[] = { PLAN_BEGIN, PLAN_END, PLAN_INSTANT };
	const struct class *classes[3];
	char payloads[32][4];

	stage_init(g, INTERPRET_SPANS, want);
	definitions_put(&g->trace.definitions, 2, DEFINITIONS_WHOLE_TRACE, 259, 0,
	                value_string(SLICE_LIT("label")));
	for (unsigned i = 0; i < 3; i++) {
		plans[i] = (struct plan){ .phase = phases[i],
			                  .has_layout = true,
			                  .payload = SLICE_LIT("payload"),
			                  .layout = halves,
			                  .nlayout = 2,
			                  .layout_size = 3,
			                  .names = task_names,
			                  .nnames = 2,
			                  .tracks = &at_place,
			                  .ntracks = 1,
			                  .pair = 1,
			                  .key = REF("task"),
			                  .needs_fields = true };
		plans[i].defines = &task_seen;
		plans[i].ndefines = i == 2;
		classes[i] = class_of(g, (const char *[]){ "b", "e", "i" }[i], &plans[i]);
	}
	for (unsigned n = 0; n < 20; n++) {
		batch_recycle(&g->batch);
		for (unsigned i = 0; i < 32; i++) {
			const uint64_t kind = next_random(&seed) % 3, size = next_random(&seed) % 8;
			struct event *const e = add(g, classes[kind], next_random(&seed) % 2, 32 * n + i);
			e->flags = next_random(&seed) % 2 ? EVENT_BIG : 0;
			for (unsigned k = 0; k < 4; k++)
				payloads[i][k] = (char)(next_random(&seed) % 4);
			add_field(g, e, SLICE_LIT("payload"),
			          (struct value){ .type = VALUE_BYTES,
			                          .count = size < 2 ? 2 + 2 * (uint32_t)size : 3,
			                          .p = payloads[i] });
		}
		run(g);
		for (unsigned i = 0; i < g->batch.n; i++) {
			const struct event *const e = &g->batch.events[i];
			text_printf(to, "%u %u %u %.*s %.*s\n", (unsigned)e->ts, (unsigned)e->dur, e->phase,
			            (int)e->name.n, e->name.p, (int)e->track->name.n, e->track->name.p);
		}
	}
	stage_free(g);
}

/* Fields that are read from the payload mean the same as decoded ones. */
Test(interpret_steps, payloads_match_their_fields)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct text read = { .p = NULL }, decoded = read;
		struct interpret_rig g;

		interpret_payloads(&g, WANT_TIMES, seed, &read);
		interpret_payloads(&g, WANT_TIMES | WANT_FIELDS, seed, &decoded);
		cr_assert(read.n > 0 && read.n == decoded.n && memcmp(read.p, decoded.p, read.n) == 0);
		text_free(&read);
		text_free(&decoded);
	}
}

static const struct plan_part type_label[] = {
	{ .ref = { .field = { SLICE_LIT("task") }, .nfields = 1, .ntables = 2, .tables = { 1, 2 } } },
};
static const struct plan_template type_name = TEMPLATE(type_label);

static void expect_names(struct interpret_rig *g, const struct class *cls, const char *const *names)
{
	batch_recycle(&g->batch);
	for (unsigned i = 0; i < 4; i++)
		add_field(g, add(g, cls, i % 2, i), SLICE_LIT("task"), value_u64(i / 2));
	run(g);
	for (unsigned i = 0; i < 4; i++)
		cr_assert(slice_is(g->batch.events[i].name, names[i]), "%u: %.*s, not %s", i,
		          (int)g->batch.events[i].name.n, g->batch.events[i].name.p, names[i]);
}

/* A cached look-up ends when one of its tables changes: the first table is of a thread, the second of the
 * trace. */
Test(interpret_steps, look_ups_follow_their_tables)
{
	static const struct plan named = { .phase = PLAN_INSTANT, .names = &type_name, .nnames = 1 };
	struct interpret_rig g;

	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES | WANT_FIELDS);
	struct definitions *const d = &g.trace.definitions;
	const struct class *const cls = class_of(&g, "c", &named);
	const uint32_t a = g.threads[0]->index, b = g.threads[1]->index;
	expect_names(&g, cls, (const char *[]){ "c", "c", "c", "c" });
	definitions_put(d, 1, a, 0, 0, value_u64(7));
	definitions_put(d, 1, b, 0, 0, value_u64(8));
	expect_names(&g, cls, (const char *[]){ "c", "c", "c", "c" });
	definitions_put(d, 2, DEFINITIONS_WHOLE_TRACE, 7, 0, value_string(SLICE_LIT("seven")));
	expect_names(&g, cls, (const char *[]){ "seven", "c", "c", "c" });
	definitions_put(d, 1, b, 0, 0, value_u64(7));
	definitions_put(d, 1, b, 1, 0, value_u64(UINT64_MAX));
	definitions_put(d, 2, DEFINITIONS_WHOLE_TRACE, UINT64_MAX, 0, value_string(SLICE_LIT("max")));
	expect_names(&g, cls, (const char *[]){ "seven", "seven", "c", "max" });
	definitions_put(d, 2, DEFINITIONS_WHOLE_TRACE, 7, 0, value_string(SLICE_LIT("other")));
	definitions_put(d, 1, b, 1, 0, value_u64(7));
	expect_names(&g, cls, (const char *[]){ "other", "other", "c", "other" });
	stage_free(&g);
}

/* An event that repeats what its class said before says it again if another class said otherwise meanwhile.
 * The first rule for tracks lacks its field. */
Test(interpret_steps, repeated_definitions)
{
	static const struct plan_define define = {
		.table = 2, .key = { SLICE_LIT("worker") }, .nkeys = 1, .value = REF("tid")
	};
	static const struct plan_part host[] = { { .ref = REF("host") } };
	static const struct plan_track rules[] = { { .name = TEMPLATE(host), .number = REF("host") },
		                                   { .name = TEMPLATE(worker), .number = REF("worker") } };
	static const struct plan plan = {
		.phase = PLAN_INSTANT, .defines = &define, .ndefines = 1, .tracks = rules, .ntracks = 2
	};
	static const uint64_t tids[] = { 5, 5, 6, 5, 5, UINT64_MAX, 5, 5 };
	struct interpret_rig g;

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES);
	g.in.unnamed = true; /* so that steps_direct() does */
	const struct class *const classes[] = { class_of(&g, "a", &plan), class_of(&g, "b", &plan) };
	for (unsigned i = 0; i < sizeof tids / sizeof *tids; i++) {
		batch_recycle(&g.batch);
		struct event *const e = add(&g, classes[i == 2 || i == 5], 0, i);
		add_field(&g, e, SLICE_LIT("worker"), value_u64(1));
		add_field(&g, e, SLICE_LIT("tid"), value_u64(tids[i]));
		run(&g);
		cr_assert_eq(definitions_get(&g.trace.definitions, 2, DEFINITIONS_WHOLE_TRACE, 1, 0).u64,
		             tids[i], "%u", i);
		cr_assert(slice_is(g.batch.events[0].track->name, "worker 1"));
	}
	stage_free(&g);
}
