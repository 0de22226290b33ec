#ifndef CLI_TRACES_H
#define CLI_TRACES_H

#include "cli/outputs.h"
#include "run/read/operands.h"

/*
 * A command that reports on each trace of its operands, in their order:
 *
 *	options_init(&r->options, cmd, argc, argv);
 *	if (options_parse(&r->options, run) && traces_begin(r))
 *		traces_each(r, threads, sizeof(struct one), report_on_one);
 *	return traces_end(r);
 *
 * or, one after the other, `while (traces_next(r)) ...`.
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

/* ---- several traces at a time ---- */

struct workers;

/* A trace that a thread works on. */
struct trace_slot {
	struct trace_run *run;
	const struct trace_group *trace;
	const char *path;
	uint32_t number; /* of the trace, from 0 */
	void *state;     /* of the command; zeroed before each trace */
	struct workers *workers;
	size_t index;
	bool turn;                        /* all earlier traces are reported */
	struct vocabularies vocabularies; /* kept from one trace to the next */
};

/* Calls `one` for each trace, on at most `threads` threads (0: one a core).  It reads the trace, then calls
 * trace_slot_turn() and reports: all earlier traces are reported then, and it is the only one that does. */
void traces_each(struct trace_run *r, uint64_t threads, size_t state_size, void (*one)(struct trace_slot *t));

/* Waits until all earlier traces are reported.  Idempotent. */
void trace_slot_turn(struct trace_slot *t);

/* Like traces_job(); findings and hooks wait for the turn of the trace, as they report.  ctx of the hooks: t.
 */
struct pipeline_job trace_slot_job(struct trace_slot *t);

/* Ends the report, frees all, and returns the exit status; also if traces_begin() failed or was not called.
 */
enum exit_status traces_end(struct trace_run *r);

#endif
