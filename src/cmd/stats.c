/*
 * stats: statistics of the events of each trace, or of all of them together.  Several traces are read one per
 * thread; of a single trace, a thread reads and another one counts.  --merge reads tables of earlier runs
 * instead.
 */

#include <stdlib.h>

#include "cli/say.h"
#include "cli/traces.h"
#include "input/open.h"
#include "stats/stats.h"

struct stats_run {
	struct trace_run run;
	unsigned form; /* enum stats_form */
	bool classes, full, together, merge;
	uint64_t max_rows, threads, max_repeat;
	const char *words_by, *words_columns, *words_percentiles, *words_sort, *words_sum; /* as given */
	struct group_by by;
	struct slice sum_of;
	struct span_columns columns;
	struct stats joint; /* of --together and --merge */
	bool any;           /* a trace, or a table, was added to it */
};

enum stats_form { FORM_TEXT, FORM_JSON, FORM_CSV, FORM_MARKDOWN };

static const struct cmd_option own[] = {
	{ "format", "text|json|csv|md", "the report's form (default: text)", 0,
	  TO_CHOICE(struct stats_run, form) },
	{ "by", "KEY,...",
	  "group by name, category, thread, process, track, arg:FIELD (default: name,category)", 0,
	  TO_TEXT(struct stats_run, words_by) },
	{ "columns", "NAME,...", "columns: count, total, self, mean, min, max, p50, share, ...", 0,
	  TO_TEXT(struct stats_run, words_columns) },
	{ "percentiles", "P,...", "percentiles instead of 50,90,99", 0,
	  TO_TEXT(struct stats_run, words_percentiles) },
	{ "sort", "NAME", "sort by this column or key (default: total)", 0,
	  TO_TEXT(struct stats_run, words_sort) },
	{ "sum", "arg:FIELD", "sum of a numeric field, and its rate per second", 0,
	  TO_TEXT(struct stats_run, words_sum) },
	{ "limit", "N", "at most N rows of each table in text (default: 30; 0: all)", 'n',
	  TO_LIMIT(struct stats_run, max_rows) },
	{ "classes", NULL, "list the records by class, too (text; not with a selection)", 0,
	  TO_FLAG(struct stats_run, classes) },
	{ "together", NULL, "one table over all traces", 0, TO_FLAG(struct stats_run, together) },
	{ "full", NULL, "JSON with all that --merge and compare need", 0, TO_FLAG(struct stats_run, full) },
	{ "merge", NULL, "inputs are JSON of stats --full: one table over all of them", 0,
	  TO_FLAG(struct stats_run, merge) },
	{ "threads", "N", "work with N threads (default: one per core)", 0,
	  TO_NUMBER(struct stats_run, threads) },
	{ "max-repeat", "N", "limit repeated texts and lists to N times the input size (default: 32)", 0,
	  TO_POSITIVE(struct stats_run, max_repeat) },
	{ .name = NULL },
};

