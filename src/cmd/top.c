/*
 * top: the longest single spans of each trace or of each group of spans, gaps between the spans of a thread,
 * or arrows (top_report.c prints them).  Gaps need spans in order of time; the engine sorts them.
 */

#include <inttypes.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "base/scan.h"
#include "cli/apart.h"
#include "cli/say.h"
#include "cmd/top.h"
#include "format/field_path.h"

#define TOP_DEFAULT 10
#define TOP_MAX 10000        /* max items of a trace */
#define MAX_COVERED_NAME 256 /* max bytes of a name, for each track of --gaps */

static struct top top_of(const struct top_run *run, const char *path)
{
	return (struct top){ .run = run,
		             .path = path,
		             .first_ns = UINT64_MAX,
		             .items.limit = (uint32_t)run->limit,
		             .lacking = (uint32_t)((UINT64_C(1) << run->fields.n) - 1) };
}

/* Returns false on OOM.  The struct must not move afterwards. */
static bool begin_groups(struct top *t)
{
	stats_init(&t->stats);
	t->stats.file = slice_str(t->path);
	return stats_group(&t->stats, &t->run->by, SLICE_LIT(""));
}

/* ---- spans ---- */

/* Finds the group of a span, and counts the duration in it.  Returns false on OOM. */
static bool find_group(struct top *t, const struct batch *b, const struct event *e, uint32_t *group)
{
	struct span_table *const table = &t->stats.spans;

	*group = groups_find(&t->stats, &table->set, b, e);
	struct span_group *const g = groups_at(&table->groups, &table->cap, sizeof *g, *group, &table->other);
	if (g == NULL)
		return false;
	g->count++;
	histogram_add(&g->durations, &t->stats.pool, e->dur);
	return true;
}

/* Clears the bits of the fields that the span has. */
static void note_fields(struct top *t, const struct batch *b, const struct event *e)
{
	const struct shown_fields *const f = &t->run->fields;
	struct path_value member;

	for (unsigned i = 0; i < f->n; i++)
		if ((t->lacking >> i & 1) != 0 &&
		    field_value(b->fields + e->first_field, e->nfields, f->names[i], &member) != NULL)
			t->lacking &= ~(1U << i);
}

static bool add_span(struct top *t, const struct batch *b, const struct event *e)
{
	const struct longest_item item = {
		.length = e->dur, .ts = e->ts, .offset = e->offset, .track = e->track
	};
	uint32_t group = 0;

	if (t->lacking != 0)
		note_fields(t, b, e);
	if (t->run->by.n > 0 && !find_group(t, b, e, &group))
		return false;
	if (!longest_wants(&t->items, group, e->dur))
		return true;
	const struct slice fields = shown_fields_put(&t->scratch, &t->run->fields, b, e);
	return !t->scratch.failed && longest_add(&t->items, group, item, e->name, e->cls->category, fields);
}

/* ---- gaps ---- */

/* Adds the gap before a span.  Events are in order of their start. */
static bool add_gap(struct top *t, const struct event *e)
{
	const uint64_t end = event_end(e);

	if (!array_reach(&t->covered, &t->ncovered, e->track->index, sizeof *t->covered))
		return false;
	struct covered *const c = &t->covered[e->track->index];
	if (c->name != NULL && e->ts > c->until && longest_wants(&t->items, 0, e->ts - c->until)) {
		const struct longest_item item = {
			.length = e->ts - c->until, .ts = c->until, .offset = e->offset, .track = e->track
		};
		if (!longest_add(&t->items, 0, item, e->name, slice_of(c->name, c->n), SLICE_LIT("")))
			return false;
	}
	if (c->name != NULL && end <= c->until)
		return true;
	const uint32_t n = (uint32_t)utf8_cut(e->name.p, e->name.n, MAX_COVERED_NAME);
	if (!array_resize(&c->name, (uint64_t)n + 1, 1))
		return false;
	array_copy(c->name, e->name.p, n);
	*c = (struct covered){ end, c->name, n };
	return true;
}

