/* Common code of readers: records that are too long, and spans for gaps in the numbers of records. */
#include "format/reader_modes.h"

#include <inttypes.h>

#include "base/scan.h"
#include "check/rules.h"
#include "model/event.h"
#include "model/trace_engine.h"

_Static_assert(((WANT_GAPS | WANT_DIALECT) & (WANT_FILES | WANT_BARE)) == 0,
               "optional wants have a bit each");

/* ---- records that are too long ---- */

void reader_report_long(const struct reader *r, struct findings *findings, uint64_t offset, uint64_t ordinal,
                        const char *what, uint64_t size)
{
	const struct rule *const rule = &input_rules[INPUT_RULE_RECORD_LIMIT];

	if (size > 0)
		finding_add(findings, rule, offset, ordinal,
		            "%s of %" PRIu64 " bytes was not checked: --max-record is %" PRIu64, what, size,
		            r->max_record);
	else
		finding_add(findings, rule, offset, ordinal,
		            "%s was not checked: it is longer than --max-record, %" PRIu64 " bytes", what,
		            r->max_record);
}

enum record_status reader_pass_to(struct reader *r, struct record *rec, const char *end)
{
	static const struct class like = { .name = SLICE_LIT("record not read") };

	rec->cls = NULL;
	if ((r->want & WANT_RAW) != 0) {
		rec->cls = trace_plan_class(r->trace, &like);
		r->no_memory |= rec->cls == NULL;
	}
	rec->end = end;
	rec->ts = 0;
	rec->track = NULL;
	rec->role = RECORD_IS_LONG;
	rec->alone = true;
	return r->no_memory ? RECORD_BAD : RECORD_DONE;
}

enum record_status reader_pass(struct reader *r, struct record *rec, uint64_t *left)
{
	const size_t present = (size_t)(r->in->end - rec->p);
	size_t n = *left < READER_PIECE ? (size_t)*left : READER_PIECE;

	if (present < n && !r->in->last)
		return RECORD_MORE;
	n = present < n ? present : n;
	if (n == 0)
		return RECORD_END;
	*left -= n;
	return reader_pass_to(r, rec, rec->p + n);
}

bool reader_charge(struct reader_charges *c, uint64_t n, uint64_t limit, uint64_t long_limit)
{
	const bool is_long = n > READER_LONG_CHARGE;
	uint64_t *const used = is_long ? &c->used_long : &c->used;
	const uint64_t max = is_long ? long_limit : limit;

	if (n > max || *used > max - n)
		return false;
	*used += n;
	return true;
}

/* ---- raw records without members ---- */

const struct class_field reader_bytes_field = { .name = SLICE_LIT("text"),
	                                        .type = SLICE_LIT("string"),
	                                        .value = VALUE_STRING };

void reader_bytes_fields(struct batch *b, struct event *e, const char *p, const char *end)
{
	struct field *const f = batch_event_fields(b, e, 1);

	if (f != NULL)
		*f = (struct field){ reader_bytes_field.name,
			             value_string(textscan_slice(p, (uint32_t)(end - p))) };
}

/* ---- gaps ---- */

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
