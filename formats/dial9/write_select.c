#include "dial9/write_select.h"

#include <stdlib.h>

#include "dial9/write.h"

/*
 * Records of a dial9 trace that were selected, as they are.  Headers, schemas,
 * annotations and entries of pools are retained until an event refers to them,
 * symbols until the end of their segment, in the last one only those whose
 * address a stack has; times are counted from the event that was written before.
 */

#define MOST_RETAINED                                                                                        \
	(16U << 20) /* bytes of one segment; more is written whether an event refers to it or not */
#define KNOWN_COST 128U

/* What a definition is of: part of its key. */
enum d9w_kind { OF_STRINGS = D9_STRINGS, OF_STACKS = D9_STACKS, OF_SCHEMAS, OF_ANNOTATIONS };

void
d9w_select_free(struct d9w_select *s)
{
	arena_free(&s->arena);
	table64_free(&s->index);
	free(s->known);
	free(s->notes);
	d9w_symbols_free(&s->symbols);
}

/* ---- what is written ---- */

static void
put_header(struct d9w_state *st, struct chunk *chunk)
{
	if (!st->select.header_pending)
		return;
	text_add(&chunk->text, D9_MAGIC, D9_MAGIC_SIZE);
	text_char(&chunk->text, D9_VERSION);
	st->base = 0;
	st->select.header_pending = false;
	st->select.any = true;
}

static void
need_symbols(struct d9w_state *st, const char *addresses, uint32_t n, struct chunk *chunk)
{
	chunk->text.failed |= !d9w_symbols_need(&st->select.symbols, addresses, n);
}

static void
put_entry(struct d9w_state *st, enum d9w_kind kind, struct slice entry, struct chunk *chunk)
{
	put_header(st, chunk);
	text_char(&chunk->text, kind == OF_STRINGS ? D9_TAG_STRINGS : D9_TAG_STACKS);
	d9w_number(&chunk->text, 1, 4);
	text_slice(&chunk->text, entry);
	if (kind == OF_STACKS)
		need_symbols(st, entry.p + D9_ENTRY_HEAD, load_u32(entry.p + 4, false), chunk);
}

static void
put_note(struct d9w_state *st, uint64_t type_id, struct slice entry, struct chunk *chunk)
{
	put_header(st, chunk);
	text_char(&chunk->text, D9_TAG_ANNOTATIONS);
	d9w_varint(&chunk->text, type_id);
	d9w_number(&chunk->text, 1, 2);
	text_slice(&chunk->text, entry);
}

/* ---- definitions ---- */

static struct d9w_known *
find(const struct d9w_select *s, enum d9w_kind kind, uint32_t number)
{
	const uint32_t i = table64_get(&s->index, (uint64_t)kind << 32 | number);

	return i != TABLE_NONE ? &s->known[i] : NULL;
}

/* The same; it is made if need be.  NULL: no memory. */
static struct d9w_known *
known_of(struct d9w_select *s, enum d9w_kind kind, uint32_t number, struct chunk *chunk)
{
	struct d9w_known *const k = find(s, kind, number);

	if (k != NULL)
		return k;
	if (!array_room(&s->known, s->nknown, &s->known_cap, sizeof *s->known) ||
	    !table64_put(&s->index, (uint64_t)kind << 32 | number, s->nknown)) {
		chunk->text.failed = true;
		return NULL;
	}
	s->known[s->nknown] = (struct d9w_known){ .written = false };
	return &s->known[s->nknown++];
}

static bool
has_room(struct d9w_select *s, uint32_t bytes)
{
	const uint64_t cost = s->arena.used + bytes + (uint64_t)(s->nknown + s->nnotes) * KNOWN_COST;

	s->full |= cost > MOST_RETAINED;
	return !s->full;
}

static void
keep(struct d9w_select *s, struct d9w_known *k, struct slice bytes, struct chunk *chunk)
{
	k->bytes = arena_copy(&s->arena, bytes);
	chunk->text.failed |= k->bytes.p == NULL;
	k->written = false;
}

/* An entry of a pool: written if an event before refers to it; the same one again changes nothing. */
static void
define_entry(struct d9w_state *st, enum d9w_kind kind, struct slice entry, struct chunk *chunk)
{
	struct d9w_select *const s = &st->select;
	const uint32_t id = load_u32(entry.p, false);
	struct d9w_known *k = find(s, kind, id);

	if (k != NULL && k->bytes.p != NULL && slice_equal(k->bytes, entry))
		return;
	if (!has_room(s, entry.n)) {
		put_entry(st, kind, entry, chunk);
		if (k != NULL) {
			k->bytes = (struct slice){ "", 0, 0 };
			k->written = true;
		}
		return;
	}
	k = known_of(s, kind, id, chunk);
	if (k == NULL)
		return;
	keep(s, k, entry, chunk);
	if (!k->awaited || chunk->text.failed)
		return;
	put_entry(st, kind, entry, chunk);
	k->awaited = false;
	k->written = true;
}

