/*
 * Frames: a trace is packets one behind the other, each with the byte 0x0a and its length in front.  Damage
 * in a packet costs that packet; if the length is hit, the next packet is where tag, length and fields are
 * credible and another packet or the end follows.  A packet is looked at once, in the order of Perfetto's
 * importer: state of its sequence, defaults, interned data, clocks, time, data.
 */
#include "perfetto/read/read.h"

#define FRAME_TAG 0x0a          /* field 1, length-delimited */
#define MAX_SEARCHED (4U << 20) /* bytes of a packet that is looked for after damage */
#define PROBED_FIELDS 64U       /* of a packet */

/* ---- findings ---- */

void pf_report(struct pf_state *st, enum pf_rule rule, const char *at, const char *fmt, ...)
{
	const uint64_t in = at != NULL && !st->is_inner ? (uint64_t)(at - st->start) : 0;
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(st->r->findings, &perfetto_rules[rule], st->offset + in, st->ordinal, fmt, ap);
	va_end(ap);
}

/* ---- probe ---- */

/* Whether the fields of a packet are those of the schema, as far as they are looked at. */
static bool is_credible(const struct pf_schema *schema, struct slice s)
{
	struct pf_wire w = pf_wire_on(s);

	for (uint32_t i = 0; i < PROBED_FIELDS && pf_wire_next(&w); i++) {
		const uint32_t number = pf_wire_number(&w);
		const struct pf_field *const f = pf_schema_field(schema, PF_MESSAGE_packet, number);
		if (f != NULL ? pf_wire_type(f) != (w.tag & 7)
		              : !pf_schema_is_extension(PF_MESSAGE_packet, number))
			return false;
	}
	return !w.bad;
}

/* Counts the bits that were verified: a packet with some fields that are known is nearly certain. */
static int probe(struct slice head, bool complete)
{
	struct pf_schema schema;
	const char *p = head.p, *const end = head.p + head.n;
	uint64_t n = 0;
	int bits = 0;

	if (head.n == 0 || *p != FRAME_TAG)
		return 0;
	pf_schema_init(&schema);
	for (unsigned i = 0; i < 4 && p < end && *p == FRAME_TAG; i++) {
		const char *const content = pf_varint(p + 1, end, &n);
		if (content == NULL || n > (uint64_t)(end - content)) {
			/* a first packet that is longer than the head: its first fields */
			struct pf_wire w =
			    pf_wire_on(slice_of(content, content != NULL ? (size_t)(end - content) : 0));
			const bool known =
			    content != NULL && pf_wire_next(&w) &&
			    pf_schema_field(&schema, PF_MESSAGE_packet, pf_wire_number(&w)) != NULL;
			return bits > 0 ? bits : complete ? 0 : known && n <= PF_MAX_PACKET ? 12 : 0;
		}
		if (!is_credible(&schema, slice_of(content, n)))
			return bits;
		bits += n > 0 ? 16 : 8;
		p = content + n;
	}
	return p == end && complete ? bits + 8 : p < end && *p != FRAME_TAG ? bits / 2 : bits;
}

/* ---- search after damage ---- */

enum found { FOUND_NOT, FOUND, FOUND_MORE };

/* Whether a packet starts at p, with a frame or the end behind it; FOUND_MORE: the window ends too early. */
static enum found find_frame(const struct pf_state *st, const char *p)
{
	const struct input *const in = st->r->in;
	const char *const end = in->end;
	uint64_t n = 0;
	const char *const content = pf_varint(p + 1, end, &n);

	if (content == NULL)
		return in->last || end - p > PF_VARINT_MAX ? FOUND_NOT : FOUND_MORE;
	if (n < 2 || n > MAX_SEARCHED)
		return FOUND_NOT;
	if (n >= (uint64_t)(end - content) && !in->last)
		return FOUND_MORE;
	if (n > (uint64_t)(end - content) || !is_credible(&st->schema, slice_of(content, n)))
		return FOUND_NOT;
	return content + n == end || content[n] == FRAME_TAG ? FOUND : FOUND_NOT;
}

/* Skips bytes up to the next packet. */
static enum record_status search(struct pf_state *st, struct record *rec)
{
	const struct input *const in = st->r->in;
	const char *p = rec->p;

