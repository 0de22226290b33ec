#include "dftracer/write.h"

#include "dftracer/raw.h"

/*
 * Records of DFTracer traces as they are, with all that stands between them.
 * Of several inputs, the first says what stands before and behind all records:
 * brackets of the others are left out, so that the output is one trace.
 */

/* ---- what was written last ---- */

static void
remember_tail(struct dfw_raw *raw, const struct text *t)
{
	const size_t n = t->n < DFW_TAIL ? t->n : DFW_TAIL;

	if (n == 0 || t->failed)
		return;
	memcpy(raw->tail, t->p + t->n - n, n);
	raw->ntail = (uint32_t)n;
}

/* A line has begun that has no end yet. */
static bool
is_in_line(const struct dfw_raw *raw)
{
	return raw->ntail > 0 && raw->tail[raw->ntail - 1] != '\n';
}

static bool
ends_in_comma(const struct dfw_raw *raw)
{
	uint32_t n = raw->ntail;

	while (n > 0 && strchr(" \t\r\n", raw->tail[n - 1]) != NULL)
		n--;
	return n > 0 && raw->tail[n - 1] == ',';
}

static void
end_line(struct dfw_raw *raw, struct chunk *chunk)
{
	remember_tail(raw, &chunk->text);
	if (is_in_line(raw))
		text_char(&chunk->text, '\n');
}

/* ---- records of a selection ---- */

/* A record without the rest of its line, which is for the end of the line to say. */
static struct slice
body_of(struct slice record)
{
	while (record.n > 0 && record.p[record.n - 1] != '}')
		record.n--;
	return record;
}

static void
end_selected(struct dfw_raw *raw, struct chunk *chunk, bool comma)
{
	if (!raw->written)
		return;
	if (comma && raw->commas)
		text_char(&chunk->text, ',');
	if (raw->cr)
		text_char(&chunk->text, '\r');
	text_char(&chunk->text, '\n');
}

static void
put_selected(struct dfw_state *st, const struct event *e, struct slice bytes, struct chunk *chunk)
{
	struct dfw_raw *const raw = &st->raw;
	const struct slice body = body_of(bytes);
	const enum dfw_take take = dfw_select_takes(&st->select, &st->look, e, bytes);

	chunk->text.failed |= st->select.failed;
	if (take == DFW_LEAVE_START)
		dfw_lose(chunk, DFW_START_LEFT_OUT, e->offset);
	if (take != DFW_TAKE)
		return;
	end_selected(raw, chunk, true);
	if (st->rebased)
		dfw_move(st, e, body, chunk);
	else
		text_slice(&chunk->text, body);
	raw->written = true;
	raw->line_end = bytes.p[bytes.n - 1] == '\n';
	raw->cr = raw->line_end && bytes.n > body.n + 1 && bytes.p[bytes.n - 2] == '\r';
}

void
dfw_survey(void *state, const struct batch *b)
{
	struct dfw_state *const st = state;

	for (uint32_t i = 0; i < b->n; i++)
		if (b->events[i].phase != PHASE_STRUCTURE || !dft_is_gap(b->events[i].cls))
			dfw_select_look(&st->select, &st->look, &b->events[i], b->bytes[i]);
}

/* ---- between records ---- */

static void
hold(struct dfw_raw *raw, struct slice s, struct chunk *chunk)
{
	if (raw->inputs > 1) {
		raw->closed_later = true;
		return;
	}
	if (!raw->sealed && s.n <= DFW_MOST_END - raw->end.n) {
		text_slice(&raw->end, s);
		chunk->text.failed |= raw->end.failed;
		return;
	}
	if (raw->selecting && !raw->sealed)
		end_selected(raw, chunk, false);
	raw->sealed = true;
	text_add(&chunk->text, raw->end.p, raw->end.n);
	text_slice(&chunk->text, s);
	text_clear(&raw->end);
}

