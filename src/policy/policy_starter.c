#include "policy/policy_starter.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/glob.h"
#include "base/utf8.h"
#include "output/text_json.h"
#include "pipeline/engine_losses.h"

#define STARTER_EVENTS 10 /* names that are listed */
#define STARTER_BUDGETS 5 /* likewise */
#define STARTER_FACTS 20  /* likewise */
#define STARTER_NAME 120  /* bytes of a name */

/* ---- patterns ---- */

/* The bytes of the character at p, if YAML and people can read it; 0: no such one. */
static size_t
plain_character(const char *p, size_t n)
{
	for (size_t i = 1; i <= 4 && i <= n; i++)
		if (utf8_valid(p, i)) {
			const uint32_t point = utf8_point(p, i);
			return point < 0x20 || (point & 0xfffe) == 0xfffe || point == 0xfeff ||
			               utf8_is_hidden(point)
			           ? 0
			           : i;
		}
	return 0;
}

/* One that fits the name; what cannot be written stands as ?, what is too long as *. */
static void
make_pattern(struct text *t, struct slice name)
{
	uint32_t i = 0;

	text_clear(t);
	while (i < name.n && i < STARTER_NAME) {
		const size_t n = plain_character(name.p + i, name.n - i);
		if (n == 0) {
			text_char(t, '?');
		} else {
			if (n == 1 && (name.p[i] == '*' || name.p[i] == '?' || name.p[i] == '\\'))
				text_char(t, '\\');
			text_add(t, name.p + i, n);
		}
		i += n > 0 ? (uint32_t)n : 1;
	}
	if (i < name.n)
		text_char(t, '*');
}

static void
put_pattern(struct text *t, struct slice name)
{
	struct text pattern = { .p = NULL };

	make_pattern(&pattern, name);
	t->failed |= pattern.failed;
	if (!pattern.failed)
		text_json_string(t, slice_of(pattern.p, pattern.n));
	text_free(&pattern);
}

/* ---- numbers ---- */

/* Twice as much, with two digits that count; ns: at most a quarter of what fits. */
static uint64_t
generous(uint64_t ns)
{
	uint64_t v = ns * 2, unit = 1;

	if (v < 1000)
		return 1000;
	while (v / unit >= 100)
		unit *= 10;
	v = (v + unit - 1) / unit;
	return v * unit;
}

static void
put_time(struct text *t, uint64_t ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 } };

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (ns % units[i].ns == 0) {
			text_printf(t, "%" PRIu64 "%s", ns / units[i].ns, units[i].name);
			return;
		}
}

/* A share in percent, rounded up to a tenth, or 0. */
static void
put_share(struct text *t, double share)
{
	const uint64_t tenths = share > 0 ? (uint64_t)(share * 1000) + 1 : 0;

	text_printf(t, "%" PRIu64 ".%" PRIu64 "%%", tenths / 10, tenths % 10);
}

/* ---- parts ---- */

/* Spans by name; async ones. */
struct starter_rows {
	struct span_row *list[2];
	size_t n[2];
};

/* Whether a row stands for names that are not known, or has none. */
static bool
is_named(const struct span_row *r)
{
	return r->name.n > 0 && !slice_is(r->name, "(other names)");
}

static bool
stands_before(const struct span_row *rows, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (slice_equal(rows[k].name, rows[i].name))
			return true;
	return false;
}

static void
put_events(struct text *t, const struct span_row *rows, size_t n)
{
	size_t listed = 0;

	for (size_t i = 0; i < n && i < 4 * STARTER_EVENTS && listed < STARTER_EVENTS; i++) {
		if (!is_named(&rows[i]) || stands_before(rows, i))
			continue;
		if (listed++ == 0)
			text_str(t, "\n  # Events that must be there; * is any text.  A category will do as "
			            "well, and\n"
			            "  # \"count: 0\" forbids them.\n  events:\n");
		text_str(t, "    - name: ");
		put_pattern(t, rows[i].name);
		text_str(t, "\n      count: {min: 1}\n");
	}
}

static void
put_metadata(struct text *t, const struct trace *trace)
{
	uint32_t listed = 0;

	for (uint32_t i = 0; i < trace->nmeta && listed < STARTER_FACTS; i++) {
		if (trace->meta[i].name.n == 0)
			continue;
		if (listed++ == 0)
			text_str(
			    t,
			    "\n  # What the trace tells about itself; as \"name: pattern\" with its value.\n"
			    "  metadata:\n");
		text_str(t, "    - ");
		put_pattern(t, trace->meta[i].name);
		text_char(t, '\n');
	}
}

static double
unfinished_share(const struct policy_watch *w, const struct pipeline *p)
{
	const struct ledger *const l = interpret_ledger(&p->interpret);
	const uint64_t spans = policy_spans(&w->stats);

	for (size_t i = 0; i < l->n; i++)
		if (l->rows[i].loss == &engine_losses[ENGINE_LOSS_NO_END] && spans > 0)
			return (double)l->rows[i].count / (double)spans;
	return 0;
}

