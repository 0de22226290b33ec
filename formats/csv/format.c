#include "csv/state.h"

static const char *const suffixes[] = { ".csv", NULL };

extern const struct format csv_format;

const struct format csv_format = {
	.name = "csv",
	.title = "CSV, one event a line",
	.spec = "RFC 4180; tracetool-csv(5)",
	.suffixes = suffixes,
	.writer = &csv_writer_ops,
	.losses = csv_losses,
};
