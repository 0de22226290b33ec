#include "ovni/write.h"

const struct loss ovw_losses[OVW_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "ovni/losses.def"
#undef LOSS
};

static bool
ovw_open(struct writer *w, struct chunk *chunk)
{
	struct ovw_state *const st = w->state;

	(void)chunk;
	st->is_raw = w->raw;
	st->is_selection = w->raw && w->selected;
	st->rebased = w->rebased;
	st->signed_time = w->signed_time;
	st->beside = w->beside;
	return true;
}

static bool
ovw_declare(struct writer *w, const struct batch *b)
{
	return w->raw || ovw_declare_tracks(w->state, b);
}

static void
ovw_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct ovw_state *const st = state;

	if (st->is_raw)
		ovw_raw(st, b, chunk);
	else
		ovw_events(st, b, chunk);
}

/* Some streams at a time, so that what is made does not grow with their number. */
#define STREAMS_AT_ONCE 16

static bool
ovw_close(struct writer *w, struct chunk *chunk)
{
	struct ovw_state *const st = w->state;
	struct ovw_marks *const m = &st->marks;

	if (w->raw && w->selected)
		ovw_select_end(st, chunk);
	if (w->raw)
		return true;
	if (m->nstreams == 0)
		ovw_no_events(st, chunk);
	if (m->nended == 0 && w->trace->nmeta > 0)
		ledger_add(&chunk->ledger, &ovw_losses[OVW_FACTS], 0, w->trace->nmeta);
	if (m->nended == 0 && w->trace->epoch_known)
		ovw_lose(chunk, OVW_EPOCH, 0);
	for (uint32_t i = 0; i < STREAMS_AT_ONCE && m->nended < m->nstreams; i++) {
		struct ovw_stream *const s = m->streams[m->nended++];
		ovw_end_stream(st, s, chunk);
		ovw_metadata(st, w, s, &m->ndeclared, chunk);
	}
	chunk->end.more = m->nended < m->nstreams && !chunk->text.failed;
	return true;
}

static void
ovw_free(void *state)
{
	struct ovw_state *const st = state;

	ovw_raw_free(&st->copy);
	ovw_marks_free(&st->marks);
	arena_free(&st->arena);
}

const struct writer_ops ovw_ops = {
	.state_size = sizeof(struct ovw_state),
	.want = WANT_FIELDS | WANT_BYTES | WANT_FILES,
	.modes = WRITER_RAW_SAME | WRITER_RAW_RUNS | WRITER_RAW_SELECT | WRITER_RAW_BARE | WRITER_INTERPRETED,
	.order = ORDER_TIME,
	.shape = WRITER_FOLDER,
	.nested = true,
	.open = ovw_open,
	.declare = ovw_declare,
	.write = ovw_write,
	.close = ovw_close,
	.free = ovw_free,
};
