/* Selections of dial9 records, with the definitions that they refer to. */
#include <stdlib.h>

#include "dial9/write/copy.h"

struct symbol {
	struct slice bytes; /* its frame */
	uint64_t address, ts;
};

struct symbols {
	struct table64 needed; /* addresses of written stacks, in all segments */
	struct arena arena;
	struct symbol *retained; /* of this segment, in file order */
	uint32_t n, cap;
	bool all; /* too many addresses: all symbols are written */
};

/* A definition that an event may refer to: a schema or a pool entry of the current segment. */
struct definition {
	struct slice bytes;       /* of the schema frame, or of the entry; p NULL: not defined yet */
	uint32_t annotations;     /* schemas: the first annotation + 1, or 0 */
	uint32_t last_annotation; /* schemas: the last annotation + 1, or 0 */
	uint32_t nrefer;          /* schemas: fields up to the last that may refer to a pool, or be a stack */
	bool written;
	bool symbol;  /* schemas: events are symbols */
	bool clock;   /* schemas: events state the wall time */
	bool facts;   /* schemas: events are metadata, which all selections have */
	bool timed;   /* schemas: events have a time */
	bool awaited; /* entries: a written event refers to it */
};

struct annotation {
	struct slice entry;
	uint32_t next; /* index in selection.annotations + 1, or 0 */
};

/* The kind of a definition, part of its key. */
enum definition_kind { OF_STRINGS = D9_STRINGS, OF_STACKS = D9_STACKS, OF_SCHEMAS, OF_ANNOTATIONS };

/* Headers, schemas, annotations and pool entries are retained until an event refers to them, and symbols
 * until the end of their segment.  MAX_RETAINED and MAX_SYMBOL_BYTES bound the memory: above them, pool
 * entries, annotations and symbols are written whether an event needs them or not. */
#define RECENT 256U

struct d9w_selection {
	struct arena arena;   /* of this segment */
	struct table64 index; /* kind and number -> definitions[] */
	struct recent {
		uint64_t key;   /* of the index */
		uint32_t found; /* index in definitions + 1; 0: empty */
	} recent[RECENT];       /* definitions found before, by their low bits */
	struct definition *definitions;
	uint32_t ndefinitions, definitions_cap;
	struct annotation *annotations; /* of schemas */
	uint32_t nannotations, annotations_cap;
	uint64_t type_id;    /* of the open annotations frame */
	uint8_t entry_kind;  /* enum definition_kind of the open frame */
	bool any;            /* a header was written */
	bool events;         /* an event was written, other than metadata and symbols */
	bool clock;          /* an event that states the wall time was written */
	bool header_pending; /* the header of this segment is not written yet */
	bool full;           /* MAX_RETAINED is reached: further definitions are written at once */
	struct symbols symbols;
};

/* ---- symbols ---- */

/* Events of two schemas are symbols, as in the built-in vocabulary; their first field is an address.  In the
 * last segment a symbol is written only if a written stack has its address, unless a limit is reached. */

enum { MAX_ADDRESSES = 1 << 20 };

#define MAX_SYMBOL_BYTES (8U << 20) /* of retained symbols */

struct schema {
	struct slice event;
	bool timed;
	uint32_t nfields;
	const char *fields; /* in the frame */
	struct slice first; /* name of the first field; n 0: there is none */
	uint8_t first_type;
};

/* "Schema": tag, type_id, name, has_timestamp, fields. */
static struct schema read_schema(struct slice frame)
{
	struct schema s = { .event = slice_of(frame.p + D9_SCHEMA_NAME,
		                              load_u16(frame.p + D9_SCHEMA_HEAD, false)) };
	const char *const p = s.event.p + s.event.n;

	s.timed = p[0] == 1;
	s.nfields = load_u16(p + 1, false);
	s.fields = p + 3;
	if (s.nfields > 0) {
		s.first = slice_of(p + 5, load_u16(p + 3, false));
		s.first_type = (uint8_t)s.first.p[s.first.n];
	}
	return s;
}

static bool is_of_symbols(const struct schema *s)
{
	return d9_is_integer(s->first_type) && !d9_is_optional(s->first_type) &&
	       ((slice_is(s->event, "SymbolTableEntry") && slice_is(s->first, "addr")) ||
	        (slice_is(s->event, "CallframeDefEvent") && slice_is(s->first, "address")));
}

