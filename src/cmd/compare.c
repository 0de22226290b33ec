/*
 * compare: spans that take longer, or less, in the runs of the new side than in those of the old side.  A run
 * is an operand: a trace, a folder with the traces of a run, or a table of `stats --full`.  All traces are
 * read side by side; each is added in its turn to the table of its run.
 */

#include <inttypes.h>
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "stats/change/change.h"
#include "cli/reports.h"
#include "cli/say.h"
#include "cli/traces.h"
#include "input/open.h"

struct compare_run {
	const char *path;
	int side;
	bool is_table; /* of stats --full, not a trace */
	bool any;      /* a trace, or a table of stats --full, was added to `table` */
	struct stats table;
};

struct compare {
	struct trace_run run;
	struct policy_options policy;
	unsigned form; /* enum report_form */
	bool ignore_lines, stacks, regressed, empty;
	uint64_t max_rows; /* 0: not given; UINT64_MAX: all */
	uint64_t threads, max_repeat;
	const char *words_by, *map_path;
	struct change_floors floors;
	struct group_by by;
	bool grouped; /* `by` is set, by --by or by the first table */
	struct change_map map;
	struct compare_run *runs; /* old runs first */
	size_t nruns, nold;
	const char **paths;          /* paths of all runs */
	size_t *run_of;              /* index of the run, by number of the operand that is a trace */
	const char **named, **after; /* operands of --new; all operands after the first of them */
	size_t nnamed, nafter;
};

/* ---- options ---- */

static bool set_new(void *run, struct options *o, const char *arg)
{
	struct compare *const c = run;

	if (c->named == NULL) {
		c->named = calloc((size_t)o->argc, sizeof *c->named);
		c->after = calloc((size_t)o->argc, sizeof *c->after);
		if (c->named == NULL || c->after == NULL)
			return options_no_memory(o);
		for (int i = optind; i < o->argc; i++)
			c->after[c->nafter++] = o->argv[i];
	}
	c->named[c->nnamed++] = arg;
	return true;
}

static bool set_min_change(void *share, struct options *o, const char *arg)
{
	return units_share(slice_str(arg), share) ||
	       options_takes(o, "--min-change", "a percentage, such as 5%", arg);
}

static bool set_min_time(void *ns, struct options *o, const char *arg)
{
	return duration_with_unit(arg, ns) ||
	       options_takes(o, "--min-time", "a duration with its unit, such as 1ms", arg);
}

static const struct cmd_option own[] = {
	{ "new", "FILE", "a run of the new side, like all operands after it", 0, OPTION_CALL,
	  .set = set_new },
	ROW_BY(struct compare, words_by),
	{ "map", "FILE", "map of names from the old side to the new side (YAML: old: new)", 0,
	  TO_TEXT(struct compare, map_path) },
	{ "ignore-lines", NULL, "ignore line and column in names that are locations, src/main.rs:115:9", 0,
	  TO_FLAG(struct compare, ignore_lines) },
	{ "min-change", "N%", "ignore changes smaller than N percent (default: 5%)", 0,
	  TO_CALL(struct compare, floors.change, set_min_change) },
	{ "min-time", "DURATION", "do not judge groups whose total time is less (default: 1ms)", 0,
	  TO_CALL(struct compare, floors.time, set_min_time) },
	{ "min-count", "N", "do not judge groups with fewer spans (default: 20)", 0,
	  TO_NUMBER(struct compare, floors.count) },
	{ "format", "text|json|csv|md", "the report's form (default: text)", 0,
	  TO_CHOICE(struct compare, form) },
	{ "folded", NULL, "print folded stacks with both self times, for differential flame graphs", 0,
	  TO_FLAG(struct compare, stacks) },
	{ "limit", "N", "at most N rows in text and md (default: 30; 0: all)", 'n',
	  TO_LIMIT(struct compare, max_rows) },
	ROWS_RULES(struct compare, policy),
	ROWS_EXIT(struct compare, policy),
	ROW_TRACES_AT_A_TIME(struct compare, threads),
	ROW_MAX_REPEAT(struct compare, max_repeat),
	{ .name = NULL },
};

