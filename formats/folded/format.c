#include "folded/folded.h"

static const char *const suffixes[] = { ".folded", NULL };

static const char *const words[] = { "spans", "cpu", "off-cpu", "alloc", NULL };

static const struct format_option options[] = {
	{ .name = "stacks",
	  .arg = "KIND",
	  .help = "what to count: spans (default), or samples of cpu, off-cpu or alloc",
	  .words = words,
	  .of_output = true },
	{ .name = NULL },
};

extern const struct format folded_format;

const struct format folded_format = {
	.name = "folded",
	.title = "folded stacks",
	.spec = "tracetool-folded(5)",
	.suffixes = suffixes,
	.options = options,
	.writer = &folded_writer_ops,
	.losses = folded_losses,
};