	rec->role = RECORD_IS_SKIPPED;
	rec->alone = true;
	for (; p < in->end; p++) {
		p = memchr(p, FRAME_TAG, (size_t)(in->end - p));
		if (p == NULL) {
			p = in->end;
			break;
		}
		const enum found found = find_frame(st, p);
		if (found == FOUND) {
			st->searching = false;
			break;
		}
		if (found == FOUND_MORE && p == rec->p)
			return RECORD_MORE;
		if (found == FOUND_MORE)
			break;
	}
	if (p == in->end && in->last) {
		st->searching = false;
		st->lost = true;
	} else if (p == rec->p && st->searching) {
		return RECORD_MORE;
	}
	if (st->searching || st->lost)
		st->r->unread += st->lost ? (uint64_t)(p - rec->p) : 0;
	rec->end = p;
	return RECORD_DONE;
}

/* Begins a search behind the byte at rec->p. */
static enum record_status begin_search(struct pf_state *st, struct record *rec)
{
	rec->role = RECORD_IS_SKIPPED;
	rec->alone = true;
	rec->end = rec->p + 1;
	st->searching = rec->end < st->r->in->end || !st->r->in->last;
	st->lost = !st->searching;
	return RECORD_DONE;
}

/* ---- fields of a packet ---- */

/* Reads the fields of the packet into k. */
static void decode(const struct pf_state *st, struct pf_packet *k, struct slice s)
{
	struct pf_wire w = pf_wire_on(s);

	*k = (struct pf_packet){ .s = s };
	while (pf_wire_next(&w)) {
		switch (w.tag) {
		case PF_TAG(PF_packet_timestamp, PF_VARINT):
			k->odd |= k->has_timestamp;
			k->timestamp = w.v;
			k->has_timestamp = true;
			break;
		case PF_TAG(PF_packet_trusted_packet_sequence_id, PF_VARINT):
			k->odd |= k->has_sequence;
			k->sequence = (uint32_t)w.v;
			k->has_sequence = true;
			break;
		case PF_TAG(PF_packet_sequence_flags, PF_VARINT):
			k->flags |= (uint32_t)w.v;
			break;
		case PF_TAG(PF_packet_incremental_state_cleared, PF_VARINT):
			k->flags |= w.v != 0 ? PF_CLEARED : 0;
			break;
		case PF_TAG(PF_packet_previous_packet_dropped, PF_VARINT):
			k->dropped |= (uint32_t)w.v;
			break;
		case PF_TAG(PF_packet_timestamp_clock_id, PF_VARINT):
			k->odd |= k->has_clock;
			k->clock = (uint32_t)w.v;
			k->has_clock = true;
			break;
		case PF_TAG(PF_packet_machine_id, PF_VARINT):
			k->machine = (uint32_t)w.v;
			break;
		case PF_TAG(PF_packet_interned_data, PF_BYTES):
			k->odd |= k->interned.p != NULL;
			k->interned = pf_wire_slice(&w);
			break;
		case PF_TAG(PF_packet_trace_packet_defaults, PF_BYTES):
			k->odd |= k->defaults.p != NULL;
			k->defaults = pf_wire_slice(&w);
			break;
		case PF_TAG(PF_packet_trusted_uid, PF_VARINT):
		case PF_TAG(PF_packet_trusted_pid, PF_VARINT):
		case PF_TAG(PF_packet_first_packet_on_sequence, PF_VARINT):
			break;
		default: {
			const struct pf_field *const f =
			    pf_schema_field(&st->schema, PF_MESSAGE_packet, pf_wire_number(&w));
			if (f == NULL || pf_wire_type(f) != (w.tag & 7)) {
				k->odd |= f != NULL ||
				          !pf_schema_is_extension(PF_MESSAGE_packet, pf_wire_number(&w));
				break;
			}
			if (k->ndata++ == 0) {
				k->kind = f->number;
				k->data = pf_wire_slice(&w);
			}
		}
		}
	}
	k->odd |= w.bad || k->ndata > 1;
	k->bad = w.bad;
}

/* Reads a packet of which all bytes are in the window, and applies it to the state. */
static void read_packet(struct pf_state *st, struct slice s, struct record *rec)
{
	struct pf_packet *const k = &st->packet;

	decode(st, k, s);
	if (k->odd)
		pf_check(st, k);
	st->kinds[k->kind % PF_DIRECT]++;
	rec->role = k->bad ? RECORD_IS_SKIPPED : RECORD_IS_STRUCTURE;
	rec->cls = st->structure;
	rec->ts = 0;
}

