#include "heph/recover.h"

#include "heph/finding.h"
#include "heph/packet.h"
#include "heph/read.h"
#include "heph/run.h"
#include "heph/state.h"

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
static void
repair_size(struct recovery *rc, const struct heph_packet *k)
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
static void
take_damaged(struct recovery *rc, const struct heph_packet *k)
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
static bool
read_packets(struct recovery *rc)
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

static enum read_status
next(struct recovery *rc)
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
