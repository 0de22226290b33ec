/*
 * diff: both traces are read in order of time at the same pace.  compare/differ pairs and compares the
 * events; memory is used for sorting and for events that wait for a partner.  Each difference is written when
 * it is found, as text or JSON; a table by name ends the report.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/match.h"
#include "cli/names.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/say.h"
#include "cmd/events/event_text.h"
#include "compare/compare.h"
#include "format/fields_json.h"
#include "json/out.h"
#include "input/open.h"
#include "out/kind.h"
#include "output/columns.h"
#include "output/text_visible.h"

struct diff;

/* A form of the report. */
struct diff_form {
	void (*begin)(struct text *t, const struct diff *v);
	/* Returns false on OOM. */
	bool (*difference)(struct text *t, const struct diff *v, const struct difference *d);
	void (*end)(struct text *t, const struct diff *v);
};

#define MAX_FIELDS 64
#define DEFAULT_LIMIT 20 /* number of differences */

struct diff_input {
	struct diff *diff;
	int side;
	enum stage_status status; /* of the last request */
	struct batch *next;       /* requested, but not taken yet; or NULL */
	bool begun;               /* its first event is known */
};

struct diff {
	struct options options; /* first */
	struct diff_input inputs[DIFFER_SIDES];
	const char *paths[DIFFER_SIDES];
	uint64_t limit, sort_memory;
	struct differ_rules rules;
	struct slice fields[MAX_FIELDS]; /* ignored fields */
	size_t nfields;
	unsigned json; /* index in text|json */
	struct report_out out;
	struct text text;
	/* the report */
	const struct diff_form *form;
	uint64_t bias;  /* 2^63 for signed times, which makes them comparable by ^; else 0 */
	uint64_t start; /* ns ^ bias: the first time of both sides */
	uint64_t starts[DIFFER_SIDES];
	unsigned width; /* width of text; 0: any */
	uint64_t shown; /* number of differences so far */
	bool complete;  /* at the end: both sides were read */
	struct pipeline *pipelines[DIFFER_SIDES];
	struct pipeline_job jobs[DIFFER_SIDES];
	struct differ differ;
	struct by_name names;
	bool no_memory;
	enum exit_status status; /* worst status of the inputs */
};

/* ---- report as text ---- */

/* numbers: the ids, too: tracks with the same names differ in them. */
static void put_one_track(struct text *t, const struct track *k, bool numbers)
{
	value_text_word(t, k->name);
	if (numbers && k->has_id)
		text_printf(t, " (%s %" PRIu64 ")", k->kind == TRACK_PROCESS ? "pid" : "tid", k->id);
}

static void put_track(struct text *t, const struct track *k, bool numbers)
{
	const struct track *const process = track_process(k);

	put_one_track(t, k, numbers);
	if (process == k)
		return;
	text_str(t, " of ");
	put_one_track(t, process, numbers);
}

/* Whether only numbers tell these tracks apart: the name of a process without a number is not compared. */
static bool named_alike(const struct track *a, const struct track *b)
{
	const struct track *const p = track_process(a), *const q = track_process(b);

	return slice_equal(a->name, b->name) && (slice_equal(p->name, q->name) || (!p->has_id && !q->has_id));
}

static void put_time(struct text *t, const struct diff *v, uint64_t ts)
{
	ts ^= v->bias;
	text_since(t, ts > v->start ? ts - v->start : 0);
}

/* Writes two durations, in ns if fewer digits would show the same. */
static void put_durations(struct text *t, uint64_t a, uint64_t b)
{
	struct text shown[DIFFER_SIDES] = { { .p = NULL } };

	text_time(&shown[DIFFER_A], a);
	text_time(&shown[DIFFER_B], b);
	if (slice_equal(slice_of(shown[DIFFER_A].p, shown[DIFFER_A].n),
	                slice_of(shown[DIFFER_B].p, shown[DIFFER_B].n)))
		text_printf(t, "    dur: %" PRIu64 ", %" PRIu64 " ns\n", a, b);
	else
		text_printf(t, "    dur: %.*s, %.*s\n", (int)shown[DIFFER_A].n, shown[DIFFER_A].p,
		            (int)shown[DIFFER_B].n, shown[DIFFER_B].p);
	for (int i = 0; i < DIFFER_SIDES; i++) {
		t->failed |= shown[i].failed;
		text_free(&shown[i]);
	}
}

