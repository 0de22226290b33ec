#include "csv/state.h"

static const char *const suffixes[] = { ".tsv", NULL };

extern const struct format tsv_format;

const struct format tsv_format = {
	.name = "tsv",
	.title = "TSV, one event a line",
	.spec = "tracetool-tsv(5)",
	.suffixes = suffixes,
	.writer = &tsv_writer_ops,
	.losses = tsv_losses,
};
