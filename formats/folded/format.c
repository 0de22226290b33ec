/*
 * Registration of folded stacks, their option and losses.
 */
#include "folded/folded.h"

const struct loss folded_losses[FOLDED_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "folded/losses.def"
#undef LOSS
};

static const char *const suffixes[] = { ".folded", NULL };

static const char *const stack_kinds[] = { "spans", "cpu", "off-cpu", "alloc", NULL };

static const struct format_option options[] = {
	{ .name = "stacks",
	  .arg = "KIND",
	  .help = "what to count: spans (default), or samples of cpu, off-cpu or alloc",
	  .words = stack_kinds,
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
