/* The expectations of a trace, collected from a policy and its overrides; the events that they count, with
 * the statistics of the trace and of the threads that budgets name; and the verdict: a finding for each that
 * the trace does not meet.  Budgets are in budget.c. */
#include "policy/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/match.h"
#include "base/memory.h"
#include "base/table.h"
#include "check/rules.h"
#include "format/fields_json.h"
#include "model/event_traits.h"
#include "output/text_visible.h"
#include "run/choose/select.h"
#include "run/engine_losses.h"

/* ---- counting ---- */

#define MAX_KNOWN (1U << 18) /* names in the cache */

/* Creates a subset for each pattern of threads in budgets. */
static bool new_subsets(struct policy_watch *w)
{
	const struct policy_checks *const c = w->checks;

	if (c->file == NULL || c->file->nsubsets == 0)
		return true;
	w->subsets = calloc(c->file->nsubsets, sizeof *w->subsets);
	if (w->subsets == NULL)
		return false;
	for (; w->nsubsets < c->file->nsubsets; w->nsubsets++) {
		w->subsets[w->nsubsets].thread = c->file->subsets[w->nsubsets];
		stats_init(&w->subsets[w->nsubsets].stats);
	}
	return true;
}

bool policy_watch_init(struct policy_watch *w, const struct policy_checks *checks)
{
	*w = (struct policy_watch){ .checks = checks };
	stats_init(&w->stats);
	w->seed = hash_seed();
	for (uint32_t i = 0; i < checks->nevents; i++) {
		const struct policy_filter *const filter = &checks->events[i]->filter;
		for (int k = 0; k < POLICY_KINDS; k++)
			w->of_kind[k] |= (uint64_t)(filter->kinds >> k & 1) << i;
		w->with_thread |= (uint64_t)(filter->thread.p != NULL) << i;
	}
	return new_subsets(w);
}

void policy_watch_free(struct policy_watch *w)
{
	stats_free(&w->stats);
	for (uint32_t i = 0; i < w->nsubsets; i++) {
		stats_free(&w->subsets[i].stats);
		free(w->subsets[i].events);
	}
	free(w->subsets);
	free(w->threads);
	free(w->known.masks);
	table64_free(&w->known.index);
}

/* ---- threads ---- */

/* Returns the patterns that fit a thread; none fits a process.  Compares again when the name changes: the
 * name may follow the first event of the thread. */
static const struct policy_thread *find_thread(struct policy_watch *w, const struct track *t)
{
	t = track_thread(t);
	if (!array_reach(&w->threads, &w->nthreads, t->index, sizeof *w->threads))
		return NULL;
	struct policy_thread *const l = &w->threads[t->index];
	if (l->known && l->name == t->name.p && l->n == t->name.n)
		return l;
	*l = (struct policy_thread){ .name = t->name.p, .n = t->name.n, .known = true };
	if (t->kind != TRACK_THREAD)
		return l;
	for (uint32_t i = 0; i < w->checks->nevents; i++) {
		const struct slice thread = w->checks->events[i]->filter.thread;
		l->events |= (uint64_t)(thread.p != NULL && glob_fits(thread, t->name)) << i;
	}
	for (uint32_t i = 0; i < w->nsubsets; i++)
		l->subsets |= (uint32_t)glob_fits(w->subsets[i].thread, t->name) << i;
	return l;
}

/* Adds the events of a subset's threads to its statistics. */
static bool count_subset(struct policy_watch *w, uint32_t subset, const struct batch *b)
{
	struct policy_subset *const p = &w->subsets[subset];
	struct batch own = *b;

	if (p->cap < b->n) {
		if (!array_resize(&p->events, b->n, sizeof *p->events))
			return false;
		p->cap = b->n;
	}
	own.events = p->events;
	own.n = 0;
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		const struct policy_thread *const l = find_thread(w, e->track);
		if (l == NULL)
			return false;
		if ((l->subsets >> subset & 1) != 0)
			own.events[own.n++] = *e;
	}
	return stats_batch(&p->stats, &own);
}

/* ---- expected events ---- */

static uint64_t match_events(const struct policy_watch *w, const struct event *e)
{
	uint64_t mask = 0;

	for (uint32_t i = 0; i < w->checks->nevents; i++) {
		const struct policy_filter *const filter = &w->checks->events[i]->filter;
		if ((filter->name.p == NULL || glob_fits(filter->name, e->name)) &&
		    (filter->category.p == NULL || glob_fits(filter->category, e->cls->category)))
			mask |= UINT64_C(1) << i;
	}
	return mask;
}

