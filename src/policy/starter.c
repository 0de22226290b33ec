/* Writes a policy that the given traces meet, and later ones like them: the spans that all traces have,
 * metadata, times, and limits twice as large as the values found.  Names that are positions in sources become
 * patterns, since lines and versions change. */
#include "policy/private.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/match.h"
#include "base/scan.h"
#include "output/text_json.h"
#include "output/text_visible.h"

#define MAX_TRACE_ROWS 64U /* max kinds of spans that a trace adds */
#define MAX_EVENTS 3       /* expected ones */
#define MAX_BUDGETS 4      /* of a starter policy: those of the spans with the most time */
#define MAX_NAME 120       /* bytes */

/* ---- patterns ---- */

/* Returns the length of the character at p if it is valid and visible, else 0. */
static size_t visible_character(const char *p, size_t n)
{
	const size_t size = utf8_size(p, n);
	const uint32_t point = size > 0 ? utf8_point(p, size) : 0;

	return point < 0x20 || (point & 0xfffe) == 0xfffe || point == 0xfeff || utf8_is_hidden(point) ? 0
	                                                                                              : size;
}

/* Returns the offset of the part of a path that is the same on other machines and in other versions: after a
 * registry of packages, or a home folder. */
static uint32_t path_begin(struct slice name, uint32_t end)
{
	static const struct {
		const char *text;
		bool has_name; /* the name of the registry, or of the user, follows */
	} prefixes[] = { { "/registry/src/", true },  { "/site-packages/", false },
		         { "/node_modules/", false }, { "/home/", true },
		         { "/Users/", true },         { "/root/", false } };

	for (size_t k = 0; k < COUNT_OF(prefixes); k++) {
		const struct slice prefix = slice_str(prefixes[k].text);
		const char *const at = slice_find(slice_of(name.p, end), prefix);
		if (at == NULL)
			continue;
		const char *const rest = at + prefix.n, *const stop = name.p + end;
		const char *const slash =
		    prefixes[k].has_name ? memchr(rest, '/', (size_t)(stop - rest)) : NULL;
		return (uint32_t)((slash != NULL ? slash + 1 : rest) - name.p);
	}
	return 0;
}

/* Writes bytes i to end of a name as a pattern: ? for characters that cannot be written, * for versions in
 * positions and for the rest of a long name. */
