/* The report as text, Markdown or HTML: counts of verdicts, a table of groups, and the kind of noise; and for
 * programs. */
#include "stats/change/change.h"

#include <inttypes.h>
#include <math.h>

#include "base/compiler.h"
#include "base/numbers.h"
#include "json/out.h"
#include "output/columns.h"
#include "output/text_visible.h"

/* drop: the rank at which a column is left out of text that is too wide. */
enum { OWN_COLUMNS = 12, BYTES_COLUMN = 6 };
static const struct column own[OWN_COLUMNS] = {
	{ "count", COLUMN_NUMBER, 0, 5 },     { "old", COLUMN_NUMBER, 0, 0 },
	{ "new", COLUMN_NUMBER, 0, 0 },       { "change", COLUMN_NUMBER, 0, 2 },
	{ "ratio", COLUMN_NUMBER, 0, 0 },     { "self", COLUMN_NUMBER, 0, 8 },
	{ "bytes", COLUMN_NUMBER, 0, 6 },     { "p50", COLUMN_NUMBER, 0, 6 },
	{ "p50 ratio", COLUMN_NUMBER, 0, 3 }, { "p90", COLUMN_NUMBER, 0, 9 },
	{ "p99", COLUMN_NUMBER, 0, 7 },       { "p99 ratio", COLUMN_NUMBER, 0, 4 },
};

static const char *const side_names[CHANGE_SIDES] = { "old", "new" };

/* ---- numbers ---- */

static void put_ratio(struct text *t, double ratio)
{
	if (isnan(ratio))
		text_char(t, '-');
	else if (isinf(ratio))
		text_str(t, "inf");
	else
		text_printf(t, ratio < 10 ? "%.2f" : ratio < 100 ? "%.1f" : "%.0f", ratio);
}

static void put_noise(struct text *t, const struct change_number *n)
{
	if (!isnan(n->p)) {
		text_printf(t, " (p %.3f)", n->p);
	} else if (!isnan(n->low) && isinf(n->high) && n->low <= 0) {
		text_str(t, " (too few)");
	} else if (!isnan(n->low)) {
		text_str(t, " (");
		put_ratio(t, n->low);
		text_str(t, " to ");
		put_ratio(t, n->high);
		text_char(t, ')');
	}
}

static void put_difference(struct text *t, uint128 old, uint128 new)
{
	text_char(t, new < old ? '-' : '+');
	text_time_short(t, new < old ? old - new : new - old);
}

/* ---- cells ---- */

static void put_time(struct text *t, bool known, uint128 ns)
{
	if (known)
		text_time_short(t, ns);
	else
		text_char(t, '-');
}

/* "A -> B"; a side without the group has "-". */
static void times_cell(struct columns *c, const struct change_pair *p, enum change_metric m)
{
	const struct change_values *const a = &p->sides[CHANGE_OLD], *const b = &p->sides[CHANGE_NEW];
	const bool known = m != CHANGE_SELF || !p->async;

	put_time(&c->text, known && a->there, a->n[m]);
	text_str(&c->text, " -> ");
	put_time(&c->text, known && b->there, b->n[m]);
	columns_next(c);
}

/* "A -> B"; "-" if neither side has any. */
static void bytes_cell(struct columns *c, const struct change_pair *p)
{
	const uint128 old = p->sides[CHANGE_OLD].n[CHANGE_BYTES], new = p->sides[CHANGE_NEW].n[CHANGE_BYTES];

	if (old > 0 || new > 0) {
		text_bytes_short(&c->text, old);
		text_str(&c->text, " -> ");
		text_bytes_short(&c->text, new);
	} else {
		text_char(&c->text, '-');
	}
	columns_next(c);
}

static void ratio_cell(struct columns *c, const struct change_pair *p, enum change_metric m)
{
	const struct change_values *const a = &p->sides[CHANGE_OLD], *const b = &p->sides[CHANGE_NEW];

	put_ratio(&c->text, a->there && b->there ? change_ratio(a->n[m], b->n[m]) : NAN);
	put_noise(&c->text, &p->numbers[m]);
	columns_next(c);
}

