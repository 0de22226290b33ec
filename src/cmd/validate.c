#include "cmd/reports.h"
#include "cmd/say.h"
#include "cmd/validate_init.h"
#include "cmd/validate_run.h"

enum {
	O_REPORT,
	O_FORMAT,
	O_SELECT_RULES,
	O_IGNORE_RULES,
	O_LEVEL,
	O_LIMIT,
	O_FAIL_LEVEL,
	O_EXIT_ZERO,
	O_THREADS,
	O_CONFIG,
	O_NO_CONFIG,
	O_BASELINE,
	O_INIT,
	O_SCOPE,
};

static const struct cmd_option own[] = {
	[O_REPORT] = { "report", "FORMAT=FILE", "also write a report in this format to FILE", 0 },
	[O_FORMAT] = { "format", "FORMAT",
	               "text (default), gcc, json, ndjson, sarif, junit, github, markdown, gitlab, auto", 0 },
	[O_SELECT_RULES] = { "select-rules", "RULES",
	                     "report only findings of these rules (* matches any text)", 0 },
	[O_IGNORE_RULES] = { "ignore-rules", "RULES", "leave out findings of these rules", 0 },
	[O_LEVEL] = { "level", "RULES=LEVEL", "set the level of these rules: error, warning or note", 0 },
	[O_LIMIT] = { "limit", "N", "list at most N findings, and count the rest (0: all)", 'n' },
	[O_FAIL_LEVEL] = { "fail-level", "LEVEL",
	                   "exit 1 from this level on: error (default), warning, note or never", 0 },
	[O_EXIT_ZERO] = { "exit-zero", NULL, "findings do not change the exit status", 0 },
	[O_THREADS] = { "threads", "N", "work with N threads (default: 0, one a core, 16 at most)", 0 },
	[O_CONFIG] = { "config", "FILE", "the policy (default: the nearest .tracetool.yaml)", 0 },
	[O_NO_CONFIG] = { "no-config", NULL, "use no policy", 0 },
	[O_BASELINE] = { "baseline", "FILE", "compare with this output of stats --format json", 0 },
	[O_INIT] = { "init", NULL, "write a starter policy for a good trace", 0 },
	[O_SCOPE] = { "scope", NULL, "report only findings about the selected events", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const struct cmd_words words[] = {
	{ "--report", WORDS_LIST, reports_words },
	{ "--format", WORDS_LIST, reports_words },
	{ "--level", WORDS_LIST, policy_levels },
	{ "--fail-level", WORDS_LIST, policy_fail_levels },
	{ NULL, WORDS_LIST, NULL },
};

const struct command validate_command = {
	.name = "validate",
	.operands = "[options] IN ...",
	.summary = "Validates traces against the rules of their formats, and reports where each fault is.",
	.options = own,
	.words = words,
	.reads = true,
	.writes = true,
	.reports = true,
	.selects = true,
	.run = cmd_validate,
};

struct validate {
	struct options options;
	struct policy_options policy;
	struct trace_groups traces;
	struct policies policies;
	struct reports reports;
	const struct report_ops *form; /* of --format; NULL: not given */
	uint64_t threads;              /* 0: one a core */
	bool threads_given;
	bool init, scope;
};

static bool
take(struct validate *v, int opt, const char *arg)
{
	struct options *const o = &v->options;

	switch (opt) {
	case O_REPORT:
		return reports_add(&v->reports, o, arg, true);
	case O_FORMAT:
		return reports_kind(o, "--format", arg, &v->form);
	case O_SELECT_RULES:
		return policy_select(&v->policy, o, arg);
	case O_IGNORE_RULES:
		return policy_ignore(&v->policy, o, arg);
	case O_LEVEL:
		return policy_level(&v->policy, o, arg);
	case O_LIMIT:
		return options_limit(o, arg, &v->policy.limit) && (v->policy.limited = true);
	case O_FAIL_LEVEL:
		return policy_fail_level(&v->policy, o, arg);
	case O_THREADS:
		v->threads_given = true;
		return options_number(o, "--threads", arg, &v->threads);
	case O_CONFIG:
		v->policy.config = arg;
		v->policy.no_config = false;
		return true;
	case O_NO_CONFIG:
		v->policy.config = NULL;
		v->policy.no_config = true;
		return true;
	case O_BASELINE:
		v->policy.baseline = arg;
		return true;
	case O_INIT:
		v->init = true;
		return true;
	case O_SCOPE:
		v->scope = true;
		return true;
	default:
		v->policy.choice.exit_zero = true;
		return true;
	}
}

/* --select-rules is about rules: what says which events are meant is not mistaken for it. */
static bool
check_scope(struct validate *v)
{
	struct options *const o = &v->options;
	const bool any = !select_is_any(&o->select.select);

	if (any && !v->scope)
		o->status =
		    options_mistake(o, "all of a trace is validated; with --scope, findings are those of the "
		                       "events that --since, --name ... select");
	else if (v->scope && !any)
		o->status = options_mistake(o, "--scope needs --since, --name or another option that selects "
		                               "events");
	else if (v->scope && v->init)
		o->status = options_mistake(o, "--init looks at all of a trace, without --scope");
	else if (v->init && (v->policy.config != NULL || v->policy.baseline != NULL || v->reports.n > 0))
		o->status = options_mistake(o, "--init writes a policy; it reads no other one, no "
		                               "baseline, and makes no report");
	else
		return true;
	return false;
}

/* Whether all files of the run are different ones; those that policies name are known when they were read. */
static bool
check_names(struct validate *v)
{
	struct options *const o = &v->options;
	struct run_names n;

	run_names_begin(&n, o, (const char *const *)o->argv + o->first_operand,
	                (size_t)(o->argc - o->first_operand));
	reports_names(&v->reports, &n);
	run_names_read(&n, "baseline", v->policy.baseline);
	if (v->policies.nentries == 0)
		run_names_read(&n, "policy", v->policy.config);
	policies_names(&v->policies, &n);
	return run_names_end(&n);
}

static bool
parse(struct validate *v)
{
	struct options *const o = &v->options;
	const char *arg;
	int opt;

	while ((opt = options_next(o, &arg)) >= 0)
		if (!take(v, opt, arg)) {
			if (o->status == STATUS_CLEAN)
				o->status = STATUS_USAGE;
			return false;
		}
	return opt == OPTIONS_END && check_scope(v) && options_name_traces(o) && check_names(v);
}

/* Those that the policy of the first trace asks for, if the command line names none. */
static bool
add_reports(struct validate *v)
{
	const struct policy_file *const file = policies_first(&v->policies);
	struct options *const o = &v->options;

	if (v->reports.n == 0 && v->form == NULL && o->output == NULL && file != NULL)
		for (uint32_t i = 0; i < file->nreports; i++)
			if (!reports_add_of_policy(&v->reports, o, file->folder, &file->reports[i]))
				return false;
	/* --format and -o are the short form for one report; beside --report they ask for one more */
	if ((v->reports.n == 0 || v->form != NULL || o->output != NULL) &&
	    !reports_request(&v->reports, o, v->form != NULL ? v->form : &report_text,
	                     o->output != NULL ? o->output : "-"))
		return false;
	return true;
}

/* What is to be read, and by which policies.  false: it was said. */
static bool
prepare(struct validate *v)
{
	struct options *const o = &v->options;
	const char *const *const paths = (const char *const *)o->argv + o->first_operand;

	if (!trace_groups_init(&v->traces, paths, (size_t)(o->argc - o->first_operand), o->from)) {
		options_no_memory(o);
		return false;
	}
	return policies_init(&v->policies, o, &v->policy, &v->traces) && add_reports(v) && check_names(v);
}

static enum exit_status
run(struct validate *v)
{
	const struct policy_file *const file = policies_first(&v->policies);
	const uint64_t threads = !v->threads_given && file != NULL ? file->threads : v->threads;
	struct publication p = { .n = 0 };
	const bool opened = reports_open(&v->reports, &v->options, &v->policies.whole);
	enum exit_status scope = STATUS_CLEAN;
	const bool whole =
	    opened && validate_run(&v->options, &v->reports, &v->traces, &v->policies, threads, &scope);

	enum exit_status status = opened ? STATUS_CLEAN : STATUS_UNREADABLE;

	if (opened) {
		status = reports_end(&v->reports, !whole, &p);
		(void)publication_end(&p, NULL, NULL, 0);
	}
	reports_free(&v->reports);
	return worse(worse(status, p.status), scope);
}

enum exit_status
cmd_validate(const struct command *cmd, int argc, char **argv)
{
	struct validate v = { .threads = 0 };
	enum exit_status status;

	options_init(&v.options, cmd, argc, argv);
	policy_options_init(&v.policy);
	if (!parse(&v))
		status = v.options.status;
	else if (v.init)
		status = validate_init(&v.options);
	else
		status = prepare(&v) ? run(&v) : v.options.status;
	policies_free(&v.policies);
	trace_groups_free(&v.traces);
	policy_options_free(&v.policy);
	options_free(&v.options);
	return status;
}