static void write_name(struct text *t, struct slice name, uint32_t i, uint32_t end, bool position)
{
	const uint32_t stop = i + MAX_NAME < end ? i + MAX_NAME : end;

	while (i < stop) {
		const size_t n = visible_character(name.p + i, name.n - i);
		if (position && name.p[i] == '-' && i + 1 < end && name.p[i + 1] >= '0' &&
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

/* Writes a pattern that fits the name; for a position in a source, also in other versions of the source. */
static void write_name_pattern(struct text *t, struct slice name, bool *position)
{
	const uint32_t end = slice_without_line(name).n;
	const uint32_t begin = end < name.n ? path_begin(name, end) : 0;

	text_clear(t);
	*position = end < name.n;
	if (begin > 0)
		text_str(t, "*/");
	write_name(t, name, begin, end, *position);
	if (*position)
		text_str(t, ":*");
}

/* ---- numbers ---- */

/* Returns twice the time, at least 1 us, rounded up to two significant digits.
 * ns: at most UINT64_MAX / 4. */
static uint64_t generous_limit(uint64_t ns)
{
	uint64_t v = ns * 2, unit = 1;

	if (v < 1000)
		return 1000;
	while (v / unit >= 100)
		unit *= 10;
	v = (v + unit - 1) / unit;
	return v * unit;
}

static void write_time(struct text *t, uint64_t ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 } };

	for (size_t i = 0; i < COUNT_OF(units); i++)
		if (ns % units[i].ns == 0) {
			text_printf(t, "%" PRIu64 "%s", ns / units[i].ns, units[i].name);
			return;
		}
}

/* Writes a share in percent, at most all, rounded up to a tenth, or 0. */
static void write_share(struct text *t, double share)
{
	const uint64_t tenths = share >= 1 ? 1000 : share > 0 ? (uint64_t)(share * 1000) + 1 : 0;

	text_printf(t, "%" PRIu64 ".%" PRIu64 "%%", tenths / 10, tenths % 10);
}

/* ---- the traces ---- */

/* Returns true for waiting and idle time, and for lives of threads and tasks,
 * which are as long as the run. */
static bool is_waiting(const struct span_row *r)
{
	static const char *const words[] = { "*park*",        "*Park*", "*idle*",  "*Idle*",  "*sleep*",
		                             "*Sleep*",       "*wait*", "*Wait*",  "*pause*", "*block*",
		                             "thread*state*", "state*", "running", "task",    "*barrier*" };

	const struct span_group *const g = r->group;

	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (glob_fits(slice_str(words[i]), r->name) || glob_fits(slice_str(words[i]), r->category))
			return true;
	if (span_row_waits(r))
		return true;
	return g->longest_track != NULL && g->longest_track->is_child;
}

static bool fits(const struct starter_row *row, struct slice name, struct slice category)
{
	return glob_fits(row->name, name) && (row->category.n == 0 || glob_fits(row->category, category));
}

/* Returns the row of these patterns; NULL: there is none, and none can be added. */
static struct starter_row *find_row(struct policy_starter *s, struct slice name, struct slice category,
                                    const struct span_row *r, bool add)
{
	for (uint32_t i = 0; i < s->nrows; i++)
		if (slice_equal(s->rows[i].name, name) && slice_equal(s->rows[i].category, category))
			return &s->rows[i];
	if (!add || s->nrows == STARTER_MAX_ROWS)
		return NULL;
	struct starter_row *const row = &s->rows[s->nrows++];
	*row = (struct starter_row){
		.name = arena_copy(&s->arena, name),
		.category = arena_copy(&s->arena, category),
		.first = { arena_copy(&s->arena, r->name), arena_copy(&s->arena, r->category) },
		.last = UINT32_MAX,
	};
	return row;
}

/* Adds a group of spans to the row of its patterns.  Returns false if it has none, after raising the limits
 * of the rows whose patterns its spans fit, too. */
static bool add_row(struct policy_starter *s, const struct span_row *r, const struct stats *stats, bool add)
{
	const uint64_t p99 = histogram_percentile(&r->group->durations, &stats->pool, 99);
	struct text name = { .p = NULL }, category = { .p = NULL };
	struct starter_row *row = NULL;
	bool position = false;

	write_name_pattern(&name, r->name, &position);
	write_name(&category, r->category, 0, r->category.n, false);
	s->failed |= name.failed || category.failed;
	if (!s->failed)
		row = find_row(s, slice_of(name.p, name.n), slice_of(category.p, category.n), r, add);
	text_free(&name);
	text_free(&category);
	if (row == NULL) {
		for (uint32_t i = 0; i < s->nrows; i++)
			if (p99 > s->rows[i].p99 && fits(&s->rows[i], r->name, r->category))
				s->rows[i].p99 = p99;
		return false;
	}
	row->position = position;
	row->waits |= is_waiting(r);
	row->p99 = p99 > row->p99 ? p99 : row->p99;
	row->sum += (double)total_of(r->group->sum);
	row->traces += row->last != s->ntraces;
	row->last = s->ntraces;
	return true;
}

static void add_facts(struct policy_starter *s, const struct trace *trace)
{
	for (uint32_t i = 0; i < trace->nmeta; i++) {
		const struct slice name = trace->meta[i].name;
		uint32_t k = 0;
		while (k < s->nfacts && !slice_equal(s->facts[k].name, name))
			k++;
		if (k == STARTER_MAX_FACTS || name.n == 0)
			continue;
		if (k == s->nfacts)
			s->facts[s->nfacts++] = (struct starter_fact){ .name = arena_copy(&s->arena, name) };
		s->facts[k].traces++;
	}
}

void policy_starter_add(struct policy_starter *s, const struct policy_watch *w, const struct run_report *run)
{
	const struct stats *const stats = &w->stats;
	const bool add = !s->full;
	struct span_row *rows;
	size_t n = 0, added = 0;

	if (note_failure(&s->failed, !stats_span_rows(stats, &stats->spans, NULL, &rows, &n)))
		return;
	for (size_t i = 0; i < n; i++) {
		if (rows[i].name.n == 0 || slice_is(rows[i].name, NAMES_OTHER_TEXT))
			continue;
		if (add_row(s, &rows[i], stats, add && added < MAX_TRACE_ROWS))
			added++;
		else
			s->full = true;
	}
	free(rows);
	add_facts(s, run->trace);
	const double lost = (double)w->lost / ((double)w->lost + (double)w->records + 1e-9);
	const struct ledger_row *const no_end = policy_no_end(run);
	const uint64_t spans = policy_count_spans(stats);
	const double unfinished = no_end != NULL && spans > 0 ? (double)no_end->count / (double)spans : 0;
	s->no_epoch |= !run->trace->epoch_known;
	s->counts_lost |= w->counts_lost;
	s->lost = lost > s->lost ? lost : s->lost;
	s->unfinished = unfinished > s->unfinished ? unfinished : s->unfinished;
	s->threads = s->ntraces == 0 || stats->tracks < s->threads ? stats->tracks : s->threads;
	s->endless |= stats->events == 0 || stats->last_ns - stats->first_ns > UINT64_MAX / 4;
	if (!s->endless && stats->last_ns - stats->first_ns > s->duration)
		s->duration = stats->last_ns - stats->first_ns;
	s->failed |= s->arena.failed || run->pairs->failed;
	s->ntraces++;
}

/* ---- the policy ---- */

static int compare_sum(const void *a, const void *b)
{
	const struct starter_row *const x = a, *const y = b;

	return ORDER(y->sum, x->sum);
}

/* Whether the category is written instead of names, which are positions in sources. */
static bool uses_category(const struct starter_row *r)
{
	return r->position && r->category.n > 0;
}

static bool is_expected(const struct policy_starter *s, const struct starter_row *r)
{
	return !r->waits && r->traces == s->ntraces;
}

/* Whether an earlier row has the same event: rows of one name can have several categories. */
static bool is_written(const struct policy_starter *s, uint32_t i)
{
	const struct starter_row *const r = &s->rows[i];

	for (const struct starter_row *k = s->rows; k < r; k++)
		if (is_expected(s, k) && uses_category(k) == uses_category(r) &&
		    (uses_category(r) ? slice_equal(k->category, r->category)
		                      : slice_equal(k->name, r->name)))
			return true;
	return false;
}

static void write_events(struct policy_starter *s, struct text *t)
{
	for (uint32_t i = 0; i < s->nrows && s->nevents < MAX_EVENTS; i++) {
		const struct starter_row *const r = &s->rows[i];
		if (!is_expected(s, r) || is_written(s, i))
			continue;
		if (s->nevents++ == 0)
			text_str(t, "\n  # Events that must be there; * is any text, and \"count: 0\" "
			            "forbids them.\n  events:\n");
		text_str(t, uses_category(r) ? "    - category: " : "    - name: ");
		text_json_string(t, uses_category(r) ? r->category : r->name);
		text_str(t, "\n      count: {min: 1}\n");
	}
}

static void write_facts(const struct policy_starter *s, struct text *t)
{
	struct text pattern = { .p = NULL };
	bool any = false;

	for (uint32_t i = 0; i < s->nfacts; i++) {
		if (s->facts[i].traces < s->ntraces)
			continue;
		if (!any)
			text_str(
			    t, "\n  # What a trace tells about itself; as \"name: pattern\" with its value.\n"
			       "  # metadata:\n");
		any = true;
		text_clear(&pattern);
		write_name(&pattern, s->facts[i].name, 0, s->facts[i].name.n, false);
		t->failed |= pattern.failed;
		text_str(t, "  #   - ");
		text_json_string(t, slice_of(pattern.p, pattern.n));
		text_char(t, '\n');
	}
	text_free(&pattern);
}

static void write_trace(const struct policy_starter *s, struct text *t)
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
		write_share(t, s->lost);
		text_char(t, '\n');
	}
	text_str(t, "\n  # The largest share of spans that may have no end.\n  unfinished-spans: ");
	write_share(t, s->unfinished);
	text_char(t, '\n');
	if (s->endless)
		return;
	text_str(t, "\n  # How long the trace may take, from its first event to the end of its last: ");
	text_time(t, s->duration);
	text_str(t, " here.\n  time:\n    duration: {max: ");
	write_time(t, generous_limit(s->duration));
	text_str(t, "}\n");
}

