#include "ovni/state/parts.h"

/* Marks and hardware counters, which metadata declares. */

/* K2, K4, K5: the type is declared, and of the kind that the event is for. */
static bool
check_mark_type(const struct state_event *x, uint32_t type)
{
	static const struct ovni_mark none;
	const struct ovni_system *const s = x->checker->system;
	const struct ovni_mark *const mark = type < OVNI_MARK_TYPES ? &s->marks[type] : &none;
	const char *const wanted = x->code->action == STATE_SET ? "single" : "stack";

	if (mark->title.p == NULL) {
		if (s->in_folder)
			state_report(x, OVNI_RULE_MARK_UNDECLARED,
			             "mark type %" PRId32 " is not declared in any stream.json",
			             (int32_t)type);
		return type < OVNI_MARK_TYPES;
	}
	if (slice_is(mark->chan_type, wanted))
		return true;
	state_report(x, OVNI_RULE_MARK_KIND,
	             "%s requires chan_type \"%s\", which mark type %" PRIu32 " does not have", state_name(x),
	             wanted, type);
	return false;
}

void
state_check_mark(const struct state_event *x)
{
	const struct state_code *const c = x->code;

	if (c->at_mark == STATE_NOWHERE || c->at_value == STATE_NOWHERE ||
	    !state_has_payload(x, c->least, true))
		return;
	const uint32_t type = state_u32(x, c->at_mark);
	const uint64_t value = load_u64(x->payload.p + c->at_value, x->stream->big);
	if (!check_mark_type(x, type))
		return;
	if (value == 0)
		state_report(x, OVNI_RULE_MARK_ZERO, "a mark of type %" PRIu32 " has the value 0", type);
	if (c->action == STATE_PUSH)
		state_push(x, (uint8_t)(STATE_STACK_MARKS + type), value, false, false);
	else if (c->action == STATE_POP)
		state_pop(x, (uint8_t)(STATE_STACK_MARKS + type), value, false);
}

/* HW1, HW2. */
void
state_check_counters(const struct state_event *x)
{
	const struct ovni_system *const s = x->checker->system;

	if (!state_is_jumbo(x))
		return;
	if (s->ncounters == 0) {
		if (s->in_folder)
			state_report(x, OVNI_RULE_COUNTERS_UNDECLARED, "%s, but no stream.json has nosv.hwc",
			             state_name(x));
		return;
	}
	state_has_payload(x, 8 * s->ncounters, true);
}