/* Returns the address of a symbol that the reader checked. */
static uint64_t read_symbol_address(struct slice frame, struct slice event)
{
	const struct schema s = read_schema(frame);
	const char *p = event.p + (s.timed ? D9_TIMED_EVENT_HEAD : D9_EVENT_HEAD);

	return d9_type(s.first_type)->shape == D9_SHAPE_LEB128 ? d9_varint(&p)
	                                                       : d9_load(p, d9_fixed_size(s.first_type));
}

static bool is_needed(const struct symbols *s, uint64_t address)
{
	return s->all || table64_get(&s->needed, address) != TABLE_NONE;
}

/* Copies a symbol for the end of the segment.  Returns false if it must be written now. */
static bool retain_symbol(struct symbols *s, const struct symbol *symbol)
{
	const uint64_t cost = s->arena.used + (uint64_t)s->n * sizeof *s->retained + symbol->bytes.n;

	if (cost > MAX_SYMBOL_BYTES || !array_reserve(&s->retained, s->n, &s->cap, sizeof *s->retained))
		return false;
	struct symbol *const to = &s->retained[s->n];
	*to = *symbol;
	to->bytes = arena_copy(&s->arena, symbol->bytes);
	if (to->bytes.p == NULL)
		return false;
	s->n++;
	return true;
}

/* ---- definitions ---- */

#define MAX_RETAINED (16U << 20) /* bytes of definitions of one segment */
#define KNOWN_COST 128U          /* bytes that a definition is charged besides its content */

static void write_header(struct d9w_copy *copy)
{
	if (!copy->selection->header_pending)
		return;
	struct text *const t = copier_text(copy->copier);
	text_add(t, D9_MAGIC, D9_MAGIC_SIZE);
	text_char(t, D9_VERSION);
	copy->base = 0;
	copy->selection->header_pending = false;
	copy->selection->any = true;
}

/* Marks the symbols of the n addresses of a written stack as needed. */
static void require_symbols(struct d9w_copy *copy, const char *addresses, uint32_t n)
{
	struct symbols *const s = &copy->selection->symbols;

	for (uint32_t i = 0; i < n && !s->all && !copy->copier->chunk->text.failed; i++) {
		s->all = s->needed.used >= MAX_ADDRESSES;
		if (!s->all)
			copy->copier->chunk->text.failed |=
			    !table64_put(&s->needed, load_u64(addresses + (size_t)i * 8, false), 0);
	}
}

static void write_entry(struct d9w_copy *copy, enum definition_kind kind, struct slice entry)
{
	write_header(copy);
	struct text *const t = copier_text(copy->copier);
	text_char(t, kind == OF_STRINGS ? D9_TAG_STRINGS : D9_TAG_STACKS);
	text_uint(t, 1, 4, false);
	text_slice(t, entry);
	if (kind == OF_STACKS)
		require_symbols(copy, entry.p + D9_ENTRY_HEAD, load_u32(entry.p + 4, false));
}

static void write_annotation(struct d9w_copy *copy, uint64_t type_id, struct slice entry)
{
	write_header(copy);
	struct text *const t = copier_text(copy->copier);
	text_char(t, D9_TAG_ANNOTATIONS);
	d9w_varint(t, type_id);
	text_uint(t, 1, 2, false);
	text_slice(t, entry);
}

static struct definition *find_definition(struct d9w_selection *s, enum definition_kind kind, uint32_t number)
{
	const uint64_t key = (uint64_t)kind << 32 | number;
	struct recent *const k = &s->recent[(number ^ (uint32_t)kind << 6) % RECENT];

	if (k->found == 0 || k->key != key) {
		const uint32_t i = table64_get(&s->index, key);
		if (i == TABLE_NONE)
			return NULL;
		*k = (struct recent){ key, i + 1 };
	}
	return &s->definitions[k->found - 1];
}

static struct definition *get_definition(struct d9w_copy *copy, enum definition_kind kind, uint32_t number)
{
	struct d9w_selection *const s = copy->selection;
	struct definition *const k = find_definition(s, kind, number);

	if (k != NULL)
		return k;
	if (note_failure(&copy->copier->chunk->text.failed,
	                 !array_reserve(&s->definitions, s->ndefinitions, &s->definitions_cap,
	                                sizeof *s->definitions) ||
	                     !table64_put(&s->index, (uint64_t)kind << 32 | number, s->ndefinitions)))
		return NULL;
	s->definitions[s->ndefinitions] = (struct definition){ .written = false };
	return &s->definitions[s->ndefinitions++];
}

