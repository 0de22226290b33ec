#include "ndjson/read.h"
#include "ndjson/state.h"

const struct rule ndjson_rules[NDJSON_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "ndjson/rules.def"
#undef RULE
	{ .id = NULL }
};

static const char *const suffixes[] = { ".ndjson", ".jsonl", NULL };

extern const struct format ndjson_format;

const struct format ndjson_format = {
	.name = "ndjson",
	.title = "NDJSON, one event a line",
	.spec = "tracetool-ndjson(5)",
	.suffixes = suffixes,
	.reader = &ndjson_reader_ops,
	.writer = &ndjson_writer_ops,
	.rules = ndjson_rules,
	.losses = ndjson_losses,
	.holds = HOLDS_FIELDS | HOLDS_INSTANTS | HOLDS_COUNTERS | HOLDS_ARROWS | HOLDS_ASYNC | HOLDS_ENDS |
	         HOLDS_STACKS | HOLDS_LISTS | HOLDS_NAN | HOLDS_NOT_UTF8 | HOLDS_NUL | HOLDS_FACTS |
	         HOLDS_EPOCH | HOLDS_DEEP | HOLDS_NUMBERS | HOLDS_STEPS,
};
