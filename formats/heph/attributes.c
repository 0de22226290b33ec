/*
 * Attributes of events and options: name, type, value, up to the end of the packet.
 *
 * The document does not forbid repeated names, but JSON objects and most tools have each name only once.
 * Names are compared by signatures of their first and last bytes; only if two signatures are equal, or there
 * are more than 32 names, all names of the event are looked up in a table.
 */
#include "heph/heph.h"

/* ---- repeated names ---- */

/* Returns the attribute after the one at p, which is complete. */
static const char *next_attribute(const char *p)
{
	p += 2 + load_u16(p, true);
	const uint8_t type = (uint8_t)*p++;
	const uint32_t n = load_u16(p, true);
	if (type == HEPH_STRING)
		return p + 2 + n;
	if ((type & HEPH_ARRAY) == 0)
		return p + 8;
	p += 2;
	if (type != (HEPH_STRING | HEPH_ARRAY))
		return p + (size_t)n * 8;
	for (uint32_t i = 0; i < n; i++)
		p += 2 + load_u16(p, true);
	return p;
}

/* Counts the event if a name of the attributes from p on is repeated. */
static COLD void check_names(struct heph_state *st, const struct heph_packet *k, const char *p)
{
	struct tabletext names = { .used = 0 };
	bool repeated = false;

	for (uint32_t i = 0; !repeated && i < k->nattributes && i < HEPH_MAX_ATTRIBUTES; i++) {
		const struct slice name = slice_of(p + 2, load_u16(p, true));
		repeated = tabletext_get(&names, name) != TABLE_NONE;
		if (repeated && st->repeated.count == 0)
			quoted(&st->repeated_name, name);
		st->r->no_memory |= !tabletext_put(&names, name, 1);
		p = next_attribute(p);
	}
	tabletext_free(&names);
	if (repeated)
		finding_tally_add(&st->repeated, k->offset, k->ordinal, 0, 0);
}

/* ---- values ---- */

/* The attribute that is being read. */
struct attribute {
	struct slice name;
	const char *p;      /* the value; after reading, the byte after it */
	struct value value; /* only if wanted; for a list, `p` is the position of its elements */
	bool bad;           /* the value does not fit or its type is unknown; reported */
	bool retained;      /* false: beyond a limit */
};

static COLD void report_value_past_packet(struct heph_state *st, const struct heph_packet *k,
                                          struct attribute *a, const char *what, uint64_t n)
{
	struct quoted q;
	char text[400];

	a->bad = true;
	snprintf(text, sizeof text, "%s of attribute %s", what, quoted(&q, a->name));
	heph_report_past_packet(st, k, a->p, text, n, (uint64_t)(k->end - a->p));
}

static COLD void report_value_text(struct heph_state *st, const struct heph_packet *k,
                                   const struct attribute *a, struct slice s)
{
	struct quoted q, q2;

	heph_report(st, HEPH_RULE_INVALID_UTF8, k, s.p, "the value of attribute %s is %s",
	            quoted(&q, a->name), quoted(&q2, s));
}

static COLD void report_unknown_type(struct heph_state *st, const struct heph_packet *k, struct attribute *a,
                                     uint8_t type)
{
	const enum heph_rule rule = type == HEPH_ARRAY ? HEPH_RULE_UNTYPED_ARRAY : HEPH_RULE_UNKNOWN_TYPE;
	struct quoted q;

	a->bad = true;
	heph_report(st, rule, k, a->p - 1, "attribute %s is of type 0x%02X", quoted(&q, a->name), type);
}

/* Reads a string into v unless it is NULL. */
static inline bool read_string(struct heph_state *st, const struct heph_packet *k, struct attribute *a,
                               struct value *v)
{
	const size_t left = (size_t)(k->end - a->p);
	const uint32_t n = left >= 2 ? load_u16(a->p, true) : 0;

	if (left < 2 || n > left - 2) {
		report_value_past_packet(st, k, a, "a string", (uint64_t)n + 2);
		return false;
	}
	const struct slice s = heph_text(a->p + 2, n, v != NULL);
	if ((s.flags & SLICE_UTF8) == 0)
		report_value_text(st, k, a, s);
	if (v != NULL)
		*v = value_string(s);
	a->p += 2 + n;
	return true;
}