/* Finds the expectations whose patterns fit the event.  Patterns are compared once for each name of a class:
 * a cache of 2^18 names, emptied when it is full.  The hash alone is the key; its seed is secret, so no trace
 * can be constructed with two names of one hash. */
static bool find_mask(struct policy_watch *w, const struct event *e, uint64_t *mask)
{
	struct policy_known *const k = &w->known;
	const uint64_t hash =
	    hash_bytes(e->name.p, e->name.n, w->seed + e->cls->index * UINT64_C(0x9e3779b97f4a7c15));
	const uint32_t at = table64_get(&k->index, hash);

	if (at != TABLE_NONE) {
		*mask = k->masks[at];
		return true;
	}
	if (k->n == MAX_KNOWN) {
		table64_free(&k->index);
		k->n = 0;
	}
	*mask = match_events(w, e);
	if (!array_reserve(&k->masks, k->n, &k->cap, sizeof *k->masks) || !table64_put(&k->index, hash, k->n))
		return false;
	k->masks[k->n++] = *mask;
	return true;
}

static enum policy_kind kind_of(const struct event *e)
{
	if (e->phase == PHASE_SPAN)
		return (e->flags & EVENT_ASYNC) != 0 ? KIND_ASYNC : KIND_SPAN;
	return e->phase == PHASE_INSTANT   ? KIND_INSTANT
	       : e->phase == PHASE_COUNTER ? KIND_COUNTER
	                                   : KIND_OTHER;
}

static bool count_event(struct policy_watch *w, const struct event *e)
{
	uint64_t mask;

	if (!find_mask(w, e, &mask))
		return false;
	mask &= w->of_kind[kind_of(e)];
	if ((mask & w->with_thread) != 0) {
		const struct policy_thread *const l = find_thread(w, e->track);
		if (l == NULL)
			return false;
		mask &= ~w->with_thread | l->events;
	}
	for (; mask != 0; mask &= mask - 1) {
		const int i = (int)low_bit(mask);
		struct policy_tally *const t = &w->events[i];
		if (t->count == 0)
			t->first = e->offset;
		if (t->count == w->checks->events[i]->count.max)
			t->beyond = e->offset;
		t->count++;
	}
	return true;
}

static void extend_times(struct policy_watch *w, const struct event *e)
{
	const uint64_t end = event_end(e);

	if (!w->any || e->ts < w->first_ns) {
		w->first_ns = e->ts;
		w->first_offset = e->offset;
	}
	if (!w->any || end > w->last_ns) {
		w->last_ns = end;
		w->last_offset = e->offset;
	}
	w->any = true;
}

bool policy_watch_batch(struct policy_watch *w, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		extend_times(w, e);
		if (w->checks->nevents > 0 && !count_event(w, e))
			return false;
	}
	for (uint32_t i = 0; i < w->nsubsets; i++)
		if (!count_subset(w, i, b))
			return false;
	return stats_batch(&w->stats, b);
}

bool policy_watch_end(struct policy_watch *w)
{
	bool ok = stats_end(&w->stats);

	for (uint32_t i = 0; i < w->nsubsets; i++)
		ok &= stats_end(&w->subsets[i].stats);
	return ok;
}

void policy_watch_input(struct policy_watch *w, const struct source *s)
{
	w->counts_lost |= s->reader.counts_lost;
	w->lost += s->reader.lost;
	w->records += s->reader.records;
}

/* ---- the expectations of a trace ---- */

/* Adds an expectation, or replaces the one of an earlier section, which is among the first `before`.  Within
 * a section a pattern may occur twice. */
static void add_event(struct policy_checks *c, const struct policy_event *e, uint32_t before)
{
	for (uint32_t i = 0; i < before; i++)
		if (policy_filter_equal(&c->events[i]->filter, &e->filter)) {
			c->events[i] = e;
			return;
		}
	c->events[c->nevents++] = e;
}

static void add_metadata(struct policy_checks *c, const struct policy_metadata *m, uint32_t before)
{
	for (uint32_t i = 0; i < before; i++)
		if (slice_equal(c->metadata[i]->name, m->name)) {
			c->metadata[i] = m;
			return;
		}
	c->metadata[c->nmetadata++] = m;
}

