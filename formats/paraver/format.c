/* Registration of Paraver traces, and their losses. */
#include "paraver/paraver.h"

const struct loss paraver_losses[PARAVER_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "paraver/losses.def"
#undef LOSS
};

static const char *const suffixes[] = { ".paraver", NULL };

extern const struct format paraver_format;

const struct format paraver_format = {
	.name = "paraver",
	.title = "Paraver trace",
	.spec = "Paraver trace file format",
	.suffixes = suffixes,
	.writer = &paraver_writer_ops,
	.losses = paraver_losses,
};