static bool charge_retained(struct d9w_selection *s, uint32_t bytes)
{
	const uint64_t cost =
	    s->arena.used + bytes + (uint64_t)(s->ndefinitions + s->nannotations) * KNOWN_COST;

	s->full |= cost > MAX_RETAINED;
	return !s->full;
}

static void keep_copy(struct d9w_copy *copy, struct definition *k, struct slice bytes)
{
	k->bytes = arena_copy(&copy->selection->arena, bytes);
	copy->copier->chunk->text.failed |= k->bytes.p == NULL;
	k->written = false;
}

/* Defines a pool entry, and writes it if an earlier event refers to it.  Repeating it has no effect. */
static void define_entry(struct d9w_copy *copy, enum definition_kind kind, struct slice entry)
{
	struct d9w_selection *const s = copy->selection;
	const uint32_t id = load_u32(entry.p, false);
	struct definition *k = find_definition(s, kind, id);

	if (k != NULL && k->bytes.p != NULL && slice_equal(k->bytes, entry))
		return;
	if (!charge_retained(s, entry.n)) {
		write_entry(copy, kind, entry);
		if (k != NULL) {
			k->bytes = (struct slice){ "", 0, 0 };
			k->written = true;
		}
		return;
	}
	k = get_definition(copy, kind, id);
	if (k == NULL)
		return;
	keep_copy(copy, k, entry);
	if (!k->awaited || copy->copier->chunk->text.failed)
		return;
	write_entry(copy, kind, entry);
	k->awaited = false;
	k->written = true;
}

static void require_entry(struct d9w_copy *copy, enum definition_kind kind, uint32_t id)
{
	struct d9w_selection *const s = copy->selection;
	struct definition *const k = s->full ? find_definition(s, kind, id) : get_definition(copy, kind, id);

	if (k == NULL || k->written)
		return;
	if (k->bytes.p == NULL) {
		k->awaited = true;
		return;
	}
	write_entry(copy, kind, k->bytes);
	k->written = true;
}

static bool may_refer(uint8_t type)
{
	const struct d9_type_info *const t = d9_type(type);

	return t->shape == D9_SHAPE_ID || t->tagged || t == &d9_types[D9_STACK];
}

/* Defined with the events, which need definitions. */
static void write_symbols(struct d9w_copy *copy, bool all);

static void define_schema(struct d9w_copy *copy, struct slice frame)
{
	struct d9w_selection *const s = copy->selection;
	struct definition *k = get_definition(copy, OF_SCHEMAS, d9_type_id(frame.p));
	const struct schema schema = read_schema(frame);
	const char *p = schema.fields;

	if (k == NULL || (k->bytes.p != NULL && slice_equal(k->bytes, frame)))
		return;
	if (k->symbol) { /* in a damaged trace: retained symbols have the layout of the schema before */
		write_symbols(copy, true);
		k = find_definition(s, OF_SCHEMAS, d9_type_id(frame.p)); /* it may have moved */
	}
	(void)charge_retained(s, frame.n); /* kept even above the limit: the reader bounds schemas */
	keep_copy(copy, k, frame);
	k->nrefer = 0;
	k->symbol = is_of_symbols(&schema);
	k->clock = schema.nfields > 0 && slice_is(schema.event, "ClockSyncEvent");
	k->facts = schema.nfields > 0 && slice_is(schema.event, "SegmentMetadataEvent");
	k->timed = schema.timed;
	for (uint32_t i = 1; i <= schema.nfields; i++) {
		p += 2 + load_u16(p, false);
		k->nrefer = may_refer((uint8_t)*p++) ? i : k->nrefer;
	}
}

static void require_schema(struct d9w_copy *copy, struct definition *k, uint32_t type_id)
{
	if (k->written)
		return;
	write_header(copy);
	text_slice(copier_text(copy->copier), k->bytes);
	k->written = true;
	for (uint32_t i = k->annotations; i != 0; i = copy->selection->annotations[i - 1].next)
		write_annotation(copy, type_id, copy->selection->annotations[i - 1].entry);
}

