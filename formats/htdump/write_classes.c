/*
 * Classes of the output: the prologue describes classes that all outputs have; before the first event of each
 * shape (see out/shape.h), a class for that shape is described: class x kind x names x types of fields.
 *
 * Like HawkTracer, it also describes the four built-in classes, HT_Event by its structure in memory.  Sizes
 * of bases and texts are those of C structures on 64-bit machines; readers ignore them.
 */
#include "htdump/htdump.h"

/* ---- known classes ---- */

/* DataType on the wire. */
enum code { STRUCT = 1, STRING, INTEGER, FLOAT, DOUBLE, POINTER, UNSIGNED = HT_WIRE_UNSIGNED };

struct field_type {
	const char *name;
	uint8_t size, code;
};

struct known_field {
	const char *name;
	struct field_type type;
};

struct known_class {
	const char *name;
	uint8_t base; /* id; HT_Event has none */
	uint8_t nfields;
	uint8_t memory; /* bytes of its structure in memory, for derived classes */
	const struct known_field *fields;
};

#define TEXT(type)                                                                                           \
	{                                                                                                    \
		(type), 8, STRING                                                                            \
	}
#define CHARS TEXT("const char*")

#define NUMBER(type, size)                                                                                   \
	{                                                                                                    \
		(type), (size), UNSIGNED                                                                     \
	}

static const struct known_field endianness[] = { { "endianness", NUMBER("uint8_t", 1) } };

static const struct known_field event[] = {
	{ "klass", { "HT_EventKlass*", 8, POINTER } },
	{ "timestamp", NUMBER("HT_TimestampNs", 8) },
	{ "id", NUMBER("HT_EventId", 8) },
};

static const struct known_field class_info[] = {
	{ "info_klass_id", NUMBER("HT_EventKlassId", 4) },
	{ "event_klass_name", CHARS },
	{ "field_count", NUMBER("uint8_t", 1) },
};

static const struct known_field field_info[] = {
	{ "info_klass_id", NUMBER("HT_EventKlassId", 4) },
	{ "field_type", CHARS },
	{ "field_name", CHARS },
	{ "size", NUMBER("uint64_t", 8) },
	{ "data_type", NUMBER("uint8_t", 1) },
};

static const struct known_field span_base[] = {
	{ "duration", NUMBER("HT_DurationNs", 8) },
	{ "thread_id", NUMBER("HT_ThreadId", 4) },
};
static const struct known_field span_int[] = { { "label", NUMBER("HT_CallstackEventLabel", 8) } };
static const struct known_field span[] = { { "label", CHARS } };
static const struct known_field mapping[] = { { "identifier", NUMBER("uint64_t", 8) }, { "label", CHARS } };

static const struct known_field system_info[] = {
	{ "version_major", NUMBER("uint8_t", 1) },
	{ "version_minor", NUMBER("uint8_t", 1) },
	{ "version_patch", NUMBER("uint8_t", 1) },
};
static const struct known_field instant[] = { { "thread_id", NUMBER("HT_ThreadId", 4) }, { "label", CHARS } };
static const struct known_field arrow[] = { { "arrow_id", NUMBER("uint64_t", 8) } };

static const struct known_field track[] = {
	{ "thread_id", NUMBER("HT_ThreadId", 4) },
	{ "kind", CHARS },
	{ "process", CHARS },
	{ "has_pid", NUMBER("bool", 1) },
	{ "pid", NUMBER("uint64_t", 8) },
	{ "name", CHARS },
	{ "has_tid", NUMBER("bool", 1) },
	{ "tid", NUMBER("uint64_t", 8) },
};

static const struct known_field class[] = {
	{ "class_id", NUMBER("HT_EventKlassId", 4) },
	{ "name", CHARS },
	{ "category", CHARS },
	{ "kind", CHARS },
};
static const struct known_field fact[] = { { "name", CHARS }, { "value", CHARS } };

static const struct known_field other[] = {
	{ "class", CHARS },
	{ "category", CHARS },
	{ "kind", CHARS },
	{ "fields", TEXT("json") },
};

