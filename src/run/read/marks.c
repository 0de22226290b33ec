/* Marks of records (marks.h): sets of numbers, filled by the pass that selects, and applied to the records of
 * the next pass by cursors, nearly sequentially. */
#include "run/read/marks.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "model/event_traits.h"

void record_marks_add(struct record_marks *m, const struct batch *b, uint32_t i, uint32_t part)
{
	const unsigned bits = m->has_parts ? SPLIT_BITS : 0;
	const struct event *const e = &b->events[i];

	/* Arrows of a record that ended a span need no mark: the record is in the part of the span. */
	if (m->state != MARKS_GATHERING ||
	    (m->has_parts && event_has_arrow_id(e) && e->offset + 1 == m->ended))
		return;
	/* A record with marks of several parts is in the last of them: part_of(). */
	mark_set_add(&m->set, e->offset << bits | part);
	if (m->others[i] != e->offset && (!m->has_parts || e->phase == PHASE_SPAN)) {
		mark_set_add(&m->set, m->others[i] << bits | part);
		m->ended = m->others[i] + 1;
	}
}

void record_marks_keep(struct record_marks *m, const struct batch *b, uint32_t i)
{
	const struct event *const e = &b->events[i];

	if (m->state != MARKS_GATHERING || m->failed)
		return;
	if (note_failure(&m->failed,
	                 m->timed == NULL && (m->timed = malloc(MARKS_TIMED * sizeof *m->timed)) == NULL))
		return;
	m->timed[m->ntimed++] =
	    (struct timed_mark){ e->ts, e->phase == PHASE_SPAN ? e->dur : 0, e->offset, m->others[i] };
	if (m->ntimed < MARKS_TIMED)
		return;
	m->failed = (!m->timed_file.is_open && !spill_open(&m->timed_file, m->set.temp_near)) ||
	            !spill_write(&m->timed_file, m->timed, MARKS_TIMED * sizeof *m->timed);
	m->ntimed = 0;
}

static void release(struct record_marks *m, uint32_t n, bool (*wanted)(void *ctx, const struct event *e),
                    void *ctx)
{
	for (const struct timed_mark *t = m->timed; t < m->timed + n; t++) {
		const struct event e = { .ts = t->ts,
			                 .dur = t->dur,
			                 .phase = t->dur > 0 ? PHASE_SPAN : PHASE_INSTANT };
		if (!wanted(ctx, &e))
			continue;
		mark_set_add(&m->set, t->mark);
		mark_set_add(&m->set, t->other);
	}
}

void record_marks_release(struct record_marks *m, bool (*wanted)(void *ctx, const struct event *e), void *ctx)
{
	const size_t size = MARKS_TIMED * sizeof *m->timed;

	release(m, m->ntimed, wanted, ctx);
	for (uint64_t at = 0; at < m->timed_file.size && !m->failed; at += size) {
		m->failed = !spill_read(&m->timed_file, at, m->timed, size);
		if (!m->failed)
			release(m, MARKS_TIMED, wanted, ctx);
		spill_discard(&m->timed_file, at, size);
	}
	m->ntimed = 0;
}

unsigned record_marks_shift(size_t inputs)
{
	unsigned shift = 62;

	for (size_t n = inputs; n > 1; n = (n + 1) / 2)
		shift--;
	return shift;
}

struct record_extents *record_marks_extents(struct record_marks *m, uint32_t input)
{
	if (!array_reach(&m->inputs, &m->ninputs, input, sizeof *m->inputs))
		return NULL;
	if (m->inputs[input] == NULL && (m->inputs[input] = calloc(1, sizeof **m->inputs)) != NULL)
		*m->inputs[input] = (struct record_extents){ .marks = m, .number = input };
	return m->inputs[input];
}

/* The start of an event, or (odd) of other bytes. */
static uint64_t extent(const struct record_marks *m, uint32_t input, uint64_t offset, bool event)
{
	return (offset | (uint64_t)input << m->shift) << 1 | !event;
}

