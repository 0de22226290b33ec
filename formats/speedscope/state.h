#ifndef SPEEDSCOPE_STATE_H
#define SPEEDSCOPE_STATE_H

#include "base/table.h"
#include "format/format.h"

enum speedscope_loss {
#define LOSS(row, ...) SPEEDSCOPE_##row,
#include "speedscope/losses.def"
#undef LOSS
	SPEEDSCOPE_LOSSES
};

extern const struct loss speedscope_losses[SPEEDSCOPE_LOSSES + 1];
extern const struct writer_ops speedscope_writer_ops;

#endif
