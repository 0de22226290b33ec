#include "ovni/ovni_format.h"

#include "ovni/ovni_rules.h"

static const char *const suffixes[] = { ".obs", NULL };

static const char *const groups[] = { "format", "hygiene", "state", NULL };

static const struct format_option options[] = {
	{ "rules", "GROUP", "findings by these rules too: format and hygiene (both always on), state",
	  groups },
	{ "clock-offsets", "FILE",
	  "how far the clocks of hosts are to be moved (default: clock-offsets.txt in the folder)", NULL },
	{ NULL, NULL, NULL, NULL },
};

extern const struct format ovni_format;

const struct format ovni_format = {
	.name = "ovni",
	.title = "ovni trace stream",
	.spec = "ovni trace specification v3",
	.suffixes = suffixes,
	.options = options,
	.reader = &ovni_reader_ops,
	.trace = &ovni_trace_ops,
	.rules = ovni_rules,
};
