/* Registration of speedscope profiles, and their losses. */
#include "speedscope/speedscope.h"

const struct loss speedscope_losses[SPEEDSCOPE_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "speedscope/losses.def"
#undef LOSS
};

static const char *const suffixes[] = { ".speedscope.json", NULL };

extern const struct format speedscope_format;

const struct format speedscope_format = {
	.name = "speedscope",
	.title = "speedscope profile",
	.spec = "speedscope file format (file-format-schema.json)",
	.suffixes = suffixes,
	.writer = &speedscope_writer_ops,
	.losses = speedscope_losses,
};
