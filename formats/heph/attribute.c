#include "heph/attribute.h"

#include "heph/finding.h"
#include "heph/state.h"
#include "heph/text.h"

/* The attributes of an event: name, type, value, up to the end of the packet. */

/* ---- values ---- */

/* One attribute on the way. */
struct attribute {
	struct slice name;
	const char *p;      /* its value; then the byte behind it */
	struct value value; /* only if it is wanted */
	bool bad;           /* the value does not fit, or is of no known type; see the finding */
	bool retained;      /* false: beyond a bound */
};

static void
value_past_packet(struct heph_state *st, const struct heph_packet *k, struct attribute *a, const char *what,
                  uint64_t n)
{
	struct quoted q = { .s = "" };
	char text[400];

	a->bad = true;
	if (heph_finding_is_shown(st, HEPH_RULE_PAST_PACKET))
		quoted(&q, a->name);
	snprintf(text, sizeof text, "%s of attribute %s", what, q.s);
	heph_report_past_packet(st, k, a->p, text, n, (uint64_t)(k->end - a->p));
}

static void
report_value(struct heph_state *st, const struct heph_packet *k, const struct attribute *a, struct slice s)
{
	struct quoted q = { .s = "" };
	char text[400];

	if (heph_finding_is_shown(st, HEPH_RULE_INVALID_UTF8))
		quoted(&q, a->name);
	snprintf(text, sizeof text, "the value of attribute %s", q.s);
	heph_report_text(st, k, text, s);
}

static inline bool
string(struct heph_state *st, const struct heph_packet *k, struct attribute *a, struct value *v)
{
	const size_t room = (size_t)(k->end - a->p);
	const uint32_t n = room >= 2 ? load_u16(a->p, true) : 0;

	if (room < 2 || n > room - 2) {
		value_past_packet(st, k, a, "a string", (uint64_t)n + 2);
		return false;
	}
	const struct slice s = heph_text(a->p + 2, n, v != NULL);
	if ((s.flags & SLICE_UTF8) == 0)
		report_value(st, k, a, s);
	if (v != NULL)
		*v = value_string(s);
	a->p += 2 + n;
	return true;
}

static void
unknown_type(struct heph_state *st, const struct heph_packet *k, struct attribute *a, uint8_t type)
{
	const enum heph_rule rule = type == HEPH_ARRAY ? HEPH_RULE_UNTYPED_ARRAY : HEPH_RULE_UNKNOWN_TYPE;
	struct quoted q = { .s = "" };

	a->bad = true;
	if (heph_finding_is_shown(st, rule))
		quoted(&q, a->name);
	heph_finding_add(st, rule, k, a->p - 1, "attribute %s is of type 0x%02X", q.s, type);
}

/* enum value_type of each type. */
static const uint8_t value_types[] = { [HEPH_UNSIGNED] = VALUE_U64,
	                               [HEPH_SIGNED] = VALUE_I64,
	                               [HEPH_FLOAT] = VALUE_F64,
	                               [HEPH_STRING] = VALUE_STRING };

static inline struct value
number(uint8_t type, const char *p)
{
	return (struct value){ .type = value_types[type & 3], .u64 = load_u64(p, true) };
}

/* Whether n more elements of arrays may be retained; this and the next bound are the same for who only
 * checks. */
static bool
may_retain(struct heph_state *st, struct heph_packet *k, const struct attribute *a, uint32_t n)
{
	if (n <= HEPH_MAX_ELEMENTS - k->nelements) {
		k->nelements += n;
		return true;
	}
	heph_finding_add(st, HEPH_RULE_LIMIT, k, a->p,
	                 "an array of %" PRIu32 " elements after others of %" PRIu32
	                 " in its event is dropped",
	                 n, k->nelements);
	return false;
}

