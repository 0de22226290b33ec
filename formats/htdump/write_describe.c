#include <stdio.h>

#include "htdump/write.h"

/*
 * Descriptions of classes.  HawkTracer describes the four that a parser must
 * know in advance too, HT_Event by the structure in its memory.  Sizes of bases
 * and texts are those of C structures on 64-bit machines; readers take no notice
 * of them.
 */

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
	uint8_t base; /* its id; HT_Event has none */
	uint8_t nfields;
	uint8_t memory; /* size of its structure, for those derived from it */
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

/* By enum value_type.  What HawkTracer has no type for is text, and its type's name tells which. */
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

static void
put_class(struct htw_state *st, struct chunk *chunk, uint64_t offset, uint32_t id, struct slice name,
          uint32_t nfields)
{
	struct htw_record r = htw_begin(st, chunk, HTW_ID_CLASS_INFO, offset);

	htw_number(&r, id, 4);
	htw_text(&r, name);
	htw_number(&r, nfields, 1);
}

static void
put_field(struct htw_state *st, struct chunk *chunk, uint64_t offset, uint32_t id, struct slice name,
          struct field_type type)
{
	struct htw_record r = htw_begin(st, chunk, HTW_ID_FIELD_INFO, offset);

	htw_number(&r, id, 4);
	htw_text(&r, slice_str(type.name));
	htw_text(&r, name);
	htw_number(&r, type.size, 8);
	htw_number(&r, type.code, 1);
}

static void
put_base(struct htw_state *st, struct chunk *chunk, uint64_t offset, uint32_t id, enum htw_class_id base)
{
	const struct field_type type = { known[base].name, known[base].memory, STRUCT };

	put_field(st, chunk, offset, id, SLICE_LIT("base"), type);
}

void
htw_prologue(struct htw_state *st, struct chunk *chunk)
{
	const struct htw_record r = htw_begin(st, chunk, HTW_ID_ENDIANNESS, 0);

	htw_number(&r, 0, 1); /* little */
	for (uint32_t id = 0; id < HTW_ID_FREE; id++) {
		const struct known_class *const c = &known[id];
		const bool derived = id != HTW_ID_EVENT;
		put_class(st, chunk, 0, id, slice_str(c->name), c->nfields + derived);
		if (derived)
			put_base(st, chunk, 0, id, (enum htw_class_id)c->base);
		for (uint32_t i = 0; i < c->nfields; i++)
			put_field(st, chunk, 0, id, slice_str(c->fields[i].name), c->fields[i].type);
	}
}

/* ---- classes of the trace ---- */

enum htw_class_id
htw_base(enum htw_kind kind)
{
	return kind == HTW_SPAN || kind == HTW_ASYNC           ? HTW_ID_SPAN
	       : kind == HTW_ARROW_OUT || kind == HTW_ARROW_IN ? HTW_ID_ARROW
	                                                       : HTW_ID_INSTANT;
}

struct slice
htw_kind_word(enum htw_kind kind)
{
	static const char *const words[] = {
		[HTW_SPAN] = "span",           [HTW_ASYNC] = "async span",
		[HTW_INSTANT] = "instant",     [HTW_COUNTER] = "counter",
		[HTW_ARROW_OUT] = "arrow out", [HTW_ARROW_IN] = "arrow in",
		[HTW_BEGIN] = "begin",         [HTW_END] = "end",
	};

	return slice_str(words[kind]);
}

static bool
is_one_of(struct slice name, const char *const *words)
{
	for (; *words != NULL; words++)
		if (slice_is(name, *words))
			return true;
	return false;
}

/* Those of the prologue: bases are found by name.  Those of the document: readers know them too. */
bool
htw_is_class_name(struct slice name)
{
	static const char *const document[] = { "Event",
		                                "EndiannessInfoEvent",
		                                "EventKlassInfoEvent",
		                                "EventKlassFieldInfoEvent",
		                                "StringMappingEvent",
		                                "SystemInfoEvent",
		                                NULL };

	for (uint32_t id = 0; id < HTW_ID_FREE; id++)
		if (slice_is(name, known[id].name))
			return true;
	return is_one_of(name, document);
}

/* Those that are inherited; and no field of an instant may make a span of it. */
bool
htw_is_field_name(struct slice name)
{
	static const char *const words[] = { "base",      "klass", "timestamp", "id", "duration",
		                             "thread_id", "label", "arrow_id",  NULL };

	return is_one_of(name, words);
}

struct slice
htw_numbered(struct arena *a, struct slice name, uint32_t number)
{
	char *const p = arena_alloc(a, (size_t)name.n + 16);
	struct slice s = { p, name.n, name.flags & (SLICE_UTF8 | SLICE_JSON) };

	if (p == NULL)
		return s;
	memcpy(p, name.p, name.n);
	s.n += (uint32_t)snprintf(p + name.n, 16, " (%u)", number);
	return s;
}

uint64_t
htw_description_cost(const struct htw_layout *l)
{
	uint64_t cost = l->cls->name.n + 2 * HT_CLASS_COST; /* twice: the base is a field */

	for (uint32_t i = 0; i < l->nmembers; i++) /* and 8 for a number behind the name */
		cost += l->members[i].name.n + strlen(types[l->members[i].type].name) + 2 * HT_TEXT_COST + 8;
	return cost;
}

void
htw_describe(struct htw_state *st, const struct htw_layout *l, const struct slice *names, struct chunk *chunk,
             uint64_t offset)
{
	struct slice name = l->cls->name;

	if (htw_is_class_name(name))
		name = htw_numbered(&st->arena, name, 2);
	chunk->text.failed |= name.p == NULL;
	if (chunk->text.failed)
		return;
	put_class(st, chunk, offset, l->id, name, l->nmembers + 1);
	put_base(st, chunk, offset, l->id, htw_base(l->kind));
	for (uint32_t i = 0; i < l->nmembers; i++)
		put_field(st, chunk, offset, l->id, names[i], types[l->members[i].type]);

	struct htw_record r = htw_begin(st, chunk, HTW_ID_CLASS, offset);

	htw_number(&r, l->id, 4);
	htw_text(&r, l->cls->name);
	htw_text(&r, l->cls->category);
	htw_text(&r, htw_kind_word(l->kind));
}
