#include "csv/csv.h"

/* ---- tsv format ---- */

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

/* ---- format ---- */

static const char *const suffixes_format[] = { ".csv", NULL };

extern const struct format csv_format;

const struct format csv_format = {
	.name = "csv",
	.title = "CSV, one event a line",
	.spec = "RFC 4180; tracetool-csv(5)",
	.suffixes = suffixes_format,
	.writer = &csv_writer_ops,
	.losses = csv_losses,
};
