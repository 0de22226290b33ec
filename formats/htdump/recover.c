#include "htdump/htdump.h"

/*
 * Records have no lengths and no marks: behind one that cannot be read, the
 * next is known only where a trace begins that was appended to the first.
 */

#define HEAD_BYTES 65536U /* that readers find the layout by */

struct search {
	bool on;
	bool content; /* a record was kept that states more than a byte order */
	bool settled; /* the layout is found by what was kept */
	size_t held;  /* bytes of whole records before the window, until that is so */
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

/* Drops bytes up to the start of a trace, or of what the window holds.  false: the input ends. */
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
	const char *const most = end - in->p > HT_NEXT_BYTES ? in->p + HT_NEXT_BYTES : end;
	while (in->p < most && !ht_probe_start(in->p, in->end, st->wire))
		in->p++;
	s->on = in->p == most;
	recover_drop(rc, in->p);
	return true;
}

/* A byte order was stated, by the byte before the window.  One that is none is repaired: which one the
 * records behind it have, only these show, and some of them may go. */
static void keep_order(struct recovery *rc)
{
	const struct ht_state *const st = rc->r->state;
	const char *const to = rc->r->in->p, order = st->big ? 1 : 0;

	if ((uint8_t)to[-1] <= 1)
		return;
	((struct search *)rc->state)->settled = true;
	recover_keep(rc, to - 1);
	recover_replace(rc, to, &order, 1, &ht_rules[HT_RULE_BAD_BYTE_ORDER],
	                "endianness %u; the records behind it are in %s order", (uint8_t)to[-1],
	                st->big ? "big-endian" : "little-endian");
}

/* As many whole records as the window holds, or as should be passed on at once. */
static enum ht_outcome read_records(struct recovery *rc)
{
	struct ht_state *const st = rc->r->state;
	struct search *const s = rc->state;
	struct input *const in = rc->r->in;
	const char *const most = in->end - in->p > HT_NEXT_BYTES ? in->p + HT_NEXT_BYTES : in->end;
	const size_t class_at = st->wire ? 0 : HT_HEAD_SIZE - 4;
	enum ht_outcome outcome = HT_DONE;

	while (in->p < most && outcome == HT_DONE && !st->no_memory && !st->ids.failed) {
		const uint64_t before = rc->r->records;
		ht_read_fast(st, (size_t)(most - in->p));
		rc->records += rc->r->records - before;
		s->content |= rc->r->records > before;
		if (in->p >= most || st->ids.failed)
			break;
		const char *const from = in->p;
		outcome = ht_read_record(st, NULL);
		if (outcome != HT_DONE)
			break;
		rc->records++;
		if (load_u32(from + class_at, false) == HT_CLASS_ENDIANNESS)
			keep_order(rc);
		else
			s->content = true;
	}
	return outcome;
}

/* Keeps what was read.  The first records show readers the layout: cut short, they may show another one, or
 * none, and are no more than bytes that happen to look like records. */
static void keep(struct recovery *rc, enum ht_outcome outcome)
{
	const struct ht_state *const st = rc->r->state;
	struct search *const s = rc->state;
	struct input *const in = rc->r->in;
	bool wire, big;

	if (!s->settled) {
		s->held = (size_t)(input_offset(in, in->p) - rc->at);
		s->settled = s->held >= HEAD_BYTES || (in->p == in->end && in->last);
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

/* The window keeps what is held. */
static bool read_more(struct recovery *rc)
{
	struct search *const s = rc->state;
	struct input *const in = rc->r->in;
	const size_t held = s->held, had = (size_t)(in->end - in->p);

	in->p -= held;
	ht_read_more(rc->r->state);
	in->p += held;
	return (size_t)(in->end - in->p) > had;
}

/* A layout that nothing but lost bytes has shown is not known any more. */
static enum read_status finish(struct recovery *rc)
{
	const struct search *const s = rc->state;

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
			keep(rc, HT_DONE);
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
		keep(rc, outcome);
		if (outcome == HT_MORE)
			read_more(rc);
		if (outcome == HT_BAD) { /* the start that was just found may be none */
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
