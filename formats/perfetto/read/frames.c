/*
 * Frames: a trace is a sequence of packets, each with the byte 0x0a and its length in front.  Damage in a
 * packet loses only that packet.  If its length is damaged, the next packet is searched: tag, length and
 * fields must match the schema, and another packet or the end must follow.
 */
#include "format/recover.h"
#include "base/compiler.h"
#include "base/match.h"
#include "perfetto/read/read.h"

#define MAX_OF_PERFETTO ((UINT64_C(1) << 28) - 1) /* bytes of a packet */
#define MAX_SEARCHED (4U << 20)                   /* bytes of a packet that a search after damage accepts */
#define PROBED_FIELDS 64U                         /* of a packet */

/* ---- probe ---- */

/* Whether the first fields of a packet are those of the schema. */
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

/* Whether a packet of n bytes, which end after those at hand, starts with a field of the schema. */
static bool starts_packet(const struct pf_schema *schema, const char *p, const char *end, uint64_t n)
{
	uint64_t tag = 0, size = 0;
	const char *const value = pf_varint(p, end, &tag);
	const struct pf_field *const f =
	    value != NULL && tag >> 3 <= PF_MAX_NUMBER
	        ? pf_schema_field(schema, PF_MESSAGE_packet, (uint32_t)(tag >> 3))
	        : NULL;

	if (f == NULL || pf_wire_type(f) != (tag & 7))
		return false;
	if ((tag & 7) != PF_BYTES)
		return true;
	const char *const bytes = pf_varint(value, end, &size); /* they may be almost all of the packet */
	return bytes != NULL && size <= n - (uint64_t)(bytes - p);
}

int pf_probe(struct slice head, bool complete)
{
	struct pf_schema schema;
	const char *p = head.p, *const end = head.p + head.n;
	uint64_t n = 0;
	int bits = 0;

	if (head.n == 0 || *p != PF_FRAME_TAG)
		return 0;
	pf_schema_init(&schema);
	for (unsigned i = 0; i < 4 && p < end && *p == PF_FRAME_TAG; i++) {
		const char *const content = pf_varint(p + 1, end, &n);
		if (content == NULL || n > (uint64_t)(end - content)) {
			if (bits > 0 || complete)
				return bits;
			/* a first packet that is longer than the head */
			const bool known = content != NULL && n <= MAX_OF_PERFETTO &&
			                   starts_packet(&schema, content, end, n);
			return known ? 12 : 0;
		}
		if (!is_credible(&schema, slice_of(content, n)))
			return bits;
		bits += n > 0 ? 16 : 8;
		p = content + n;
	}
	return p == end && complete ? bits + 8 : p < end && *p != PF_FRAME_TAG ? bits / 2 : bits;
}

/* ---- search after damage ---- */

/* Whether a packet has a sequence or a time, and only fields of the schema. */
static bool is_packet_of_sequence(struct pf_state *st, struct slice s)
{
	struct pf_wire w = pf_wire_on(s);
	bool any = false;

	for (uint32_t i = 0; i < PROBED_FIELDS && !any && pf_wire_next(&w); i++)
		any = w.tag == PF_TAG(PF_packet_trusted_packet_sequence_id, PF_VARINT) ||
		      w.tag == PF_TAG(PF_packet_timestamp, PF_VARINT);
	return any && pf_matches_schema(&st->schema, PF_MESSAGE_packet, s, 0, &st->search_work);
}

enum found { FOUND_NOT, FOUND, FOUND_MORE }; /* MORE: more bytes are needed */

/* Whether a packet starts at p, and is followed by a frame or the end.
 * last: `end` is the end of the input. */
static enum found find_frame(struct pf_state *st, const char *p, const char *end, bool last)
{
	uint64_t n = 0;
	const char *const content = pf_varint(p + 1, end, &n);

	if (content == NULL)
		return last || end - p > PF_VARINT_MAX ? FOUND_NOT : FOUND_MORE;
	const uint64_t left = (uint64_t)(end - content);
	if (n < 2 || n > MAX_SEARCHED || (n > left && last))
		return FOUND_NOT;
	if (n >= left && !last)
		return FOUND_MORE;
	if ((n < left && content[n] != PF_FRAME_TAG) || !is_packet_of_sequence(st, slice_of(content, n)))
		return FOUND_NOT;
	return FOUND;
}

/* Ends the record of bytes that are no packet. */
static enum record_status end_other(struct record *rec, const char *end, enum record_role role)
{
	rec->end = end;
	rec->role = (uint8_t)role;
	rec->alone = true;
	return RECORD_DONE;
}

/* Skips bytes up to the next packet. */
static enum record_status search(struct pf_state *st, struct record *rec)
{
	const struct input *const in = st->r->in;
	const char *p = rec->p;