static void put_words(struct text *t, const char *what, struct slice a, struct slice b)
{
	text_printf(t, "    %s: ", what);
	value_text_word(t, a);
	text_str(t, ", ");
	value_text_word(t, b);
	text_char(t, '\n');
}

static void put_field(void *ctx, struct slice name, const struct value *a, const struct value *b)
{
	struct text *const t = ctx;

	text_str(t, "    field ");
	value_text_word(t, name);
	text_str(t, a == NULL ? ": only in B: " : b == NULL ? ": only in A: " : ": ");
	if (a != NULL)
		value_text_put(t, a);
	if (a != NULL && b != NULL)
		text_str(t, ", ");
	if (b != NULL)
		value_text_put(t, b);
	text_char(t, '\n');
}

static bool put_parts(struct text *t, const struct diff *v, const struct difference *d)
{
	const struct event *const a = difference_event(d, DIFFER_A), *const b = difference_event(d, DIFFER_B);

	if ((d->parts & PART_TIME) != 0) {
		text_str(t, "    time: ");
		put_time(t, v, a->ts);
		text_str(t, ", ");
		put_time(t, v, b->ts);
		text_char(t, '\n');
	}
	if ((d->parts & PART_DURATION) != 0)
		put_durations(t, a->dur, b->dur);
	if ((d->parts & PART_PHASE) != 0)
		text_printf(t, "    kind: %s, %s\n", event_kind_name(event_kind(a)),
		            event_kind_name(event_kind(b)));
	if ((d->parts & PART_NAME) != 0)
		put_words(t, "name", a->name, b->name);
	if ((d->parts & PART_CATEGORY) != 0)
		put_words(t, "category", a->cls->category, b->cls->category);
	if ((d->parts & PART_TRACK) != 0) {
		const bool numbers = named_alike(a->track, b->track);
		text_str(t, "    track: ");
		put_track(t, a->track, numbers);
		text_str(t, ", ");
		put_track(t, b->track, numbers);
		text_char(t, '\n');
	}
	return (d->parts & PART_FIELDS) == 0 || field_differences(d, &v->differ.rules, put_field, t);
}

static bool put_difference(struct text *t, const struct diff *v, const struct difference *d)
{
	const struct event *const a = difference_event(d, DIFFER_A), *const b = difference_event(d, DIFFER_B),
	                          *const e = a != NULL ? a : b;

	text_str(t, a == NULL ? "only in B: " : b == NULL ? "only in A: " : "changed: ");
	if (a != NULL)
		text_printf(t, "A @%" PRIu64 "%s", a->offset, b != NULL ? ", " : "");
	if (b != NULL)
		text_printf(t, "B @%" PRIu64, b->offset);
	text_printf(t, ": %s ", event_kind_name(event_kind(e)));
	value_text_word(t, e->name);
	text_str(t, " at ");
	put_time(t, v, e->ts);
	if (e->phase == PHASE_SPAN && (a == NULL || b == NULL)) {
		text_str(t, ", ");
		text_time(t, e->dur);
		text_str(t, " long");
	}
	text_str(t, ", on ");
	put_track(t, e->track, false);
	text_char(t, '\n');
	return a == NULL || b == NULL || put_parts(t, v, d);
}

static bool differs(const struct by_name_row *r)
{
	return (r->only[DIFFER_A] | r->only[DIFFER_B] | r->changed) != 0;
}

