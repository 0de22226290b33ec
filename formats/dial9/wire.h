#ifndef DIAL9_WIRE_H
#define DIAL9_WIRE_H

/* The dial9 file: frames, types of values, and reading them from a window of the input. */

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/cursor.h"
#include "format/format.h"

/* ---- bytes of the file ---- */

/*
 * All integers are little-endian.  A stream is a header and frames; a frame begins with its tag and does not
 * state its length.  Features marked 0.3.6 or 0.4 occur in files of these crates, under the same version
 * byte, and are not in the document of 0.3.2.
 */

/* "Header": TRC, NUL and the version.  Since 0.4 a header may replace any frame and begins a segment. */
#define D9_MAGIC "TRC"
#define D9_MAGIC_SIZE 4
#define D9_HEADER_SIZE 5
#define D9_VERSION 1

/* The format of dial9-tokio-telemetry before release 0.2.0: this magic and a version of 32 bits. */
#define D9_OLDER_MAGIC "TOKIOTRC"
#define D9_OLDER_MAGIC_SIZE 8

/* "Frames" */
enum d9_tag {
	D9_TAG_SCHEMA = 0x01,
	D9_TAG_EVENT = 0x02,
	D9_TAG_STRINGS = 0x03,
	D9_TAG_STACKS = 0x04, /* 0.3.6 */
	D9_TAG_RESET = 0x05,
	D9_TAG_ANNOTATIONS = 0x06, /* 0.4 */
	D9_TAG_HEADER = 'T',       /* 0.4: the first byte of another header */
};

/* Returns the index of a frame in tables of frames: its tag; 0 of a header. */
#define D9_FRAMES 7
static inline unsigned d9_frame_index(uint8_t tag)
{
	return tag < D9_FRAMES ? tag : 0;
}

#define D9_EVENT_HEAD 3       /* tag, type_id */
#define D9_TIMED_EVENT_HEAD 6 /* and timestamp_delta_ns */
#define D9_SCHEMA_HEAD 3      /* tag, type_id */
#define D9_SCHEMA_NAME 5      /* and name_len */
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
	D9_POOLED_STACK = 6, /* 0.3.6 */
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

/* Returns the type_id of the frame of a schema or an event. */
static inline uint16_t d9_type_id(const char *frame)
{
	return load_u16(frame + 1, false);
}

/* ---- dialects ---- */

/* The documents of crates 0.3.2 and 0.3.6, and the output of crate 0.4; all have the same version byte. */
enum d9_dialect { D9_0_3_2, D9_0_3_6, D9_0_4, D9_DIALECTS };

extern const char *const d9_dialects[]; /* their names, then another name of the first one, then NULL */

/* Returns the dialect with this name; D9_0_4 if name is NULL. */
enum d9_dialect d9_dialect_of(const char *name);

/* ---- types ---- */

enum d9_pool_kind { D9_STRINGS, D9_STACKS, D9_POOLS };

/* The layout of a value's bytes. */
enum d9_shape {
	D9_SHAPE_UNKNOWN, /* unknown type: values have no known size */
	D9_SHAPE_FIXED,   /* `size` bytes */
	D9_SHAPE_BOOL,    /* one byte that should be 0 or 1 */
	D9_SHAPE_ID,      /* u32, an id of a pool */
	D9_SHAPE_LEB128,
	D9_SHAPE_TEXT,   /* u32 n, then n bytes of UTF-8 */
	D9_SHAPE_RUN,    /* u32 n, then n items of `size` bytes */
	D9_SHAPE_VALUES, /* u32 n, then n entries of `each` values and at least `size` bytes; values are
	                    texts, or if `tagged` of the type that precedes each */
};

/* "Field Types"; all walks over values use this table. */
struct d9_type_info {
	const char *names[2]; /* of the type, and of the optional one */
	const char *missing;  /* findings: the cut part if the input ends in such a value or its count */
	uint8_t shape;        /* enum d9_shape */
	uint8_t size;
	uint8_t each;
	uint8_t pool; /* enum d9_pool_kind */
	bool tagged;
	uint8_t value;     /* enum value_type of raw values */
	const char *newer; /* its name in findings if the document of 0.3.2 lacks it, or NULL */
	uint8_t since;     /* with `newer`: the first dialect that has it */
};

extern const struct d9_type_info d9_types[D9_TYPES];

/* Returns the row of a type without the optional bit; the first row for unknown types. */
static inline const struct d9_type_info *d9_type(uint8_t type)
{
	const unsigned inner = type & ~(unsigned)D9_OPTIONAL;

	return &d9_types[inner < D9_TYPES ? inner : 0];
}

