#include <stdlib.h>

#include "dial9/dial9_state.h"

/*
 * dial9 traces ("dial9-trace-format Binary Specification", version 1, and what
 * crate 0.4 added): a header, then frames.  No frame has a length, so reading
 * ends where one cannot be understood.  A further header begins a new segment,
 * in which schemas, pools and the time base start afresh.
 */

int
d9_probe(struct slice head, bool whole)
{
	(void)whole;
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
	const struct slice name = input_name(st->r->in);

	/* another input of the same trace may have been newer */
	if (st->r->dialect == NULL ? trace->dialect != d9_dialects[D9_0_4] : st->strict)
		trace->dialect = d9_dialects[D9_0_3];
	else
		trace->dialect = d9_dialects[D9_0_4];
	trace->byte_order = "little";
	trace->clock = "monotonic";
	for (int i = 0; i < D9_STRUCTURES; i++)
		if ((st->structure[i] = trace_add_class(
		         trace, textscan_slice(names[i], (uint32_t)strlen(names[i])))) == NULL)
			return false;
	st->process = trace_add_process(trace, name);
	return st->process != NULL;
}

static bool
d9_open(struct reader *r)
{
	struct d9_state *const st = r->state;
	const struct d9_state *const asking = r->ahead_of;

	st->r = r;
	st->collects = asking != NULL ? asking->ahead : NULL;
	st->strict = r->dialect != NULL && strcmp(r->dialect, d9_dialects[D9_0_3]) == 0;
	st->seed = hash_seed();
	return set_up_trace(st);
}

static void
d9_close(struct reader *r)
{
	struct d9_state *const st = r->state;

	d9_schemas_free(&st->schemas);
	d9_pools_free(st);
	d9_ahead_drop(st);
}

/* ---- headers and resets ---- */

/* Nothing that was read, or read only in part, is a header. */
static enum d9_result
not_a_header(struct d9_state *st, const struct d9_frame *f, size_t n)
{
	struct quoted q;

	if (!st->begun) {
		d9_find(st, D9_RULE_BAD_MAGIC, f, "the first bytes are %s", quoted(&q, slice_of(f->p, n)));
		return D9_BAD;
	}
	const uint64_t offset = f->offset;
	const uint64_t unread = input_drain(st->r->in);
	st->r->unread = unread;
	finding_add(st->r->findings, &d9_rules[D9_RULE_UNKNOWN_TAG], offset, f->ordinal,
	            "tag 0x%02x: a newer reader is needed, %" PRIu64 " bytes from byte %" PRIu64
	            " on are not decoded",
	            f->tag, unread, offset);
	return D9_BAD;
}

static enum d9_result
new_segment(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	if (st->begun) {
		d9_newer(st, f, f->p, "a header in mid-stream");
		d9_pools_check(st);
		d9_pools_forget(st);
		d9_schemas_forget(&st->schemas);
	}
	st->begun = true;
	st->base = 0;
	st->segment++;
	const struct field version = { SLICE_LIT("version"), { .type = VALUE_U8, .u64 = D9_VERSION } };
	return d9_structure_add(st, D9_S_HEADER, f, b, &version, 1);
}

static enum d9_result
header(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	const size_t left = (size_t)(f->end - f->p);
	const size_t looked = left < D9_MAGIC_SIZE ? left : D9_MAGIC_SIZE;

	const bool differs = memcmp(f->p, D9_MAGIC, looked) != 0;
	if (differs && (looked == D9_MAGIC_SIZE || st->r->in->last))
		return not_a_header(st, f, looked);
	if (differs || left < D9_HEADER_SIZE) { /* all of the magic is wanted to show it */
		struct cursor c = cursor_on(f->p, f->end, false);
		cursor_take(&c, D9_MAGIC_SIZE, "magic");
		cursor_u8(&c, "version");
		return d9_lacks(st, &c);
	}
	if (f->p[4] != D9_VERSION) {
		d9_find_at(st, D9_RULE_BAD_VERSION, f, f->p + 4, "version %u, known is %d", (uint8_t)f->p[4],
		           D9_VERSION);
		return D9_BAD;
	}
	f->end = f->p + D9_HEADER_SIZE;
	return new_segment(st, f, b);
}