static void put_report(struct stats_run *s, const struct stats *stats)
{
	struct trace_run *const r = &s->run;
	const struct stats_view view = {
		.stats = stats,
		.classes = s->classes,
		.markdown = s->form == FORM_MARKDOWN,
		.full = s->full,
		.width = options_width(&r->options),
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
		ok = stats_text(&r->text, &view, (size_t)s->max_rows);

	r->out.no_memory |= !ok;
	r->any = true;
	report_out_put(&r->out, &r->text);
}

/* Warns of fields that no event has: their names are probably misspelt. */
static void say_lacking(const struct stats *s, const char *path)
{
	for (unsigned i = 0; i <= s->by.n; i++) {
		struct shown_path shown, field;
		if (groups_lacks_field(s, i))
			say("%s: warning: no event has a field \"%s\"", show_path(&shown, path),
			    show_path(&field, i < s->by.n ? s->by.columns[i].head + 4 : s->sum_of.p));
	}
}

static void report_trace(struct trace_slot *t, struct stats *stats)
{
	struct stats_run *const s = (struct stats_run *)t->run;

	if (s->together) {
		t->run->out.no_memory |= !stats_merge(&s->joint, stats);
		s->any = true;
	} else {
		put_report(s, stats);
	}
	say_lacking(stats, t->path);
}

static void count_trace(struct trace_slot *t)
{
	const struct stats_run *const s = (struct stats_run *)t->run;
	const struct trace_counting how = { &s->by, s->sum_of, s->threads, s->max_repeat, report_trace };

	t->run->status = worse(t->run->status, trace_slot_count(t, &how));
}

/* Reads the options of groups and columns.  Returns false after a message. */
static bool parse_table(struct stats_run *s)
{
	struct options *const o = &s->run.options;
	struct shown_path shown;
	char why[512];

	if (s->words_by != NULL && !group_by_parse(&s->by, s->words_by, why, sizeof why)) {
		o->status = options_mistake(o, "--by: %s", show_path(&shown, why));
		return false;
	}
	if (s->words_sum != NULL) {
		struct group_by field;
		if (!group_by_parse(&field, s->words_sum, why, sizeof why) || field.n != 1 ||
		    field.columns[0].key != GROUP_BY_ARG) {
			o->status = options_mistake(o, "--sum takes arg:FIELD, not %s",
			                            show_path(&shown, s->words_sum));
			return false;
		}
		s->sum_of = slice_str(s->words_sum + 4);
	}
	span_columns_init(&s->columns, s->words_sum != NULL ? s->sum_of.p : NULL);
	if (s->words_columns != NULL && !span_columns_parse(&s->columns, s->words_columns, why, sizeof why))
		o->status = options_mistake(o, "--columns: %s", show_path(&shown, why));
	else if (s->words_percentiles != NULL &&
	         !span_columns_percentiles(&s->columns, s->words_percentiles, why, sizeof why))
		o->status = options_mistake(o, "--percentiles: %s", show_path(&shown, why));
	else if (s->words_sort != NULL &&
	         !span_columns_sort(&s->columns, &s->by, s->words_sort, why, sizeof why))
		o->status = options_mistake(o, "--sort: %s", show_path(&shown, why));
	else
		return true;
	return false;
}

/* ---- one table over several traces ---- */

/* Reports the joint table, unless a number of it is too large. */
static void put_joint(struct stats_run *s)
{
	struct trace_run *const r = &s->run;

	r->any |= r->out.no_memory; /* which is said when the report ends */
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
}

/* Adds the tables of a file.  Returns false after a message. */
static bool merge_file(struct stats_run *s, const char *path, bool *grouped)
{
	struct trace_run *const r = &s->run;
	struct stats_file f = { .tool = TOOL_NAME, .into = &s->joint, .grouped = *grouped };
	struct input_whole w;
	struct shown_path shown, why;

	if (!input_read_whole(&w, path, STATS_FILE_MAX)) {
		say("%s: %s", show_path(&shown, path),
		    w.no_memory   ? "the system gives no more memory"
		    : w.too_large ? "is too large for a file of stats --full"
		                  : w.why);
		r->status = STATUS_UNREADABLE;
		return false;
	}
	f.text = slice_of(w.p, w.n);
	const bool ok = stats_read(&f);
	if (!ok && f.why[0] == '\0')
		r->out.no_memory = true;
	else if (!ok)
		say("%s: %s", show_path(&shown, path), show_path(&why, f.why));
	if (!ok)
		r->status = STATUS_UNREADABLE;
	*grouped = f.grouped;
	s->any |= ok;
	free(w.p);
	return ok;
}

/* Nothing is reported if a file is refused: a sum without it would look complete. */
static void merge_files(struct stats_run *s)
{
	struct options *const o = &s->run.options;
	bool grouped = s->words_by != NULL || s->words_sum != NULL;

	for (int i = o->first_operand; i < o->argc; i++)
		if (!merge_file(s, o->argv[i], &grouped)) {
			s->any = false;
			return;
		}
}

/* Options that --merge cannot have: the tables were counted before. */
static bool check_together(struct stats_run *s)
{
	struct options *const o = &s->run.options;

	if (s->full && s->form != FORM_JSON)
		o->status = options_mistake(o, "--full is for --format json");
	else if (s->merge && !select_is_any(&o->select.select))
		o->status =
		    options_mistake(o, "--merge takes counted tables: select events when traces are read");
	else
		return true;
	return false;
}

static enum exit_status cmd_stats(const struct command *cmd, int argc, char **argv)
{
	struct stats_run s = { .max_rows = STATS_TOP };
	struct trace_run *const r = &s.run;

	options_init(&r->options, cmd, argc, argv);
	if (options_parse(&r->options, &s) && parse_table(&s) && check_together(&s)) {
		const bool ok = stats_init(&s.joint) && (s.words_by == NULL && s.words_sum == NULL && s.merge
		                                             ? true
		                                             : stats_group(&s.joint, &s.by, s.sum_of));
		r->layout = s.full ? STATS_LAYOUT : 0;
		if (s.merge ? options_name_traces(&r->options) && traces_begin_report(r, s.form == FORM_JSON)
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
