/* Stretches of a selection: adjacent records of which all events are selected, or none is.  A copy reads each
 * as one event.  They are known if events were marked in the order of the file: the set of marks has the
 * selected ones, another set the first of those that are left out after each.  Cost: a number for each
 * change.
 */
#include "base/memory.h"
#include "run/read/marks.h"

void record_marks_chosen(struct record_marks *m, uint32_t input, const struct batch *b)
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

uint64_t record_marks_stretch(struct record_marks *m, uint32_t input, uint64_t offset)
{
	const uint64_t high = (uint64_t)input << m->shift, at = offset | high;

	if (!array_reach(&m->cursors, &m->ncursors, input, sizeof *m->cursors)) {
		m->failed = true;
		return offset;
	}
	struct mark_input *const c = &m->cursors[input];
	if (at < c->until && at >= c->begin.last)
		return c->until - high;
	const uint64_t begin = mark_cursor_next(&c->begin, &m->set, at, &m->failed);
	c->until = begin != at ? begin : mark_cursor_next(&c->end, &m->ends, at, &m->failed);
	return c->until >> m->shift == input ? c->until - high : UINT64_MAX;
}
