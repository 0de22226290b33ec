/*
 * The reader: reports findings; gives out the events of each record, events of packets in a compressed
 * packet, and events that wait for earlier ones.  A look-ahead reads the whole file before the first record,
 * for definitions that follow their use.
 */
#include <stdlib.h>

#include "perfetto/read/read.h"
#include "base/compiler.h"

/* ---- findings ---- */

bool pf_report(struct pf_state *st, enum pf_rule rule, const char *fmt, ...)
{
	va_list ap;

	st->broken |= st->r->recovers && pf_breaks(rule);
	va_start(ap, fmt);
	finding_add_v(st->findings, &perfetto_rules[rule], st->offset, st->ordinal, fmt, ap);
	va_end(ap);
	return false;
}

void pf_report_limit(struct pf_state *st, enum pf_limit which, const char *fmt, ...)
{
	va_list ap;

	if ((st->limits & which) != 0)
		return;
	st->limits |= which;
	va_start(ap, fmt);
	finding_add_v(st->ahead != NULL ? st->r->findings : st->findings, &perfetto_rules[PF_RULE_LIMIT],
	              st->offset, st->ordinal, fmt, ap);
	va_end(ap);
}

/* ---- events of a record ---- */

/* Whether the event is on a track whose events have to be sorted. */
static inline bool waits(const struct pf_state *st)
{
	const struct pf_event *const e = &st->event;

	return e->track != NULL && ((e->kind >= PF_BEGIN && e->kind <= PF_SPAN) || e->kind == PF_ARROW) &&
	       pf_is_sorted_later(st, e->track);
}

/* Arrows wait with their event: viewers take the last one before them on the track.  Counters do not. */
static void wait_with_arrows(struct pf_state *st)
{
	uint32_t n = 0;

	pf_waiting_add(st, &st->event);
	for (uint32_t i = 0; i < st->nafter; i++)
		if (st->after[i].kind == PF_ARROW)
			pf_waiting_add(st, &st->after[i]);
		else
			st->after[n++] = st->after[i];
	st->nafter = n;
}

/* Gives out an event without bytes. */
static void give_further(struct pf_state *st, struct record *rec, const struct pf_event *x)
{
	rec->role = RECORD_IS_MORE;
	rec->end = rec->p;
	rec->offset = st->offset;
	rec->ts = x->ts;
	if (pf_wants_model(st))
		rec->track = x->model != NULL ? x->model : pf_model(st, x->track, pf_event_name(st));
	st->further = x;
}

/* Gives out the next event before that of the packet. */
static void give_before(struct pf_state *st, struct record *rec)
{
	const struct pf_event *const x = &st->before[st->at_before++];

	give_further(st, rec, x);
	rec->offset = x->offset;
}

/* Gives out the next event that waited, in order of time.  Returns false if the others still wait. */
static COLD bool give_waiting(struct pf_state *st, struct record *rec)
{
	struct pf_waiting *w;

	while ((w = pf_waiting_next(st)) != NULL) {
		st->offset = w->offset;
		st->ordinal = w->record;
		st->nbefore = st->at_before = 0;
		if (!w->nested) {
			w->nested = true;
			if (w->event.kind != PF_ARROW)
				w->dropped = w->event.is_state ? !pf_change_state(st, &w->event)
				                               : !pf_nest(st, &w->event);
		}
		if (st->at_before < st->nbefore) {
			give_before(st, rec);
			return true;
		}
		st->at_released++;
		if (w->dropped)
			continue;
		st->waited = w;
		give_further(st, rec, &w->event);
		return true;
	}
	return false;
}

/* Sets the role of the record: an event, part of one, or structure. */
static void set_role(struct pf_state *st, struct record *rec)
{
	const struct pf_packet *const k = &st->packet;
	const struct pf_event *const e = &st->event;
	const uint32_t kind = k->kind < PF_DIRECT ? k->kind : 0;

	if (st->classes[kind] == NULL && (st->r->want & WANT_TIMES) != 0 && kind != 0) {
		const struct pf_field *const f = pf_schema_field(&st->schema, PF_MESSAGE_packet, kind);
		st->classes[kind] = f != NULL ? trace_add_class(st->r->trace, f->name) : st->structure;
		st->r->no_memory |= st->classes[kind] == NULL;
	}
	rec->cls = st->classes[kind] != NULL ? st->classes[kind] : st->structure;
	rec->role = RECORD_IS_STRUCTURE;
	rec->ts = 0;
	if (k->bad)
		rec->role = RECORD_IS_SKIPPED;
	if (e->kind == PF_NOTHING || k->bad)
		return;
	rec->role = RECORD_IS_EVENT;
	rec->ts = e->ts;
	if ((st->r->want & WANT_TIMES) == 0)
		return;
	rec->track = e->model != NULL ? e->model : pf_model(st, e->track, pf_event_name(st));
	if (waits(st)) {
		wait_with_arrows(st);
		rec->role = RECORD_IS_PART;
	}
}

