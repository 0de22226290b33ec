#include "run/choose/record_marks.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "run/engine_losses.h"
#include "run/pipeline.h"
#include "run/read/reading.h"
#include "run/choose/select_found.h"
#include "run/choose/split.h"

/* ---- marks ---- */

void
record_marks_add(struct record_marks *m, const struct batch *b, uint32_t i, uint32_t part)
{
	const unsigned bits = m->split != NULL ? SPLIT_BITS : 0;

	if (m->state != MARKS_GATHERING)
		return;
	mark_set_add(&m->set, b->events[i].offset << bits | part);
	if (m->others[i] != b->events[i].offset)
		mark_set_add(&m->set, m->others[i] << bits | part);
}

unsigned
record_marks_shift(size_t inputs)
{
	unsigned shift = 62;

	for (size_t n = inputs; n > 1; n = (n + 1) / 2)
		shift--;
	return shift;
}

struct record_extents *
record_marks_extents(struct record_marks *m, uint32_t input)
{
	if (!array_reach(&m->inputs, &m->ninputs, input, sizeof *m->inputs))
		return NULL;
	if (m->inputs[input] == NULL && (m->inputs[input] = calloc(1, sizeof **m->inputs)) != NULL)
		*m->inputs[input] = (struct record_extents){ .marks = m, .number = input };
	return m->inputs[input];
}

/* Of what begins at a place: odd if it is no event. */
static uint64_t
extent(const struct record_marks *m, uint32_t input, uint64_t offset, bool event)
{
	return (offset | (uint64_t)input << m->shift) << 1 | !event;
}

/* Notes where the records of a batch begin, and where nothing is known between them. */
static void
note_extents(struct record_marks *m, uint32_t input, const struct batch *b)
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
	m->failed |= x == NULL;
}

/* What follows the last record of each input is of none. */
static bool
end_extents(struct record_marks *m)
{
	for (uint32_t i = 0; i < m->ninputs; i++)
		if (m->inputs[i] != NULL)
			mark_set_add(&m->extents, extent(m, i, m->inputs[i]->end, false));
	return !m->failed && mark_set_finish(&m->extents);
}

bool
record_marks_left_out(void *extents, uint64_t offset)
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

static void
tag(struct record_marks *m, uint32_t input, struct batch *b)
{
	const uint64_t high = (uint64_t)input << m->shift;

	if (b->bytes != NULL)
		note_extents(m, input, b);
	if (m->split != NULL && m->split->by == SPLIT_SIZE)
		split_note(m->split, b, input);
	for (uint32_t i = 0; i < b->n; i++) {
		m->too_large |= b->events[i].offset >> m->shift != 0;
		b->events[i].offset |= high;
	}
}

static void
take_away(struct record_marks *m, struct batch *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		if ((b->events[i].flags & EVENT_LEFT_OUT) != 0)
			continue;
		b->events[n] = b->events[i];
		if (b->bytes != NULL)
			b->bytes[n] = b->bytes[i];
		if (m->split != NULL)
			m->parts[n] = m->parts[i];
		n++;
	}
	b->n = n;
}

/* The part of the record of an event; SPLIT_ALL; SPLIT_NONE: it was not selected. */
static uint32_t
part_of(struct record_marks *m, struct mark_input *c, uint64_t place)
{
	uint64_t found;

	if (c->cursor.last >> SPLIT_BITS > place) /* a new pass */
		c->part = 0;
	if (!mark_cursor_floor(&c->cursor, &m->split->marks.set, place << SPLIT_BITS | SPLIT_ALL, &found,
	                       &m->failed) ||
	    found >> SPLIT_BITS != place)
		return m->split->selects ? SPLIT_NONE : c->part;
	const uint32_t part = found & SPLIT_ALL;
	if (part != SPLIT_ALL)
		c->part = part;
	return part;
}

