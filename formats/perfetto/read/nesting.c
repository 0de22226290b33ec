/*
 * Nesting of the spans of a track, and arrows, as in Perfetto's importer.  Each track has a stack of spans in
 * order of time; an end closes the innermost open span whose name and category fit.  Spans inside that one
 * end at the same time, so the ends given to the engine always are those of the innermost span.
 *
 * Findings are deferred to the end of the file: the nesting of a track whose events are not in order of time
 * is not checked.  Conversions sort the events of such tracks first, and report nothing more then: what they
 * find is what validation finds.
 */
#include <stdlib.h>

#include "perfetto/read/read.h"

/* ---- findings ---- */

/* Returns the name of a track for messages.  Tracks without a descriptor have no uuid, or a hash as uuid. */
static const char *track_label(const struct pf_track *t, char space[64])
{
	if (!t->is_synthetic)
		snprintf(space, 64, "track %" PRIu64, t->uuid);
	else if (t->desc.kind == PF_THREAD)
		snprintf(space, 64, "thread %" PRId64 " of process %" PRId32, t->desc.tid, t->desc.pid);
	else if (t->desc.kind == PF_PROCESS)
		snprintf(space, 64, "process %" PRId32, t->desc.pid);
	else
		snprintf(space, 64, "async events of id %" PRIu64, t->async_id);
	return space;
}

static void report_on(struct pf_state *st, const struct pf_deferred *h)
{
	const char *const lacking = pf_lacking(st, h->track, h->needs);
	char label[64];

	finding_add(st->findings, &perfetto_rules[h->rule], h->offset, h->record, "%s: %s%s%s",
	            track_label(h->track, label), perfetto_rules[h->rule].text, lacking != NULL ? ": " : "",
	            lacking != NULL ? lacking : "");
}

static void defer(struct pf_state *st, struct pf_deferred h)
{
	if (st->findings == NULL)
		return;
	if (st->ndeferred == PF_MAX_DEFERRED) {
		report_on(st, &h);
		return;
	}
	if (reader_reserve(st->r, &st->deferred, st->ndeferred, &st->deferred_cap, sizeof *st->deferred))
		st->deferred[st->ndeferred++] = h;
}

void pf_defer(struct pf_state *st, enum pf_rule rule, const struct pf_track *t)
{
	defer(st,
	      (struct pf_deferred){ .track = t, .rule = rule, .offset = st->offset, .record = st->ordinal });
}

void pf_defer_legacy(struct pf_state *st, const struct pf_track *t, const struct pf_sequence *s,
                     uint8_t needs)
{
	defer(st, (struct pf_deferred){ .track = t,
	                                .rule = PF_RULE_LEGACY_TRACK,
	                                .offset = st->offset,
	                                .record = st->ordinal,
	                                .needs = needs,
	                                .sequence = s });
}

/* Returns true if packets after the event showed that the track is of the right kind. */
static bool is_settled(const struct pf_state *st, const struct pf_deferred *h)
{
	if (h->rule == PF_RULE_LOG_THREAD)
		return h->track->desc.kind == PF_THREAD;
	if (h->rule == PF_RULE_STATE_TRACK)
		return h->track->desc.kind == PF_STATE;
	return h->rule == PF_RULE_LEGACY_TRACK && ((h->sequence != NULL && h->sequence->has_thread) ||
	                                           pf_lacking(st, h->track, h->needs) == NULL);
}

static int compare_deferred(const void *a, const void *b)
{
	const struct pf_deferred *const x = a, *const y = b;

	return x->record != y->record   ? ORDER(x->record, y->record)
	       : x->offset != y->offset ? ORDER(x->offset, y->offset)
	                                : (int)x->rule - (int)y->rule;
}

/* Whether a thread or process got its name after its first event. */
static bool is_renamed(const struct pf_track *t)
{
	return (t->desc.kind == PF_THREAD || t->desc.kind == PF_PROCESS) && t->model != NULL &&
	       t->desc.name.n > 0 && !slice_equal(t->desc.name, t->model->name);
}

/* Whether spans of the track may have got the ends of others. */
static bool is_unsorted(const struct pf_track *t)
{
	return t->desc.disordered && t->open_cap > 0;
}

/* Reports the tracks that a file shows otherwise than a pipe. */
static void report_pipe(struct pf_state *st, bool (*differs)(const struct pf_track *t), const char *why)
{
	const struct pf_track *first = NULL;
	struct finding_tally tally = { .count = 0 };
	char label[64];

	for (uint32_t i = 0; i < st->ntracks; i++) {
		const struct pf_track *const t = st->tracks[i];
		if (!differs(t))
			continue;
		first = first != NULL ? first : t;
		finding_tally_add(&tally, t->is_used ? t->offset : t->described_at,
		                  t->is_used ? t->record : t->described_record, 0, 0);
	}
	if (first != NULL)
		finding_add_tally(st->findings, &perfetto_rules[PF_RULE_PIPE], &tally, "%s: %s",
		                  track_label(first, label), why);
}

