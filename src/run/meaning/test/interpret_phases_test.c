#include "run/meaning/test/interpret_stage_test.h"

/* Interpreted events: spans, states, counters, arrows, facts. */

static const struct plan mean_begin = { .phase = PLAN_BEGIN, .pair = 1 },
                         mean_end = { .phase = PLAN_END, .pair = 1 };
static const struct plan running = { .phase = PLAN_STATE, .state = 3, .state_name = SLICE_LIT("life") };
static const struct plan ended = { .phase = PLAN_STATE_END, .state = 3, .state_name = SLICE_LIT("life") };

Test(interpret_phases, begin_and_end)
{
	struct interpret_rig g;

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
	cr_assert(s->phase == PHASE_SPAN && s->ts == 10 && s->dur == 10 && s->cls == b &&
	          slice_is(s->name, "b"));
	cr_assert(g.batch.events[2].phase == PHASE_INSTANT && g.batch.events[2].cls == e,
	          "an end of nothing");
	run_out(&g);
	cr_assert(g.batch.n == 1 && g.batch.events[0].ts == 12);
	cr_assert_eq(g.batch.events[0].dur, 9, "to the last time");
	cr_assert_eq(g.in.pairing.unpaired, 2);
	cr_assert_eq(g.in.pairing.ledger.n, 2);
	stage_free(&g);
}

Test(interpret_phases, states)
{
	struct interpret_rig g;

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES | WANT_FIELDS);
	const struct class *const r = class_of(&g, "r", &running), *const e = class_of(&g, "e", &ended);
	add(&g, r, 0, 10);
	add(&g, r, 0, 20)->name = SLICE_LIT("asleep");
	add(&g, e, 0, 50);
	add(&g, r, 0, 60);
	add(&g, r, 1, 65);
	run(&g);
	cr_assert_eq(g.batch.n, 2);
	cr_assert(g.batch.events[0].ts == 10 && g.batch.events[0].dur == 10 &&
	          slice_is(g.batch.events[0].name, "r"));
	cr_assert(g.batch.events[1].ts == 20 && g.batch.events[1].dur == 30 &&
	          slice_is(g.batch.events[1].name, "asleep"));
	cr_assert(slice_is(g.batch.events[0].track->name, "a: life") &&
	          g.batch.events[1].track == g.batch.events[0].track);
	batch_recycle(&g.batch);
	add(&g, g.cls, 0, 90);
	run(&g);
	run_out(&g);
	cr_assert_eq(g.batch.n, 2);
	cr_assert(g.batch.events[0].ts == 60 && g.batch.events[0].dur == 30,
	          "as long as its thread is heard of");
	cr_assert_eq(g.in.pairing.unpaired, 0);
	stage_free(&g);
}

Test(interpret_phases, spans_counters_structure)
{
	static const struct slice values[] = { SLICE_LIT("n") };
	static const struct plan span = { .phase = PLAN_SPAN,
		                          .duration = SLICE_LIT("d"),
		                          .needs_fields = true };
	static const struct plan one = { .phase = PLAN_COUNTER, .values = values, .nvalues = 1 };
	static const struct plan all = { .phase = PLAN_COUNTER };
	static const struct plan structure = { .phase = PLAN_STRUCTURE };
	const struct plan *const vocabularies[] = { &span, &one, &all, &structure };
	static const char *const class_names[] = { "span", "one", "all", "structure" };
	struct interpret_rig g;

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES | WANT_FIELDS);
	for (unsigned i = 0; i < 4; i++) {
		struct event *const e =
		    add(&g, class_of(&g, class_names[i], vocabularies[i]), 0, UINT64_MAX - 5);
		add_field(&g, e, SLICE_LIT("m"), value_u64(1));
		add_field(&g, e, SLICE_LIT("d"), value_u64(i == 0 ? 4 : 9));
		add_field(&g, e, SLICE_LIT("n"), (struct value){ .type = VALUE_I32, .i64 = -3 });
		add_field(&g, e, SLICE_LIT("text"), value_string(SLICE_LIT("x")));
	}
	add_field(&g, add(&g, trace_name_class(&g.trace, SLICE_LIT("span")), 0, UINT64_MAX - 5),
	          SLICE_LIT("d"), value_u64(9));
	run(&g);
	const struct event *const e = g.batch.events;
	cr_assert_eq(g.batch.n, 4, "structure was not asked for");
	cr_assert(e[0].phase == PHASE_SPAN && e[0].dur == 4 && e[0].nfields == 3 &&
	          field(&g, 0, "d") == NULL);
	cr_assert(e[1].phase == PHASE_COUNTER && e[1].nfields == 1 && field(&g, 1, "n")->i64 == -3);
	cr_assert(e[2].phase == PHASE_COUNTER && e[2].nfields == 3);
	cr_assert(e[3].phase == PHASE_SPAN && e[3].dur == 5 && field(&g, 3, "d")->u64 == 9,
	          "cut where time ends");
	stage_free(&g);
}