static void put_names(struct text *t, const struct diff *v)
{
	static const struct column list[] = {
		{ "name", COLUMN_NAME, 20, 0 },       { "in A", COLUMN_NUMBER, 0, 2 },
		{ "in B", COLUMN_NUMBER, 0, 2 },      { "only in A", COLUMN_NUMBER, 0, 0 },
		{ "only in B", COLUMN_NUMBER, 0, 0 }, { "changed", COLUMN_NUMBER, 0, 0 },
		{ "time in A", COLUMN_NUMBER, 0, 1 }, { "time in B", COLUMN_NUMBER, 0, 1 },
	};
	const struct by_name *const names = &v->names;
	struct columns c = { .list = list, .n = sizeof list / sizeof *list, .indent = 2 };

	for (uint32_t i = 0; i < names->n; i++) {
		const struct by_name_row *const r = &names->rows[i];
		if (!differs(r))
			continue;
		columns_name(&c, r->name);
		columns_u64(&c, r->events[DIFFER_A]);
		columns_u64(&c, r->events[DIFFER_B]);
		columns_u64(&c, r->only[DIFFER_A]);
		columns_u64(&c, r->only[DIFFER_B]);
		columns_u64(&c, r->changed);
		columns_time(&c, r->dur[DIFFER_A]);
		columns_time(&c, r->dur[DIFFER_B]);
	}
	columns_print(&c, t, v->width);
	columns_free(&c);
}

/* Writes a hint for traces that have nothing in common, such as traces of two runs. */
static void put_nothing_same(struct text *t, const struct diff *v)
{
	const struct differ_rules *const rules = &v->differ.rules;
	const uint64_t a = v->starts[DIFFER_A], b = v->starts[DIFFER_B];
	const struct {
		bool counts;
		const char *name;
	} parts[] = {
		{ (rules->ignore & PART_TIME) == 0, "time" },
		{ (rules->tracks & TRACKS_WITHOUT_PROCESSES) == 0, "process" },
		{ (rules->tracks & TRACKS_WITHOUT_THREADS) == 0, "thread" },
	};
	const char *before = " (what may be left out: --ignore ";

	text_str(t, "no event is the same");
	if (a != b) {
		text_printf(t, ": %s begins ", a > b ? "A" : "B");
		text_time(t, a > b ? a - b : b - a);
		text_printf(t, " after %s", a > b ? "B" : "A");
	}
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i].counts) {
			text_printf(t, "%s%s", before, parts[i].name);
			before = ",";
		}
	text_str(t, before[0] == ',' ? ")\n" : "\n");
}

static uint64_t count_differences(const struct differ *d)
{
	return d->changed + d->only[DIFFER_A] + d->only[DIFFER_B];
}

static void put_end(struct text *t, const struct diff *v)
{
	const struct differ *const d = &v->differ;
	const uint64_t all = count_differences(d);

	if (!v->complete)
		text_str(t, "not compared to the end: a trace could not be read\n");
	if (all > v->shown)
		text_printf(t, "%" PRIu64 " more differences\n", all - v->shown);
	text_printf(t,
	            "events: %" PRIu64 " in A, %" PRIu64 " in B: %" PRIu64 " the same, %" PRIu64
	            " changed, %" PRIu64 " only in A, %" PRIu64 " only in B\n",
	            d->sides[DIFFER_A].events, d->sides[DIFFER_B].events, d->same, d->changed,
	            d->only[DIFFER_A], d->only[DIFFER_B]);
	if (v->complete && d->same == 0 && d->sides[DIFFER_A].events > 0 && d->sides[DIFFER_B].events > 0)
		put_nothing_same(t, v);
	if (d->full > 0)
		text_printf(t,
		            "%" PRIu64 " times more than %u events of a side waited for a partner: some of "
		            "them may have one\n",
		            d->full, PENDING_MAX);
}

#define INDENT 8 /* indent of continuation lines */

static void put_lines(struct text *t, const struct diff *v, struct text *lines)
{
	text_wrap_lines(t, lines, INDENT, v->width);
	text_free(lines);
}

static void text_begin(struct text *t, const struct diff *v)
{
	struct text lines = { .p = NULL };
	struct shown_path a, b;

	text_printf(&lines, "A: %s\nB: %s\n", show_path(&a, v->paths[DIFFER_A]),
	            show_path(&b, v->paths[DIFFER_B]));
	put_lines(t, v, &lines);
}

static bool text_difference(struct text *t, const struct diff *v, const struct difference *d)
{
	struct text lines = { .p = NULL };
	const bool ok = put_difference(&lines, v, d);

	put_lines(t, v, &lines);
	return ok;
}

