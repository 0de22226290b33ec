#include "run/adjust/rebase.h"

#include "run/read/min_time.h"
#include "run/read/reading.h"

enum stage_status
rebase_next(struct stage *stage, struct batch **out)
{
	struct rebase_stage *const st = (struct rebase_stage *)stage;
	const enum stage_status status = stage_next(stage->from, out);

	if (status != STAGE_MORE)
		return status;
	struct batch *const b = *out;
	uint32_t i = 0;
	if (!st->known) { /* the first event's, as good as any; records before it are no events */
		while (i < b->n && b->events[i].phase == PHASE_STRUCTURE)
			i++;
		st->known = i < b->n;
		st->by = st->known ? b->events[i].ts : 0;
	}
	for (; i < b->n; i++)
		b->events[i].ts -= st->by; /* earlier ones wrap; writers read ts as signed then */
	return STAGE_MORE;
}

bool
rebase_init(struct pipeline *p)
{
	const struct min_time m = min_time_find(p->job, &p->reading->operands, p->context.vocabularies);

	if (m.failed && m.why[0] != '\0')
		pipeline_failed(p, m.why);
	else if (m.failed)
		pipeline_no_memory(p);
	p->rebase.p = p;
	p->rebase.known = m.known;
	p->rebase.by = m.ns;
	p->rebase.signed_time = !m.complete;
	return !m.failed;
}
