/*
 * The copier: all records of dial9 traces, or a selection with the definitions that it refers to.
 *
 * Adjacent records are copied as one run of bytes.  Traces can be joined end to end, because a header begins
 * a segment.  From a damaged trace the reader gives only complete records: a frame may lack entries, and a
 * time base may be missing.
 */
#include <stdlib.h>

#include "dial9/write/write.h"

/* ---- the state ---- */

struct symbol {
	struct slice bytes; /* its frame */
	uint64_t address, ts;
	bool timed;
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

struct selection {
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
	bool header_pending; /* the header of this segment is not written yet */
	bool full;           /* MAX_RETAINED is reached: further definitions are written at once */
	struct symbols symbols;
};

struct d9w_copy {
	struct copier *copier;
	enum d9_dialect to;  /* dialect of the output */
	uint64_t base;       /* timestamp_base_ns of the output */
	uint64_t input_base; /* timestamp_base_ns of the input; only if times are rebased */
	/* of a copy of all records */
	bool any;         /* output is not empty */
	bool skipping;    /* records of this input are left out */
	uint64_t next;    /* offset after the last record of this input */
	uint64_t left;    /* missing entries of the last written frame */
	struct text last; /* an entry of that frame */
	struct selection selection;
};

/* ---- records ---- */

/* Kind of the record of a raw event. */
enum record_kind {
	RECORD_HEADER,
	RECORD_SCHEMA,
	RECORD_HEAD,  /* of a pool or annotations, with the first entry if there is one */
	RECORD_ENTRY, /* a later entry */
	RECORD_RESET,
	RECORD_EVENT,
	RECORD_RUN, /* events and resets: COPIER_RUNS */
};

static enum record_kind record_of(const struct batch *b, const struct event *e)
{
	const struct field *const f = b->fields + e->first_field;

	if (e->phase != PHASE_STRUCTURE)
		return RECORD_EVENT;
	if (e->nfields == 0)
		return RECORD_RUN;
	if (slice_is(f[0].name, "version"))
		return RECORD_HEADER;
	if (slice_is(f[0].name, "timestamp_ns"))
		return RECORD_RESET;
	if (slice_is(f[0].name, "type_id") && slice_is(f[1].name, "name"))
		return RECORD_SCHEMA;
	return slice_is(f[0].name, "count") || slice_is(f[0].name, "type_id") ? RECORD_HEAD : RECORD_ENTRY;
}

/* Returns the number of entries that the head of a pool or of annotations states. */
static uint64_t count_of(const struct batch *b, const struct event *e)
{
	const struct field *const f = b->fields + e->first_field;

	return slice_is(f[0].name, "count") ? f[0].value.u64 : f[1].value.u64;
}

/* Returns the bytes of a head before its first entry. */
static uint32_t head_size(struct slice bytes)
{
	uint32_t n = 1;

	if (bytes.p[0] != D9_TAG_ANNOTATIONS)
		return D9_POOL_HEAD;
	while ((bytes.p[n] & 0x80) != 0)
		n++;
	return n + 1 + 2;
}

static bool is_timed(const struct batch *b, const struct event *e)
{
	return e->nfields > 1 && slice_is(b->fields[e->first_field + 1].name, "timestamp_delta_ns");
}

/* Updates the time base of the input by a record.  Needed for each record if times are moved. */
static void follow_time(struct d9w_copy *copy, const struct batch *b, const struct event *e,
                        enum record_kind kind)
{
	const struct field *const f = b->fields + e->first_field;
	uint64_t *const base = &copy->input_base;