static void add_budget(struct policy_checks *c, const struct policy_budget *b, uint32_t before)
{
	for (uint32_t i = 0; i < before; i++)
		if (policy_filter_equal(&c->budgets[i]->filter, &b->filter) &&
		    c->budgets[i]->group == b->group && c->budgets[i]->statistic == b->statistic &&
		    c->budgets[i]->quantile == b->quantile &&
		    policy_pattern_equal(c->budgets[i]->series, b->series)) {
			c->budgets[i] = b;
			return;
		}
	c->budgets[c->nbudgets++] = b;
}

static void add_section(struct policy_checks *c, const struct policy_section *s)
{
	const struct {
		uint32_t events, metadata, budgets;
	} before = { c->nevents, c->nmetadata, c->nbudgets };

	for (uint32_t i = 0; i < s->nevents; i++)
		add_event(c, &s->events[i], before.events);
	for (uint32_t i = 0; i < s->nmetadata; i++)
		add_metadata(c, &s->metadata[i], before.metadata);
	for (uint32_t i = 0; i < s->nbudgets; i++)
		add_budget(c, &s->budgets[i], before.budgets);
	c->epoch = s->epoch.line > 0 ? &s->epoch : c->epoch;
	c->threads = s->threads.line > 0 ? &s->threads : c->threads;
	c->processes = s->processes.line > 0 ? &s->processes : c->processes;
	c->lost = s->lost.line > 0 ? &s->lost : c->lost;
	c->unfinished = s->unfinished.line > 0 ? &s->unfinished : c->unfinished;
	c->times = s->times.line > 0 ? &s->times : c->times;
}

static void add_default_budget(struct policy_checks *c)
{
	static const struct policy_budget default_budget = {
		.filter = { .name = SLICE_LIT("*"), .kinds = 1U << KIND_SPAN | 1U << KIND_ASYNC },
		.statistic = STATISTIC_P50,
		.statistic_name = "p50",
		.min_count = 20,
		.min_time = 1000000,
		.relative = true,
		.tolerance = 0.1,
		.tolerance_text = SLICE_LIT("10%")
	};

	for (uint32_t i = 0; i < c->nbudgets; i++)
		if (c->budgets[i]->relative)
			return;
	c->budgets[c->nbudgets++] = &default_budget;
}

bool policy_checks_init(struct policy_checks *c, const struct policy_file *file, uint32_t overrides,
                        bool baseline)
{
	static const struct policy_file none = { .nevents = 0 };
	const struct policy_file *const f = file != NULL ? file : &none;

	*c = (struct policy_checks){ .file = file };
	c->events = calloc((size_t)f->nevents + 1, sizeof *c->events);
	c->metadata = calloc((size_t)f->nmetadata + 1, sizeof *c->metadata);
	c->budgets = calloc((size_t)f->nbudgets + 1, sizeof *c->budgets);
	if (c->events == NULL || c->metadata == NULL || c->budgets == NULL) {
		policy_checks_free(c);
		return false;
	}
	add_section(c, &f->own);
	for (uint32_t i = 0; i < f->noverrides; i++)
		if ((overrides >> i & 1) != 0)
			add_section(c, &f->overrides[i]);
	if (baseline)
		add_default_budget(c);
	c->any = c->nevents + c->nmetadata + c->nbudgets > 0 || c->epoch != NULL || c->threads != NULL ||
	         c->processes != NULL || c->lost != NULL || c->unfinished != NULL || c->times != NULL;
	return true;
}

bool policy_checks_names(const struct policy_checks *c)
{
	bool any = (c->threads != NULL && c->threads->names.n > 0) ||
	           (c->processes != NULL && c->processes->names.n > 0);

	for (uint32_t i = 0; i < c->nevents; i++)
		any |= c->events[i]->filter.thread.p != NULL;
	for (uint32_t i = 0; i < c->nbudgets; i++)
		any |= c->budgets[i]->filter.thread.p != NULL;
	return any;
}

void policy_checks_free(struct policy_checks *c)
{
	free(c->events);
	free(c->metadata);
	free(c->budgets);
	*c = (struct policy_checks){ .file = NULL };
}

/* ---- findings ---- */

