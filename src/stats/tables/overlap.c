/* Two kinds of spans, A and B, in order of time: the time in which both run at once in each process; and the
 * events of B that begin inside a long span of A on the same track. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/match.h"
#include "model/event_traits.h"
#include "stats/tables/tables.h"

enum { A, B, KINDS };

/* An open span of a process: a heap, the earliest end first. */
struct overlap_end {
	uint64_t end;
	uint32_t kind;
};

struct overlap_process {
	const struct track *process; /* NULL: no span yet */
	struct overlap_end *ends;
	uint32_t n, cap;
	uint32_t open[KINDS];
	uint64_t at, count[KINDS];
	struct total time[KINDS], both;
};

#define NO_NAME NAMES_FAILED

/* A span that waits for others with the same times.  Numbers of names, or NO_NAME. */
struct overlap_pending {
	uint32_t outer; /* as a long span of A */
	uint32_t inner; /* as an event of B */
};

/* Open long spans of A of a track; their ends descend. */
struct overlap_track {
	struct nested_spans open; /* what: number of the name */
	struct overlap_pending *pending;
	uint32_t npending, pending_cap;
	uint64_t start, end; /* of the pending spans */
};

/* Events of a name in spans of a name. */
struct overlap_inside {
	uint32_t outer, inner;
	uint64_t count;
};

bool overlap_parse(struct overlap_asked *o, const char *words)
{
	for (unsigned i = 0; i < KINDS; i++) {
		const size_t n = glob_length(words);
		const bool category = strncmp(words, "category:", 9) == 0;
		o->patterns[i].category = category;
		o->patterns[i].glob = slice_of(words + (category ? 9 : 0), n - (category ? 9 : 0));
		if (n == (category ? 9U : 0U) || words[n] != (i + 1 < KINDS ? ',' : '\0') ||
		    !glob_is_linear(o->patterns[i].glob))
			return false;
		words += n + 1;
	}
	return true;
}

void overlap_begin(struct overlap_table *o, struct arena *text, const struct overlap_asked *asked)
{
	o->asked = *asked;
	names_init(&o->names, text);
}

void overlap_free(struct overlap_table *o)
{
	for (uint32_t i = 0; i < o->nprocesses; i++)
		free(o->processes[i].ends);
	for (uint32_t i = 0; i < o->ntracks; i++) {
		free(o->tracks[i].open.spans);
		free(o->tracks[i].pending);
	}
	free(o->processes);
	free(o->tracks);
	free(o->inside);
	table64_free(&o->inside_of);
	names_free(&o->names);
}

static bool fits(const struct overlap_table *o, unsigned kind, const struct event *e)
{
	const struct overlap_pattern *const p = &o->asked.patterns[kind];

	return glob_fits(p->glob, p->category ? e->cls->category : e->name);
}

/* ---- at the same time ---- */

static void pop(struct overlap_process *p)
{
	const struct overlap_end last = p->ends[--p->n];

	p->open[p->ends[0].kind]--;
	uint32_t i = 0;
	for (uint32_t child; (child = 2 * i + 1) < p->n; i = child) {
		child += child + 1 < p->n && p->ends[child + 1].end < p->ends[child].end;
		if (last.end <= p->ends[child].end)
			break;
		p->ends[i] = p->ends[child];
	}
	p->ends[i] = last;
}

static void add_time(struct overlap_process *p, uint64_t until)
{
	const uint64_t ns = until - p->at;

	for (unsigned i = 0; i < KINDS; i++)
		if (p->open[i] > 0)
			total_add(&p->time[i], ns);
	if (p->open[A] > 0 && p->open[B] > 0)
		total_add(&p->both, ns);
	p->at = until;
}

static void run_until(struct overlap_table *o, struct overlap_process *p, uint64_t time)
{
	while (p->n > 0 && p->ends[0].end <= time) {
		add_time(p, p->ends[0].end);
		pop(p);
		o->open--;
	}
	if (p->n > 0)
		add_time(p, time);
	p->at = time;
}

static bool add_span(struct overlap_table *o, unsigned kind, const struct event *e)
{
	const struct track *const process = track_process(e->track);

	if (!array_reach(&o->processes, &o->nprocesses, process->index, sizeof *o->processes))
		return false;
	struct overlap_process *const p = &o->processes[process->index];
	p->process = process;
	p->count[kind]++;
	run_until(o, p, e->ts);
	if (e->dur == 0)
		return true;
	if (o->open == OVERLAP_OPEN) {
		o->missed++;
		return true;
	}
	if (!array_reserve(&p->ends, p->n, &p->cap, sizeof *p->ends))
		return false;
	const struct overlap_end end = { event_end(e), kind };
	uint32_t i = p->n++;
	for (; i > 0 && p->ends[(i - 1) / 2].end > end.end; i = (i - 1) / 2)
		p->ends[i] = p->ends[(i - 1) / 2];
	p->ends[i] = end;
	p->open[kind]++;
	o->open++;
	return true;
}