/* enum value_type of each enum heph_type */
static const uint8_t value_types[] = { [HEPH_UNSIGNED] = VALUE_U64,
	                               [HEPH_SIGNED] = VALUE_I64,
	                               [HEPH_FLOAT] = VALUE_F64,
	                               [HEPH_STRING] = VALUE_STRING };

/* Returns the limit of retained array elements of one event: all numbers of the longest packet. */
static inline uint64_t max_elements(const struct reader *r)
{
	return r->max_record / 8 > HEPH_MAX_ELEMENTS ? r->max_record / 8 : HEPH_MAX_ELEMENTS;
}

/* Checks an array: numbers need one check of their total size, each string its own check. */
static void read_array(struct heph_state *st, struct heph_packet *k, struct attribute *a, uint8_t type)
{
	const size_t left = (size_t)(k->end - a->p);
	const uint32_t n = left >= 2 ? load_u16(a->p, true) : 0, size = type == HEPH_STRING ? 2 : 8;

	if (left < 2 || (size_t)n * size > left - 2) {
		report_value_past_packet(st, k, a, "an array", (uint64_t)n * size + 2);
		return;
	}
	/* charged even if no values are wanted: findings must not depend on the consumer */
	if (a->retained && n > max_elements(st->r) - k->nelements) {
		heph_report(st, HEPH_RULE_LIMIT, k, a->p,
		            "an array of %" PRIu32 " elements after others of %" PRIu32
		            " in its event is dropped",
		            n, k->nelements);
		a->retained = false;
	}
	k->nelements += a->retained ? n : 0;
	a->p += 2;
	a->value = (struct value){ .type = VALUE_LIST, .element = value_types[type], .count = n, .p = a->p };
	k->lists = true;
	if (type != HEPH_STRING)
		a->p += (size_t)n * 8;
	for (uint32_t i = 0; type == HEPH_STRING && i < n; i++)
		if (!read_string(st, k, a, NULL))
			break;
}

/* Decodes the elements of a list, which have been checked. */
static void load_elements(struct value *list, struct arena *arena)
{
	struct value *const values = arena_alloc(arena, list->count * sizeof *values);
	const char *p = list->p;

	list->values = values;
	for (uint32_t i = 0; values != NULL && i < list->count; i++) {
		const uint32_t n = list->element == VALUE_STRING ? load_u16(p, true) : 0;
		values[i] = list->element == VALUE_STRING
		                ? value_string(textscan_slice(p + 2, n))
		                : (struct value){ .type = list->element, .u64 = load_u64(p, true) };
		p += list->element == VALUE_STRING ? 2 + n : 8;
	}
}

static inline void read_value(struct heph_state *st, struct heph_packet *k, struct attribute *a)
{
	const uint8_t type = (uint8_t)*a->p++;

	switch (type) {
	case HEPH_UNSIGNED:
	case HEPH_SIGNED:
	case HEPH_FLOAT:
		if (k->end - a->p < 8) {
			report_value_past_packet(st, k, a, "the value", 8);
			return;
		}
		a->value = (struct value){ .type = value_types[type], .u64 = load_u64(a->p, true) };
		a->p += 8;
		return;
	case HEPH_STRING:
		read_string(st, k, a, k->build ? &a->value : NULL);
		return;
	case HEPH_ARRAY | HEPH_UNSIGNED:
	case HEPH_ARRAY | HEPH_SIGNED:
	case HEPH_ARRAY | HEPH_FLOAT:
	case HEPH_ARRAY | HEPH_STRING:
		read_array(st, k, a, type & 0x7F);
		return;
	default:
		report_unknown_type(st, k, a, type);
	}
}

/* ---- attributes ---- */

