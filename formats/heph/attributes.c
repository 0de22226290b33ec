#include "heph/heph.h"

/* ---- names ---- */

/*
 * Attributes of one name.  The document does not forbid them, but objects of
 * JSON, and most tools, have one of them only.  Names are first compared by a
 * number made of their first and last bytes; only when two of these agree, or
 * there are too many, all names of the event go through a table.
 */

void heph_names_compare(struct heph_names *names, struct slice name, uint32_t signature)
{
	for (uint32_t i = 0; i < names->n && i < HEPH_SIGNED_NAMES; i++)
		if (names->signatures[i] == signature && slice_equal(names->names[i], name))
			names->clash = true;
}

/* The attribute behind one that is complete. */
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

/* Counted once for an event. */
static void count_repeated(struct heph_state *st, const struct heph_packet *k, struct slice name,
                           bool *counted)
{
	if (*counted)
		return;
	*counted = true;
	finding_tally_add(&st->repeated, k->offset, k->ordinal, 0, 0);
	if (st->repeated.count == 1)
		quoted(&st->repeated_name, name);
}

/* "x (2)", or with the first higher number that no other name has; in the table with what was found.  p is
 * NULL: no memory. */
static struct slice other_name(struct tabletext *table, struct slice name, uint32_t times, struct batch *b)
{
	struct slice s;

	do {
		s = arena_printf(&b->scratch, "%.*s (%" PRIu32 ")", (int)name.n, name.p, ++times);
		if (s.p == NULL)
			return s;
		s.flags = name.flags;
	} while (tabletext_get(table, s) != TABLE_NONE);
	if (!tabletext_put(table, s, 0) || !tabletext_put(table, name, times))
		s.p = NULL;
	return s;
}

/* What the names of an event are held against. */
struct settling {
	struct tabletext table; /* each name met so far, with how often; names that events bring themselves,
	                           or were given here, 0 times */
	struct field *fields, *end; /* those of the attributes that are retained; NULL: none are wanted */
	bool counted;               /* as an event with a name that comes twice */
};

/* The name of one attribute; not all have a field, but those that do come in order. */
static bool settle(struct heph_state *st, const struct heph_packet *k, struct slice name, struct settling *s,
                   struct batch *b)
{
	struct field *const f = s->fields != s->end && s->fields->name.p == name.p ? s->fields++ : NULL;
	const uint32_t times = tabletext_get(&s->table, name);

	if (times == TABLE_NONE)
		return tabletext_put(&s->table, name, 1);
	if (times > 0)
		count_repeated(st, k, name, &s->counted);
	if (f == NULL)
		return true;
	name.flags = f->name.flags;
	f->name = other_name(&s->table, name, times > 0 ? times : 1, b);
	return f->name.p != NULL;
}

void heph_names_settle(struct heph_state *st, const struct heph_packet *k, const char *p, uint32_t n,
                       struct batch *b, bool all)
{
	struct settling s = { .fields = b != NULL ? b->fields + b->nfields : NULL };
	bool ok = true;

	s.end = b != NULL ? s.fields + k->nfields : NULL;
	/* the event's own come first, and do not lie in the packet */
	for (; ok && s.fields != s.end && (s.fields->name.p < p || s.fields->name.p >= k->end); s.fields++)
		ok = !all || tabletext_put(&s.table, s.fields->name, 0);
	for (uint32_t i = 0; ok && i < n && i < HEPH_MAX_ATTRIBUTES; i++, p = next_attribute(p))
		ok = settle(st, k, slice_of(p + 2, load_u16(p, true)), &s, b);
	tabletext_free(&s.table);
	st->no_memory |= !ok;
}

/* ---- option ---- */

/* Metadata packets: options of the trace.  The document defines one, `epoch`. */

static struct value option_value(struct slice name, struct slice value)
{
	if (slice_is(name, "epoch") && value.n == HEPH_EPOCH_SIZE)
		return value_u64(load_u64(value.p, true));
	return (struct value){ .type = VALUE_BYTES, .count = value.n, .p = value.p };
}

/* false: no memory. */
static bool add_fields(struct batch *b, struct event *e, struct slice name, struct value value)
{
	struct field *const f = batch_fields(b, 2);

	if (f == NULL)
		return false;
	f[0] = (struct field){ SLICE_LIT("option"), value_string(name) };
	f[1] = (struct field){ SLICE_LIT("value"), value };
	e->first_field = b->nfields;
	e->nfields = 2;
	b->nfields += 2;
	return true;
}

static void add_record(struct heph_state *st, const struct heph_packet *k, struct slice name,
                       struct slice value, struct batch *b)
{
	struct event *const e = &b->events[b->n];
	const struct value v = option_value(name, value);
	const char *const end = k->fault != NULL && !k->followed ? k->fault : k->end;
	bool ok = true;