/* Count and values; one check for all numbers, one each for strings.  b NULL: the value is not wanted. */
static void
array(struct heph_state *st, struct heph_packet *k, struct attribute *a, uint8_t type, struct batch *b)
{
	const size_t room = (size_t)(k->end - a->p);
	const uint32_t n = room >= 2 ? load_u16(a->p, true) : 0, size = type == HEPH_STRING ? 2 : 8;
	struct value *values = NULL;

	if (room < 2 || (size_t)n * size > room - 2) {
		value_past_packet(st, k, a, "an array", (uint64_t)n * size + 2);
		return;
	}
	if (a->retained && !may_retain(st, k, a, n))
		a->retained = false;
	a->p += 2;
	if (b != NULL && a->retained) {
		values = arena_alloc(&b->scratch, n * sizeof *values);
		if (values == NULL) {
			a->bad = st->no_memory = true;
			return;
		}
		a->value = (struct value){
			.type = VALUE_LIST, .element = value_types[type], .count = n, .values = values
		};
	}
	if (type != HEPH_STRING) {
		for (uint32_t i = 0; i < n && values != NULL; i++)
			values[i] = number(type, a->p + (size_t)i * 8);
		a->p += (size_t)n * 8;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		if (!string(st, k, a, values != NULL ? &values[i] : NULL))
			break;
}

static inline void
value(struct heph_state *st, struct heph_packet *k, struct attribute *a, struct batch *b)
{
	const uint8_t type = (uint8_t)*a->p++;

	switch (type) {
	case HEPH_UNSIGNED:
	case HEPH_SIGNED:
	case HEPH_FLOAT:
		if (k->end - a->p < 8) {
			value_past_packet(st, k, a, "the value", 8);
			return;
		}
		a->value = number(type, a->p);
		a->p += 8;
		return;
	case HEPH_STRING:
		string(st, k, a, b != NULL ? &a->value : NULL);
		return;
	case HEPH_ARRAY | HEPH_UNSIGNED:
	case HEPH_ARRAY | HEPH_SIGNED:
	case HEPH_ARRAY | HEPH_FLOAT:
	case HEPH_ARRAY | HEPH_STRING:
		array(st, k, a, type & 0x7F, b);
		return;
	default:
		unknown_type(st, k, a, type);
	}
}

/* ---- all of them ---- */

/* Where the next attribute should be, another packet may lie: then it is the size of this one that is wrong,
 * even if it leads to a third, and this one ends here. */
static bool
is_next_packet(struct heph_state *st, struct heph_packet *k, const char *p)
{
	if (!heph_is_packet(p, k->end, st->r->in->end))
		return false;
	heph_finding_add(st, HEPH_RULE_PACKET_TOO_LARGE, k, k->p + 4,
	                 "%" PRIu64 " bytes, but after %" PRIu64 " of them the next packet starts",
	                 (uint64_t)(k->end - k->p), (uint64_t)(p - k->p));
	k->end = p;
	k->followed = true;
	return true;
}

/* The name of the attribute at p; false: it does not fit. */
static inline bool
read_name(struct heph_state *st, struct heph_packet *k, const char *p, bool build, struct attribute *a)
{
	const size_t room = (size_t)(k->end - p);

	if (room < HEPH_ATTRIBUTE_MIN) {
		heph_finding_add(st, HEPH_RULE_LEFT_OVER, k, p, "%zu byte%s, the smallest attribute has %d",
		                 room, room == 1 ? "" : "s", HEPH_ATTRIBUTE_MIN);
		return false;
	}
	const uint32_t n = load_u16(p, true);
	if (n > room - 3) {
		if (!is_next_packet(st, k, p))
			heph_report_past_packet(st, k, p, "an attribute name, with a type,", (uint64_t)n + 3,
			                        room);
		return false;
	}
	a->name = heph_text(p + 2, n, build);
	a->p = p + 2 + n;
	a->bad = false;
	if ((a->name.flags & SLICE_UTF8) == 0)
		heph_report_text(st, k, "an attribute name", a->name);
	return true;
}

/* Makes it a field of the event.  false: no memory. */
static inline bool
retain(struct heph_packet *k, const struct attribute *a, struct batch *b)
{
	struct field *const f = batch_fields(b, k->nfields + 1);

	if (f == NULL)
		return false;
	f[k->nfields].name = a->name;
	f[k->nfields++].value = a->value;
	return true;
}

/* The names that the attributes must differ from; b NULL: none. */
static void
begin_names(struct heph_names *names, const struct heph_packet *k, const struct batch *b)
{
	heph_names_begin(names);
	for (uint32_t i = 0; b != NULL && i < k->nfields; i++)
		heph_names_add(names, b->fields[b->nfields + i].name);
}

void
heph_attributes_read(struct heph_state *st, struct heph_packet *k, const char *p, struct batch *b)
{
	struct batch *const named = st->raw ? NULL : b; /* whose fields need different names */
	const char *const first = p;
	struct attribute a;
	uint32_t n = 0;

	begin_names(&st->names, k, st->own.active ? NULL : named);
	while (p < k->end) {
		if (n == HEPH_MAX_ATTRIBUTES)
			heph_finding_add(st, HEPH_RULE_LIMIT, k, p,
			                 "more than %u attributes; those from here on are dropped",
			                 HEPH_MAX_ATTRIBUTES);
		a.retained = n < HEPH_MAX_ATTRIBUTES;
		if (!read_name(st, k, p, b != NULL, &a))
			break;
		value(st, k, &a, b);
		if (a.bad)
			break;
		if (n++ < HEPH_MAX_ATTRIBUTES)
			heph_names_add(&st->names, a.name);
		if (a.retained && b != NULL && !retain(k, &a, b)) {
			st->no_memory = true;
			break;
		}
		p = a.p;
	}
	if (p < k->end)
		k->fault = p;
	if (st->names.clash && !st->no_memory)
		heph_names_settle(st, k, first, n, named, !st->own.active);
}
