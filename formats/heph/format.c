/*
 * Recognises Heph traces, and describes the format.  The probe counts verified bits: the magic constant of
 * the first packet, its size, and the magic constant after it.
 */
#include "heph/heph.h"

/* Returns the number of verified bits of a packet at p. */
static int probe_packet(const char *p, const char *end, bool complete)
{
	const uint32_t min = end - p >= 4 ? heph_packet_min(p, end) : 0;

	if (min == 0)
		return 0;
	if (end - p < HEPH_HEAD_SIZE)
		return 32;
	const uint32_t size = load_u32(p + HEPH_AT_SIZE, true);
	if (size < min)
		return 32;
	const size_t left = (size_t)(end - p);
	if (left < size)
		return complete ? 32 : 40;
	if (left == size)
		return complete ? 60 : 40;
	return heph_packet_min(p + size, end) != 0 ? 40 + 8 * (left - size < 4 ? (int)(left - size) : 4) : 36;
}

/* Uses the first packet; if it is damaged, a later one that is followed by another. */
int heph_probe(struct slice head, bool complete)
{
	const char *const end = head.p + head.n;
	const int first = probe_packet(head.p, end, complete);

	if (first > 0)
		return first;
	for (const char *p = head.p; end - p >= HEPH_HEAD_SIZE; p++)
		if ((*p == (char)0xC1 || *p == 0x75) && probe_packet(p, end, complete) >= 60)
			return 34;
	return 0;
}

const struct rule heph_rules[HEPH_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "heph/rules.def"
#undef RULE
	{ .id = NULL }
};

static const char *const suffixes[] = { ".bin.log", NULL };
static const char *const dialects[] = { "0.1.0", NULL };

const struct format heph_format = {
	.name = "heph",
	.title = "Heph trace",
	.spec = "Heph trace format 0.1.0",
	.suffixes = suffixes,
	.recounted = (const char *const[]){ HEPH_COUNTER_FIELD, "start", "end", NULL },
	.dialects = dialects,
	.reader = &heph_reader_ops,
	.recover = &heph_recover_ops,
	.writer = &hpw_ops,
	.copier = &hpw_copier_ops,
	.rules = heph_rules,
	.losses = hpw_losses,
	.features = HAS_FIELDS | HAS_INSTANTS | HAS_COUNTERS | HAS_ARROWS | HAS_ASYNC | HAS_ENDS | HAS_LISTS |
	            HAS_NAN | HAS_NOT_UTF8 | HAS_NUL | HAS_FACTS | HAS_EPOCH | HAS_NUMBERS,
};