void heph_end_at_packet(struct heph_state *st, struct heph_packet *k, const char *p)
{
	heph_report(st, HEPH_RULE_PACKET_TOO_LARGE, k, k->p + 4,
	            "%" PRIu64 " bytes, but after %" PRIu64 " of them the next packet starts",
	            (uint64_t)(k->end - k->p), (uint64_t)(p - k->p));
	k->end = p;
	k->followed = true;
}

/* Ends the packet at p if another packet starts there: the size of this packet is then wrong.  If a packet
 * also starts at the end of this one, the packet at p must be complete and followed by a third. */
static COLD bool cut_at_packet(struct heph_state *st, struct heph_packet *k, const char *p)
{
	const char *const end = st->r->in->end;

	if (k->followed ? !heph_is_packet(p, k->end, end) : heph_packet_min(p, end) == 0)
		return false;
	heph_end_at_packet(st, k, p);
	return true;
}

/* Reads the name of the attribute at p.  Returns false if it does not fit, which is reported. */
static inline bool read_name(struct heph_state *st, struct heph_packet *k, const char *p, struct attribute *a)
{
	const size_t left = (size_t)(k->end - p);

	if (left < HEPH_ATTRIBUTE_MIN) {
		if (!k->followed && cut_at_packet(st, k, p))
			return false;
		heph_report(st, HEPH_RULE_LEFT_OVER, k, p, "%zu byte%s, the smallest attribute has %d", left,
		            left == 1 ? "" : "s", HEPH_ATTRIBUTE_MIN);
		return false;
	}
	const uint32_t n = load_u16(p, true);
	if (n > left - 3) {
		if (!cut_at_packet(st, k, p))
			heph_report_past_packet(st, k, p, "an attribute name, with a type,", (uint64_t)n + 3,
			                        left);
		return false;
	}
	a->name = heph_text(p + 2, n, k->build);
	a->p = p + 2 + n;
	a->bad = false;
	if ((a->name.flags & SLICE_UTF8) == 0)
		heph_report_text(st, k, "an attribute name", a->name);
	return true;
}

static inline void add_field(struct heph_state *st, struct heph_packet *k, const struct attribute *a)
{
	if (note_failure(&st->r->no_memory,
	                 k->nfields == st->fields_cap &&
	                     !array_reserve(&st->fields, k->nfields, &st->fields_cap, sizeof *st->fields)))
		return;
	st->fields[k->nfields].name = a->name;
	st->fields[k->nfields++].value = a->value;
}

void heph_read_attributes(struct heph_state *st, struct heph_packet *k, const char *p)
{
	const bool named = k->build && !st->raw && !st->own.active; /* names of raw fields may be repeated */
	const char *const first = p;
	struct heph_names names;
	struct attribute a;

	names.seen = names.n = 0;
	if (named && load_u32(k->p, true) == HEPH_MAGIC_EVENT) {
		heph_names_add(&names, SLICE_LIT(HEPH_COUNTER_FIELD));
		if (heph_fixed_fields(k) > 1)
			heph_names_add(&names, SLICE_LIT(HEPH_END_FIELD));
	}
	for (; p < k->end && !st->r->no_memory; p = a.p) {
		const uint32_t n = k->nattributes;
		if (n == HEPH_MAX_ATTRIBUTES)
			heph_report(st, HEPH_RULE_LIMIT, k, p,
			            "more than %u attributes; those from here on are dropped",
			            HEPH_MAX_ATTRIBUTES);
		a.retained = n < HEPH_MAX_ATTRIBUTES;
		if (!read_name(st, k, p, &a))
			break;
		read_value(st, k, &a);
		if (a.bad)
			break;
		if (n < HEPH_MAX_ATTRIBUTES)
			k->clash |= !heph_names_add(&names, a.name);
		k->nattributes++;
		if (a.retained && k->build)
			add_field(st, k, &a);
	}
	if (p < k->end)
		k->fault = p;
	if (k->clash)
		check_names(st, k, first);
}

void heph_load_lists(struct field *f, uint32_t n, struct arena *arena)
{
	for (uint32_t i = 0; i < n; i++)
		if (f[i].value.type == VALUE_LIST)
			load_elements(&f[i].value, arena);
}
