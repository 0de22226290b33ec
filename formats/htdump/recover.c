/*
 * Keeps the whole records of a damaged dump.  Records have no length and no mark, so after an unreadable one
 * only the start of a concatenated trace can be found.
 *
 * The output must show the layout of the input: its first records are held until they are enough for that
 * (64 KiB, the window keeps them) or the input is damaged.
 */
#include "htdump/htdump.h"

struct search {
	bool on;
	bool content; /* a record other than an EndiannessInfoEvent was kept */
	bool settled; /* readers of the output find the layout from the records that were kept */
	size_t held;  /* before that: bytes of whole records before the window, not kept yet */
};

static const char *const structure[] = {
	"htdump/cut-record",
	"htdump/unknown-class",
	"htdump/struct-unknown",
	"htdump/string-unterminated",
	"htdump/struct-recursion",
	"htdump/bad-byte-order",
	NULL,
};

/* Drops bytes up to the start of a trace or to the end of the window.  Returns false at the end of the input.
 */
static bool search(struct recovery *rc)
{
	const struct ht_state *const st = rc->r->state;
	struct search *const s = rc->state;
	struct input *const in = rc->r->in;

	if (!input_need(in, HT_START_SIZE + HT_START_NAME) && in->end - in->p < HT_START_SIZE) {
		in->p = in->end;
		recover_drop(rc, in->p);
		return false;
	}
	const char *const end = in->end - HT_START_SIZE - (in->last ? 0 : HT_START_NAME) + 1;
	const char *const limit = end - in->p > HT_NEXT_BYTES ? in->p + HT_NEXT_BYTES : end;
	while (in->p < limit && !ht_probe_start(in->p, in->end, st->wire))
		in->p++;
	s->on = in->p == limit;
	recover_drop(rc, in->p);
	return true;
}

/* Repairs the byte order that the last byte before the window states.  An invalid one is rewritten to the
 * order in which the following records parse: those may be dropped, and a reader of the output could not
 * guess any more. */
static void repair_byte_order(struct recovery *rc)
{
	const struct ht_state *const st = rc->r->state;
	const char *const to = rc->r->in->p, order = st->big ? 1 : 0;

	if ((uint8_t)to[-1] <= 1)
		return;
	((struct search *)rc->state)->settled = true;
	recover_keep(rc, to - 1);
	recover_replace(rc, to, &order, 1, &ht_rules[HT_RULE_BAD_BYTE_ORDER],
	                "endianness %u; the records after it are in %s order", (uint8_t)to[-1],
	                st->big ? "big-endian" : "little-endian");
}

/* Reads whole records until the window, or HT_NEXT_BYTES, ends. */
static enum ht_outcome read_records(struct recovery *rc)
{
	struct ht_state *const st = rc->r->state;
	struct search *const s = rc->state;
	struct input *const in = rc->r->in;
	const char *const limit = in->end - in->p > HT_NEXT_BYTES ? in->p + HT_NEXT_BYTES : in->end;
	enum ht_outcome outcome = HT_DONE;

	while (in->p < limit && outcome == HT_DONE && !st->no_memory && !st->ids.failed) {
		const uint64_t before = rc->r->records;
		ht_read_fast(st, (size_t)(limit - in->p));
		rc->records += rc->r->records - before;
		s->content |= rc->r->records > before;
		if (in->p >= limit || st->ids.failed)
			break;
		const char *const from = in->p;
		outcome = ht_read_record(st, NULL);
		if (outcome != HT_DONE)
			break;
		rc->records++;
		if (load_u32(from + ht_class_id_at(st->wire), false) == HT_CLASS_ENDIANNESS)
			repair_byte_order(rc);
		else
			s->content = true;
	}
	return outcome;
}

/* Keeps the records that were read.  Readers find the layout in the first 64 KiB of the output, so these are
 * held until they are complete.  Cut short, they may show the other layout, or none: then they are bytes that
 * happen to look like records, and are dropped. */
static void keep_records(struct recovery *rc, enum ht_outcome outcome)
{
	const struct ht_state *const st = rc->r->state;
	struct search *const s = rc->state;
	struct input *const in = rc->r->in;
	bool wire, big;

	if (!s->settled) {
		s->held = (size_t)(input_offset(in, in->p) - rc->at);
		s->settled = s->held >= HT_PROBE_BYTES || (in->p == in->end && in->last);
		if (!s->settled && outcome != HT_BAD)
			return;
		ht_probe_layout(slice_of(in->p - s->held, s->held), true, &wire, &big);
		if (!s->settled && s->held > 0 && wire != st->wire) {
			rc->records = 0;
			s->content = false;
			recover_drop(rc, in->p);
		}
		s->settled |= s->held > 0 && wire == st->wire;
		s->held = 0;
	}
	recover_keep(rc, in->p);
}

/* Grows the window, which keeps the held bytes before its start.  Returns false if the input ends. */
static bool read_more(struct recovery *rc)
{
	struct search *const s = rc->state;
	struct input *const in = rc->r->in;
	const size_t held = s->held, before = (size_t)(in->end - in->p);

	in->p -= held;
	ht_read_more(rc->r->state);
	in->p += held;
	return (size_t)(in->end - in->p) > before;
}

static enum read_status finish(struct recovery *rc)
{
	const struct search *const s = rc->state;

	/* Only EndiannessInfoEvents were kept.  They fit both layouts, and the bytes that showed which one
	 * were dropped. */
	if (!s->content && rc->dropped + rc->gap.length > 0)
		rc->records = 0;
	return READ_END;
}

static enum read_status next(struct recovery *rc)
{
	struct ht_state *const st = rc->r->state;
	struct search *const s = rc->state;
	struct input *const in = rc->r->in;
	const uint64_t start = rc->at;

	while (rc->at - start < HT_NEXT_BYTES) {
		if (in->p == in->end && (in->last || !read_more(rc))) {
			keep_records(rc, HT_DONE);
			return finish(rc);
		}
		if (s->on) {
			if (!search(rc))
				return finish(rc);
			continue;
		}
		const enum ht_outcome outcome = read_records(rc);
		if (st->no_memory || st->ids.failed)
			return READ_NO_MEMORY;
		keep_records(rc, outcome);
		if (outcome == HT_MORE)
			read_more(rc);
		if (outcome == HT_BAD) { /* skip one byte: the start just found may be false */
			s->on = true;
			recover_drop(rc, ++in->p);
		}
	}
	return READ_MORE;
}

const struct recover_ops ht_recover_ops = {
	.state_size = sizeof(struct search),
	.structure = structure,
	.next = next,
};