static void pair_cells(struct columns *c, const struct change_pair *p, unsigned keys)
{
	const struct change_values *const a = &p->sides[CHANGE_OLD], *const b = &p->sides[CHANGE_NEW];

	columns_str(c, p->verdict == CHANGE_IS_UNJUDGED ? "-" : change_verdict_name(p->verdict));
	for (unsigned i = 0; i < keys; i++)
		columns_name(c, p->keys[i]);
	text_printf(&c->text, "%" PRIu64 " -> %" PRIu64, (uint64_t)a->n[CHANGE_COUNT],
	            (uint64_t)b->n[CHANGE_COUNT]);
	columns_next(c);
	put_time(&c->text, a->there, a->n[CHANGE_TOTAL]);
	columns_next(c);
	put_time(&c->text, b->there, b->n[CHANGE_TOTAL]);
	columns_next(c);
	put_difference(&c->text, a->n[CHANGE_TOTAL], b->n[CHANGE_TOTAL]);
	columns_next(c);
	ratio_cell(c, p, CHANGE_TOTAL);
	times_cell(c, p, CHANGE_SELF);
	bytes_cell(c, p);
	times_cell(c, p, CHANGE_P50);
	ratio_cell(c, p, CHANGE_P50);
	times_cell(c, p, CHANGE_P90);
	times_cell(c, p, CHANGE_P99);
	ratio_cell(c, p, CHANGE_P99);
}

/* ---- lines ---- */

static void put_side(struct text *t, const struct change_view *v, int side)
{
	const size_t runs = v->change->sides[side].nruns, n = runs > 1 ? runs : v->traces[side];
	struct text line = { .p = NULL };

	text_printf(&line, "%s: ", side_names[side]);
	text_visible(&line, slice_str(v->paths[side][0]), 0);
	if (n > 1)
		text_printf(&line, " and %zu more %s%s", n - 1, runs > 1 ? "run" : "trace",
		            n == 2 ? "" : "s");
	columns_line(t, v->form, v->width, &line);
}

static void put_noise_note(struct text *t, const struct change_view *v)
{
	const struct change *const c = v->change;
	struct text line = { .p = NULL };

	if (c->by_runs)
		text_printf(&line,
		            "noise: rank test over %zu and %zu runs, p at most %g; values are means of the "
		            "runs, percentiles of all spans",
		            c->sides[CHANGE_OLD].nruns, c->sides[CHANGE_NEW].nruns, NOISE_SIGNIFICANT);
	else
		text_printf(&line,
		            "noise: only that of the spans within the runs; %s not a distribution over runs "
		            "(compare %d or more a side)",
		            c->sides[CHANGE_OLD].nruns == 1 && c->sides[CHANGE_NEW].nruns == 1
		                ? "one run is"
		                : "one or two runs are",
		            NOISE_RUNS);
	columns_line(t, v->form, v->width, &line);
}

static void put_summary(struct text *t, const struct change_view *v)
{
	static const char *const words[CHANGE_VERDICTS] = {
		[CHANGE_IS_SLOWER] = "slower",
		[CHANGE_IS_MIXED] = "mixed",
		[CHANGE_IS_NEW] = "new",
		[CHANGE_IS_MORE] = "with more spans",
		[CHANGE_IS_FASTER] = "faster",
		[CHANGE_IS_FEWER] = "with fewer spans",
		[CHANGE_IS_GONE] = "gone",
		[CHANGE_IS_NOISE] = "within noise",
		[CHANGE_IS_SAME] = "the same",
		[CHANGE_IS_WAITING] = "waiting",
		[CHANGE_IS_UNJUDGED] = "too few or too short to judge",
	};
	struct text line = { .p = NULL };

	text_printf(&line, "%" PRIu32 " group%s", v->change->n, v->change->n == 1 ? "" : "s");
	for (int i = 0, any = 0; i < CHANGE_VERDICTS; i++)
		if (v->change->verdicts[i] > 0)
			text_printf(&line, "%s%" PRIu64 " %s", any++ > 0 ? ", " : ": ",
			            v->change->verdicts[i], words[i]);
	columns_line(t, v->form, v->width, &line);
}

static bool is_worse(const struct change_pair *p)
{
	return p->verdict == CHANGE_IS_SLOWER || p->verdict == CHANGE_IS_MIXED;
}

