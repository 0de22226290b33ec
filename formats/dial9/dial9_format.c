#include "dial9/dial9_state.h"

const struct rule d9_rules[D9_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "dial9/dial9_rules.def"
#undef RULE
	{ .id = NULL }
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
	.rules = d9_rules,
};