static void text_end(struct text *t, const struct diff *v)
{
	struct text lines = { .p = NULL };

	put_end(&lines, v);
	put_lines(t, v, &lines);
	if (count_differences(&v->differ) > 0)
		put_names(t, v);
}

static const struct diff_form diff_text = { text_begin, text_difference, text_end };

/* ---- report as JSON: schemas/diff.schema.json ---- */

static void json_begin(struct text *t, const struct diff *v)
{
	struct json_out o = { .t = t };

	json_out_begin(&o, NULL, "{");
	json_out_string(&o, "tool", TOOL_NAME);
	json_out_space(&o, "\n ");
	json_out_string(&o, "a", v->paths[DIFFER_A]);
	json_out_space(&o, "\n ");
	json_out_string(&o, "b", v->paths[DIFFER_B]);
	json_out_space(&o, "\n ");
	json_out_u64(&o, "tolerance_ns", v->differ.rules.tolerance);
	json_out_begin_after(&o, "\n ", "differences", "[");
}

static void put_json_event(struct json_out *o, const char *key, const struct event *e, uint64_t bias)
{
	struct fields_json_lost lost = { 0 };

	if (e == NULL) {
		json_out_null(o, key);
		return;
	}
	struct event biased = *e;
	biased.ts ^= bias;
	json_out_begin(o, key, "{");
	event_json(o, &biased, bias, &lost);
	json_out_end(o, "}");
}

static void put_json_field(void *ctx, struct slice name, const struct value *a, const struct value *b)
{
	struct json_out *const o = ctx;
	struct fields_json_lost lost = { 0 };

	json_out_begin(o, NULL, "{");
	json_out_slice(o, "name", name);
	if (a != NULL)
		fields_json_value(json_out_value(o, "a"), a, &lost);
	if (b != NULL)
		fields_json_value(json_out_value(o, "b"), b, &lost);
	json_out_end(o, "}");
}

static void put_json_parts(struct json_out *o, unsigned parts)
{
	static const struct {
		unsigned part;
		const char *name;
	} words[] = {
		{ PART_TIME, "time" },         { PART_DURATION, "dur" }, { PART_PHASE, "kind" },
		{ PART_NAME, "name" },         { PART_FIELDS, "args" },  { PART_TRACK, "track" },
		{ PART_CATEGORY, "category" },
	};

	json_out_begin(o, "parts", "[");
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if ((parts & words[i].part) != 0)
			json_out_string(o, NULL, words[i].name);
	json_out_end(o, "]");
}

static bool json_difference(struct text *t, const struct diff *v, const struct difference *d)
{
	const struct event *const a = difference_event(d, DIFFER_A), *const b = difference_event(d, DIFFER_B);
	struct json_out o = { .t = t, .comma = v->shown > 0 };
	bool ok = true;

	json_out_begin_after(&o, "\n  ", NULL, "{");
	json_out_string(&o, "change", a == NULL ? "only_b" : b == NULL ? "only_a" : "changed");
	put_json_event(&o, "a", a, v->bias);
	put_json_event(&o, "b", b, v->bias);
	put_json_parts(&o, d->parts);
	json_out_begin(&o, "args", "[");
	if ((d->parts & PART_FIELDS) != 0)
		ok = field_differences(d, &v->differ.rules, put_json_field, &o);
	json_out_end(&o, "]}");
	return ok;
}

static void put_json_name(struct json_out *o, const struct by_name_row *r)
{
	json_out_begin_after(o, "\n  ", NULL, "{");
	json_out_slice(o, "name", r->name);
	json_out_u64(o, "events_a", r->events[DIFFER_A]);
	json_out_u64(o, "events_b", r->events[DIFFER_B]);
	json_out_u64(o, "only_a", r->only[DIFFER_A]);
	json_out_u64(o, "only_b", r->only[DIFFER_B]);
	json_out_u64(o, "changed", r->changed);
	text_u128(json_out_value(o, "dur_ns_a"), r->dur[DIFFER_A]);
	text_u128(json_out_value(o, "dur_ns_b"), r->dur[DIFFER_B]);
	json_out_end(o, "}");
}

