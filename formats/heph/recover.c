#include "heph/heph.h"

/* ---- search ---- */

/*
 * After damage: the next packet is where a magic constant stands with a size
 * that fits and, unless the input ends there, another magic constant behind it.
 * The search goes on over several batches, so that no more of the
 * input than usual is held at a time.
 */

void heph_search_begin(struct heph_state *st, enum heph_rule rule, const struct heph_packet *k,
                       const char *place, const char *from, const char *fmt, ...)
{
	struct heph_gap *const gap = &st->gap;
	va_list ap;

	*gap = (struct heph_gap){
		.open = true,
		.rule = rule,
		.offset = k->offset + (uint64_t)(place - k->p),
		.record = k->ordinal,
		/* nothing of the packet was retained, unless what was sound was */
		.from = k->fault != NULL ? k->offset + (uint64_t)(from - k->p) : k->offset,
	};
	va_start(ap, fmt);
	vsnprintf(gap->detail, sizeof gap->detail, fmt, ap);
	va_end(ap);
	st->r->in->p = from;
}

/* The first place in [p, end) where a magic constant stands, or one of which the end may be missing. */
static const char *next_magic(const char *p, const char *end)
{
	for (; end - p >= 4; p++)
		if ((*p == (char)0xC1 || *p == 0x75) && heph_packet_min(p, end) != 0)
			return p;
	return p;
}

/* Whether a packet may start at the start of the window, which holds 8 bytes at least. */
static bool is_plausible(struct input *in)
{
	const uint32_t size = load_u32(in->p + 4, true);

	if (heph_packet_min(in->p, in->end) == 0 || size > HEPH_MAX_PACKET)
		return false;
	input_need(in, (size_t)size + 4);
	return heph_is_packet(in->p, in->end, in->end);
}

/* Reports the gap, at whose end the window starts. */
static void close_gap(struct heph_state *st, bool found)
{
	struct reader *const r = st->r;
	struct heph_gap *const gap = &st->gap;
	const uint64_t at = input_offset(r->in, r->in->p), n = at - gap->from;
	char skipped[80] = "";

	gap->open = false;
	if (n > 0)
		snprintf(skipped, sizeof skipped, ", %" PRIu64 " byte%s from offset %" PRIu64 " on %s", n,
		         n == 1 ? "" : "s", gap->from, found ? "skipped" : "not read");
	if (found) {
		finding_add(r->findings, &heph_rules[gap->rule], gap->offset, gap->record,
		            "%s; the next packet is at offset %" PRIu64 "%s", gap->detail, at, skipped);
	} else {
		finding_add(r->findings, &heph_rules[gap->rule], gap->offset, gap->record,
		            "%s; no packet follows%s", gap->detail, skipped);
		r->unread = n;
	}
}

bool heph_search(struct heph_state *st)
{
	struct input *const in = st->r->in;
	size_t budget = HEPH_SEARCH_BYTES;

	for (;;) {
		const char *const start = in->p;
		const size_t there = (size_t)(in->end - start);
		in->p = next_magic(start, there > budget ? start + budget : in->end);
		budget -= (size_t)(in->p - start);
		if (budget < 4)
			return true; /* more next time */
		if (!input_need(in, HEPH_START)) {
			in->p = in->end;
			close_gap(st, false);
			return false;
		}
		if (is_plausible(in)) {
			close_gap(st, true);
			return true;
		}
		if (heph_packet_min(in->p, in->end) != 0) {
			in->p++;
			budget--;
		}
	}
}

/* ---- recover ---- */

/*
 * Packets whose content can be read to their end are kept, the others are
 * dropped; the reader finds the next packet.
 */

#define RECOVER_BYTES (1u << 20) /* of input, until the engine looks around */

static const char *const structure[] = {
	"heph/bad-magic",    "heph/packet-too-small", "heph/packet-too-large",
	"heph/cut-packet",   "heph/past-packet",      "heph/left-over",
	"heph/unknown-type", "heph/untyped-array",    NULL,
};

/* The size of a packet that reaches into the next one is repaired. */
static void repair_size(struct recovery *rc, const struct heph_packet *k)
{
	const uint32_t was = load_u32(k->p + 4, true), is = (uint32_t)(k->end - k->p);
	const char size[4] = { (char)(is >> 24), (char)(is >> 16), (char)(is >> 8), (char)is };

	recover_keep(rc, k->p + 4);
	recover_replace(rc, k->p + HEPH_START, size, sizeof size, &heph_rules[HEPH_RULE_PACKET_TOO_LARGE],
	                "size %" PRIu32 ", but the next packet starts after %" PRIu32 " bytes", was, is);
	recover_keep(rc, k->end);
	rc->records++;
}

/* A packet that is not as it should be. */
static void take_damaged(struct recovery *rc, const struct heph_packet *k)
{
	const struct heph_state *const st = rc->r->state;

	recover_keep(rc, k->p);
	if (!st->gap.open && k->fault == NULL)
		repair_size(rc, k);
	else
		recover_drop(rc, rc->r->in->p);
}

/* As many packets as the window holds, or as should be passed on at once.  false: the window is too short for
 * the next one. */
static bool read_packets(struct recovery *rc)
{
	struct heph_state *const st = rc->r->state;
	struct input *const in = rc->r->in;
	const char *const most = in->end - in->p > (ptrdiff_t)RECOVER_BYTES ? in->p + RECOVER_BYTES : in->end;
	bool ok = true;

	while (in->p < most && !st->gap.open && !st->no_memory) {
		struct heph_packet k;
		const uint64_t before = rc->r->records;
		if (heph_run_read(st, NULL, input_offset(in, most))) {
			rc->records += rc->r->records - before;
			continue;
		}
		ok = heph_read_packet(st, &k, NULL);
		if (!ok)
			break;
		if (st->no_memory)
			return true;
		if (!st->gap.open && k.fault == NULL && k.end - k.p == load_u32(k.p + 4, true))
			rc->records++;
		else
			take_damaged(rc, &k);
	}
	recover_keep(rc, in->p);
	return ok;
}

static enum read_status next(struct recovery *rc)
{
	struct heph_state *const st = rc->r->state;
	struct input *const in = rc->r->in;
	const uint64_t start = rc->at;

	while (rc->at - start < RECOVER_BYTES && !st->no_memory) {
		if (st->gap.open) {
			const bool more = heph_search(st);
			recover_drop(rc, in->p);
			if (!more)
				return READ_END;
		} else if (in->p == in->end && (in->last || !input_more(in))) {
			return READ_END;
		} else if (!read_packets(rc)) {
			input_more(in);
		}
	}
	return st->no_memory ? READ_NO_MEMORY : READ_MORE;
}

const struct recover_ops heph_recover_ops = {
	.structure = structure,
	.next = next,
};