static const struct cmd_words words[] = {
	{ "--level", WORDS_LIST, level_names },
	{ "--fail-level", WORDS_LIST, policy_fail_levels },
	{ NULL, WORDS_LIST, NULL },
};

/* ---- sides ---- */

/* Number of operands on the new side, which are the last ones: those after --, or after --new; of two
 * operands, the second. */
static size_t count_new(const struct compare *c, size_t nafter_dashes)
{
	const struct options *const o = &c->run.options;
	const size_t n = o->nin;

	if (c->named == NULL)
		return nafter_dashes > 0 ? nafter_dashes : n == 2 ? 1 : 0;
	for (size_t i = 0; i < n; i++) /* operands keep their order */
		for (size_t k = 0; k < c->nafter; k++)
			if (c->after[k] == o->in[i])
				return n - i;
	return 0;
}

static void add_run(struct compare *c, const char *path, int side)
{
	c->paths[c->nruns] = path;
	c->runs[c->nruns++] = (struct compare_run){ .path = path, .side = side };
	c->nold += side == CHANGE_OLD;
}

/* Divides the operands.  nafter_dashes: number of operands after "--". */
static bool divide(struct compare *c, size_t nafter_dashes)
{
	struct options *const o = &c->run.options;
	const size_t n = o->nin, all = n + c->nnamed;
	struct shown_path shown;

	if (c->named != NULL && nafter_dashes > 0)
		return options_mistake(o, "-- and --new both begin the new side: give one of them");
	for (size_t i = n - nafter_dashes; i < n; i++)
		if (o->in[i][0] == '-' && o->in[i][1] != '\0' && access(o->in[i], F_OK) != 0)
			return options_mistake(o, "options come before --, and this is after it: %s",
			                       show_path(&shown, o->in[i]));
	const size_t new = count_new(c, nafter_dashes), old = n - new;
	if (old == 0 || all == old)
		return options_mistake(o, all <= 1 ? "takes two runs, or OLD ... -- NEW ..."
		                                   : "where does the new side begin? Write OLD ... -- "
		                                     "NEW ..., or OLD ... --new NEW ...");
	if (old > CHANGE_RUNS_MAX || all - old > CHANGE_RUNS_MAX)
		return options_mistake(o, "takes at most %d runs of a side", CHANGE_RUNS_MAX);
	c->runs = calloc(all, sizeof *c->runs);
	c->paths = calloc(all, sizeof *c->paths);
	c->run_of = calloc(all, sizeof *c->run_of);
	if (c->runs == NULL || c->paths == NULL || c->run_of == NULL)
		return options_no_memory(o);
	for (size_t i = 0; i < old; i++)
		add_run(c, o->in[i], CHANGE_OLD);
	for (size_t i = 0; i < c->nnamed; i++)
		add_run(c, c->named[i], CHANGE_NEW);
	for (size_t i = old; i < n; i++)
		add_run(c, o->in[i], CHANGE_NEW);
	return true;
}

static bool check_names(struct compare *c)
{
	struct options *const o = &c->run.options;
	struct run_names n;

	run_names_begin(&n, o, c->paths, c->nruns);
	run_names_read(&n, "map", c->map_path);
	run_names_output(&n);
	return run_names_end(&n);
}

static bool parse(struct compare *c)
{
	struct options *const o = &c->run.options;
	struct shown_path shown;
	char why[512];
	size_t after = 0;

	for (int i = 1; i < o->argc && after == 0; i++)
		if (strcmp(o->argv[i], "--") == 0)
			after = (size_t)(o->argc - i - 1);
	if (!options_parse(o, c))
		return false;
	if (c->stacks && c->form != FORM_TEXT)
		return options_mistake(o, "stacks are text: --format and --json are for the comparison");
	if (c->stacks && c->max_rows > 0)
		return options_mistake(o, "stacks have a line for each group: --limit is for the comparison");
	c->grouped = c->words_by != NULL;
	if (c->words_by != NULL && !group_by_parse(&c->by, c->words_by, why, sizeof why))
		return options_mistake(o, "--by: %s", show_path(&shown, why));
	return divide(c, after) && check_names(c);
}

