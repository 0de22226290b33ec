/*
 * Recovery: keeps the whole records of a damaged dump.
 *
 * Records have no length and no mark, so after an unreadable one only the start of a concatenated trace can
 * be found.  It has little that distinguishes it, and in most dumps there is none, so records that look like
 * one by chance must not pass.
 *
 * Readers must find the layout of the input in the output: the first records wait in the window until they
 * are enough to find it (64 KiB) or the input is damaged.
 */
#include "htdump/htdump.h"

struct ht_recovery {
	uint64_t orders;     /* EndiannessInfoEvents among the kept records */
	bool layout_certain; /* the kept records show the layout to readers of the output */
};

#define SEARCH_BYTES (1 << 20) /* bytes searched at once for the start of a trace */

/* A trace starts with an EndiannessInfoEvent and a class info, whose fields these are. */
#define START_ID (HT_ENDIANNESS_SIZE + HT_HEAD_SIZE)
#define START_TEXT (START_ID + 4)
#define START_SIZE (START_TEXT + HT_PROBE_NAME + 1 + HT_HEAD_SIZE)

static const char *const structure[] = {
	"htdump/cut-record", "htdump/unknown-class",    "htdump/struct-unknown", "htdump/string-unterminated",
	"htdump/zero-bytes", "htdump/struct-recursion", "htdump/bad-byte-order", NULL,
};

/* Whether a trace starts at p.  The record after the class info tells it from a span of thread 2 with
 * a long label, whose duration and time are small numbers. */
static bool starts_trace(const struct ht_state *st, const char *p, const char *end)
{
	const uint32_t class_id = ht_class_id_at(st->wire);
	const uint8_t order = (uint8_t)p[HT_HEAD_SIZE];
	const bool big = order == 1;
	const char *name = p + START_TEXT;

	if (order > 1 || load_u32(p + class_id, false) != HT_CLASS_ENDIANNESS ||
	    load_u32(p + HT_ENDIANNESS_SIZE + class_id, big) != HT_CLASS_INFO)
		return false;
	const uint32_t id = load_u32(p + START_ID, big);
	const char *const limit = end - name > HT_PROBE_NAME ? name + HT_PROBE_NAME : end;
	while (name < limit && *name >= ' ' && *name < 0x7f)
		name++;
	if (name == p + START_TEXT || name == limit || *name != '\0')
		return false;
	p = name + 2; /* after the NUL and field_count */
	if (end - p < HT_HEAD_SIZE)
		return p <= end;
	const uint32_t next = load_u32(p + class_id, big);
	return next != HT_CLASS_ENDIANNESS && (next == id || ht_class_find(&st->classes, next) != NULL);
}

/* Finds the start of a concatenated trace. */
static bool resync(struct recovery *rc)
{
	const struct ht_state *const st = rc->r->state;
	struct input *const in = rc->r->in;

	if (!input_need(in, START_SIZE) && in->end - in->p <= START_TEXT) {
		in->p = in->end;
		return false;
	}
	const char *const end = in->end - (in->last ? START_TEXT : START_SIZE - 1);
	const char *const limit = end - in->p > SEARCH_BYTES ? in->p + SEARCH_BYTES : end;
	while (in->p < limit && !starts_trace(st, in->p, in->end))
		in->p++;
	return in->p < limit;
}

/* Repairs the byte order that a record states.  An invalid one is replaced by the order in which the
 * following records are valid: if these are dropped, readers of the output cannot guess it any more. */
static void repair_byte_order(struct recovery *rc, const struct record *rec)
{
	const struct ht_state *const st = rc->r->state;
	struct ht_recovery *const s = rc->state;
	const char *const to = rec->end, order = st->big ? 1 : 0;

	if (st->c->kind != HT_KIND_ENDIANNESS)
		return;
	s->orders++;
	if ((uint8_t)to[-1] <= 1)
		return;
	s->layout_certain = true;
	recover_keep(rc, to - 1);
	recover_replace(rc, to, &order, 1, &ht_rules[HT_RULE_BAD_BYTE_ORDER],
	                "endianness %u; the records after it are in %s order", (uint8_t)to[-1],
	                st->big ? "big-endian" : "little-endian");
}

/* Readers find the layout in the first 64 KiB of the output, so records wait until these are complete.  If
 * fewer bytes show the other layout or none, they only look like records by chance, and are dropped. */
static bool keep_records(struct recovery *rc, enum record_status status)
{
	const struct ht_state *const st = rc->r->state;
	struct ht_recovery *const s = rc->state;
	const struct input *const in = rc->r->in;
	const size_t waiting = (size_t)(input_offset(in, in->p) - rc->at);
	bool wire, big;

	if (!s->layout_certain) {
		s->layout_certain = waiting >= HT_PROBE_BYTES || (in->p == in->end && in->last);
		if (!s->layout_certain && status != RECORD_BAD)
			return false;
		ht_probe_layout(slice_of(in->p - waiting, waiting), true, &wire, &big);
		if (!s->layout_certain && waiting > 0 && wire != st->wire) {
			rc->records = s->orders = 0;
			recover_drop(rc, in->p);
		}
		s->layout_certain |= waiting > 0 && wire == st->wire;
	}
	/* Only EndiannessInfoEvents were kept.  They fit both layouts, and the bytes that showed the layout
	 * were dropped. */
	if (status == RECORD_END && rc->records == s->orders && rc->dropped + rc->gap.length > 0)
		rc->records = 0;
	return true;
}

const struct recover_ops ht_recover_ops = {
	.state_size = sizeof(struct ht_recovery),
	.structure = structure,
	.resync = resync,
	.record = repair_byte_order,
	.keep = keep_records,
};
