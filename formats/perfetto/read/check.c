/*
 * Checks a packet against the schema: wire types, enums, fields that occur twice, texts.  All of it if
 * decoding set `needs_check`, else the contents of track events.  The depth of messages is bounded, and each
 * byte is visited once a level.
 */
#include "base/scan.h"
#include "perfetto/read/read.h"

struct place {
	struct pf_state *st;
	enum pf_message message;
	unsigned depth;
};

static void check_message(const struct place *at, struct slice s);

static const char *wire_name(unsigned wire)
{
	static const char *const names[8] = { "a varint", "64 bits", "length-delimited", "a group",
		                              "a group",  "32 bits", "type 6",           "type 7" };

	return names[wire & 7];
}

/* Returns "TrackEvent.type", or "field 77 of TrackEvent". */
static const char *name_of(const struct place *at, const struct pf_field *f, uint32_t number, char text[80])
{
	const char *const message = pf_schema_name(at->message);

	if (f != NULL)
		snprintf(text, 80, "%s.%s", message, f->name.p);
	else
		snprintf(text, 80, "field %" PRIu32 " of %s", number, message);
	return text;
}

static void check_type(const struct place *at, const struct pf_wire *w, const struct pf_field *f)
{
	const unsigned wire = w->tag & 7;
	const bool repeated = (f->flags & PF_IS_REPEATED) != 0 && f->type <= PF_TYPE_DOUBLE;
	char text[80];

	if (wire == PF_BYTES && repeated) {
		if ((f->flags & PF_IS_PACKED) == 0)
			pf_report(at->st, PF_RULE_PACKED, "%s is packed, in %" PRIu64 " bytes",
			          name_of(at, f, 0, text), w->v);
		return;
	}
	pf_report(at->st, PF_RULE_WIRE_TYPE, "%s is %s instead of %s", name_of(at, f, 0, text),
	          wire_name(wire), wire_name(pf_wire_type(f)));
}

static void check_value(const struct place *at, const struct pf_wire *w, const struct pf_field *f)
{
	const int32_t n = (int32_t)w->v;
	struct quoted q;
	char text[80];

	if (f->type == PF_TYPE_ENUM && f->arg >= 0 && (n < 0 || n > f->arg))
		pf_report(at->st, PF_RULE_ENUM, "%s is %" PRId32 ", which its enum does not have",
		          name_of(at, f, 0, text), n);
	else if (f->type == PF_TYPE_MESSAGE && at->depth < PF_MAX_NESTED)
		check_message(&(struct place){ at->st, (enum pf_message)f->arg, at->depth + 1 },
		              pf_wire_slice(w));
	else if (f->type == PF_TYPE_STRING &&
	         (!utf8_valid(w->bytes, w->v) || memchr(w->bytes, '\0', w->v) != NULL))
		pf_report(at->st, PF_RULE_UTF8, "%s is %s", name_of(at, f, 0, text),
		          quoted(&q, pf_wire_slice(w)));
}

/* The singular fields and oneofs of a message that were seen. */
struct seen {
	uint64_t fields[2];
	uint32_t oneofs;
};

static void check_twice(const struct place *at, const struct pf_wire *w, const struct pf_field *f,
                        struct seen *seen)
{
	const uint32_t index = (uint32_t)(f - at->st->schema.first[at->message]) % 128;
	const uint64_t bit = UINT64_C(1) << index % 64;
	const unsigned oneof = (f->flags & PF_IS_DATA) != 0 ? 31 : f->flags / PF_ONEOF;
	char text[80];

	const bool unset = (w->tag & 7) == PF_VARINT && w->v == 0; /* an iid of 0 means none */
	if ((f->flags & PF_IS_REPEATED) != 0)
		return;
	if ((seen->fields[index / 64] & bit) != 0)
		pf_report(at->st, PF_RULE_FIELD_TWICE, "%s occurs twice", name_of(at, f, 0, text));
	else if (oneof != 0 && !unset && (seen->oneofs >> oneof & 1) != 0)
		pf_report(at->st, PF_RULE_FIELD_TWICE, "%s beside an alternative of it",
		          name_of(at, f, 0, text));
	seen->fields[index / 64] |= bit;
	if (oneof != 0 && !unset)
		seen->oneofs |= 1U << oneof;
}

