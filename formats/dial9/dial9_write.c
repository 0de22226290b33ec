#include "dial9/dial9_write.h"

#include "dial9/dial9_dialect.h"

const struct loss d9w_losses[D9W_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "dial9/dial9_losses.def"
#undef LOSS
};

static bool
d9w_open(struct writer *w, struct chunk *chunk)
{
	struct d9w_state *const st = w->state;

	const char *const version = option_find(w->options, "dial9-version");

	(void)chunk;
	st->as_0_3 = version != NULL && strcmp(version, d9_dialects[D9_0_3]) == 0;
	st->is_raw = w->raw;
	st->rebased = w->rebased;
	st->signed_time = w->signed_time;
	return true;
}

static bool
d9w_declare(struct writer *w, const struct batch *b)
{
	(void)w;
	(void)b;
	return true;
}

static void
d9w_write(void *state, const struct batch *b, struct chunk *chunk)
{
	d9w_raw(state, b, chunk);
}

static bool
d9w_close(struct writer *w, struct chunk *chunk)
{
	(void)w;
	(void)chunk; /* nothing stands behind the last record */
	return true;
}

static void
d9w_free(void *state)
{
	struct d9w_state *const st = state;

	text_free(&st->raw.last);
}

const struct writer_ops d9w_ops = {
	.state_size = sizeof(struct d9w_state),
	.want = WANT_FIELDS | WANT_BYTES,
	.modes = WRITER_RAW_SAME | WRITER_RAW_RUNS,
	.open = d9w_open,
	.declare = d9w_declare,
	.write = d9w_write,
	.close = d9w_close,
	.free = d9w_free,
};
