#include <stdlib.h>

#include "ctf/state.h"

/* The writer: packets of one stream (section 5), and the metadata in the end. */

static bool
ctf_open(struct writer *w, struct chunk *chunk)
{
	struct ctf_state *const st = w->state;

	(void)chunk;
	st->signed_time = w->signed_time;
	return true;
}

static bool
ctf_declare(struct writer *w, const struct batch *b)
{
	struct ctf_state *const st = w->state;
	bool ok = true;

	for (uint32_t i = 0; ok && i < b->nclasses; i++)
		ok = array_reach(&st->classes, &st->nclasses, b->classes[i]->index, sizeof *st->classes);
	for (uint32_t i = 0; ok && i < b->ntracks; i++)
		ok = ctf_declare_track(st, b->tracks[i]);
	return ok;
}

/* ---- packets ---- */

static void
start_packet(struct ctf_state *st, uint64_t time)
{
	char *const p = text_room(&st->packet, CTF_PACKET_HEAD);

	if (p != NULL)
		st->packet.n = CTF_PACKET_HEAD;
	st->packet_begin = time;
}

/* Sizes are in bits. */
static void
end_packet(struct ctf_state *st, struct chunk *chunk)
{
	struct text *const t = &st->packet;

	chunk->text.failed |= t->failed;
	if (t->n == 0 || t->failed)
		return;
	char *p = t->p;
	p = ctf_store(p, CTF_MAGIC, 4);
	p = ctf_store(p, 0, 4); /* stream_id */
	p = ctf_store(p, st->packet_begin, 8);
	p = ctf_store(p, st->last, 8);
	p = ctf_store(p, (uint64_t)t->n * 8, 8);
	p = ctf_store(p, (uint64_t)t->n * 8, 8);
	(void)ctf_store(p, st->packets++, 8);
	chunk_file(chunk, CTF_STREAM_FILE);
	text_add(&chunk->text, t->p, t->n);
	text_clear(t);
}

/* ---- events ---- */

/* The value of the clock at an event: from the base on, which is the first time if that is negative. */
static uint64_t
clock_value(struct ctf_state *st, const struct event *e, struct chunk *chunk)
{
	const int64_t ts = (int64_t)e->ts;

	if (!st->any && st->signed_time && ts < 0)
		st->base = (uint64_t)(ts < CTF_LEAST_TIME ? CTF_LEAST_TIME : ts);
	const bool early = st->signed_time && ts < (int64_t)st->base;
	if (!early && e->ts - st->base <= CTF_MOST_TIME)
		return e->ts - st->base;
	ctf_lose(chunk, CTF_TIME_CUT, e->offset);
	return early ? 0 : CTF_MOST_TIME;
}

static void
put_event(struct ctf_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	const uint64_t time = clock_value(st, e, chunk);
	const struct ctf_layout *const l = ctf_layout_of(st, b, e, chunk);

	if (l == NULL)
		return;
	const struct slice *const context = e->track->declared;
	if (st->packet.n == 0)
		start_packet(st, time);
	char *p = text_room(&st->packet, 4 + 8 + (size_t)context->n);
	if (p != NULL) {
		p = ctf_store(p, l->id, 4);
		p = ctf_store(p, time, 8);
		p = text_put(p, context->p, context->n);
		st->packet.n = (size_t)(p - st->packet.p);
	}
	ctf_payload(st, l, b, e, chunk);
	st->last = time;
	st->any = true;
	if (st->packet.n >= CTF_PACKET_SIZE)
		end_packet(st, chunk);
}

static void
ctf_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct ctf_state *const st = state;

	for (uint32_t i = 0; i < b->n && !chunk->text.failed && !st->packet.failed; i++)
		if (b->events[i].phase != PHASE_STRUCTURE)
			put_event(st, b, &b->events[i], chunk);
	chunk->text.failed |= st->packet.failed;
}

static bool
ctf_close(struct writer *w, struct chunk *chunk)
{
	struct ctf_state *const st = w->state;

	end_packet(st, chunk);
	ledger_merge(&chunk->ledger, &st->names.ledger);
	ctf_metadata(st, w, chunk);
	return true;
}

static void
ctf_free(void *state)
{
	struct ctf_state *const st = state;

	arena_free(&st->arena);
	free(st->classes);
	free(st->layouts);
	table64_free(&st->signatures);
	text_free(&st->declarations);
	text_free(&st->packet);
	ledger_free(&st->names.ledger);
	text_free(&st->scratch);
}

const struct writer_ops ctf_writer_ops = {
	.state_size = sizeof(struct ctf_state),
	.want = WANT_FIELDS,
	.modes = WRITER_INTERPRETED,
	.order = ORDER_TIME,
	.shape = WRITER_FOLDER,
	.open = ctf_open,
	.declare = ctf_declare,
	.write = ctf_write,
	.close = ctf_close,
	.free = ctf_free,
};