/* A list of numbers becomes a series for each number; other lists become none. */
Test(interpret_phases, counters_of_lists)
{
	static const struct slice two[] = { SLICE_LIT("n"), SLICE_LIT("odd") };
	static const struct plan plan = { .phase = PLAN_COUNTER, .values = two, .nvalues = 2 };
	struct value numbers[3], odd[2] = { value_u64(1), value_string(SLICE_LIT("x")) };
	struct interpret_rig g;

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES | WANT_FIELDS);
	for (uint64_t i = 0; i < 3; i++)
		numbers[i] = value_u64(70 + i);
	struct event *const e = add(&g, class_of(&g, "list", &plan), 0, 5);
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

Test(interpret_phases, epoch_and_facts)
{
	static const struct plan m = { .epoch = SLICE_LIT("wall"),
		                       .facts = SLICE_LIT("entries"),
		                       .needs_fields = true };
	struct value map[1200];
	char keys[600][8];
	struct interpret_rig g;

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES | WANT_FIELDS);
	g.cls->plan = &m;
	for (unsigned i = 0; i < 600; i++) {
		snprintf(keys[i], sizeof keys[i], "k%u", i % 550);
		map[2 * i] = value_string(slice_str(keys[i]));
		map[2 * i + 1] = value_u64(i);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct event *const e = add(&g, g.cls, 0, 100 + i);
		add_field(&g, e, SLICE_LIT("wall"), value_u64(5000));
		add_field(&g, e, SLICE_LIT("entries"),
		          (struct value){ .type = VALUE_MAP, .count = 600, .values = map });
	}
	run(&g);
	cr_assert(g.trace.epoch_known && g.trace.epoch_ns == 4900, "the first counts");
	cr_assert_eq(g.trace.nmeta, 512);
	cr_assert(slice_is(g.trace.meta[3].name, "k3") && g.trace.meta[3].value.u64 == 3);
	stage_free(&g);
}

Test(interpret_phases, arrows)
{
	static const struct plan wakes = { .flow_name = SLICE_LIT("wake"),
		                           .flow_out = SLICE_LIT("task"),
		                           .needs_fields = true };
	static const struct plan runs = { .phase = PLAN_BEGIN,
		                          .pair = 1,
		                          .flow_name = SLICE_LIT("wake"),
		                          .flow_in = SLICE_LIT("task"),
		                          .needs_fields = true };
	struct interpret_rig g;

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES | WANT_FIELDS);
	const struct class *const w = class_of(&g, "w", &wakes), *const r = class_of(&g, "r", &runs);
	add_field(&g, add(&g, w, 0, 10), SLICE_LIT("task"), value_u64(4));
	add_field(&g, add(&g, r, 1, 15), SLICE_LIT("task"), value_u64(4));
	run(&g);
	cr_assert_eq(g.batch.n, 1);
	run_out(&g);
	cr_assert_eq(g.batch.n, 3);
	cr_assert(g.batch.events[1].phase == PHASE_FLOW_OUT && g.batch.events[1].track == g.threads[0] &&
	          g.batch.events[1].ts == 10);
	cr_assert(g.batch.events[2].phase == PHASE_FLOW_IN && g.batch.events[2].track == g.threads[1] &&
	          g.batch.events[2].ts == 15);
	cr_assert_eq(g.batch.events[1].dur, g.batch.events[2].dur);
	stage_free(&g);
}

