#include "heph/search.h"

#include "heph/packet.h"
#include "heph/state.h"

/*
 * After damage: the next packet is where a magic constant stands with a size
 * that fits and, unless the input ends there, another magic constant behind it.
 * The search goes on over several batches, so that no more of the
 * input than usual is held at a time.
 */

void
heph_search_begin(struct heph_state *st, enum heph_rule rule, const struct heph_packet *k, const char *place,
                  const char *from, const char *fmt, ...)
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
static const char *
next_magic(const char *p, const char *end)
{
	for (; end - p >= 4; p++)
		if ((*p == (char)0xC1 || *p == 0x75) && heph_packet_min(p, end) != 0)
			return p;
	return p;
}

/* Whether a packet may start at the start of the window, which holds 8 bytes at least. */
static bool
is_plausible(struct input *in)
{
	const uint32_t size = load_u32(in->p + 4, true);

	if (heph_packet_min(in->p, in->end) == 0 || size > HEPH_MAX_PACKET)
		return false;
	input_need(in, (size_t)size + 4);
	return heph_is_packet(in->p, in->end, in->end);
}

/* Reports the gap, at whose end the window starts. */
static void
close_gap(struct heph_state *st, bool found)
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

bool
heph_search(struct heph_state *st)
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