static enum d9_result
reset(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	struct cursor c = cursor_on(f->p, f->end, false);

	cursor_take(&c, 1, "tag");
	const uint64_t ts = cursor_u64(&c, "timestamp_ns");
	if (c.missing != NULL)
		return d9_lacks(st, &c);
	f->end = c.p;
	st->base = ts;
	const struct field field = { SLICE_LIT("timestamp_ns"), value_u64(ts) };
	return d9_structure_add(st, D9_S_RESET, f, b, &field, 1);
}

/* ---- one frame, or one entry of a pool ---- */

/* A whole frame that is no event and has no entries to come. */
static enum d9_result
counted(struct d9_state *st, const struct d9_frame *f, enum d9_structure which, enum d9_result result)
{
	if (result == D9_DONE) {
		st->records++;
		st->structure[which]->records++;
		st->last_offset = f->offset;
	}
	return result;
}

/* An entry of a pool, or a frame that has none: when it is the last one, the frame is whole. */
static enum d9_result
entry(struct d9_state *st, enum d9_structure which, enum d9_result result)
{
	if (result == D9_DONE) {
		st->records++;
		st->structure[which]->records++;
	}
	return result;
}

static enum d9_result
frame(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	if (!st->begun)
		return counted(st, f, D9_S_HEADER, header(st, f, b));
	switch (f->tag) {
	case D9_TAG_EVENT:
		return d9_event_frame(st, f, b);
	case D9_TAG_SCHEMA:
		return counted(st, f, D9_S_SCHEMA, d9_schema_frame(st, f, b));
	case D9_TAG_STRINGS:
		return entry(st, D9_S_STRINGS, d9_pool_head(st, f, b));
	case D9_TAG_STACKS:
		return entry(st, D9_S_STACKS, d9_pool_head(st, f, b));
	case D9_TAG_RESET:
		return counted(st, f, D9_S_RESET, reset(st, f, b));
	case D9_TAG_ANNOTATIONS:
		return entry(st, D9_S_ANNOTATIONS, d9_annotations_head(st, f, b));
	case D9_TAG_HEADER:
		return counted(st, f, D9_S_HEADER, header(st, f, b));
	default:
		return not_a_header(st, f, 1);
	}
}

/* The next entry of the frame that is open. */
static enum d9_result
next_entry(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	f->tag = st->open.tag;
	f->offset = st->open.offset;
	if (f->tag == D9_TAG_ANNOTATIONS)
		return entry(st, D9_S_ANNOTATIONS, d9_annotation(st, f, b));
	return entry(st, f->tag == D9_TAG_STRINGS ? D9_S_STRINGS : D9_S_STACKS, d9_pool_entry(st, f, b));
}

/* What stands at the start of the window.  D9_MORE: nothing happened, the window is too short. */
static enum d9_result
step(struct d9_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	const size_t window = (size_t)(in->end - in->p);
	struct d9_frame f = { .p = in->p,
		              .end = window > D9_MAX_FRAME ? in->p + D9_MAX_FRAME : in->end,
		              .tag = (uint8_t)*in->p };

	f.offset = f.at = input_offset(in, in->p);
	f.ordinal = st->records + 1;
	enum d9_result result = st->open.left > 0 ? next_entry(st, &f, b) : frame(st, &f, b);
	if (result == D9_DONE) {
		in->p = f.end;
		return result;
	}
	if (result == D9_MORE && window >= D9_MAX_FRAME)
		result = d9_skip(st, &f, b);
	else if (result == D9_MORE && !in->last)
		return D9_MORE;
	if (result == D9_MORE)
		result = d9_say_cut(st, &f);
	if (result == D9_BAD && st->r->unread == 0) {
		const uint64_t gone = input_offset(in, in->p) - f.at; /* by skipping */
		st->r->unread = gone + input_drain(in);
	}
	return result;
}

