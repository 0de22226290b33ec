/* Spans for gaps in the numbers of records. */
#include "format/reader_modes.h"

#include "model/class.h"
#include "model/trace_engine.h"

const struct track *reader_gap_track(struct reader *r, const struct track *track)
{
	return r->trace->ntracks < TRACE_MAX_TRACKS ? trace_child_track(r->trace, track, SLICE_LIT("lost"))
	                                            : track;
}

bool reader_gap_event(struct reader *r, struct batch *b, const struct reader_gap *g, struct event *e)
{
	static const struct class_field declared = {
		.name = SLICE_LIT("missing"), .type = SLICE_LIT("u64"), .value = VALUE_U64, .size = 8
	};
	const struct class like = { .name = SLICE_LIT("lost records"),
		                    .category = SLICE_LIT("lost"),
		                    .fields = &declared,
		                    .nfields = 1,
		                    .reader_applies = true };
	struct class *const cls = trace_plan_class(r->trace, &like);
	const uint64_t from = g->from < g->to ? g->from : g->to;

	if (cls == NULL)
		return false;
	*e = (struct event){
		.ts = from,
		.dur = (g->from < g->to ? g->to : g->from) - from,
		.name = cls->name,
		.cls = cls,
		.track = g->track,
		.offset = g->offset,
		.phase = PHASE_SPAN,
	};
	struct field *const f = batch_event_fields(b, e, 1);
	if (f == NULL)
		return false;
	*f = (struct field){ declared.name, { .type = VALUE_U64, .u64 = g->missing } };
	return true;
}