/* Writes n rows.  What is worse has a row even if its change is small: the exit status depends on it. */
static void put_rows(struct columns *columns, const struct change *c, unsigned keys, size_t n)
{
	const size_t worse = c->verdicts[CHANGE_IS_SLOWER] + c->verdicts[CHANGE_IS_MIXED];
	size_t others = n > worse ? n - worse : 0;

	for (size_t i = 0; n > 0 && i < c->n; i++) {
		if (is_worse(&c->pairs[i]))
			n--;
		else if (others > 0)
			others--, n--;
		else
			continue;
		pair_cells(columns, &c->pairs[i], keys);
	}
}

bool change_text(struct text *t, const struct change_view *v)
{
	const struct change *const c = v->change;
	const struct stats *const s = &c->sides[CHANGE_OLD].joint;
	const unsigned keys = group_by_count(&s->by);
	struct column list[COLUMNS_MAX] = { { "verdict", COLUMN_WORD, 0, 0 } };
	struct columns columns = { .list = list, .n = 1 + keys + OWN_COLUMNS };
	const size_t shown = v->top == 0 || c->n < v->top ? c->n : v->top;
	const char *const between = v->form == FORM_MARKDOWN ? "\n" : ""; /* paragraphs */

	for (unsigned i = 0; i < keys; i++)
		list[1 + i] = (struct column){ group_by_key(&s->by, i), COLUMN_NAME, 12, i == 0 ? 0 : 1 };
	memcpy(list + 1 + keys, own, sizeof own);
	columns.without = change_has_bytes(c) ? 0 : 1U << (1 + keys + BYTES_COLUMN);
	put_rows(&columns, c, keys, shown);
	put_side(t, v, CHANGE_OLD);
	text_str(t, between);
	put_side(t, v, CHANGE_NEW);
	text_str(t, between);
	put_summary(t, v);
	text_char(t, '\n');
	if (shown > 0 || v->form == FORM_HTML)
		columns_end(&columns, t, v->form, v->form == FORM_HTML ? "compared spans" : NULL, c->n, shown,
		            v->width);
	if (shown > 0 && v->form != FORM_MARKDOWN)
		text_char(t, '\n');
	put_noise_note(t, v);
	return !t->failed;
}

/* ---- findings ---- */

/* Writes the keys of a group: "query, shop::db". */
static void put_keys(struct text *t, const struct change_pair *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (i > 0)
			text_str(t, ", ");
		text_visible_ends(t, p->keys[i], 100);
	}
}

static void put_moved(struct text *t, const struct change_pair *p, enum change_metric m)
{
	static const char *const names[CHANGE_METRICS] = { "total", "p50", "p99" };
	const uint128 old = p->sides[CHANGE_OLD].n[m], new = p->sides[CHANGE_NEW].n[m];

	text_printf(t, "%s%s ", t->n > 0 ? ", " : "", names[m]);
	text_time_short(t, old);
	text_str(t, " to ");
	text_time_short(t, new);
	text_str(t, ", ratio ");
	put_ratio(t, change_ratio(old, new));
	put_noise(t, &p->numbers[m]);
}

void change_put_message(struct text *t, const struct change *c, const struct change_pair *p)
{
	struct text what = { .p = NULL };

	if (p->verdict == CHANGE_IS_MIXED) {
		put_moved(&what, p, CHANGE_P50);
		put_moved(&what, p, CHANGE_P99);
		put_moved(&what, p, CHANGE_TOTAL);
	} else if (p->verdict == CHANGE_IS_SLOWER || p->verdict == CHANGE_IS_FASTER) {
		const bool slower = p->verdict == CHANGE_IS_SLOWER;
		for (enum change_metric m = CHANGE_P50; m <= CHANGE_P99; m++)
			if (slower ? p->numbers[m].slower : p->numbers[m].faster)
				put_moved(&what, p, m);
	} else {
		put_moved(&what, p, CHANGE_TOTAL);
		text_printf(&what, ", spans %" PRIu64 " to %" PRIu64,
		            (uint64_t)p->sides[CHANGE_OLD].n[CHANGE_COUNT],
		            (uint64_t)p->sides[CHANGE_NEW].n[CHANGE_COUNT]);
	}
	put_keys(t, p, group_by_count(&c->sides[CHANGE_OLD].joint.by));
	text_str(t, p->async ? " (async): " : ": ");
	text_slice(t, slice_of(what.p, what.n));
	t->failed |= what.failed;
	text_free(&what);
}

/* ---- for programs: JSON, comma-separated values, and stacks with two columns; integers are exact ---- */

