/* Kinds of loss that the stages themselves cause, whatever the output, and their counts in a ledger. */
#include "run/engine_losses.h"

#include "base/match.h"
#include "format/registry.h"

const struct loss engine_losses[ENGINE_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "run/engine_losses.def"
#undef LOSS
};

static void visit_list(const struct loss *l, void (*visit)(void *ctx, const struct loss *loss), void *ctx)
{
	for (; l != NULL && l->id != NULL; l++)
		visit(ctx, l);
}

void losses_visit(void (*visit)(void *ctx, const struct loss *loss), void *ctx)
{
	const struct loss *last = engine_losses;

	visit_list(last, visit, ctx);
	for (const struct format *const *f = formats; *f != NULL; f++) {
		if ((*f)->losses != last) /* forms of one format share a list, and stand side by side */
			visit_list((*f)->losses, visit, ctx);
		last = (*f)->losses;
	}
}

static void approach(void *near, const struct loss *loss)
{
	nearest_add(near, loss->id);
}

const char *loss_nearest_id(const char *id)
{
	struct nearest near = { .typed = id };

	losses_visit(approach, &near);
	return near.name;
}
