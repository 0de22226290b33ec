#ifndef PERFETTO_RIG_TEST_H
#define PERFETTO_RIG_TEST_H

#include "model/batch_pool.h"
#include "model/trace_engine.h"
#include "format/format.h"
#include "perfetto/test/model_test.h"

/* The writer alone, fed by hand, in batches of any size. */
struct rig {
	struct trace trace;
	const struct format *to;
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

/* Adds an event to the batch; one that is full is written. */
struct event *perf_rig_event(struct rig *r, enum phase phase, const char *name, const struct track *t,
                             uint64_t ts, uint64_t dur);

/* Adds a field to the event that was made last. */
void perf_rig_field(struct rig *r, struct slice name, struct value v);

void perf_rig_write(struct rig *r);

/* Closes the output and reads it. */
void perf_rig_end(struct rig *r);
void perf_rig_free(struct rig *r);

/* How often it was lost; 0: not at all. */
uint64_t perf_rig_lost(const struct rig *r, const char *id);

#endif
