#include "htdump/finding.h"

#include "htdump/record.h"
#include "htdump/state.h"

const struct rule ht_rules[HT_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "htdump/rules.def"
#undef RULE
	{ .id = NULL }
};

void
ht_finding_add(struct ht_state *st, enum ht_rule rule, const struct ht_record *rec, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(st->r->findings, &ht_rules[rule], rec->offset, rec->ordinal, fmt, ap);
	va_end(ap);
}

bool
ht_finding_is_shown(const struct ht_state *st, enum ht_rule rule)
{
	return finding_is_shown(st->r->findings, &ht_rules[rule]);
}
