#include "dftracer/dftracer_write.h"

const struct loss dfw_losses[DFW_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "dftracer/dftracer_losses.def"
#undef LOSS
};

static bool
dfw_open(struct writer *w, struct chunk *chunk)
{
	struct dfw_state *const st = w->state;

	(void)chunk;
	st->is_raw = w->raw;
	return true;
}

static bool
dfw_declare(struct writer *w, const struct batch *b)
{
	(void)w;
	(void)b;
	return true;
}

static void
dfw_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct dfw_state *const st = state;

	if (st->is_raw)
		dfw_raw(&st->raw, b, chunk);
}

static bool
dfw_close(struct writer *w, struct chunk *chunk)
{
	struct dfw_state *const st = w->state;

	if (w->raw)
		dfw_raw_close(&st->raw, chunk);
	return true;
}

static void
dfw_free(void *state)
{
	struct dfw_state *const st = state;

	text_free(&st->raw.end);
}

const struct writer_ops dfw_ops = {
	.state_size = sizeof(struct dfw_state),
	.want = WANT_FIELDS | WANT_BYTES,
	.modes = WRITER_RAW_SAME | WRITER_RAW_BYTES | WRITER_INTERPRETED,
	.open = dfw_open,
	.declare = dfw_declare,
	.write = dfw_write,
	.close = dfw_close,
	.free = dfw_free,
};
