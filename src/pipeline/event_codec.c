#include "pipeline/event_codec.h"

#include <stddef.h>

_Static_assert(sizeof(struct event) == 64 && sizeof(struct field) == 32 && sizeof(struct value) == 16,
               "the parts of a packed event lie behind each other without gaps");

/* Offset of an empty text that is not NULL; real offsets are behind the event. */
#define EMPTY ((uintptr_t)1)

static bool
is_text(const struct value *v)
{
	return v->type == VALUE_STRING || v->type == VALUE_BYTES || v->type == VALUE_JSON;
}

static uint64_t
entries(const struct value *v)
{
	return v->type == VALUE_MAP ? 2 * (uint64_t)v->count : v->type == VALUE_LIST ? v->count : 0;
}

static uint64_t
head_size(bool with_bytes)
{
	return sizeof(struct event) + (with_bytes ? sizeof(struct slice) : 0);
}

static struct field *
fields_at(char *p)
{
	return (struct field *)(void *)p;
}

static struct value *
value_at(char *p)
{
	return (struct value *)(void *)p;
}

/* ---- packing ---- */

struct packing {
	char *to;
	uint64_t used, room;
};

/* Copies n bytes behind what is there; gives their offset. */
static bool
put(struct packing *k, const void *p, uint64_t n, uintptr_t *offset)
{
	if (n > k->room - k->used)
		return false;
	*offset = (uintptr_t)k->used;
	if (n > 0)
		memcpy(k->to + k->used, p, (size_t)n);
	k->used += n;
	return true;
}

/* Turns the pointer to a text into its offset. */
static bool
put_text(struct packing *k, const char **p, uint32_t n, uint32_t flags)
{
	uintptr_t offset = EMPTY;

	if ((flags & SLICE_STAYS) != 0 || *p == NULL)
		return true;
	if (n > 0 && !put(k, *p, n, &offset))
		return false;
	*p = (const char *)offset;
	return true;
}

static bool
put_slice(struct packing *k, struct slice *s)
{
	return put_text(k, &s->p, s->n, s->flags);
}

static bool
put_value_text(struct packing *k, struct value *v)
{
	return !is_text(v) || put_text(k, &v->p, v->count, v->flags);
}

static bool
put_list(struct packing *k, struct value *v)
{
	const uint64_t n = entries(v);
	uintptr_t offset = 0;

	if (v->type != VALUE_LIST && v->type != VALUE_MAP)
		return true;
	if (n > 0 && !put(k, v->values, n * sizeof(struct value), &offset))
		return false;
	v->values = (const struct value *)offset;
	return true;
}

/* The entries of all lists.  What was copied is the queue of those whose own entries are still to be copied.
 */
static bool
put_lists(struct packing *k, struct field *fields, uint32_t n)
{
	uint64_t at = k->used;

	for (uint32_t i = 0; i < n; i++)
		if (!put_list(k, &fields[i].value))
			return false;
	for (; at < k->used; at += sizeof(struct value))
		if (!put_list(k, value_at(k->to + at)))
			return false;
	return true;
}

/* All text but the names of the event; the entries of lists lie in [lists, lists_end). */
static bool
put_texts(struct packing *k, struct field *fields, uint32_t n, uint64_t lists, uint64_t lists_end)
{
	for (uint32_t i = 0; i < n; i++)
		if (!put_slice(k, &fields[i].name) || !put_value_text(k, &fields[i].value))
			return false;
	for (; lists < lists_end; lists += sizeof(struct value))
		if (!put_value_text(k, value_at(k->to + lists)))
			return false;
	return true;
}

