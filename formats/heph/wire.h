#ifndef HEPH_WIRE_H
#define HEPH_WIRE_H

#include <stdint.h>

/*
 * Facts of the bytes.  Everything is big-endian.  A packet starts with a magic
 * constant and its size in bytes, these 8 included.
 *
 * metadata  0 magic  4 size  8 name length (16 bits)  10 name, value up to the end
 * event     0 magic  4 size  8 stream  12 counter  16 substream (64)  24 start (64)  32 end (64)
 *           40 description length (16)  42 description, attributes up to the end
 * attribute 0 name length (16)  2 name, type (8), value
 *
 * (The document's "[31..63]" is to be read as bits 32 to 63, and its sketch `struct Event` lacks fields.)
 */
#define HEPH_MAGIC_METADATA UINT32_C(0x75D11D4D)
#define HEPH_MAGIC_EVENT UINT32_C(0xC1FC1FB7)

#define HEPH_START 8         /* magic and size */
#define HEPH_METADATA_MIN 10 /* an empty name, no value */
#define HEPH_EVENT_MIN 42    /* an empty description, no attributes */
#define HEPH_ATTRIBUTE_MIN 5 /* an empty name and an empty string or array */
#define HEPH_EPOCH_SIZE 8

/* Types of values. */
enum heph_type {
	HEPH_UNSIGNED = 1, /* 64 bits */
	HEPH_SIGNED = 2,
	HEPH_FLOAT = 3,
	HEPH_STRING = 4,  /* length (16), bytes */
	HEPH_ARRAY = 0x80 /* with one of the above: count (16), values */
};

/* Bounds of this program, far above what a real trace holds, so that hostile input costs little. */
#define HEPH_MAX_PACKET (2U << 20)   /* bytes; arrays of 65,535 numbers of each type fit */
#define HEPH_MAX_ATTRIBUTES 65000U   /* of one event, that are retained */
#define HEPH_MAX_ELEMENTS 262144U    /* of all arrays of one event, likewise */
#define HEPH_MAX_STREAMS 65536U      /* that are distinguished */
#define HEPH_NEXT_BYTES (256U << 10) /* read at one go, plus one packet */
#define HEPH_NEXT_FIELDS (64U << 10) /* likewise */
#define HEPH_SEARCH_BYTES (1U << 20) /* searched at one go for the next packet */

#endif