/* ---- arrows ---- */

/* Adds an arrow.  Ends that are not selected are paired too, so that no other end takes their partners. */
static bool add_arrow(void *top, const struct event *e, uint32_t left_out, const struct open_arrow *other,
                      enum arrow_end end)
{
	struct top *const t = top;
	const bool arrives = end == ARROW_ARRIVES;
	const struct longest_item item = {
		.length = arrives ? open_arrow_delay(other, e) : 0,
		.ts = other->ts,
		.offset = arrives ? e->offset : other->offset,
		.track = arrives ? other->track : e->track,
		.to = arrives ? e->track : other->track,
	};

	if (end == ARROW_ALONE || other->what != 0 || left_out != 0 ||
	    !longest_wants(&t->items, 0, item.length))
		return true;
	return longest_add(&t->items, 0, item, e->name, SLICE_LIT(""), SLICE_LIT(""));
}

/* ---- reading ---- */

static bool add_event(struct top *t, const struct batch *b, const struct event *e)
{
	const struct top_run *const r = t->run;

	if (e->ts < t->first_ns)
		t->first_ns = e->ts;
	if (r->arrows)
		return !event_is_flow(e) ||
		       arrow_pairing_add(&t->arrows, e, (e->flags & EVENT_LEFT_OUT) != 0, add_arrow, t);
	if ((e->flags & EVENT_LEFT_OUT) != 0)
		return true;
	if (e->phase != PHASE_SPAN || (r->gaps && event_is_async(e)))
		return true;
	return r->gaps ? add_gap(t, e) : add_span(t, b, e);
}

static bool take_batch(struct top *t, struct batch *b)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < b->n; i++)
		ok = add_event(t, b, &b->events[i]);
	batch_release(b);
	return ok;
}

/* Reads all events.  Returns false if the trace could not be read; a finding states the reason. */
static bool read_events(struct top *t, struct pipeline *p)
{
	enum stage_status status;
	struct batch *b;
	bool ok = true;

	while (ok && (status = pipeline_next(p, &b)) == STAGE_MORE)
		ok = take_batch(t, b);
	if (!ok)
		pipeline_no_memory(p);
	return ok && status == STAGE_END;
}

static void free_top(struct top *t)
{
	for (uint32_t i = 0; i < t->ncovered; i++)
		free(t->covered[i].name);
	free(t->covered);
	longest_free(&t->items);
	arrow_pairing_free(&t->arrows);
	stats_free(&t->stats);
	text_free(&t->scratch);
	arena_free(&t->tracks);
	free(t->copies);
}

/* ---- portions that are read apart ---- */

static void ask_for_spans(struct pipeline_job *job)
{
	job->read.interpret = INTERPRET_SPANS;
	job->read.want = WANT_TIMES | WANT_ORDER | WANT_FIELDS;
	job->read.no_arrows = true;
	job->arrange.order = ORDER_FILE;
	job->choice.keeps = true; /* times are relative to the start of the trace */
}

static bool begin_portion(struct apart_portion *f)
{
	const struct top *const sum = f->ctx;
	struct top *const t = f->state;

	ask_for_spans(&f->job);
	*t = top_of(sum->run, sum->path);
	return begin_groups(t);
}

static bool read_portion(struct apart_portion *f, struct batch *b)
{
	return take_batch(f->state, b);
}

/* Returns a track with the names of a track of a portion, which is freed with the portion, and of its
 * process; it is made once for each track.  NULL on OOM, or if the copies of all portions take too much
 * memory. */
