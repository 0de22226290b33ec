#include "dftracer/dftracer_state.h"

const struct rule dft_rules[DFT_RULE_COUNT] = {
#define RULE(name, id, level, text, spec, explain) { id, LEVEL_##level, text, spec, explain },
#include "dftracer/dftracer_rules.def"
#undef RULE
};

static const struct rule *const rule_list[] = {
#define RULE(name, id, level, text, spec, explain) &dft_rules[DFT_RULE_##name],
#include "dftracer/dftracer_rules.def"
#undef RULE
	NULL
};

static const char *const suffixes[] = { ".pfw", NULL };

static const struct format_option options[] = {
	{ "keep-ids", NULL, "keep hashes beside the names that they stand for", NULL },
	{ NULL, NULL, NULL, NULL },
};

extern const struct format dftracer_format;

const struct format dftracer_format = {
	.name = "dftracer",
	.title = "DFTracer trace",
	.spec = "DFTracer Format",
	.suffixes = suffixes,
	.dialects = dft_dialects,
	.options = options,
	.reader = &dft_reader_ops,
	.trace = &dft_trace_ops,
	.rules = rule_list,
};
