#include "output/text.h"
#include "run/meaning/test/interpret_stage_test.h"

/* The cache of time lines (run/meaning/tracks.c): its misses; and the steps of a class (run/meaning/steps.c):
 * names and tracks by fields, and by offsets in a payload. */

#define RULES 3
#define VALUES 4
#define DISTANCES 1024 /* distances of two rules in memory, in multiples of 8 bytes */
#define LOOK_UPS (RULES * VALUES * ROUNDS)
#define ROUNDS 25

static const struct plan_part worker[] = { { .text = SLICE_LIT("worker "), .ref = REF("worker") } };

/* Three kinds of events of four workers in turn.  A correct cache misses each pair of rule and worker once.
 */
static uint64_t misses(const struct plan_track *const *rules)
{
	struct plan plans[RULES];
	const struct class *classes[RULES];
	struct interpret_rig g;

	stage_init(&g, INTERPRET_EVENTS, WANT_TIMES | WANT_FIELDS);
	for (size_t i = 0; i < RULES; i++) {
		const char name[] = { (char)('a' + i), '\0' };
		plans[i] = (struct plan){ .phase = PLAN_INSTANT, .tracks = rules[i], .ntracks = 1 };
		classes[i] = class_of(&g, name, &plans[i]);
	}
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
	const uint64_t found = g.in.line_misses;
	stage_free(&g);
	return found;
}

/* For any distance of the rules.  As addresses differ between runs, three keys may share a pair of slots by
 * chance. */
Test(interpret_lines, three_rules_and_four_values_stay_in_the_cache)
{
	static const struct plan_track rule = { .name = TEMPLATE(worker), .number = REF("worker") };
	static uint64_t memory[(RULES - 1) * (sizeof rule / 8 + DISTANCES) + sizeof rule / 8];
	const struct plan_track *rules[RULES];
	uint64_t all = 0;

	for (size_t k = 0; k < DISTANCES; k++) {
		for (size_t i = 0; i < RULES; i++)
			rules[i] = memcpy(memory + i * (sizeof rule / 8 + k), &rule, sizeof rule);
		const uint64_t n = misses(rules);
		cr_assert_leq(n, LOOK_UPS / 3, "distance %zu: %zu of %d look-ups miss", k, (size_t)n,
		              LOOK_UPS);
		all += n;
	}
	cr_assert_leq(all, (uint64_t)DISTANCES * LOOK_UPS / 20, "%zu of %d look-ups miss", (size_t)all,
	              DISTANCES * LOOK_UPS);
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
Test(interpret_lines, cached_fields_match_the_plan)
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
	static const enum plan_phase phases[] = { PLAN_BEGIN, PLAN_END, PLAN_INSTANT };
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
Test(interpret_lines, payloads_match_their_fields)
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