Test(interpret_phases, who_means_it_himself_is_left_alone)
{
	struct interpret_rig g;

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES);
	const struct class *const b = class_of(&g, "b", &mean_begin);
	add(&g, b, 0, 1);
	run(&g);
	cr_assert_eq(g.batch.n, 0);
	struct class *const own = class_of(&g, "own", &mean_begin);
	own->reader_applies = true;
	add(&g, own, 0, 1);
	run(&g);
	cr_assert(g.batch.n == 1 && g.batch.events[0].phase == PHASE_INSTANT);
	stage_free(&g);
}

static const struct plan_part looked_up[] = { { .ref = LOOKED_UP("id", 2) } };
static const struct plan_template named_by_table[] = { TEMPLATE(looked_up) };
static const struct plan table_begin = { .phase = PLAN_BEGIN,
	                                 .pair = 1,
	                                 .names = named_by_table,
	                                 .nnames = 1 },
                         table_end = { .phase = PLAN_END, .pair = 1, .names = named_by_table, .nnames = 1 };

/* A span has the name of its begin; the name of an end is looked up only if it ends no span. */
Test(interpret_phases, names_of_ends)
{
	struct interpret_rig g;

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES | WANT_FIELDS);
	const struct class *const b = class_of(&g, "b", &table_begin), *const e =
	                                                                   class_of(&g, "e", &table_end);
	definitions_put(&g.trace.definitions, 2, DEFINITIONS_WHOLE_TRACE, 7, 0,
	                value_string(SLICE_LIT("seven")));
	g.trace.definitions.forgotten = 1;
	for (unsigned i = 0; i < 4;
	     i++) /* a begin, its end, an unpaired end, an unpaired end without a name */
		add_field(&g, add(&g, i == 0 ? b : e, 0, i), SLICE_LIT("id"), value_u64(i == 2 ? 7 : 8));
	run(&g);
	cr_assert_eq(g.batch.n, 3);
	cr_assert(g.batch.events[0].phase == PHASE_SPAN && slice_is(g.batch.events[0].name, "b"));
	cr_assert(g.batch.events[1].phase == PHASE_INSTANT && slice_is(g.batch.events[1].name, "seven"));
	cr_assert(g.batch.events[2].phase == PHASE_INSTANT && slice_is(g.batch.events[2].name, "e"));
	const struct ledger *const losses = &g.in.pairing.ledger;
	for (size_t i = 0; i < losses->n; i++)
		if (strcmp(losses->rows[i].loss->id, "names/forgotten") == 0)
			cr_assert_eq(losses->rows[i].count, 2, "of the begin, and of the end of nothing");
	cr_assert_eq(losses->n, 2, "these, and ends of nothing");
	stage_free(&g);
}

/* If no consumer reads names, nothing is looked up for them; times and tracks are the same. */
Test(interpret_phases, unnamed)
{
	struct interpret_rig g;

	stage_init(&g, INTERPRET_SPANS, WANT_TIMES);
	g.in.unnamed = true;
	const struct class *const b = class_of(&g, "b", &table_begin), *const e =
	                                                                   class_of(&g, "e", &table_end);
	definitions_put(&g.trace.definitions, 2, DEFINITIONS_WHOLE_TRACE, 7, 0,
	                value_string(SLICE_LIT("seven")));
	for (unsigned i = 0; i < 3; i++)
		add_field(&g, add(&g, i == 0 ? b : e, 0, i), SLICE_LIT("id"), value_u64(7));
	run(&g);
	cr_assert_eq(g.batch.n, 2);
	cr_assert(g.batch.events[0].phase == PHASE_SPAN && g.batch.events[0].dur == 1 &&
	          slice_is(g.batch.events[0].name, "b"));
	cr_assert(g.batch.events[1].phase == PHASE_INSTANT && slice_is(g.batch.events[1].name, "e"));
	stage_free(&g);
}
