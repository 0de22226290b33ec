#ifndef HEPH_BUILD_H
#define HEPH_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Builds Heph traces for tests and benchmarks.  Aborts on OOM.  Samples are text: docs/samples.md. */

struct heph_build {
	unsigned char *p;
	size_t n, cap;
	size_t packet;        /* offset of the latest packet */
	uint32_t counters[8]; /* of streams 0 to 7: the next counter */
};

void heph_init(struct heph_build *b);
void heph_free(struct heph_build *b);

/* Values, big-endian. */
void heph_u8(struct heph_build *b, uint8_t v);
void heph_u16(struct heph_build *b, uint16_t v);
void heph_u32(struct heph_build *b, uint32_t v);
void heph_u64(struct heph_build *b, uint64_t v);
void heph_f64(struct heph_build *b, double v);
void heph_bytes(struct heph_build *b, const void *p, size_t n);

/* Start a packet, with the size that it has so far.  Return its offset. */
size_t heph_metadata(struct heph_build *b, const char *option); /* the value follows */
size_t heph_event(struct heph_build *b, uint32_t stream, uint64_t substream, uint64_t start, uint64_t end,
                  const char *description); /* stream < 8: the next counter; attributes follow */
size_t heph_event_at(struct heph_build *b, uint32_t stream, uint32_t counter, uint64_t substream,
                     uint64_t start, uint64_t end, const char *description);

/* Sets the size of the latest packet to its actual length. */
void heph_end(struct heph_build *b);

/* Whole packets. */
size_t heph_epoch(struct heph_build *b, uint64_t ns);
size_t heph_plain(struct heph_build *b, uint32_t stream, uint64_t start,
                  uint64_t end); /* without attributes */

/* Adds the name and type of an attribute; its value follows. */
size_t heph_attribute(struct heph_build *b, const char *name, uint8_t type);
void heph_unsigned(struct heph_build *b, const char *name, uint64_t v);
void heph_signed(struct heph_build *b, const char *name, int64_t v);
void heph_float(struct heph_build *b, const char *name, double v);
void heph_text_value(struct heph_build *b, const char *name, const char *s);

/* The two packets that the specification prints byte by byte. */
void heph_spec_epoch(struct heph_build *b);
void heph_spec_event(struct heph_build *b);

#endif
