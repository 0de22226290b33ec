#include "cmd/validate_init.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/report_out.h"
#include "cmd/say.h"
#include "run/read/trace_groups.h"
#include "policy/policy_starter.h"

struct init {
	struct options *options;
	struct policy_watch *watch;
	struct policy_starter *starter;
	struct progress progress;
	uint64_t errors;
	enum exit_status status;
};

static void
show_progress(void *ctx, const struct input *in)
{
	struct init *const n = ctx;

	progress_show(&n->progress, in);
}

static void
closed(void *ctx, const struct source *f)
{
	struct init *const n = ctx;

	progress_clear(&n->progress);
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
	ok = ok && policy_watch_end(n->watch);
	if (!ok)
		pipeline_no_memory(p);
	pipeline_end(p);
	return ok && status == STAGE_END;
}

static enum exit_status
write_starter(struct init *n, const struct trace_groups *traces)
{
	struct policy_starter *const s = n->starter;
	struct options *const o = n->options;
	struct report_out out = { .out = NULL };
	struct text t = { .p = NULL };
	struct shown_path shown;

	if (!report_out_open(&out, o))
		return STATUS_UNREADABLE;
	out.no_memory |= !policy_starter_write(s, &t, show_path(&shown, trace_group_path(&traces->list[0])));
	report_out_put(&out, &t);
	text_free(&t);
	const enum exit_status status = report_out_close(&out);
	if (status == STATUS_CLEAN && o->output != NULL && !o->quiet) {
		struct shown_path file;
		show_path(&file, o->output);
		say("wrote %s: %" PRIu32 " event%s, %" PRIu32
		    " budget%s; check: tracetool validate --config %s %s%s",
		    file.s, s->nevents, s->nevents == 1 ? "" : "s", s->nbudgets, s->nbudgets == 1 ? "" : "s",
		    file.s, show_path(&shown, trace_group_path(&traces->list[0])),
		    traces->n > 1 ? " ..." : "");
	}
	return status;
}

/* false: no policy is made of it, which was said. */
static bool
add_trace(struct init *n, const struct trace_group *trace)
{
	static const struct policy_checks none = { .any = false };
	struct pipeline_job job = options_job(n->options, say_finding, n->options);
	const char *const path = trace_group_path(trace);
	const uint64_t before = n->errors;
	struct shown_path shown;
	struct pipeline p;

	job.paths = &path;
	job.npaths = 1;
	job.operand = &trace->operand;
	job.want = WANT_TIMES | WANT_ORDER;
	job.interpret = INTERPRET_SPANS;
	job.hooks = (struct pipeline_hooks){ .closed = closed, .progress = show_progress, .ctx = n };
	progress_init(&n->progress, n->options);
	policy_watch_init(n->watch, &none);
	const bool read = read_trace(n, &p, &job);
	const bool good = read && n->errors == before && n->status == STATUS_CLEAN;
	if (good) {
		policy_starter_add(n->starter, n->watch, &p);
	} else {
		say("%s: a policy is made from a good trace; this one has %" PRIu64 " error%s",
		    show_path(&shown, path), n->errors - before, n->errors - before == 1 ? "" : "s");
		n->status = worse(n->status, STATUS_FINDINGS);
	}
	policy_watch_free(n->watch);
	pipeline_close(&p);
	return good;
}

static enum exit_status
init_from(struct init *n, const struct trace_groups *traces)
{
	for (uint32_t i = 0; i < traces->n; i++)
		if (!add_trace(n, &traces->list[i]))
			return n->status;
	return write_starter(n, traces);
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
	n.starter = calloc(1, sizeof *n.starter);
	if (n.watch == NULL || n.starter == NULL || !trace_groups_init(&traces, paths, npaths, o->from)) {
		options_no_memory(o);
		status = o->status;
	} else if (traces.n == 0) {
		status = options_mistake(o, "--init: there is no trace");
	} else {
		status = init_from(&n, &traces);
	}
	trace_groups_free(&traces);
	if (n.starter != NULL)
		policy_starter_free(n.starter);
	free(n.starter);
	free(n.watch);
	return status;
}
