/*
 * Builder of .htdump files: values, records, and the classes that HawkTracer 0.11 describes in each file.
 */
#include "htdump/test/build.h"

#include <stdlib.h>
#include <string.h>

/* ---- values and records ---- */

void ht_init(struct ht_build *b, enum ht_layout layout, bool big)
{
	*b = (struct ht_build){
		.layout = layout,
		.big = big,
		.list_base = layout == HT_WIRE,
		.now = 1000,
	};
}

void ht_free(struct ht_build *b)
{
	free(b->p);
	*b = (struct ht_build){ 0 };
}

void ht_bytes(struct ht_build *b, const void *p, size_t n)
{
	if (n > b->cap - b->n) {
		const size_t cap = 2 * b->cap + n + 4096;
		unsigned char *const grown = cap > n ? realloc(b->p, cap) : NULL;

		if (grown == NULL)
			abort();
		b->p = grown;
		b->cap = cap;
	}
	memcpy(b->p + b->n, p, n);
	b->n += n;
}

static void put_uint(struct ht_build *b, uint64_t v, unsigned size)
{
	unsigned char bytes[8];

	for (unsigned i = 0; i < size; i++) {
		const unsigned shift = 8 * (b->big ? size - 1 - i : i);

		bytes[i] = (unsigned char)(v >> shift & 0xff);
	}
	ht_bytes(b, bytes, size);
}

void ht_u8(struct ht_build *b, uint8_t v)
{
	put_uint(b, v, 1);
}

void ht_u16(struct ht_build *b, uint16_t v)
{
	put_uint(b, v, 2);
}

void ht_u32(struct ht_build *b, uint32_t v)
{
	put_uint(b, v, 4);
}

void ht_u64(struct ht_build *b, uint64_t v)
{
	put_uint(b, v, 8);
}

void ht_string(struct ht_build *b, const char *s)
{
	ht_bytes(b, s, strlen(s) + 1);
}

static uint8_t ht_data_type(enum ht_layout layout, enum ht_type type)
{
	static const uint8_t wire[] = { 1, 2, 3, 4, 5, 6, 99 };

	return layout == HT_WIRE ? wire[type] : (uint8_t)type;
}

size_t ht_event_with_id(struct ht_build *b, uint32_t class_id, uint64_t ts, uint64_t id)
{
	const size_t at = b->n;

	if (b->layout == HT_WIRE)
		ht_u32(b, class_id);
	ht_u64(b, ts);
	ht_u64(b, id);
	if (b->layout == HT_DOCUMENT)
		ht_u32(b, class_id);
	return at;
}

size_t ht_event(struct ht_build *b, uint32_t class_id, uint64_t ts)
{
	return ht_event_with_id(b, class_id, ts, b->next_id++);
}

size_t ht_endianness(struct ht_build *b)
{
	/* HawkTracer leaves time and id of this record at 0. */
	const size_t at = ht_event(b, HT_ID_ENDIANNESS, 0);

	ht_u8(b, b->big ? 1 : 0);
	return at;
}

static size_t begin_description(struct ht_build *b, uint32_t class_id)
{
	b->now += 100;
	return ht_event(b, class_id, b->now);
}

size_t ht_class(struct ht_build *b, uint32_t id, const char *name, unsigned field_count)
{
	const size_t at = begin_description(b, HT_ID_CLASS_INFO);

	ht_u32(b, id);
	ht_string(b, name);
	ht_u8(b, (uint8_t)field_count);
	return at;
}

size_t ht_field_raw(struct ht_build *b, uint32_t id, struct ht_field_desc f, uint8_t data_type)
{
	const size_t at = begin_description(b, HT_ID_FIELD_INFO);

	ht_u32(b, id);
	ht_string(b, f.type_name);
	ht_string(b, f.name);
	ht_u64(b, f.size);
	ht_u8(b, data_type);
	return at;
}

size_t ht_field(struct ht_build *b, uint32_t id, struct ht_field_desc f)
{
	return ht_field_raw(b, id, f, ht_data_type(b->layout, f.type));
}

void ht_describe(struct ht_build *b, uint32_t id, const char *name, const char *base,
                 const struct ht_field_desc *fields, size_t n)
{
	const bool listed = b->list_base || base != NULL;
	const bool counted = listed && b->layout == HT_WIRE;

	ht_class(b, id, name, (unsigned)n + counted);
	if (listed) {
		const char *const plain = b->layout == HT_WIRE ? "HT_Event" : "Event";

		/* The size is that of the C structure; the file has other sizes. */
		ht_field(b, id, (struct ht_field_desc){ base != NULL ? base : plain, "base", 24, HT_STRUCT });
	}
	for (size_t i = 0; i < n; i++)
		ht_field(b, id, fields[i]);
}

size_t ht_span(struct ht_build *b, uint64_t ts, uint64_t dur, uint32_t thread, const char *label)
{
	const size_t at = ht_event(b, HT_ID_SPAN, ts);

	ht_u64(b, dur);
	ht_u32(b, thread);
	ht_string(b, label);
	return at;
}