	*e = (struct event){ .name = st->metadata_class->name,
		             .cls = st->metadata_class,
		             .phase = PHASE_STRUCTURE,
		             .offset = k->offset };
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(k->p, (size_t)(end - k->p));
	if (st->raw)
		ok = heph_raw_add_option(k, name, v, e, b);
	else if ((st->r->want & WANT_FIELDS) != 0)
		ok = add_fields(b, e, name, v);
	b->n += ok;
	st->no_memory |= !ok;
}

static void report_unknown(struct heph_state *st, const struct heph_packet *k, struct slice name, size_t size)
{
	struct quoted q;

	if (heph_finding_is_shown(st, HEPH_RULE_UNKNOWN_OPTION))
		heph_finding_add(st, HEPH_RULE_UNKNOWN_OPTION, k, name.p,
		                 "option %s with a value of %zu bytes", quoted(&q, name), size);
	else
		heph_finding_add(st, HEPH_RULE_UNKNOWN_OPTION, k, name.p, "not shown");
}

void heph_option_read(struct heph_state *st, struct heph_packet *k, struct batch *b)
{
	const uint32_t n = load_u16(k->p + 8, true);
	const size_t room = (size_t)(k->end - k->p) - HEPH_METADATA_MIN;

	if (n > room) {
		k->fault = k->p + 8;
		heph_report_past_packet(st, k, k->p + 8, "the option name", n, room);
		return;
	}
	const struct slice name = textscan_slice(k->p + HEPH_METADATA_MIN, n);
	const char *const value = name.p + n;
	if ((name.flags & SLICE_UTF8) == 0)
		heph_report_text(st, k, "the option name", name);
	if (slice_is(name, "epoch"))
		heph_epoch_set(st, k, value);
	else if (!heph_is_own(name) || !heph_own_option(st, k, name, value, b))
		report_unknown(st, k, name, room - n);
	st->metadata_class->records++;
	if ((st->r->want & WANT_STRUCTURE) != 0)
		add_record(st, k, name, slice_of(value, room - n), b);
}

/* ---- attribute ---- */

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

static void value_past_packet(struct heph_state *st, const struct heph_packet *k, struct attribute *a,
                              const char *what, uint64_t n)
{
	struct quoted q = { .s = "" };
	char text[400];

	a->bad = true;
	if (heph_finding_is_shown(st, HEPH_RULE_PAST_PACKET))
		quoted(&q, a->name);
	snprintf(text, sizeof text, "%s of attribute %s", what, q.s);
	heph_report_past_packet(st, k, a->p, text, n, (uint64_t)(k->end - a->p));
}

static void report_value(struct heph_state *st, const struct heph_packet *k, const struct attribute *a,
                         struct slice s)
{
	struct quoted q = { .s = "" };
	char text[400];

	if (heph_finding_is_shown(st, HEPH_RULE_INVALID_UTF8))
		quoted(&q, a->name);
	snprintf(text, sizeof text, "the value of attribute %s", q.s);
	heph_report_text(st, k, text, s);
}

static inline bool string(struct heph_state *st, const struct heph_packet *k, struct attribute *a,
                          struct value *v)
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

static void unknown_type(struct heph_state *st, const struct heph_packet *k, struct attribute *a,
                         uint8_t type)
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

static inline struct value number(uint8_t type, const char *p)
{
	return (struct value){ .type = value_types[type & 3], .u64 = load_u64(p, true) };
}

/* Whether n more elements of arrays may be retained; this and the next bound are the same for who only
 * checks. */
static bool may_retain(struct heph_state *st, struct heph_packet *k, const struct attribute *a, uint32_t n)
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
static void array(struct heph_state *st, struct heph_packet *k, struct attribute *a, uint8_t type,
                  struct batch *b)
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

static inline void value(struct heph_state *st, struct heph_packet *k, struct attribute *a, struct batch *b)
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
static bool is_next_packet(struct heph_state *st, struct heph_packet *k, const char *p)
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
static inline bool read_name(struct heph_state *st, struct heph_packet *k, const char *p, bool build,
                             struct attribute *a)
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
static inline bool retain(struct heph_packet *k, const struct attribute *a, struct batch *b)
{
	struct field *const f = batch_fields(b, k->nfields + 1);

	if (f == NULL)
		return false;
	f[k->nfields].name = a->name;
	f[k->nfields++].value = a->value;
	return true;
}

/* The names that the attributes must differ from; b NULL: none. */
static void begin_names(struct heph_names *names, const struct heph_packet *k, const struct batch *b)
{
	heph_names_begin(names);
	for (uint32_t i = 0; b != NULL && i < k->nfields; i++)
		heph_names_add(names, b->fields[b->nfields + i].name);
}

void heph_attributes_read(struct heph_state *st, struct heph_packet *k, const char *p, struct batch *b)
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
