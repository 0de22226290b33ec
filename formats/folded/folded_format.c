#include "folded/folded_state.h"

static const char *const suffixes[] = { ".folded", NULL };

extern const struct format folded_format;

const struct format folded_format = {
	.name = "folded",
	.title = "folded stacks",
	.spec = "tracetool-folded(5)",
	.suffixes = suffixes,
	.writer = &folded_writer_ops,
	.losses = folded_losses,
};