void pf_nesting_end(struct pf_state *st)
{
	const struct pf_track *disordered = NULL; /* the first one */
	struct finding_tally unchecked = { .count = 0 };
	char label[64];

	for (uint32_t i = 0; i < st->ntracks; i++) {
		const struct pf_track *const t = st->tracks[i];
		for (uint32_t k = 0; k < t->nopen; k++)
			if (t->open[k].end == PF_IS_OPEN)
				defer(st, (struct pf_deferred){ .track = t,
				                                .rule = PF_RULE_BEGIN_OPEN,
				                                .offset = t->open[k].offset,
				                                .record = t->open[k].record });
	}
	if (st->ndeferred > 0)
		qsort(st->deferred, st->ndeferred, sizeof *st->deferred, compare_deferred);
	for (uint32_t i = 0; i < st->ndeferred; i++) {
		const struct pf_deferred *const h = &st->deferred[i];
		if (is_settled(st, h))
			continue;
		if (h->rule == PF_RULE_LOG_THREAD || h->rule == PF_RULE_STATE_TRACK ||
		    h->rule == PF_RULE_LEGACY_TRACK || !h->track->desc.disordered) {
			report_on(st, h);
			continue;
		}
		disordered = disordered != NULL ? disordered : h->track;
		finding_tally_add(&unchecked, h->track->offset, h->track->record, 0, 0);
	}
	if (disordered != NULL)
		finding_add_tally(st->findings, &perfetto_rules[PF_RULE_NOT_CHECKED], &unchecked,
		                  "nesting is not checked: %s and others that have spans",
		                  track_label(disordered, label));
	if (pf_reads_once(st)) {
		report_pipe(st, is_renamed, "its name comes later");
		report_pipe(st, is_unsorted, "its spans are not in order of time, some may end wrongly");
	}
	for (uint32_t i = 0; i < st->ntracks; i++) { /* the tracks of a look-ahead outlive it */
		struct pf_track *const t = st->tracks[i];
		free(t->open);
		t->open = NULL;
		t->nopen = t->nclosed = t->open_cap = 0;
	}
}

/* ---- the stack ---- */

/* Removes all but the n outermost spans. */
static void truncate_stack(struct pf_track *t, uint32_t n)
{
	while (t->nopen > n) {
		const struct pf_open_span *const o = &t->open[--t->nopen];
		t->nclosed -= o->end != PF_IS_OPEN;
		t->nexpected += o->end_sent && o->end == PF_IS_OPEN;
	}
}

/* Sends the ends, at ts, of the open spans from the i-th on; offset: of the packet that ends them. */
static void end_inner(struct pf_state *st, const struct pf_event *e, uint32_t i, uint64_t ts, uint64_t offset)
{
	struct pf_track *const t = e->track;
	bool any = false;

	for (uint32_t k = t->nopen; k-- > i;) {
		if (t->open[k].end != PF_IS_OPEN || t->open[k].end_sent)
			continue;
		any = true;
		t->open[k].end_sent = true;
		pf_add_before(
		    st, &(struct pf_event){
		            .kind = PF_END, .ts = ts, .offset = offset, .track = t, .model = e->model });
	}
	if (any)
		pf_defer(st, PF_RULE_OVERLAP, t);
}

/* Removes the spans that ended before the event, or at its time; an instant at that time stays if another
 * instant follows.  Spans that began inside a complete event and are open end with it. */
static void pop_closed(struct pf_state *st, const struct pf_event *e)
{
	struct pf_track *const t = e->track;
	bool inside = false; /* there are open spans above */

	for (uint32_t i = t->nopen; i-- > 0 && t->nclosed > 0;) {
		const struct pf_open_span *const o = &t->open[i];
		if (o->end == PF_IS_OPEN) {
			inside = true;
		} else if (o->end < e->ts ||
		           (!inside && o->end == e->ts && !(e->kind == PF_INSTANT && o->ts == o->end))) {
			if (inside)
				end_inner(st, e, i + 1, o->end, o->offset);
			truncate_stack(t, i);
			inside = false;
		}
	}
}

static bool has_open(const struct pf_track *t)
{
	return t->nopen > t->nclosed;
}