/* ---- inside ---- */

static void close_until(struct overlap_table *o, struct overlap_track *k, uint64_t time)
{
	while (nested_spans_pop(&k->open, time) != NULL)
		o->nested--;
}

/* Counts an event of B in the innermost open span. */
static bool add_inside(struct overlap_table *o, struct overlap_track *k, uint32_t inner)
{
	const struct nested_span *const around = nested_spans_last(&k->open);

	if (around == NULL)
		return true;
	const uint32_t outer = (uint32_t)around->what;
	const uint64_t key = (uint64_t)outer << 32 | inner;
	const uint32_t at = table64_element(&o->inside_of, key, &o->inside, &o->ninside, &o->inside_cap,
	                                    sizeof *o->inside, NAMES_MAX);
	o->missed += at == TABLE_NONE;
	if (at >= TABLE_FAILED)
		return at == TABLE_NONE;
	o->inside[at].outer = outer;
	o->inside[at].inner = inner;
	o->inside[at].count++;
	return true;
}

/* When spans overlap without nesting, the later one encloses the events that follow. */
static bool open_long(struct overlap_table *o, struct overlap_track *k, uint64_t end, uint32_t name)
{
	while (nested_spans_last(&k->open) != NULL && nested_spans_last(&k->open)->end < end)
		if (nested_spans_pop(&k->open, end) != NULL)
			o->nested--;
	o->nested++;
	return nested_spans_push(&k->open, (struct nested_span){ end, name });
}

/* Adds the pending spans of a track: the later one is around the earlier one. */
static bool add_pending(struct overlap_table *o, struct overlap_track *k)
{
	bool ok = true;

	close_until(o, k, k->start);
	for (; ok && k->npending > 0; k->npending--, o->nested--) {
		const struct overlap_pending *const s = &k->pending[k->npending - 1];
		if (s->inner != NO_NAME)
			ok = add_inside(o, k, s->inner);
		if (s->outer != NO_NAME)
			ok = ok && open_long(o, k, k->end, s->outer);
	}
	return ok;
}

static bool add_nested(struct overlap_table *o, const struct event *e, bool a, bool b)
{
	const bool encloses = e->phase == PHASE_SPAN && e->dur > o->asked.longer; /* async: equal ones wait */
	const uint64_t end = event_end(e);

	if (!b && !encloses)
		return true;
	if (!array_reach(&o->tracks, &o->ntracks, e->track->index, sizeof *o->tracks))
		return false;
	struct overlap_track *const k = &o->tracks[e->track->index];
	const uint32_t name = names_index(&o->names, e->name, 0);
	const bool equal = encloses && k->start == e->ts && k->end == end && (e->flags & EVENT_INNER) == 0;
	if (name == NAMES_FAILED || (!equal && !add_pending(o, k)))
		return false;
	if (!encloses) {
		close_until(o, k, e->ts);
		return add_inside(o, k, name);
	}
	a = a && !event_is_async(e); /* they contain no events */
	o->nlong += a;
	if (o->nested == OVERLAP_OPEN) {
		o->missed++;
		return true;
	}
	if (!array_reserve(&k->pending, k->npending, &k->pending_cap, sizeof *k->pending))
		return false;
	k->pending[k->npending++] = (struct overlap_pending){ a ? name : NO_NAME, b ? name : NO_NAME };
	o->nested++;
	k->start = e->ts;
	k->end = end;
	return true;
}

bool overlap_add(struct overlap_table *o, const struct event *e)
{
	if ((e->flags & EVENT_LEFT_OUT) != 0)
		return true;
	const bool span = e->phase == PHASE_SPAN;
	const bool a = span && fits(o, A, e), b = (span || o->asked.longer_given) && fits(o, B, e);

	o->met[A] |= a;
	o->met[B] |= b;
	if (o->asked.longer_given && (a || b) && !event_is_flow(e) && !add_nested(o, e, a, b))
		return false;
	return !span || ((!a || add_span(o, A, e)) && (!b || add_span(o, B, e)));
}

