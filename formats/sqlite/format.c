/* Registration of SQLite databases, and their losses. */
#include "sqlite/sqlite.h"

const struct loss sqlite_losses[SQLITE_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "sqlite/losses.def"
#undef LOSS
};

static const char *const suffixes[] = { ".db", ".sqlite", NULL };

static const struct format_option options[] = {
	LIFTED_OPTION(sqlite_column_mistake),
	{ .name = NULL },
};

const struct format sqlite_format = {
	.name = "sqlite",
	.title = "SQLite database",
	.spec = "SQLite file format 3; tracetool-sqlite(5)",
	.suffixes = suffixes,
	.options = options,
	.writer = &sqlite_writer_ops,
	.losses = sqlite_losses,
};
