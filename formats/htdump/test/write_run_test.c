#include "htdump/test/write_run_test.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/registry.h"
#include "htdump/htdump.h"
#include "input/test/memory_input.h"

void htw_run_begin_with(struct htw_run *r, bool signed_time)
{
	*r = (struct htw_run){ .ops = format_by_name("htdump")->writer };
	trace_init(&r->trace);
	r->trace.format = "test";
	cr_assert(batch_init(&r->batch, RUN_EVENTS, false));
	r->cls = trace_add_class(&r->trace, SLICE_LIT("first"));
	r->process = trace_add_process(&r->trace, SLICE_LIT("process"));
	r->thread = trace_add_thread(&r->trace, r->process, 7, SLICE_LIT("worker"));
	r->run = (struct run_facts){ .trace = &r->trace, .tool = "test", .signed_time = signed_time };
	r->writer = (struct writer){ .run = &r->run };
	r->writer.state = calloc(1, r->ops->state_size);
	cr_assert(r->writer.state != NULL && r->ops->open(&r->writer, &r->chunk));
}

void htw_run_begin(struct htw_run *r)
{
	htw_run_begin_with(r, false);
}

void htw_run_flush(struct htw_run *r)
{
	r->batch.tracks = r->trace.tracks + r->tracks;
	r->batch.ntracks = r->trace.ntracks - r->tracks;
	r->batch.classes = r->trace.classes + r->classes;
	r->batch.nclasses = r->trace.nclasses - r->classes;
	cr_assert(r->ops->declare(&r->writer, &r->batch, &r->chunk));
	r->ops->write(r->writer.state, &r->batch, &r->chunk);
	r->tracks = r->trace.ntracks;
	r->classes = r->trace.nclasses;
	batch_recycle(&r->batch);
}

struct event *htw_run_event(struct htw_run *r, enum phase phase, struct slice name, uint64_t ts, uint64_t dur)
{
	if (r->batch.n == RUN_EVENTS)
		htw_run_flush(r);
	struct event *const e = &r->batch.events[r->batch.n++];

	*e = (struct event){ .ts = ts,
		             .dur = dur,
		             .name = name,
		             .cls = r->cls,
		             .track = r->thread,
		             .phase = (uint8_t)phase,
		             .first_field = r->batch.nfields,
		             .offset = 100 + r->batch.n };
	return e;
}

void htw_run_field(struct htw_run *r, struct slice name, struct value v)
{
	struct field *const f = batch_fields(&r->batch, 1);

	cr_assert_not_null(f);
	*f = (struct field){ name, v };
	r->batch.nfields++;
	r->batch.events[r->batch.n - 1].nfields++;
}

void htw_run_named(struct htw_run *r, const char *name, struct value v)
{
	htw_run_field(r, slice_str(name), v);
}

void htw_run_finish_output(struct htw_run *r)
{
	const struct text *const t = &r->chunk.text;
	const struct format *const htdump = format_by_name("htdump");

	htw_run_flush(r);
	ledger_merge(&r->total, &r->chunk.ledger);
	r->run.total = &r->total;
	cr_assert(r->ops->close(&r->writer, &r->chunk) && !t->failed);
	live_batches_read(&r->live, htdump, input_from_memory(t->p, t->n),
	                  WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE, RUN_EVENTS);
	cr_assert_eq(r->live.status, READ_END);
	for (int level = 0; level < 3; level++)
		cr_expect_eq(r->live.findings.levels[level], 0, "%" PRIu64 " findings of level %d",
		             r->live.findings.levels[level], level);
}

const struct oracle *htw_run_decode(struct htw_run *r)
{
	htw_run_finish_output(r);
	oracle_decode(&r->oracle, (const unsigned char *)r->chunk.text.p, r->chunk.text.n);
	cr_assert_null(r->oracle.fault, "%s", r->oracle.fault);
	return &r->oracle;
}

void htw_run_finish(struct htw_run *r)
{
	cr_expect_eq(live_batches_free(&r->live), 0);
	oracle_free(&r->oracle);
	r->ops->free(r->writer.state);
	free(r->writer.state);
	chunk_free(&r->chunk);
	ledger_free(&r->total);
	batch_free(&r->batch);
	trace_free(&r->trace);
}

uint64_t htw_run_loss_of(const struct htw_run *r, const char *id)
{
	for (size_t i = 0; i < r->total.n; i++)
		if (strcmp(r->total.rows[i].loss->id, id) == 0)
			return r->total.rows[i].count;
	return 0;
}

uint64_t htw_run_count_of(const struct oracle *o, const char *name)
{
	for (size_t i = 0; i < o->ncounts; i++)
		if (strcmp(o->counts[i].name, name) == 0)
			return o->counts[i].count;
	return 0;
}

const struct oracle_event *htw_run_nth(const struct oracle *o, size_t n)
{
	for (size_t i = 0; i < o->n; i++)
		if (oracle_find(&o->events[i], "label") != NULL && n-- == 0)
			return &o->events[i];
	cr_assert_fail("fewer events");
	return NULL;
}

const struct oracle_event *htw_run_with(const struct oracle *o, const char *key, size_t n)
{
	for (size_t i = 0; i < o->n; i++)
		if (oracle_find(&o->events[i], key) != NULL && n-- == 0)
			return &o->events[i];
	return NULL;
}

void htw_run_expect_text(const struct oracle_event *e, const char *key, const char *want)
{
	const struct oracle_field *const f = oracle_find(e, key);

	cr_assert(f != NULL && f->kind == ORACLE_STRING, "%s", key);
	cr_expect_str_eq(f->s, want, "%s", key);
}

void htw_run_expect_number(const struct oracle_event *e, const char *key, enum oracle_kind kind,
                           uint64_t want)
{
	const struct oracle_field *const f = oracle_find(e, key);

	cr_assert(f != NULL && f->kind == kind, "%s", key);
	cr_expect_eq(f->u, want, "%s is %" PRIu64, key, f->u);
}

const char *htw_run_fact(const struct oracle *o, const char *name)
{
	for (size_t i = 0; i < o->n; i++) {
		const struct oracle_field *const f = oracle_find(&o->events[i], "name"),
		                                 *const v = oracle_find(&o->events[i], "value");
		if (f != NULL && v != NULL && strcmp(f->s, name) == 0)
			return v->s;
	}
	return NULL;
}

char *htw_run_filled(size_t n, char c)
{
	char *const p = malloc(n + 1);

	cr_assert_not_null(p);
	memset(p, c, n);
	p[n] = '\0';
	return p;
}

const struct event *htw_run_live_event(const struct htw_run *r, size_t n, const struct batch **in)
{
	for (size_t i = 0; i < r->live.n; i++) {
		const struct batch *const b = r->live.batches[i];
		for (uint32_t k = 0; k < b->n; k++)
			if (b->events[k].phase != PHASE_STRUCTURE && n-- == 0) {
				*in = b;
				return &b->events[k];
			}
	}
	cr_assert_fail("fewer events");
	return NULL;
}

uint64_t htw_run_live_events(const struct htw_run *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->live.n; i++)
		for (uint32_t k = 0; k < r->live.batches[i]->n; k++)
			n += r->live.batches[i]->events[k].phase != PHASE_STRUCTURE;
	return n;
}
