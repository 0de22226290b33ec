/*
 * The search after damage, and recovery.  The next packet starts at a magic constant and a size; after that
 * size, another magic constant follows or the input ends.  Recovery keeps packets whose whole content can be
 * read.
 */
#include "heph/heph.h"

#define SEARCH_BYTES (1U << 20) /* bytes skipped at once */

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
		.from = k->offset + (uint64_t)(from - k->p),
	};
	va_start(ap, fmt);
	vsnprintf(search->detail, sizeof search->detail, fmt, ap);
	va_end(ap);
}

/* Returns the first magic constant in [p, end), or the last 3 bytes, which may start one. */
static const char *find_magic(const char *p, const char *end)
{
	for (; end - p >= 4; p++)
		if ((*p == (char)0xC1 || *p == 0x75) && heph_packet_min(p, end) != 0)
			return p;
	return p;
}

/* Ends the search at p, and reports the finding. */
static void end_search(struct heph_state *st, const char *p, bool found)
{
	struct reader *const r = st->r;
	struct heph_search *const search = &st->search;
	const uint64_t at = input_offset(r->in, p), n = at - search->from;
	char skipped[80] = "";

	search->open = false;
	search->failed = !found;
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

bool heph_has_packet(const char *p, const char *end, bool ends)
{
	for (p = find_magic(p, end); end - p >= HEPH_HEAD_SIZE; p = find_magic(p + 1, end))
		if (heph_is_packet(p, end, end) &&
		    (ends || load_u32(p + HEPH_AT_SIZE, true) < (size_t)(end - p)))
			return true;
	return false;
}

enum record_status heph_search(struct heph_state *st, struct record *rec)
{
	const struct input *const in = st->r->in;
	const size_t max = (size_t)(in->end - rec->p);
	const char *const limit = max > SEARCH_BYTES ? rec->p + SEARCH_BYTES : in->end;

	const char *p = find_magic(rec->p, limit);

	rec->role = RECORD_IS_SKIPPED;
	rec->alone = true;
	for (; limit - p >= 4 || limit == in->end; p = find_magic(p + 1, limit)) {
		const size_t left = (size_t)(in->end - p);
		const uint32_t size =
		    left < HEPH_HEAD_SIZE ? HEPH_HEAD_SIZE : load_u32(p + HEPH_AT_SIZE, true);
		if (size <= st->r->max_record && left < (size_t)size + 4 && !in->last)
			return RECORD_MORE; /* search again: the finding must precede skipped bytes */
		if (left < HEPH_HEAD_SIZE)
			p = in->end;
		if (p == in->end || (size <= st->r->max_record && heph_is_packet(p, in->end, in->end))) {
			end_search(st, p, p < in->end);
			break;
		}
	}
	rec->end = p;
	return RECORD_DONE;
}

/* ---- recovery ---- */

static const char *const structure[] = {
	"heph/bad-magic",    "heph/packet-too-small", "heph/packet-too-large",
	"heph/cut-packet",   "heph/past-packet",      "heph/left-over",
	"heph/unknown-type", "heph/untyped-array",    NULL,
};

/* Repairs the size of a packet that reaches into the next one, and drops a damaged one. */
static void recover_packet(struct recovery *rc, const struct record *rec)
{
	const struct heph_state *const st = rc->r->state;
	const uint32_t was = load_u32(rec->p + 4, true), is = (uint32_t)(rec->end - rec->p);
	char size[4];

	store_uint(size, is, sizeof size, true);
	if (st->packet.fault != NULL) {
		rc->records--;
		recover_keep(rc, rec->p);
		recover_drop(rc, rec->end);
	} else if (was != is) {
		recover_keep(rc, rec->p + 4);
		recover_replace(
		    rc, rec->p + HEPH_HEAD_SIZE, size, sizeof size, &heph_rules[HEPH_RULE_PACKET_TOO_LARGE],
		    "size %" PRIu32 ", but the next packet starts after %" PRIu32 " bytes", was, is);
	}
}

const struct recover_ops heph_recover_ops = {
	.structure = structure,
	.record = recover_packet,
};
