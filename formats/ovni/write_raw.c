#include <stdlib.h>

#include "ovni/write.h"

/*
 * Copies streams: each record goes to the file of its stream as it is.  Their
 * files come first, see format/reader_copy.h; event.dur tells streams apart.
 */

static bool
is_file(const struct batch *b, const struct event *e)
{
	return e->phase == PHASE_STRUCTURE && e->nfields > 0 &&
	       slice_is(b->fields[e->first_field].name, "name");
}

static void
take_file(struct ovw_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	const struct field *const f = b->fields + e->first_field;
	const struct slice name = value_text(&f[0].value);

	if (e->nfields == 1)
		ovw_place(st, e->dur, name, chunk);
	else
		ovw_sidecar(st, name,
		            f[1].value.type == VALUE_BYTES ? value_text(&f[1].value)
		                                           : (struct slice){ NULL, 0, 0 },
		            chunk);
}

/* Whether a stream has a file; it gets one here if the reader did not name it.  false: no memory. */
static bool
has_place(struct ovw_state *st, uint64_t number, struct chunk *chunk)
{
	struct ovw_copy *const c = &st->copy;

	if (number >= c->nstreams || c->streams[number] == NULL)
		ovw_place(st, number, SLICE_LIT(OVNI_STREAM_FILE), chunk);
	return number < c->nstreams && c->streams[number] != NULL;
}

/* From now on the chunk's bytes are this stream's.  false: no memory. */
static bool
go_to_stream(struct ovw_state *st, uint64_t number, struct chunk *chunk)
{
	if (!has_place(st, number, chunk))
		return false;
	chunk_file(chunk, st->copy.streams[number]);
	return true;
}

/* Whether a record lacks the data that its head announces: the reader dropped it. */
static bool
lacks_data(const struct event *e, struct slice bytes)
{
	return e->phase != PHASE_STRUCTURE && bytes.n == OVNI_JUMBO_HEAD &&
	       (bytes.p[0] & OVNI_FLAG_JUMBO) != 0 && memcmp(bytes.p + OVNI_EVENT_SIZE, "\0\0\0\0", 4) != 0;
}

void
ovw_move_clock(struct ovw_state *st, const struct event *e, struct text *to, uint32_t n, struct chunk *chunk)
{
	const bool negative = st->signed_time && (int64_t)e->ts < 0;

	if (to->failed || e->phase == PHASE_STRUCTURE)
		return;
	ovw_store(to->p + to->n - n + 4, negative ? 0 : e->ts, 8, (e->flags & EVENT_BIG) != 0);
	if (negative)
		ovw_lose(chunk, OVW_NEGATIVE_TIME, e->offset);
}

/* One record of a selection. */
static void
select_record(struct ovw_state *st, const struct batch *b, uint32_t i, struct chunk *chunk)
{
	const struct event *const e = &b->events[i];

	if (is_file(b, e))
		take_file(st, b, e, chunk);
	else if (!has_place(st, e->dur, chunk))
		chunk->text.failed = true;
	else if (lacks_data(e, b->bytes[i]))
		ovw_lose(chunk, OVW_JUMBO_LEFT_OUT, e->offset);
	else
		ovw_selected(st, e, b->bytes[i], chunk);
}

void
ovw_raw(struct ovw_state *st, const struct batch *b, struct chunk *chunk)
{
	struct slice run = { NULL, 0, 0 }; /* records of one stream that lie side by side */
	uint64_t number = UINT64_MAX;

	for (uint32_t i = 0; st->is_selection && i < b->n && !chunk->text.failed; i++)
		select_record(st, b, i, chunk);
	for (uint32_t i = 0; !st->is_selection && i < b->n && !chunk->text.failed; i++) {
		const struct event *const e = &b->events[i];
		const struct slice bytes = b->bytes[i];
		const bool adjoins = number == e->dur && run.n > 0 && run.p + run.n == bytes.p &&
		                     bytes.n <= UINT32_MAX - run.n;
		if (!adjoins || is_file(b, e)) {
			text_slice(&chunk->text, run);
			run = slice_of(bytes.p, 0);
		}
		if (is_file(b, e)) {
			take_file(st, b, e, chunk);
			number = UINT64_MAX;
			continue;
		}
		if (number != e->dur && !go_to_stream(st, e->dur, chunk)) {
			chunk->text.failed = true;
			return;
		}
		number = e->dur;
		if (lacks_data(e, bytes)) {
			ovw_lose(chunk, OVW_JUMBO_LEFT_OUT, e->offset);
			continue;
		}
		run.n += bytes.n;
		if (!st->rebased)
			continue;
		text_slice(&chunk->text, run);
		run.n = 0;
		ovw_move_clock(st, e, &chunk->text, bytes.n, chunk);
	}
	text_slice(&chunk->text, run);
}

void
ovw_raw_free(struct ovw_copy *c)
{
	for (uint32_t i = 0; i < OVW_MOST_SIDECARS; i++)
		text_free(&c->sidecars[i].content);
	ovw_select_free(&c->selection);
	free(c->streams);
	free(c->hashes);
	tabletext_free(&c->names);
	tabletext_free(&c->folders);
	text_free(&c->scratch);
}
