#include "dial9/dialect.h"
#include "dial9/findings.h"
#include "dial9/read.h"
#include "dial9/recover.h"
#include "dial9/write.h"

static const char *const suffixes[] = { ".bin", NULL };

static const struct format_option options[] = {
	{ .name = "to-dialect",
	  .arg = "NAME",
	  .help = "the dialect of the output: d1, d3 or d5; 0.3 or 0.4 (default: the last)",
	  .words = d9_dialects,
	  .of_output = true },
	{ .name = NULL },
};

extern const struct format dial9_format;

const struct format dial9_format = {
	.name = "dial9",
	.title = "dial9 trace",
	.spec = "dial9-trace-format binary specification, version 1",
	.suffixes = suffixes,
	.recounted = (const char *const[]){ "timestamp_delta_ns", NULL },
	.dialects = d9_dialects,
	.options = options,
	.reader = &d9_reader_ops,
	.writer = &d9w_ops,
	.recover = &d9_recover_ops,
	.rules = d9_rules,
	.losses = d9w_losses,
	.holds = HOLDS_FIELDS | HOLDS_INSTANTS | HOLDS_COUNTERS | HOLDS_ARROWS | HOLDS_ASYNC | HOLDS_ENDS |
	         HOLDS_STACKS | HOLDS_LISTS | HOLDS_NAN | HOLDS_PARTS | HOLDS_NOT_UTF8 | HOLDS_NUL |
	         HOLDS_FACTS | HOLDS_EPOCH | HOLDS_NUMBERS,
};
