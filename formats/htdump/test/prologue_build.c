#include "htdump/test/build.h"

/*
 * The classes as HawkTracer 0.11 describes them.  It describes the four that a parser must know in advance
 * too, and the one of HT_Event by the structure in its memory: `klass` is a pointer there, and the class id
 * in the file.
 */

#define FIELDS(f) f, sizeof(f) / sizeof((f)[0])

void ht_describe_builtins(struct ht_build *b)
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
	ht_class(b, HT_ID_EVENT, "HT_Event",
	         sizeof event / sizeof event[0]); /* the only one without a base */
	for (size_t i = 0; i < sizeof event / sizeof event[0]; i++)
		ht_field(b, HT_ID_EVENT, event[i]);
	ht_describe(b, HT_ID_CLASS_INFO, "HT_EventKlassInfoEvent", NULL, FIELDS(class_info));
	ht_describe(b, HT_ID_FIELD_INFO, "HT_EventKlassFieldInfoEvent", NULL, FIELDS(field_info));
}

void ht_describe_common(struct ht_build *b)
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

size_t ht_system_info(struct ht_build *b)
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
		ht_describe_builtins(b);
	ht_describe_common(b);
	ht_system_info(b);
}
