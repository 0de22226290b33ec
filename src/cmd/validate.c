#include "cmd/policy_options.h"
#include "cmd/reports.h"
#include "cmd/say.h"
#include "cmd/validate_run.h"

enum {
	O_REPORT,
	O_FORMAT,
	O_SELECT,
	O_IGNORE,
	O_LEVEL,
	O_MAX_FINDINGS,
	O_FAIL_LEVEL,
	O_EXIT_ZERO,
	O_THREADS,
};

static const struct cmd_option own[] = {
	[O_REPORT] = { "report", "FORMAT[=FILE]",
	               "a report: text, gcc, json, ndjson, sarif, junit, github, markdown, gitlab, auto", 0 },
	[O_FORMAT] = { "format", "FORMAT", "the form of a single report (default: text, one finding a line)",
	               0 },
	[O_SELECT] = { "select", "RULES", "only findings of these rules (* stands for any text)", 0 },
	[O_IGNORE] = { "ignore", "RULES", "leave out findings of these rules", 0 },
	[O_LEVEL] = { "level", "RULES=LEVEL", "findings of these rules are error, warning or note", 0 },
	[O_MAX_FINDINGS] = { "max-findings", "N", "list at most N findings, and count the rest", 0 },
	[O_FAIL_LEVEL] = { "fail-level", "LEVEL",
	                   "exit 1 from this level on: error (default), warning, note or never", 0 },
	[O_EXIT_ZERO] = { "exit-zero", NULL, "findings do not change the exit status", 0 },
	[O_THREADS] = { "threads", "N", "read N traces side by side (default: one a core, 16 at most)", 0 },
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
	.run = cmd_validate,
};

struct validate {
	struct options options;
	struct policy_options policy;
	struct reports reports;
	const struct report_ops *form; /* of --format; NULL: not given */
	uint64_t threads;              /* 0: not given */
};

static bool
take(struct validate *v, int opt, const char *arg)
{
	struct options *const o = &v->options;

	switch (opt) {
	case O_REPORT:
		return reports_add(&v->reports, o, arg);
	case O_FORMAT:
		return reports_kind(o, "--format", arg, &v->form);
	case O_SELECT:
		return policy_select(&v->policy, o, arg);
	case O_IGNORE:
		return policy_ignore(&v->policy, o, arg);
	case O_LEVEL:
		return policy_level(&v->policy, o, arg);
	case O_MAX_FINDINGS:
		return options_number(o, "--max-findings", arg, &v->policy.policy.most);
	case O_FAIL_LEVEL:
		return policy_fail_level(&v->policy, o, arg);
	case O_THREADS:
		return options_positive(o, "--threads", arg, &v->threads);
	default:
		v->policy.policy.exit_zero = true;
		return true;
	}
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
	if (opt != OPTIONS_END || !options_name_traces(o))
		return false;
	/* --format and -o are the short form for one report; beside --report they ask for one more */
	if ((v->reports.n == 0 || v->form != NULL || o->output != NULL) &&
	    !reports_request(&v->reports, o, v->form != NULL ? v->form : &report_text,
	                     o->output != NULL ? o->output : "-"))
		return false;
	return reports_check_names(&v->reports, o);
}

enum exit_status
cmd_validate(const struct command *cmd, int argc, char **argv)
{
	struct validate v = { .threads = 0 };
	enum exit_status status;

	options_init(&v.options, cmd, argc, argv);
	if (!policy_options_init(&v.policy, &v.options) || !parse(&v)) {
		policy_options_free(&v.policy);
		options_free(&v.options);
		return v.options.status;
	}
	const bool opened = reports_open(&v.reports, &v.options, &v.policy.policy);
	const bool whole = opened && validate_run(&v.options, &v.reports, v.threads);
	status = reports_close(&v.reports, opened, !whole);
	policy_options_free(&v.policy);
	options_free(&v.options);
	return status;
}
