#ifndef HTDUMP_BUILD_H
#define HTDUMP_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writes HawkTracer .htdump files: for test samples and benchmark inputs.
 *
 * It knows the format from the outside and shares nothing with the reader, so that
 * the one can check the other.  It writes what it is told, right or wrong.  It is a tool
 * for tests: out of memory means abort().
 */

enum ht_layout {
	HT_WIRE,    /* as HawkTracer writes: klass_id, timestamp, id */
	HT_DOCUMENT /* as the specification prints it: timestamp, event_id, klass_id */
};

/* Stored as a number that depends on the layout: see ht_data_type(). */
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
	HT_ID_OWN        /* the first one that is free */
};

struct ht_build {
	unsigned char *p;
	size_t n, cap;
	enum ht_layout layout;
	bool big;         /* byte order */
	bool list_base;   /* name `base` among the fields even when it is the plain Event */
	bool count_base;  /* and count it in field_count */
	uint64_t next_id; /* event ids go up from 0 */
	uint64_t now;     /* timestamp of the next description, ns; goes up by 100 */
};

struct ht_field_desc {
	const char *type_name, *name;
	uint64_t size;
	enum ht_type type;
};

/* Wire: base listed and counted.  Document: neither. */
void ht_init(struct ht_build *b, enum ht_layout layout, bool big);
void ht_free(struct ht_build *b);

/* Values in the file's byte order. */
void ht_u8(struct ht_build *b, uint8_t v);
void ht_u16(struct ht_build *b, uint16_t v);
void ht_u32(struct ht_build *b, uint32_t v);
void ht_u64(struct ht_build *b, uint64_t v);
void ht_f32(struct ht_build *b, float v);
void ht_f64(struct ht_build *b, double v);
void ht_string(struct ht_build *b, const char *s); /* with its NUL */
void ht_bytes(struct ht_build *b, const void *p, size_t n);

uint8_t ht_data_type(enum ht_layout layout, enum ht_type type);

/* Each of these writes a record, or begins one, and returns its offset. */
size_t ht_event(struct ht_build *b, uint32_t class_id, uint64_t ts); /* the base only; the next id */
size_t ht_event_with_id(struct ht_build *b, uint32_t class_id, uint64_t ts, uint64_t id);
size_t ht_endianness(struct ht_build *b);
size_t ht_class(struct ht_build *b, uint32_t id, const char *name, unsigned field_count);
size_t ht_field(struct ht_build *b, uint32_t id, struct ht_field_desc f);
size_t ht_field_raw(struct ht_build *b, uint32_t id, struct ht_field_desc f, uint8_t data_type);
size_t ht_span(struct ht_build *b, uint64_t ts, uint64_t dur, uint32_t thread, const char *label);
size_t ht_span_int(struct ht_build *b, uint64_t ts, uint64_t dur, uint32_t thread, uint64_t label);
size_t ht_mapping(struct ht_build *b, uint64_t identifier, const char *label);

/* A class with all its fields; base NULL: the plain Event.  Lists and counts the base as list_base and
 * count_base say, but always lists one that is not the plain Event. */
void ht_describe(struct ht_build *b, uint32_t id, const char *name, const char *base,
                 const struct ht_field_desc *fields, size_t n);

/* What stands before the first event in files of HawkTracer 0.11: the byte order, then classes 0 to 8
 * (document: 4 to 8) described, then the version.  Event ids are unique here; HawkTracer itself repeats id 0.
 */
void ht_prologue(struct ht_build *b);
void ht_describe_builtins(struct ht_build *b); /* classes 0 to 3 */
void ht_describe_common(struct ht_build *b);   /* classes 4 to 8 */
size_t ht_system_info(struct ht_build *b);

#endif
