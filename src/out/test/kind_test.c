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
