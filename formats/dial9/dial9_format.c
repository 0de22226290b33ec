#include "dial9/dial9_state.h"

const struct rule d9_rules[D9_RULE_COUNT] = {
#define RULE(name, id, level, text, spec, explain) { id, LEVEL_##level, text, spec, explain },
#include "dial9/dial9_rules.def"
#undef RULE
};

static const struct rule *const rule_list[] = {
#define RULE(name, id, level, text, spec, explain) &d9_rules[D9_RULE_##name],
#include "dial9/dial9_rules.def"
#undef RULE
	NULL
};

static const char *const suffixes[] = { ".bin", NULL };
const char *const d9_dialects[] = { [D9_0_3] = "0.3", [D9_0_4] = "0.4", NULL };

extern const struct format dial9_format;

const struct format dial9_format = {
	.name = "dial9",
	.title = "dial9 trace",
	.spec = "dial9-trace-format binary specification, version 1",
	.suffixes = suffixes,
	.dialects = d9_dialects,
	.reader = &d9_reader_ops,
	.rules = rule_list,
};
