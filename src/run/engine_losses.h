#ifndef RUN_ENGINE_LOSSES_H
#define RUN_ENGINE_LOSSES_H

#include "format/loss.h"

/* Losses that the stages cause, for any output. */
enum engine_loss {
#define LOSS(row, ...) ENGINE_LOSS_##row,
#include "run/engine_losses.def"
#undef LOSS
	ENGINE_LOSSES
};

extern const struct loss engine_losses[ENGINE_LOSSES + 1];

/* Iterates over all kinds of loss, those of the engine first.  Zero-initialise *w.  Returns NULL after the
 * last one. */
struct loss_walk {
	size_t format; /* the next one */
	const struct loss *loss;
};
const struct loss *loss_next(struct loss_walk *w);

/* The nearest id of a loss to a mistyped one; NULL if none is near. */
const char *loss_nearest_id(const char *id);

#endif