/* Returns the largest p99 of the rows whose names the patterns of this row fit. */
static uint64_t row_p99(const struct policy_starter *s, const struct starter_row *row)
{
	uint64_t p99 = row->p99;

	for (const struct starter_row *k = s->rows; k < s->rows + s->nrows; k++)
		if (k->p99 > p99 && fits(row, k->first[0], k->first[1]))
			p99 = k->p99;
	return p99;
}

static void write_budgets(struct policy_starter *s, struct text *t)
{
	text_str(
	    t, "\n# Limits for the spans of each name: p50, p90, p99, max, sum, mean, self, count, rate.\n");
	for (uint32_t i = 0; i < s->nrows && s->nbudgets < MAX_BUDGETS; i++) {
		const struct starter_row *const r = &s->rows[i];
		const uint64_t p99 = row_p99(s, r);
		if (r->waits || p99 > UINT64_MAX / 4)
			continue;
		text_str(t, s->nbudgets++ == 0 ? "budgets:\n  - name: " : "  - name: ");
		text_json_string(t, r->name);
		if (r->category.n > 0) {
			text_str(t, "\n    category: ");
			text_json_string(t, r->category);
		}
		text_str(t, "\n    statistic: p99 # ");
		text_time(t, p99);
		text_str(t, " here\n    limit: ");
		write_time(t, generous_limit(p99));
		text_char(t, '\n');
	}
	text_str(t, s->nbudgets == 0 ? "# budgets:\n" : "");
	text_str(t, "#  - {name: \"*\", statistic: p50, tolerance: 10%} # than in the baseline\n"
	            "# baseline: base.json # what tracetool stats --format json wrote of an earlier run\n");
}

