#ifndef HEPH_PACKET_H
#define HEPH_PACKET_H

#include "format/format.h"
#include "heph/wire.h"

/* One packet where it lies, all of it in the window. */
struct heph_packet {
	const char *p, *end;
	uint64_t offset, ordinal;
	bool followed;     /* at `end` another packet starts, or the input ends: the size can be trusted */
	const char *fault; /* NULL: it is sound; else from here on its content cannot be read */

	/* events */
	uint32_t stream, counter;
	uint64_t substream, start, stop;
	struct slice description;
	uint32_t nfields;   /* put behind those in use in the batch */
	uint32_t nelements; /* of arrays that are retained */
};

/* What events bring besides their attributes, under these names. */
#define HEPH_COUNTER_FIELD "stream_counter"
#define HEPH_END_FIELD "end"

/* When an event ends; one that ends before it begins has no length. */
static inline uint64_t
heph_packet_end(const struct heph_packet *k)
{
	return k->stop < k->start ? k->start : k->stop;
}

/* heph_packet_min for less than 4 bytes. */
uint32_t heph_packet_min_of_part(const char *p, const char *end);

/* Whether the bytes at p, as far as they are there, may start a packet: 0: no; else the least size of its
 * kind. */
static inline uint32_t
heph_packet_min(const char *p, const char *end)
{
	if (end - p < 4)
		return heph_packet_min_of_part(p, end);
	const uint32_t magic = load_u32(p, true);
	return magic == HEPH_MAGIC_EVENT      ? HEPH_EVENT_MIN
	       : magic == HEPH_MAGIC_METADATA ? HEPH_METADATA_MIN
	                                      : 0;
}

/* Whether another packet starts at p, or the input ends there. */
static inline bool
heph_is_packet_end(const char *p, const char *end)
{
	return p == end || heph_packet_min(p, end) != 0;
}

/* Whether a complete packet lies at the start of [p, inside), and another one starts behind it, or the input
 * ends. */
bool heph_is_packet(const char *p, const char *inside, const char *end);

#endif