/* The closing bracket, and what follows it, is held until it is known that no record follows. */
static void
gap(struct dfw_raw *raw, struct slice s, bool unreadable, struct chunk *chunk)
{
	const bool held = raw->end.n > 0 || raw->sealed;
	const char *const close = held ? s.p : unreadable ? NULL : memchr(s.p, ']', s.n);
	const size_t before = close != NULL ? (size_t)(close - s.p) : s.n;
	const bool head = raw->inputs == 1 && raw->before && !unreadable;

	if (raw->selecting && unreadable)
		return;
	raw->opened |= head && before > 0 && memchr(s.p, '[', before) != NULL;
	if (head || (!raw->selecting && (raw->inputs == 1 || unreadable || !raw->before)))
		text_add(&chunk->text, s.p, before);
	if (close != NULL)
		hold(raw, slice_of(close, s.n - before), chunk);
}

static bool
has_comma(struct slice record)
{
	while (record.n > 0 && strchr(" \t\r\n", record.p[record.n - 1]) != NULL)
		record.n--;
	return record.n > 0 && record.p[record.n - 1] == ',';
}

/* Before the first record of an input, and the first behind a closing bracket. */
static void
prepare_record(struct dfw_raw *raw, struct slice record, struct chunk *chunk)
{
	if (raw->inputs == 1) {
		raw->commas |= raw->before && has_comma(record);
		if (!raw->selecting)
			text_add(&chunk->text, raw->end.p, raw->end.n);
		text_clear(&raw->end);
	} else if (raw->before && !raw->selecting) {
		end_line(raw, chunk);
		if (raw->commas && !ends_in_comma(raw))
			text_str(&chunk->text, ",\n");
	}
	raw->before = false;
}

static void
begin_input(struct dfw_raw *raw, struct chunk *chunk)
{
	raw->inputs++;
	raw->before = true;
	if (raw->sealed)
		chunk->end.failed = "the first input is an object with more than 1 MiB behind its records: "
		                    "records of other inputs cannot follow them";
}

/* ---- all of them ---- */

/* The last bytes are text: see remember_tail(). */
static void
put_run(struct slice run, struct chunk *chunk)
{
	const uint32_t n = run.n > DFW_TAIL ? run.n - DFW_TAIL : 0;

	if (n > 0)
		chunk_borrow(chunk, slice_of(run.p, n));
	if (run.n > 0)
		text_add(&chunk->text, run.p + n, run.n - n);
}

void
dfw_raw(struct dfw_state *st, const struct batch *b, struct chunk *chunk)
{
	struct dfw_raw *const raw = &st->raw;
	struct slice run = { NULL, 0, 0 }; /* records that lie side by side */

	dfw_select_end(&st->select);
	raw->selecting = st->selected && st->select.left_out;
	chunk->text.failed |= st->select.failed;
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		const struct slice bytes = b->bytes[i];
		const bool is_gap = e->phase == PHASE_STRUCTURE && dft_is_gap(e->cls);
		if (run.n > 0 && run.p + run.n == bytes.p && bytes.n <= UINT32_MAX - run.n && !is_gap &&
		    e->offset != 0) {
			run.n += bytes.n;
			continue;
		}
		put_run(run, chunk);
		run.n = 0;
		if (e->offset == 0)
			begin_input(raw, chunk);
		if (is_gap) {
			gap(raw, bytes, dft_is_unreadable(e->cls), chunk);
			continue;
		}
		if (raw->before || raw->end.n > 0)
			prepare_record(raw, bytes, chunk);
		if (raw->selecting)
			put_selected(st, e, bytes, chunk);
		else if (st->rebased)
			dfw_move(st, e, bytes, chunk);
		else
			run = bytes;
	}
	put_run(run, chunk);
	remember_tail(raw, &chunk->text);
}

void
dfw_raw_close(struct dfw_raw *raw, struct chunk *chunk)
{
	const bool closed = raw->end.n > 0 || raw->closed_later;

	const bool closes = raw->inputs > 1 ? raw->opened && closed : closed;

	if (raw->selecting && !raw->sealed && (closes || raw->line_end))
		end_selected(raw, chunk, false);
	if (!closes)
		return;
	if (raw->inputs > 1)
		end_line(raw, chunk);
	if (raw->end.n > 0)
		text_add(&chunk->text, raw->end.p, raw->end.n);
	else if (raw->closed_later)
		text_char(&chunk->text, ']');
}
