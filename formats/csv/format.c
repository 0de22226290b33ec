/*
 * Registration of csv and tsv, and their losses.
 */
#include "csv/csv.h"
#include "out/lifted.h"

const struct loss csv_losses[CSV_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "csv/losses.def"
#undef LOSS
};

const struct loss tsv_losses[TSV_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "csv/tsv_losses.def"
#undef LOSS
};

static const char *const csv_suffixes[] = { ".csv", NULL };
static const char *const tsv_suffixes[] = { ".tsv", NULL };

static const struct format_option options[] = {
	LIFTED_OPTION(csv_column_mistake),
	{ .name = NULL },
};

const struct format csv_format = {
	.name = "csv",
	.title = "CSV, one event a line",
	.spec = "RFC 4180; tracetool-csv(5)",
	.suffixes = csv_suffixes,
	.options = options,
	.writer = &csv_writer_ops,
	.losses = csv_losses,
};

const struct format tsv_format = {
	.name = "tsv",
	.title = "TSV, one event a line",
	.spec = "tracetool-tsv(5)",
	.suffixes = tsv_suffixes,
	.options = options,
	.writer = &tsv_writer_ops,
	.losses = tsv_losses,
};