/* ---- records ---- */

/* Bytes that start no packet: zeros, other fields of the file, or damage. */
static enum record_status read_other(struct pf_state *st, struct record *rec)
{
	const struct input *const in = st->r->in;
	struct pf_wire w = { .p = rec->p, .end = in->end };

	if (*rec->p == 0) {
		const char *p = rec->p;
		while (p < in->end && *p == 0)
			p++;
		pf_report(st, PF_RULE_FRAME_TAG, rec->p, "zero bytes where a packet should start");
		rec->end = p;
		rec->role = RECORD_IS_SKIPPED;
		rec->alone = true;
		return RECORD_DONE;
	}
	if (pf_wire_next(&w) && w.tag != PF_TAG(1, PF_BYTES)) {
		pf_report(st, PF_RULE_FRAME_FIELD, rec->p, "field %" PRIu32 ", %" PRIu64 " bytes",
		          pf_wire_number(&w), (uint64_t)(w.p - rec->p));
		rec->end = w.p;
		rec->role = RECORD_IS_GAP;
		rec->alone = true;
		return RECORD_DONE;
	}
	if (!in->last && in->end - rec->p < 2 * PF_VARINT_MAX)
		return RECORD_MORE;
	pf_report(st, PF_RULE_FRAME_TAG, rec->p, "the byte 0x%02x instead of 0x0a", (uint8_t)*rec->p);
	return begin_search(st, rec);
}

static PF_COLD enum record_status read_cut(struct pf_state *st, struct record *rec, uint64_t n)
{
	const uint64_t left = (uint64_t)(st->r->in->end - rec->p);

	if (n > PF_MAX_PACKET && n <= left)
		pf_report(st, PF_RULE_LIMIT, rec->p, "a packet of %" PRIu64 " bytes, the maximum is %u", n,
		          PF_MAX_PACKET);
	else if (n == 0)
		pf_report(st, PF_RULE_CUT, rec->p, "the length of the packet cannot be read");
	else
		pf_report(st, PF_RULE_CUT, rec->p,
		          "a packet of %" PRIu64 " bytes, of which the input holds less than %" PRIu64, n,
		          left);
	return begin_search(st, rec);
}

static enum record_status pf_record(struct reader *r, struct record *rec)
{
	struct pf_state *const st = r->state;
	const struct input *const in = r->in;
	uint64_t n = 0;

	rec->cls = st->structure;
	rec->track = NULL;
	rec->ts = 0;
	rec->alone = false;
	st->start = rec->p;
	st->offset = rec->offset;
	st->ordinal = rec->ordinal;
	st->is_inner = false;
	if (st->searching)
		return search(st, rec);
	if (rec->p == in->end)
		return !in->last ? RECORD_MORE : st->lost ? RECORD_BAD : RECORD_END;
	if (*rec->p != FRAME_TAG)
		return read_other(st, rec);
	const char *const content = pf_varint(rec->p + 1, in->end, &n);
	if (content == NULL) {
		if (!in->last && in->end - rec->p <= PF_VARINT_MAX)
			return RECORD_MORE;
		return read_cut(st, rec, 0);
	}
	if (n > PF_MAX_PACKET || (n > (uint64_t)(in->end - content) && in->last))
		return read_cut(st, rec, n);
	if (n > (uint64_t)(in->end - content))
		return RECORD_MORE;
	rec->end = content + n;
	read_packet(st, slice_of(content, n), rec);
	return RECORD_DONE;
}

/* ---- the reader ---- */

static void pf_event(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	(void)r;
	(void)rec;
	(void)b;
	(void)e;
}

static void pf_fields(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	pf_raw_fields(r->state, rec, b, e);
}

static bool pf_open(struct reader *r)
{
	struct pf_state *const st = r->state;

	st->r = r;
	st->raw = (r->want & WANT_RAW) != 0;
	pf_schema_init(&st->schema);
	r->trace->dialect = "58";
	r->trace->byte_order = "little";
	r->trace->clock = "unknown";
	st->structure = trace_add_class(r->trace, SLICE_LIT("packet"));
	return st->structure != NULL;
}

const struct reader_ops perfetto_reader_ops = {
	.state_size = sizeof(struct pf_state),
	.probe = probe,
	.open = pf_open,
	.record = pf_record,
	.event = pf_event,
	.fields = pf_fields,
};
