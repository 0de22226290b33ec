#ifndef HTDUMP_WRITE_RUN_TEST_H
#define HTDUMP_WRITE_RUN_TEST_H

#include "test/fuzz/live_batches.h"
#include "htdump/test/oracle.h"

/* For tests: the writer, fed by hand, and its output read back.  What fails ends the test. */

#define RUN_EVENTS 1024

struct htw_run {
	struct trace trace;
	const struct writer_ops *ops;
	struct writer writer;
	struct chunk chunk;
	struct ledger total;
	struct batch batch;
	const struct class *cls;              /* of the next event */
	const struct track *process, *thread; /* thread: of the next event */
	uint32_t tracks, classes;             /* shown so far */
	struct oracle oracle;                 /* of the output, after htw_run_decode() */
	struct live_batches live;             /* so too, or after htw_run_finish_output() */
};

/* The trace has one class "first", one process "process" and one thread "worker" with number 7. */
void htw_run_begin(struct htw_run *r);
void htw_run_begin_with(struct htw_run *r, bool signed_time);

/* The next event.  What its name points to must stay until htw_run_flush(). */
struct event *htw_run_event(struct htw_run *r, enum phase phase, struct slice name, uint64_t ts,
                            uint64_t dur);

/* Adds a field to the event that was made last. */
void htw_run_field(struct htw_run *r, struct slice name, struct value v);
void htw_run_named(struct htw_run *r, const char *name, struct value v);

/* What is new is shown, then all events are written. */
void htw_run_flush(struct htw_run *r);

/* Ends the output, which is read without a finding. */
void htw_run_finish_output(struct htw_run *r);

/* The same, for outputs that are no more than the oracle reads. */
const struct oracle *htw_run_decode(struct htw_run *r);

void htw_run_finish(struct htw_run *r);

/* ---- what came of it ---- */

uint64_t htw_run_loss_of(const struct htw_run *r, const char *id);

/* Records of a class. */
uint64_t htw_run_count_of(const struct oracle *o, const char *name);

/* The n-th event that is of a class of the trace. */
const struct oracle_event *htw_run_nth(const struct oracle *o, size_t n);

/* The n-th record with a field of this name, or NULL. */
const struct oracle_event *htw_run_with(const struct oracle *o, const char *key, size_t n);

void htw_run_expect_text(const struct oracle_event *e, const char *key, const char *want);
void htw_run_expect_number(const struct oracle_event *e, const char *key, enum oracle_kind kind,
                           uint64_t want);

/* The value of a fact of the whole trace, or NULL. */
const char *htw_run_fact(const struct oracle *o, const char *name);

/* The n-th event of the output, with its batch. */
const struct event *htw_run_live_event(const struct htw_run *r, size_t n, const struct batch **in);
uint64_t htw_run_live_events(const struct htw_run *r);

/* n times c, to be freed. */
char *htw_run_filled(size_t n, char c);

#endif