static void
put_trace(struct text *t, const struct policy_watch *w, const struct pipeline *p)
{
	const struct stats *const s = &w->stats;

	if (p->trace.epoch_known)
		text_str(t, "\n  # The wall time of events is known.\n  epoch: true\n");
	if (s->tracks > 0)
		text_printf(t,
		            "\n  # Threads that have events: %" PRIu64 " in this trace.\n"
		            "  threads: {count: {min: 1}}\n",
		            s->tracks);
	if (w->counts_lost) {
		text_str(t, "\n  # The largest share of packets that may be missing.\n  lost-packets: ");
		put_share(t, (double)w->lost / ((double)w->lost + (double)w->records + 1e-9));
		text_char(t, '\n');
	}
	text_str(t, "\n  # The largest share of spans that may have no end.\n  unfinished-spans: ");
	put_share(t, unfinished_share(w, p));
	text_char(t, '\n');
	if (s->events == 0 || s->last_ns - s->first_ns > UINT64_MAX / 4)
		return;
	text_str(t, "\n  # How long the trace may take");
	text_str(t, "; from its first event to the end of its last.\n  time:\n    duration: {max: ");
	put_time(t, generous(s->last_ns - s->first_ns));
	text_str(t, "}\n");
}

/* The largest p99 of all names that the pattern for this one fits. */
static uint64_t
largest_p99(struct text *t, const struct starter_rows *r, const struct stats *s, struct slice name)
{
	struct text pattern = { .p = NULL };
	uint64_t most = 0;

	make_pattern(&pattern, name);
	t->failed |= pattern.failed;
	for (int table = 0; table < 2 && !pattern.failed; table++)
		for (size_t i = 0; i < r->n[table]; i++) {
			const struct span_row *const row = &r->list[table][i];
			if (!glob_fits(slice_of(pattern.p, pattern.n), row->name))
				continue;
			const uint64_t p99 = histogram_percentile(&row->group->durations, &s->pool, 99);
			most = p99 > most ? p99 : most;
		}
	text_free(&pattern);
	return most;
}

static void
put_budgets(struct text *t, const struct stats *s, const struct starter_rows *r)
{
	const struct span_row *const rows = r->list[0];
	size_t listed = 0;

	text_str(
	    t, "\n# Limits for the spans of each name: p50, p90, p99, max, sum, mean, self, count, rate.\n");
	for (size_t i = 0; i < r->n[0] && i < 4 * STARTER_BUDGETS && listed < STARTER_BUDGETS; i++) {
		const uint64_t p99 = largest_p99(t, r, s, rows[i].name);
		if (!is_named(&rows[i]) || stands_before(rows, i) || p99 > UINT64_MAX / 4)
			continue;
		text_str(t, listed++ == 0 ? "budgets:\n  - name: " : "  - name: ");
		put_pattern(t, rows[i].name);
		text_printf(t, "\n    statistic: p99 # %" PRIu64 " ns in this trace\n    limit: ", p99);
		put_time(t, generous(p99));
		text_char(t, '\n');
	}
	text_str(t, listed == 0 ? "# budgets:\n" : "");
	text_str(t, "#  - {name: \"*\", statistic: p50, tolerance: 10%} # than in the baseline\n"
	            "# baseline: base.json # what tracetool stats --format json wrote of an earlier run\n");
}

bool
policy_starter(struct text *t, const struct policy_watch *w, const struct pipeline *p, const char *shown)
{
	struct starter_rows rows = { .n = { 0 } };

	if (!stats_span_rows(&w->stats, &w->stats.spans, &rows.list[0], &rows.n[0]) ||
	    !stats_span_rows(&w->stats, &w->stats.async, &rows.list[1], &rows.n[1])) {
		free(rows.list[0]);
		return false;
	}
	text_printf(t,
	            "# What tracetool validate expects of traces below this folder: tracetool.yaml(5).\n"
	            "# Made from %s, which keeps it.  Its numbers are a start: adapt them.\n"
	            "# Editors check it with policy.schema.json, which is installed with tracetool.\n\n"
	            "# From this level on findings fail the run: error, warning, note or never.\n"
	            "fail-level: error\n\n"
	            "# Findings to leave out, or to give another level; tracetool rules lists the rules.\n"
	            "# ignore: [policy/unchecked]\n"
	            "# level: {policy/budget: warning}\n\n"
	            "expect:",
	            shown);
	put_events(t, rows.list[0], rows.n[0]);
	put_metadata(t, &p->trace);
	put_trace(t, w, p);
	put_budgets(t, &w->stats, &rows);
	text_str(t, "\n# What is different for some files; the paths begin at this folder.\n"
	            "# overrides:\n"
	            "#  - paths: \"bench/*\"\n"
	            "#    fail-level: never\n");
	free(rows.list[0]);
	free(rows.list[1]);
	return !t->failed && !interpret_ledger(&p->interpret)->failed;
}
