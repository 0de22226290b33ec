#include "speedscope/speedscope.h"

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