static void
need_entry(struct d9w_state *st, enum d9w_kind kind, uint32_t id, struct chunk *chunk)
{
	struct d9w_select *const s = &st->select;
	struct d9w_known *const k = s->full ? find(s, kind, id) : known_of(s, kind, id, chunk);

	if (k == NULL || k->written)
		return;
	if (k->bytes.p == NULL) {
		k->awaited = true;
		return;
	}
	put_entry(st, kind, k->bytes, chunk);
	k->written = true;
}

/* ---- schemas and their annotations ---- */

static bool
may_refer(uint8_t type)
{
	const struct d9_type_info *const t = d9_type(type);

	return t->shape == D9_SHAPE_ID || t->tagged || t == &d9_types[D9_STACK];
}

/* The fields of a schema frame. */
static const char *
fields_of(struct slice frame, uint32_t *n)
{
	const char *const p = frame.p + 5 + load_u16(frame.p + 3, false);

	*n = load_u16(p + 1, false);
	return p + 3;
}

static void
define_schema(struct d9w_state *st, struct slice frame, struct chunk *chunk)
{
	struct d9w_select *const s = &st->select;
	struct d9w_known *const k = known_of(s, OF_SCHEMAS, load_u16(frame.p + 1, false), chunk);
	uint32_t n;

	if (k == NULL || (k->bytes.p != NULL && slice_equal(k->bytes, frame)))
		return;
	(void)has_room(s, frame.n); /* schemas are few: the reader bounds them */
	keep(s, k, frame, chunk);
	k->refers = false;
	k->symbol = d9w_is_symbol(frame);
	const char *p = fields_of(frame, &n);
	k->timed = p[-3] == 1;
	for (; n > 0; n--) {
		p += 2 + load_u16(p, false);
		k->refers |= may_refer((uint8_t)*p++);
	}
}

static void
need_schema(struct d9w_state *st, struct d9w_known *k, uint32_t type_id, struct chunk *chunk)
{
	if (k->written)
		return;
	put_header(st, chunk);
	text_slice(&chunk->text, k->bytes);
	k->written = true;
	for (uint32_t i = k->notes; i != 0; i = st->select.notes[i - 1].next)
		put_note(st, type_id, st->select.notes[i - 1].entry, chunk);
}

static void
annotate(struct d9w_state *st, struct slice entry, struct chunk *chunk)
{
	struct d9w_select *const s = &st->select;
	struct d9w_known *const k =
	    s->type_id <= UINT16_MAX ? find(s, OF_SCHEMAS, (uint32_t)s->type_id) : NULL;

	if (k == NULL) /* of no schema: nothing refers to it */
		return;
	if (!has_room(s, entry.n))
		need_schema(st, k, (uint32_t)s->type_id, chunk);
	if (k->written)
		put_note(st, s->type_id, entry, chunk);
	const struct slice copy = s->full ? entry : arena_copy(&s->arena, entry);
	if (s->full)
		return;
	if (copy.p == NULL || !array_room(&s->notes, s->nnotes, &s->notes_cap, sizeof *s->notes)) {
		chunk->text.failed = true;
		return;
	}
	s->notes[s->nnotes] = (struct d9w_note){ copy, 0 };
	s->nnotes++;
	if (k->notes == 0)
		k->notes = s->nnotes;
	else
		s->notes[k->last_note - 1].next = s->nnotes;
	k->last_note = s->nnotes;
}

/* ---- events ---- */

static const char *walk(struct d9w_state *st, uint8_t type, const char *p, struct chunk *chunk);

/* Lists and maps; the reader bounds how deep they are nested. */
static const char *
walk_values(struct d9w_state *st, const struct d9_type_info *t, const char *p, struct chunk *chunk)
{
	uint64_t n = (uint64_t)load_u32(p, false) * t->each;

	for (p += 4; n > 0; n--)
		if (t->tagged)
			p = walk(st, (uint8_t)*p, p + 1, chunk);
		else
			p += 4 + (size_t)load_u32(p, false);
	return p;
}

/* Over a value that the reader checked; what it refers to is needed. */
static const char *
walk(struct d9w_state *st, uint8_t type, const char *p, struct chunk *chunk)
{
	const struct d9_type_info *const t = d9_type(type);

	if (d9_is_optional(type) && *p++ == 0)
		return p;
	switch ((enum d9_shape)t->shape) {
	case D9_SHAPE_ID:
		need_entry(st, (enum d9w_kind)t->pool, load_u32(p, false), chunk);
		return p + 4;
	case D9_SHAPE_LEB128:
		while ((*p++ & 0x80) != 0)
			;
		return p;
	case D9_SHAPE_TEXT:
	case D9_SHAPE_RUN:
		if (t == &d9_types[D9_STACK])
			need_symbols(st, p + 4, load_u32(p, false), chunk);
		return p + 4 + (size_t)load_u32(p, false) * t->size;
	case D9_SHAPE_VALUES:
		return walk_values(st, t, p, chunk);
	default:
		return p + t->size;
	}
}

