/*
 * Registration of CTF, and its losses.
 */
#include "ctf/ctf.h"

const struct loss ctf_losses[CTF_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "ctf/losses.def"
#undef LOSS
};

static const char *const suffixes[] = { ".ctf", NULL };

extern const struct format ctf_format;

const struct format ctf_format = {
	.name = "ctf",
	.title = "Common Trace Format",
	.spec = "Common Trace Format 1.8",
	.suffixes = suffixes,
	.writer = &ctf_writer_ops,
	.losses = ctf_losses,
};
