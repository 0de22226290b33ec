#include "heph/heph_write.h"

const struct loss hpw_losses[HPW_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "heph/heph_losses.def"
#undef LOSS
};

static bool
hpw_open(struct writer *w, struct chunk *chunk)
{
	struct hpw_state *const st = w->state;

	(void)chunk; /* a trace may begin with any packet */
	st->is_raw = w->raw;
	st->rebased = w->rebased;
	st->signed_time = w->signed_time;
	return true;
}

static bool
hpw_declare(struct writer *w, const struct batch *b)
{
	(void)w;
	(void)b; /* streams are met in packets */
	return true;
}

static void
hpw_write(void *state, const struct batch *b, struct chunk *chunk)
{
	hpw_raw(state, b, chunk);
}

static bool
hpw_close(struct writer *w, struct chunk *chunk)
{
	hpw_raw_end(w->state, chunk);
	return true;
}

static void
hpw_free(void *state)
{
	struct hpw_state *const st = state;

	hpw_streams_free(&st->raw.streams);
}

const struct writer_ops hpw_ops = {
	.state_size = sizeof(struct hpw_state),
	.want = WANT_BYTES,
	.modes = WRITER_RAW_SAME | WRITER_RAW_SELECT | WRITER_RAW_BYTES,
	.open = hpw_open,
	.declare = hpw_declare,
	.write = hpw_write,
	.close = hpw_close,
	.free = hpw_free,
};
