#include "ovni/format.h"

#include "ovni/recover.h"
#include "ovni/rules.h"
#include "ovni/write.h"

static const char *const suffixes[] = { ".obs", ".ovni", NULL };

static const char *const groups[] = { "format", "hygiene", "state", "breakdown", NULL };

static const struct format_option options[] = {
	{ .name = "check",
	  .arg = "GROUP",
	  .help = "check a further group of rules: state or breakdown",
	  .words = groups },
	{ .name = "clock-offsets",
	  .arg = "FILE",
	  .help = "clock offsets of hosts (default: clock-offsets.txt in the folder)" },
	{ .name = NULL },
};

extern const struct format ovni_format;

const struct format ovni_format = {
	.name = "ovni",
	.title = "ovni trace stream",
	.spec = "ovni trace specification v3",
	.recounted = (const char *const[]){ "clock", NULL },
	.suffixes = suffixes,
	.options = options,
	.reader = &ovni_reader_ops,
	.recover = &ovni_recover_ops,
	.trace = &ovni_trace_ops,
	.writer = &ovw_ops,
	.rules = ovni_rules,
	.losses = ovw_losses,
	.holds = HOLDS_FIELDS | HOLDS_INSTANTS | HOLDS_COUNTERS | HOLDS_ENDS | HOLDS_LISTS | HOLDS_PARTS |
	         HOLDS_NOT_UTF8 | HOLDS_FACTS | HOLDS_EPOCH | HOLDS_NUMBERS,
};