static const struct track *copy_track(struct top *sum, struct top *portion, const struct track *t)
{
	const struct slice process = track_process(t)->name;
	struct track *copy;

	if (!array_reach(&portion->copies, &portion->ncopies, t->index, sizeof *portion->copies))
		return NULL;
	if (portion->copies[t->index] != NULL)
		return portion->copies[t->index];
	sum->tracks_bytes += 2 * sizeof *copy + t->name.n + process.n;
	copy = sum->tracks_bytes <= LONGEST_BYTES ? arena_zalloc(&sum->tracks, 2, sizeof *copy) : NULL;
	if (copy != NULL) {
		copy[0].name = arena_copy(&sum->tracks, t->name);
		copy[0].process = &copy[1];
		copy[1].name = arena_copy(&sum->tracks, process);
	}
	return portion->copies[t->index] = copy != NULL && !sum->tracks.failed ? copy : NULL;
}

/* An item of a portion, and its group in the sum. */
struct joined_item {
	const struct longest_item *item;
	uint32_t group;
};

static int by_arrival(const void *a, const void *b)
{
	const uint64_t x = ((const struct joined_item *)a)->item->number,
	               y = ((const struct joined_item *)b)->item->number;

	return ORDER(x, y);
}

/* Adds a group of a portion to that with the same values, and finds its number.  Returns false on OOM. */
static bool join_group(struct top *sum, const struct top *portion, uint32_t group, uint32_t *number)
{
	const struct span_table *const of = &portion->stats.spans;
	struct span_row row = { .group = &of->groups[group] };

	groups_values(&portion->stats, &of->set, group, row.values);
	return stats_add_span(&sum->stats, &sum->stats.spans, &row, &portion->stats.pool, number);
}

/* Lists the items of a portion in order of arrival.  The caller frees *list.  Returns false on OOM. */
static bool join_groups(struct top *sum, const struct top *portion, struct joined_item **list, size_t *n)
{
	const struct longest *const l = &portion->items;
	uint32_t number = 0;
	bool ok = true;

	*n = 0;
	*list = malloc((l->items + 1) * sizeof **list);
	for (uint32_t i = 0; ok && *list != NULL && i < l->ngroups; i++) {
		if (sum->run->by.n > 0)
			ok = l->groups[i].n == 0 || join_group(sum, portion, i, &number);
		for (uint32_t k = 0; k < l->groups[i].n; k++)
			(*list)[(*n)++] = (struct joined_item){ &l->groups[i].list[k], number };
	}
	if (*list != NULL && *n > 0)
		qsort(*list, *n, sizeof **list, by_arrival);
	return ok && *list != NULL;
}

static bool join_item(struct top *sum, struct top *portion, const struct joined_item *j)
{
	struct longest_item item = *j->item;

	if (!longest_wants(&sum->items, j->group, item.length))
		return true;
	item.track = copy_track(sum, portion, item.track);
	return item.track != NULL && longest_add(&sum->items, j->group, item, longest_name(j->item),
	                                         longest_second(j->item), longest_fields(j->item));
}

/* Adds the items of a portion.  Portions come in order, so of equal lengths the first one is kept.  Refuses a
 * portion without spans, unless some are left out, as the note on samples needs the whole trace, and one with
 * so many groups that these keep fewer items. */
static bool join_portion(struct apart_portion *f, const struct run_report *run)
{
	struct top *const sum = f->ctx, *const portion = f->state;
	struct joined_item *list = NULL;
	size_t n = 0;

	if ((portion->items.arrived == 0 && run->found == NULL) || portion->items.limit < sum->run->limit ||
	    !groups_label(&portion->stats) || !apart_claim_labels(f, &portion->stats) ||
	    !apart_sum_is_exact(&portion->stats))
		return false;
	sum->zero_ns = run->trace->zero_ns;
	sum->lacking &= portion->lacking;
	const uint64_t first = select_found_first(run->found, portion->first_ns);
	if (first < sum->first_ns)
		sum->first_ns = first;
	bool ok = join_groups(sum, portion, &list, &n);
	for (size_t i = 0; ok && i < n; i++)
		ok = join_item(sum, portion, &list[i]);
	free(list);
	return ok && sum->items.limit == sum->run->limit && apart_sum_is_exact(&sum->stats);
}

