#include "cmd/validate_init.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/report_out.h"
#include "cmd/say.h"
#include "pipeline/trace_groups.h"
#include "policy/policy_starter.h"

struct init {
	struct options *options;
	struct policy_watch *watch;
	uint64_t errors;
	enum exit_status status;
};

static void
closed(void *ctx, const struct source *f)
{
	struct init *const n = ctx;

	if (f->open && !f->as_whole)
		policy_watch_input(n->watch, f);
	n->errors += f->findings.levels[LEVEL_ERROR];
	n->status = worse(n->status, say_end(n->options, f));
}

/* false: it could not be read, which was said. */
static bool
read_trace(struct init *n, struct pipeline *p, const struct pipeline_job *job)
{
	enum stage_status status = STAGE_BAD;
	struct batch *b;
	bool ok = true;

	if (pipeline_open(p, job))
		while (ok && (status = pipeline_next(p, &b)) == STAGE_MORE) {
			ok = policy_watch_batch(n->watch, b);
			batch_release(b);
		}
	if (!ok)
		pipeline_no_memory(p);
	pipeline_end(p);
	return ok && status == STAGE_END;
}

static enum exit_status
write_starter(const struct init *n, const struct pipeline *p, const char *path)
{
	struct report_out out = { .out = NULL };
	struct text t = { .p = NULL };
	struct shown_path shown;

	if (!report_out_open(&out, n->options))
		return STATUS_UNREADABLE;
	out.no_memory |= !policy_starter(&t, n->watch, p, show_path(&shown, path));
	report_out_put(&out, &t);
	text_free(&t);
	return report_out_close(&out);
}

static enum exit_status
init_from(struct init *n, const struct trace_group *trace)
{
	static const struct policy_checks none = { .any = false };
	struct pipeline_job job = options_job(n->options, say_finding, n->options);
	const char *const path = trace_group_path(trace);
	struct shown_path shown;
	struct pipeline p;

	job.paths = &path;
	job.npaths = 1;
	job.operand = &trace->operand;
	job.want = WANT_TIMES | WANT_ORDER;
	job.interpret = INTERPRET_SPANS;
	job.hooks = (struct pipeline_hooks){ .closed = closed, .ctx = n };
	policy_watch_init(n->watch, &none);
	const bool read = read_trace(n, &p, &job);
	if (n->errors > 0 || n->status != STATUS_CLEAN || !read) {
		say("%s: a policy is made from a good trace; this one has %" PRIu64 " error%s",
		    show_path(&shown, path), n->errors, n->errors == 1 ? "" : "s");
		n->status = worse(n->status, STATUS_FINDINGS);
	} else {
		n->status = write_starter(n, &p, path);
	}
	policy_watch_free(n->watch);
	pipeline_close(&p);
	return n->status;
}

enum exit_status
validate_init(struct options *o)
{
	const char *const *const paths = (const char *const *)o->argv + o->first_operand;
	const size_t npaths = (size_t)(o->argc - o->first_operand);
	struct init n = { .options = o };
	struct trace_groups traces = { .n = 0 };
	enum exit_status status;

	n.watch = malloc(sizeof *n.watch);
	if (n.watch == NULL || !trace_groups_init(&traces, paths, npaths, o->from)) {
		options_no_memory(o);
		status = o->status;
	} else if (traces.n != 1) {
		status = options_mistake(o, "--init takes one trace, not %" PRIu32, traces.n);
	} else {
		status = init_from(&n, &traces.list[0]);
	}
	trace_groups_free(&traces);
	free(n.watch);
	return status;
}
