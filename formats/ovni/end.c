#include <inttypes.h>

#include "ovni/end.h"
#include "ovni/format.h"
#include "ovni/state.h"
#include "ovni/state/check.h"

void
ovni_report_clocks(const struct ovni_state *st)
{
	struct findings *const j = st->r->findings;
	const struct finding_tally *t = &st->unsorted;

	finding_add_times(j, &ovni_rules[OVNI_RULE_NEEDS_SORTING], t->offset, t->record, t->count,
	                  "clock %" PRIu64 " after %" PRIu64 " between OU[ and OU]", t->now, t->before);
	t = &st->large;
	finding_add_times(j, &ovni_rules[OVNI_RULE_CLOCK_LARGE], t->offset, t->record, t->count,
	                  "clock %" PRIu64, t->now);
	t = &st->below_zero;
	finding_add_times(j, &ovni_rules[OVNI_RULE_CLOCK_BELOW_ZERO], t->offset, t->record, t->count,
	                  "clock %" PRIu64 " with the offset %" PRId64 " of its host", t->now, st->offset);
}

void
ovni_check_end(const struct ovni_state *st)
{
	struct reader *const r = st->r;
	const uint64_t here = input_offset(r->in, r->in->p), n = r->records;

	if (st->in_region)
		finding_add(r->findings, &ovni_rules[OVNI_RULE_REGION_UNMATCHED], st->region_offset,
		            st->region_record, "OU[ without OU] after it");
	if (n > 0 && !st->ended)
		finding_add(r->findings, &ovni_rules[OVNI_RULE_NO_THREAD_END], here, n,
		            "%" PRIu64 " event%s and no OHe", n, n == 1 ? "" : "s");
	if (n > 0)
		return;
	finding_add(r->findings, &ovni_rules[OVNI_RULE_NO_EVENTS], here, 0, "nothing follows the header");
	if (((const struct ovni_shared *)r->shared)->check_state)
		state_check_no_events(r);
}