static bool push(struct pf_state *st, struct pf_event *e, uint64_t end)
{
	struct pf_track *const t = e->track;

	if (t->nopen >= PF_MAX_OPEN) {
		pf_defer(st, PF_RULE_DEPTH, t);
		t->nexpected += end == PF_IS_OPEN;
		return false;
	}
	if (t->nopen == t->open_cap) {
		/* from 1: a trace can have a million tracks, most of them with one span at a time */
		const uint32_t cap = t->open_cap == 0 ? 1 : 2 * t->open_cap;
		if (note_failure(&st->r->no_memory, !array_resize(&t->open, cap, sizeof *t->open)))
			return false;
		t->open_cap = cap;
	}
	t->open[t->nopen++] = (struct pf_open_span){ .ts = e->ts,
		                                     .end = end,
		                                     .name = e->name_hash,
		                                     .category = e->category_hash,
		                                     .offset = st->offset,
		                                     .record = st->ordinal };
	t->nclosed += end != PF_IS_OPEN;
	return true;
}

/* Whether an end closes the span: a name or category that the end lacks fits, and so does a span without a
 * name. */
static bool fits(const struct pf_open_span *o, const struct pf_event *e)
{
	return o->end == PF_IS_OPEN && (e->name_hash == 0 || o->name == 0 || o->name == e->name_hash) &&
	       (e->category_hash == 0 || o->category == e->category_hash);
}

static bool close_span(struct pf_state *st, struct pf_event *e)
{
	struct pf_track *const t = e->track;
	uint32_t i = t->nopen;

	while (i > 0 && !fits(&t->open[i - 1], e))
		i--;
	if (i == 0 && t->nexpected > 0) { /* of a span that was dropped or ended before */
		t->nexpected--;
		return false;
	}
	if (i == 0) {
		pf_defer(st, has_open(t) ? PF_RULE_END_NAME : PF_RULE_END_ALONE, t);
		return false;
	}
	struct pf_open_span *const o = &t->open[i - 1];
	const bool was_sent = o->end_sent;
	if (i == t->nopen) {
		t->nopen--;
	} else {
		o->end = e->ts;
		t->nclosed++;
		end_inner(st, e, i, e->ts, st->offset);
	}
	return !was_sent;
}

/* Returns the end of the innermost complete event around the span. */
static uint64_t outer_end(const struct pf_track *t)
{
	for (uint32_t i = t->nopen; i-- > 0;)
		if (t->open[i].end != PF_IS_OPEN)
			return t->open[i].end;
	return PF_IS_OPEN;
}

static bool nest(struct pf_state *st, struct pf_event *e)
{
	struct pf_track *const t = e->track;
	uint64_t end;

	pop_closed(st, e);
	switch (e->kind) {
	case PF_BEGIN:
		return push(st, e, PF_IS_OPEN);
	case PF_END:
		return close_span(st, e);
	case PF_SPAN:
		end = outer_end(t);
		if (e->ts + e->dur > end) {
			const bool inside = t->open[t->nopen - 1].end == PF_IS_OPEN;
			pf_defer(st, inside ? PF_RULE_OVERLAP : PF_RULE_X_OVERLAP, t);
			if (!inside)
				return st->released != NULL; /* kept if sorted: nothing is reported then */
			e->dur = end - e->ts;                /* it ends with the open span that it is in */
		}
		return push(st, e, e->ts + e->dur);
	default:
		return push(st, e, e->ts);
	}
}

bool pf_nest(struct pf_state *st, struct pf_event *e)
{
	struct pf_track *const t = e->track;

	if (pf_is_sorted_later(st, t))
		return true;
	if (pf_wants_model(st)) {
		e->model = e->kind == PF_END && t->lane == 0
		               ? t->model
		               : pf_lane_take(st, t, e->name.p != NULL ? e->name : pf_event_name(st));
		if (e->model == NULL)
			e->model = pf_model(st, t, slice_of("", 0));
	}
	const bool kept = nest(st, e);
	if (t->group != NULL && t->lane > 0 && !has_open(t))
		pf_lane_free(st, t);
	return kept || st->raw; /* what a record is does not depend on others, which a copy may lack */
}

/* ---- arrows ---- */

static void note_flow_end(struct pf_state *st, struct pf_flow_end end)
{
	if (end.order < PF_MAX_FLOWS &&
	    reader_reserve(st->r, &st->flow_ends, st->nflow_ends, &st->flow_ends_cap, sizeof *st->flow_ends))
		st->flow_ends[st->nflow_ends++] = end;
}

static int compare_flow_ends(const void *a, const void *b)
{
	const struct pf_flow_end *const x = a, *const y = b;

	return x->key != y->key ? ORDER(x->key, y->key)
	       : x->ts != y->ts ? ORDER(x->ts, y->ts)
	                        : ORDER(x->order, y->order);
}