/* ---- the map ---- */

static bool read_map(struct compare *c)
{
	struct options *const o = &c->run.options;
	struct findings findings;
	bool no_memory;

	if (c->map_path == NULL)
		return true;
	findings_init(&findings, c->map_path, say_mistake, o);
	const bool ok = change_map_read(&c->map, c->map_path, &findings, &no_memory);
	findings_free(&findings);
	if (no_memory)
		options_no_memory(o);
	if (!ok)
		o->status = STATUS_UNREADABLE;
	return ok;
}

/* ---- tables ---- */

/* Sets *is: whether the path is a regular file with JSON of stats.  Returns false after a message if it
 * cannot be opened. */
static bool is_table(struct compare *c, const char *path, bool *is)
{
	struct options *const o = &c->run.options;

	*is = false;
	if (!input_is_named(path) || input_is_folder(path))
		return true;
	struct input *const in = input_open(path);
	if (in == NULL)
		return options_no_memory(o);
	const size_t n = (size_t)(in->end - in->p);
	const bool failed = in->fault == INPUT_SYSTEM || in->fault == INPUT_DENIED;
	if (failed)
		say_of(path, "%s", in->fault_text);
	else
		*is = n > 0 && stats_file_begins(slice_of(in->p, n < 64 ? n : 64));
	input_close(in);
	return !failed;
}

static bool add_to_run(struct compare *c, struct compare_run *run, const struct stats *s)
{
	run->any = true;
	return change_add(&run->table, s, run->side == CHANGE_OLD ? &c->map : NULL, c->ignore_lines);
}

/* Sets the keys of a run's table, before the first addition to it. */
static bool begin_run(struct compare *c, struct compare_run *run)
{
	if (run->any)
		return true;
	stats_init(&run->table);
	return stats_group(&run->table, &c->by, SLICE_LIT(""));
}

/* The keys of the first table apply to all runs, unless --by sets others.  Returns false after a message. */
static bool same_keys(struct compare *c, const struct compare_run *run, const struct stats *table)
{
	char has[GROUP_BY_WORDS], want[GROUP_BY_WORDS];
	struct shown_path shown_has, shown_want;

	if (!c->grouped)
		c->by = table->by;
	c->grouped = true;
	if (group_by_is_same(&c->by, &table->by))
		return true;
	group_by_words(&table->by, has, sizeof has);
	group_by_words(&c->by, want, sizeof want);
	return say_of(run->path, "groups are by %s, expected: by %s", show_path(&shown_has, has),
	              show_path(&shown_want, want));
}

/* Adds a table to its run.  Returns false after a message, or on OOM. */
static bool read_table(struct compare *c, struct compare_run *run)
{
	struct stats table;
	struct stats_file f = { .tool = TOOL_NAME, .any_version = true, .into = &table };
	bool no_memory;

	stats_init(&table);
	bool ok = table_file_read(&f, run->path, &no_memory);
	if (no_memory)
		options_no_memory(&c->run.options);
	ok = ok && same_keys(c, run, &table);
	ok = ok && ((begin_run(c, run) && stats_end(&table) && add_to_run(c, run, &table)) ||
	            options_no_memory(&c->run.options));
	run->table.overflowed |= table.overflowed;
	stats_free(&table);
	return ok;
}

