#include "perfetto/test/rig_test.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "format/registry.h"

#define BATCH 64

void perf_rig_begin(struct rig *r)
{
	*r = (struct rig){ .to = format_by_name("perfetto") };
	trace_init(&r->trace);
	r->trace.format = "made";
	r->trace.dialect = "";
	r->trace.clock = "unknown";
	cr_assert(batch_init(&r->batch, BATCH, false));
	r->cls = trace_add_class(&r->trace, SLICE_LIT("class"));
	r->process = trace_add_process(&r->trace, SLICE_LIT("process"));
	r->thread = trace_add_thread(&r->trace, r->process, 7, SLICE_LIT("thread"));
	r->run = (struct run_facts){ .trace = &r->trace, .tool = "test", .total = &r->total };
	r->writer = (struct writer){ .run = &r->run };
	r->writer.state = calloc(1, r->to->writer->state_size);
	cr_assert(r->writer.state != NULL && r->to->writer->open(&r->writer, &r->chunk));
}

void perf_rig_write(struct rig *r)
{
	const struct writer_ops *const ops = r->to->writer;

	r->batch.tracks = r->trace.tracks + r->tracks;
	r->batch.ntracks = r->trace.ntracks - r->tracks;
	r->batch.classes = r->trace.classes + r->classes;
	r->batch.nclasses = r->trace.nclasses - r->classes;
	cr_assert(ops->declare(&r->writer, &r->batch, &r->chunk));
	ops->write(r->writer.state, &r->batch, &r->chunk);
	r->tracks = r->trace.ntracks;
	r->classes = r->trace.nclasses;
	ledger_merge(&r->total, &r->chunk.ledger);
	ledger_free(&r->chunk.ledger);
	r->chunk.ledger = (struct ledger){ .rows = NULL };
	batch_recycle(&r->batch);
}

struct event *perf_rig_event(struct rig *r, enum phase phase, const char *name, const struct track *t,
                             uint64_t ts, uint64_t dur)
{
	if (r->batch.n == r->batch.cap)
		perf_rig_write(r);
	struct event *const e = &r->batch.events[r->batch.n++];

	*e = (struct event){ .ts = ts,
		             .dur = dur,
		             .name = slice_str(name),
		             .cls = r->cls,
		             .track = t,
		             .phase = (uint8_t)phase,
		             .first_field = r->batch.nfields,
		             .offset = 100 + r->batch.n };
	return e;
}

void perf_rig_field(struct rig *r, struct slice name, struct value v)
{
	struct field *const f = batch_fields(&r->batch, 1);

	cr_assert_not_null(f);
	*f = (struct field){ name, v };
	r->batch.nfields++;
	r->batch.events[r->batch.n - 1].nfields++;
}

void perf_rig_end(struct rig *r)
{
	perf_rig_write(r);
	cr_assert(r->to->writer->close(&r->writer, &r->chunk));
	cr_assert_not(r->chunk.text.failed);
	model_read(&r->model, r->chunk.text.p, r->chunk.text.n);
}

void perf_rig_free(struct rig *r)
{
	r->to->writer->free(r->writer.state);
	free(r->writer.state);
	model_free(&r->model);
	chunk_free(&r->chunk);
	ledger_free(&r->total);
	batch_free(&r->batch);
	trace_free(&r->trace);
}

uint64_t perf_rig_lost(const struct rig *r, const char *id)
{
	for (size_t i = 0; i < r->total.n; i++)
		if (strcmp(r->total.rows[i].loss->id, id) == 0)
			return r->total.rows[i].count;
	return 0;
}
