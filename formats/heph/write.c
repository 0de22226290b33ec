#include "heph/write.h"

const struct loss hpw_losses[HPW_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "heph/losses.def"
#undef LOSS
};

static bool
hpw_open(struct writer *w, struct chunk *chunk)
{
	struct hpw_state *const st = w->state;

	st->is_raw = w->raw;
	st->raw.streams.selected = w->selected;
	st->rebased = w->rebased;
	st->signed_time = w->signed_time;
	if (!w->raw)
		hpw_first_facts(st, w, chunk);
	return true;
}

static bool
hpw_declare(struct writer *w, const struct batch *b)
{
	(void)w;
	(void)b; /* tracks are reported before their first events, classes with each event */
	return true;
}

static void
hpw_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct hpw_state *const st = state;

	if (st->is_raw) {
		hpw_raw(st, b, chunk);
		return;
	}
	for (uint32_t i = 0; i < b->n && !chunk->text.failed; i++)
		if (b->events[i].phase != PHASE_STRUCTURE)
			hpw_event(st, b, &b->events[i], chunk);
}

static bool
hpw_close(struct writer *w, struct chunk *chunk)
{
	struct hpw_state *const st = w->state;

	if (w->raw) {
		hpw_raw_end(st, chunk);
		return true;
	}
	hpw_remaining_tracks(st, w->trace, chunk);
	hpw_last_facts(st, w, chunk);
	return true;
}

static void
hpw_free(void *state)
{
	struct hpw_state *const st = state;

	hpw_raw_free(&st->raw);
	hpw_tracks_free(&st->tracks);
	text_free(&st->types);
	text_free(&st->scratch);
}

const struct writer_ops hpw_ops = {
	.state_size = sizeof(struct hpw_state),
	.want = WANT_FIELDS | WANT_BYTES,
	.modes = WRITER_RAW_SAME | WRITER_RAW_SELECT | WRITER_RAW_RUNS | WRITER_RAW_BYTES |
	         WRITER_INTERPRETED,
	.open = hpw_open,
	.declare = hpw_declare,
	.write = hpw_write,
	.close = hpw_close,
	.free = hpw_free,
};