static inline bool d9_is_optional(uint8_t type)
{
	return (type & D9_OPTIONAL) != 0;
}

static inline bool d9_type_known(uint8_t type)
{
	return d9_type(type)->shape != D9_SHAPE_UNKNOWN;
}

/* Returns the size of a value in bytes; 0: variable or unknown. */
static inline uint32_t d9_fixed_size(uint8_t type)
{
	const struct d9_type_info *const t = d9_type(type);

	return t->shape <= D9_SHAPE_ID && !d9_is_optional(type) ? t->size : 0;
}

/* Loads a value of 1, 2, 4 or 8 bytes. */
static inline uint64_t d9_load(const char *p, unsigned size)
{
	switch (size) {
	case 1:
		return (uint8_t)*p;
	case 2:
		return load_u16(p, false);
	case 4:
		return load_u32(p, false);
	default:
		return load_u64(p, false);
	}
}

static inline bool d9_is_integer(uint8_t type)
{
	const struct d9_type_info *const t = d9_type(type);

	return t->shape == D9_SHAPE_LEB128 || (t->shape == D9_SHAPE_FIXED && t != &d9_types[D9_F64]);
}

/* Elements of lists and maps are never optional. */
static inline bool d9_is_element_type(uint8_t type)
{
	return type < D9_TYPES && d9_types[type].shape != D9_SHAPE_UNKNOWN;
}

static inline const char *d9_type_name(uint8_t type)
{
	return d9_type(type)->names[d9_is_optional(type)];
}

/* ---- bytes ---- */

struct d9_schema;
struct d9_field;

/* Bytes that a failed read lacks. */
struct d9_lack {
	const char *what;               /* "frame count" */
	const struct d9_schema *schema; /* of the event, or NULL */
	const struct d9_field *field;   /* or NULL */
	uint64_t bytes;                 /* missing, at least */
	uint64_t length;                /* with has_length: the count or length that does not fit */
	uint64_t left;                  /* with has_length: bytes available for it */
	bool has_length;
};

/* The bytes of a frame that are in the window, read from the front.  A read that lacks bytes sets *lack. */
struct d9_bytes {
	const char *p, *end;
	struct d9_lack *lack;
};

/* Records that a read of n bytes, named `what` in findings, lacks bytes. */
void d9_bytes_lack(struct d9_bytes *b, size_t n, const char *what);

/* Reads n items of `each` bytes, and sets *p to their position.  Returns false if bytes are lacking. */
bool d9_bytes_run(struct d9_bytes *b, uint32_t n, uint32_t each, const char *what, const char **p);

/* Reads a LEB128 number and returns its size in bytes; 0: incomplete; D9_VARINT_MAX + 1: it has no end within
 * D9_VARINT_MAX bytes.  Bits above 64 are dropped. */
unsigned d9_bytes_leb128(struct d9_bytes *b, uint64_t *v, const char *what);

/* Whether the LEB128 number of n bytes before `end` has more than 64 bits. */
static inline bool d9_is_over_64_bits(const char *end, unsigned n)
{
	return n == D9_VARINT_MAX && (uint8_t)end[-1] > 1;
}

/* Reads n bytes and returns their position, or NULL if bytes are lacking. */
static inline const char *d9_bytes_read(struct d9_bytes *b, size_t n, const char *what)
{
	if (n > (size_t)(b->end - b->p)) {
		d9_bytes_lack(b, n, what);
		return NULL;
	}
	b->p += n;
	return b->p - n;
}

static inline bool d9_bytes_u8(struct d9_bytes *b, uint8_t *v, const char *what)
{
	const char *const p = d9_bytes_read(b, 1, what);

	*v = p != NULL ? (uint8_t)*p : 0;
	return p != NULL;
}

static inline bool d9_bytes_u16(struct d9_bytes *b, uint16_t *v, const char *what)
{
	const char *const p = d9_bytes_read(b, 2, what);

	*v = p != NULL ? load_u16(p, false) : 0;
	return p != NULL;
}

static inline bool d9_bytes_u32(struct d9_bytes *b, uint32_t *v, const char *what)
{
	const char *const p = d9_bytes_read(b, 4, what);

	*v = p != NULL ? load_u32(p, false) : 0;
	return p != NULL;
}

/* Reads a LEB128 number that was checked to have at most D9_VARINT_MAX bytes.  Inlined, so that the caller's
 * position has a register. */
INLINE uint64_t d9_varint(const char **p)
{
	uint64_t byte = (unsigned char)*(*p)++, v = byte & 0x7f;

	for (unsigned shift = 7; byte >= 0x80; shift += 7) {
		byte = (unsigned char)*(*p)++;
		v |= (byte & 0x7f) << shift;
	}
	return v;
}

#endif
