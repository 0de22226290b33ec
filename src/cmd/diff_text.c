#include <inttypes.h>

#include "cmd/diff_report.h"
#include "cmd/event_json.h"
#include "cmd/say.h"
#include "cmd/value_text.h"
#include "output/columns.h"
#include "output/text_fit.h"
#include "output/text_units.h"

/* The report for people. */

static void
put_track(struct text *t, const struct track *k)
{
	const struct track *const process = track_process(k);

	value_text_word(t, k->name);
	if (process == k)
		return;
	text_str(t, " of ");
	value_text_word(t, process->name);
}

static void
put_begin(struct text *t, const struct diff_view *v)
{
	struct shown_path a, b;

	text_printf(t, "A: %s\nB: %s\n", show_path(&a, v->paths[DIFFER_A]),
	            show_path(&b, v->paths[DIFFER_B]));
}

static void
put_time(struct text *t, const struct diff_view *v, uint64_t ts)
{
	text_since(t, ts > v->start ? ts - v->start : 0);
}

/* Two durations, to the ns where fewer digits would show the same. */
static void
put_durations(struct text *t, uint64_t a, uint64_t b)
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

static void
put_words(struct text *t, const char *what, struct slice a, struct slice b)
{
	text_printf(t, "    %s: ", what);
	value_text_word(t, a);
	text_str(t, ", ");
	value_text_word(t, b);
	text_char(t, '\n');
}

static void
put_field(void *ctx, struct slice name, const struct value *a, const struct value *b)
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

static bool
put_parts(struct text *t, const struct diff_view *v, const struct difference *d)
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
		text_printf(t, "    kind: %s, %s\n", event_kind(a), event_kind(b));
	if ((d->parts & PART_NAME) != 0)
		put_words(t, "name", a->name, b->name);
	if ((d->parts & PART_CATEGORY) != 0)
		put_words(t, "category", a->cls->category, b->cls->category);
	if ((d->parts & PART_TRACK) != 0) {
		text_str(t, "    track: ");
		put_track(t, a->track);
		text_str(t, ", ");
		put_track(t, b->track);
		text_char(t, '\n');
	}
	return (d->parts & PART_FIELDS) == 0 || field_differences(d, &v->differ->rules, put_field, t);
}

static bool
put_difference(struct text *t, const struct diff_view *v, const struct difference *d)
{
	const struct event *const a = difference_event(d, DIFFER_A), *const b = difference_event(d, DIFFER_B),
	                          *const e = a != NULL ? a : b;

	text_str(t, a == NULL ? "only in B: " : b == NULL ? "only in A: " : "changed: ");
	if (a != NULL)
		text_printf(t, "A @%" PRIu64 "%s", a->offset, b != NULL ? ", " : "");
	if (b != NULL)
		text_printf(t, "B @%" PRIu64, b->offset);
	text_printf(t, ": %s ", event_kind(e));
	value_text_word(t, e->name);
	text_str(t, " at ");
	put_time(t, v, e->ts);
	if (e->phase == PHASE_SPAN && (a == NULL || b == NULL)) {
		text_str(t, ", ");
		text_time(t, e->dur);
		text_str(t, " long");
	}
	text_str(t, ", on ");
	put_track(t, e->track);
	text_char(t, '\n');
	return a == NULL || b == NULL || put_parts(t, v, d);
}

/* ---- the end ---- */

static bool
differs(const struct by_name_row *r)
{
	return (r->only[DIFFER_A] | r->only[DIFFER_B] | r->changed) != 0;
}

/* A row for each name of which events differ. */
static void
put_names(struct text *t, const struct diff_view *v)
{
	static const struct column list[] = {
		{ "name", COLUMN_NAME, 20, 0 },       { "in A", COLUMN_NUMBER, 0, 2 },
		{ "in B", COLUMN_NUMBER, 0, 2 },      { "only in A", COLUMN_NUMBER, 0, 0 },
		{ "only in B", COLUMN_NUMBER, 0, 0 }, { "changed", COLUMN_NUMBER, 0, 0 },
		{ "time in A", COLUMN_NUMBER, 0, 1 }, { "time in B", COLUMN_NUMBER, 0, 1 },
	};
	const struct by_name *const names = v->differ->names;
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

/* Of two traces that have nothing in common, such as two runs: what may be the reason. */
static void
put_nothing_same(struct text *t, const struct diff_view *v)
{
	const struct differ_rules *const rules = &v->differ->rules;
	const uint64_t a = v->starts[DIFFER_A], b = v->starts[DIFFER_B];
	const struct {
		bool counts;
		const char *word;
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
			text_printf(t, "%s%s", before, parts[i].word);
			before = ",";
		}
	text_str(t, before[0] == ',' ? ")\n" : "\n");
}

static void
put_end(struct text *t, const struct diff_view *v)
{
	const struct differ *const d = v->differ;
	const uint64_t all = d->changed + d->only[DIFFER_A] + d->only[DIFFER_B];

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

/* ---- lines that fit ---- */

#define INDENT 8 /* of what a line goes on with */

static void
put_lines(struct text *t, const struct diff_view *v, struct text *lines)
{
	text_wrap_lines(t, lines, INDENT, v->width);
	text_free(lines);
}

static void
begin(struct text *t, const struct diff_view *v)
{
	struct text lines = { .p = NULL };

	put_begin(&lines, v);
	put_lines(t, v, &lines);
}

static bool
difference(struct text *t, const struct diff_view *v, const struct difference *d)
{
	struct text lines = { .p = NULL };
	const bool ok = put_difference(&lines, v, d);

	put_lines(t, v, &lines);
	return ok;
}

static void
end(struct text *t, const struct diff_view *v)
{
	const struct differ *const d = v->differ;
	struct text lines = { .p = NULL };

	put_end(&lines, v);
	put_lines(t, v, &lines);
	if (d->changed + d->only[DIFFER_A] + d->only[DIFFER_B] > 0)
		put_names(t, v);
}

const struct diff_form diff_text = { begin, difference, end };