/* Adds the starts of records of a batch, and of unknown bytes between them. */
static void note_extents(struct record_marks *m, uint32_t input, const struct batch *b)
{
	struct record_extents *const x = record_marks_extents(m, input);

	for (uint32_t i = 0; x != NULL && i < b->n; i++) {
		const struct event *const e = &b->events[i];
		if (e->offset > x->end)
			mark_set_add(&m->extents, extent(m, input, x->end, false));
		mark_set_add(&m->extents, extent(m, input, e->offset, e->phase != PHASE_STRUCTURE));
		if (e->offset + b->bytes[i].n > x->end)
			x->end = e->offset + b->bytes[i].n;
	}
	m->no_extents |= x == NULL;
}

bool record_marks_finish(struct record_marks *m, bool with_extents)
{
	if (m->too_large || m->failed || m->no_extents || !mark_set_finish(&m->set) ||
	    !mark_set_finish(&m->ends))
		return false;
	if (!with_extents)
		return true;
	for (uint32_t i = 0; i < m->ninputs; i++) /* no record includes the bytes after the last record */
		if (m->inputs[i] != NULL)
			mark_set_add(&m->extents, extent(m, i, m->inputs[i]->end, false));
	return !m->failed && mark_set_finish(&m->extents);
}

bool record_marks_left_out(void *extents, uint64_t offset)
{
	struct record_extents *const x = extents;
	struct record_marks *const m = x->marks;
	uint64_t found;

	if (offset >> m->shift != 0 ||
	    !mark_cursor_floor(&x->extent, &m->extents, extent(m, x->number, offset, false), &found,
	                       &m->failed) ||
	    (found & 1) != 0 || found >> 1 >> m->shift != x->number)
		return false;
	return !mark_cursor_has(&x->selected, &m->set, found >> 1, &m->failed) && !m->failed;
}

static void replace_offsets(struct record_marks *m, uint32_t input, struct batch *b)
{
	const uint64_t high = (uint64_t)input << m->shift;

	if (b->bytes != NULL)
		note_extents(m, input, b);
	if (m->note != NULL)
		m->note(m->note_ctx, b, input);
	for (uint32_t i = 0; i < b->n; i++) {
		m->too_large |= b->events[i].offset >> m->shift != 0;
		b->events[i].offset |= high;
	}
}

static void remove_left_out(struct record_marks *m, struct batch *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		if ((b->events[i].flags & EVENT_LEFT_OUT) != 0)
			continue;
		b->events[n] = b->events[i];
		if (b->bytes != NULL)
			b->bytes[n] = b->bytes[i];
		if (m->has_parts)
			m->parts[n] = m->parts[i];
		n++;
	}
	b->n = n;
}

/* Returns the part of a record, SPLIT_ALL, or SPLIT_NONE if it is not selected. */
static uint32_t part_of(struct record_marks *m, struct mark_input *c, uint64_t position)
{
	uint64_t found;

	if (c->cursor.last >> SPLIT_BITS > position) /* a new pass */
		c->part = 0;
	if (!mark_cursor_floor(&c->cursor, m->planned, position << SPLIT_BITS | SPLIT_ALL, &found,
	                       &m->failed) ||
	    found >> SPLIT_BITS != position)
		return m->selects ? SPLIT_NONE : c->part;
	const uint32_t part = found & SPLIT_ALL;
	if (part != SPLIT_ALL)
		c->part = part;
	return part;
}

static bool is_marked(struct record_marks *m, struct mark_input *c, uint64_t position, uint32_t i)
{
	if (!m->has_parts)
		return mark_cursor_has(&c->cursor, &m->set, position, &m->failed);
	const uint32_t part = m->parts[i] = part_of(m, c, position);
	return part == SPLIT_ALL || (part >= m->part && part < m->end);
}

/* The cursors of an input.  NULL: it failed. */
static struct mark_input *cursors_of(struct record_marks *m, uint32_t input)
{
	if (array_reach(&m->cursors, &m->ncursors, input, sizeof *m->cursors))
		return &m->cursors[input];
	m->failed = true;
	return NULL;
}

static void apply_marks(struct record_marks *m, uint32_t input, struct batch *b)
{
	const uint64_t high = (uint64_t)input << m->shift;
	struct mark_input *const c = cursors_of(m, input);

	if (m->has_parts && b->n > 0)
		m->failed |= !array_reach(&m->parts, &m->parts_cap, b->n - 1, sizeof *m->parts);
	if (m->failed)
		return;
	for (uint32_t i = 0; i < b->n; i++) {
		struct event *const e = &b->events[i];
		if (e->phase != PHASE_STRUCTURE && !is_marked(m, c, e->offset | high, i))
			e->flags |= EVENT_LEFT_OUT;
	}
	if (m->drops)
		remove_left_out(m, b);
}