size_t ht_span_int(struct ht_build *b, uint64_t ts, uint64_t dur, uint32_t thread, uint64_t label)
{
	const size_t at = ht_event(b, HT_ID_SPAN_INT, ts);

	ht_u64(b, dur);
	ht_u32(b, thread);
	ht_u64(b, label);
	return at;
}

size_t ht_mapping(struct ht_build *b, uint64_t identifier, const char *label)
{
	const size_t at = begin_description(b, HT_ID_MAPPING);

	ht_u64(b, identifier);
	ht_string(b, label);
	return at;
}

/* ---- classes of HawkTracer 0.11 ---- */

/* HawkTracer describes even the four classes that a parser must know, HT_Event by its structure in memory:
 * `klass` is a pointer there, and the class id in the file. */

#define FIELDS(f) f, sizeof(f) / sizeof((f)[0])

static void describe_builtins(struct ht_build *b)
{
	static const struct ht_field_desc endianness[] = {
		{ "uint8_t", "endianness", 1, HT_UNSIGNED },
	};
	static const struct ht_field_desc event[] = {
		{ "HT_EventKlass*", "klass", 8, HT_POINTER },
		{ "HT_TimestampNs", "timestamp", 8, HT_UNSIGNED },
		{ "HT_EventId", "id", 8, HT_UNSIGNED },
	};
	static const struct ht_field_desc class_info[] = {
		{ "HT_EventKlassId", "info_klass_id", 4, HT_UNSIGNED },
		{ "const char*", "event_klass_name", 8, HT_STRING },
		{ "uint8_t", "field_count", 1, HT_UNSIGNED },
	};
	static const struct ht_field_desc field_info[] = {
		{ "HT_EventKlassId", "info_klass_id", 4, HT_UNSIGNED },
		{ "const char*", "field_type", 8, HT_STRING },
		{ "const char*", "field_name", 8, HT_STRING },
		{ "uint64_t", "size", 8, HT_UNSIGNED },
		{ "uint8_t", "data_type", 1, HT_UNSIGNED },
	};

	ht_describe(b, HT_ID_ENDIANNESS, "HT_EndiannessInfoEvent", NULL, FIELDS(endianness));
	/* The only class without a base. */
	ht_class(b, HT_ID_EVENT, "HT_Event", sizeof event / sizeof event[0]);
	for (size_t i = 0; i < sizeof event / sizeof event[0]; i++)
		ht_field(b, HT_ID_EVENT, event[i]);
	ht_describe(b, HT_ID_CLASS_INFO, "HT_EventKlassInfoEvent", NULL, FIELDS(class_info));
	ht_describe(b, HT_ID_FIELD_INFO, "HT_EventKlassFieldInfoEvent", NULL, FIELDS(field_info));
}

static void describe_common(struct ht_build *b)
{
	static const struct ht_field_desc span_base[] = {
		{ "HT_DurationNs", "duration", 8, HT_UNSIGNED },
		{ "HT_ThreadId", "thread_id", 4, HT_UNSIGNED },
	};
	static const struct ht_field_desc span_int[] = {
		{ "HT_CallstackEventLabel", "label", 8, HT_UNSIGNED },
	};
	static const struct ht_field_desc span_string[] = {
		{ "const char*", "label", 8, HT_STRING },
	};
	static const struct ht_field_desc mapping[] = {
		{ "uint64_t", "identifier", 8, HT_UNSIGNED },
		{ "const char*", "label", 8, HT_STRING },
	};
	static const struct ht_field_desc version[] = {
		{ "uint8_t", "version_major", 1, HT_UNSIGNED },
		{ "uint8_t", "version_minor", 1, HT_UNSIGNED },
		{ "uint8_t", "version_patch", 1, HT_UNSIGNED },
	};

	ht_describe(b, HT_ID_SPAN_BASE, "HT_CallstackBaseEvent", NULL, FIELDS(span_base));
	ht_describe(b, HT_ID_SPAN_INT, "HT_CallstackIntEvent", "HT_CallstackBaseEvent", FIELDS(span_int));
	ht_describe(b, HT_ID_SPAN, "HT_CallstackStringEvent", "HT_CallstackBaseEvent", FIELDS(span_string));
	ht_describe(b, HT_ID_MAPPING, "HT_StringMappingEvent", NULL, FIELDS(mapping));
	ht_describe(b, HT_ID_SYSTEM, "HT_SystemInfoEvent", NULL, FIELDS(version));
}

static size_t ht_system_info(struct ht_build *b)
{
	const size_t at = ht_event(b, HT_ID_SYSTEM, 0);

	ht_u8(b, 0);
	ht_u8(b, 11);
	ht_u8(b, 0);
	return at;
}

void ht_prologue(struct ht_build *b)
{
	ht_endianness(b);
	if (b->layout == HT_WIRE)
		describe_builtins(b);
	describe_common(b);
	ht_system_info(b);
}
