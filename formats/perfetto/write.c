#include <stdlib.h>

#include "perfetto/state.h"

/*
 * One sequence of packets, in the order of time.  Texts are defined before
 * they are used, in packets of their own; all of this is state that one event
 * leaves to the next, so it is written by one thread at a time.
 */

const struct loss perfetto_losses[PERFETTO_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "perfetto/losses.def"
#undef LOSS
	{ .id = NULL }
};

static bool
perfetto_open(struct writer *w, struct chunk *chunk)
{
	struct perfetto_state *const st = w->state;
	struct text *const t = &chunk->text;

	st->signed_time = w->signed_time;
	st->seed = hash_seed();
	st->chunk = chunk;
	const size_t at = wire_open(t, TRACE_PACKET);
	wire_number(t, PACKET_SEQUENCE, 1);
	wire_number(t, PACKET_FLAGS, FLAG_CLEARED);
	wire_number(t, PACKET_FIRST, 1);
	wire_close(t, at);
	perfetto_put_order(st);
	return true;
}

/* Losses of new tracks belong to the next chunk, which is not there yet. */
static bool
perfetto_declare(struct writer *w, const struct batch *b)
{
	struct perfetto_state *const st = w->state;
	struct chunk lost = { .text = { .n = 0 } };
	bool well = true;

	st->chunk = &lost;
	for (uint32_t i = 0; i < b->ntracks && well; i++)
		well = perfetto_declare_track(st, b->tracks[i]);
	ledger_merge(&st->declared, &lost.ledger);
	ledger_free(&lost.ledger);
	return well && !lost.ledger.failed;
}

static void
perfetto_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct perfetto_state *const st = state;

	st->chunk = chunk;
	st->offset = 0;
	ledger_merge(&chunk->ledger, &st->declared);
	ledger_free(&st->declared);
	st->declared = (struct ledger){ .rows = NULL };
	for (uint32_t i = 0; i < b->ntracks; i++)
		perfetto_put_track(st, b->tracks[i]);
	for (uint32_t i = 0; i < b->n; i++)
		perfetto_event(st, b, &b->events[i]);
	chunk->text.failed |= st->body.failed || st->arrows.failed;
}

static bool
perfetto_close(struct writer *w, struct chunk *chunk)
{
	struct perfetto_state *const st = w->state;

	st->chunk = chunk;
	perfetto_put_ends(st);
	perfetto_put_about(st, w);
	return true;
}

static void
perfetto_free(void *state)
{
	struct perfetto_state *const st = state;

	for (uint32_t i = 0; i < st->ntracks; i++)
		free(st->tracks[i]->ends);
	free(st->tracks);
	free(st->series_uuids);
	perfetto_intern_free(st);
	table64_free(&st->pids);
	table64_free(&st->tids);
	table64_free(&st->series);
	idset_free(&st->arrows);
	tabletext_free(&st->stacks);
	text_free(&st->stack);
	ledger_free(&st->declared);
	text_free(&st->body);
	text_free(&st->defs);
	text_free(&st->clean);
	arena_free(&st->arena);
}

const struct writer_ops perfetto_writer_ops = {
	.state_size = sizeof(struct perfetto_state),
	.want = WANT_FIELDS | WANT_GAPS,
	.modes = WRITER_INTERPRETED,
	.order = ORDER_TIME,
	.nested = true,
	.open = perfetto_open,
	.declare = perfetto_declare,
	.write = perfetto_write,
	.close = perfetto_close,
	.free = perfetto_free,
};
