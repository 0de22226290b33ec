#include "dial9/dial9_dialect.h"
#include "dial9/dial9_findings.h"
#include "dial9/dial9_read.h"
#include "dial9/dial9_recover.h"

static const char *const suffixes[] = { ".bin", NULL };

extern const struct format dial9_format;

const struct format dial9_format = {
	.name = "dial9",
	.title = "dial9 trace",
	.spec = "dial9-trace-format binary specification, version 1",
	.suffixes = suffixes,
	.dialects = d9_dialects,
	.reader = &d9_reader_ops,
	.recover = &d9_recover_ops,
	.rules = d9_rules,
	.holds = HOLDS_FIELDS | HOLDS_INSTANTS | HOLDS_COUNTERS | HOLDS_ARROWS | HOLDS_ASYNC | HOLDS_ENDS |
	         HOLDS_STACKS | HOLDS_LISTS | HOLDS_NAN | HOLDS_PARTS | HOLDS_NOT_UTF8 | HOLDS_NUL |
	         HOLDS_FACTS | HOLDS_EPOCH | HOLDS_NUMBERS,
};
