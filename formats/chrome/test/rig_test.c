#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "chrome/test/rig_test.h"
#include "format/registry.h"
#include "test/fuzz/strict_json.h"

void chrome_rig_begin(struct chrome_rig *r)
{
	*r = (struct chrome_rig){ .chrome = format_by_name("chrome") };
	trace_init(&r->trace);
	cr_assert(batch_init(&r->batch, 64, false));
	r->cls = trace_add_class(&r->trace, SLICE_LIT("first"));
	r->other = trace_add_class(&r->trace, SLICE_LIT("second \"class\""));
	r->process = trace_add_process(&r->trace, SLICE_LIT("process"));
	r->run = (struct run_facts){ .trace = &r->trace, .tool = "test" };
	r->writer = (struct writer){ .run = &r->run };
	r->writer.state = calloc(1, r->chrome->writer->state_size);
	cr_assert(r->writer.state != NULL && r->chrome->writer->open(&r->writer, &r->chunk));
}

const struct track *chrome_rig_thread(struct chrome_rig *r, uint64_t id, const char *name)
{
	const struct track *const t = trace_add_thread(&r->trace, r->process, id, slice_str(name));

	cr_assert_not_null(t);
	return t;
}

struct event *chrome_rig_event(struct chrome_rig *r, enum phase phase, const char *name,
                               const struct track *track, uint64_t ts, uint64_t dur)
{
	struct event *const e = &r->batch.events[r->batch.n++];

	*e = (struct event){ .ts = ts,
		             .dur = dur,
		             .name = slice_str(name),
		             .cls = r->cls,
		             .track = track,
		             .phase = (uint8_t)phase,
		             .first_field = r->batch.nfields,
		             .offset = 100 + r->batch.n };
	return e;
}

void chrome_rig_field(struct chrome_rig *r, const char *name, struct value v)
{
	struct field *const f = batch_fields(&r->batch, 1);

	cr_assert_not_null(f);
	*f = (struct field){ slice_str(name), v };
	r->batch.nfields++;
	r->batch.events[r->batch.n - 1].nfields++;
}

void chrome_rig_render(struct chrome_rig *r)
{
	const struct writer_ops *const ops = r->chrome->writer;

	r->batch.tracks = r->trace.tracks + r->tracks;
	r->batch.ntracks = r->trace.ntracks - r->tracks;
	r->batch.classes = r->trace.classes + r->classes;
	r->batch.nclasses = r->trace.nclasses - r->classes;
	cr_assert(ops->declare(&r->writer, &r->batch, &r->chunk));
	ops->render(r->writer.state, &r->batch, &r->chunk);
	r->tracks = r->trace.ntracks;
	r->classes = r->trace.nclasses;
	batch_recycle(&r->batch);
}

void chrome_rig_parse(struct chrome_rig *r)
{
	struct text *const t = &r->chunk.text;
	size_t at = 0;

	chrome_rig_render(r);
	ledger_merge(&r->total, &r->chunk.ledger);
	r->run.total = &r->total;
	cr_assert(r->chrome->writer->close(&r->writer, &r->chunk) && !t->failed);
	text_char(t, '\0'); /* for strstr */
	t->n--;
	const char *const why = strict_json_fault(t->p, t->n, &at);
	cr_assert_null(why, "byte %zu: %s in %.*s", at, why, (int)t->n, t->p);
	r->json = cJSON_ParseWithLength(t->p, t->n);
	r->events = cJSON_GetObjectItemCaseSensitive(r->json, "traceEvents");
	cr_assert(cJSON_IsArray(r->events));
}

void chrome_rig_finish(struct chrome_rig *r)
{
	cJSON_Delete(r->json);
	r->chrome->writer->free(r->writer.state);
	free(r->writer.state);
	chunk_free(&r->chunk);
	batch_free(&r->batch);
	trace_free(&r->trace);
}

const char *chrome_text_of(const cJSON *o, const char *name)
{
	const cJSON *const v = cJSON_GetObjectItemCaseSensitive(o, name);

	return cJSON_IsString(v) ? v->valuestring : "";
}

double chrome_number_of(const cJSON *o, const char *name)
{
	const cJSON *const v = cJSON_GetObjectItemCaseSensitive(o, name);

	return cJSON_IsNumber(v) ? v->valuedouble : -1;
}

const cJSON *chrome_rig_next(struct chrome_rig *r)
{
	const cJSON *e;

	do
		e = cJSON_GetArrayItem(r->events, r->at++);
	while (e != NULL && strcmp(chrome_text_of(e, "ph"), "M") == 0);
	cr_assert_not_null(e);
	return e;
}

const cJSON *chrome_args_of(const cJSON *e)
{
	const cJSON *const args = cJSON_GetObjectItemCaseSensitive(e, "args");

	for (const cJSON *x = args != NULL ? args->child : NULL; x != NULL; x = x->next)
		for (const cJSON *y = x->next; y != NULL; y = y->next)
			cr_assert_str_neq(x->string, y->string);
	return args;
}

uint64_t chrome_rig_loss_of(const struct chrome_rig *r, const char *id)
{
	for (size_t i = 0; i < r->total.n; i++)
		if (strcmp(r->total.rows[i].loss->id, id) == 0)
			return r->total.rows[i].count;
	return 0;
}