static void end_portion(struct apart_portion *f)
{
	free_top(f->state);
}

static void report_portions(struct trace_slot *slot, void *ctx, struct finding_log *logs, uint32_t n)
{
	apart_say(slot, logs, n);
	top_report((struct top_run *)slot->run, ctx);
}

/* Returns false, without a report, if the trace must be read as a whole.  Gaps and arrows need the order of
 * time of all portions.  Of equal spans the first one is listed, so the files must not be merged. */
static bool list_apart(struct trace_slot *slot)
{
	static const struct apart_ops ops = { sizeof(struct top), begin_portion, read_portion,
		                              join_portion,       end_portion,   report_portions };
	const struct top_run *const run = (const struct top_run *)slot->run;
	struct top sum = top_of(run, slot->path);

	if (run->gaps || run->arrows || run->max_repeat > 0 || !apart_is_possible(slot, &ops) ||
	    format_trace_ops(slot->trace->format)->merges)
		return false;
	bool ok = begin_groups(&sum);
	sum.stats.of_portions = true;
	ok = ok && apart_read(slot, &ops, &sum);
	free_top(&sum);
	return ok;
}

/* ---- a trace as a whole ---- */

static void list_longest(struct trace_slot *slot)
{
	struct top_run *const run = (struct top_run *)slot->run;
	struct trace_run *const r = slot->run;
	struct top *const t = slot->state;
	struct pipeline_job job = trace_slot_job(slot);
	struct pipeline *p;

	if (list_apart(slot))
		return;
	*t = top_of(run, slot->path);
	const bool ok = begin_groups(t);
	ask_for_spans(&job);
	if (run->gaps || run->arrows) {
		job.read.want &= ~(unsigned)WANT_FIELDS;
		job.read.want |= WANT_NAMES | (run->arrows ? (unsigned)WANT_ARROWS : 0);
		job.arrange.order = ORDER_TIME;
	}
	job.read.ahead = slot->helpers > 0 ? READ_AHEAD_IF_SLOW : READ_ALONG;
	job.arrange.bare = run->gaps || run->arrows;
	job.arrange.arrows_alone = run->arrows;
	job.adjust.max_repeat = run->max_repeat;
	job.read.no_arrows = !run->arrows;
	job.choice.keeps_arrows = run->arrows;
	const bool read = pipeline_open(&p, &job) && ok && read_events(t, p);
	pipeline_end(p);
	t->zero_ns = pipeline_trace(p)->zero_ns;
	trace_slot_turn(slot);
	r->out.no_memory |= !ok;
	const struct run_report report = pipeline_report(p);
	t->first_ns = select_found_first(report.found, t->first_ns);
	if (read && slot->is_read)
		top_report(run, t);
	if (!r->options.quiet)
		say_losses(slot->path, report.cut, false);
	if (t->items.arrived == 0 && !run->gaps && !run->arrows && report.found == NULL)
		say_samples(&r->options, slot->path, report.trace);
	r->status = worse(r->status, say_selected(&r->options, slot->path, report.found, report.trace));
	free_top(t);
	pipeline_close(p);
}

/* ---- the command ---- */

static const struct cmd_option own[] = {
	{ "limit", "N", "list N of each trace or group (default: 10)", 'n',
	  TO_POSITIVE(struct top_run, limit) },
	{ "gaps", NULL, "list gaps: time of a thread between spans", 0, TO_FLAG(struct top_run, gaps) },
	{ "arrows", NULL, "list arrows: from a cause to its effect", 0, TO_FLAG(struct top_run, arrows) },
	{ "by", "KEY,...", "list the longest spans of each group: by name, category, thread, arg:FIELD, ...",
	  0, TO_TEXT(struct top_run, words_by) },
	{ "outliers", NULL, "list spans longer than the p99 of their group (default: by name,category)", 0,
	  TO_FLAG(struct top_run, outliers) },
	{ "times", "K", "with --outliers: longer than K times the p99 (default: 1)", 0,
	  TO_TEXT(struct top_run, words_times) },
	{ "fields", "NAME,...", "show these fields, or none (default: those with text)", 0,
	  TO_TEXT(struct top_run, words_fields) },
	{ "format", "text|json", "the report's form (default: text)", 0, TO_CHOICE(struct top_run, form) },
	ROW_TRACES_AT_A_TIME(struct top_run, threads),
	ROW_MAX_REPEAT(struct top_run, max_repeat),
	{ .name = NULL },
};

