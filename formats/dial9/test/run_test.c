#include "dial9/test/run_test.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/test/samples_test_util.h"
#include "dial9/test/oracle.h"
#include "format/registry.h"
#include "vocab/vocab.h"

void d9t_open(struct d9t_run *t, struct input *in, unsigned want)
{
	const struct format *const format = format_by_name("dial9");
	const struct slice text = vocab_builtin("dial9");

	cr_assert_not_null(in);
	*t = (struct d9t_run){ .status = READ_MORE };
	trace_init(&t->trace);
	findings_init(&t->findings, "test", NULL, NULL);
	t->vocabulary = vocab_new("dial9");
	cr_assert(t->vocabulary != NULL && vocab_add_text(t->vocabulary, text.p, text.n, &t->findings, NULL));
	t->trace.vocabulary = t->vocabulary;
	t->r = (struct reader){ .format = format,
		                .in = in,
		                .trace = &t->trace,
		                .findings = &t->findings,
		                .want = want,
		                .max_record = READER_USUAL_RECORD };
	t->r.state = calloc(1, format->reader->state_size);
	cr_assert(t->r.state != NULL && format->reader->open(&t->r));
}

enum read_status d9t_next(struct d9t_run *t, uint32_t cap)
{
	t->batches = realloc(t->batches, (t->n + 1) * sizeof *t->batches);
	cr_assert_not_null(t->batches);
	struct batch *const b = &t->batches[t->n++];
	cr_assert(batch_init(b, cap, (t->r.want & WANT_BYTES) != 0));
	input_pin(t->r.in, &b->pins);
	t->status = records_next(&t->r, b, NULL, 0);
	input_pin(t->r.in, NULL); /* `b` may move */
	return t->status;
}

void d9t_read(struct d9t_run *t, uint32_t cap)
{
	while (d9t_next(t, cap) == READ_MORE)
		;
}

void d9t_close_reader(struct d9t_run *t)
{
	if (t->r.state != NULL)
		t->r.format->reader->close(&t->r);
	free(t->r.state);
	t->r.state = NULL;
}

void d9t_free(struct d9t_run *t)
{
	d9t_close_reader(t);
	for (size_t i = 0; i < t->n; i++)
		batch_free(&t->batches[i]);
	free(t->batches);
	input_close(t->r.in);
	trace_free(&t->trace);
	vocab_free(t->vocabulary);
	findings_free(&t->findings);
}

/* ---- as text ---- */

static void put_value(struct text *to, const struct value *v)
{
	text_printf(to, " %u:", v->type);
	switch (v->type) {
	case VALUE_NONE:
		break;
	case VALUE_STRING:
	case VALUE_BYTES:
		text_printf(to, "%u/%" PRIu32 "=", v->flags, v->count);
		text_add(to, v->p, v->count);
		break;
	case VALUE_LIST:
	case VALUE_MAP:
		text_printf(to, "%" PRIu32 "[", v->count);
		for (uint32_t i = 0; i < v->count << (v->type == VALUE_MAP); i++)
			put_value(to, &v->values[i]);
		text_printf(to, "]");
		break;
	default:
		text_printf(to, "%" PRIx64, v->u64);
	}
}

static void put_slice(struct text *to, struct slice s)
{
	text_printf(to, " %" PRIx32 "/%" PRIu32 "=", s.flags, s.n);
	text_add(to, s.p, s.n);
}

void d9t_put_batch(struct text *to, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		text_printf(to, "@%" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u", e->offset, e->ts, e->dur,
		            e->phase, e->flags);
		put_slice(to, e->name);
		put_slice(to, e->cls->name);
		if (e->track != NULL)
			put_slice(to, e->track->name);
		if (b->bytes != NULL)
			put_slice(to, b->bytes[i]);
		for (uint32_t k = 0; k < e->nfields; k++) {
			const struct field *const f = &b->fields[e->first_field + k];
			put_slice(to, f->name);
			put_value(to, &f->value);
		}
		text_char(to, '\n');
	}
	cr_assert(!to->failed);
}
