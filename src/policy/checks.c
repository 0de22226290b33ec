#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/match.h"
#include "check/rules.h"
#include "output/text_json.h"
#include "output/text_units.h"
#include "policy/policy.h"
#include "run/engine_losses.h"

/* ---- policy verdict ---- */

/* What is said when all was read. */

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

/* ---- events ---- */

/* `"draw*" of category "gpu" on thread "main"` */
const char *policy_words(const struct policy_who *who, char room[POLICY_WORDS])
{
	struct quoted q;
	size_t n = 0;

	room[0] = '\0';
	if (who->name.p != NULL)
		n += (size_t)snprintf(room, POLICY_WORDS, "%s", quoted(&q, who->name));
	if (who->category.p != NULL)
		n += (size_t)snprintf(room + n, POLICY_WORDS - n, "%scategory %s", n > 0 ? " of " : "",
		                      quoted(&q, who->category));
	if (who->thread.p != NULL)
		snprintf(room + n, POLICY_WORDS - n, "%son thread %s", n > 0 ? " " : "all ",
		         quoted(&q, who->thread));
	return room;
}

static void check_event(const struct policy_verdict *v, const struct policy_event *e,
                        const struct policy_tally *t)
{
	char words[POLICY_WORDS];

	policy_words(&e->who, words);
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

/* ---- metadata ---- */

/* Numbers as text; other values are compared as texts. */
static struct slice value_words(const struct value *v, char room[64])
{
	switch ((enum value_type)v->type) {
	case VALUE_STRING:
	case VALUE_JSON:
		return value_text(v);
	case VALUE_BOOL:
		return slice_str(v->u64 != 0 ? "true" : "false");
	case VALUE_U8:
	case VALUE_U16:
	case VALUE_U32:
	case VALUE_U64:
		snprintf(room, 64, "%" PRIu64, v->u64);
		break;
	case VALUE_I8:
	case VALUE_I16:
	case VALUE_I32:
	case VALUE_I64:
		snprintf(room, 64, "%" PRId64, v->i64);
		break;
	case VALUE_F32:
	case VALUE_F64:
		snprintf(room, 64, "%.15g", v->f64);
		break;
	case VALUE_ADDRESS:
		snprintf(room, 64, "0x%" PRIx64, v->u64);
		break;
	case VALUE_NONE:
	case VALUE_BYTES:
	case VALUE_LIST:
	case VALUE_MAP:
		room[0] = '\0';
	}
	return slice_str(room);
}

static void check_metadata(const struct policy_verdict *v, const struct policy_metadata *m)
{
	const struct trace *const trace = &v->pipeline->trace;
	const struct field *found = NULL;
	struct quoted name, want, have;
	char room[64];

	for (uint32_t i = 0; i < trace->nmeta; i++) {
		if (!glob_fits(m->name, trace->meta[i].name))
			continue;
		if (m->value.p == NULL || glob_fits(m->value, value_words(&trace->meta[i].value, room)))
			return;
		found = found != NULL ? found : &trace->meta[i];
	}
	if (found == NULL)
		policy_finding(v, POLICY_RULE_METADATA, 0, m->line, "the trace has no metadata %s",
		               quoted(&name, m->name));
	else
		policy_finding(v, POLICY_RULE_METADATA, 0, m->line, "metadata %s is %s, not %s",
		               quoted(&name, found->name), quoted(&have, value_words(&found->value, room)),
		               quoted(&want, m->value));
}

/* ---- times ---- */

/* ns of the trace's clock as the policy wrote a time. */
static const char *time_words(const struct trace *trace, uint64_t ns, bool wall, char room[64])
{
	struct text t = text_start(room, 64);

	if (wall && trace->epoch_ns <= UINT64_MAX - ns)
		text_iso8601(&t, trace->epoch_ns + ns);
	else
		text_printf(&t, "%" PRIu64 " ns", ns);
	text_char(&t, '\0');
	return room;
}

/* Whether a time of the trace's clock is before the one of the policy: -1, 0, 1. */
static int compare(const struct trace *trace, uint64_t ns, const struct policy_instant *at)
{
	const unsigned __int128 mine = (unsigned __int128)(at->wall ? trace->epoch_ns : 0) + ns;

	return mine < at->ns ? -1 : mine > at->ns;
}

static void check_epoch(const struct policy_verdict *v, const struct policy_epoch *e)
{
	const struct trace *const trace = &v->pipeline->trace;
	char room[64];

	if (trace->epoch_known && e->unknown)
		policy_finding(v, POLICY_RULE_EPOCH, 0, e->line, "the epoch is %s, although none is expected",
		               time_words(trace, 0, true, room));
	else if (!trace->epoch_known && !e->unknown)
		policy_finding(v, POLICY_RULE_EPOCH, 0, e->line, "the epoch of the trace is not known");
	if (!trace->epoch_known || e->unknown)
		return;
	if (e->after.line > 0 && trace->epoch_ns < e->after.ns)
		policy_finding(v, POLICY_RULE_EPOCH, 0, e->after.line, "the epoch is %s, not after %.40s",
		               time_words(trace, 0, true, room), e->after.text.p);
	if (e->before.line > 0 && trace->epoch_ns > e->before.ns)
		policy_finding(v, POLICY_RULE_EPOCH, 0, e->before.line, "the epoch is %s, not before %.40s",
		               time_words(trace, 0, true, room), e->before.text.p);
}

static void check_instants(const struct policy_verdict *v, const struct policy_times *t)
{
	const struct trace *const trace = &v->pipeline->trace;
	const struct policy_watch *const w = v->watch;
	const struct policy_instant *const both[] = { &t->after, &t->before };
	char room[64];

	for (int i = 0; i < 2; i++)
		if (both[i]->line > 0 && both[i]->wall && !trace->epoch_known) {
			policy_finding(
			    v, POLICY_RULE_TIME_RANGE, 0, both[i]->line,
			    "the wall time of events is not known, so not whether they are %s %.40s",
			    i == 0 ? "after" : "before", both[i]->text.p);
			return;
		}
	if (t->after.line > 0 && compare(trace, w->stats.first_ns, &t->after) < 0)
		policy_finding(v, POLICY_RULE_TIME_RANGE, w->first_offset, t->after.line,
		               "the first event is at %s, not after %.40s",
		               time_words(trace, w->stats.first_ns, t->after.wall, room), t->after.text.p);
	if (t->before.line > 0 && compare(trace, w->stats.last_ns, &t->before) > 0)
		policy_finding(v, POLICY_RULE_TIME_RANGE, w->last_offset, t->before.line,
		               "the last event ends at %s, not before %.40s",
		               time_words(trace, w->stats.last_ns, t->before.wall, room), t->before.text.p);
}

static void check_times(const struct policy_verdict *v, const struct policy_times *t)
{
	const struct stats *const s = &v->watch->stats;
	const uint64_t lasts = s->events > 0 ? s->last_ns - s->first_ns : 0;

	if (lasts < t->duration.min)
		policy_finding(v, POLICY_RULE_TIME_RANGE, v->watch->first_offset, t->line,
		               "the trace lasts %" PRIu64 " ns, not at least %" PRIu64 " ns", lasts,
		               t->duration.min);
	if (lasts > t->duration.max)
		policy_finding(v, POLICY_RULE_TIME_RANGE, v->watch->last_offset, t->line,
		               "the trace lasts %" PRIu64 " ns, not at most %" PRIu64 " ns", lasts,
		               t->duration.max);
	if (s->events > 0)
		check_instants(v, t);
}

/* ---- threads and processes ---- */

/* Whether it is one that is counted. */
static bool counts(const struct stats *s, const struct track *track, enum track_kind kind)
{
	if (track->kind != kind || track->is_child || track->lane > 0)
		return false;
	return kind == TRACK_PROCESS || (track->index < s->nseen && s->seen[track->index] != 0);
}

static bool has_track(const struct policy_verdict *v, struct slice name, enum track_kind kind)
{
	const struct trace *const trace = &v->pipeline->trace;

	for (uint32_t i = 0; i < trace->ntracks; i++)
		if (counts(&v->watch->stats, trace->tracks[i], kind) &&
		    glob_fits(name, trace->tracks[i]->name))
			return true;
	return false;
}

static void check_tracks(const struct policy_verdict *v, const struct policy_tracks *t, enum track_kind kind)
{
	const enum policy_rule rule = kind == TRACK_THREAD ? POLICY_RULE_THREADS : POLICY_RULE_PROCESSES;
	const char *const what = kind == TRACK_THREAD ? "thread" : "process";
	const struct trace *const trace = &v->pipeline->trace;
	uint64_t n = kind == TRACK_THREAD ? v->watch->stats.tracks : 0;
	struct quoted q;

	for (uint32_t i = 0; i < trace->ntracks && kind == TRACK_PROCESS; i++)
		n += trace->tracks[i]->kind == TRACK_PROCESS;
	if (n < t->count.min)
		policy_finding(v, rule, 0, t->line, "number of %s%s: %" PRIu64 ", not at least %" PRIu64,
		               what, kind == TRACK_THREAD ? "s" : "es", n, t->count.min);
	if (n > t->count.max)
		policy_finding(v, rule, 0, t->line, "number of %s%s: %" PRIu64 ", not at most %" PRIu64, what,
		               kind == TRACK_THREAD ? "s" : "es", n, t->count.max);
	for (uint32_t i = 0; i < t->nnames; i++)
		if (!has_track(v, t->names[i], kind))
			policy_finding(v, rule, 0, t->line, "no %s has the name %s", what,
			               quoted(&q, t->names[i]));
}

/* ---- shares ---- */

static void check_lost(const struct policy_verdict *v, const struct policy_most *m)
{
	const struct policy_watch *const w = v->watch;
	const double all = (double)w->lost + (double)w->records;

	if (!w->counts_lost)
		policy_finding(v, POLICY_RULE_UNCHECKED, 0, m->line,
		               "lost-packets: packets of this format have no numbers");
	else if (all > 0 && (double)w->lost / all > m->share)
		policy_finding(v, POLICY_RULE_LOST, 0, m->line,
		               "missing packets: %" PRIu64 " of %.0f (%.4g %%), more than %.40s", w->lost,
		               all, 100 * (double)w->lost / all, m->text.p);
}

static uint64_t count_spans(const struct span_table *t)
{
	uint64_t n = t->other.count;

	for (uint32_t i = 0; i < t->names.n && i < t->cap; i++)
		n += t->groups[i].count;
	return n;
}

uint64_t policy_spans(const struct stats *s)
{
	return count_spans(&s->spans) + count_spans(&s->async);
}

static void check_unfinished(const struct policy_verdict *v, const struct policy_most *m)
{
	const struct ledger *const l = interpret_ledger(&v->pipeline->interpret);
	const uint64_t spans = policy_spans(&v->watch->stats);

	for (size_t i = 0; i < l->n; i++) {
		const struct ledger_row *const row = &l->rows[i];
		if (row->loss != &engine_losses[ENGINE_LOSS_NO_END])
			continue;
		const double share = (double)row->count / (double)(spans > 0 ? spans : 1);
		if (share > m->share)
			policy_finding(v, POLICY_RULE_UNFINISHED, row->first_offset, m->line,
			               "%" PRIu64 " of %" PRIu64
			               " spans have no end: %.4g %%, more than %.40s",
			               row->count, spans, 100 * share, m->text.p);
	}
}

bool policy_verdict(const struct policy_verdict *v)
{
	const struct policy_checks *const c = v->watch->checks;

	for (uint32_t i = 0; i < c->nevents; i++)
		check_event(v, c->events[i], &v->watch->events[i]);
	for (uint32_t i = 0; i < c->nmetadata; i++)
		check_metadata(v, c->metadata[i]);
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
	return policy_budgets(v) && !interpret_ledger(&v->pipeline->interpret)->failed;
}

/* ---- policy checks ---- */

/* Each replaces one of an earlier section, the first `before`; within a section a pattern may stand twice. */
static void put_event(struct policy_checks *c, const struct policy_event *e, uint32_t before)
{
	for (uint32_t i = 0; i < before; i++)
		if (policy_same_who(&c->events[i]->who, &e->who)) {
			c->events[i] = e;
			return;
		}
	c->events[c->nevents++] = e;
}

static void put_metadata(struct policy_checks *c, const struct policy_metadata *m, uint32_t before)
{
	for (uint32_t i = 0; i < before; i++)
		if (slice_equal(c->metadata[i]->name, m->name)) {
			c->metadata[i] = m;
			return;
		}
	c->metadata[c->nmetadata++] = m;
}

static void put_budget(struct policy_checks *c, const struct policy_budget *b, uint32_t before)
{
	for (uint32_t i = 0; i < before; i++)
		if (policy_same_who(&c->budgets[i]->who, &b->who) && c->budgets[i]->group == b->group &&
		    c->budgets[i]->statistic == b->statistic) {
			c->budgets[i] = b;
			return;
		}
	c->budgets[c->nbudgets++] = b;
}

static void put_section(struct policy_checks *c, const struct policy_section *s)
{
	const struct {
		uint32_t events, metadata, budgets;
	} before = { c->nevents, c->nmetadata, c->nbudgets };

	for (uint32_t i = 0; i < s->nevents; i++)
		put_event(c, &s->events[i], before.events);
	for (uint32_t i = 0; i < s->nmetadata; i++)
		put_metadata(c, &s->metadata[i], before.metadata);
	for (uint32_t i = 0; i < s->nbudgets; i++)
		put_budget(c, &s->budgets[i], before.budgets);
	c->epoch = s->epoch.line > 0 ? &s->epoch : c->epoch;
	c->threads = s->threads.line > 0 ? &s->threads : c->threads;
	c->processes = s->processes.line > 0 ? &s->processes : c->processes;
	c->lost = s->lost.line > 0 ? &s->lost : c->lost;
	c->unfinished = s->unfinished.line > 0 ? &s->unfinished : c->unfinished;
	c->times = s->times.line > 0 ? &s->times : c->times;
}

static void add_default(struct policy_checks *c)
{
	static const struct policy_budget usual = { .who = { .name = SLICE_LIT("*"),
		                                             .kinds = 1U << KIND_SPAN | 1U << KIND_ASYNC },
		                                    .statistic = STATISTIC_P50,
		                                    .relative = true,
		                                    .tolerance = 0.1,
		                                    .tolerance_text = SLICE_LIT("10%") };

	for (uint32_t i = 0; i < c->nbudgets; i++)
		if (c->budgets[i]->relative)
			return;
	c->budgets[c->nbudgets++] = &usual;
}

bool policy_checks_init(struct policy_checks *c, const struct policy_file *file, uint32_t overrides,
                        bool baseline)
{
	const uint32_t nevents = file != NULL ? file->nevents : 0, nmeta = file != NULL ? file->nmetadata : 0,
	               nbudgets = file != NULL ? file->nbudgets : 0;

	*c = (struct policy_checks){ .file = file };
	c->events = calloc((size_t)nevents + 1, sizeof *c->events);
	c->metadata = calloc((size_t)nmeta + 1, sizeof *c->metadata);
	c->budgets = calloc((size_t)nbudgets + 1, sizeof *c->budgets);
	if (c->events == NULL || c->metadata == NULL || c->budgets == NULL) {
		policy_checks_free(c);
		return false;
	}
	if (file != NULL)
		put_section(c, &file->own);
	for (uint32_t i = 0; file != NULL && i < file->noverrides; i++)
		if ((overrides >> i & 1) != 0)
			put_section(c, &file->overrides[i]);
	if (baseline)
		add_default(c);
	c->any = c->nevents + c->nmetadata + c->nbudgets > 0 || c->epoch != NULL || c->threads != NULL ||
	         c->processes != NULL || c->lost != NULL || c->unfinished != NULL || c->times != NULL;
	return true;
}

void policy_checks_free(struct policy_checks *c)
{
	free(c->events);
	free(c->metadata);
	free(c->budgets);
	*c = (struct policy_checks){ .file = NULL };
}
