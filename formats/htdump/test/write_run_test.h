#ifndef HTDUMP_WRITE_RUN_TEST_H
#define HTDUMP_WRITE_RUN_TEST_H

#include "test/fuzz/live_batches.h"
#include "htdump/test/oracle.h"

/* Feeds the writer by hand and reads its output back.  A failure ends the test. */

#define RUN_EVENTS 1024

struct htw_run {
	struct trace trace;
	const struct writer_ops *ops;
	struct run_facts run;
	struct writer writer;
	struct chunk chunk;
	struct ledger total;
	struct batch batch;
	const struct class *cls;              /* of the next event */
	const struct track *process, *thread; /* thread: of the next event */
	uint32_t tracks, classes;             /* declared to the writer */
	struct oracle oracle;                 /* of the output, after htw_run_decode() */
	struct live_batches live;             /* of the output, after htw_run_finish_output() */
};

/* Starts with a trace that has one class "first", one process "process" and one thread "worker" with
 * number 7. */
void htw_run_begin(struct htw_run *r);
void htw_run_begin_with(struct htw_run *r, bool signed_time);

/* Adds an event.  Its name must stay valid until htw_run_flush(). */
struct event *htw_run_event(struct htw_run *r, enum phase phase, struct slice name, uint64_t ts,
                            uint64_t dur);

/* Adds a field to the last event. */
void htw_run_field(struct htw_run *r, struct slice name, struct value v);
void htw_run_named(struct htw_run *r, const char *name, struct value v);

/* Declares new tracks and classes, then writes all events. */
void htw_run_flush(struct htw_run *r);

/* Ends the output and reads it, which must give no finding. */
void htw_run_finish_output(struct htw_run *r);

/* Like htw_run_finish_output(), and decodes the output, which must be within the limits of the oracle. */
const struct oracle *htw_run_decode(struct htw_run *r);

void htw_run_finish(struct htw_run *r);

/* ---- results ---- */

uint64_t htw_run_loss_of(const struct htw_run *r, const char *id);

/* Returns the number of records of a class. */
uint64_t htw_run_count_of(const struct oracle *o, const char *name);

/* Returns the n-th event of a class of the trace. */
const struct oracle_event *htw_run_nth(const struct oracle *o, size_t n);

/* Returns the n-th record with a field of this name, or NULL. */
const struct oracle_event *htw_run_with(const struct oracle *o, const char *key, size_t n);

void htw_run_expect_text(const struct oracle_event *e, const char *key, const char *want);
void htw_run_expect_number(const struct oracle_event *e, const char *key, enum oracle_kind kind,
                           uint64_t want);

/* Returns the value of a fact of the trace, or NULL. */
const char *htw_run_fact(const struct oracle *o, const char *name);

/* Returns the n-th event of the output and its batch. */
const struct event *htw_run_live_event(const struct htw_run *r, size_t n, const struct batch **in);
uint64_t htw_run_live_events(const struct htw_run *r);

/* Returns a string of n times c, to be freed. */
char *htw_run_filled(size_t n, char c);

#endif
