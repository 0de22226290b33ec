/*
 * stats: statistics of the events of each trace, or of all traces together.  Several traces are read one per
 * thread; for a single trace, one thread reads and another one counts.  --merge reads tables of earlier runs
 * instead.
 */

#include <inttypes.h>
#include <stdio.h>

#include "base/numbers.h"
#include "cli/names.h"
#include "cli/say.h"
#include "cli/traces.h"
#include "cmd/events/event_text.h"
#include "stats/tables/tables.h"

#define GAPS_NOT_GIVEN UINT64_MAX

struct stats_run {
	struct trace_run run;
	unsigned form; /* enum report_form */
	bool classes, full, together, merge;
	uint64_t max_rows, threads, max_repeat;
	uint64_t examples;          /* number of examples of each group */
	struct shown_fields fields; /* of the examples */
	const char *words_every, *words_imbalance, *words_overlap, *words_longer;
	const char *words_by, *words_columns, *words_percentiles, *words_sort, *words_sum; /* as given */
	struct group_by by;
	struct slice sum_of;
	struct span_columns columns;
	struct stats_tables_asked tables;
	struct stats joint; /* table of --together and --merge */
	bool any;           /* a trace or a table was added to `joint` */
};

static const struct cmd_option own[] = {
	{ "format", "text|json|csv|md", "the report's form (default: text)", 0,
	  TO_CHOICE(struct stats_run, form) },
	ROW_BY(struct stats_run, words_by),
	{ "columns", "NAME,...", "columns: count, total, self, mean, min, max, p50, share, ...", 0,
	  TO_TEXT(struct stats_run, words_columns) },
	{ "percentiles", "P,...", "percentiles instead of 50,90,99", 0,
	  TO_TEXT(struct stats_run, words_percentiles) },
	{ "sort", "NAME", "sort by this column or key (default: total)", 0,
	  TO_TEXT(struct stats_run, words_sort) },
	{ "sum", "arg:FIELD", "sum of a numeric field, and its rate per second", 0,
	  TO_TEXT(struct stats_run, words_sum) },
	{ "limit", "N", "at most N rows of each table in text and md (default: 30; 0: all)", 'n',
	  TO_LIMIT(struct stats_run, max_rows) },
	{ "examples", "N", "list the N slowest spans of each group, with offset and fields (text, JSON)", 0,
	  TO_POSITIVE(struct stats_run, examples) },
	{ "every", "TIME", "statistics of each interval of this length (10ms, 1s), and of counters", 0,
	  TO_TEXT(struct stats_run, words_every) },
	{ "hist", NULL, "columns with the number of durations below 1 us, 10 us, ..., 10 s", 0,
	  TO_FLAG(struct stats_run, tables.hist) },
	{ "share", NULL, "time of each track: busy, waiting, idle; its longest gaps, and what ran meanwhile",
	  0, TO_FLAG(struct stats_run, tables.share) },
	{ "gaps", "N", "with --share: list N gaps of each track (default: 3)", 0,
	  TO_NUMBER(struct stats_run, tables.gaps) },
	{ "imbalance", "thread|process|host",
	  "max/mean of each name over threads, processes or hosts, and which is last", 0,
	  TO_TEXT(struct stats_run, words_imbalance) },
	{ "overlap", "A,B", "time in which spans A and B run at once; each is GLOB or category:GLOB", 0,
	  TO_TEXT(struct stats_run, words_overlap) },
	{ "longer", "TIME", "with --overlap: events of B inside spans of A longer than TIME", 0,
	  TO_TEXT(struct stats_run, words_longer) },
	{ "flows", NULL, "delays of arrows by the names of their ends, and ends without a partner", 0,
	  TO_FLAG(struct stats_run, tables.flows) },
	{ "classes", NULL, "list the records by class, too (text; not with a selection)", 0,
	  TO_FLAG(struct stats_run, classes) },
	{ "together", NULL, "one table over all traces", 0, TO_FLAG(struct stats_run, together) },
	{ "full", NULL, "JSON with all that --merge and compare need", 0, TO_FLAG(struct stats_run, full) },
	{ "merge", NULL, "inputs are JSON of stats --full: one table over all of them", 0,
	  TO_FLAG(struct stats_run, merge) },
	ROW_THREADS(struct stats_run, threads),
	ROW_MAX_REPEAT(struct stats_run, max_repeat),
	{ .name = NULL },
};

