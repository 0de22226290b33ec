#ifndef DFTRACER_BATCHES_TEST_H
#define DFTRACER_BATCHES_TEST_H

#include <inttypes.h>
#include <stdlib.h>

#include "dftracer/dftracer_test_util.h"
#include "event/batch_pool.h"
#include "event/trace_engine.h"
#include "format/format.h"
#include "output/text.h"

/* For tests: all batches of an input, alive at once, with the reader and its input closed already. */

#define BATCHES_MAX 20000

struct batches {
	struct trace trace;
	struct batch list[BATCHES_MAX];
	size_t n;
	struct text then; /* what they held while the reader was open, see batches_print() */
	uint64_t records;
};

extern const struct format dftracer_format;

static inline void
print_value(struct text *t, const struct value *v)
{
	text_printf(t, " %u:", v->type);
	if (v->type == VALUE_STRING || v->type == VALUE_JSON)
		text_slice(t, value_text(v));
	else if (v->type != VALUE_NONE)
		text_printf(t, "%" PRIx64, v->u64);
}

/* Every byte that can be reached from a batch. */
static inline void
batch_print(struct text *t, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		text_printf(t, "\n@%" PRIu64 " %u %" PRIu64 " %" PRIu64 " ", e->offset, e->phase, e->ts,
		            e->dur);
		text_slice(t, e->name);
		text_char(t, '/');
		text_slice(t, e->cls->name);
		text_slice(t, e->cls->category);
		for (const struct track *k = e->track; k != NULL; k = k->parent)
			text_slice(t, k->name);
		for (uint32_t k = 0; k < e->nfields; k++) {
			text_char(t, ' ');
			text_slice(t, b->fields[e->first_field + k].name);
			print_value(t, &b->fields[e->first_field + k].value);
		}
		if (b->bytes != NULL)
			text_slice(t, b->bytes[i]);
	}
}

/* All of them as they are now; to be freed. */
static inline struct text
batches_print(const struct batches *k)
{
	struct text t = { .p = NULL };

	for (size_t i = 0; i < k->n; i++)
		batch_print(&t, &k->list[i]);
	cr_assert(!t.failed);
	return t;
}

/* Reads all of `in`, which is closed; cap: events of a batch. */
static inline void
batches_read(struct batches *k, struct input *in, unsigned want, uint32_t cap)
{
	const struct reader_ops *const ops = dftracer_format.reader;
	struct reader r = { .format = &dftracer_format, .in = in, .trace = &k->trace, .want = want };
	enum read_status status = READ_MORE;

	*k = (struct batches){ .n = 0 };
	trace_init(&k->trace);
	r.shared = calloc(1, dftracer_format.trace->shared_size);
	r.state = calloc(1, ops->state_size);
	cr_assert(in != NULL && r.shared != NULL && r.state != NULL && ops->open(&r));
	while (status == READ_MORE) {
		struct batch *const b = &k->list[k->n++];
		cr_assert(k->n < BATCHES_MAX && batch_init(b, cap, (want & WANT_BYTES) != 0));
		input_hold(in, &b->holds);
		status = ops->next(&r, b);
		batch_print(&k->then, b);
	}
	cr_assert_eq(status, READ_END);
	k->records = r.records;
	ops->close(&r);
	free(r.state);
	dftracer_format.trace->close(r.shared);
	free(r.shared);
	input_hold(in, NULL);
	input_close(in);
}

static inline void
batches_free(struct batches *k)
{
	for (size_t i = 0; i < k->n; i++)
		batch_free(&k->list[i]);
	text_free(&k->then);
	trace_free(&k->trace);
}

/* ---- inputs ---- */

/* The bytes of a file, unpacked; NULL: there is none. */
static inline char *
read_unpacked(const char *path, size_t *n)
{
	struct input *const in = input_open(path);
	char *p = NULL;

	cr_assert_not_null(in);
	if (in->fault == INPUT_OK) {
		while (!in->last)
			input_more(in);
		*n = (size_t)(in->end - in->p);
		p = malloc(*n + 1);
		cr_assert_not_null(p);
		memcpy(p, in->p, *n);
		p[*n] = '\0';
	}
	input_close(in);
	return p;
}

#endif
