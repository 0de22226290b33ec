/* The loop of commands that report on one trace after the other: stats, cat, info. */

#include "cli/traces.h"

#include "cli/say.h"

bool traces_begin(struct trace_run *r)
{
	struct options *const o = &r->options;

	if (!options_name_traces(o) || !options_traces(o, &r->groups))
		return false;
	if (!report_out_open(&r->out, o)) {
		o->status = STATUS_UNREADABLE;
		return false;
	}
	return r->begun = true;
}

bool traces_next(struct trace_run *r)
{
	if (r->next == r->groups.n)
		return false;
	r->trace = &r->groups.list[r->next++];
	r->path = trace_group_path(r->trace);
	return true;
}

struct pipeline_job traces_job(struct trace_run *r)
{
	struct pipeline_job job = options_job(&r->options, say_finding, &r->options);

	job.in.paths = &r->path;
	job.in.npaths = 1;
	job.in.operand = &r->trace->operand;
	job.to.hooks =
	    (struct pipeline_hooks){ .closed = traces_closed, .progress = options_progress, .ctx = r };
	progress_init(&r->options.progress, &r->options);
	return job;
}

void traces_closed(void *run, const struct source *s)
{
	struct trace_run *const r = run;

	progress_clear(&r->options.progress);
	r->status = worse(r->status, say_end(&r->options, s));
}

enum exit_status traces_end(struct trace_run *r)
{
	if (r->begun) {
		report_out_put(&r->out, &r->text);
		r->status = worse(r->status, report_out_end(&r->out, &r->options, r->any));
		say_found(&r->options);
	} else {
		r->status = r->options.status;
	}
	text_free(&r->text);
	trace_groups_free(&r->groups);
	options_free(&r->options);
	return r->status;
}
