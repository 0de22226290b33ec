#include "ovni/state/parts.h"

/* What all checks of an event use: its payload, and reports about it. */

void
state_report(const struct state_event *x, enum ovni_rule rule, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(x->r->findings, &ovni_rules[rule], x->e->offset, 0, fmt, ap);
	va_end(ap);
}

bool
state_has_payload(const struct state_event *x, uint32_t n, bool exact)
{
	if (x->too_large)
		return false;
	if (x->payload.n == n || (x->payload.n > n && !exact))
		return true;
	state_report(x, OVNI_RULE_PAYLOAD_REFUSED, "%s has %" PRIu32 " bytes of payload, expected %s%" PRIu32,
	             state_name(x), x->payload.n, exact ? "" : "at least ", n);
	return false;
}

bool
state_is_jumbo(const struct state_event *x)
{
	if (!x->jumbo)
		state_report(x, OVNI_RULE_PAYLOAD_REFUSED, "%s is not a jumbo event", state_name(x));
	return x->jumbo;
}

uint32_t
state_u32(const struct state_event *x, uint8_t place)
{
	return place != STATE_NOWHERE && place + 4U <= x->payload.n
	           ? load_u32(x->payload.p + place, x->stream->big)
	           : 0;
}

void
state_no_memory(const struct state_event *x)
{
	x->checker->system->no_memory = true;
}

void
state_limit(const struct state_event *x, const char *what, uint32_t most)
{
	ovni_system_limit(x->checker->system, x->r, what, most);
}
