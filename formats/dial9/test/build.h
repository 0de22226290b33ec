#ifndef DIAL9_BUILD_H
#define DIAL9_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Builds dial9 traces for tests and benchmarks (samples are text: docs/samples.md).  Shares no code with the
 * reader, so that each checks the other.  Aborts on OOM.
 */

/* Tags of field types, as the specification numbers them; 6, 14 and 15 came with 0.4. */
enum d9_tag_of_type {
	D9T_I64 = 1,
	D9T_F64,
	D9T_BOOL,
	D9T_STRING,
	D9T_BYTES,
	D9T_POOLED_STACK,
	D9T_POOLED_STRING,
	D9T_STACK,
	D9T_VARINT,
	D9T_STRING_MAP,
	D9T_U8,
	D9T_U16,
	D9T_U32,
	D9T_LIST,
	D9T_MAP,
	D9T_OPTIONAL = 0x80
};

struct d9_field_desc {
	const char *name;
	unsigned type;
};

struct d9_build {
	unsigned char *p;
	size_t n, cap;
	uint64_t base; /* the running time base */
};

void d9b_init(struct d9_build *b);
void d9b_free(struct d9_build *b);

/* Values. */
void d9b_u8(struct d9_build *b, uint8_t v);
void d9b_u16(struct d9_build *b, uint16_t v);
void d9b_u32(struct d9_build *b, uint32_t v);
void d9b_u64(struct d9_build *b, uint64_t v);
void d9b_varint(struct d9_build *b, uint64_t v);
void d9b_bytes(struct d9_build *b, const void *p, size_t n);
void d9b_text16(struct d9_build *b, const char *s); /* after a length of 16 bits */
void d9b_text32(struct d9_build *b, const char *s); /* after one of 32 bits */

/* Each of these writes a frame, or the head of one, and returns its offset. */
size_t d9b_header(struct d9_build *b); /* the time base is 0 again */
size_t d9b_schema(struct d9_build *b, uint16_t id, const char *name, bool timed,
                  const struct d9_field_desc *fields, size_t n);
size_t d9b_untimed(struct d9_build *b, uint16_t id);
size_t d9b_event(struct d9_build *b, uint16_t id, uint64_t ts); /* timed; after a reset if needed */
size_t d9b_event_delta(struct d9_build *b, uint16_t id, uint32_t delta);
size_t d9b_strings(struct d9_build *b, uint32_t count); /* the head; entries are u32 and text32 */
size_t d9b_string(struct d9_build *b, uint32_t id, const char *s);
size_t d9b_stack(struct d9_build *b, uint32_t id, const uint64_t *addresses, uint32_t n);
size_t d9b_annotations(struct d9_build *b, uint64_t id, uint16_t count); /* the head */
size_t d9b_annotation(struct d9_build *b, uint64_t id, uint16_t field, const char *key, const char *value);

#endif
