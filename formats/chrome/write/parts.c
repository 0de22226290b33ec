/*
 * chrome-dir: a folder of documents that viewers open separately, for traces too large for a viewer.  Events
 * arrive in time order, so a part covers a period of time.  A part names the processes and threads that have
 * events in it.  The end of each part is written last, when the facts of the whole trace are known.
 */
#include "chrome/write/write.h"

#include <stdlib.h>

#include "base/numbers.h"

#define PART_BYTES 104857600U /* default; viewers in a browser still show such a part without delay */

/* Bytes of the longest line that chrome_put_order() writes for a track, besides its pid and tid. */
#define ORDER_BYTES                                                                                          \
	(sizeof ",\n{\"name\":\"process_sort_index\",\"ph\":\"M\",\"args\":{\"sort_index\":65536}}" - 1)

void chrome_parts_free(struct chrome_parts *p)
{
	chunk_free(&p->line);
	chunk_free(&p->title);
	free(p->names);
	free(p->tracks);
}

static void append_text(struct chrome_parts *p, const struct text *from, struct chunk *chunk)
{
	text_add(&chunk->text, from->p, from->n);
	chunk->text.failed |= from->failed;
	p->bytes += from->n;
}

static bool begin_part(struct chrome_state *st, struct chunk *chunk)
{
	struct chrome_parts *const p = &st->parts;
	char *const name = arena_alloc(&st->arena, sizeof "part-4294967295.json");

	if (name == NULL || !array_reserve(&p->names, p->begun, &p->names_cap, sizeof *p->names))
		return false;
	(void)snprintf(name, sizeof "part-4294967295.json", "part-%05" PRIu32 ".json", p->begun);
	p->names[p->begun++] = name;
	chunk_file(chunk, name);
	const size_t before = chunk->text.n;
	chrome_put_head(&chunk->text);
	p->bytes = chunk->text.n - before;
	p->has_event = false;
	p->ntracks = 0;
	return true;
}

static bool open_parts(struct writer *w, struct chunk *chunk)
{
	struct chrome_state *const st = w->state;
	const char *const size = option_find(w->options, "part-size");

	chrome_set_options(w);
	st->parts.max_bytes = PART_BYTES;
	if (size != NULL)
		(void)units_bytes(slice_str(size), &st->parts.max_bytes);
	return begin_part(st, chunk);
}

/* Writes the name of a track into p->title unless this part has it.  first: the first thread of a process in
 * this part. */
static bool name_track(struct chrome_parts *p, const struct track *k, const struct track *first)
{
	uint32_t *const named_in = chrome_track_of(k)->part;

	if (*named_in == p->begun)
		return true;
	if (!array_reserve(&p->tracks, p->ntracks, &p->tracks_cap, sizeof *p->tracks))
		return false;
	*named_in = p->begun;
	p->tracks[p->ntracks++] = k;
	p->bytes += ORDER_BYTES + chrome_track_of(k)->len;
	chrome_render_track(k, first, p->ntracks > 1, &p->title);
	return true;
}

static bool name_tracks(struct chrome_parts *p, const struct track *k, struct chunk *chunk)
{
	const struct track *const process = track_process(k);

	if (*chrome_track_of(k)->part == p->begun)
		return true;
	p->title.text.n = 0;
	if (!name_track(p, process, k != process ? k : NULL) || !name_track(p, k, NULL))
		return false;
	append_text(p, &p->title.text, chunk);
	return true;
}

static bool put_event(struct chrome_state *st, const struct batch *b, const struct event *e,
                      struct chunk *chunk)
{
	struct chrome_parts *const p = &st->parts;

	p->line.text.n = 0;
	arena_reset(&p->line.arena);
	chrome_render_event(st, b, e, &p->line);
	const bool full = p->has_event && p->bytes + p->line.text.n > p->max_bytes;
	if (full && !(chrome_put_order(p->tracks, p->ntracks, &chunk->text) && begin_part(st, chunk)))
		return false;
	if (!name_tracks(p, e->track, chunk))
		return false;
	append_text(p, &p->line.text, chunk);
	p->has_event = true;
	return true;
}

static void move_losses(struct chunk *chunk, struct ledger *from)
{
	ledger_merge(&chunk->ledger, from);
	from->n = 0;
}

static void write_parts(void *state, const struct batch *b, struct chunk *chunk)
{
	struct chrome_state *const st = state;
	struct chrome_parts *const p = &st->parts;
	struct chrome_line_order order = { .at = 0 };
	const struct event *e;

	chunk_file(chunk, p->names[p->begun - 1]);
	while ((e = chrome_next_line(&order, b)) != NULL)
		if (!put_event(st, b, e, chunk))
			chunk->text.failed = true;
	move_losses(chunk, &p->line.ledger);
	move_losses(chunk, &p->title.ledger);
}

static bool close_parts(struct writer *w, struct chunk *chunk)
{
	struct chrome_state *const st = w->state;
	struct chrome_parts *const p = &st->parts;

	do {
		chunk_file(chunk, p->names[p->ended]);
		if (p->ended + 1 == p->begun && !chrome_put_order(p->tracks, p->ntracks, &chunk->text))
			return false;
		chrome_put_facts(w, p, chunk);
		p->ended++;
	} while (p->ended < p->begun && chunk_flush(chunk));
	return true;
}

const struct writer_ops chrome_dir_writer_ops = {
	.state_size = sizeof(struct chrome_state),
	.want = WANT_FIELDS | WANT_DEPARTURES,
	.order = ORDER_TIME,
	.shape = WRITER_FOLDER,
	.nested = true,
	.open = open_parts,
	.declare = chrome_declare, /* name_tracks() names tracks in each part */
	.write = write_parts,
	.close = close_parts,
	.free = chrome_free,
};
