#include "ovni/ovni_state.h"

const struct rule ovni_rules[OVNI_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "ovni/ovni_rules.def"
#undef RULE
	{ .id = NULL }
};

static const char *const suffixes[] = { ".obs", NULL };

static const char *const groups[] = { "format", "hygiene", "state", NULL };

static const struct format_option options[] = {
	{ "rules", "GROUP", "findings by these rules too: format and hygiene (both always on), state",
	  groups },
	{ "clock-offsets", "FILE",
	  "how far the clocks of hosts are to be moved (default: clock-offsets.txt in the folder)", NULL },
	{ NULL, NULL, NULL, NULL },
};

bool
ovni_wants_state(const struct option_value *list)
{
	for (; list != NULL; list = list->next)
		if (strcmp(list->name, "rules") == 0 && strcmp(list->value, "state") == 0)
			return true;
	return false;
}

extern const struct format ovni_format;

const struct format ovni_format = {
	.name = "ovni",
	.title = "ovni trace stream",
	.spec = "ovni trace specification v3",
	.suffixes = suffixes,
	.options = options,
	.reader = &ovni_reader_ops,
	.trace = &ovni_trace_ops,
	.rules = ovni_rules,
};