static void define_annotation(struct d9w_copy *copy, struct slice entry)
{
	struct d9w_selection *const s = copy->selection;
	struct definition *const k =
	    s->type_id <= UINT16_MAX ? find_definition(s, OF_SCHEMAS, (uint32_t)s->type_id) : NULL;

	if (k == NULL) /* no event has this schema */
		return;
	if (!charge_retained(s, entry.n))
		require_schema(copy, k, (uint32_t)s->type_id);
	if (k->written)
		write_annotation(copy, s->type_id, entry);
	if (s->full)
		return;
	const struct slice kept = arena_copy(&s->arena, entry);
	if (note_failure(&copy->copier->chunk->text.failed,
	                 kept.p == NULL || !array_reserve(&s->annotations, s->nannotations,
	                                                  &s->annotations_cap, sizeof *s->annotations)))
		return;
	s->annotations[s->nannotations++] = (struct annotation){ kept, 0 };
	if (k->annotations == 0)
		k->annotations = s->nannotations;
	else
		s->annotations[k->last_annotation - 1].next = s->nannotations;
	k->last_annotation = s->nannotations;
}

/* Reads an entry; the head of its frame states its kind. */
static void read_entry(struct d9w_copy *copy, struct slice bytes, bool head)
{
	struct d9w_selection *const s = copy->selection;
	const uint8_t tag = (uint8_t)*bytes.p;
	const char *p = bytes.p;

	if (head && tag == D9_TAG_ANNOTATIONS) {
		p++;
		s->type_id = d9_varint(&p);
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
		define_annotation(copy, entry);
	else
		define_entry(copy, (enum definition_kind)s->entry_kind, entry);
}

/* ---- events ---- */

static const char *require_value(struct d9w_copy *copy, uint8_t type, const char *p);

/* Walks over lists and maps; the reader bounds their nesting. */
static const char *require_values(struct d9w_copy *copy, const struct d9_type_info *t, const char *p)
{
	uint64_t n = (uint64_t)load_u32(p, false) * t->each;

	for (p += 4; n > 0; n--)
		if (t->tagged)
			p = require_value(copy, (uint8_t)*p, p + 1);
		else
			p += 4 + (size_t)load_u32(p, false);
	return p;
}

/* Walks over a checked value, writes the pool entries that it refers to, and marks the symbols as needed. */
static const char *require_value(struct d9w_copy *copy, uint8_t type, const char *p)
{
	const struct d9_type_info *const t = d9_type(type);

	if (d9_is_optional(type) && *p++ == 0)
		return p;
	switch ((enum d9_shape)t->shape) {
	case D9_SHAPE_ID:
		require_entry(copy, (enum definition_kind)t->pool, load_u32(p, false));
		return p + 4;
	case D9_SHAPE_LEB128:
		(void)d9_varint(&p);
		return p;
	case D9_SHAPE_TEXT:
	case D9_SHAPE_RUN:
		if (t == &d9_types[D9_STACK])
			require_symbols(copy, p + 4, load_u32(p, false));
		return p + 4 + (size_t)load_u32(p, false) * t->size;
	case D9_SHAPE_VALUES:
		return require_values(copy, t, p);
	default:
		return p + t->size;
	}
}

/* Writes the definitions that an event refers to. */
static void require_definitions(struct d9w_copy *copy, struct definition *k, struct slice bytes)
{
	uint32_t n = k->nrefer;

	require_schema(copy, k, d9_type_id(bytes.p));
	if (n == 0)
		return;
	const char *f = read_schema(k->bytes).fields; /* k moves when an id is added */
	const char *p = bytes.p + (k->timed ? D9_TIMED_EVENT_HEAD : D9_EVENT_HEAD);
	for (; n > 0 && !copy->copier->chunk->text.failed; n--) {
		f += 2 + load_u16(f, false);
		const uint8_t type = (uint8_t)*f++;
		if (type == D9_VARINT)
			(void)d9_varint(&p);
		else
			p = require_value(copy, type, p);
	}
}

/* Writes an event of the batch: its bytes as they are, if its time has the same delta. */
static void select_event(struct d9w_copy *copy, struct definition *k, uint64_t ts, struct slice bytes)
{
	const bool timed = k->timed;
	const uint32_t delta = timed ? load_u32(bytes.p + 2, false) >> 8 : 0;

	require_definitions(copy, k, bytes);
	if (ts < copy->base || ts - copy->base != delta) {
		d9w_copy_event(copy, timed, ts, bytes);
	} else {
		copy->base = ts;
		copier_keep(copy->copier, bytes);
	}
}

static void select_or_retain(struct d9w_copy *copy, const struct event *e, struct slice bytes)
{
	struct symbols *const symbols = &copy->selection->symbols;
	struct definition *const k = find_definition(copy->selection, OF_SCHEMAS, d9_type_id(bytes.p));

	if (k == NULL)
		return; /* the reader passes no such event */
	const uint64_t ts = d9w_output_time(copy, e, D9W_EVENT_RECORD);
	if (k->symbol) {
		const struct symbol symbol = { .bytes = bytes,
			                       .address = read_symbol_address(k->bytes, bytes),
			                       .ts = ts };
		if (!is_needed(symbols, symbol.address) && retain_symbol(symbols, &symbol))
			return;
	}
	copy->selection->events |= !k->symbol && !k->facts;
	copy->selection->clock |= k->clock;
	select_event(copy, k, ts, bytes);
}

/* Writes symbols at the end of a segment, where their schema and texts are defined.  all: also those that no
 * stack needs yet, because a later segment follows. */
static void write_symbols(struct d9w_copy *copy, bool all)
{
	struct symbols *const s = &copy->selection->symbols;

	for (uint32_t i = 0; i < s->n && !copy->copier->chunk->text.failed; i++) {
		const struct symbol *const k = &s->retained[i];
		if (!all && !is_needed(s, k->address))
			continue;
		struct definition *const schema =
		    find_definition(copy->selection, OF_SCHEMAS, d9_type_id(k->bytes.p));
		const bool timed = schema->timed; /* it moves when an id is added */
		require_definitions(copy, schema, k->bytes);
		d9w_copy_event(copy, timed, k->ts, k->bytes);
	}
	arena_free(&s->arena);
	s->n = 0;
}

static void begin_segment(struct d9w_copy *copy)
{
	struct d9w_selection *const s = copy->selection;

	write_symbols(copy, true);
	arena_free(&s->arena);
	table64_free(&s->index);
	memset(s->recent, 0, sizeof s->recent);
	s->ndefinitions = s->nannotations = 0;
	s->full = false;
	s->header_pending = true;
}

void d9w_select_record(struct d9w_copy *copy, const struct batch *b, const struct event *e,
                       struct slice bytes)
{
	const enum d9w_record kind = d9w_record_of(b, e);

	if (copy->copier->run->rebased)
		d9w_follow_time(copy, b, e, kind);
	if (kind == D9W_EVENT_RECORD && (e->flags & EVENT_LEFT_OUT) == 0)
		select_or_retain(copy, e, bytes);
	else if (kind == D9W_HEADER_RECORD)
		begin_segment(copy);
	else if (kind == D9W_SCHEMA_RECORD)
		define_schema(copy, bytes);
	else if (kind == D9W_HEAD_RECORD || kind == D9W_ENTRY_RECORD)
		read_entry(copy, bytes, kind == D9W_HEAD_RECORD);
}

/* Writes the wall time, which is known from events that are not selected. */
static void write_clock(struct d9w_copy *copy)
{
	uint32_t id = UINT16_MAX;

	while (id > 0 && find_definition(copy->selection, OF_SCHEMAS, id) != NULL)
		id--;
	if (id == 0 || !copy->copier->run->trace->epoch_known)
		return;
	write_header(copy);
	d9w_clock_schema(copier_text(copy->copier), id);
	d9w_clock(&copy->base, id, copy->copier->run, copy->copier->chunk);
}

void d9w_select_end(struct d9w_copy *copy)
{
	write_symbols(copy, false);
	if (!copy->selection->any)
		write_header(copy);
	else if (copy->selection->events && !copy->selection->clock)
		write_clock(copy);
}

struct d9w_selection *d9w_selection_new(void)
{
	return calloc(1, sizeof(struct d9w_selection));
}

void d9w_selection_free(struct d9w_selection *s)
{
	if (s == NULL)
		return;
	arena_free(&s->arena);
	table64_free(&s->index);
	free(s->definitions);
	free(s->annotations);
	arena_free(&s->symbols.arena);
	table64_free(&s->symbols.needed);
	free(s->symbols.retained);
	free(s);
}
