#include "ndjson/test/made_test.h"
#include "model/trace_engine.h"

#include <criterion/criterion.h>

void made_begin(struct made *r, struct run_facts run)
{
	*r = (struct made){ .state = 7 };
	trace_init(&r->trace);
	r->trace.format = "made";
	cr_assert(batch_init(&r->batch, 64, false));
	r->cls = trace_add_class(&r->trace, SLICE_LIT("class"));
	r->process = trace_add_process(&r->trace, SLICE_LIT("process"));
	r->track = trace_add_thread(&r->trace, r->process, 7, SLICE_LIT("thread"));
	cr_assert(r->cls != NULL && r->track != NULL);
	run.trace = &r->trace;
	agree_begin(&r->g, "made by hand", run, &r->lines);
}

struct event *made_event(struct made *r, enum phase phase, const char *name)
{
	struct event *const e = &r->batch.events[r->batch.n++];

	*e = (struct event){ .ts = 5,
		             .name = slice_str(name),
		             .cls = r->cls,
		             .track = r->track,
		             .phase = (uint8_t)phase,
		             .first_field = r->batch.nfields };
	return e;
}

void made_field(struct made *r, struct slice name, struct value v)
{
	struct field *const f = batch_fields(&r->batch, 1);

	cr_assert_not_null(f);
	*f = (struct field){ name, v };
	r->batch.nfields++;
	r->batch.events[r->batch.n - 1].nfields++;
}

void made_render(struct made *r)
{
	r->batch.tracks = r->trace.tracks + r->tracks;
	r->batch.ntracks = r->trace.ntracks - r->tracks;
	r->batch.classes = r->trace.classes + r->classes;
	r->batch.nclasses = r->trace.nclasses - r->classes;
	agree_batch(&r->g, &r->batch);
	r->tracks = r->trace.ntracks;
	r->classes = r->trace.nclasses;
	batch_recycle(&r->batch);
}

void made_finish(struct made *r)
{
	agree_end(&r->g);
	made_free(r);
}

void made_free(struct made *r)
{
	text_free(&r->lines);
	batch_free(&r->batch);
	trace_free(&r->trace);
}

void made_expect_line(struct made *r, const char *want)
{
	made_render(r);
	const char *p = r->lines.p + r->lines.n - 1;
	while (p > r->lines.p && p[-1] != '\n')
		p--;
	const struct slice line = slice_of(p, (size_t)(r->lines.p + r->lines.n - 1 - p));
	cr_expect(slice_is(line, want), "%.*s\n  instead of\n%s", (int)line.n, line.p, want);
}

void made_declare(struct made *r, const char *name, enum value_type type)
{
	struct class_field *const f = arena_alloc(&r->trace.arena, (r->cls->nfields + 1) * sizeof *f);

	cr_assert_not_null(f);
	if (r->cls->nfields > 0)
		memcpy(f, r->cls->fields, r->cls->nfields * sizeof *f);
	f[r->cls->nfields] =
	    (struct class_field){ .name = slice_str(name), .type = SLICE_LIT("t"), .value = (uint8_t)type };
	r->cls->fields = f;
	r->cls->nfields++;
}

struct value made_integer(enum value_type type, int64_t v)
{
	return (struct value){ .type = (uint8_t)type, .i64 = v };
}

struct value made_number(enum value_type type, double v)
{
	return (struct value){ .type = (uint8_t)type, .f64 = v };
}

struct value made_bytes(enum value_type type, const char *p, size_t n)
{
	return (struct value){ .type = (uint8_t)type, .count = (uint32_t)n, .p = p };
}