#define FIELDS(f) sizeof(f) / sizeof((f)[0]), 24, (f)

static const struct known_class known[HTW_ID_FREE] = {
	[HTW_ID_ENDIANNESS] = { "HT_EndiannessInfoEvent", HTW_ID_EVENT, FIELDS(endianness) },
	[HTW_ID_EVENT] = { "HT_Event", HTW_ID_EVENT, FIELDS(event) },
	[HTW_ID_CLASS_INFO] = { "HT_EventKlassInfoEvent", HTW_ID_EVENT, FIELDS(class_info) },
	[HTW_ID_FIELD_INFO] = { "HT_EventKlassFieldInfoEvent", HTW_ID_EVENT, FIELDS(field_info) },
	[HTW_ID_SPAN_BASE] = { "HT_CallstackBaseEvent", HTW_ID_EVENT, 2, 40, span_base },
	[HTW_ID_SPAN_INT] = { "HT_CallstackIntEvent", HTW_ID_SPAN_BASE, FIELDS(span_int) },
	[HTW_ID_SPAN] = { "HT_CallstackStringEvent", HTW_ID_SPAN_BASE, 1, 48, span },
	[HTW_ID_MAPPING] = { "HT_StringMappingEvent", HTW_ID_EVENT, FIELDS(mapping) },
	[HTW_ID_SYSTEM] = { "HT_SystemInfoEvent", HTW_ID_EVENT, FIELDS(system_info) },
	[HTW_ID_INSTANT] = { "tracetool_Event", HTW_ID_EVENT, 2, 40, instant },
	[HTW_ID_ARROW] = { "tracetool_Arrow", HTW_ID_INSTANT, 1, 48, arrow },
	[HTW_ID_TRACK] = { "tracetool_Track", HTW_ID_EVENT, FIELDS(track) },
	[HTW_ID_CLASS] = { "tracetool_Class", HTW_ID_EVENT, FIELDS(class) },
	[HTW_ID_FACT] = { "tracetool_Fact", HTW_ID_EVENT, FIELDS(fact) },
	[HTW_ID_OTHER_SPAN] = { "tracetool_OtherSpan", HTW_ID_SPAN, FIELDS(other) },
	[HTW_ID_OTHER_INSTANT] = { "tracetool_OtherEvent", HTW_ID_INSTANT, FIELDS(other) },
	[HTW_ID_OTHER_ARROW] = { "tracetool_OtherArrow", HTW_ID_ARROW, FIELDS(other) },
};

/* By enum value_type.  Values without a HawkTracer type are texts;
 * the name of the type states the true one. */
static const struct field_type types[] = {
	[VALUE_NONE] = TEXT("null"),
	[VALUE_BOOL] = NUMBER("bool", 1),
	[VALUE_U8] = NUMBER("uint8_t", 1),
	[VALUE_U16] = NUMBER("uint16_t", 2),
	[VALUE_U32] = NUMBER("uint32_t", 4),
	[VALUE_U64] = NUMBER("uint64_t", 8),
	[VALUE_I8] = { "int8_t", 1, INTEGER },
	[VALUE_I16] = { "int16_t", 2, INTEGER },
	[VALUE_I32] = { "int32_t", 4, INTEGER },
	[VALUE_I64] = { "int64_t", 8, INTEGER },
	[VALUE_F32] = { "float", 4, FLOAT },
	[VALUE_F64] = { "double", 8, DOUBLE },
	[VALUE_ADDRESS] = { "void*", 8, POINTER },
	[VALUE_STRING] = CHARS,
	[VALUE_BYTES] = TEXT("bytes"),
	[VALUE_LIST] = TEXT("list"),
	[VALUE_MAP] = TEXT("map"),
	[VALUE_JSON] = TEXT("json"),
};

/* ---- records ---- */

