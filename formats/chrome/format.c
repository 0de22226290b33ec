#include "chrome/read.h"
#include "chrome/state.h"

const struct rule chrome_rules[CHROME_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "chrome/rules.def"
#undef RULE
	{ .id = NULL }
};

static const char *const suffixes[] = { ".json", NULL };
static const char *const dir_suffixes[] = { ".json.d", NULL };

#define IDS                                                                                                  \
	{                                                                                                    \
		.name = "ids", .help = "add the original pid and tid to each event, as members of ids",      \
		.of_output = true                                                                            \
	}

static const struct format_option options[] = { IDS, { .name = NULL } };

static const struct format_option dir_options[] = {
	IDS,
	{ .name = "part-size",
	  .arg = "BYTES",
	  .help = "size of a part, such as 20M (default: 256 MiB, of JSON 100 MiB)",
	  .mistake = chrome_part_size_mistake },
	{ .name = NULL },
};

extern const struct format chrome_format, chrome_dir_format;

const struct format chrome_format = {
	.name = "chrome",
	.title = "Chrome trace event JSON",
	.spec = "Trace Event Format (Chromium)",
	.suffixes = suffixes,
	.options = options,
	.reader = &chrome_reader_ops,
	.writer = &chrome_writer_ops,
	.rules = chrome_rules,
	.losses = chrome_losses,
	.holds = HOLDS_FIELDS | HOLDS_INSTANTS | HOLDS_COUNTERS | HOLDS_ARROWS | HOLDS_ASYNC | HOLDS_ENDS |
	         HOLDS_STACKS | HOLDS_LISTS | HOLDS_NOT_UTF8 | HOLDS_NUL | HOLDS_FACTS | HOLDS_EPOCH |
	         HOLDS_DEEP | HOLDS_NUMBERS | HOLDS_STEPS,
};

const struct format chrome_dir_format = {
	.name = "chrome-dir",
	.title = "Chrome trace event JSON, parts",
	.spec = "Trace Event Format (Chromium)",
	.suffixes = dir_suffixes,
	.options = dir_options,
	.writer = &chrome_dir_writer_ops,
	.losses = chrome_losses,
};
