#include "ovni/ovni_write.h"

const struct loss ovw_losses[OVW_LOSSES + 1] = {
#define LOSS(name, id, text, explain) { id, text, explain },
#include "ovni/ovni_losses.def"
#undef LOSS
};

static bool
ovw_open(struct writer *w, struct chunk *chunk)
{
	struct ovw_state *const st = w->state;

	if (!w->raw)
		chunk->end.failed = "ovni: only traces of ovni can be written as such";
	st->is_raw = w->raw;
	st->rebased = w->rebased;
	st->signed_time = w->signed_time;
	return true;
}

static bool
ovw_declare(struct writer *w, const struct batch *b)
{
	(void)w;
	(void)b;
	return true;
}

static void
ovw_write(void *state, const struct batch *b, struct chunk *chunk)
{
	ovw_raw(state, b, chunk);
}

static bool
ovw_close(struct writer *w, struct chunk *chunk)
{
	(void)w;
	(void)chunk;
	return true;
}

static void
ovw_free(void *state)
{
	struct ovw_state *const st = state;

	ovw_raw_free(&st->copy);
	arena_free(&st->arena);
}

const struct writer_ops ovw_ops = {
	.state_size = sizeof(struct ovw_state),
	.want = WANT_FIELDS | WANT_BYTES | WANT_RUNS | WANT_FILES,
	.modes = WRITER_RAW_SAME,
	.shape = WRITER_FOLDER,
	.open = ovw_open,
	.declare = ovw_declare,
	.write = ovw_write,
	.close = ovw_close,
	.free = ovw_free,
};