void pf_arrows_sort(struct pf_state *st)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < st->nflow_ends; i++)
		if (st->flow_ends[i].dropped == NULL || st->flow_ends[i].dropped->desc.disordered)
			st->flow_ends[n++] = st->flow_ends[i];
	if (n == 0)
		return;
	st->nflow_steps = st->flow_next < PF_MAX_FLOWS ? (uint32_t)st->flow_next : PF_MAX_FLOWS;
	st->flow_steps = malloc(st->nflow_steps * sizeof *st->flow_steps);
	if (st->flow_steps == NULL) {
		st->nflow_steps = 0;
		st->r->no_memory = true;
		return;
	}
	for (uint32_t i = 0; i < st->nflow_steps; i++)
		st->flow_steps[i] = PF_ARROW_IN;
	qsort(st->flow_ends, n, sizeof *st->flow_ends, compare_flow_ends);
	for (uint32_t i = 0; i < n;) {
		bool active = false;
		uint32_t arrows = 0;
		const uint64_t key = st->flow_ends[i].key;
		for (const uint32_t first = i; i < n && st->flow_ends[i].key == key; i++) {
			const struct pf_flow_end *const f = &st->flow_ends[i];
			const bool goes_on = i + 1 < n && f[1].key == key;
			const enum pf_step step = f->ends   ? PF_ARROW_IN
			                          : !active ? PF_ARROW_OUT
			                          : goes_on ? PF_ARROW_STEP
			                                    : PF_ARROW_IN;
			arrows += !active && i > first;
			st->flow_steps[f->order] = 4 * arrows + step;
			active = !f->ends;
		}
	}
	free(st->flow_ends);
	st->flow_ends = NULL;
	st->nflow_ends = st->flow_ends_cap = 0;
}

/* The quarter of PF_MAX_ARROWS uses in which an arrow is used now. */
static uint32_t flow_age(const struct pf_state *st)
{
	return (uint32_t)(st->nflow_uses / (PF_MAX_ARROWS / 4)) + 1;
}

/* Bounds the table of arrows: removes those that have ended or, if most are open, the older half. */
static void forget_flows(struct pf_state *st)
{
	const bool many = st->nactive > PF_MAX_ARROWS / 2;

	if (many)
		pf_report_limit(st, PF_FULL_ARROWS, "more than %u arrows are open: the oldest are forgotten",
		                PF_MAX_ARROWS / 2);
	st->r->no_memory |= !table64_drop_below(&st->flows, many ? flow_age(st) - 1 : 1);
	st->nactive = st->flows.used;
}

void pf_arrow(struct pf_state *st, uint64_t key, uint64_t id, enum pf_step step, bool legacy,
              const struct pf_event *e)
{
	if (st->flows.used >= PF_MAX_ARROWS)
		forget_flows(st);
	const uint32_t age = table64_get(&st->flows, key);
	const bool active = age != TABLE_NONE && age > 0;
	const bool dropped = !legacy && e->kind == PF_NOTHING;
	const uint64_t order = legacy ? 0 : st->flow_order++;

	if (st->ahead_pass && !legacy)
		note_flow_end(st, (struct pf_flow_end){ .key = key,
		                                        .ts = e->ts,
		                                        .order = order,
		                                        .dropped = dropped ? e->track : NULL,
		                                        .ends = step == PF_ARROW_IN });
	if (dropped)
		return;
	if (step == PF_ARROW_OUT && active)
		pf_report(st, PF_RULE_FLOW_DUPLICATE, "arrow %" PRIu64 " starts while it is open", id);
	if (step != PF_ARROW_OUT && !active && legacy)
		pf_report(st, PF_RULE_FLOW_ALONE, "arrow %" PRIu64 " arrives and did not start", id);
	/* a legacy step starts no arrow, and a legacy end closes none: several may follow */
	const bool goes_on = step == PF_ARROW_OUT || (legacy ? active : step == PF_ARROW_STEP);
	st->nactive += (size_t)goes_on - active;
	st->r->no_memory |= !table64_put(&st->flows, key, goes_on ? flow_age(st) : 0);
	st->nflow_uses++;
	if (!active && step == PF_ARROW_STEP)
		step = legacy ? PF_ARROW_IN : PF_ARROW_OUT;
	if (!legacy && st->ahead != NULL && order < st->ahead->nflow_steps) {
		const uint32_t found = st->ahead->flow_steps[order];
		step = (enum pf_step)(found & 3);
		/* Chromium uses ids again; an arrow of the model has an id of its own */
		if (found >= 4)
			id = hash_u64(id, found / 4);
	}
	struct pf_event x = *e;
	x.kind = PF_ARROW;
	x.step = (uint8_t)step;
	x.flow = id;
	x.name = SLICE_LIT("arrow");
	if (x.model == NULL && pf_wants_model(st))
		x.model = pf_model(st, x.track, pf_event_name(st));
	pf_add_after(st, &x);
}