	if (kind == RECORD_HEADER)
		*base = 0;
	else if (kind == RECORD_RESET)
		*base = f[0].value.u64;
	else if (kind == RECORD_EVENT && is_timed(b, e))
		*base = f[1].value.u64 > UINT64_MAX - *base ? UINT64_MAX : *base + f[1].value.u64;
}

/* Returns the time of a record in the output: that of the event unless --rebase made it negative. */
static uint64_t output_time(const struct d9w_copy *copy, const struct event *e, enum record_kind kind,
                            struct chunk *chunk)
{
	if (!copy->copier->run->rebased || e->ts <= copy->input_base)
		return e->ts;
	/* If the first time is known, only symbols are earlier: they are structure at time 0. */
	if (copy->copier->run->signed_time && kind == RECORD_EVENT)
		d9w_lose(chunk, D9W_NEGATIVE_TIME, e->offset);
	return 0;
}

/* Writes an event frame, with another delta if the record before it is left out. */
static void write_event(struct d9w_copy *copy, bool timed, uint64_t ts, struct slice bytes,
                        struct chunk *chunk)
{
	struct text *const t = copier_text(copy->copier);
	if (!timed) {
		if (ts != copy->base)
			d9w_reset(&copy->base, ts, chunk);
		text_slice(t, bytes);
		return;
	}
	const uint32_t delta = d9w_delta(&copy->base, ts, chunk);
	text_add(t, bytes.p, D9_EVENT_HEAD);
	text_uint(t, delta, 3, false);
	text_add(t, bytes.p + D9_TIMED_EVENT_HEAD, bytes.n - D9_TIMED_EVENT_HEAD);
}

/* ---- copies of all records ---- */

/* Counts a loss if the record has features that the dialect of the output lacks. */
static void count_newer(const struct d9w_copy *copy, const struct batch *b, const struct event *e,
                        struct slice bytes, enum record_kind kind, struct chunk *chunk)
{
	bool newer = false;

	if (kind == RECORD_HEADER) {
		newer = copy->any;
	} else if (kind == RECORD_HEAD) {
		newer =
		    bytes.p[0] == D9_TAG_ANNOTATIONS || (bytes.p[0] == D9_TAG_STACKS && copy->to < D9_0_3_6);
	} else if (kind == RECORD_SCHEMA) {
		const struct value *const fields = &b->fields[e->first_field + 3].value;
		for (uint32_t i = 0; i < fields->count; i++) {
			const struct d9_type_info *const type =
			    d9_type((uint8_t)fields->values[2 * i + 1].u64);
			newer |= type->newer != NULL && type->since > copy->to;
		}
	}
	if (newer)
		d9w_lose(chunk, D9W_NEWER, e->offset);
}

/* Replaces missing entries, which were too long for the reader, by copies of the last one: a repeated
 * definition changes nothing. */
static void fill_frame(struct d9w_copy *copy, struct chunk *chunk)
{
	for (; copy->left > 0 && !chunk->text.failed; copy->left--)
		text_add(&chunk->text, copy->last.p, copy->last.n);
}

/* Updates the state of the frame to which entries belong. */
static void follow_frame(struct d9w_copy *copy, const struct batch *b, const struct event *e,
                         enum record_kind kind, struct chunk *chunk)
{
	if (kind == RECORD_ENTRY && copy->left == 0) { /* its first entry was too long */
		const bool strings = slice_is(b->fields[e->first_field + 1].name, "data");
		text_char(&chunk->text, strings ? D9_TAG_STRINGS : D9_TAG_STACKS);
		text_uint(&chunk->text, 1, 4, false);
	} else if (kind == RECORD_ENTRY) {
		copy->left--;
	} else {
		fill_frame(copy, chunk);
	}
	if (kind == RECORD_HEAD && count_of(b, e) > 0)
		copy->left = count_of(b, e) - 1;
}

/* Writes a record with its time moved by --rebase. */
static void write_moved(struct d9w_copy *copy, const struct batch *b, const struct event *e,
                        struct slice bytes, enum record_kind kind, struct chunk *chunk)
{
	follow_time(copy, b, e, kind);
	switch (kind) {
	case RECORD_EVENT:
		write_event(copy, is_timed(b, e), output_time(copy, e, kind, chunk), bytes, chunk);
		break;
	case RECORD_RESET:
		d9w_reset(&copy->base, output_time(copy, e, kind, chunk), chunk);
		break;
	case RECORD_HEADER:
		copy->base = 0;
		text_slice(&chunk->text, bytes);
		break;
	default:
		text_slice(&chunk->text, bytes);
		break;
	}
}

static void copy_unselected(struct copier *c, const struct batch *b, const struct event *e,
                            struct slice bytes)
{
	struct d9w_copy *const copy = c->state;
	const enum record_kind kind = record_of(b, e);