bool policy_starter_write(struct policy_starter *s, struct text *t, const char *shown)
{
	qsort(s->rows, s->nrows, sizeof s->rows[0], compare_sum);
	text_printf(t,
	            "# What tracetool validate expects of traces below this directory: tracetool.yaml(5).\n"
	            "# Made from %s%s.  Its numbers are a start: adapt them.\n"
	            "# Editors check it with policy.schema.json, which is installed with tracetool.\n\n"
	            "# From this level on findings fail the run: error, limit, warning, note or never.\n"
	            "fail-level: error\n\n"
	            "# Findings to leave out, or to give another level; tracetool rules lists the rules.\n"
	            "# ignore: [policy/unchecked]\n"
	            "# level: {policy/unknown-name: error}  # a budget must name an event of each trace\n\n"
	            "expect:",
	            shown, s->ntraces > 1 ? " and others, which keep it" : ", which keeps it");
	write_events(s, t);
	write_facts(s, t);
	write_trace(s, t);
	write_budgets(s, t);
	text_str(t, "\n# What is different for some files; the paths begin at this directory.\n"
	            "# overrides:\n"
	            "#  - paths: \"bench/*\"\n"
	            "#    fail-level: never\n");
	return !t->failed && !s->failed;
}

void policy_starter_free(struct policy_starter *s)
{
	arena_free(&s->arena);
}
