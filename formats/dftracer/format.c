#include "dftracer/dftracer.h"

const struct rule dft_rules[DFT_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "dftracer/rules.def"
#undef RULE
	{ .id = NULL }
};

static const char *const suffixes[] = { ".pfw", NULL };

static const struct format_option options[] = {
	{ .name = "keep-hashes", .help = "show DFTracer hashes as well as names" },
	{ .name = DFW_DIALECT_OPTION,
	  .arg = "NAME",
	  .help = "the dialect of the output: d1, d3 or d5; 0.3 or 0.4 (default: the last)",
	  .words = dfw_dialect_words,
	  .of_output = true },
	{ .name = NULL },
};

extern const struct format dftracer_format;

const struct format dftracer_format = {
	.name = "dftracer",
	.title = "DFTracer trace",
	.spec = "DFTracer Format",
	.suffixes = suffixes,
	.recounted = (const char *const[]){ "ts", NULL },
	.dialects = dft_dialects,
	.options = options,
	.reader = &dft_reader_ops,
	.trace = &dft_trace_ops,
	.recover = &dft_recover_ops,
	.writer = &dfw_ops,
	.rules = dft_rules,
	.losses = dfw_losses,
	.holds = HOLDS_FIELDS | HOLDS_INSTANTS | HOLDS_COUNTERS | HOLDS_LISTS | HOLDS_NAN | HOLDS_NOT_UTF8 |
	         HOLDS_NUL | HOLDS_FACTS | HOLDS_EPOCH | HOLDS_DEEP | HOLDS_NUMBERS,
};
