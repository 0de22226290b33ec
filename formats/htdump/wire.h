#ifndef HTDUMP_WIRE_H
#define HTDUMP_WIRE_H

#include <stdint.h>

/*
 * Facts of the bytes.  "wire" is what every HawkTracer writes, "document" is
 * what the format's design document prints; they differ in the order of the first
 * 20 bytes and in the numbers of the data types.
 */

/* Every event starts with the base event: class id, time in ns, event id ("Base event class"). */
#define HT_HEAD_SIZE 20

/* Class ids known in advance. */
enum {
	HT_CLASS_ENDIANNESS = 0,
	HT_CLASS_EVENT = 1,
	HT_CLASS_INFO = 2,
	HT_CLASS_FIELD = 3,
	HT_BUILTIN_CLASSES = 4
};

/* A complete EndiannessInfoEvent: head and one byte, 0 little, 1 big ("Endianness"). */
#define HT_ENDIANNESS_SIZE (HT_HEAD_SIZE + 1)

/* DataType in the document layout; the wire counts from 1 and gives unsigned integers 99. */
enum ht_type {
	HT_STRUCT,
	HT_STRING,
	HT_INTEGER,
	HT_FLOAT,
	HT_DOUBLE,
	HT_POINTER,
	HT_UNSIGNED,
	HT_TYPE_UNKNOWN, /* or a size that its type cannot have: so many bytes */
};
#define HT_WIRE_UNSIGNED 99

static inline enum ht_type
ht_type_of(uint8_t code, int wire)
{
	if (!wire)
		return code <= HT_UNSIGNED ? (enum ht_type)code : HT_TYPE_UNKNOWN;
	if (code == HT_WIRE_UNSIGNED)
		return HT_UNSIGNED;
	return code >= 1 && code <= HT_POINTER + 1 ? (enum ht_type)(code - 1) : HT_TYPE_UNKNOWN;
}

/* Bounds of this program, far above what a real trace holds, so that hostile input costs little. */
#define HT_MAX_STRING (4U << 20) /* bytes before the NUL */
#define HT_MAX_RECORD (8U << 20) /* bytes of a record before its last string */
#define HT_NEXT_BYTES (1U << 20) /* of records that one batch is made of, and one record more */
#define HT_MAX_CLASSES 65536U
#define HT_MAX_FIELDS 262144U /* of all classes together */
#define HT_MAX_LEAVES 262144U /* fields of all used classes together, bases and structs unfolded */
#define HT_MAX_UNFOLD 16384U  /* fields visited while one class is unfolded */
/* Fields visited while all classes are unfolded: this many, and one more for every two bytes that were read,
 * as files that are appended to each other describe their classes again and again. */
#define HT_MAX_UNFOLDS (2U << 20)
#define HT_MAX_OPAQUE 65536U  /* size of a field whose type is not known */
#define HT_DIRECT 64U         /* class ids below this are looked up without hashing */
#define HT_MAX_MAPPINGS 262144U
#define HT_MAX_DESCRIBED (16U << 20)   /* bytes that all descriptions together cost */
#define HT_TEXT_COST 16U               /* what a text costs besides its bytes */
#define HT_CLASS_COST 128U             /* what a class costs besides its name */
#define HT_BATCH_FIELDS 65536U         /* a batch with so many fields is full */
#define HT_MAX_LABEL_BYTES (16U << 20) /* of all mapped labels together */

#endif
