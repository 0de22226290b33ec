#include "heph/heph_state.h"

const struct rule heph_rules[HEPH_RULE_COUNT] = {
#define RULE(name, id, level, text, spec, explain) { id, LEVEL_##level, text, spec, explain },
#include "heph/heph_rules.def"
#undef RULE
};

static const struct rule *const rule_list[] = {
#define RULE(name, id, level, text, spec, explain) &heph_rules[HEPH_RULE_##name],
#include "heph/heph_rules.def"
#undef RULE
	NULL
};

static const char *const suffixes[] = { ".bin.log", NULL };
static const char *const dialects[] = { "0.1.0", NULL };

extern const struct format heph_format;

const struct format heph_format = {
	.name = "heph",
	.title = "Heph trace",
	.spec = "Heph trace format 0.1.0",
	.suffixes = suffixes,
	.dialects = dialects,
	.reader = &heph_reader_ops,
	.rules = rule_list,
};