/* ---- checking at full speed ---- */

/* Plain events and resets, when nobody wants to see them; stops at anything else. */
static uint32_t
check_run(struct d9_state *st, uint32_t most)
{
	struct input *const in = st->r->in;
	const char *p = in->p, *last = NULL, *const end = in->end;
	uint64_t base = st->base, events = 0;
	uint32_t n = 0;

	for (; n < most && end - p >= D9_RESET_SIZE; n++) {
		if (*p == D9_TAG_EVENT) {
			const struct d9_schema *const s = d9_schema_of(st, load_u16(p + 1, false));
			if (s == NULL || s->ops == NULL || (size_t)(end - p) < s->need)
				break;
			const uint64_t ts = s->timed ? base + (load_u32(p + 2, false) >> 8) : base;
			const char *const next = d9_measure(st, s, p, end);
			if (next == NULL || ts < base)
				break;
			s->cls->records++;
			events++;
			base = ts;
			last = p;
			p = next;
		} else if (*p == D9_TAG_RESET) {
			base = load_u64(p + 1, false);
			last = p;
			p += D9_RESET_SIZE;
		} else {
			break;
		}
	}
	if (last == NULL)
		return 0;
	st->last_offset = input_offset(in, last);
	st->base = base;
	st->records += n;
	st->r->trace->events += events;
	st->structure[D9_S_RESET]->records += n - events;
	in->p = p;
	return n;
}

/* ---- the loop ---- */

/* The input ends where a frame may begin. */
static enum d9_result
end_of_input(struct d9_state *st)
{
	const struct d9_open_frame *const open = &st->open;
	const struct d9_frame f = { .offset = open->offset, .tag = open->tag, .ordinal = st->records };

	if (open->left == 0)
		return D9_DONE;
	d9_lacks_length(st, "count", open->count, (uint64_t)open->left * D9_ENTRY_HEAD, 0);
	return d9_say_cut(st, &f);
}

static void
tell_records(struct d9_state *st)
{
	st->r->records += st->records - st->told;
	st->told = st->records;
}

static enum read_status
finish(struct d9_state *st, enum read_status fill)
{
	tell_records(st);
	if (fill == READ_END)
		d9_pools_check(st);
	d9_say_tallies(st);
	return fill;
}

/* The batch holds enough, whatever the number of its events. */
static bool
is_full(const struct d9_state *st, const struct batch *b, uint64_t start)
{
	return input_offset(st->r->in, st->r->in->p) - start >= D9_NEXT_BYTES ||
	       b->nfields >= D9_NEXT_FIELDS || b->scratch.used >= D9_NEXT_BYTES ||
	       st->fill_pooled >= D9_NEXT_BYTES;
}

static enum read_status
d9_next(struct reader *r, struct batch *b)
{
	struct d9_state *const st = r->state;
	struct input *const in = r->in;
	const uint64_t start = input_offset(in, in->p);

	st->batch = b;
	st->fill_pooled = 0;
	if (!d9_pools_hold(st, b) || !d9_ahead_hold(st, b))
		return READ_NO_MEMORY;
	for (uint32_t left = b->cap; left > 0 && !is_full(st, b, start);) {
		if (in->p == in->end && (in->last || !input_more(in)))
			return finish(st, end_of_input(st) == D9_DONE ? READ_END : READ_BAD);
		if (r->want == WANT_FINDINGS && st->begun && st->open.left == 0) {
			left -= check_run(st, left);
			if (left == 0 || in->p == in->end)
				continue;
		}
		switch (step(st, b)) {
		case D9_DONE:
			left--;
			break;
		case D9_MORE:
			input_more(in);
			break;
		case D9_NO_MEMORY:
			return READ_NO_MEMORY;
		case D9_BAD:
			return finish(st, READ_BAD);
		}
	}
	tell_records(st);
	return READ_MORE;
}

const struct reader_ops d9_reader_ops = {
	.state_size = sizeof(struct d9_state),
	.probe = d9_probe,
	.open = d9_open,
	.next = d9_next,
	.close = d9_close,
};
