#ifndef RUN_MEANING_INTERPRET_STAGE_TEST_H
#define RUN_MEANING_INTERPRET_STAGE_TEST_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/rules.h"
#include "run/meaning/interpret.h"

/* For the tests of the stage: meanings made by hand, on a trace of one process and two threads. */
#define REF(f)                                                                                               \
	{                                                                                                    \
		.field = { SLICE_LIT(f) }, .nfields = 1                                                      \
	}
#define LOOKED_UP(f, t)                                                                                      \
	{                                                                                                    \
		.field = { SLICE_LIT(f) }, .nfields = 1, .ntables = 1, .tables = { t }                       \
	}
#define TEMPLATE(parts_)                                                                                     \
	{                                                                                                    \
		.parts = parts_, .nparts = sizeof parts_ / sizeof *parts_                                    \
	}

struct interpret_rig {
	struct vocabulary vocabulary;
	struct reader_ops reader;
	struct trace_ops trace_ops;
	struct format format;
	struct trace trace;
	struct batch batch;
	struct findings findings;
	struct interpret in;
	struct class *cls;
	const struct track *process, *threads[2];
};

static inline void stage_init(struct interpret_rig *g, enum interpret_mode mode, unsigned want)
{
	*g = (struct interpret_rig){ .format = { .name = "toy" } };
	g->format.reader = &g->reader;
	g->format.trace = &g->trace_ops;
	g->vocabulary.scopes[1] = PLAN_SCOPE_THREAD;
	g->vocabulary.scopes[2] = PLAN_SCOPE_TRACE;
	trace_init(&g->trace);
	g->trace.vocabulary = &g->vocabulary;
	cr_assert(batch_init(&g->batch, 64, false));
	findings_init(&g->findings, "toy", NULL, NULL);
	g->cls = trace_add_class(&g->trace, SLICE_LIT("cls"));
	g->process = trace_add_process(&g->trace, SLICE_LIT("p"));
	g->threads[0] = trace_add_thread(&g->trace, g->process, 1, SLICE_LIT("a"));
	g->threads[1] = trace_add_thread(&g->trace, g->process, 2, SLICE_LIT("b"));
	interpret_init(&g->in, &g->trace, mode, want);
}

static inline void stage_free(struct interpret_rig *g)
{
	interpret_free(&g->in);
	findings_free(&g->findings);
	batch_free(&g->batch);
	trace_free(&g->trace);
}

static inline struct event *add(struct interpret_rig *g, const struct class *cls, unsigned thread,
                                uint64_t ts)
{
	struct event *const e = &g->batch.events[g->batch.n++];

	*e = (struct event){ .ts = ts,
		             .offset = ts,
		             .name = cls->name,
		             .cls = cls,
		             .track = g->threads[thread],
		             .first_field = g->batch.nfields,
		             .phase = PHASE_INSTANT };
	return e;
}

static inline void add_field(struct interpret_rig *g, struct event *e, struct slice name, struct value value)
{
	struct field *const f = batch_fields(&g->batch, 1);

	f[0] = (struct field){ name, value };
	g->batch.nfields++;
	e->nfields++;
}

static inline void run(struct interpret_rig *g)
{
	g->batch.engine.findings = &g->findings;
	cr_assert(interpret_batch(&g->in, &g->format, &g->batch));
}

/* Takes all remaining events in one batch. */
static inline void run_out(struct interpret_rig *g)
{
	bool more;

	batch_recycle(&g->batch);
	cr_assert(interpret_finish(&g->in, &g->batch, &more));
	cr_assert_not(more);
}

static inline struct class *class_of(struct interpret_rig *g, const char *name, const struct plan *m)
{
	struct class *const cls = trace_add_class(&g->trace, slice_str(name));

	cls->plan = m;
	return cls;
}

static inline const struct value *field(const struct interpret_rig *g, uint32_t event, const char *name)
{
	return interpret_field(&g->batch, &g->batch.events[event], slice_str(name));
}

#endif