/* In the order of reports. */
static const struct {
	const char *name;
	enum change_metric metric;
} numbers[CHANGE_NUMBERS] = { { "count", CHANGE_COUNT },  { "total_ns", CHANGE_TOTAL },
	                      { "self_ns", CHANGE_SELF }, { "p50_ns", CHANGE_P50 },
	                      { "p90_ns", CHANGE_P90 },   { "p99_ns", CHANGE_P99 },
	                      { "bytes", CHANGE_BYTES } };

static bool has_number(const struct change *c, const struct change_pair *p, enum change_metric m)
{
	return (m != CHANGE_SELF || !p->async) && (m != CHANGE_BYTES || change_has_bytes(c));
}

static void put_exact_difference(struct text *t, uint128 old, uint128 new)
{
	if (new < old)
		text_char(t, '-');
	text_u128(t, new < old ? old - new : new - old);
}

/* ---- JSON ---- */

/* A ratio; null where it is not finite or not known. */
static void put_f64(struct json_out *o, const char *key, double v)
{
	if (isfinite(v))
		json_out_f64(o, key, v);
	else
		json_out_null(o, key);
}

static void put_number(struct json_out *o, const struct change_pair *p, unsigned i)
{
	const struct change_values *const a = &p->sides[CHANGE_OLD], *const b = &p->sides[CHANGE_NEW];
	const enum change_metric m = numbers[i].metric;
	const uint128 old = a->n[m], new = b->n[m];

	json_out_begin(o, numbers[i].name, "{");
	for (int side = 0; side < CHANGE_SIDES; side++)
		if (p->sides[side].there)
			text_u128(json_out_value(o, side_names[side]), p->sides[side].n[m]);
		else
			json_out_null(o, side_names[side]);
	if (a->there && b->there) {
		put_exact_difference(json_out_value(o, "difference"), old, new);
		put_f64(o, "ratio", change_ratio(old, new));
	}
	if (m < CHANGE_METRICS) {
		const struct change_number *const n = &p->numbers[m];
		if (!isnan(n->low)) {
			put_f64(o, "ratio_low", n->low);
			put_f64(o, "ratio_high", n->high);
		}
		if (!isnan(n->p))
			json_out_f64(o, "p", n->p);
		if (!isnan(n->low) || !isnan(n->p))
			json_out_bool(o, "beyond_noise", n->slower || n->faster);
	}
	json_out_end(o, "}");
}

static void put_side_names(struct json_out *o, const struct change_view *v, int side)
{
	json_out_begin_after(o, "\n ", side_names[side], "[");
	for (size_t i = 0; i < v->change->sides[side].nruns; i++)
		json_out_slice(o, NULL, slice_str(v->paths[side][i]));
	json_out_end(o, "]");
}

bool change_json(struct text *t, const struct change_view *v, const char *tool)
{
	const struct change *const c = v->change;
	const struct stats *const s = &c->sides[CHANGE_OLD].joint;
	struct json_out o = { .t = t };

	json_out_begin(&o, NULL, "{");
	json_out_string(&o, "tool", tool);
	put_side_names(&o, v, CHANGE_OLD);
	put_side_names(&o, v, CHANGE_NEW);
	json_out_begin_after(&o, "\n ", "floors", "{");
	json_out_f64(&o, "change", c->floors.change);
	json_out_u64(&o, "time_ns", c->floors.time);
	json_out_u64(&o, "count", c->floors.count);
	json_out_end(&o, "}");
	json_out_string(&o, "noise", c->by_runs ? "runs" : "spans");
	json_out_u64(&o, "coarse", s->pool.coarse + c->sides[CHANGE_NEW].joint.pool.coarse);
	json_out_begin(&o, "verdicts", "{");
	for (int i = 0; i < CHANGE_VERDICTS; i++)
		json_out_u64(&o, change_verdict_name((enum change_verdict)i), c->verdicts[i]);
	json_out_end(&o, "}");
	json_out_begin_after(&o, "\n ", "groups", "[");
	for (uint32_t i = 0; i < c->n; i++) {
		const struct change_pair *const p = &c->pairs[i];
		json_out_begin_after(&o, "\n  ", NULL, "{");
		json_out_string(&o, "verdict", change_verdict_name(p->verdict));
		json_out_string(&o, "kind", p->async ? "async" : "span");
		for (unsigned k = 0; k < group_by_count(&s->by); k++)
			json_out_slice(&o, group_by_key(&s->by, k), p->keys[k]);
		for (unsigned k = 0; k < CHANGE_NUMBERS; k++)
			if (has_number(c, p, numbers[k].metric))
				put_number(&o, p, k);
		json_out_end(&o, "}");
	}
	json_out_end(&o, "]\n}\n");
	return !t->failed;
}

