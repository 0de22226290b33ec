#include "heph/finding.h"

#include "heph/packet.h"
#include "heph/state.h"

const struct rule heph_rules[HEPH_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "heph/rules.def"
#undef RULE
	{ .id = NULL }
};

void
heph_finding_add(struct heph_state *st, enum heph_rule rule, const struct heph_packet *k, const char *at,
                 const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(st->r->findings, &heph_rules[rule], k->offset + (uint64_t)(at - k->p), k->ordinal, fmt,
	              ap);
	va_end(ap);
}

bool
heph_finding_is_shown(const struct heph_state *st, enum heph_rule rule)
{
	return finding_is_shown(st->r->findings, &heph_rules[rule]);
}

void
heph_report_past_packet(struct heph_state *st, const struct heph_packet *k, const char *at, const char *what,
                        uint64_t n, uint64_t room)
{
	heph_finding_add(st, HEPH_RULE_PAST_PACKET, k, at,
	                 "%s needs %" PRIu64 " bytes, %" PRIu64 " remain in the packet of %" PRIu64, what, n,
	                 room, (uint64_t)(k->end - k->p));
}

void
heph_report_text(struct heph_state *st, const struct heph_packet *k, const char *what, struct slice s)
{
	struct quoted q = { .s = "" };

	if (heph_finding_is_shown(st, HEPH_RULE_INVALID_UTF8))
		quoted(&q, s);
	heph_finding_add(st, HEPH_RULE_INVALID_UTF8, k, s.p, "%s is %s", what, q.s);
}