static struct slice put_fields(const void *ctx, struct text *t, const struct batch *b, const struct event *e)
{
	return shown_fields_put(t, ctx, b, e);
}

static void put_report(struct stats_run *s, const struct stats *stats)
{
	struct trace_run *const r = &s->run;
	const struct stats_view view = {
		.stats = stats,
		.form = (enum report_form)s->form,
		.classes = s->classes,
		.full = s->full,
		.width = options_width(&r->options),
		.top = (size_t)s->max_rows,
		.columns = &s->columns,
	};
	bool ok;

	if (s->form == FORM_TEXT && r->any)
		text_char(&r->text, '\n');
	if (s->form == FORM_JSON)
		ok = stats_json_input(&r->text, &view, !r->any);
	else if (s->form == FORM_CSV)
		ok = stats_csv_input(&r->text, &view, !r->any);
	else
		ok = stats_text(&r->text, &view);

	if (s->form == FORM_CSV && !r->options.quiet && stats->pool.coarse > 0) { /* CSV has no notes */
		char title[48], note[HISTOGRAM_NOTE];
		say_of(stats_title(&stats->origin, title).p, "warning: %s",
		       histogram_note(stats->pool.coarse, note));
	}
	r->out.no_memory |= !ok;
	r->any = true;
	report_out_put(&r->out, &r->text);
}

static void say_lacking(const struct stats *s, const char *path)
{
	for (unsigned i = 0; i < s->by.n; i++)
		if (groups_lacks_field(s, i))
			say_no_field(path, "event has a field", slice_str(s->by.columns[i].head + 4));
	if (groups_lacks_field(s, s->by.n) || (s->summed > 0 && !s->summed_number))
		say_no_field(path, s->summed > 0 ? "span has a number in the field" : "span has a field",
		             s->sum_of);
}

static void refuse_every(struct stats_run *run, const char *path, const struct stats *s)
{
	struct shown_path shown;
	const uint64_t least = (s->last_ns - s->tables->first_ns) / EVERY_INTERVALS + 1;
	const uint64_t unit = least < 10000000 ? 1000 : least < 10000000000 ? 1000000 : 1000000000;

	if (s->tables->every.refused == EVERY_TOO_SHORT)
		say("stats: %s: --every %s makes more than %u intervals; %" PRIu64 "%s is long enough",
		    show_path(&shown, path), run->words_every, EVERY_INTERVALS, (least + unit - 1) / unit,
		    unit == 1000      ? "us"
		    : unit == 1000000 ? "ms"
		                      : "s");
	else
		say("stats: %s: --every %s makes more than %u rows: use a longer time or fewer groups",
		    show_path(&shown, path), run->words_every, EVERY_ROWS);
	run->run.status = worse(run->run.status, STATUS_USAGE);
}

static void report_trace(struct trace_slot *t, struct stats *stats)
{
	struct stats_run *const s = (struct stats_run *)t->run;

	if (stats->tables != NULL && stats->tables->every.refused != EVERY_FITS) {
		refuse_every(s, t->path, stats);
		return;
	}
	if (s->together) {
		t->run->out.no_memory |= !stats_merge(&s->joint, stats);
		s->any = true;
	} else {
		put_report(s, stats);
	}
	say_lacking(stats, t->path);
	if (stats->spans.groups == NULL && stats->async.groups == NULL && !stats->origin.selected &&
	    stats->trace != NULL)
		say_samples(&s->run.options, t->path, stats->trace);
}

static void count_trace(struct trace_slot *t)
{
	const struct stats_run *const s = (struct stats_run *)t->run;
	const struct trace_counting how = {
		.by = &s->by,
		.joined = s->together || s->full,
		.sum_of = s->sum_of,
		.max_repeat = s->max_repeat,
		.tables = &s->tables,
		.examples = { .n = (uint32_t)s->examples, .fields = put_fields, .ctx = &s->fields },
		.report = report_trace,
	};
	/* not an argument of worse(): the call changes t->run->status */
	const enum exit_status status = trace_slot_count(t, &how);

	t->run->status = worse(t->run->status, status);
}

/* Refuses options that do not apply to the requested tables.  JSON has the table of spans too.  Returns false
 * after a message. */
