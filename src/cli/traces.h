#ifndef CLI_TRACES_H
#define CLI_TRACES_H

#include "cli/outputs.h"
#include "cli/say.h"
#include "run/read/operands.h"
#include "stats/tables/tables.h"

struct trace_slot;
struct workers;

/*
 * A command that reports on each trace of its operands, in their order:
 *
 *	options_init(&r->options, cmd, argc, argv);
 *	if (options_parse(&r->options, run) && traces_begin(r, json))
 *		traces_each(r, threads, sizeof(struct one), report_on_one);
 *	return traces_end(r);
 */
struct trace_run {
	struct options options; /* first member: hooks get a trace_run where they expect options */
	struct report_out out;
	struct text text;
	struct trace_groups groups;
	bool begun, json;
	unsigned layout; /* member "layout" of the JSON; 0: none */
	/* Reports on a trace in its turn, if `one` of traces_each() does not; NULL: `one` reports. */
	void (*finish)(struct trace_slot *t);
	struct job_parts parts;
	bool any;                /* the report describes a trace */
	enum exit_status status; /* worst status so far */
};

/* Finds the traces and opens the report; json: {"tool":...,"inputs":[ ]}, with an element for each trace.
 * Returns false after a message, with the status of the options set. */
bool traces_begin(struct trace_run *r, bool json);

/* Likewise, for operands that are not traces. */
bool traces_begin_report(struct trace_run *r, bool json);

/* A trace that a thread works on. */
struct trace_slot {
	struct trace_run *run;
	const struct trace_group *trace;
	const char *path;
	uint32_t number; /* number of the trace, from 0 */
	void *state;     /* state of the command; zeroed before each trace, valid until `finish` */
	bool is_read;    /* a reader of its inputs was opened; set by the default hook */
	struct workers *workers;
	size_t index;
	unsigned helpers;                  /* further threads for this trace: it is the only one */
	bool turn;                         /* all earlier traces are reported */
	struct vocabularies *vocabularies; /* kept from one trace to the next; NULL: on OOM */
};

/* Calls `one` for each trace, on at most `threads` threads (0: one per core).  `one` reads the trace, calls
 * trace_slot_turn() and reports: then all earlier traces are reported, and no other thread reports. */
void traces_each(struct trace_run *r, uint64_t threads, size_t state_size, void (*one)(struct trace_slot *t));

/* Waits until all earlier traces are reported.  Idempotent. */
void trace_slot_turn(struct trace_slot *t);

/* A job that reads the trace, with the hooks `opened`, `closed` and `progress`; their ctx is t.  Findings and
 * `closed` are reported in the turn of the trace. */
struct pipeline_job trace_slot_job(struct trace_slot *t);

/* pipeline_hooks.closed: reports how the input ended. */
void trace_slot_closed(void *slot, const struct source *s);

/* ---- counting ---- */

/* How the events of a trace are counted. */
struct trace_counting {
	const struct group_by *by;
	bool joined;                             /* see stats.joins_tracks */
	struct slice sum_of;                     /* field to sum; no bytes: none */
	uint64_t max_repeat;                     /* as given */
	const struct stats_tables_asked *tables; /* NULL: none */
	struct stats_examples examples;
	/* Called in the turn of the trace, if it was read; its statistics are complete (stats_describe()). */
	void (*report)(struct trace_slot *t, struct stats *s);
};

/* The state of a slot. */
struct trace_counted {
	struct stats stats;
	struct stats_tables tables;
	struct stats_thread thread;
};

/* Reads and counts the trace of a slot, whose state is a struct trace_counted.  Returns the status of its
 * selection. */
enum exit_status trace_slot_count(struct trace_slot *t, const struct trace_counting *how);

/* Reads a file of stats --full into f->into.  Returns false after a message, or with *no_memory set. */
bool table_file_read(struct stats_file *f, const char *path, bool *no_memory);

/* Ends the report, frees all memory, and returns the exit status.  Call it also if traces_begin() failed or
 * was not called. */
enum exit_status traces_end(struct trace_run *r);

#endif