static void put_class(struct htw_state *st, uint32_t id, struct slice name, uint32_t nfields)
{
	htw_begin(st, HTW_ID_CLASS_INFO);
	htw_number(st, id, 4);
	htw_text(st, name);
	htw_number(st, nfields, 1);
}

static void put_field(struct htw_state *st, uint32_t id, struct slice name, struct field_type type)
{
	htw_begin(st, HTW_ID_FIELD_INFO);
	htw_number(st, id, 4);
	htw_text(st, slice_str(type.name));
	htw_text(st, name);
	htw_number(st, type.size, 8);
	htw_number(st, type.code, 1);
}

static void put_base(struct htw_state *st, uint32_t id, enum htw_class_id base)
{
	put_field(st, id, SLICE_LIT("base"),
	          (struct field_type){ known[base].name, known[base].memory, STRUCT });
}

void htw_prologue(struct htw_state *st)
{
	htw_begin(st, HTW_ID_ENDIANNESS);
	htw_number(st, 0, 1); /* little */
	for (uint32_t id = 0; id < HTW_ID_FREE; id++) {
		const struct known_class *const c = &known[id];
		const bool derived = id != HTW_ID_EVENT;
		put_class(st, id, slice_str(c->name), c->nfields + derived);
		if (derived)
			put_base(st, id, (enum htw_class_id)c->base);
		for (uint32_t i = 0; i < c->nfields; i++)
			put_field(st, id, slice_str(c->fields[i].name), c->fields[i].type);
	}
}

/* ---- classes of the trace ---- */

/* Returns the base of classes of this kind. */
static enum htw_class_id base_of(enum event_kind kind)
{
	return kind_is_span(kind) ? HTW_ID_SPAN : kind_is_arrow(kind) ? HTW_ID_ARROW : HTW_ID_INSTANT;
}

/* Whether readers would confuse a class of this name with one of the prologue, as bases are found by name, or
 * one of the document of the format. */
static bool is_known_class(struct slice name)
{
	static const char *const document[] = { "Event",
		                                "EndiannessInfoEvent",
		                                "EventKlassInfoEvent",
		                                "EventKlassFieldInfoEvent",
		                                "StringMappingEvent",
		                                "SystemInfoEvent" };

	for (uint32_t id = 0; id < HTW_ID_FREE; id++)
		if (slice_is(name, known[id].name))
			return true;
	for (size_t i = 0; i < sizeof document / sizeof *document; i++)
		if (slice_is(name, document[i]))
			return true;
	return false;
}

/* Returns the bytes that a reader charges for the class of an event. */
static uint64_t description_cost(const struct event *e, const struct field *f)
{
	uint64_t cost = e->cls->name.n + 2 * HT_CLASS_COST; /* twice: the base is a field */

	for (uint32_t i = 0; i < e->nfields; i++) /* and 8 for a number after the name */
		cost += f[i].name.n + strlen(types[f[i].value.type].name) + 2 * HT_TEXT_COST + 8;
	return cost;
}

/* Describes a class, and states its class of the trace.  names: of its members in the output. */
static void put_description(struct htw_state *st, const struct htw_layout *l, const struct slice *names)
{
	struct slice name = l->shape.cls->name;

	if (l->renamed)
		name = arena_numbered(&st->arena, name, 2);
	st->chunk->text.failed |= name.p == NULL;
	if (st->chunk->text.failed)
		return;
	put_class(st, l->id, name, l->shape.nmembers + 1);
	put_base(st, l->id, base_of((enum event_kind)l->shape.kind));
	for (uint32_t i = 0; i < l->shape.nmembers; i++)
		put_field(st, l->id, names[i], types[l->shape.members[i].type]);
	htw_begin(st, HTW_ID_CLASS);
	htw_number(st, l->id, 4);
	htw_text(st, l->shape.cls->name);
	htw_text(st, l->shape.cls->category);
	htw_text(st, event_kind_row(l->shape.kind)->names[KIND_WORDS]);
}

/* ---- the class of an event ---- */

static uint16_t shape_type_of(const void *ctx, const struct field *f, uint32_t i)
{
	return f[i].value.type;
}

