#include "cli/outputs.h"
#include "cli/say.h"
#include "run/read/operands.h"
#include "stats/stats.h"

enum { O_FORMAT, O_LIMIT, O_CLASSES, O_THREADS, O_MAX_REPEAT };

static const struct cmd_option own[] = {
	[O_FORMAT] = { "format", "text|json", "the report's form (default: text)", 0 },
	[O_LIMIT] = { "limit", "N", "at most N rows of each table in text (default: 30; 0: all)", 'n' },
	[O_CLASSES] = { "classes", NULL, "list the records by class, too (text; not with a selection)", 0 },
	[O_THREADS] = { "threads", "N", "work with N threads (default: one a core)", 0 },
	[O_MAX_REPEAT] = { "max-repeat", "N",
	                   "limit repeated texts and lists to N times the input size (default: 32)", 0 },
	{ NULL, NULL, NULL, 0 },
};

static enum exit_status cmd_stats(const struct command *cmd, int argc, char **argv);

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

struct stats_run {
	struct options options;
	struct report_out out;
	bool json, classes, first;
	uint64_t top;
	struct text text;
	struct progress progress;
	struct stats stats; /* of the present operand */
	struct stats_thread thread;
	uint64_t threads, max_repeat;
	bool any;                /* some of its inputs could be read */
	bool reported;           /* some operand was */
	enum exit_status status; /* the worst so far */
};

static bool parse(struct stats_run *s)
{
	static const char *const forms[] = { "text", "json", NULL };
	struct options *const o = &s->options;
	const char *arg;
	int opt, word = 0;

	s->top = STATS_TOP;
	while ((opt = options_next(o, &arg)) >= 0) {
		if (opt == O_LIMIT)
			word = options_limit(o, arg, &s->top) ? 0 : -1;
		else if (opt == O_CLASSES)
			s->classes = true;
		else if (opt == O_THREADS)
			word = options_number(o, "--threads", arg, &s->threads) ? 0 : -1;
		else if (opt == O_MAX_REPEAT)
			word = options_positive(o, "--max-repeat", arg, &s->max_repeat) ? 0 : -1;
		else
			s->json = (word = options_word(o, "--format", arg, forms)) == 1;
		if (word < 0)
			return false;
	}
	return opt == OPTIONS_END && options_name_traces(o);
}

static bool opened(void *ctx, const struct source *f)
{
	struct stats_run *const s = ctx;

	(void)f;
	s->any = true;
	return true;
}

static void closed(void *ctx, const struct source *f)
{
	struct stats_run *const s = ctx;

	progress_clear(&s->progress);
	s->status = worse(s->status, say_end(&s->options, f));
}

static void show_progress(void *ctx, const struct input *in)
{
	struct stats_run *const s = ctx;

	progress_show(&s->progress, in);
}

static void report(struct stats_run *s, struct pipeline *p, const char *path)
{
	s->stats.unpaired = interpret_unpaired(&p->interpret);
	const struct stats_view view = {
		.path = path,
		.bytes = p->context.bytes,
		.trace = &p->trace,
		.stats = &s->stats,
		.found = pipeline_found(p),
		.classes = s->classes,
		.width = options_width(&s->options),
	};
	if (!s->json && !s->first)
		text_char(&s->text, '\n');
	const bool ok = s->json ? stats_json_input(&s->text, &view, s->first)
	                        : stats_text(&s->text, &view, (size_t)s->top);

	s->out.no_memory |= !ok;
	s->first = false;
	s->reported = true;
	report_out_put(&s->out, &s->text);
}

/* false: it cannot go on; a finding says why. */
static bool count_all(struct stats_run *s, struct pipeline *p)
{
	enum stage_status status;
	struct batch *b;

	while ((status = pipeline_next(p, &b)) == STAGE_MORE)
		if (!stats_thread_put(&s->thread, b))
			break;
	if (!stats_thread_settle(&s->thread)) {
		pipeline_no_memory(p);
		return false;
	}
	if (!stats_end(&s->stats)) {
		pipeline_no_memory(p);
		return false;
	}
	return status == STAGE_END;
}

static void settle(void *ctx)
{
	struct stats_run *const s = ctx;

	(void)stats_thread_settle(&s->thread);
}

static void count_one(struct stats_run *s, const struct trace_group *trace)
{
	const char *const path = trace_group_path(trace);
	struct pipeline p;
	struct pipeline_job job = options_job(&s->options, say_finding, &s->options);

	job.paths = &path;
	job.npaths = 1;
	job.operand = &trace->operand;
	job.interpret = INTERPRET_SPANS;
	job.want = WANT_TIMES | WANT_ORDER;
	job.max_repeat = s->max_repeat;
	job.select_keeps = true; /* spans of the whole trace nest */
	job.hooks = (struct pipeline_hooks){ opened, settle, closed, show_progress, s };
	progress_init(&s->progress, &s->options);
	s->any = false;
	s->out.no_memory |= !stats_init(&s->stats);
	s->out.no_memory |= !stats_thread_begin(&s->thread, &s->stats, options_threads(s->threads));
	const bool counted = pipeline_open(&p, &job) && count_all(s, &p);
	stats_thread_end(&s->thread);
	pipeline_end(&p);
	if (counted && s->any)
		report(s, &p, path);
	if (!s->options.quiet)
		say_losses(path, &p.repeats.ledger, false);
	stats_free(&s->stats);
	s->status = worse(s->status, say_selected(&s->options, path, pipeline_found(&p)));
	pipeline_close(&p);
}

static enum exit_status cmd_stats(const struct command *cmd, int argc, char **argv)
{
	struct stats_run s = { .first = true };
	struct trace_groups traces;

	options_init(&s.options, cmd, argc, argv);
	const bool parsed = parse(&s);
	if (!parsed || !options_traces(&s.options, &traces) || !report_out_open(&s.out, &s.options)) {
		if (parsed)
			trace_groups_free(&traces);
		options_free(&s.options);
		return parsed ? STATUS_UNREADABLE : s.options.status;
	}
	if (s.json)
		s.out.no_memory |= !stats_json_begin(&s.text, TOOL_NAME);
	for (uint32_t i = 0; i < traces.n; i++)
		count_one(&s, &traces.list[i]);
	if (s.json)
		s.out.no_memory |= !stats_json_end(&s.text);
	report_out_put(&s.out, &s.text);
	s.status = worse(s.status, report_out_end(&s.out, &s.options, s.reported));
	text_free(&s.text);
	say_found(&s.options);
	trace_groups_free(&traces);
	options_free(&s.options);
	return s.status;
}