static bool open_runs(struct compare *c)
{
	struct options *const o = &c->run.options;
	const char **const traces = calloc(c->nruns, sizeof *traces);
	size_t n = 0, ntables = 0;
	bool ok = traces != NULL;

	for (size_t i = 0; ok && i < c->nruns; i++) {
		struct compare_run *const run = &c->runs[i];
		ok = is_table(c, run->path, &run->is_table) && (!run->is_table || read_table(c, run));
		o->status = ok ? o->status : STATUS_UNREADABLE;
		ntables += run->is_table;
		if (run->is_table)
			continue;
		c->run_of[n] = i;
		traces[n++] = run->path;
	}
	if (ok && ntables > 0 && (!select_is_any(&o->select.select) || o->select.fail_on_empty))
		ok = options_mistake(o,
		                     "tables are counted before: select events when stats reads the traces");
	else if (ok && n == 0 && o->from != NULL)
		ok = options_mistake(o, "--from is for traces, and all inputs are tables");
	else if (traces == NULL || (ok && !trace_groups_init(&c->run.groups, traces, n, o->from)))
		ok = options_no_memory(o);
	free(traces);
	for (size_t i = 0; ok && i < c->nruns; i++)
		ok = begin_run(c, &c->runs[i]) || options_no_memory(o);
	return ok;
}

/* ---- traces ---- */

static void report_trace(struct trace_slot *t, struct stats *s)
{
	struct compare *const c = (struct compare *)t->run;

	t->run->out.no_memory |= !add_to_run(c, &c->runs[c->run_of[t->trace->number]], s);
}

static void count_trace(struct trace_slot *t)
{
	struct compare *const c = (struct compare *)t->run;
	const struct trace_counting how = {
		.by = &c->by,
		.joined = true,
		.max_repeat = c->max_repeat,
		.report = report_trace,
	};

	c->empty |= trace_slot_count(t, &how) != STATUS_CLEAN;
}

/* ---- findings ---- */

/* Adds the findings to the reports of --report, and notes whether one of them is of the fail level. */
static void find_changes(struct compare *c, const struct change *change)
{
	struct options *const o = &c->run.options;
	const struct file_record what = {
		.path = c->runs[c->nold].path,
		.rules = compare_rules,
		.whole = !c->runs[c->nold].is_table, /* a trace has an entry of its own */
	};
	struct text message = { .p = NULL };
	struct findings j;

	findings_init(&j, what.path, NULL, NULL);
	j.list = o->side != NULL ? &o->side->log.open : NULL;
	for (uint32_t i = 0; i < change->n; i++) {
		const struct rule *const rule = change_verdict_rule(change->pairs[i].verdict);
		if (rule == NULL)
			continue;
		const struct verdict v = policy_decide(o->policy, rule);
		c->regressed |= v.exits && !v.left_out;
		text_clear(&message);
		change_put_message(&message, change, &change->pairs[i]);
		finding_add(&j, rule, 0, 0, "%.*s", (int)message.n, message.n > 0 ? message.p : "");
	}
	c->run.out.no_memory |= message.failed || j.failed;
	side_reports_record(o, &what, &j);
	findings_free(&j);
	text_free(&message);
}

/* ---- the report ---- */

static void put_report(struct compare *c, const struct change *change)
{
	struct trace_run *const r = &c->run;
	const struct change_view view = {
		.change = change,
		.paths = { c->paths, c->paths + c->nold },
		.form = (enum report_form)c->form,
		.width = c->form == FORM_MARKDOWN ? 0 : options_width(&r->options),
		.top = c->max_rows > 0 ? (size_t)c->max_rows : STATS_TOP,
	};
	bool ok;

	if (c->stacks)
		ok = change_folded(&r->text, &view);
	else if (c->form == FORM_JSON)
		ok = change_json(&r->text, &view, TOOL_NAME);
	else if (c->form == FORM_CSV)
		ok = change_csv(&r->text, &view);
	else
		ok = change_text(&r->text, &view);
	r->out.no_memory |= !ok;
	r->any = true;
}

/* Notes what makes the comparison less useful than it could be: misspelt names in the map, no spans, names
 * that changed as lines were inserted above them, and percentiles that are not exact. */
