/* Perfetto traces (protocol buffers); an output only. */
#include "perfetto/perfetto.h"

static const char *const suffixes[] = { ".pftrace", ".perfetto-trace", NULL };

extern const struct format perfetto_format;

const struct format perfetto_format = {
	.name = "perfetto",
	.title = "Perfetto trace",
	.spec = "Perfetto protos, v58.2",
	.suffixes = suffixes,
	.writer = &perfetto_writer_ops,
	.losses = perfetto_losses,
};
