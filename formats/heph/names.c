#include "heph/names.h"

#include "heph/packet.h"
#include "heph/state.h"

/*
 * Attributes of one name.  The document does not forbid them, but objects of
 * JSON, and most tools, have one of them only.  Names are first compared by a
 * number made of their first and last bytes; only when two of these agree, or
 * there are too many, all names of the event go through a table.
 */

void
heph_names_compare(struct heph_names *names, struct slice name, uint32_t signature)
{
	for (uint32_t i = 0; i < names->n && i < HEPH_SIGNED_NAMES; i++)
		if (names->signatures[i] == signature && slice_equal(names->names[i], name))
			names->clash = true;
}

/* The attribute behind one that is complete. */
static const char *
next_attribute(const char *p)
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
static void
count_repeated(struct heph_state *st, const struct heph_packet *k, struct slice name, bool *counted)
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
static struct slice
other_name(struct tabletext *table, struct slice name, uint32_t times, struct batch *b)
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
static bool
settle(struct heph_state *st, const struct heph_packet *k, struct slice name, struct settling *s,
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

void
heph_names_settle(struct heph_state *st, const struct heph_packet *k, const char *p, uint32_t n,
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