static bool
is_marked(struct record_marks *m, struct mark_input *c, uint64_t place, uint32_t i)
{
	if (m->split == NULL)
		return mark_cursor_has(&c->cursor, &m->set, place, &m->failed);
	const uint32_t part = m->parts[i] = part_of(m, c, place);
	return part == SPLIT_ALL || (part >= m->part && part < m->end);
}

static void
apply(struct record_marks *m, uint32_t input, struct batch *b)
{
	const uint64_t high = (uint64_t)input << m->shift;

	if (!array_reach(&m->cursors, &m->ncursors, input, sizeof *m->cursors) ||
	    (m->split != NULL && b->n > 0 &&
	     !array_reach(&m->parts, &m->parts_cap, b->n - 1, sizeof *m->parts))) {
		m->failed = true;
		return;
	}
	struct mark_input *const c = &m->cursors[input];
	for (uint32_t i = 0; i < b->n; i++) {
		struct event *const e = &b->events[i];
		if (e->phase != PHASE_STRUCTURE && !is_marked(m, c, e->offset | high, i))
			e->flags |= EVENT_LEFT_OUT;
	}
	if (m->drops)
		take_away(m, b);
}

bool
record_marks_read(struct record_marks *m, uint32_t input, struct batch *b)
{
	if (m->state == MARKS_GATHERING)
		tag(m, input, b);
	else if (m->state == MARKS_MADE)
		apply(m, input, b);
	return !m->failed;
}

void
record_marks_free(struct record_marks *m)
{
	for (uint32_t i = 0; i < m->ncursors; i++)
		mark_cursor_free(&m->cursors[i].cursor);
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
	mark_set_free(&m->set);
	select_found_free(m->found);
	*m = (struct record_marks){ .state = MARKS_NOT };
}

void
record_marks_reason(const struct record_marks *m, char *why, size_t size)
{
	const struct spill_file *const f =
	    m->set.file.failed != SPILL_NOTHING ? &m->set.file : &m->extents.file;

	if (f->failed != SPILL_NOTHING)
		spill_reason(f, "the marks of records", why, size);
	else if (m->too_large && m->why.text[0] == '\0')
		snprintf(why, size, "the input is too large for a selection of its records");
	else
		snprintf(why, size, "%s", pipeline_why_text(&m->why));
}

/* ---- the first pass ---- */

/* The first input that can be read tells whether records are copied at all. */
static bool
is_copied(void *ctx, const struct source *s)
{
	struct record_marks *const m = ctx;

	if (m->format == NULL || s->format == m->format)
		return true;
	m->state = MARKS_NOT;
	return false;
}

/* Notes all that is selected.  false: it failed. */
static bool
gather(struct pipeline *p, struct pipeline *first, const struct pipeline_job *job)
{
	struct record_marks *const m = &p->marks;
	const struct loss *const lost = &engine_losses[ENGINE_LOSS_TOO_MANY_OPEN];
	const enum stage_status status = pipeline_open(first, job) ? pipeline_drain(first) : STAGE_BAD;

	pipeline_end(first);
	const bool ok = !pipeline_pass_failed(first, status);
	const struct ledger *const l = interpret_ledger(&first->interpret);
	for (size_t i = 0; i < l->n; i++)
		if (l->rows[i].loss == lost)
			ledger_add(&p->ledger, lost,
			           l->rows[i].first_offset & ((UINT64_C(1) << m->shift) - 1),
			           l->rows[i].count);
	m->found = first->select.found;
	first->select.found = NULL;
	memcpy(p->context.refused, first->context.refused, sizeof p->context.refused);
	pipeline_close(first);
	if (m->state != MARKS_GATHERING) {
		select_found_free(m->found); /* of a part of the trace */
		m->found = NULL;
		return true;
	}
	return ok && !m->too_large && mark_set_finish(&m->set) && (p->job->scope == NULL || end_extents(m));
}

