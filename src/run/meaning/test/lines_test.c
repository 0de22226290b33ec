#include "run/meaning/test/interpret_stage_test.h"

/* The cache of time lines (run/meaning/tracks.c): how often it is missed. */

#define RULES 3
#define VALUES 4
#define DISTANCES 1024 /* of two rules in memory: multiples of 8 bytes */
#define LOOK_UPS (RULES * VALUES * ROUNDS)
#define ROUNDS 25

static const struct plan_part worker[] = { { .text = SLICE_LIT("worker "), .ref = REF("worker") } };

/* Three kinds of events of four workers in turn.  A cache without a fault misses each pair of rule and worker
 * once. */
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

/* At any distance of the rules.  As addresses differ from run to run, three keys may share a pair of slots by
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
