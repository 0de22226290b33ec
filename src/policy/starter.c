#define _GNU_SOURCE /* memmem */

#include <inttypes.h>
#include <stdlib.h>

#include "base/match.h"
#include "base/utf8.h"
#include "output/text_json.h"
#include "output/text_units.h"
#include "policy/policy.h"
#include "run/engine_losses.h"

#define STARTER_EVENTS 3  /* that are demanded */
#define STARTER_BUDGETS 4 /* that are made */
#define STARTER_NAME 120  /* bytes of a name */

/* ---- patterns ---- */

/* The bytes of the character at p, if YAML and people can read it; 0: no such one. */
static size_t plain_character(const char *p, size_t n)
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

/* The bytes before ":LINE" or ":LINE:COLUMN" at the end of a place in a source; n: it is none. */
static uint32_t place_end(struct slice name)
{
	uint32_t end = name.n;

	for (int part = 0; part < 2; part++) {
		uint32_t i = end;
		while (i > 0 && name.p[i - 1] >= '0' && name.p[i - 1] <= '9')
			i--;
		if (i == end || i < 2 || name.p[i - 1] != ':')
			break;
		end = i - 1;
	}
	return end;
}

/* Where the part of a path begins that is the same on another machine and in the next version: behind a
 * registry of packages, behind somebody's home. */
static uint32_t place_begin(struct slice name, uint32_t end)
{
	static const char *const marks[] = { "/registry/src/", "/site-packages/", "/node_modules/",
		                             "/home/",         "/Users/",         "/root/" };

	for (size_t k = 0; k < sizeof marks / sizeof marks[0]; k++) {
		const char *const at = end > 0 ? memmem(name.p, end, marks[k], strlen(marks[k])) : NULL;
		if (at == NULL)
			continue;
		uint32_t i = (uint32_t)(at - name.p) + (uint32_t)strlen(marks[k]);
		/* and behind the name of the registry, or of the user */
		for (; k != 1 && k != 2 && i < end && name.p[i] != '/'; i++)
			;
		return i + (k != 1 && k != 2 && i < end);
	}
	return 0;
}

/* Bytes of the name; what cannot be written stands as ?, what is too long as *, versions as *. */
static void put_part(struct text *t, struct slice name, uint32_t i, uint32_t end, bool place)
{
	const uint32_t stop = i + STARTER_NAME < end ? i + STARTER_NAME : end;

	while (i < stop) {
		const size_t n = plain_character(name.p + i, name.n - i);
		if (place && name.p[i] == '-' && i + 1 < end && name.p[i + 1] >= '0' &&
		    name.p[i + 1] <= '9') {
			text_str(t, "-*"); /* a version */
			while (i < end && name.p[i] != '/')
				i++;
			continue;
		}
		if (n == 0) {
			text_char(t, '?');
		} else {
			if (n == 1 && (name.p[i] == '*' || name.p[i] == '?' || name.p[i] == '\\'))
				text_char(t, '\\');
			text_add(t, name.p + i, n);
		}
		i += n > 0 ? (uint32_t)n : 1;
	}
	if (i < end)
		text_char(t, '*');
}

/* One that fits the name, and of a place in a source those that it will have. */
static void make_pattern(struct text *t, struct slice name, bool *place)
{
	const uint32_t end = place_end(name);
	const uint32_t begin = end < name.n ? place_begin(name, end) : 0;

	text_clear(t);
	*place = end < name.n;
	if (begin > 0)
		text_str(t, "*/");
	put_part(t, name, begin, end, *place);
	if (*place)
		text_str(t, ":*");
}

/* raw: it is a name yet. */
static void put_pattern(struct text *t, struct slice name, bool raw)
{
	struct text pattern = { .p = NULL };

	if (raw)
		put_part(&pattern, name, 0, name.n, false);
	else
		text_slice(&pattern, name);
	t->failed |= pattern.failed;
	if (!pattern.failed)
		text_json_string(t, slice_of(pattern.p, pattern.n));
	text_free(&pattern);
}

/* ---- numbers ---- */

/* Twice as much, with two digits that count; ns: at most a quarter of what fits. */
static uint64_t generous(uint64_t ns)
{
	uint64_t v = ns * 2, unit = 1;

	if (v < 1000)
		return 1000;
	while (v / unit >= 100)
		unit *= 10;
	v = (v + unit - 1) / unit;
	return v * unit;
}

static void put_time(struct text *t, uint64_t ns)
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
static void put_share(struct text *t, double share)
{
	const uint64_t tenths = share > 0 ? (uint64_t)(share * 1000) + 1 : 0;

	text_printf(t, "%" PRIu64 ".%" PRIu64 "%%", tenths / 10, tenths % 10);
}

/* For people: "560 us". */
static void put_human(struct text *t, uint64_t ns)
{
	text_time(t, ns);
}

/* ---- what traces have ---- */