/* ---- CSV ---- */

static void put_csv_ratio(struct text *t, double v)
{
	char digits[DECIMAL_F64_MAX];

	text_char(t, ',');
	if (isfinite(v))
		text_add(t, digits, (size_t)(decimal_f64(digits, v) - digits));
}

static void put_csv_number(struct text *t, const struct change *c, const struct change_pair *p, unsigned i)
{
	const enum change_metric m = numbers[i].metric;
	const bool known = has_number(c, p, m);
	const struct change_values *const a = &p->sides[CHANGE_OLD], *const b = &p->sides[CHANGE_NEW];
	const uint128 old = a->n[m], new = b->n[m];
	const bool both = a->there && b->there && known;

	for (int side = 0; side < CHANGE_SIDES; side++) {
		text_char(t, ',');
		if (p->sides[side].there && known)
			text_u128(t, p->sides[side].n[m]);
	}
	text_char(t, ',');
	if (both)
		put_exact_difference(t, old, new);
	put_csv_ratio(t, both ? change_ratio(old, new) : NAN);
	if (m >= CHANGE_METRICS)
		return;
	const struct change_number *const n = &p->numbers[m];
	put_csv_ratio(t, n->low);
	put_csv_ratio(t, n->high);
	put_csv_ratio(t, n->p);
}

bool change_csv(struct text *t, const struct change_view *v)
{
	const struct change *const c = v->change;
	const struct stats *const s = &c->sides[CHANGE_OLD].joint;

	text_str(t, "verdict,kind");
	for (unsigned i = 0; i < group_by_count(&s->by); i++)
		text_csv_next(t, slice_str(group_by_key(&s->by, i)));
	for (unsigned i = 0; i < CHANGE_NUMBERS; i++) {
		const char *const n = numbers[i].name;
		text_printf(t, ",old_%s,new_%s,difference_%s,ratio_%s", n, n, n, n);
		if (numbers[i].metric < CHANGE_METRICS)
			text_printf(t, ",ratio_low_%s,ratio_high_%s,p_%s", n, n, n);
	}
	text_char(t, '\n');
	for (uint32_t i = 0; i < c->n; i++) {
		const struct change_pair *const p = &c->pairs[i];
		text_printf(t, "%s,%s", change_verdict_name(p->verdict), p->async ? "async" : "span");
		for (unsigned k = 0; k < group_by_count(&s->by); k++)
			text_csv_next(t, p->keys[k]);
		for (unsigned k = 0; k < CHANGE_NUMBERS; k++)
			put_csv_number(t, c, p, k);
		text_char(t, '\n');
	}
	return !t->failed;
}

/* ---- folded stacks ---- */

bool change_folded(struct text *t, const struct change_view *v)
{
	const struct change *const c = v->change;
	const unsigned keys = group_by_count(&c->sides[CHANGE_OLD].joint.by);
	const bool by_default = c->sides[CHANGE_OLD].joint.by.n == 0;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct change_pair *const p = &c->pairs[i];
		const size_t start = t->n;
		const uint128 old = p->sides[CHANGE_OLD].n[CHANGE_SELF],
		              new = p->sides[CHANGE_NEW].n[CHANGE_SELF];
		if (p->async || (old == 0 && new == 0))
			continue;
		/* The category is the outer frame of the name. */
		for (unsigned k = 0; k < keys; k++) {
			if (k > 0)
				text_char(t, ';');
			const size_t from = t->n;
			text_visible(t, p->keys[by_default ? keys - 1 - k : k], 0);
			for (size_t at = from; at < t->n && !t->failed; at++)
				t->p[at] = t->p[at] == ';' ? ':' : t->p[at];
		}
		if (t->n == start)
			text_char(t, '-');
		text_char(t, ' ');
		text_u128(t, old);
		text_char(t, ' ');
		text_u128(t, new);
		text_char(t, '\n');
	}
	return !t->failed;
}