/* Returns the class of events whose shape has none. */
static const struct htw_layout *other_layout(enum event_kind kind)
{
	static const struct htw_layout others[] = {
		{ .id = HTW_ID_OTHER_SPAN },
		{ .id = HTW_ID_OTHER_INSTANT },
		{ .id = HTW_ID_OTHER_ARROW },
	};
	const enum htw_class_id base = base_of(kind);

	return &others[base == HTW_ID_SPAN ? 0 : base == HTW_ID_INSTANT ? 1 : 2];
}

/* Sets the name of each member in the output: unique, not inherited, and not a name that turns an instant
 * into a span. */
static bool name_members(struct arena *a, struct htw_layout *l, struct slice *names)
{
	static const struct slice known_fields[] = {
		SLICE_LIT("base"),     SLICE_LIT("klass"),     SLICE_LIT("timestamp"), SLICE_LIT("id"),
		SLICE_LIT("duration"), SLICE_LIT("thread_id"), SLICE_LIT("label"),     SLICE_LIT("arrow_id"),
	};
	const struct shape_member *const m = l->shape.members;
	struct tabletext taken = { .slots = NULL };
	bool ok = true;

	for (size_t i = 0; i < sizeof known_fields / sizeof known_fields[0]; i++)
		ok &= tabletext_put(&taken, known_fields[i], 1);
	for (uint32_t i = 0; ok && i < l->shape.nmembers; i++) {
		names[i] = tabletext_unique(&taken, a, m[i].name);
		l->renamed_fields += names[i].n != m[i].name.n;
		ok = names[i].p != NULL;
	}
	tabletext_free(&taken);
	return ok;
}

/* Whether the names of an event can be written unchanged. */
static bool has_plain_names(const struct event *e, const struct field *f)
{
	bool plain = memchr(e->cls->name.p, '\0', e->cls->name.n) == NULL;

	for (uint32_t i = 0; plain && i < e->nfields; i++)
		plain = f[i].name.n == 0 || memchr(f[i].name.p, '\0', f[i].name.n) == NULL;
	return plain;
}

/* Whether the events of this shape get a class; counts it against the limits. */
static bool reserve_class(struct htw_state *st, const struct event *e, const struct field *f)
{
	static const struct shapes_bounds max = { HTW_MAX_CLASSES, HTW_MAX_FIELDS, HTW_MAX_DESCRIBED };

	return !st->shapes.full && e->nfields <= HTW_CLASS_FIELDS && has_plain_names(e, f) &&
	       shapes_reserve(&st->shapes, &max, e->nfields, description_cost(e, f));
}

/* Adds and describes a class. */
static const struct htw_layout *add_layout(struct htw_state *st, struct shape_key key, uint64_t hash)
{
	struct htw_layout *const l = (struct htw_layout *)shapes_add(&st->shapes, sizeof *l, key, hash);
	struct slice names[HTW_CLASS_FIELDS];

	if (l == NULL)
		return NULL;
	l->id = HTW_ID_FREE + l->shape.number;
	l->renamed = is_known_class(l->shape.cls->name);
	if (!name_members(&st->arena, l, names))
		return NULL;
	put_description(st, l, names);
	return l;
}

const struct htw_layout *htw_layout_of(struct htw_state *st, const struct batch *b, const struct event *e)
{
	const struct field *const f = b->fields + e->first_field;
	const struct shape_key key = { e, f, (uint16_t)htw_kind_of(e), shape_type_of, NULL };
	uint64_t hash;
	bool addable;
	struct shape *const found = shapes_find(&st->shapes, key, &hash, &addable);

	if (found != NULL)
		return (struct htw_layout *)found;
	const struct htw_layout *l = other_layout((enum event_kind)key.kind);
	if (addable && reserve_class(st, e, f)) {
		const struct htw_layout *const new = add_layout(st, key, hash);
		st->chunk->text.failed |= new == NULL;
		l = new != NULL ? new : l;
	}
	return l;
}