uint64_t
event_pack(char *to, uint64_t room, const struct batch *b, uint32_t i, bool with_bytes)
{
	const struct event *const from = &b->events[i];
	const uint64_t head = head_size(with_bytes), lists = head + from->nfields * sizeof(struct field);
	struct packing k = { to, lists, room < EVENT_PACKED_MAX ? room : EVENT_PACKED_MAX };
	struct event e = *from;
	struct field *const fields = fields_at(to + head);

	if (lists > k.room)
		return 0;
	if (e.nfields > 0)
		memcpy(fields, b->fields + e.first_field, e.nfields * sizeof *fields);
	if (!put_lists(&k, fields, e.nfields))
		return 0;
	const uint64_t lists_end = k.used;
	if (!put_slice(&k, &e.name) || !put_texts(&k, fields, e.nfields, lists, lists_end))
		return 0;
	if (with_bytes) {
		struct slice record = b->bytes != NULL ? b->bytes[i] : (struct slice){ .p = NULL };
		if (!put_slice(&k, &record))
			return 0;
		memcpy(to + sizeof e, &record, sizeof record);
	}
	const uint64_t padding = -k.used % EVENT_PACKED_UNIT;
	if (padding > k.room - k.used)
		return 0;
	memset(to + k.used, 0, (size_t)padding);
	k.used += padding;
	e.first_field = (uint32_t)(k.used / EVENT_PACKED_UNIT);
	memcpy(to, &e, sizeof e);
	return k.used;
}

/* ---- unpacking ---- */

/* What lies behind the fields, and its offset in the packed event. */
struct unpacking {
	char *tail;
	uint64_t tail_offset;
	uint64_t lists_end; /* offset; all entries met so far lie before it */
};

static char *
placed(const struct unpacking *u, uintptr_t offset)
{
	return u->tail + (offset - u->tail_offset);
}

static void
place_text(const struct unpacking *u, const char **p, uint32_t flags)
{
	const uintptr_t offset = (uintptr_t)*p;

	if ((flags & SLICE_STAYS) != 0 || offset == 0)
		return;
	*p = offset == EMPTY ? "" : placed(u, offset);
}

static void
place_value(struct unpacking *u, struct value *v)
{
	if (v->type < VALUE_STRING)
		return;
	if (is_text(v)) {
		place_text(u, &v->p, v->flags);
	} else if (entries(v) > 0) {
		v->values = value_at(placed(u, (uintptr_t)v->values));
		u->lists_end += entries(v) * sizeof *v;
	}
}

static bool
unpack(struct batch *out, const char *packed, char *tail, bool with_bytes)
{
	struct event *const e = &out->events[out->n];
	const uint64_t head = head_size(with_bytes);

	memcpy(e, packed, sizeof *e);
	const uint32_t n = e->nfields;
	struct unpacking u = { .tail = tail, .tail_offset = head + n * sizeof(struct field) };
	u.lists_end = u.tail_offset;
	struct field *const fields = n > 0 ? batch_fields(out, n) : NULL;
	if (n > 0 && fields == NULL)
		return false;
	if (n > 0)
		memcpy(fields, packed + head, n * sizeof *fields);
	for (uint32_t i = 0; i < n; i++) {
		place_text(&u, &fields[i].name.p, fields[i].name.flags);
		place_value(&u, &fields[i].value);
	}
	for (uint64_t at = u.tail_offset; at < u.lists_end; at += sizeof(struct value))
		place_value(&u, value_at(placed(&u, at)));
	place_text(&u, &e->name.p, e->name.flags);
	if (out->bytes != NULL) {
		struct slice *const record = &out->bytes[out->n];
		*record = (struct slice){ .p = NULL };
		if (with_bytes)
			memcpy(record, packed + sizeof *e, sizeof *record);
		place_text(&u, &record->p, record->flags);
	}
	e->first_field = out->nfields;
	out->nfields += n;
	out->n++;
	return true;
}

bool
event_unpack_in_place(struct batch *out, char *packed, bool with_bytes)
{
	const uint64_t head = head_size(with_bytes);

	return unpack(out, packed, packed + head + event_packed_head(packed)->nfields * sizeof(struct field),
	              with_bytes);
}

bool
event_unpack_copy(struct batch *out, const char *packed, bool with_bytes)
{
	const uint64_t size = event_packed_size(packed),
	               head =
	                   head_size(with_bytes) + event_packed_head(packed)->nfields * sizeof(struct field);
	char *tail = NULL;

	if (size > head) {
		tail = arena_alloc(&out->scratch, (size_t)(size - head));
		if (tail == NULL)
			return false;
		memcpy(tail, packed + head, (size_t)(size - head));
	}
	return unpack(out, packed, tail, with_bytes);
}