static void json_end(struct text *t, const struct diff *v)
{
	const struct differ *const d = &v->differ;
	struct json_out o = { .t = t };

	json_out_end(&o, "]");
	json_out_space(&o, "\n ");
	json_out_bool(&o, "complete", v->complete);
	json_out_space(&o, "\n ");
	json_out_u64(&o, "events_a", d->sides[DIFFER_A].events);
	json_out_u64(&o, "events_b", d->sides[DIFFER_B].events);
	json_out_u64(&o, "same", d->same);
	json_out_u64(&o, "changed", d->changed);
	json_out_u64(&o, "only_a", d->only[DIFFER_A]);
	json_out_u64(&o, "only_b", d->only[DIFFER_B]);
	json_out_u64(&o, "times_full", d->full);
	json_out_begin_after(&o, "\n ", "names", "[");
	for (uint32_t i = 0; i < v->names.n; i++)
		if (differs(&v->names.rows[i]))
			put_json_name(&o, &v->names.rows[i]);
	json_out_end(&o, "]}\n");
}

static const struct diff_form diff_json = { json_begin, json_difference, json_end };

/* ---- options ---- */

static bool field_counts(const void *ctx, struct slice name)
{
	const struct diff *const d = ctx;

	for (size_t i = 0; i < d->nfields; i++)
		if (slice_equal(d->fields[i], name))
			return false;
	return true;
}

static const struct {
	const char *name;
	unsigned part, tracks;
} ignored[] = {
	{ "args", PART_FIELDS, 0 },
	{ "category", PART_CATEGORY, 0 },
	{ "dur", PART_DURATION, 0 },
	{ "kind", PART_PHASE, 0 },
	{ "name", PART_NAME, 0 },
	{ "process", 0, TRACKS_WITHOUT_PROCESSES },
	{ "thread", 0, TRACKS_WITHOUT_THREADS },
	{ "time", PART_TIME, 0 },
	{ "track", PART_TRACK, 0 },
};

/* Returns false after a message. */
static bool unknown_ignored(struct diff *d, struct slice s)
{
	char name[64], meant[80] = "";
	struct nearest near = { .typed = name };
	struct shown_path shown;

	snprintf(name, sizeof name, "%.*s", (int)(s.n < sizeof name ? s.n : sizeof name), s.p);
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		nearest_add(&near, ignored[i].name);
	if (near.name != NULL)
		snprintf(meant, sizeof meant, "did you mean %s? ", near.name);
	show_path(&shown, name);
	return options_mistake(&d->options, "--ignore: there is no %s; %sa field is meant by field:%s",
	                       shown.s, meant, shown.s);
}

static bool ignore_one(struct diff *d, struct slice s)
{
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		if (slice_is(s, ignored[i].name)) {
			d->rules.ignore |= ignored[i].part;
			d->rules.tracks |= ignored[i].tracks;
			return true;
		}
	if (s.n < 6 || memcmp(s.p, "field:", 6) != 0)
		return unknown_ignored(d, s);
	s = slice_of(s.p + 6, s.n - 6);
	if (s.n == 0 || d->nfields == MAX_FIELDS)
		return options_mistake(
		    &d->options, s.n == 0 ? "--ignore: a name is empty" : "--ignore: more than %d fields",
		    MAX_FIELDS);
	d->fields[d->nfields++] = s;
	for (int i = 0; i < DIFFER_SIDES; i++)
		d->rules.fields[i] = (struct event_fields){ .counts = field_counts, .ctx = d };
	return true;
}

static bool set_tolerance(void *run, struct options *o, const char *arg)
{
	struct diff *const d = run;

	return duration_option(arg, &d->rules.tolerance) ||
	       options_takes(o, "--tolerance", "a duration, such as 500 or 1.5us", arg);
}

static bool set_ignore(void *run, struct options *o, const char *arg)
{
	for (;;) {
		const size_t n = strcspn(arg, ",");
		if (!ignore_one(run, slice_of(arg, n)))
			return false;
		if (arg[n] == '\0')
			return true;
		arg += n + 1;
	}
}