static bool check_options_of_spans(struct stats_run *s)
{
	const struct stats_tables_asked *const a = &s->tables;
	const bool by_is_used = a->every > 0 || a->share; /* the keys of --share are checked elsewhere */
	const struct {
		const char *name;
		bool given;
	} of_spans[] = {
		{ "--by", s->words_by != NULL && !by_is_used },
		{ "--hist", a->hist && a->every == 0 },
		{ "--columns", s->words_columns != NULL },
		{ "--percentiles", s->words_percentiles != NULL },
		{ "--sort", s->words_sort != NULL },
		{ "--sum", s->words_sum != NULL },
		{ "--examples", s->examples > 0 },
		{ "--classes", s->classes },
	};
	const char *const table = a->every > 0                    ? "--every"
	                          : a->flows                      ? "--flows"
	                          : a->share                      ? "--share"
	                          : a->imbalance != IMBALANCE_NOT ? "--imbalance"
	                                                          : "--overlap";

	if (stats_tables_count(a) == 0 || s->form == FORM_JSON)
		return true;
	for (size_t i = 0; i < COUNT_OF(of_spans); i++)
		if (of_spans[i].given)
			return options_mistake(&s->run.options,
			                       "%s is for the table of spans, which %s replaces in this form",
			                       of_spans[i].name, table);
	return true;
}

static bool check_tables(struct stats_run *s)
{
	static const char *const units[] = { "thread", "process", "host", NULL };
	struct options *const o = &s->run.options;
	struct overlap_asked *const overlap = &s->tables.overlap;

	if (s->words_imbalance != NULL) {
		const int unit = options_word(o, "--imbalance", s->words_imbalance, units);
		if (unit < 0)
			return false;
		s->tables.imbalance = unit == 0   ? IMBALANCE_THREADS
		                      : unit == 1 ? IMBALANCE_PROCESSES
		                                  : IMBALANCE_HOSTS;
	}
	s->fields.json = s->form == FORM_JSON;
	overlap->longer_given = s->words_longer != NULL;

	if (s->words_every != NULL &&
	    (!duration_with_unit(s->words_every, &s->tables.every) || s->tables.every == 0))
		return options_takes(o, "--every", "a time longer than 0, with its unit (10ms)",
		                     s->words_every);
	if (s->tables.flows && (select_kinds(&o->select.select) & SELECT_DURATIONS) != 0)
		return options_mistake(
		    o, "--min-dur and --max-dur are for spans: --flows counts arrows of any delay");
	if (s->tables.share && s->by.n > 0 && (s->by.n > 1 || s->by.columns[0].key != GROUP_BY_THREAD))
		return options_mistake(o, "--share is by track: it takes no --by other than thread");
	if (s->words_overlap != NULL && !overlap_parse(overlap, s->words_overlap))
		return options_takes(o, "--overlap", "two patterns A,B, each GLOB or category:GLOB",
		                     s->words_overlap);
	if (s->words_longer != NULL && s->words_overlap == NULL)
		return options_mistake(o, "--longer is for --overlap");
	if (s->words_longer != NULL && s->form == FORM_CSV)
		return options_mistake(o, "--longer is for text, Markdown and JSON");
	if (s->words_longer != NULL && !duration_with_unit(s->words_longer, &overlap->longer))
		return options_takes(o, "--longer", "a time with its unit (10ms)", s->words_longer);
	if (s->examples > STATS_EXAMPLES_MAX)
		return options_mistake(o, "--examples is at most %d", STATS_EXAMPLES_MAX);
	if (s->examples > 0 && s->form == FORM_CSV)
		return options_mistake(o, "--examples is for text, Markdown and JSON");
	if (s->classes && s->form == FORM_CSV)
		return options_mistake(o, "--classes is for text and Markdown");
	if (s->tables.gaps == GAPS_NOT_GIVEN)
		s->tables.gaps = 3;
	else if (!s->tables.share)
		return options_mistake(o, "--gaps is for --share");
	else if (s->form == FORM_CSV)
		return options_mistake(o, "--gaps is for text, Markdown and JSON");
	if (s->tables.gaps > SHARE_GAPS_MAX)
		return options_mistake(o, "--gaps is at most %d", SHARE_GAPS_MAX);
	if (s->form == FORM_CSV && stats_tables_count(&s->tables) > 1)
		return options_mistake(o, "CSV takes one table at a time");
	return check_options_of_spans(s);
}

