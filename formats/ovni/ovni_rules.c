#include "ovni/ovni_rules.h"

const struct rule ovni_rules[OVNI_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "ovni/ovni_rules.def"
#undef RULE
	{ .id = NULL }
};

void
ovni_report(struct reader *r, enum ovni_rule rule, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(r->findings, &ovni_rules[rule], 0, 0, fmt, ap);
	va_end(ap);
}