	if (copy->skipping) {
		ledger_add(&c->chunk->ledger, &d9w_losses[D9W_AFTER_CUT], e->offset,
		           kind == RECORD_RUN ? e->ts : 1);
		return;
	}
	if (copy->to < D9_0_4)
		count_newer(copy, b, e, bytes, kind, c->chunk);
	if ((kind == RECORD_ENTRY) != (copy->left > 0))
		(void)copier_text(c);
	follow_frame(copy, b, e, kind, c->chunk);
	if (copy->next != e->offset && kind != RECORD_ENTRY && !copy->copier->run->rebased) {
		(void)copier_text(c); /* a dropped event moved the time base */
		const bool timed = kind == RECORD_EVENT && is_timed(b, e);
		d9w_reset(&copy->base, timed ? e->ts - b->fields[e->first_field + 1].value.u64 : e->ts,
		          c->chunk);
	}
	copy->any = true;
	copy->next = e->offset + bytes.n;
	if (copy->copier->run->rebased)
		write_moved(copy, b, e, bytes, kind, c->chunk);
	else
		copier_keep(c, bytes);
	if (copy->left > 0) { /* the next batch continues the frame */
		const uint32_t head = kind == RECORD_HEAD ? head_size(bytes) : 0;
		text_clear(&copy->last);
		text_add(&copy->last, bytes.p + head, bytes.n - head);
		c->chunk->text.failed |= copy->last.failed;
	}
}

static bool copy_passed(struct copier *c, const struct event *e, struct slice bytes)
{
	struct d9w_copy *const copy = c->state;

	if (copy->skipping)
		return false;
	copy->any = true;
	copy->next = e->offset + bytes.n;
	copy->left = e->ts; /* entries left in its frame */
	text_clear(&copy->last);
	return true;
}

/* ---- symbols of a selection ---- */

/* Events of two schemas are symbols, as in the built-in vocabulary; their first field is an address.  In the
 * last segment a symbol is written only if a written stack has its address, unless a limit is reached. */

enum { MAX_ADDRESSES = 1 << 20 };

#define MAX_SYMBOL_BYTES (8U << 20) /* of retained symbols */

struct first_field {
	struct slice event, name; /* of the schema; of the field */
	bool timed;
	uint8_t type;
};

/* "Schema": tag, type_id, name, has_timestamp, fields. */
static bool first_field(struct slice schema, struct first_field *f)
{
	const char *p = schema.p + D9_SCHEMA_HEAD;

	f->event = slice_of(p + 2, load_u16(p, false));
	p = f->event.p + f->event.n;
	f->timed = p[0] == 1;
	if (load_u16(p + 1, false) == 0)
		return false;
	f->name = slice_of(p + 5, load_u16(p + 3, false));
	f->type = (uint8_t)f->name.p[f->name.n];
	return true;
}

static bool is_symbol_schema(struct slice schema)
{
	struct first_field f = { .type = 0 };

	if (!first_field(schema, &f) || !d9_is_integer(f.type) || d9_is_optional(f.type))
		return false;
	return (slice_is(f.event, "SymbolTableEntry") && slice_is(f.name, "addr")) ||
	       (slice_is(f.event, "CallframeDefEvent") && slice_is(f.name, "address"));
}

/* Returns the address of a symbol that the reader checked. */
static uint64_t read_symbol_address(struct slice schema, struct slice event)
{
	struct first_field f = { .type = 0 };

	(void)first_field(schema, &f);
	const char *p = event.p + (f.timed ? D9_TIMED_EVENT_HEAD : D9_EVENT_HEAD);
	uint64_t v = 0;

	if (d9_type(f.type)->shape == D9_SHAPE_LEB128)
		return d9_varint(&p);
	for (unsigned i = d9_fixed_size(f.type); i > 0; i--)
		v = v << 8 | (unsigned char)p[i - 1];
	return v;
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

/* ---- definitions of a selection ---- */

#define MAX_RETAINED (16U << 20) /* bytes of definitions of one segment */
#define KNOWN_COST 128U          /* bytes that a definition is charged besides its content */

static void write_header(struct d9w_copy *copy, struct chunk *chunk)
{
	if (!copy->selection.header_pending)
		return;
	struct text *const t = copier_text(copy->copier);
	text_add(t, D9_MAGIC, D9_MAGIC_SIZE);
	text_char(t, D9_VERSION);
	copy->base = 0;
	copy->selection.header_pending = false;
	copy->selection.any = true;
}

/* Marks the symbols of the n addresses of a written stack as needed. */
static void require_symbols(struct d9w_copy *copy, const char *addresses, uint32_t n, struct chunk *chunk)
{
	struct symbols *const s = &copy->selection.symbols;

	for (uint32_t i = 0; i < n && !s->all && !chunk->text.failed; i++) {
		s->all = s->needed.used >= MAX_ADDRESSES;
		if (!s->all)
			chunk->text.failed |=
			    !table64_put(&s->needed, load_u64(addresses + (size_t)i * 8, false), 0);
	}
}

static void write_entry(struct d9w_copy *copy, enum definition_kind kind, struct slice entry,
                        struct chunk *chunk)
{
	write_header(copy, chunk);
	struct text *const t = copier_text(copy->copier);
	text_char(t, kind == OF_STRINGS ? D9_TAG_STRINGS : D9_TAG_STACKS);
	text_uint(t, 1, 4, false);
	text_slice(t, entry);
	if (kind == OF_STACKS)
		require_symbols(copy, entry.p + D9_ENTRY_HEAD, load_u32(entry.p + 4, false), chunk);
}

static void write_annotation(struct d9w_copy *copy, uint64_t type_id, struct slice entry, struct chunk *chunk)
{
	write_header(copy, chunk);
	struct text *const t = copier_text(copy->copier);
	text_char(t, D9_TAG_ANNOTATIONS);
	d9w_varint(t, type_id);
	text_uint(t, 1, 2, false);
	text_slice(t, entry);
}

static struct definition *find_definition(struct selection *s, enum definition_kind kind, uint32_t number)
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

static struct definition *get_definition(struct selection *s, enum definition_kind kind, uint32_t number,
                                         struct chunk *chunk)
{
	struct definition *const k = find_definition(s, kind, number);

	if (k != NULL)
		return k;
	if (!array_reserve(&s->definitions, s->ndefinitions, &s->definitions_cap, sizeof *s->definitions) ||
	    !table64_put(&s->index, (uint64_t)kind << 32 | number, s->ndefinitions)) {
		chunk->text.failed = true;
		return NULL;
	}
	s->definitions[s->ndefinitions] = (struct definition){ .written = false };
	return &s->definitions[s->ndefinitions++];
}

static bool charge_retained(struct selection *s, uint32_t bytes)
{
	const uint64_t cost =
	    s->arena.used + bytes + (uint64_t)(s->ndefinitions + s->nannotations) * KNOWN_COST;

	s->full |= cost > MAX_RETAINED;
	return !s->full;
}

static void keep_copy(struct selection *s, struct definition *k, struct slice bytes, struct chunk *chunk)
{
	k->bytes = arena_copy(&s->arena, bytes);
	chunk->text.failed |= k->bytes.p == NULL;
	k->written = false;
}

/* Defines a pool entry, and writes it if an earlier event refers to it.  Repeating it has no effect. */
static void define_entry(struct d9w_copy *copy, enum definition_kind kind, struct slice entry,
                         struct chunk *chunk)
{
	struct selection *const s = &copy->selection;
	const uint32_t id = load_u32(entry.p, false);
	struct definition *k = find_definition(s, kind, id);

	if (k != NULL && k->bytes.p != NULL && slice_equal(k->bytes, entry))
		return;
	if (!charge_retained(s, entry.n)) {
		write_entry(copy, kind, entry, chunk);
		if (k != NULL) {
			k->bytes = (struct slice){ "", 0, 0 };
			k->written = true;
		}
		return;
	}
	k = get_definition(s, kind, id, chunk);
	if (k == NULL)
		return;
	keep_copy(s, k, entry, chunk);
	if (!k->awaited || chunk->text.failed)
		return;
	write_entry(copy, kind, entry, chunk);
	k->awaited = false;
	k->written = true;
}

static void require_entry(struct d9w_copy *copy, enum definition_kind kind, uint32_t id, struct chunk *chunk)
{
	struct selection *const s = &copy->selection;
	struct definition *const k =
	    s->full ? find_definition(s, kind, id) : get_definition(s, kind, id, chunk);

	if (k == NULL || k->written)
		return;
	if (k->bytes.p == NULL) {
		k->awaited = true;
		return;
	}
	write_entry(copy, kind, k->bytes, chunk);
	k->written = true;
}

static bool may_refer(uint8_t type)
{
	const struct d9_type_info *const t = d9_type(type);

	return t->shape == D9_SHAPE_ID || t->tagged || t == &d9_types[D9_STACK];
}

/* Returns the fields of a schema frame, which follow its has_timestamp and field_count; *n: their number. */
static const char *schema_fields(struct slice frame, uint32_t *n)
{
	const char *const p = frame.p + D9_SCHEMA_NAME + load_u16(frame.p + D9_SCHEMA_HEAD, false);

	*n = load_u16(p + 1, false);
	return p + 3;
}

/* Defined with the events, which need definitions. */
static void write_symbols(struct d9w_copy *copy, bool all, struct chunk *chunk);

static void define_schema(struct d9w_copy *copy, struct slice frame, struct chunk *chunk)
{
	struct selection *const s = &copy->selection;
	struct definition *k = get_definition(s, OF_SCHEMAS, d9_type_id(frame.p), chunk);
	uint32_t n;

	if (k == NULL || (k->bytes.p != NULL && slice_equal(k->bytes, frame)))
		return;
	if (k->symbol) { /* in a damaged trace: retained symbols have the layout of the schema before */
		write_symbols(copy, true, chunk);
		k = find_definition(s, OF_SCHEMAS, d9_type_id(frame.p)); /* it may have moved */
	}
	(void)charge_retained(s, frame.n); /* kept even above the limit: the reader bounds schemas */
	keep_copy(s, k, frame, chunk);
	k->nrefer = 0;
	k->symbol = is_symbol_schema(frame);
	const char *p = schema_fields(frame, &n);
	k->timed = p[-3] == 1;
	for (uint32_t i = 1; i <= n; i++) {
		p += 2 + load_u16(p, false);
		k->nrefer = may_refer((uint8_t)*p++) ? i : k->nrefer;
	}
}

static void require_schema(struct d9w_copy *copy, struct definition *k, uint32_t type_id, struct chunk *chunk)
{
	if (k->written)
		return;
	write_header(copy, chunk);
	struct text *const t = copier_text(copy->copier);
	text_slice(t, k->bytes);
	k->written = true;
	for (uint32_t i = k->annotations; i != 0; i = copy->selection.annotations[i - 1].next)
		write_annotation(copy, type_id, copy->selection.annotations[i - 1].entry, chunk);
}

static void define_annotation(struct d9w_copy *copy, struct slice entry, struct chunk *chunk)
{
	struct selection *const s = &copy->selection;
	struct definition *const k =
	    s->type_id <= UINT16_MAX ? find_definition(s, OF_SCHEMAS, (uint32_t)s->type_id) : NULL;

	if (k == NULL) /* no event has this schema */
		return;
	if (!charge_retained(s, entry.n))
		require_schema(copy, k, (uint32_t)s->type_id, chunk);
	if (k->written)
		write_annotation(copy, s->type_id, entry, chunk);
	if (s->full)
		return;
	const struct slice kept = arena_copy(&s->arena, entry);
	if (kept.p == NULL ||
	    !array_reserve(&s->annotations, s->nannotations, &s->annotations_cap, sizeof *s->annotations)) {
		chunk->text.failed = true;
		return;
	}
	s->annotations[s->nannotations] = (struct annotation){ kept, 0 };
	s->nannotations++;
	if (k->annotations == 0)
		k->annotations = s->nannotations;
	else
		s->annotations[k->last_annotation - 1].next = s->nannotations;
	k->last_annotation = s->nannotations;
}

/* Reads an entry; the head of its frame states its kind. */
static void read_entry(struct d9w_copy *copy, struct slice bytes, bool head, struct chunk *chunk)
{
	struct selection *const s = &copy->selection;
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
		define_annotation(copy, entry, chunk);
	else
		define_entry(copy, (enum definition_kind)s->entry_kind, entry, chunk);
}

/* ---- events of a selection ---- */

static const char *require_value(struct d9w_copy *copy, uint8_t type, const char *p, struct chunk *chunk);

/* Walks over lists and maps; the reader bounds their nesting. */
static const char *require_values(struct d9w_copy *copy, const struct d9_type_info *t, const char *p,
                                  struct chunk *chunk)
{
	uint64_t n = (uint64_t)load_u32(p, false) * t->each;

	for (p += 4; n > 0; n--)
		if (t->tagged)
			p = require_value(copy, (uint8_t)*p, p + 1, chunk);
		else
			p += 4 + (size_t)load_u32(p, false);
	return p;
}

/* Walks over a checked value, writes the pool entries that it refers to, and marks the symbols as needed. */
static const char *require_value(struct d9w_copy *copy, uint8_t type, const char *p, struct chunk *chunk)
{
	const struct d9_type_info *const t = d9_type(type);

	if (d9_is_optional(type) && *p++ == 0)
		return p;
	switch ((enum d9_shape)t->shape) {
	case D9_SHAPE_ID:
		require_entry(copy, (enum definition_kind)t->pool, load_u32(p, false), chunk);
		return p + 4;
	case D9_SHAPE_LEB128:
		while ((*p++ & 0x80) != 0)
			;
		return p;
	case D9_SHAPE_TEXT:
	case D9_SHAPE_RUN:
		if (t == &d9_types[D9_STACK])
			require_symbols(copy, p + 4, load_u32(p, false), chunk);
		return p + 4 + (size_t)load_u32(p, false) * t->size;
	case D9_SHAPE_VALUES:
		return require_values(copy, t, p, chunk);
	default:
		return p + t->size;
	}
}

/* Writes the definitions that an event refers to. */
static void require_definitions(struct d9w_copy *copy, struct definition *k, bool timed, struct slice bytes,
                                struct chunk *chunk)
{
	uint32_t n = k->nrefer, all;

	if (!k->written) {
		write_header(copy, chunk);
		require_schema(copy, k, d9_type_id(bytes.p), chunk);
	}
	if (n == 0)
		return;
	const char *f = schema_fields(k->bytes, &all); /* k moves when an id is added */
	const char *p = bytes.p + (timed ? D9_TIMED_EVENT_HEAD : D9_EVENT_HEAD);
	for (; n > 0 && !chunk->text.failed; n--) {
		f += 2 + load_u16(f, false);
		const uint8_t type = (uint8_t)*f++;
		if (type == D9_VARINT)
			(void)d9_varint(&p);
		else
			p = require_value(copy, type, p, chunk);
	}
}

/* Writes an event of the batch: its bytes as they are, if its time has the same delta. */
static void select_event(struct d9w_copy *copy, struct definition *k, uint64_t ts, struct slice bytes,
                         struct chunk *chunk)
{
	const bool timed = k->timed;
	const uint32_t delta = timed ? load_u32(bytes.p + 2, false) >> 8 : 0;

	require_definitions(copy, k, timed, bytes, chunk);
	if (ts < copy->base || ts - copy->base != delta) {
		write_event(copy, timed, ts, bytes, chunk);
	} else {
		copy->base = ts;
		copier_keep(copy->copier, bytes);
	}
}

static void select_or_retain(struct d9w_copy *copy, const struct event *e, struct slice bytes,
                             struct chunk *chunk)
{
	struct symbols *const symbols = &copy->selection.symbols;
	struct definition *const k = find_definition(&copy->selection, OF_SCHEMAS, d9_type_id(bytes.p));

	if (k == NULL)
		return; /* the reader passes no such event */
	const uint64_t ts = output_time(copy, e, RECORD_EVENT, chunk);
	if (k->symbol) {
		const struct symbol symbol = { .bytes = bytes,
			                       .address = read_symbol_address(k->bytes, bytes),
			                       .ts = ts,
			                       .timed = k->timed };
		if (!is_needed(symbols, symbol.address) && retain_symbol(symbols, &symbol))
			return;
	}
	select_event(copy, k, ts, bytes, chunk);
}

/* Writes symbols at the end of a segment, where their schema and texts are defined.  all: also those that no
 * stack needs yet, because a later segment follows. */
static void write_symbols(struct d9w_copy *copy, bool all, struct chunk *chunk)
{
	struct symbols *const s = &copy->selection.symbols;

	for (uint32_t i = 0; i < s->n && !chunk->text.failed; i++) {
		const struct symbol *const k = &s->retained[i];
		if (!all && !is_needed(s, k->address))
			continue;
		require_definitions(copy,
		                    find_definition(&copy->selection, OF_SCHEMAS, d9_type_id(k->bytes.p)),
		                    k->timed, k->bytes, chunk);
		write_event(copy, k->timed, k->ts, k->bytes, chunk);
	}
	arena_free(&s->arena);
	s->n = 0;
}

static void begin_segment(struct d9w_copy *copy, struct chunk *chunk)
{
	struct selection *const s = &copy->selection;

	write_symbols(copy, true, chunk);
	arena_free(&s->arena);
	table64_free(&s->index);
	memset(s->recent, 0, sizeof s->recent);
	s->ndefinitions = s->nannotations = 0;
	s->full = false;
	s->header_pending = true;
}

static void copy_selected(struct d9w_copy *copy, const struct batch *b, const struct event *e,
                          struct slice bytes, struct chunk *chunk)
{
	const enum record_kind kind = record_of(b, e);

	if (copy->copier->run->rebased)
		follow_time(copy, b, e, kind);
	if (kind == RECORD_EVENT && (e->flags & EVENT_LEFT_OUT) == 0)
		select_or_retain(copy, e, bytes, chunk);
	else if (kind == RECORD_HEADER)
		begin_segment(copy, chunk);
	else if (kind == RECORD_SCHEMA)
		define_schema(copy, bytes, chunk);
	else if (kind == RECORD_HEAD || kind == RECORD_ENTRY)
		read_entry(copy, bytes, kind == RECORD_HEAD, chunk);
}

/* ---- the copier ---- */

static bool copy_open(struct copier *c)
{
	struct d9w_copy *const copy = c->state;

	copy->copier = c;
	copy->to = d9w_dialect(c->options);
	return true;
}

static void copy_input(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct d9w_copy *const copy = c->state;

	copy->skipping |= copy->left > 0;
	copy->next = 0;
}

static void copy_record(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	if (c->selected)
		copy_selected(c->state, b, e, bytes, c->chunk);
	else
		copy_unselected(c, b, e, bytes);
}

static void copy_end(struct copier *c)
{
	struct d9w_copy *const copy = c->state;

	if (!c->selected)
		return;
	write_symbols(copy, false, c->chunk);
	if (!copy->selection.any)
		write_header(copy, c->chunk);
}

static void copy_free(void *state)
{
	struct d9w_copy *const copy = state;
	struct selection *const s = &copy->selection;

	text_free(&copy->last);
	arena_free(&s->arena);
	table64_free(&s->index);
	free(s->definitions);
	free(s->annotations);
	arena_free(&s->symbols.arena);
	table64_free(&s->symbols.needed);
	free(s->symbols.retained);
}

const struct copier_ops d9w_copier_ops = {
	.state_size = sizeof(struct d9w_copy),
	.modes = COPIER_SELECTS | COPIER_RUNS | COPIER_BARE | COPIER_GAPS,
	.open = copy_open,
	.input = copy_input,
	.record = copy_record,
	.passed = copy_passed,
	.end = copy_end,
	.free = copy_free,
};