static void say_notes(const struct compare *c, const struct change *change)
{
	const uint64_t moved = c->ignore_lines ? 0 : change_count_moved(change);
	char note[HISTOGRAM_NOTE];
	struct shown_path name;

	for (uint32_t i = 0; i < c->map.n; i++)
		if (!c->map.names[i].met)
			say_of(c->map_path, "warning: the old side has no \"%s\"",
			       show_path(&name, c->map.names[i].old.p));
	if (change->n == 0)
		say("note: neither side has a span: samples, instants and counters are not compared");
	say_moved(moved, "--ignore-lines");
	for (size_t i = 0; i < c->nruns; i++)
		if (c->runs[i].table.pool.coarse > 0)
			say_of(c->runs[i].path, "warning: %s",
			       histogram_note(c->runs[i].table.pool.coarse, note));
}

/* Whether each run has a table.  Returns false after a message. */
static bool all_read(struct compare *c)
{
	if (c->run.status >= STATUS_UNREADABLE)
		return say("compare: nothing is compared: a run could not be read");
	for (size_t i = 0; i < c->nruns; i++)
		if (!c->runs[i].any)
			return say_of(c->runs[i].path, "has no trace to compare");
	return true;
}

static void compare(struct compare *c)
{
	struct trace_run *const r = &c->run;
	struct change change = { .floors = c->floors };
	struct stats **const tables = calloc(c->nruns, sizeof *tables);
	bool ok = tables != NULL && !r->out.no_memory;

	if (ok && !all_read(c)) {
		r->status = STATUS_UNREADABLE;
		free(tables);
		return;
	}
	r->status = worse(r->status, c->empty ? STATUS_FINDINGS : STATUS_CLEAN);
	for (size_t i = 0; ok && i < c->nruns; i++) {
		tables[i] = &c->runs[i].table;
		ok = stats_end(tables[i]);
	}
	change.sides[CHANGE_OLD] = (struct change_side){ .runs = tables, .nruns = c->nold };
	change.sides[CHANGE_NEW] =
	    (struct change_side){ .runs = tables + c->nold, .nruns = c->nruns - c->nold };
	ok = ok && change_make(&change);
	r->out.no_memory |= !ok;
	if (ok && change.overflowed) {
		say("compare: the runs together have more spans than 64 bits count, or more time than 2^100 "
		    "ns");
		r->status = STATUS_UNREADABLE;
	} else if (ok) {
		find_changes(c, &change);
		put_report(c, &change);
		if (!r->options.quiet)
			say_notes(c, &change);
		if (c->regressed)
			r->status = worse(r->status, STATUS_FINDINGS);
	}
	change_free(&change);
	free(tables);
}

static void free_runs(struct compare *c)
{
	for (size_t i = 0; i < c->nruns; i++)
		stats_free(&c->runs[i].table);
	free(c->runs);
	free(c->paths);
	free(c->run_of);
	free(c->named);
	free(c->after);
	change_map_free(&c->map);
}

static enum exit_status cmd_compare(const struct command *cmd, int argc, char **argv)
{
	struct compare c = { .floors = CHANGE_FLOORS };
	const struct policy policy = { .choices = { &c.policy.choice }, .n = 1, .max = UINT64_MAX };
	struct trace_run *const r = &c.run;

	options_init(&r->options, cmd, argc, argv);
	r->options.policy = &policy;
	policy_options_init(&c.policy);
	if (parse(&c) && read_map(&c) && open_runs(&c)) {
		struct side_reports *const side = r->options.side;
		if (side != NULL)
			side->policy.choices[side->policy.n++] = &c.policy.choice;
		if (traces_begin_report(r, false)) {
			traces_each(r, c.threads, sizeof(struct trace_counted), count_trace);
			compare(&c);
		}
	}
	const enum exit_status status = traces_end(r);
	free_runs(&c);
	policy_options_free(&c.policy);
	return status;
}

const struct command compare_command = {
	.name = "compare",
	.operands = "[options] OLD ... -- NEW ...",
	.summary = "Compares the time that runs spend in each group of spans, and tells changes from noise.",
	.options = own,
	.words = words,
	.reads = true,
	.writes = true,
	.selects = true,
	.tables = true,
	.run = cmd_compare,
};