void policy_finding(const struct policy_verdict *v, enum policy_rule rule, uint64_t offset, uint32_t line,
                    const char *fmt, ...)
{
	const struct policy_file *const file = v->watch->checks->file;
	char text[800];
	va_list ap;

	if (!finding_is_shown(v->findings, &policy_rules[rule])) {
		finding_add(v->findings, &policy_rules[rule], offset, 0, "%s", "");
		return;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (line > 0 && file != NULL)
		finding_add(v->findings, &policy_rules[rule], offset, 0, "%s (%s:%" PRIu32 ")", text,
		            file->path, line);
	else
		finding_add(v->findings, &policy_rules[rule], offset, 0, "%s", text);
}

const char *policy_filter_text(const struct policy_filter *filter, char buffer[POLICY_FILTER_TEXT])
{
	struct quoted q;
	size_t n = 0;

	buffer[0] = '\0';
	if (filter->name.p != NULL)
		n += (size_t)snprintf(buffer, POLICY_FILTER_TEXT, "%s", quoted(&q, filter->name));
	if (filter->category.p != NULL)
		n += (size_t)snprintf(buffer + n, POLICY_FILTER_TEXT - n, "%scategory %s",
		                      n > 0 ? " of " : "", quoted(&q, filter->category));
	if (filter->thread.p != NULL)
		snprintf(buffer + n, POLICY_FILTER_TEXT - n, "%son thread %s", n > 0 ? " " : "all ",
		         quoted(&q, filter->thread));
	return buffer;
}

/* ---- events and metadata ---- */

static void check_event(const struct policy_verdict *v, const struct policy_event *e,
                        const struct policy_tally *t)
{
	char words[POLICY_FILTER_TEXT];

	policy_filter_text(&e->filter, words);
	if (t->count < e->count.min)
		policy_finding(v, POLICY_RULE_EVENT_MISSING, t->first, e->line,
		               "events %s: %" PRIu64 ", not at least %" PRIu64, words, t->count,
		               e->count.min);
	else if (t->count > e->count.max && e->count.max == 0)
		policy_finding(v, POLICY_RULE_EVENT_BEYOND, t->beyond, e->line,
		               "events %s: %" PRIu64 ", although none are allowed", words, t->count);
	else if (t->count > e->count.max)
		policy_finding(v, POLICY_RULE_EVENT_BEYOND, t->beyond, e->line,
		               "events %s: %" PRIu64 ", not at most %" PRIu64, words, t->count, e->count.max);
}

/* Returns the text of a value to compare with a pattern: of a list or map its JSON, in `list`. */
static struct slice metadata_text(const struct value *v, char space[SELECT_VALUE_TEXT], struct text *list)
{
	struct fields_json_lost lost = { 0 };

	if (!value_is_list(v))
		return select_value_text(v, space);
	text_clear(list);
	fields_json_value(list, v, &lost);
	return slice_of(list->p, list->n);
}

/* Returns false on OOM. */
static bool check_metadata(const struct policy_verdict *v, const struct policy_metadata *m)
{
	const struct trace *const trace = v->run->trace;
	const struct field *found = NULL;
	struct quoted name, want, have;
	char space[SELECT_VALUE_TEXT];
	struct text list = { .p = NULL };
	bool met = false;

	for (uint32_t i = 0; i < trace->nmeta && !met; i++) {
		const struct field *const f = &trace->meta[i];
		if (!glob_fits(m->name, f->name))
			continue;
		met = m->value.p == NULL || glob_fits(m->value, metadata_text(&f->value, space, &list));
		found = found != NULL ? found : f;
	}
	if (found == NULL)
		policy_finding(v, POLICY_RULE_METADATA, 0, m->line, "the trace has no metadata %s",
		               quoted(&name, m->name));
	else if (!met && !list.failed)
		policy_finding(v, POLICY_RULE_METADATA, 0, m->line, "metadata %s is %s, not %s",
		               quoted(&name, found->name),
		               quoted(&have, metadata_text(&found->value, space, &list)),
		               quoted(&want, m->value));
	const bool ok = !list.failed;
	text_free(&list);
	return ok;
}

/* ---- times ---- */

/* Returns a time of the trace's clock as it is shown, or as ns since 1970.  128 bits: it may be before 0, and
 * the sum with the epoch may overflow. */
static int128 time_since(const struct trace *trace, uint64_t ns, bool wall)
{
	return (int128)(wall ? trace->epoch_ns : 0) + ns - trace->zero_ns;
}

/* Returns a time of the trace's clock in the form in which the policy states one. */
static const char *time_text(const struct trace *trace, uint64_t ns, bool wall, char buffer[64])
{
	const int128 time = time_since(trace, ns, wall);
	struct text t = text_start(buffer, 64);

	if (wall && time >= 0 && time <= UINT64_MAX) {
		text_iso8601(&t, (uint64_t)time);
	} else {
		text_ns_from(&t, trace->zero_ns, ns);
		text_str(&t, " ns");
	}
	text_char(&t, '\0');
	return buffer;
}

/* Reports a time of the trace's clock that is before `after`, or after `before`, if that is stated. */
static void check_point(const struct policy_verdict *v, enum policy_rule rule, uint64_t offset,
                        const struct policy_point *at, bool after, const char *what, uint64_t ns)
{
	const struct trace *const trace = v->run->trace;
	const int128 time = time_since(trace, ns, at->wall);
	char buffer[64];

	if (at->line > 0 && (after ? time < at->ns : time > at->ns))
		policy_finding(v, rule, offset, at->line, "%s %s, not %s %.40s", what,
		               time_text(trace, ns, at->wall, buffer), after ? "after" : "before",
		               at->text.p);
}

static void check_epoch(const struct policy_verdict *v, const struct policy_epoch *e)
{
	const struct trace *const trace = v->run->trace;
	char buffer[64];

	if (trace->epoch_known && e->unknown)
		policy_finding(v, POLICY_RULE_EPOCH, 0, e->line, "the epoch is %s, although none is expected",
		               time_text(trace, trace->zero_ns, true, buffer));
	else if (!trace->epoch_known && !e->unknown)
		policy_finding(v, POLICY_RULE_EPOCH, 0, e->line, "the epoch of the trace is not known");
	if (!trace->epoch_known || e->unknown)
		return;
	check_point(v, POLICY_RULE_EPOCH, 0, &e->after, true, "the epoch is", trace->zero_ns);
	check_point(v, POLICY_RULE_EPOCH, 0, &e->before, false, "the epoch is", trace->zero_ns);
}

static void check_points(const struct policy_verdict *v, const struct policy_times *t)
{
	const struct trace *const trace = v->run->trace;
	const struct policy_watch *const w = v->watch;
	const struct policy_point *const both[] = { &t->after, &t->before };

	for (int i = 0; i < 2; i++)
		if (both[i]->line > 0 && both[i]->wall && !trace->epoch_known) {
			policy_finding(v, POLICY_RULE_TIME_RANGE, 0, both[i]->line,
			               "the wall time of events is not known, so it is not checked whether "
			               "they are %s %.40s",
			               i == 0 ? "after" : "before", both[i]->text.p);
			return;
		}
	check_point(v, POLICY_RULE_TIME_RANGE, w->first_offset, &t->after, true, "the first event is at",
	            w->stats.first_ns);
	check_point(v, POLICY_RULE_TIME_RANGE, w->last_offset, &t->before, false, "the last event ends at",
	            w->stats.last_ns);
}

static void check_times(const struct policy_verdict *v, const struct policy_times *t)
{
	const struct stats *const s = &v->watch->stats;
	const uint64_t duration = s->events > 0 ? s->last_ns - s->first_ns : 0;

	if (duration < t->duration.min)
		policy_finding(v, POLICY_RULE_TIME_RANGE, v->watch->first_offset, t->line,
		               "the trace lasts %" PRIu64 " ns, not at least %" PRIu64 " ns", duration,
		               t->duration.min);
	if (duration > t->duration.max)
		policy_finding(v, POLICY_RULE_TIME_RANGE, v->watch->last_offset, t->line,
		               "the trace lasts %" PRIu64 " ns, not at most %" PRIu64 " ns", duration,
		               t->duration.max);
	if (s->events > 0)
		check_points(v, t);
}

/* ---- tracks and shares ---- */

/* Returns true for a process, or for a thread with events. */
static bool is_counted(const struct stats *s, const struct track *track, enum track_kind kind)
{
	if (track->kind != kind || track->is_child || track->lane > 0)
		return false;
	return kind == TRACK_PROCESS || (track->index < s->nseen && s->seen[track->index] != 0);
}

static bool has_track(const struct policy_verdict *v, struct slice name, enum track_kind kind)
{
	const struct trace *const trace = v->run->trace;

	for (uint32_t i = 0; i < trace->ntracks; i++)
		if (is_counted(&v->watch->stats, trace->tracks[i], kind) &&
		    glob_fits(name, trace->tracks[i]->name))
			return true;
	return false;
}

static void check_tracks(const struct policy_verdict *v, const struct policy_tracks *t, enum track_kind kind)
{
	const enum policy_rule rule = kind == TRACK_THREAD ? POLICY_RULE_THREADS : POLICY_RULE_PROCESSES;
	const char *const what = kind == TRACK_THREAD ? "thread" : "process";
	const char *const all = kind == TRACK_THREAD ? "threads" : "processes";
	const struct trace *const trace = v->run->trace;
	uint64_t n = kind == TRACK_THREAD ? v->watch->stats.tracks : 0;
	struct quoted q;

	for (uint32_t i = 0; i < trace->ntracks && kind == TRACK_PROCESS; i++)
		n += trace->tracks[i]->kind == TRACK_PROCESS;
	if (n < t->count.min)
		policy_finding(v, rule, 0, t->line, "number of %s: %" PRIu64 ", not at least %" PRIu64, all,
		               n, t->count.min);
	if (n > t->count.max)
		policy_finding(v, rule, 0, t->line, "number of %s: %" PRIu64 ", not at most %" PRIu64, all, n,
		               t->count.max);
	for (uint32_t i = 0; i < t->names.n; i++)
		if (!has_track(v, t->names.list[i], kind))
			policy_finding(v, rule, 0, t->line, "no %s has the name %s", what,
			               quoted(&q, t->names.list[i]));
}

static void check_lost(const struct policy_verdict *v, const struct policy_max_share *max)
{
	const struct policy_watch *const w = v->watch;
	const double all = (double)w->lost + (double)w->records;

	if (!w->counts_lost)
		policy_finding(v, POLICY_RULE_UNCHECKED, 0, max->line,
		               "lost-packets: packets of this format have no numbers");
	else if (all > 0 && (double)w->lost / all > max->share)
		policy_finding(v, POLICY_RULE_LOST, 0, max->line,
		               "missing packets: %" PRIu64 " of %.0f (%.4g %%), more than %.40s", w->lost,
		               all, 100 * (double)w->lost / all, max->text.p);
}

static uint64_t count_table(const struct span_table *t)
{
	uint64_t n = t->other.count;

	for (uint32_t i = 0; i < t->names.n && i < t->cap; i++)
		n += t->groups[i].count;
	return n;
}

uint64_t policy_count_spans(const struct stats *s)
{
	return count_table(&s->spans) + count_table(&s->async);
}

const struct ledger_row *policy_no_end(const struct run_report *run)
{
	for (size_t i = 0; i < run->pairs->n; i++)
		if (run->pairs->rows[i].loss == &engine_losses[ENGINE_LOSS_NO_END])
			return &run->pairs->rows[i];
	return NULL;
}

static void check_unfinished(const struct policy_verdict *v, const struct policy_max_share *max)
{
	const struct ledger_row *const row = policy_no_end(v->run);
	const uint64_t spans = policy_count_spans(&v->watch->stats);
	const double share = row != NULL ? (double)row->count / (double)(spans > 0 ? spans : 1) : 0;

	if (share > max->share)
		policy_finding(v, POLICY_RULE_UNFINISHED, row->first_offset, max->line,
		               "%" PRIu64 " of %" PRIu64 " spans have no end: %.4g %%, more than %.40s",
		               row->count, spans, 100 * share, max->text.p);
}

/* ---- the verdict ---- */

bool policy_verdict(const struct policy_verdict *v)
{
	const struct policy_checks *const c = v->watch->checks;
	bool ok = true;

	for (uint32_t i = 0; i < c->nevents; i++)
		check_event(v, c->events[i], &v->watch->events[i]);
	for (uint32_t i = 0; i < c->nmetadata; i++)
		ok &= check_metadata(v, c->metadata[i]);
	if (c->epoch != NULL)
		check_epoch(v, c->epoch);
	if (c->threads != NULL)
		check_tracks(v, c->threads, TRACK_THREAD);
	if (c->processes != NULL)
		check_tracks(v, c->processes, TRACK_PROCESS);
	if (c->lost != NULL)
		check_lost(v, c->lost);
	if (c->unfinished != NULL)
		check_unfinished(v, c->unfinished);
	if (c->times != NULL)
		check_times(v, c->times);
	return policy_check_budgets(v) && ok && !v->run->pairs->failed;
}
