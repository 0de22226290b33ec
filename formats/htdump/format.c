#include "base/cursor.h"
#include "htdump/htdump.h"

/* ---- probe ---- */

/*
 * The layout of a file is found by its first event, an EndiannessInfoEvent
 * (class 0), and confirmed by the second, the description of a class (class 2).
 * In the wire layout the class id stands first, in the document layout last.
 */

/* Where the class id stands in the 20 bytes of the head. */
static size_t klass_at(bool wire)
{
	return wire ? 0 : 16;
}

/* The start of a class name or type name: printable, not empty, and ended within the bytes at hand (or these
 * run out).  ascii: names with other letters are rare, so that they say nothing by themselves. */
static bool looks_like_name(const char *p, const char *end, bool ascii)
{
	const char *const start = p;

	while (p < end && p - start < 256 && ((*p > ' ' && *p < 0x7f) || (!ascii && (*p & 0x80) != 0)))
		p++;
	return p > start && (p == end || *p == '\0' || *p == ' ');
}

/* A class info (2) or field info (3) at p in this layout and order; only as far as the bytes go. */
static bool looks_like_description(const char *p, const char *end, bool wire, bool big, bool ascii)
{
	if (end - p < HT_HEAD_SIZE)
		return false;
	const uint32_t klass = load_u32(p + klass_at(wire), big);
	if (klass != HT_CLASS_INFO && klass != HT_CLASS_FIELD)
		return false;
	return end - p <= HT_HEAD_SIZE + 4 || looks_like_name(p + HT_HEAD_SIZE + 4, end, ascii);
}

/* 40 bits and more: both events fit; 20: only the first is there to see; 0: no. */
static int bits_for(const char *p, const char *end, bool complete, bool wire, bool *big)
{
	const char *const start = p;

	*big = false;
	if (looks_like_description(p, end, wire, false, true))
		return 30; /* no EndiannessInfoEvent: a finding, but it can be read */
	/* Files without events may have been put before others: several EndiannessInfoEvents in a row. */
	while (end - p >= HT_ENDIANNESS_SIZE && load_u32(p + klass_at(wire), false) == HT_CLASS_ENDIANNESS &&
	       p - start < 64 * HT_ENDIANNESS_SIZE) {
		const uint8_t order = (uint8_t)p[HT_HEAD_SIZE];
		p += HT_ENDIANNESS_SIZE;
		*big = order == 1;
		if (order <= 1 && looks_like_description(p, end, wire, *big, false))
			return 72;
		for (int o = 0; order > 1 && o < 2; o++)
			if (looks_like_description(p, end, wire, o == 1, true)) {
				*big = o == 1;
				return 64;
			}
	}
	if (p == start || !complete || end - p >= HT_HEAD_SIZE + 4)
		return 0;
	/* The trace ends within or right after its first event: the start of the class id of a second one may
	 * still speak. */
	if (p[-1] != 0 && p[-1] != 1)
		return 0;
	*big = p[-1] == 1;
	return 20 + (wire ? 4 : 0);
}

bool ht_probe_start(const char *p, const char *end, bool wire)
{
	const uint8_t order = (uint8_t)p[HT_HEAD_SIZE];

	return order <= 1 && load_u32(p + klass_at(wire), false) == HT_CLASS_ENDIANNESS &&
	       looks_like_description(p + HT_ENDIANNESS_SIZE, end, wire, order == 1, true);
}

int ht_probe_layout(struct slice head, bool complete, bool *wire, bool *big)
{
	bool big_wire, big_document;
	const int w = bits_for(head.p, head.p + head.n, complete, true, &big_wire);
	const int d = bits_for(head.p, head.p + head.n, complete, false, &big_document);

	*wire = w >= d;
	*big = *wire ? big_wire : big_document;
	return *wire ? w : d;
}

int ht_probe(struct slice head, bool complete)
{
	bool wire, big;

	return ht_probe_layout(head, complete, &wire, &big);
}

/* ---- format ---- */

static const char *const suffixes[] = { ".htdump", NULL };
static const char *const dialects[] = { "wire", "document", NULL };

static const struct format_option options[] = {
	{ .name = "label-map",
	  .arg = "FILE",
	  .help = "names of integer labels: lines of category, label, number" },
	{ .name = NULL },
};

extern const struct format htdump_format;

const struct format htdump_format = {
	.name = "htdump",
	.title = "HawkTracer dump",
	.spec = "HTDUMP format design (HawkTracer)",
	.suffixes = suffixes,
	.recounted = (const char *const[]){ "timestamp", NULL },
	.dialects = dialects,
	.options = options,
	.reader = &ht_reader_ops,
	.writer = &htw_ops,
	.recover = &ht_recover_ops,
	.rules = ht_rules,
	.losses = htw_losses,
	.holds = HOLDS_FIELDS | HOLDS_INSTANTS | HOLDS_LISTS | HOLDS_NAN | HOLDS_NOT_UTF8 | HOLDS_FACTS |
	         HOLDS_NUMBERS,
};
