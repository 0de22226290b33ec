#include "dftracer/facts.h"
#include "dftracer/raw.h"
#include "dftracer/report.h"
#include "dftracer/value.h"

/* Records as events: of which class, which span, on whose track. */

/* ---- classes ---- */

static struct class *
find_class(struct dft_state *st, const struct dft_record *rec, struct slice name, struct slice category)
{
	struct trace *const trace = st->r->trace;
	struct dft_classes *const all = &st->sh->classes;
	const uint32_t known = tabletext_get(&all->index, name);

	if (known != TABLE_NONE)
		return trace->planned[known];
	if (trace->nclasses >= DFT_MAX_CLASSES || name.n > DFT_MAX_CLASS_BYTES - all->bytes) {
		dft_report_limit(st, DFT_LIMIT_CLASSES, rec);
		if (all->more == NULL)
			all->more = trace_add_class(trace, SLICE_LIT("more categories"));
		return all->more;
	}
	struct class *const c = trace_plan_class(
	    trace, &(struct class){ .name = name,
	                            .category = category,
	                            .plan = trace_find_plan(trace, name, NULL, NULL) });
	if (c == NULL || !tabletext_put(&all->index, c->name, c->index))
		return NULL;
	all->bytes += name.n;
	return c;
}

/* Two capitals in brackets keep the tracer's own metadata apart from categories of that name. */
static struct class *
metadata_class(struct dft_state *st, const struct dft_record *rec)
{
	static const struct {
		const char *name;
		struct slice class;
	} rows[] = {
		{ "HH", SLICE_LIT("HH (host name)") },
		{ "FH", SLICE_LIT("FH (file name)") },
		{ "SH", SLICE_LIT("SH (string)") },
		{ "PR", SLICE_LIT("PR (process)") },
		{ "CM", SLICE_LIT("CM (custom metadata)") },
		{ "EH", SLICE_LIT("EH (entity)") },
		{ "ET", SLICE_LIT("ET (entity type)") },
		{ "ER", SLICE_LIT("ER (entity relation)") },
		{ "process_name", SLICE_LIT("process_name") },
		{ "thread_name", SLICE_LIT("thread_name") },
	};
	const struct slice name =
	    dft_top_kind(rec, DFT_NAME) == JSON_STRING ? dft_top_text(rec, DFT_NAME) : slice_of(NULL, 0);

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (slice_is(name, rows[i].name))
			return find_class(st, rec, rows[i].class, SLICE_LIT("dftracer"));
	return find_class(st, rec, SLICE_LIT("metadata"), SLICE_LIT("dftracer"));
}

static struct class *
class_of(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f, struct batch *b)
{
	const enum json_kind kind = dft_top_kind(rec, DFT_CAT);
	struct slice cat = kind != JSON_ABSENT ? dft_top_text(rec, DFT_CAT) : slice_of("", 0);

	if (f->phase == DFT_PHASE_METADATA)
		return metadata_class(st, rec);
	struct class **const recent =
	    &st->sh->classes.recent[cat.n > 0 ? (uint32_t)(unsigned char)cat.p[cat.n - 1] % DFT_RECENT : 0];
	if (kind == JSON_STRING && *recent != NULL && slice_equal((*recent)->name, cat))
		return *recent;
	if (kind == JSON_ABSENT)
		cat = SLICE_LIT("no category");
	else
		cat = dft_text(&b->scratch, rec, rec->top[DFT_CAT], kind);
	struct class *const c = cat.p != NULL ? find_class(st, rec, cat, cat) : NULL;
	if (kind == JSON_STRING)
		*recent = c;
	return c;
}

/* ---- events ---- */

/* What it is to those who look at it; without a time it has no place among events. */
static enum phase
phase_of(const struct dft_facts *f)
{
	if (f->phase == DFT_PHASE_METADATA || f->phase == DFT_PHASE_NONE || !f->has_ts || !f->has_pid)
		return PHASE_STRUCTURE;
	switch (f->phase) {
	case DFT_PHASE_COMPLETE:
		return f->has_dur ? PHASE_SPAN : PHASE_INSTANT;
	case DFT_PHASE_COUNTER:
		return PHASE_COUNTER;
	case DFT_PHASE_BEGIN:
		return PHASE_BEGIN;
	case DFT_PHASE_END:
		return PHASE_END;
	default:
		return PHASE_INSTANT;
	}
}

bool
dft_event_is_structure(const struct dft_facts *f)
{
	return phase_of(f) == PHASE_STRUCTURE;
}

static struct slice
name_of(struct batch *b, const struct dft_record *rec)
{
	const enum json_kind kind = dft_top_kind(rec, DFT_NAME);

	if (kind == JSON_STRING && rec->clean)
		return dft_clean_text(dft_top_text(rec, DFT_NAME));
	return kind == JSON_ABSENT ? SLICE_LIT("") : dft_text(&b->scratch, rec, rec->top[DFT_NAME], kind);
}

void
dft_event_add(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f, struct batch *b)
{
	struct event *const e = &b->events[b->n];
	const enum phase phase = phase_of(f);
	struct class *const c = class_of(st, rec, f, b);

	if (c == NULL) {
		st->no_memory = true;
		return;
	}
	c->records++;
	if ((st->r->want & (phase == PHASE_STRUCTURE ? WANT_STRUCTURE : WANT_TIMES)) == 0)
		return;
	*e = (struct event){ .ts = f->has_ts ? f->ts : 0,
		             .dur = phase == PHASE_SPAN ? f->dur : 0,
		             .name = name_of(b, rec),
		             .cls = c,
		             .offset = rec->offset,
		             .first_field = b->nfields,
		             .phase = (uint8_t)phase };
	if (phase != PHASE_STRUCTURE)
		e->track = dft_thread_track(st, rec, f->process, f->has_tid, f->tid, f->negative_pid);
	st->no_memory |= e->name.p == NULL || (e->track == NULL && phase != PHASE_STRUCTURE);
	if (st->raw_fields)
		dft_raw_fields(st, rec, b, e);
	else if ((st->r->want & WANT_FIELDS) != 0 ||
	         ((phase == PHASE_COUNTER || class_needs_fields(c)) && !st->raw))
		dft_fields_add(st, rec, f, b, e);
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(rec->p, (size_t)(rec->end - rec->p));
	b->n++;
}