bool overlap_end(struct overlap_table *o)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < o->ntracks; i++)
		ok = add_pending(o, &o->tracks[i]);
	for (uint32_t i = 0; i < o->nprocesses; i++)
		while (o->processes[i].n > 0)
			run_until(o, &o->processes[i], o->processes[i].ends[0].end);
	return ok;
}

/* ---- report ---- */

static const struct cell_column heads[] = {
	{ { "process", COLUMN_NAME, 12, 0 }, "process" }, { { "A", COLUMN_NUMBER, 0, 3 }, "a_count" },
	{ { "B", COLUMN_NUMBER, 0, 3 }, "b_count" },      { { "time A", COLUMN_NUMBER, 0, 0 }, "a_ns" },
	{ { "time B", COLUMN_NUMBER, 0, 0 }, "b_ns" },    { { "both", COLUMN_NUMBER, 0, 0 }, "both_ns" },
	{ { "of A", COLUMN_NUMBER, 0, 1 }, "of_a" },      { { "of B", COLUMN_NUMBER, 0, 2 }, "of_b" },
};
static const struct cell_column inside_heads[] = {
	{ { "count", COLUMN_NUMBER, 0, 0 }, "count" },
	{ { "event", COLUMN_NAME, 16, 0 }, "event" },
	{ { "inside", COLUMN_NAME, 16, 0 }, "inside" },
};

static struct slice text_of(const struct overlap_table *o, uint32_t name)
{
	return name == NAMES_OTHER ? SLICE_LIT(NAMES_OTHER_TEXT) : names_text(&o->names, name);
}

static int most_first(const void *a, const void *b)
{
	const struct overlap_inside *const x = a, *const y = b;

	return x->count != y->count   ? ORDER(y->count, x->count)
	       : x->outer != y->outer ? ORDER(x->outer, y->outer)
	                              : ORDER(x->inner, y->inner);
}

static bool put_inside(struct overlap_table *o, struct cells *c)
{
	array_sort(o->inside, o->ninside, sizeof *o->inside, most_first);
	cells_begin(c, "events of B in long spans of A", "inside", inside_heads, COUNT_OF(inside_heads));
	for (uint32_t i = 0; i < o->ninside; i++) {
		cells_row(c);
		cells_count(c, o->inside[i].count);
		cells_name(c, text_of(o, o->inside[i].inner));
		cells_name(c, text_of(o, o->inside[i].outer));
	}
	const bool ok = cells_end(c);
	cells_note(c, "long spans of A: %" PRIu64, o->nlong);
	if (c->form == FORM_JSON)
		json_out_u64(c->json, "long_spans", o->nlong);
	return ok;
}

static void note_unmet(const struct overlap_table *o, struct cells *c)
{
	for (unsigned i = 0; i < KINDS; i++)
		if (!o->met[i])
			cells_note(c, "no %s has the %s %c%s",
			           i == B && o->asked.longer_given ? "event" : "span",
			           o->asked.patterns[i].category ? "category" : "name", 'A' + (int)i,
			           o->asked.patterns[i].category ? "" : "; category:GLOB is for categories");
}

bool overlap_put(struct overlap_table *o, struct cells *c)
{
	const struct track **const units = calloc((size_t)o->nprocesses + 1, sizeof *units);
	struct track_labels labels = { .of = NULL };

	for (uint32_t i = 0; units != NULL && i < o->nprocesses; i++)
		units[i] = o->processes[i].process;
	bool ok = units != NULL && track_labels_make(&labels, units, o->nprocesses);
	cells_begin(c, "overlap", "overlap", heads, COUNT_OF(heads));
	for (uint32_t i = 0; ok && i < o->nprocesses; i++) {
		const struct overlap_process *const p = &o->processes[i];
		if (p->process == NULL)
			continue;
		cells_row(c);
		cells_name(c, labels.of[i]);
		cells_count(c, p->count[A]);
		cells_count(c, p->count[B]);
		cells_time(c, total_of(p->time[A]));
		cells_time(c, total_of(p->time[B]));
		cells_time(c, total_of(p->both));
		cells_share(c, millionths(total_of(p->both), total_of(p->time[A])));
		cells_share(c, millionths(total_of(p->both), total_of(p->time[B])));
	}
	ok = cells_end(c) && ok;
	free(units);
	track_labels_free(&labels);
	note_unmet(o, c);
	if (ok && o->asked.longer_given && c->form != FORM_CSV)
		ok = put_inside(o, c);
	if (o->missed > 0)
		cells_note(c, "not counted, as too many are open, or too many names: %" PRIu64, o->missed);
	return ok;
}
