#include "ndjson/ndjson_state.h"

static const char *const suffixes[] = { ".ndjson", ".jsonl", NULL };

extern const struct format ndjson_format;

const struct format ndjson_format = {
	.name = "ndjson",
	.title = "NDJSON, one event a line",
	.spec = "tracetool-ndjson(5)",
	.suffixes = suffixes,
	.writer = &ndjson_writer_ops,
	.losses = ndjson_losses,
};