/* With MARKS_WHILE_READING: marks the events of a batch that were not left out. */
static void mark_chosen(struct record_marks *m, uint32_t input, const struct batch *b)
{
	const uint64_t high = (uint64_t)input << m->shift;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		const bool chosen = (e->flags & EVENT_LEFT_OUT) == 0;
		m->too_large |= e->offset >> m->shift != 0;
		if (e->phase == PHASE_STRUCTURE)
			continue;
		if (chosen)
			mark_set_add(&m->set, e->offset | high);
		else if (m->was_chosen)
			mark_set_add(&m->ends, e->offset | high);
		m->was_chosen = chosen;
	}
}

bool record_marks_read(struct record_marks *m, uint32_t input, struct batch *b)
{
	if (m->state == MARKS_GATHERING) {
		replace_offsets(m, input, b);
		return !m->no_extents;
	}
	if (m->state == MARKS_WHILE_READING)
		m->failed |= !m->choose(m->choose_ctx, b);
	if (m->state == MARKS_WHILE_READING && m->surveying)
		mark_chosen(m, input, b);
	if (m->state == MARKS_MADE)
		apply_marks(m, input, b);
	return !m->failed;
}

/* ---- stretches ---- */

/* Stretches of a selection: adjacent records whose events are all selected, or all left out.  A copy reads
 * each stretch as one event.  Stretches are available if events were marked in file order: the set of marks
 * has the selected events, and another set the first event that is left out after each stretch of them.
 * Cost: a number for each change. */

uint64_t record_marks_stretch(struct record_marks *m, uint32_t input, uint64_t offset)
{
	const uint64_t high = (uint64_t)input << m->shift, at = offset | high;
	struct mark_input *const c = cursors_of(m, input);

	if (c == NULL)
		return offset;
	if (at < c->until && at >= c->begin.last)
		return c->until - high;
	const uint64_t begin = mark_cursor_next(&c->begin, &m->set, at, &m->failed);
	c->until = begin != at ? begin : mark_cursor_next(&c->end, &m->ends, at, &m->failed);
	return c->until >> m->shift == input ? c->until - high : UINT64_MAX;
}

uint64_t record_marks_next(struct record_marks *m, uint32_t input, uint64_t offset)
{
	const uint64_t high = (uint64_t)input << m->shift;
	struct mark_input *const c = cursors_of(m, input);

	if (c == NULL)
		return offset;
	const uint64_t next = mark_cursor_next(&c->begin, &m->set, offset | high, &m->failed);
	return next >> m->shift == input ? next - high : UINT64_MAX;
}

void record_marks_free(struct record_marks *m)
{
	for (uint32_t i = 0; i < m->ncursors; i++) {
		mark_cursor_free(&m->cursors[i].cursor);
		mark_cursor_free(&m->cursors[i].begin);
		mark_cursor_free(&m->cursors[i].end);
	}
	for (uint32_t i = 0; i < m->ninputs; i++)
		if (m->inputs[i] != NULL) {
			mark_cursor_free(&m->inputs[i]->extent);
			mark_cursor_free(&m->inputs[i]->selected);
			free(m->inputs[i]);
		}
	free(m->inputs);
	mark_set_free(&m->extents);
	free(m->cursors);
	free(m->parts);
	free(m->others);
	free(m->timed);
	spill_close(&m->timed_file);
	mark_set_free(&m->set);
	mark_set_free(&m->ends);
	*m = (struct record_marks){ .state = MARKS_NOT };
}

void record_marks_reason(const struct record_marks *m, char *why, size_t size)
{
	const struct spill_file *const f = m->set.file.failed != SPILL_NOTHING     ? &m->set.file
	                                   : m->timed_file.failed != SPILL_NOTHING ? &m->timed_file
	                                                                           : &m->extents.file;

	if (f->failed != SPILL_NOTHING)
		spill_reason(f, "the marks of records", why, size);
	else if (m->too_large && m->why.text[0] == '\0')
		snprintf(why, size, "the input is too large for a selection of its records");
	else
		snprintf(why, size, "%s", pipeline_why_text(&m->why));
}