/* Reads the options of groups.  Returns false after a message. */
static bool parse_keys(struct stats_run *s)
{
	struct options *const o = &s->run.options;
	struct shown_path shown;
	char why[512];

	if (s->words_by != NULL && !group_by_parse(&s->by, s->words_by, why, sizeof why))
		return options_mistake(o, "--by: %s", show_path(&shown, why));
	if (s->words_sum != NULL) {
		struct group_by field;
		if (!group_by_parse(&field, s->words_sum, why, sizeof why) || field.n != 1 ||
		    field.columns[0].key != GROUP_BY_ARG)
			return options_takes(o, "--sum", "arg:FIELD", s->words_sum);
		s->sum_of = slice_str(s->words_sum + 4);
	}
	return true;
}

/* Reads the options of columns.  sum_of: the summed field; NULL: none.  Returns false after a message. */
static bool parse_columns(struct stats_run *s, const char *sum_of)
{
	struct options *const o = &s->run.options;
	struct shown_path shown;
	char why[512];

	span_columns_init(&s->columns, sum_of);
	if (s->words_columns != NULL && !span_columns_parse(&s->columns, s->words_columns, why, sizeof why))
		return options_mistake(o, "--columns: %s", show_path(&shown, why));
	/* Without --columns, --hist has columns of its own; their percentiles are replaced. */
	if (s->tables.hist && s->words_columns == NULL &&
	    !span_columns_hist(&s->columns, false, why, sizeof why))
		return options_mistake(o, "--hist: %s", show_path(&shown, why));
	if (s->words_percentiles != NULL &&
	    !span_columns_percentiles(&s->columns, s->words_percentiles, why, sizeof why))
		return options_mistake(o, "--percentiles: %s", show_path(&shown, why));
	if (s->tables.hist && s->words_columns != NULL &&
	    !span_columns_hist(&s->columns, true, why, sizeof why))
		return options_mistake(o, "--hist: %s", show_path(&shown, why));
	return true;
}

/* Reads the order of rows, which may be a key of `by`.  Returns false after a message. */
static bool parse_order(struct stats_run *s, const struct group_by *by)
{
	struct options *const o = &s->run.options;
	struct shown_path shown;
	char why[512];

	if (s->words_sort != NULL && !span_columns_sort(&s->columns, by, s->words_sort, why, sizeof why))
		return options_mistake(o, "--sort: %s", show_path(&shown, why));
	return true;
}

/* Whether a column or the order shows the sum of --sum.  JSON has it always; files of --merge are checked for
 * it. */
static bool shows_sum(struct stats_run *s)
{
	const struct span_columns *const c = &s->columns;
	bool shown = s->words_columns == NULL || s->form == FORM_JSON || s->merge;

	for (unsigned i = 0; i <= c->n; i++) {
		const enum span_column what = i < c->n ? c->list[i].what : c->sort_by.what;
		shown |= what == SPAN_FIELD_SUM || what == SPAN_RATE || what == SPAN_NEGATIVE;
	}
	return shown ||
	       options_mistake(&s->run.options, "--sum: --columns has none of sum, rate and negative");
}

/* Reads the options of the table.  With --merge, the files determine the keys and the field; any field is
 * accepted before they are read, to find mistakes early.  Returns false after a message. */
static bool parse_table(struct stats_run *s)
{
	return parse_keys(s) &&
	       parse_columns(s, s->words_sum != NULL ? s->sum_of.p
	                        : s->merge           ? ""
	                                             : NULL) &&
	       (s->merge || parse_order(s, &s->by)) && (s->words_sum == NULL || shows_sum(s));
}

/* ---- one table over several traces ---- */

/* Reports the joint table, unless one of its numbers is too large.  Warns of clocks that probably differ,
 * such as Unix time and time since boot. */
static void put_joint(struct stats_run *s)
{
	struct trace_run *const r = &s->run;

	if (!s->any || r->out.no_memory)
		return;
	if (s->joint.overflowed) {
		say("stats: the traces together have more events than 64 bits count, or more time than 2^100 "
		    "ns");
		r->status = worse(r->status, STATUS_UNREADABLE);
		return;
	}
	r->out.no_memory |= !stats_end(&s->joint);
	if (!r->out.no_memory)
		put_report(s, &s->joint);
	const uint64_t days = (s->joint.last_ns - s->joint.first_ns) / DAY_NS;
	if (s->joint.events > 0 && days >= 365 && !r->options.quiet)
		say("warning: the time of the traces is %" PRIu64 " days: are their clocks the same?", days);
}

