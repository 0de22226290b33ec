#include "ovni/rules.h"

const struct rule ovni_rules[OVNI_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "ovni/rules.def"
#undef RULE
	{ .id = NULL }
};

/* The same rows, as errors: for what ovniemu refuses and the specification does not. */
static const struct rule refused[OVNI_RULE_COUNT] = {
#define ERROR_ROW(name, id, level, text, spec, explain) RULE_ROW(name, id, ERROR, text, spec, explain)
#define RULE ERROR_ROW
#include "ovni/rules.def"
#undef RULE
#undef ERROR_ROW
};

bool
ovni_group_selected(const struct option_value *list, const char *group)
{
	for (; list != NULL; list = list->next)
		if (strcmp(list->name, "check") == 0 && strcmp(list->value, group) == 0)
			return true;
	return false;
}

void
ovni_report_refused(struct reader *r, enum ovni_rule rule, const char *fmt, ...)
{
	const bool strict = ovni_group_selected(r->options, "state");
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(r->findings, strict ? &refused[rule] : &ovni_rules[rule], 0, 0, fmt, ap);
	va_end(ap);
}

void
ovni_report(struct reader *r, enum ovni_rule rule, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(r->findings, &ovni_rules[rule], 0, 0, fmt, ap);
	va_end(ap);
}
