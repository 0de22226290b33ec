#ifndef CLI_TRACES_H
#define CLI_TRACES_H

#include "cli/outputs.h"
#include "run/read/operands.h"

/*
 * A command that reads its operands one after the other and reports on each:
 *
 *	options_init(&r->options, cmd, argc, argv);
 *	if (options_parse(&r->options, run) && traces_begin(r))
 *		while (traces_next(r))
 *			...
 *	return traces_end(r);
 */
struct trace_run {
	struct options options; /* first: the hooks get a trace_run where they expect options */
	struct report_out out;
	struct text text;
	struct trace_groups groups;
	uint32_t next;
	const struct trace_group *trace; /* the current one */
	const char *path;                /* its path */
	bool begun;
	bool any;                /* the report says something about a trace */
	enum exit_status status; /* the worst so far */
};

/* Finds the traces and opens the report.  Returns false after a message, with the status of the options set.
 */
bool traces_begin(struct trace_run *r);

/* Sets trace and path; returns false after the last trace. */
bool traces_next(struct trace_run *r);

/* A job that reads the current trace, with the hooks `closed` and `progress`; their ctx is r. */
struct pipeline_job traces_job(struct trace_run *r);

/* pipeline_hooks.closed: reports how the input ended. */
void traces_closed(void *run, const struct source *s);

/* Ends the report, frees all, and returns the exit status; also if traces_begin() failed or was not called.
 */
enum exit_status traces_end(struct trace_run *r);

#endif