/* Time that passes while nothing is done, and lives, which are as long as the run. */
static bool is_waiting(struct slice name, struct slice category, const struct span_group *g)
{
	static const char *const words[] = { "*park*",        "*Park*", "*idle*",  "*Idle*",  "*sleep*",
		                             "*Sleep*",       "*wait*", "*Wait*",  "*pause*", "*block*",
		                             "thread*state*", "state*", "running", "task",    "*barrier*" };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (glob_fits(slice_str(words[i]), name) || glob_fits(slice_str(words[i]), category))
			return true;
	return g->longest_track != NULL && g->longest_track->is_child;
}

static struct starter_row *find_row(struct policy_starter *s, struct slice name, struct slice category)
{
	for (uint32_t i = 0; i < s->nrows; i++)
		if (slice_equal(s->rows[i].name, name) && slice_equal(s->rows[i].category, category))
			return &s->rows[i];
	if (s->nrows == STARTER_MOST)
		return NULL;
	struct starter_row *const row = &s->rows[s->nrows++];
	*row = (struct starter_row){ .name = arena_copy(&s->arena, name),
		                     .category = arena_copy(&s->arena, category),
		                     .last = UINT32_MAX };
	return row;
}

static void add_row(struct policy_starter *s, struct text *pattern, const struct span_row *r,
                    const struct stats *stats)
{
	const uint64_t p99 = histogram_percentile(&r->group->durations, &stats->pool, 99);
	bool place;

	make_pattern(pattern, r->name, &place);
	s->failed |= pattern->failed;
	if (pattern->failed)
		return;
	struct starter_row *const row = find_row(s, slice_of(pattern->p, pattern->n), r->category);
	if (row == NULL)
		return;
	row->place = place;
	row->waits |= is_waiting(r->name, r->category, r->group);
	row->p99 = p99 > row->p99 ? p99 : row->p99;
	row->sum += (double)total_of(r->group->sum);
	row->traces += row->last != s->ntraces;
	row->last = s->ntraces;
}

static double unfinished_share(const struct policy_watch *w, const struct pipeline *p)
{
	const struct ledger *const l = interpret_ledger(&p->interpret);
	const uint64_t spans = policy_spans(&w->stats);

	for (size_t i = 0; i < l->n; i++)
		if (l->rows[i].loss == &engine_losses[ENGINE_LOSS_NO_END] && spans > 0)
			return (double)l->rows[i].count / (double)spans;
	return 0;
}

static void add_facts(struct policy_starter *s, const struct trace *trace)
{
	for (uint32_t i = 0; i < trace->nmeta; i++) {
		const struct slice name = trace->meta[i].name;
		uint32_t k = 0;
		while (k < s->nfacts && !slice_equal(s->facts[k].name, name))
			k++;
		if (k == STARTER_FACTS || name.n == 0)
			continue;
		if (k == s->nfacts)
			s->facts[s->nfacts++] = (struct starter_fact){ .name = arena_copy(&s->arena, name) };
		s->facts[k].traces++;
	}
}

void policy_starter_add(struct policy_starter *s, const struct policy_watch *w, const struct pipeline *p)
{
	const struct stats *const stats = &w->stats;
	struct text pattern = { .p = NULL };
	struct span_row *rows;
	size_t n = 0, taken = 0;

	if (!stats_span_rows(stats, &stats->spans, &rows, &n)) {
		s->failed = true;
		return;
	}
	for (size_t i = 0; i < n && taken < STARTER_ROWS; i++)
		if (rows[i].name.n > 0 && !slice_is(rows[i].name, "(other names)")) {
			add_row(s, &pattern, &rows[i], stats);
			taken++;
		}
	free(rows);
	text_free(&pattern);
	add_facts(s, &p->trace);
	const double lost = (double)w->lost / ((double)w->lost + (double)w->records + 1e-9);
	const double unfinished = unfinished_share(w, p);
	s->no_epoch |= !p->trace.epoch_known;
	s->counts_lost |= w->counts_lost;
	s->lost = lost > s->lost ? lost : s->lost;
	s->unfinished = unfinished > s->unfinished ? unfinished : s->unfinished;
	s->threads = s->ntraces == 0 || stats->tracks < s->threads ? stats->tracks : s->threads;
	s->endless |= stats->events == 0 || stats->last_ns - stats->first_ns > UINT64_MAX / 4;
	if (!s->endless && stats->last_ns - stats->first_ns > s->duration)
		s->duration = stats->last_ns - stats->first_ns;
	s->failed |= s->arena.failed || interpret_ledger(&p->interpret)->failed;
	s->ntraces++;
}

/* ---- what is written ---- */

static int by_sum(const void *a, const void *b)
{
	const struct starter_row *const x = a, *const y = b;

	return (x->sum < y->sum) - (x->sum > y->sum);
}

/* A category stands for its names where these are places. */
static bool by_category(const struct starter_row *r)
{
	return r->place && r->category.n > 0;
}

static bool is_expected(const struct policy_starter *s, const struct starter_row *r)
{
	return !r->waits && r->traces == s->ntraces;
}

