#include "dial9/frame.h"

#include "dial9/dialect.h"
#include "dial9/made.h"
#include "dial9/measure.h"
#include "dial9/record.h"

/* Which frame, or entry of one, stands at the start of the window; headers and resets. */

/* ---- headers and resets ---- */

/* Whether the first bytes are the magic of the format before this one, as far as they are there. */
static bool
is_older(const struct d9_frame *f, size_t left)
{
	const size_t n = left < D9_OLDER_MAGIC_SIZE ? left : D9_OLDER_MAGIC_SIZE;

	return memcmp(f->p, D9_OLDER_MAGIC, n) == 0;
}

/* What stands here is no header, and no other frame. */
static enum d9_result
not_a_header(struct d9_state *st, const struct d9_frame *f, size_t n)
{
	const size_t left = (size_t)(f->end - f->p);
	struct quoted q;

	if (!st->begun && is_older(f, left) && left < D9_OLDER_MAGIC_SIZE && !st->r->in->last)
		return D9_MORE;
	if (!st->begun && is_older(f, left) && left >= D9_OLDER_MAGIC_SIZE) {
		d9_find(st, D9_RULE_OLDER_FORMAT, f,
		        "the first bytes are " D9_OLDER_MAGIC ", which dial9-tokio-telemetry wrote before "
		        "release 0.2.0; record again with that release or a later one");
		return D9_BAD;
	}
	if (!st->begun) {
		d9_find(st, D9_RULE_BAD_MAGIC, f, "the first bytes are %s", quoted(&q, slice_of(f->p, n)));
		return D9_BAD;
	}
	if (st->resumes) {
		d9_find(st, D9_RULE_UNKNOWN_TAG, f, "tag 0x%02x starts no frame that is known", f->tag);
		return D9_BAD;
	}
	st->r->unread = input_drain(st->r->in);
	d9_find(st, D9_RULE_UNKNOWN_TAG, f,
	        "tag 0x%02x: a newer reader is needed, %" PRIu64 " bytes from byte %" PRIu64
	        " on are not read",
	        f->tag, st->r->unread, f->offset);
	return D9_BAD;
}

static void
begin_segment(struct d9_state *st, const struct d9_frame *f)
{
	if (st->begun) {
		d9_newer(st, f, f->p, "a header in mid-stream");
		d9_pools_check(st);
		d9_pools_forget(st);
		d9_schemas_forget(&st->schemas);
		st->ntracks = 0;
	}
	st->begun = true;
	st->base = 0;
	st->segment++;
}

static enum d9_result
header(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	const struct field version = { SLICE_LIT("version"), { .type = VALUE_U8, .u64 = D9_VERSION } };
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
	begin_segment(st, f);
	d9_record_structure(st, D9_S_HEADER, f, b, &version, 1);
	d9_count_frame(st, D9_S_HEADER, f);
	return D9_DONE;
}

static enum d9_result
reset(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	struct cursor c = cursor_on(f->p, f->end, false);

	cursor_take(&c, 1, "tag");
	const uint64_t ts = cursor_u64(&c, "timestamp_ns");
	if (c.missing != NULL)
		return d9_lacks(st, &c);
	const struct field field = { SLICE_LIT("timestamp_ns"), value_u64(ts) };
	f->end = c.p;
	st->base = ts;
	d9_record_structure(st, D9_S_RESET, f, b, &field, 1);
	d9_count_frame(st, D9_S_RESET, f);
	return D9_DONE;
}

/* ---- one frame, or one entry of a pool ---- */

static enum d9_result
counted_entry(struct d9_state *st, enum d9_result result)
{
	if (result == D9_DONE)
		d9_count_entry(st);
	return result;
}