/* Gives out the raw record of a packet in a compressed one, without bytes;
 * it has a track if it is an event. */
static void give_raw(struct pf_state *st, struct record *rec)
{
	set_role(st, rec);
	if (rec->role != RECORD_IS_EVENT)
		rec->track = NULL;
	rec->role = RECORD_IS_MORE;
	rec->end = rec->p;
	rec->offset = st->offset;
}

/* Gives out an event of an earlier record.  Returns false if there is none. */
static bool give_more(struct pf_state *st, struct record *rec)
{
	for (;;) {
		if (st->at_before < st->nbefore) {
			give_before(st, rec);
			return true;
		}
		if (st->has_main) {
			st->has_main = false;
			give_further(st, rec, &st->event);
			st->further = NULL;
			return true;
		}
		if (st->at_after < st->nafter) {
			give_further(st, rec, &st->after[st->at_after++]);
			return true;
		}
		if (st->samples_left > 0) {
			give_further(st, rec, pf_profile_next(st));
			return true;
		}
		if (!pf_inner_next(st)) {
			pf_inner_drop(st);
			return false;
		}
		if (st->raw && (st->r->want & WANT_TIMES) != 0) {
			give_raw(st, rec);
			return true;
		}
		if (st->event.kind == PF_NOTHING)
			continue;
		if (waits(st))
			wait_with_arrows(st);
		else
			st->has_main = true;
	}
}

/* Sets clock and epoch of the trace from the snapshots that `from` has read. */
static void set_clock(struct pf_state *st, const struct pf_state *from)
{
	pf_clocks_facts(st, &from->clocks);
	if (from->own_clock.p == NULL)
		return;
	const struct slice s = arena_copy(&st->r->trace->arena, from->own_clock);
	st->r->no_memory |= s.p == NULL;
	st->r->trace->clock = s.p != NULL ? s.p : st->r->trace->clock;
}

static COLD bool look_ahead(struct pf_state *st)
{
	st->looked_ahead = true;
	st->findings =
	    st->ahead_pass ? ((const struct pf_state *)st->r->ahead_of)->r->findings : st->r->findings;
	if ((st->r->want & WANT_TIMES) == 0 || st->raw || st->r->ahead_of != NULL)
		return true;
	const enum look_ahead found = reader_look_ahead(st->r);
	st->r->no_memory |= found == LOOK_AHEAD_FAILED;
	if (st->ahead != NULL) {
		set_clock(st, st->ahead);
		st->findings = NULL;
		st->limits = st->ahead->limits;
	}
	return found != LOOK_AHEAD_FAILED;
}

/* Reads all packets of a compressed one: recovery keeps or drops them together. */
static COLD void check_inner(struct pf_state *st)
{
	while (pf_inner_next(st))
		st->nbefore = st->at_before = st->nafter = st->at_after = st->samples_left = 0;
	pf_inner_drop(st);
}

static enum record_status read_record(struct reader *r, struct record *rec)
{
	struct pf_state *const st = r->state;
	enum record_status status;
	struct slice content;

	rec->cls = st->structure;
	rec->track = NULL;
	rec->ts = 0;
	rec->alone = false;
	st->further = NULL;
	st->waited = NULL;
	if (!st->looked_ahead && !look_ahead(st))
		return RECORD_END;
	if (!st->is_applied && (st->nbefore | st->nafter | st->samples_left | st->inner.n) != 0 &&
	    give_more(st, rec))
		return RECORD_DONE;
	if (!st->is_applied && st->nwaiting > 0 && pf_waiting_due(st, rec->offset) && give_waiting(st, rec))
		return RECORD_DONE;
	st->start = rec->p;
	st->offset = rec->offset;
	st->ordinal = rec->ordinal;
	st->is_inner = false;
	const char *const end = pf_frame(st, rec, &content, &status);
	if (end == NULL) {
		if ((status == RECORD_END || status == RECORD_BAD) && st->nwaiting > 0 &&
		    give_waiting(st, rec))
			return RECORD_DONE;
		return status;
	}
	if (st->is_applied) {
		pf_packet_decode(st, content);
	} else {
		st->broken = false;
		pf_packet_read(st, content);
	}
	st->is_applied = st->at_before < st->nbefore;
	if (st->is_applied) {
		give_before(st, rec);
		return RECORD_DONE;
	}
	rec->end = end;
	set_role(st, rec);
	if (r->recovers && st->inner.n > 0)
		check_inner(st);
	return RECORD_DONE;
}

/* ---- the reader ---- */

