#include "out/kind.h"

#include <criterion/criterion.h>

Test(out_kind, phases_and_flags)
{
	static const struct {
		uint8_t phase, flags;
		enum event_kind kind;
	} cases[] = {
		{ PHASE_SPAN, 0, EVENT_KIND_SPAN },
		{ PHASE_SPAN, EVENT_ASYNC, EVENT_KIND_ASYNC },
		{ PHASE_BEGIN, 0, EVENT_KIND_BEGIN },
		{ PHASE_END, 0, EVENT_KIND_END },
		{ PHASE_INSTANT, EVENT_ARROW, EVENT_KIND_INSTANT },
		{ PHASE_COUNTER, 0, EVENT_KIND_COUNTER },
		{ PHASE_FLOW_OUT, EVENT_STEP, EVENT_KIND_ARROW_OUT },
		{ PHASE_FLOW_IN, 0, EVENT_KIND_ARROW_IN },
		{ PHASE_FLOW_IN, EVENT_STEP, EVENT_KIND_ARROW_STEP },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct event e = { .phase = cases[i].phase, .flags = cases[i].flags };
		cr_assert_eq(event_kind(&e), cases[i].kind);
		cr_assert_eq(kind_is_span(cases[i].kind), e.phase == PHASE_SPAN);
		cr_assert_eq(kind_is_arrow(cases[i].kind), event_is_flow(&e));
	}
}

/* In each naming the names of kinds are unique and found again; an event of a kind has that kind. */
Test(out_kind, names_round_trip)
{
	for (unsigned k = 0; k < EVENT_KINDS; k++) {
		struct event e = { .phase = PHASE_STRUCTURE, .flags = EVENT_ASYNC | EVENT_STEP };
		for (unsigned n = 0; n < KIND_NAMINGS; n++)
			cr_assert_eq(event_kind_named(event_kind_row(k)->names[n], (enum kind_naming)n), k);
		event_set_kind(&e, (enum event_kind)k);
		cr_assert_eq(event_kind(&e), k);
	}
	cr_assert_str_eq(event_kind_name(EVENT_KIND_ARROW_STEP), "flow_step");
	cr_assert_eq(event_kind_named(slice_str("arrow step"), KIND_NAME), EVENT_KINDS);
	cr_assert_eq(event_kind_named(slice_str("structure"), KIND_WORDS), EVENT_KINDS, "it is no event");
	cr_assert_eq(event_kind_named(slice_of(NULL, 0), KIND_PART), EVENT_KINDS);
}
