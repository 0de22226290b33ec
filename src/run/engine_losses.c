/* The kinds of loss that the stages cause, and walks over all kinds of loss. */
#include "run/engine_losses.h"

#include "base/match.h"
#include "format/registry.h"

const struct loss engine_losses[ENGINE_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "run/engine_losses.def"
#undef LOSS
};

const struct loss *loss_next(struct loss_walk *w)
{
	w->loss = w->loss != NULL ? w->loss + 1 : engine_losses;
	for (const struct format *f; w->loss->id == NULL; w->format++) {
		if ((f = formats[w->format]) == NULL)
			return NULL;
		/* forms of one format share a list, and are adjacent */
		if (f->losses != NULL && (w->format == 0 || f->losses != formats[w->format - 1]->losses))
			w->loss = f->losses;
	}
	return w->loss;
}

const char *loss_nearest_id(const char *id)
{
	struct nearest near = { .typed = id };
	struct loss_walk w = { .format = 0 };

	for (const struct loss *l; (l = loss_next(&w)) != NULL;)
		nearest_add(&near, l->id);
	return near.name;
}
