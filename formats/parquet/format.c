/* Registration: one file, or a folder of parts. */
#include "parquet/parquet.h"

const struct loss parquet_losses[PARQUET_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "parquet/losses.def"
#undef LOSS
};

static const char *const suffixes[] = { ".parquet", NULL };
static const char *const dir_suffixes[] = { ".parquet.d", NULL };

static const struct format_option options[] = {
	LIFTED_OPTION(parquet_arg_mistake),
	{ .name = NULL },
};

static const struct format_option dir_options[] = {
	LIFTED_OPTION(parquet_arg_mistake),
	{ .name = "part-size",
	  .arg = "BYTES",
	  .help = "size of a part, such as 20M (default: 256 MiB, of JSON 100 MiB)",
	  .mistake = parquet_part_size_mistake },
	{ .name = NULL },
};

extern const struct format parquet_format, parquet_dir_format;

const struct format parquet_format = {
	.name = "parquet",
	.title = "Apache Parquet",
	.spec = "Parquet format 2.10; tracetool-parquet(5)",
	.suffixes = suffixes,
	.options = options,
	.writer = &parquet_writer_ops,
	.losses = parquet_losses,
};

const struct format parquet_dir_format = {
	.name = "parquet-dir",
	.title = "Apache Parquet, parts",
	.spec = "Parquet format 2.10; tracetool-parquet(5)",
	.suffixes = dir_suffixes,
	.options = dir_options,
	.writer = &parquet_dir_writer_ops,
	.losses = parquet_losses,
};