static const struct cmd_option own[] = {
	{ "tolerance", "DURATION", "allowed difference of times and durations (default: 0)", 0, OPTION_CALL,
	  .set = set_tolerance },
	{ "ignore", "WHAT,...",
	  "leave out args, category, dur, kind, name, process, thread, time, track or field:NAME", 0,
	  OPTION_CALL, .set = set_ignore },
	{ "limit", "N", "show N differences at most (default: 20; 0: all)", 'n',
	  TO_LIMIT(struct diff, limit) },
	{ "format", "text|json", "the form of the report (default: text)", 0, TO_CHOICE(struct diff, json) },
	ROW_MEMORY(struct diff, sort_memory),
	{ .name = NULL },
};

static bool parse(struct diff *d)
{
	struct options *const o = &d->options;

	d->limit = DEFAULT_LIMIT;
	if (!options_parse(o, d))
		return false;
	d->form = d->json ? &diff_json : &diff_text;
	if (o->nin != DIFFER_SIDES)
		return options_mistake(o, "takes two traces");
	for (int i = 0; i < DIFFER_SIDES; i++)
		d->paths[i] = o->in[i];
	return run_names_check(o, d->paths, DIFFER_SIDES) && names_one_trace(o, d->paths, DIFFER_SIDES);
}

/* ---- running ---- */

static void closed(void *ctx, const struct source *s)
{
	struct diff *const d = ctx;

	progress_clear(&d->options.progress);
	d->status = worse(d->status, say_end(&d->options, s));
}

static bool open_side(struct diff *d, int side)
{
	struct pipeline_job *const job = &d->jobs[side];

	*job = options_job(&d->options, say_finding, &d->options);
	job->in.vocabularies = NULL; /* both sides are read concurrently */
	job->in.paths = &d->paths[side];
	job->in.npaths = 1;
	job->read.want = WANT_TIMES | WANT_FIELDS | WANT_ORDER;
	job->read.interpret = INTERPRET_SPANS;
	job->adjust.from_zero = true;
	job->arrange.order = ORDER_TIME;
	job->arrange.memory = d->sort_memory;
	job->to.hooks = (struct pipeline_hooks){ .closed = closed, .progress = options_progress, .ctx = d };
	return pipeline_open(&d->pipelines[side], job);
}

static void request(struct diff_input *in)
{
	in->status = pipeline_next(in->diff->pipelines[in->side], &in->next);
	if (in->status != STAGE_MORE)
		in->next = NULL;
}

/* Requests the first batch of a side.  Returns false if the side could not be read and has no events: all
 * events of the other side would differ. */
static bool read_first(struct diff *d, int side)
{
	struct diff_input *const in = &d->inputs[side];
	const enum exit_status before = d->status;

	d->status = STATUS_CLEAN;
	*in = (struct diff_input){ .diff = d, .side = side };
	request(in);
	const bool readable = in->status == STAGE_MORE || d->status < STATUS_UNREADABLE;
	d->status = worse(before, d->status);
	return readable;
}

/* Events of a side are in order of time, so its first batch has its first event. */
static enum stage_status next(void *ctx, struct batch **out)
{
	struct diff_input *const in = ctx;
	struct diff *const d = in->diff;

	if (in->next == NULL && in->status == STAGE_MORE)
		request(in);
	*out = in->next;
	in->next = NULL;
	for (uint32_t i = 0; in->status == STAGE_MORE && !in->begun && i < (*out)->n; i++)
		if ((*out)->events[i].phase != PHASE_STRUCTURE) {
			const uint64_t ts = (*out)->events[i].ts ^ d->bias;
			d->start = ts < d->start ? ts : d->start;
			d->starts[in->side] = ts;
			in->begun = true;
		}
	return in->status;
}

static bool report_difference(void *ctx, const struct difference *difference)
{
	struct diff *const d = ctx;

	if (d->shown >= d->limit)
		return true;
	d->no_memory |= !d->form->difference(&d->text, d, difference);
	d->shown++;
	report_out_put(&d->out, &d->text);
	return !d->no_memory;
}

