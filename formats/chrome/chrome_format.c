#include "chrome/chrome_read.h"
#include "chrome/chrome_state.h"

const struct rule chrome_rules[CHROME_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "chrome/chrome_rules.def"
#undef RULE
	{ .id = NULL }
};

static const char *const suffixes[] = { ".json", NULL };

extern const struct format chrome_format;

const struct format chrome_format = {
	.name = "chrome",
	.title = "Chrome trace event JSON",
	.spec = "Trace Event Format (Chromium)",
	.suffixes = suffixes,
	.reader = &chrome_reader_ops,
	.writer = &chrome_writer_ops,
	.rules = chrome_rules,
	.losses = chrome_losses,
	.holds = HOLDS_FIELDS | HOLDS_INSTANTS | HOLDS_COUNTERS | HOLDS_ARROWS | HOLDS_ASYNC | HOLDS_ENDS |
	         HOLDS_STACKS | HOLDS_LISTS | HOLDS_NOT_UTF8 | HOLDS_NUL | HOLDS_FACTS | HOLDS_EPOCH |
	         HOLDS_DEEP | HOLDS_NUMBERS,
};
