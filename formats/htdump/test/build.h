#ifndef HTDUMP_BUILD_H
#define HTDUMP_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writes HawkTracer .htdump files for tests and benchmarks (samples are text: docs/samples.md).  Shares no
 * code with the reader, so that each checks the other, and does not check its arguments.  Aborts on OOM.
 */

enum ht_layout {
	HT_WIRE,    /* as HawkTracer writes: klass_id, timestamp, id */
	HT_DOCUMENT /* as the specification prints it: timestamp, event_id, klass_id */
};

/* Its number in the file depends on the layout. */
enum ht_type { HT_STRUCT, HT_STRING, HT_INTEGER, HT_FLOAT, HT_DOUBLE, HT_POINTER, HT_UNSIGNED };

/* Class ids; 0 to 3 are given by the specification, the others by HawkTracer 0.11. */
enum ht_class_id {
	HT_ID_ENDIANNESS,
	HT_ID_EVENT,
	HT_ID_CLASS_INFO,
	HT_ID_FIELD_INFO,
	HT_ID_SPAN_BASE, /* HT_CallstackBaseEvent: duration, thread_id */
	HT_ID_SPAN_INT,  /* HT_CallstackIntEvent: label u64 */
	HT_ID_SPAN,      /* HT_CallstackStringEvent: label string */
	HT_ID_MAPPING,   /* HT_StringMappingEvent: identifier, label */
	HT_ID_SYSTEM,    /* HT_SystemInfoEvent: three version bytes */
	HT_ID_OWN        /* first free id */
};

struct ht_build {
	unsigned char *p;
	size_t n, cap;
	enum ht_layout layout;
	bool big;         /* byte order */
	bool list_base;   /* list `base` as a field even if it is Event */
	uint64_t next_id; /* of an event, from 0 */
	uint64_t now;     /* timestamp of the last description, ns; increases by 100 */
};

struct ht_field_desc {
	const char *type_name, *name;
	uint64_t size;
	enum ht_type type;
};

/* Lists and counts bases on the wire, not in the document. */
void ht_init(struct ht_build *b, enum ht_layout layout, bool big);
void ht_free(struct ht_build *b);

/* Values in the file's byte order. */
void ht_u8(struct ht_build *b, uint8_t v);
void ht_u16(struct ht_build *b, uint16_t v);
void ht_u32(struct ht_build *b, uint32_t v);
void ht_u64(struct ht_build *b, uint64_t v);
void ht_string(struct ht_build *b, const char *s); /* with its NUL */
void ht_bytes(struct ht_build *b, const void *p, size_t n);

/* Each function writes a record, or starts one, and returns its offset. */
size_t ht_event(struct ht_build *b, uint32_t class_id, uint64_t ts); /* the head only, with the next id */
size_t ht_event_with_id(struct ht_build *b, uint32_t class_id, uint64_t ts, uint64_t id);
size_t ht_endianness(struct ht_build *b);
size_t ht_class(struct ht_build *b, uint32_t id, const char *name, unsigned field_count);
size_t ht_field(struct ht_build *b, uint32_t id, struct ht_field_desc f);
size_t ht_field_raw(struct ht_build *b, uint32_t id, struct ht_field_desc f, uint8_t data_type);
size_t ht_span(struct ht_build *b, uint64_t ts, uint64_t dur, uint32_t thread, const char *label);
size_t ht_span_int(struct ht_build *b, uint64_t ts, uint64_t dur, uint32_t thread, uint64_t label);
size_t ht_mapping(struct ht_build *b, uint64_t identifier, const char *label);

/* Describes a class with all its fields.  base NULL is Event, which is listed and counted according to
 * list_base; other bases are always listed.  Bases count in HT_WIRE. */
void ht_describe(struct ht_build *b, uint32_t id, const char *name, const char *base,
                 const struct ht_field_desc *fields, size_t n);

/* Writes the records before the first event in files of HawkTracer 0.11: byte order, descriptions of classes
 * 0 to 8 (document: 4 to 8), version.  Event ids are unique here; HawkTracer itself repeats id 0. */
void ht_prologue(struct ht_build *b);

#endif