/* Returns false if a side could not be read. */
static bool compare(struct diff *d)
{
	struct differ_source sources[DIFFER_SIDES];
	const bool signed_time = pipeline_report(d->pipelines[DIFFER_A]).signed_time ||
	                         pipeline_report(d->pipelines[DIFFER_B]).signed_time;

	d->bias = (uint64_t)signed_time << 63;
	for (int i = 0; i < DIFFER_SIDES; i++)
		sources[i] = (struct differ_source){ .next = next,
			                             .ctx = &d->inputs[i],
			                             .trace = pipeline_trace(d->pipelines[i]),
			                             .signed_time = signed_time };
	differ_init(&d->differ, &d->rules, sources[DIFFER_A], sources[DIFFER_B], report_difference, d);
	d->differ.names = &d->names;
	d->start = UINT64_MAX;
	d->width = options_width(&d->options);
	d->form->begin(&d->text, d);
	const enum differ_status status = differ_run(&d->differ);
	if (status == DIFFER_NO_MEMORY || d->no_memory)
		pipeline_no_memory(d->pipelines[DIFFER_A]);
	return status == DIFFER_DONE;
}

/* Whether both sides can be opened, and have events or can be read.  A side that cannot is read, which
 * reports the reason. */
static bool check_readable(struct diff *d)
{
	bool all = true;

	for (int i = 0; i < DIFFER_SIDES; i++)
		if (input_is_named(d->paths[i]) && access(d->paths[i], R_OK) != 0) {
			const int error = errno;
			(void)pipeline_drain(d->pipelines[i]);
			if (d->status < STATUS_UNREADABLE) /* the side can be read nevertheless */
				say_of(d->paths[i], "%s", strerror(error));
			all = false;
		}
	if (!all)
		return false;
	for (int i = 0; i < DIFFER_SIDES; i++)
		all &= read_first(d, i);
	return all;
}

static enum exit_status run(struct diff *d)
{
	bool ok = true, differs = false;

	progress_init(&d->options.progress, &d->options);
	for (int i = 0; i < DIFFER_SIDES; i++)
		ok &= open_side(d, i);
	ok = ok && check_readable(d) && compare(d);
	for (int i = 0; i < DIFFER_SIDES; i++) {
		batch_release(d->inputs[i].next);
		pipeline_end(d->pipelines[i]);
	}
	differs = count_differences(&d->differ) > 0;
	d->complete = ok && d->status < STATUS_UNREADABLE;
	if (d->differ.names != NULL) /* both were begun */
		d->form->end(&d->text, d);
	report_out_put(&d->out, &d->text);
	differ_free(&d->differ);
	for (int i = 0; i < DIFFER_SIDES; i++) {
		const struct run_report run = pipeline_report(d->pipelines[i]);
		const enum exit_status empty = say_selected(&d->options, d->paths[i], run.found, run.trace);
		d->status = worse(d->status, empty);
		differs |= empty != STATUS_CLEAN;
		pipeline_close(d->pipelines[i]);
	}
	by_name_free(&d->names);
	text_free(&d->text);
	if (!d->complete)
		return worse(d->status, STATUS_UNREADABLE);
	return differs ? STATUS_FINDINGS : d->status;
}

static enum exit_status cmd_diff(const struct command *cmd, int argc, char **argv)
{
	struct diff *const d = calloc(1, sizeof *d);

	if (d == NULL) {
		say_of(argv[argc - 1], "out of memory");
		return STATUS_UNREADABLE;
	}
	options_init(&d->options, cmd, argc, argv);
	enum exit_status status = STATUS_UNREADABLE;
	if (!parse(d))
		status = d->options.status;
	else if (report_out_open(&d->out, &d->options)) {
		status = run(d);
		status = worse(status, report_out_end(&d->out, &d->options, d->complete));
		say_found(&d->options);
	}
	options_free(&d->options);
	free(d);
	return status;
}

const struct command diff_command = {
	.name = "diff",
	.operands = "[options] A B",
	.summary = "Compares the events of two traces, of the same format or not, and shows how they differ.",
	.options = own,
	.reads = true,
	.writes = true,
	.selects = true,
	.tables = true,
	.run = cmd_diff,
};
