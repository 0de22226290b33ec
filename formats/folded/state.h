#ifndef FOLDED_STATE_H
#define FOLDED_STATE_H

#include "base/table.h"
#include "format/format.h"

enum folded_loss {
#define LOSS(row, ...) FOLDED_##row,
#include "folded/losses.def"
#undef LOSS
	FOLDED_LOSSES
};

extern const struct loss folded_losses[FOLDED_LOSSES + 1];
extern const struct writer_ops folded_writer_ops;

#endif
