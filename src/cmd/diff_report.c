/*
 * The report of `diff`, as text or JSON: the paths of both sides, each difference, and at the end the totals
 * and a table by name.
 */

#include "cmd/diff_report.h"

#include <inttypes.h>

#include "cli/command.h"
#include "cli/say.h"
#include "cmd/events/event_text.h"
#include "out/kind.h"
#include "output/columns.h"

/* ---- report as text ---- */

/* numbers: with its id. */
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

/* Whether two tracks that differ have the same names, and so differ in ids only.  Processes without ids are
 * not compared by name. */
static bool named_alike(const struct track *a, const struct track *b)
{
	const struct track *const p = track_process(a), *const q = track_process(b);

	return slice_equal(a->name, b->name) && (slice_equal(p->name, q->name) || (!p->has_id && !q->has_id));
}

static void put_time(struct text *t, const struct diff_report *v, uint64_t ts)
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

static bool put_parts(struct text *t, const struct diff_report *v, const struct difference *d)
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

#define INDENT 8 /* indent of continuation lines */

static void put_lines(struct text *t, const struct diff_report *v, struct text *lines)
{
	text_wrap_lines(t, lines, INDENT, v->width);
	text_free(lines);
}

static bool text_difference(struct text *to, const struct diff_report *v, const struct difference *d)
{
	const struct event *const a = difference_event(d, DIFFER_A), *const b = difference_event(d, DIFFER_B),
	                          *const e = a != NULL ? a : b;
	struct text lines = { .p = NULL }, *const t = &lines;

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
	const bool ok = a == NULL || b == NULL || put_parts(t, v, d);
	put_lines(to, v, t);
	return ok;
}

static bool differs(const struct by_name_row *r)
{
	return (r->only[DIFFER_A] | r->only[DIFFER_B] | r->changed) != 0;
}

static void put_names(struct text *t, const struct diff_report *v)
{
	static const struct column list[] = {
		{ "name", COLUMN_NAME, 20, 0 },       { "in A", COLUMN_NUMBER, 0, 2 },
		{ "in B", COLUMN_NUMBER, 0, 2 },      { "only in A", COLUMN_NUMBER, 0, 0 },
		{ "only in B", COLUMN_NUMBER, 0, 0 }, { "changed", COLUMN_NUMBER, 0, 0 },
		{ "time in A", COLUMN_NUMBER, 0, 1 }, { "time in B", COLUMN_NUMBER, 0, 1 },
	};
	const struct by_name *const names = &v->names;
	struct columns c = { .list = list, .n = COUNT_OF(list), .indent = 2 };

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
}

/* Writes a hint for traces that have nothing in common, such as traces of two runs. */
static void put_nothing_same(struct text *t, const struct diff_report *v)
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
	for (size_t i = 0; i < COUNT_OF(parts); i++)
		if (parts[i].counts) {
			text_printf(t, "%s%s", before, parts[i].name);
			before = ",";
		}
	text_str(t, before[0] == ',' ? ")\n" : "\n");
}

uint64_t diff_count(const struct differ *d)
{
	return d->changed + d->only[DIFFER_A] + d->only[DIFFER_B];
}

static void text_end(struct text *to, const struct diff_report *v)
{
	const struct differ *const d = &v->differ;
	const uint64_t all = diff_count(d);
	struct text lines = { .p = NULL }, *const t = &lines;

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
	put_lines(to, v, t);
	if (all > 0)
		put_names(to, v);
}

static void text_begin(struct text *t, const struct diff_report *v)
{
	struct text lines = { .p = NULL };
	struct shown_path a, b;

	text_printf(&lines, "A: %s\nB: %s\n", show_path(&a, v->paths[DIFFER_A]),
	            show_path(&b, v->paths[DIFFER_B]));
	put_lines(t, v, &lines);
}

const struct diff_form diff_text = { text_begin, text_difference, text_end };

/* ---- report as JSON: schemas/diff.schema.json ---- */

static void json_begin(struct text *t, const struct diff_report *v)
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
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if ((parts & words[i].part) != 0)
			json_out_string(o, NULL, words[i].name);
	json_out_end(o, "]");
}

static bool json_difference(struct text *t, const struct diff_report *v, const struct difference *d)
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

static void json_end(struct text *t, const struct diff_report *v)
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

const struct diff_form diff_json = { json_begin, json_difference, json_end };