static void check_message(const struct place *at, struct slice s)
{
	struct pf_wire w = pf_wire_on(s);
	struct seen seen = { .oneofs = 0 };
	char text[80];

	while (pf_wire_next(&w)) {
		const uint32_t number = pf_wire_number(&w);
		const struct pf_field *const f = pf_schema_field(&at->st->schema, at->message, number);
		if (f == NULL) {
			if (!pf_schema_is_extension(at->message, number))
				pf_report(at->st, PF_RULE_FIELD_UNKNOWN, "%s is not in the schema",
				          name_of(at, NULL, number, text));
			continue;
		}
		if (f->type != PF_TYPE_ANY && (w.tag & 7) != pf_wire_type(f)) {
			check_type(at, &w, f);
			continue;
		}
		check_twice(at, &w, f, &seen);
		check_value(at, &w, f);
	}
	if (w.bad)
		pf_report(at->st, at->message == PF_MESSAGE_packet ? PF_RULE_WIRE : PF_RULE_WIRE_MESSAGE,
		          "no field of %s can be read at byte %zu of the packet", pf_schema_name(at->message),
		          (size_t)(w.at - at->st->packet.s.p));
}

bool pf_matches_schema(const struct pf_schema *schema, enum pf_message m, struct slice s, unsigned depth,
                       uint64_t *work)
{
	struct pf_wire w = pf_wire_on(s);
	uint64_t seen[2] = { 0, 0 };

	while (++*work < PF_MAX_SEARCH && pf_wire_next(&w)) {
		const struct pf_field *const f = pf_schema_field(schema, m, pf_wire_number(&w));
		if (f == NULL && pf_schema_is_extension(m, pf_wire_number(&w)))
			continue;
		if (f == NULL || (f->type != PF_TYPE_ANY && pf_wire_type(f) != (w.tag & 7)))
			return false;
		const uint32_t index = (uint32_t)(f - schema->first[m]) % 128;
		if ((f->flags & PF_IS_REPEATED) == 0 && (seen[index / 64] >> index % 64 & 1) != 0)
			return false;
		seen[index / 64] |= UINT64_C(1) << index % 64;
		if (f->type == PF_TYPE_MESSAGE && depth < 4 &&
		    !pf_matches_schema(schema, (enum pf_message)f->arg, pf_wire_slice(&w), depth + 1, work))
			return false;
	}
	return !w.bad && *work < PF_MAX_SEARCH;
}

void pf_check(struct pf_state *st, const struct pf_packet *k)
{
	check_message(&(struct place){ st, PF_MESSAGE_packet, 0 }, k->s);
}

/* Whether an annotation has at most a name by number and a number as value, as most do. */
static bool is_plain_annotation(struct slice s)
{
	struct pf_wire w = pf_wire_on(s);
	unsigned names = 0, values = 0;

	while (pf_wire_next(&w)) {
		if (w.tag == PF_TAG(PF_annotation_name_iid, PF_VARINT))
			names++;
		else if (w.tag == PF_TAG(PF_annotation_bool_value, PF_VARINT) ||
		         w.tag == PF_TAG(PF_annotation_uint_value, PF_VARINT) ||
		         w.tag == PF_TAG(PF_annotation_int_value, PF_VARINT) ||
		         w.tag == PF_TAG(PF_annotation_double_value, PF_FIXED64) ||
		         w.tag == PF_TAG(PF_annotation_pointer_value, PF_VARINT) ||
		         w.tag == PF_TAG(PF_annotation_string_value_iid, PF_VARINT))
			values++;
		else
			return false;
	}
	return !w.bad && names <= 1 && values <= 1;
}

void pf_check_contents(struct pf_state *st, const struct pf_event_fields *te)
{
	const struct place at = { st, PF_MESSAGE_event, 1 };
	struct pf_wire w = pf_wire_on(te->contents);

	while (pf_wire_next(&w)) {
		if (w.tag == PF_TAG(PF_event_debug_annotations, PF_BYTES) &&
		    is_plain_annotation(pf_wire_slice(&w)))
			continue;
		if ((w.tag & 7) == PF_BYTES)
			check_value(&at, &w,
			            pf_schema_field(&st->schema, PF_MESSAGE_event, pf_wire_number(&w)));
	}
}
