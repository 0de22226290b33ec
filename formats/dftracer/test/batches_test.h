#ifndef DFTRACER_BATCHES_TEST_H
#define DFTRACER_BATCHES_TEST_H

#include <inttypes.h>
#include <stdlib.h>

#include "dftracer/test/cli_test_util.h"
#include "model/trace_engine.h"
#include "format/registry.h"
#include "test/fuzz/live_batches.h"
#include "output/text.h"

/* For tests: the contents of batches as text. */

static inline void print_value(struct text *t, const struct value *v)
{
	text_printf(t, " %u:", v->type);
	if (v->type == VALUE_STRING || v->type == VALUE_JSON)
		text_slice(t, value_text(v));
	else if (v->type != VALUE_NONE)
		text_printf(t, "%" PRIx64, v->u64);
}

/* Prints every byte that is reachable from a batch. */
static inline void batch_print(struct text *t, const struct batch *b)
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

/* Prints all batches; the caller frees the text. */
static inline struct text batches_print(const struct live_batches *l)
{
	struct text t = { .p = NULL };

	for (size_t i = 0; i < l->n; i++)
		batch_print(&t, l->batches[i]);
	cr_assert(!t.failed);
	return t;
}

#endif
