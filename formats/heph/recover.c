/*
 * Continues after damage.  The next packet starts at a magic constant with a size that fits, after which
 * another magic constant follows or the input ends.  The search spans several batches, so that no more of the
 * input than usual is in memory.
 *
 * Recovery keeps the packets whose content can be read to their end, and drops the others.
 */
#include "heph/heph.h"

#define SEARCH_BYTES (1U << 20) /* searched in one call */

/* ---- search ---- */

void heph_search_begin(struct heph_state *st, enum heph_rule rule, const struct heph_packet *k,
                       const char *at, const char *from, const char *fmt, ...)
{
	struct heph_search *const search = &st->search;
	va_list ap;

	*search = (struct heph_search){
		.open = true,
		.rule = rule,
		.offset = k->offset + (uint64_t)(at - k->p),
		.record = k->ordinal,
		/* the packet was retained up to its fault, or not at all */
		.from = k->fault != NULL ? k->offset + (uint64_t)(from - k->p) : k->offset,
	};
	va_start(ap, fmt);
	vsnprintf(search->detail, sizeof search->detail, fmt, ap);
	va_end(ap);
	st->r->in->p = from;
}

/* Returns the first magic constant in [p, end), or the last 3 bytes, which may start one. */
static const char *find_magic(const char *p, const char *end)
{
	for (; end - p >= 4; p++)
		if ((*p == (char)0xC1 || *p == 0x75) && heph_packet_min(p, end) != 0)
			return p;
	return p;
}

/* Returns true if the window, of at least 8 bytes, starts with a packet. */
static bool starts_packet(struct input *in)
{
	const uint32_t size = load_u32(in->p + 4, true);

	if (heph_packet_min(in->p, in->end) == 0 || size > HEPH_MAX_PACKET)
		return false;
	input_need(in, (size_t)size + 4);
	return heph_is_packet(in->p, in->end, in->end);
}

/* Ends the search at the start of the window, and reports the finding. */
static void end_search(struct heph_state *st, bool found)
{
	struct reader *const r = st->r;
	struct heph_search *const search = &st->search;
	const uint64_t at = input_offset(r->in, r->in->p), n = at - search->from;
	char skipped[80] = "";

	search->open = false;
	if (n > 0)
		snprintf(skipped, sizeof skipped, ", %" PRIu64 " byte%s from offset %" PRIu64 " on %s", n,
		         n == 1 ? "" : "s", search->from, found ? "skipped" : "not read");
	if (found) {
		finding_add(r->findings, &heph_rules[search->rule], search->offset, search->record,
		            "%s; the next packet is at offset %" PRIu64 "%s", search->detail, at, skipped);
	} else {
		finding_add(r->findings, &heph_rules[search->rule], search->offset, search->record,
		            "%s; no packet follows%s", search->detail, skipped);
		r->unread = n;
	}
}

bool heph_search_next(struct heph_state *st)
{
	struct input *const in = st->r->in;
	size_t budget = SEARCH_BYTES;

	for (;;) {
		const char *const start = in->p;
		const size_t left = (size_t)(in->end - start);
		in->p = find_magic(start, left > budget ? start + budget : in->end);
		budget -= (size_t)(in->p - start);
		if (budget < 4)
			return true;
		if (!input_need(in, HEPH_START)) {
			in->p = in->end;
			end_search(st, false);
			return false;
		}
		if (starts_packet(in)) {
			end_search(st, true);
			return true;
		}
		if (heph_packet_min(in->p, in->end) != 0) {
			in->p++;
			budget--;
		}
	}
}

/* ---- recovery ---- */

#define RECOVER_BYTES (1u << 20) /* of input in one call */

static const char *const structure[] = {
	"heph/bad-magic",    "heph/packet-too-small", "heph/packet-too-large",
	"heph/cut-packet",   "heph/past-packet",      "heph/left-over",
	"heph/unknown-type", "heph/untyped-array",    NULL,
};

/* Repairs the size of a packet that reaches into the next one. */
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

/* Keeps valid packets of the window, up to RECOVER_BYTES.  Returns false if the window is too short for the
 * next one. */
static bool recover_packets(struct recovery *rc)
{
	struct heph_state *const st = rc->r->state;
	struct input *const in = rc->r->in;
	const char *const limit =
	    in->end - in->p > (ptrdiff_t)RECOVER_BYTES ? in->p + RECOVER_BYTES : in->end;
	bool ok = true;

	while (in->p < limit && !st->search.open && !st->no_memory) {
		struct heph_packet k;
		const uint64_t before = rc->r->records;
		if (heph_read_fast(st, NULL, input_offset(in, limit))) {
			rc->records += rc->r->records - before;
			continue;
		}
		ok = heph_read_packet(st, &k, NULL);
		if (!ok)
			break;
		if (st->no_memory)
			return true;
		if (!st->search.open && k.fault == NULL && k.end - k.p == load_u32(k.p + 4, true)) {
			rc->records++;
			continue;
		}
		recover_keep(rc, k.p);
		if (!st->search.open && k.fault == NULL)
			repair_size(rc, &k);
		else
			recover_drop(rc, in->p);
	}
	recover_keep(rc, in->p);
	return ok;
}

static enum read_status recover_next(struct recovery *rc)
{
	struct heph_state *const st = rc->r->state;
	struct input *const in = rc->r->in;
	const uint64_t start = rc->at;

	while (rc->at - start < RECOVER_BYTES && !st->no_memory) {
		if (st->search.open) {
			const bool more = heph_search_next(st);
			recover_drop(rc, in->p);
			if (!more)
				return READ_END;
		} else if (in->p == in->end && (in->last || !input_more(in))) {
			return READ_END;
		} else if (!recover_packets(rc)) {
			input_more(in);
		}
	}
	return st->no_memory ? READ_NO_MEMORY : READ_MORE;
}

const struct recover_ops heph_recover_ops = {
	.structure = structure,
	.next = recover_next,
};