	for (; p < in->end; p++) {
		p = memchr(p, PF_FRAME_TAG, (size_t)(in->end - p));
		if (p == NULL) {
			p = in->end;
			break;
		}
		const enum found found = find_frame(st, p, in->end, in->last);
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
		st->search_failed = true;
	} else if (p == rec->p && st->searching) {
		return RECORD_MORE;
	}
	st->bytes_searched += (uint64_t)(p - rec->p);
	if (st->search_failed)
		st->r->unread += st->bytes_searched;
	return end_other(rec, p, RECORD_IS_SKIPPED);
}

/* Begins a search after the byte at rec->p. */
static enum record_status begin_search(struct pf_state *st, struct record *rec)
{
	st->bytes_searched = 0;
	st->searching = rec->p + 1 < st->r->in->end || !st->r->in->last;
	st->search_failed = !st->searching;
	return end_other(rec, rec->p + 1, RECORD_IS_SKIPPED);
}

/* ---- records ---- */

/* Returns the size of the field at p, with its tag; 0: it is not length-delimited. */
static uint64_t field_length(const char *p, const char *end)
{
	uint64_t tag = 0, n = 0;
	const char *const head = pf_varint(p, end, &tag);
	const char *const content = head != NULL && (tag & 7) == PF_BYTES ? pf_varint(head, end, &n) : NULL;

	if (content == NULL)
		return 0;
	return n > UINT64_MAX / 2 ? n : n + (uint64_t)(content - p);
}

/* Bytes that start no packet: zeros, other fields of the file, or damage. */
static enum record_status read_other(struct pf_state *st, struct record *rec)
{
	const struct input *const in = st->r->in;
	struct pf_wire w = { .p = rec->p, .end = in->end };

	if (*rec->p == 0) {
		/* in pieces: the input releases mapped pages between them */
		const size_t left = (size_t)(in->end - rec->p);
		const char *const limit = rec->p + (left < READER_PIECE ? left : READER_PIECE), *p = rec->p;
		while (p < limit && *p == 0)
			p++;
		if (st->zeros_end == 0 || st->zeros_end != rec->offset) /* else zeros continue */
			pf_report(st, PF_RULE_FRAME_TAG, "zero bytes where a packet should start");
		st->zeros_end = rec->offset + (uint64_t)(p - rec->p);
		return end_other(rec, p, RECORD_IS_SKIPPED);
	}
	if (!in->last && in->end - rec->p < 2 * PF_VARINT_MAX)
		return RECORD_MORE;
	const uint64_t length = field_length(rec->p, in->end), left = (uint64_t)(in->end - rec->p);
	if (!in->last && length <= st->r->max_record &&
	    (length > left || (length == left && length < st->r->max_record)))
		return RECORD_MORE; /* also for the byte after it */
	/* Damage that looks like a field would skip whole packets: a packet or the end follows a field. */
	if (length <= st->r->max_record && pf_wire_next(&w) && w.tag != PF_TAG(1, PF_BYTES) &&
	    (w.p == in->end || *w.p == PF_FRAME_TAG)) {
		pf_report(st, PF_RULE_FRAME_FIELD, "field %" PRIu32 " is not a packet: %" PRIu64 " bytes",
		          pf_wire_number(&w), (uint64_t)(w.p - rec->p));
		return end_other(rec, w.p, RECORD_IS_GAP);
	}
	pf_report(st, PF_RULE_FRAME_TAG, "the byte 0x%02x instead of 0x0a", (uint8_t)*rec->p);
	return begin_search(st, rec);
}

/* The content of the packet is n bytes from p on; p NULL: its length cannot be read. */
static COLD enum record_status read_cut(struct pf_state *st, struct record *rec, const char *p, uint64_t n)
{
	const uint64_t left = (uint64_t)(st->r->in->end - rec->p);

	if (n > MAX_OF_PERFETTO)
		pf_report(st, PF_RULE_CUT,
		          "a packet of %" PRIu64 " bytes, Perfetto has none of more than %" PRIu64, n,
		          MAX_OF_PERFETTO);
	else if (p == NULL)
		pf_report(st, PF_RULE_CUT, "the length of the packet cannot be read");
	else if (left >= st->r->max_record)
		pf_report(st, PF_RULE_CUT, "a packet of %" PRIu64 " bytes, in which other packets are", n);
	else
		pf_report(st, PF_RULE_CUT, "a packet of %" PRIu64 " bytes, of which the input holds %" PRIu64,
		          n, (uint64_t)(st->r->in->end - p));
	return begin_search(st, rec);
}

/* ---- packets longer than --max-record ---- */

/* Whether packets start within the first --max-record bytes of the packet: then its length is damaged. */
static bool has_packets(struct pf_state *st, const struct record *rec)
{
	const char *const end = rec->p + st->r->max_record;
	const char *p = rec->p;

	while ((p = memchr(p + 1, PF_FRAME_TAG, (size_t)(end - p - 1))) != NULL)
		if (find_frame(st, p, end, false) == FOUND)
			return true;
	return false;
}