/* Returns false after a message. */
static bool merge_file(struct stats_run *s, const char *path, bool *grouped)
{
	struct trace_run *const r = &s->run;
	struct stats_file f = { .tool = TOOL_NAME, .into = &s->joint, .grouped = *grouped };
	bool no_memory;
	const bool ok = table_file_read(&f, path, &no_memory);

	r->out.no_memory |= no_memory;
	if (!ok)
		r->status = STATUS_UNREADABLE;
	*grouped = f.grouped;
	s->any |= ok;
	return ok;
}

/* If a file is refused, nothing is reported: a sum without it would look complete. */
static void merge_files(struct stats_run *s)
{
	struct options *const o = &s->run.options;
	bool grouped = s->words_by != NULL || s->words_sum != NULL;

	for (size_t i = 0; i < o->nin; i++)
		if (!merge_file(s, o->in[i], &grouped)) {
			s->any = false;
			return;
		}
	const struct slice field = s->joint.sum_of;
	char sum_of[GROUP_KEY_MAX];
	snprintf(sum_of, sizeof sum_of, "%.*s", (int)field.n, field.n > 0 ? field.p : "");
	if (parse_columns(s, field.n > 0 ? sum_of : NULL) && parse_order(s, &s->joint.by))
		return;
	s->run.status = STATUS_USAGE;
	s->any = false;
}

/* Checks the options and names of --merge, which reads no traces. */
static bool check_merge(struct stats_run *s)
{
	struct options *const o = &s->run.options;
	const char *const name = o->from != NULL           ? "from"
	                         : o->dialect != NULL      ? "from-dialect"
	                         : o->nschemas > 0         ? "vocabulary"
	                         : o->nvalues > 0          ? o->values[0].name
	                         : o->max_record > 0       ? "max-record"
	                         : s->max_repeat > 0       ? "max-repeat"
	                         : o->select.fail_on_empty ? "fail-on-empty"
	                         : s->classes              ? "classes"
	                                                   : NULL;

	if (!select_is_any(&o->select.select))
		return options_mistake(
		    o, "--merge: the tables are already counted; select events when traces are read");
	if (name != NULL)
		return options_mistake(o, "--merge reads tables; --%s is for traces", name);
	if (o->nin == 0)
		return options_mistake(o, "name at least one table (- for standard input)");
	return run_names_check(o, o->in, o->nin);
}

/* Refuses options that tables over several traces cannot have. */
static bool check_together(struct stats_run *s)
{
	struct options *const o = &s->run.options;
	const char *const given = s->together ? "--together"
	                          : s->full   ? "--full"
	                          : s->merge  ? "--merge"
	                                      : NULL;

	if (given != NULL && (stats_tables_count(&s->tables) > 0 || s->tables.hist || s->examples > 0))
		return options_mistake(o, "%s has no further tables, no --hist and no --examples%s", given,
		                       s->together ? ", which are of one trace: tracetool merge makes one"
		                                   : "");
	if (s->full && s->form != FORM_JSON)
		return options_mistake(o, "--full is for --format json");
	return !s->merge || check_merge(s);
}

static enum exit_status cmd_stats(const struct command *cmd, int argc, char **argv)
{
	struct stats_run s = { .max_rows = STATS_TOP, .tables.gaps = GAPS_NOT_GIVEN };
	struct trace_run *const r = &s.run;

	options_init(&r->options, cmd, argc, argv);
	if (options_parse(&r->options, &s) && parse_table(&s) && check_tables(&s) && check_together(&s)) {
		/* without them, the tables have keys and a field */
		const bool keyless = s.merge && s.words_by == NULL && s.words_sum == NULL;
		stats_init(&s.joint);
		const bool ok = keyless || stats_group(&s.joint, &s.by, s.sum_of);
		r->layout = s.full ? STATS_LAYOUT : 0;
		if (s.merge ? traces_begin_report(r, s.form == FORM_JSON)
		            : traces_begin(r, s.form == FORM_JSON)) {
			r->out.no_memory |= !ok;
			if (s.merge)
				merge_files(&s);
			else
				traces_each(r, s.threads, sizeof(struct trace_counted), count_trace);
			put_joint(&s);
		}
		stats_free(&s.joint);
	}
	return traces_end(r);
}

const struct command stats_command = {
	.name = "stats",
	.operands = "[options] IN ...",
	.summary = "Counts events by name and reports what took the time.",
	.options = own,
	.reads = true,
	.writes = true,
	.selects = true,
	.tables = true,
	.run = cmd_stats,
};