static bool check_options(struct top_run *t)
{
	struct options *const o = &t->run.options;

	if (t->gaps && t->arrows)
		return options_mistake(o, "--gaps and --arrows exclude each other");
	if (t->words_fields != NULL && (t->gaps || t->arrows))
		return options_mistake(o, "--fields is for spans");
	if ((t->words_by != NULL || t->outliers) && (t->gaps || t->arrows))
		return options_mistake(o, "--by and --outliers are for spans");
	if (t->words_times != NULL && !t->outliers)
		return options_mistake(o, "--times is for --outliers");
	if (t->arrows && (select_kinds(&o->select.select) & SELECT_DURATIONS) != 0)
		return options_mistake(
		    o, "--min-dur and --max-dur are for spans: of arrows, the longest are listed");
	if (t->limit > TOP_MAX)
		return options_mistake(o, "--limit is at most %d", TOP_MAX);
	return true;
}

/* Parses "1.5" with at most three decimals into thousandths.  Returns 0 unless it is a number from 0.001 to
 * 1000. */
static uint32_t parse_times(const char *p)
{
	uint32_t v = 0, unit = 1000;

	for (bool point = false; *p != '\0'; p++) {
		if (*p == '.' && !point && unit == 1000 && p[1] != '\0') {
			point = true;
			continue;
		}
		if (*p < '0' || *p > '9' || unit == 1 || v > 1000000)
			return 0;
		unit /= point ? 10 : 1;
		v = point ? v + (uint32_t)(*p - '0') * unit : v * 10 + (uint32_t)(*p - '0') * 1000;
	}
	return v <= 1000000 ? v : 0;
}

static bool parse_words(struct top_run *t)
{
	struct options *const o = &t->run.options;
	struct shown_path shown;
	char why[512];

	t->fields.json = t->form == FORM_JSON;
	t->times = t->words_times != NULL ? parse_times(t->words_times) : 1000;
	if (t->words_fields != NULL && !shown_fields_parse(&t->fields, t->words_fields))
		return options_mistake(o, "--fields takes 1 to %d names with commas between them",
		                       SHOWN_FIELDS_MAX);
	if (t->times == 0)
		return options_takes(o, "--times", "a factor of 0.001 to 1000 with at most three decimals",
		                     t->words_times);
	if ((t->words_by != NULL || t->outliers) &&
	    !group_by_parse(&t->by, t->words_by != NULL ? t->words_by : "name,category", why, sizeof why))
		return options_mistake(o, "--by: %s", show_path(&shown, why));
	return true;
}

static enum exit_status cmd_top(const struct command *cmd, int argc, char **argv)
{
	struct top_run t = { .limit = TOP_DEFAULT };
	struct trace_run *const r = &t.run;

	options_init(&r->options, cmd, argc, argv);
	if (options_parse(&r->options, &t) && check_options(&t) && parse_words(&t) &&
	    traces_begin(r, t.form == FORM_JSON))
		traces_each(r, t.threads, sizeof(struct top), list_longest);
	return traces_end(r);
}

const struct command top_command = {
	.name = "top",
	.operands = "[options] IN ...",
	.summary = "Lists the longest single spans, gaps or arrows.",
	.options = own,
	.reads = true,
	.writes = true,
	.selects = true,
	.tables = true,
	.run = cmd_top,
};
