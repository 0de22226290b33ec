#include "dial9/dialect.h"
#include "dial9/record.h"

/*
 * Pool frames: a count, then entries.  A frame may be larger than memory, so
 * its entries are read one by one; st->open says how many are still to come.
 * Each entry is a record of its own; the first one carries the frame's head.
 */

struct entry {
	uint32_t id;
	struct slice data; /* p NULL: there is none, or it came in pieces */
};

static bool
take_head(struct d9_bytes *b, struct d9_open_frame *head)
{
	if (d9_bytes_take(b, 1, "tag") == NULL || !d9_bytes_u32(b, &head->count, "count"))
		return false;
	head->left = head->count;
	return true;
}

static bool
take_entry(struct d9_bytes *b, bool strings, struct entry *e)
{
	const char *const what = strings ? "data_len" : "frame_count", *p;
	const uint32_t size = strings ? 1 : 8;
	uint32_t n;

	if (!d9_bytes_u32(b, &e->id, "pool_id") || !d9_bytes_u32(b, &n, what) ||
	    !d9_bytes_run(b, n, size, what, &p))
		return false;
	if (p != NULL)
		e->data = strings ? textscan_slice(p, n) : slice_of(p, (size_t)n * size);
	return true;
}

/* The entry that is there if the frame has any; `first`: with the frame's head. */
static void
show(struct d9_state *st, const struct d9_frame *f, struct batch *b, const struct entry *e, bool first)
{
	const bool strings = st->open.tag == D9_TAG_STRINGS;
	const struct slice data = e->data;
	struct field fields[3];
	uint32_t n = 0, cost;

	if (!d9_wants_structure(st))
		return;
	if (first)
		fields[n++] =
		    (struct field){ SLICE_LIT("count"), { .type = VALUE_U32, .u64 = st->open.count } };
	if (st->open.count > 0)
		fields[n++] = (struct field){ SLICE_LIT("pool_id"), { .type = VALUE_U32, .u64 = e->id } };
	if (st->open.count > 0 && strings)
		fields[n++] = (struct field){ SLICE_LIT("data"), value_string(data) };
	if (st->open.count > 0 && !strings) {
		struct value v = { .type = VALUE_LIST, .count = data.n / 8 };
		v.values = d9_stack_values(st, false, &b->scratch, data.p, v.count, &cost, &v.element);
		fields[n++] = (struct field){ SLICE_LIT("frames"), v };
	}
	d9_record_structure(st, strings ? D9_S_STRINGS : D9_S_STACKS, f, b, fields, n);
}

static void
define(struct d9_state *st, const struct d9_frame *f, const struct entry *e)
{
	const bool strings = st->open.tag == D9_TAG_STRINGS;

	if (strings && (e->data.flags & SLICE_UTF8) == 0)
		d9_check_text(st, f, e->data, "pool data", (struct slice){ NULL, 0, 0 });
	d9_pool_define(st, strings ? D9_STRINGS : D9_STACKS, e->id, e->data, f);
}

enum d9_result
d9_pool_head(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	struct d9_bytes bytes = d9_bytes_of(st, f);
	struct d9_open_frame head = { .tag = f->tag, .offset = f->offset };
	struct entry e = { .id = 0 };

	if (!take_head(&bytes, &head) ||
	    (head.count > 0 && !take_entry(&bytes, f->tag == D9_TAG_STRINGS, &e)))
		return D9_MORE;
	f->end = bytes.p;
	st->open = head;
	if (head.count > 0)
		define(st, f, &e);
	show(st, f, b, &e, true);
	if (f->tag == D9_TAG_STACKS)
		d9_newer(st, f, f->p, "stack pool frame 0x04");
	return D9_DONE;
}

enum d9_result
d9_pool_entry(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	struct d9_bytes bytes = d9_bytes_of(st, f);
	struct entry e = { .id = 0 };

	if (!take_entry(&bytes, f->tag == D9_TAG_STRINGS, &e))
		return D9_MORE;
	f->end = bytes.p;
	define(st, f, &e);
	show(st, f, b, &e, false);
	return D9_DONE;
}

enum d9_result
d9_pool_skip(struct d9_state *st, const struct d9_frame *f)
{
	struct d9_bytes bytes = d9_bytes_pieces(st);
	struct d9_open_frame head = { .tag = f->tag, .offset = f->offset };
	const bool first = st->open.left == 0;
	struct entry e = { .id = 0 };

	const bool ok =
	    (!first || take_head(&bytes, &head)) && take_entry(&bytes, f->tag == D9_TAG_STRINGS, &e);
	st->r->in->p = bytes.p;
	if (!ok)
		return D9_MORE;
	if (first)
		st->open = head;
	st->pools_full = true; /* its id is defined, and not retained */
	d9_tally(&st->tallies.pool_limit, f, e.id);
	return D9_DONE;
}