/* Of a pass of its own over the inputs of a pipeline. */
static struct pipeline_job
job_of_pass(struct pipeline *p)
{
	struct pipeline_job job = *p->job;

	job.operands = &p->reading->operands;
	job.vocabularies = p->context.vocabularies;
	job.marks = &p->marks;
	job.raw = false;
	job.raw_from = NULL;
	job.scope = NULL;
	job.order = ORDER_FILE;
	job.rebase = job.lanes = job.lanes_off = job.late = false;
	job.sink = pipeline_note_why;
	job.ctx = &p->marks.why;
	job.hooks = (struct pipeline_hooks){ .ctx = &p->marks };
	return job;
}

static bool
refuse(struct pipeline *p)
{
	pipeline_failed(p, "the input can be read only once, and to tell what is in the scope it has to be "
	                   "read twice: read it from a file");
	return false;
}

bool
record_marks_make(struct pipeline *p)
{
	struct record_marks *const m = &p->marks;
	struct pipeline_job job = job_of_pass(p);
	char why[512];

	*m = (struct record_marks){ .state = MARKS_READ_ONCE, .drops = p->job->raw_drops };
	m->format = p->job->raw ? NULL : p->job->raw_from;
	m->set.beside = m->extents.beside = p->job->sort_beside;
	m->set.pages = true;
	if (!pipeline_reads_twice(p->job))
		return p->job->scope == NULL || refuse(p);
	m->shift = record_marks_shift(p->reading->inputs);
	struct pipeline *const first = malloc(sizeof *first);
	m->others = calloc(PIPELINE_BATCH_EVENTS, sizeof *m->others);
	m->state = MARKS_GATHERING;
	job.want = WANT_TIMES | WANT_STRUCTURE | (job.want & WANT_ORDER);
	if (p->job->scope != NULL) {
		job.select = p->job->scope;
		job.want |= WANT_BYTES;
	}
	job.interpret = INTERPRET_SPANS;
	job.hooks.opened = is_copied;
	if (first != NULL && m->others != NULL && gather(p, first, &job)) {
		if (m->state == MARKS_GATHERING)
			m->state = p->job->scope != NULL ? MARKS_SCOPE : MARKS_MADE;
		free(first);
		return true;
	}
	free(first);
	if (p->context.refused[0] != '\0') {
		memcpy(why, p->context.refused, sizeof why);
		pipeline_refused(p, "%s", why);
		return false;
	}
	record_marks_reason(m, why, sizeof why);
	pipeline_failed(p, why);
	return false;
}

void
record_marks_of_part(struct pipeline *p)
{
	struct split *const s = p->job->split;

	p->marks = (struct record_marks){ .state = s->copies ? MARKS_MADE : MARKS_NOT,
		                          .split = s,
		                          .part = p->job->part,
		                          .end = p->job->part_end,
		                          .format = s->marks.format,
		                          .shift = s->marks.shift,
		                          .drops = p->job->raw_drops };
}

bool
record_marks_survey(struct pipeline *p, void (*take)(void *ctx, const struct batch *b), void *ctx)
{
	struct pipeline_job job = job_of_pass(p);
	struct pipeline *const pass = malloc(sizeof *pass);
	enum stage_status status = STAGE_BAD;
	struct batch *b;
	char why[512];

	job.raw = true;
	job.raw_from = p->job->raw_from; /* whose writer may need no fields */
	job.raw_bare = false;
	job.select = NULL;
	job.interpret = INTERPRET_NOT;
	p->marks.why.text[0] = '\0';
	if (pass != NULL && pipeline_open(pass, &job))
		while ((status = stage_next(pass->last, &b)) == STAGE_MORE) {
			take(ctx, b);
			batch_release(b);
		}
	bool ok = false;
	if (pass != NULL) {
		pipeline_end(pass);
		ok = !pipeline_pass_failed(pass, status);
		pipeline_close(pass);
	}
	free(pass);
	if (ok)
		return true;
	record_marks_reason(&p->marks, why, sizeof why);
	pipeline_failed(p, why);
	return false;
}