/* Whether what stands for row i stands for one before it too: rows of one name have several categories. */
static bool is_said(const struct policy_starter *s, uint32_t i)
{
	const struct starter_row *const r = &s->rows[i];

	for (const struct starter_row *k = s->rows; k < r; k++)
		if (is_expected(s, k) && by_category(k) == by_category(r) &&
		    (by_category(r) ? slice_equal(k->category, r->category) : slice_equal(k->name, r->name)))
			return true;
	return false;
}

static void put_events(struct policy_starter *s, struct text *t)
{
	for (uint32_t i = 0; i < s->nrows && s->nevents < STARTER_EVENTS; i++) {
		const struct starter_row *const r = &s->rows[i];
		if (!is_expected(s, r) || is_said(s, i))
			continue;
		if (s->nevents++ == 0)
			text_str(t,
			         "\n  # Events that must be there; * is any text, and \"count: 0\" forbids "
			         "them.\n  events:\n");
		text_str(t, by_category(r) ? "    - category: " : "    - name: ");
		put_pattern(t, by_category(r) ? r->category : r->name, by_category(r));
		text_str(t, "\n      count: {min: 1}\n");
	}
}

static void put_facts(const struct policy_starter *s, struct text *t)
{
	bool any = false;

	for (uint32_t i = 0; i < s->nfacts; i++) {
		if (s->facts[i].traces < s->ntraces)
			continue;
		if (!any)
			text_str(
			    t, "\n  # What a trace tells about itself; as \"name: pattern\" with its value.\n"
			       "  # metadata:\n");
		any = true;
		text_str(t, "  #   - ");
		put_pattern(t, s->facts[i].name, true);
		text_char(t, '\n');
	}
}

static void put_trace(const struct policy_starter *s, struct text *t)
{
	if (!s->no_epoch)
		text_str(t, "\n  # The wall time of events is known.\n  epoch: true\n");
	if (s->threads > 0)
		text_printf(t,
		            "\n  # Threads that have events: %" PRIu64 " here.\n"
		            "  threads: {count: {min: 1}}\n",
		            s->threads);
	if (s->counts_lost) {
		text_str(t, "\n  # The largest share of packets that may be missing.\n  lost-packets: ");
		put_share(t, s->lost);
		text_char(t, '\n');
	}
	text_str(t, "\n  # The largest share of spans that may have no end.\n  unfinished-spans: ");
	put_share(t, s->unfinished);
	text_char(t, '\n');
	if (s->endless)
		return;
	text_str(t, "\n  # How long the trace may take, from its first event to the end of its last: ");
	put_human(t, s->duration);
	text_str(t, " here.\n  time:\n    duration: {max: ");
	put_time(t, generous(s->duration));
	text_str(t, "}\n");
}

static void put_budgets(struct policy_starter *s, struct text *t)
{
	text_str(
	    t, "\n# Limits for the spans of each name: p50, p90, p99, max, sum, mean, self, count, rate.\n");
	for (uint32_t i = 0; i < s->nrows && s->nbudgets < STARTER_BUDGETS; i++) {
		const struct starter_row *const r = &s->rows[i];
		if (r->waits || r->p99 > UINT64_MAX / 4)
			continue;
		text_str(t, s->nbudgets++ == 0 ? "budgets:\n  - name: " : "  - name: ");
		put_pattern(t, r->name, false);
		if (r->category.n > 0) {
			text_str(t, "\n    category: ");
			put_pattern(t, r->category, true);
		}
		text_str(t, "\n    statistic: p99 # ");
		put_human(t, r->p99);
		text_str(t, " here\n    limit: ");
		put_time(t, generous(r->p99));
		text_char(t, '\n');
	}
	text_str(t, s->nbudgets == 0 ? "# budgets:\n" : "");
	text_str(t, "#  - {name: \"*\", statistic: p50, tolerance: 10%} # than in the baseline\n"
	            "# baseline: base.json # what tracetool stats --format json wrote of an earlier run\n");
}

bool policy_starter_write(struct policy_starter *s, struct text *t, const char *shown)
{
	qsort(s->rows, s->nrows, sizeof s->rows[0], by_sum);
	text_printf(t,
	            "# What tracetool validate expects of traces below this folder: tracetool.yaml(5).\n"
	            "# Made from %s%s.  Its numbers are a start: adapt them.\n"
	            "# Editors check it with policy.schema.json, which is installed with tracetool.\n\n"
	            "# From this level on findings fail the run: error, warning, note or never.\n"
	            "fail-level: error\n\n"
	            "# Findings to leave out, or to give another level; tracetool rules lists the rules.\n"
	            "# ignore: [policy/unchecked]\n"
	            "# level: {policy/budget: warning}\n\n"
	            "expect:",
	            shown, s->ntraces > 1 ? " and others, which keep it" : ", which keeps it");
	put_events(s, t);
	put_facts(s, t);
	put_trace(s, t);
	put_budgets(s, t);
	text_str(t, "\n# What is different for some files; the paths begin at this folder.\n"
	            "# overrides:\n"
	            "#  - paths: \"bench/*\"\n"
	            "#    fail-level: never\n");
	return !t->failed && !s->failed;
}

void policy_starter_free(struct policy_starter *s)
{
	arena_free(&s->arena);
}