/* With what it refers to. */
static void
put_event(struct d9w_state *st, bool timed, uint64_t ts, struct slice bytes, struct chunk *chunk)
{
	const uint32_t type_id = load_u16(bytes.p + 1, false);
	struct d9w_known *const k = find(&st->select, OF_SCHEMAS, type_id);
	uint32_t n;

	put_header(st, chunk);
	need_schema(st, k, type_id, chunk);
	if (k->refers) {
		const struct slice schema = k->bytes; /* k moves when an id is new */
		const char *f = fields_of(schema, &n);
		const char *p = bytes.p + (timed ? D9_TIMED_EVENT_HEAD : D9_EVENT_HEAD);
		for (; n > 0 && !chunk->text.failed; n--) {
			f += 2 + load_u16(f, false);
			p = walk(st, (uint8_t)*f++, p, chunk);
		}
	}
	d9w_raw_event(st, timed, ts, bytes, chunk);
}

static void
take_event(struct d9w_state *st, const struct event *e, struct slice bytes, struct chunk *chunk)
{
	struct d9w_symbols *const symbols = &st->select.symbols;
	const struct d9w_known *const k = find(&st->select, OF_SCHEMAS, load_u16(bytes.p + 1, false));

	if (k == NULL)
		return; /* the reader reads no such event */
	struct d9w_symbol symbol = { .bytes = bytes, .timed = k->timed };
	symbol.ts = d9w_raw_time(st, e, D9W_EVENT, chunk);
	if (k->symbol) {
		symbol.address = d9w_symbol_address(k->bytes, bytes);
		if (!d9w_symbols_needed(symbols, symbol.address) && d9w_symbols_retain(symbols, &symbol))
			return;
	}
	put_event(st, symbol.timed, symbol.ts, bytes, chunk);
}

/* What another segment may have stacks of is written where its schema and texts are defined. */
static void
put_symbols(struct d9w_state *st, bool all, struct chunk *chunk)
{
	struct d9w_symbols *const s = &st->select.symbols;

	for (uint32_t i = 0; i < s->n && !chunk->text.failed; i++) {
		const struct d9w_symbol *const k = &s->retained[i];
		if (all || d9w_symbols_needed(s, k->address))
			put_event(st, k->timed, k->ts, k->bytes, chunk);
	}
	d9w_symbols_forget(s);
}

/* ---- all records ---- */

static void
begin_segment(struct d9w_state *st, struct chunk *chunk)
{
	struct d9w_select *const s = &st->select;

	put_symbols(st, true, chunk);
	arena_free(&s->arena);
	table64_free(&s->index);
	s->nknown = s->nnotes = 0;
	s->full = false;
	s->header_pending = true;
}

/* The bytes of an entry; the head of its frame says what it is. */
static void
take_entry(struct d9w_state *st, struct slice bytes, bool head, struct chunk *chunk)
{
	struct d9w_select *const s = &st->select;
	const uint8_t tag = (uint8_t)*bytes.p;
	const char *p = bytes.p;

	if (head && tag == D9_TAG_ANNOTATIONS) {
		s->type_id = 0;
		p++;
		for (unsigned shift = 0; shift < 70; shift += 7) {
			s->type_id |= shift < 64 ? (uint64_t)(*p & 0x7f) << shift : 0;
			if ((*p++ & 0x80) == 0)
				break;
		}
		p += 2;
	} else if (head) {
		p += D9_POOL_HEAD;
	}
	if (head)
		s->entry_kind = tag == D9_TAG_STRINGS  ? OF_STRINGS
		                : tag == D9_TAG_STACKS ? OF_STACKS
		                                       : OF_ANNOTATIONS;
	const struct slice entry = slice_of(p, (size_t)(bytes.p + bytes.n - p));
	if (entry.n == 0)
		return; /* a frame without entries */
	if (s->entry_kind == OF_ANNOTATIONS)
		annotate(st, entry, chunk);
	else
		define_entry(st, (enum d9w_kind)s->entry_kind, entry, chunk);
}

void
d9w_select(struct d9w_state *st, const struct batch *b, struct chunk *chunk)
{
	for (uint32_t i = 0; i < b->n && !chunk->text.failed; i++) {
		const struct event *const e = &b->events[i];
		const enum d9w_record kind = d9w_record_of(b, e);
		if (st->rebased)
			d9w_raw_follow(st, b, e, kind);
		if (kind == D9W_EVENT && (e->flags & EVENT_LEFT_OUT) == 0)
			take_event(st, e, b->bytes[i], chunk);
		else if (kind == D9W_HEADER)
			begin_segment(st, chunk);
		else if (kind == D9W_SCHEMA)
			define_schema(st, b->bytes[i], chunk);
		else if (kind == D9W_HEAD || kind == D9W_ENTRY)
			take_entry(st, b->bytes[i], kind == D9W_HEAD, chunk);
	}
}

void
d9w_select_end(struct d9w_state *st, struct chunk *chunk)
{
	put_symbols(st, false, chunk);
	if (!st->select.any)
		put_header(st, chunk);
}