static void read_event(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	struct pf_state *const st = r->state;

	if (rec->role == RECORD_IS_STRUCTURE)
		return;
	r->no_memory |= st->is_inner && st->inner_memory != NULL && st->waited == NULL &&
	                !batch_hold(b, &st->inner_memory->memory);
	e->offset = rec->offset;
	if (st->waited != NULL) {
		const struct pf_waiting *const w = st->waited;
		struct field *const f = batch_event_fields(b, e, w->made.nfields);
		if (f != NULL && w->made.nfields > 0)
			memcpy(f, st->waiting_memory->batch.fields + w->made.first_field,
			       w->made.nfields * sizeof *f);
		e->ts = w->event.ts;
		e->dur = w->event.kind == PF_SPAN ? w->event.dur : w->made.dur;
		e->flags |= w->made.flags;
		e->name = w->made.name;
		e->cls = w->made.cls;
		e->phase = w->made.phase;
		e->track = w->event.model != NULL ? w->event.model : w->made.track;
		r->no_memory |= !batch_hold(b, &st->waiting_memory->memory);
	} else if (st->further != NULL) {
		pf_make_further(st, b, st->further, e);
	} else {
		pf_make_event(st, b, e);
	}
}

static void read_raw_fields(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	struct pf_state *const st = r->state;

	r->no_memory |= st->is_inner && st->inner_memory != NULL && !batch_hold(b, &st->inner_memory->memory);
	pf_raw_fields(st, rec, b, e);
}

static bool open_reader(struct reader *r)
{
	struct pf_state *const st = r->state;

	st->r = r;
	st->raw = (r->want & WANT_RAW) != 0;
	st->ahead_pass = r->ahead_of != NULL;
	st->builds = (r->want & WANT_TIMES) != 0 || st->ahead_pass;
	st->seed = hash_seed();
	pf_schema_init(&st->schema);
	pf_profiles_begin(st);
	if (st->builds)
		pf_types_begin(st);
	r->trace->dialect = "58";
	r->trace->byte_order = "little";
	r->trace->clock = "unknown";
	st->structure = trace_add_class(r->trace, SLICE_LIT("packet"));
	return st->structure != NULL;
}

/* Names tracks without a name after their first events. */
static void name_tracks(struct pf_state *st)
{
	for (uint32_t i = 0; i < st->ntracks; i++) {
		struct pf_description *const d = &st->tracks[i]->desc;
		if (d->name.n == 0 && d->first_name.n > 0 &&
		    (d->kind == PF_PLAIN || d->kind == PF_UNDESCRIBED)) {
			const struct slice copy = arena_copy(&st->arena, pf_short_name(st, d->first_name));
			st->r->no_memory |= copy.p == NULL;
			d->name = copy.p != NULL ? textscan_slice(copy.p, copy.n) : slice_of("", 0);
			d->is_unnamed = true;
		}
		d->first_name = SLICE_NONE;
	}
}

/* Hands the result of a look-ahead to the reader that asked for it. */
static void hand_over(struct pf_state *st)
{
	struct pf_state *const to = (struct pf_state *)(uintptr_t)st->r->ahead_of;
	struct pf_state *const copy = malloc(sizeof *copy);
	struct reader *const r = st->r;

	if (note_failure(&r->no_memory, copy == NULL))
		return;
	name_tracks(st);
	pf_least_end(st);
	cpu_profiles_free(&st->profiles.all); /* their texts are in the memory of this pass */
	memcpy(copy, st, sizeof *copy);
	memset(st, 0, sizeof *st);
	st->r = r;
	to->ahead = copy;
}

static void end_reader(struct reader *r)
{
	struct pf_state *const st = r->state;
	const struct finding_tally *const back = &st->time_back;

	pf_undefined_end(st, NULL);
	pf_clocks_end(st);
	pf_tracks_end(st);
	pf_nesting_end(st);
	finding_add_tally(st->findings, &perfetto_rules[PF_RULE_TIME_BACK], back,
	                  "%" PRIu64 " ns follows %" PRIu64 " ns", back->now, back->before);
	finding_add_tally(st->findings, &perfetto_rules[PF_RULE_NEEDS_FLAG], &st->needs_flag,
	                  "a name or category by number, without SEQ_NEEDS_INCREMENTAL_STATE");
	pf_facts(st);
	set_clock(st, st);
	if (st->ahead_pass) {
		pf_arrows_sort(st);
		hand_over(st);
	}
}

static void free_state(struct pf_state *st)
{
	pf_inner_drop(st);
	pf_waiting_free(st);
	pf_sequences_free(st);
	pf_clocks_free(&st->clocks);
	pf_tracks_free(st);
	pf_types_free(&st->types);
	cpu_profiles_free(&st->profiles.all);
	tabletext_free(&st->class_names);
	table64_free(&st->sum_index);
	free(st->sums);
	table64_free(&st->flows);
	table64_free(&st->arrow_numbers);
	free(st->flow_ends);
	free(st->flow_steps);
	free(st->before);
	free(st->after);
	free(st->deferred);
	arena_free(&st->arena);
}

static void close_reader(struct reader *r)
{
	struct pf_state *const st = r->state;

	if (st->ahead != NULL)
		free_state(st->ahead);
	free(st->ahead);
	free_state(st);
}

const struct reader_ops perfetto_reader_ops = {
	.state_size = sizeof(struct pf_state),
	.probe = pf_probe,
	.open = open_reader,
	.record = read_record,
	.event = read_event,
	.fields = read_raw_fields,
	.end = end_reader,
	.close = close_reader,
};