static COLD enum record_status pass_packet(struct pf_state *st, struct record *rec)
{
	struct pf_long *const l = &st->long_packet;
	const enum record_status status = reader_pass(st->r, rec, &l->left);

	if (status == RECORD_END) {
		finding_add(st->findings, &perfetto_rules[PF_RULE_CUT], l->offset, l->record,
		            "a packet of %" PRIu64 " bytes, of which the input holds %" PRIu64, l->size,
		            l->size - l->left);
		l->left = 0;
	}
	return status;
}

/* The content of the packet is n bytes from p on. */
static COLD enum record_status begin_long(struct pf_state *st, struct record *rec, const char *p, uint64_t n)
{
	const struct input *const in = st->r->in;
	const uint64_t size = (uint64_t)(p - rec->p) + n;

	if ((uint64_t)(in->end - rec->p) < st->r->max_record)
		return in->last ? read_cut(st, rec, p, n) : RECORD_MORE;
	if (has_packets(st, rec))
		return read_cut(st, rec, p, n);
	reader_report_long(st->r, st->findings, rec->offset, rec->ordinal, "a packet", size);
	st->r->records++;
	st->long_packet = (struct pf_long){ rec->offset, rec->ordinal, size, size };
	return pass_packet(st, rec);
}

/* ---- frames ---- */

const char *pf_frame(struct pf_state *st, struct record *rec, struct slice *content,
                     enum record_status *status)
{
	const struct input *const in = st->r->in;
	const char *p;
	uint64_t n = 0;

	*status = RECORD_MORE;
	if (st->searching) {
		*status = search(st, rec);
	} else if (st->long_packet.left > 0) {
		*status = pass_packet(st, rec);
	} else if (rec->p == in->end) {
		*status = !in->last ? RECORD_MORE : st->search_failed ? RECORD_BAD : RECORD_END;
	} else if (*rec->p != PF_FRAME_TAG) {
		*status = read_other(st, rec);
	} else if ((p = pf_varint(rec->p + 1, in->end, &n)) == NULL) {
		if (in->last || in->end - rec->p > PF_VARINT_MAX)
			*status = read_cut(st, rec, NULL, 0);
	} else if (n > st->r->max_record && n <= MAX_OF_PERFETTO) {
		*status = begin_long(st, rec, p, n);
	} else if (n > MAX_OF_PERFETTO || (n > (uint64_t)(in->end - p) && in->last)) {
		*status = read_cut(st, rec, p, n);
	} else if (n <= (uint64_t)(in->end - p)) {
		*content = slice_of(p, n);
		return p + n;
	}
	return NULL;
}

bool pf_next_frame(struct slice *rest, struct slice *frame, struct slice *content)
{
	const char *const end = rest->p + rest->n;
	uint64_t n = 0;
	const char *const p =
	    rest->n > 1 && *rest->p == PF_FRAME_TAG ? pf_varint(rest->p + 1, end, &n) : NULL;

	if (p == NULL || n > (uint64_t)(end - p))
		return false;
	*content = slice_of(p, n);
	*frame = slice_of(rest->p, (size_t)(p + n - rest->p));
	*rest = slice_of(p + n, (size_t)(end - p - (ptrdiff_t)n));
	return true;
}

/* ---- recovery ---- */

/* Skipped bytes are dropped.  So are packets whose fields cannot be read and those for which Perfetto refuses
 * the whole file; names and states that they define are then missing. */
static const char *const structure[] = {
	"perfetto/frame-tag",     "perfetto/cut",      "perfetto/wire",          "perfetto/wire-message",
	"perfetto/wire-type",     "perfetto/inflate",  "perfetto/inflate-inner", "perfetto/inflate-nested",
	"perfetto/inflate-mixed", "perfetto/seq-zero", "perfetto/clock-scoped",  NULL,
};

enum { OF_BYTES = 2 }; /* the first ones are of bytes between packets */

bool pf_breaks(enum pf_rule rule)
{
	return slice_is_one_of(slice_str(perfetto_rules[rule].id), structure + OF_BYTES);
}

/* Drops a packet that is broken, or that has a broken one compressed in it: those are kept or dropped
 * together. */
static void recover_record(struct recovery *rc, const struct record *rec)
{
	const struct pf_state *const st = rc->r->state;

	if (rec->end == rec->p) /* an event before that of the packet, which follows */
		return;
	if (st->broken) {
		rc->records -= rec->role < RECORD_IS_GAP;
		recover_keep(rc, rec->p);
		recover_drop(rc, rec->end);
	}
}

const struct recover_ops perfetto_recover_ops = {
	.structure = structure,
	.record = recover_record,
};
