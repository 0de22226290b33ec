#ifndef PERFETTO_RIG_TEST_H
#define PERFETTO_RIG_TEST_H

#include "model/trace_engine.h"
#include "format/format.h"
#include "perfetto/test/model_test.h"

/* The writer alone, with events of the test in batches of any size. */
struct rig {
	struct trace trace;
	const struct format *to;
	struct run_facts run;
	struct writer writer;
	struct chunk chunk;
	struct ledger total;
	struct batch batch;
	struct class *cls;
	struct track *process, *thread;
	uint32_t tracks, classes; /* shown so far */
	struct model model;
};

void perf_rig_begin(struct rig *r);

/* Adds an event to the batch and writes the batch when it is full. */
struct event *perf_rig_event(struct rig *r, enum phase phase, const char *name, const struct track *t,
                             uint64_t ts, uint64_t dur);

/* Adds a field to the latest event. */
void perf_rig_field(struct rig *r, struct slice name, struct value v);

void perf_rig_write(struct rig *r);

/* Closes the output and reads it. */
void perf_rig_end(struct rig *r);
void perf_rig_free(struct rig *r);

/* Returns the count of a loss. */
uint64_t perf_rig_lost(const struct rig *r, const char *id);

#endif