static enum d9_result
frame(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	if (!st->begun)
		return header(st, f, b);
	switch (f->tag) {
	case D9_TAG_EVENT:
		return d9_event_frame(st, f, b);
	case D9_TAG_SCHEMA:
		return d9_schema_frame(st, f, b);
	case D9_TAG_STRINGS:
	case D9_TAG_STACKS:
		return counted_entry(st, d9_pool_head(st, f, b));
	case D9_TAG_RESET:
		return reset(st, f, b);
	case D9_TAG_ANNOTATIONS:
		return counted_entry(st, d9_annotations_head(st, f, b));
	case D9_TAG_HEADER:
		return header(st, f, b);
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
	return counted_entry(st, f->tag == D9_TAG_ANNOTATIONS ? d9_annotation(st, f, b)
	                                                      : d9_pool_entry(st, f, b));
}

/* ---- what is larger than this program holds ---- */

static enum d9_result
skip_tag(struct d9_state *st, const struct d9_frame *f)
{
	switch (f->tag) {
	case D9_TAG_EVENT:
		return d9_event_skip(st, f);
	case D9_TAG_ANNOTATIONS:
		return counted_entry(st, d9_annotation_skip(st));
	default:
		return counted_entry(st, d9_pool_skip(st, f));
	}
}

/* Legal, and so walked over, reported and dropped.  Unlike all else, nothing here starts over: what was
 * looked at is gone from the window. */
static enum d9_result
skip(struct d9_state *st, const struct d9_frame *f, struct batch *b)
{
	struct input *const in = st->r->in;

	if (st->resumes ||
	    (st->open.left == 0 && (f->tag == D9_TAG_SCHEMA || f->tag == D9_TAG_ANNOTATIONS))) {
		d9_find(st, D9_RULE_LIMIT, f, "the frame is longer than %u bytes", D9_MAX_FRAME);
		return D9_BAD;
	}
	input_hold(in, NULL); /* nothing will point into it */
	const enum d9_result result = skip_tag(st, f);
	input_hold(in, &b->holds);
	if (result == D9_DONE)
		finding_add(st->r->findings, &d9_rules[D9_RULE_LIMIT], f->at, f->ordinal,
		            "%" PRIu64 " bytes dropped: the limit is %u", input_offset(in, in->p) - f->at,
		            D9_MAX_FRAME);
	return result;
}

enum d9_result
d9_next_frame(struct d9_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	const size_t window = (size_t)(in->end - in->p);
	struct d9_frame f = { .p = in->p,
		              .end = window > D9_MAX_FRAME ? in->p + D9_MAX_FRAME : in->end,
		              .tag = (uint8_t)*in->p };

	f.offset = f.at = input_offset(in, in->p);
	f.ordinal = st->r->records + 1;
	enum d9_result result = st->open.left > 0 ? next_entry(st, &f, b) : frame(st, &f, b);
	if (result == D9_DONE) {
		in->p = f.end;
		return result;
	}
	if (result == D9_MORE && window >= D9_MAX_FRAME) {
		result = skip(st, &f, b);
		if (result == D9_DONE)
			return result;
	} else if (result == D9_MORE && !in->last) {
		return D9_MORE;
	}
	if (result == D9_MORE)
		result = d9_report_cut(st, &f);
	if (st->r->unread == 0 && !st->resumes) {
		const uint64_t gone = input_offset(in, in->p) - f.at; /* by skipping */
		st->r->unread = gone + input_drain(in);
	}
	return result;
}

/* ---- the loop ---- */

/* The input ends where a frame may begin. */
static enum d9_result
end_of_input(struct d9_state *st)
{
	const struct d9_open_frame *const open = &st->open;
	const struct d9_frame f = { .offset = open->offset, .tag = open->tag, .ordinal = st->r->records };

	if (open->left == 0)
		return D9_DONE;
	st->lack = (struct d9_lack){ .what = "count",
		                     .bytes = (uint64_t)open->left * D9_ENTRY_HEAD,
		                     .length = open->count,
		                     .has_length = true };
	return d9_report_cut(st, &f);
}

static enum read_status
finish(struct d9_state *st, enum d9_result result)
{
	if (result == D9_DONE)
		d9_pools_check(st);
	if (st->tracks_made == 0)
		(void)d9_process(st);
	d9_report_tallies(st);
	return result == D9_DONE ? READ_END : READ_BAD;
}

/* The batch holds enough, whatever the number of its events. */
static bool
is_full(const struct d9_state *st, const struct batch *b, uint64_t start)
{
	return input_offset(st->r->in, st->r->in->p) - start >= D9_NEXT_BYTES ||
	       b->nfields >= D9_NEXT_FIELDS || b->scratch.used >= D9_NEXT_BYTES ||
	       st->batch_pooled >= D9_NEXT_BYTES;
}

static void
begin_batch(struct d9_state *st, struct batch *b)
{
	st->batch = b;
	st->batch_pooled = 0;
	d9_pools_hold(st, b);
	d9_ahead_hold(st, b);
}

enum read_status
d9_frames_next(struct reader *r, struct batch *b)
{
	struct d9_state *const st = r->state;
	struct input *const in = r->in;
	const uint64_t start = input_offset(in, in->p);
	const bool runs = (r->want & WANT_RUNS) != 0;
	enum d9_result result = D9_DONE;

	begin_batch(st, b);
	for (uint32_t left = b->cap; left > 0 && !st->no_memory && !is_full(st, b, start);) {
		if (in->p == in->end && (in->last || !input_more(in)))
			return finish(st, end_of_input(st));
		if ((runs || r->want == WANT_FINDINGS) && st->begun && st->open.left == 0) {
			left -= runs ? d9_record_run(st, b) : d9_check_run(st, left);
			if (left == 0 || in->p == in->end)
				continue;
		}
		result = d9_next_frame(st, b);
		if (result == D9_MORE)
			input_more(in);
		else
			left--;
		if (result == D9_BAD && !st->no_memory)
			return finish(st, D9_BAD);
	}
	return st->no_memory ? READ_NO_MEMORY : READ_MORE;
}
