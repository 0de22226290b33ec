#include "dial9/read.h"

#include <stdlib.h>

#include "dial9/dialect.h"
#include "dial9/state.h"
#include "dial9/vocabulary.h"

/*
 * dial9 traces ("dial9-trace-format Binary Specification", version 1, and what
 * crate 0.4 added): a header, then frames.  No frame has a length, so reading
 * ends where one cannot be understood.  A further header begins a new segment,
 * in which schemas, pools and the time base are reset.
 */

static int
d9_probe(struct slice head, bool complete)
{
	(void)complete;
	if (head.n >= D9_OLDER_MAGIC_SIZE && memcmp(head.p, D9_OLDER_MAGIC, D9_OLDER_MAGIC_SIZE) == 0)
		return 64; /* to say so */
	if (head.n < D9_MAGIC_SIZE || memcmp(head.p, D9_MAGIC, D9_MAGIC_SIZE) != 0)
		return 0;
	return head.n >= D9_HEADER_SIZE && head.p[4] == D9_VERSION ? 40 : 32;
}

/* ---- opening ---- */

static bool
set_up_trace(struct d9_state *st)
{
	static const char *const names[D9_STRUCTURES] = {
		"Header", "Schema", "StringPool", "StackPool", "TimestampReset", "SchemaAnnotations"
	};
	struct trace *const trace = st->r->trace;

	trace->byte_order = "little";
	trace->clock = "monotonic";
	for (int i = 0; i < D9_STRUCTURES; i++)
		if ((st->structure[i] = trace_add_class(
		         trace, textscan_slice(names[i], (uint32_t)strlen(names[i])))) == NULL)
			return false;
	return true;
}

static bool
d9_open(struct reader *r)
{
	struct d9_state *const st = r->state;
	const struct d9_state *const asking = r->ahead_of;

	st->r = r;
	st->collects = asking != NULL ? asking->ahead : NULL;
	st->seed = hash_seed();
	d9_dialect_begin(st);
	return set_up_trace(st);
}

static void
d9_close(struct reader *r)
{
	struct d9_state *const st = r->state;

	if (st->collects == NULL)
		d9_schemas_declare(st);
	d9_schemas_free(&st->schemas);
	d9_pools_free(st);
	d9_ahead_drop(st);
	free(st->tracks);
}

const struct reader_ops d9_reader_ops = {
	.state_size = sizeof(struct d9_state),
	.probe = d9_probe,
	.open = d9_open,
	.next = d9_frames_next,
	.close = d9_close,
};
