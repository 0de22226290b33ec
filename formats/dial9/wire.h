#ifndef DIAL9_WIRE_H
#define DIAL9_WIRE_H

#include <stdint.h>

/*
 * Facts of the bytes.  All integers are little-endian.  A stream is a header
 * and frames; each frame begins with its tag and has no length of its own.
 * What is marked 0.4 stands in files of crate 0.4 and later, under the same
 * version byte, and not in the document.
 */

/* "Header": TRC, NUL and the version.  Since 0.4 one may stand wherever a frame may: a new segment. */
#define D9_MAGIC "TRC"
#define D9_MAGIC_SIZE 4
#define D9_HEADER_SIZE 5
#define D9_VERSION 1

/* What dial9-tokio-telemetry wrote before release 0.2.0: this, and a version of 32 bits. */
#define D9_OLDER_MAGIC "TOKIOTRC"
#define D9_OLDER_MAGIC_SIZE 8

/* "Frames" */
enum d9_tag {
	D9_TAG_SCHEMA = 0x01,
	D9_TAG_EVENT = 0x02,
	D9_TAG_STRINGS = 0x03,
	D9_TAG_STACKS = 0x04, /* 0.4 */
	D9_TAG_RESET = 0x05,
	D9_TAG_ANNOTATIONS = 0x06, /* 0.4 */
	D9_TAG_HEADER = 'T',       /* 0.4: the first byte of another header */
};

#define D9_EVENT_HEAD 3       /* tag, type_id */
#define D9_TIMED_EVENT_HEAD 6 /* and timestamp_delta_ns */
#define D9_RESET_SIZE 9
#define D9_POOL_HEAD 5  /* tag, count */
#define D9_ENTRY_HEAD 8 /* pool_id, data_len or frame_count */

/* "Field Types" */
enum d9_type {
	D9_I64 = 1,
	D9_F64 = 2,
	D9_BOOL = 3,
	D9_STRING = 4,
	D9_BYTES = 5,
	D9_POOLED_STACK = 6, /* 0.4 */
	D9_POOLED_STRING = 7,
	D9_STACK = 8,
	D9_VARINT = 9,
	D9_STRING_MAP = 10,
	D9_U8 = 11,
	D9_U16 = 12,
	D9_U32 = 13,
	D9_LIST = 14, /* 0.4 */
	D9_MAP = 15,  /* 0.4 */
	D9_TYPES = 16
};
#define D9_OPTIONAL 0x80 /* "Optional Field Modifier" */

#define D9_VARINT_MAX 10 /* "A u64 requires at most 10 bytes" */

/* Limits of this program, far above what real traces need; they bound memory and time for hostile input. */
#define D9_MAX_NESTING 64U           /* of lists and maps in one field */
#define D9_MAX_FRAME (4U << 20)      /* bytes of an event, a schema or an entry of a pool */
#define D9_MAX_SCHEMAS 65536U        /* that differ, in the whole trace */
#define D9_MAX_DESCRIBED (16U << 20) /* bytes that all of them together cost */
#define D9_MAX_POOLED (16U << 20)    /* bytes that the pools of one segment cost */
#define D9_AHEAD_POOLED (1U << 20)   /* look ahead before the pools grow larger */
#define D9_MAX_PENDING 16384U        /* ids of one segment that wait for their definition */
#define D9_MAX_LATE 16384U           /* definitions behind their use, in the whole trace */
#define D9_MAX_SYMBOLS 65536U
#define D9_MAX_AHEAD_BYTES (4U << 20) /* of the texts of both */
#define D9_MAX_META 64U               /* facts of the trace */
#define D9_MAX_META_BYTES (64U << 10)
#define D9_MAX_EVENT_POOLED (2U << 20) /* bytes that the pools may add to one event */
#define D9_ADDRESS_COST 20U            /* of these, what an address without a name counts */
#define D9_DIRECT_IDS (1U << 18)       /* pool ids below this are looked up without hashing */

/* A batch is full when its events take this much, whatever their number. */
#define D9_NEXT_BYTES (1U << 20)
#define D9_NEXT_FIELDS 65536U

#endif
