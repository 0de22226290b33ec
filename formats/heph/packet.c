#include "heph/packet.h"

uint32_t
heph_packet_min_of_part(const char *p, const char *end)
{
	static const char metadata[3] = { 0x75, (char)0xD1, 0x1D },
	                  event[3] = { (char)0xC1, (char)0xFC, 0x1F };
	const size_t n = (size_t)(end - p) % 4;

	return memcmp(p, event, n) == 0      ? HEPH_EVENT_MIN
	       : memcmp(p, metadata, n) == 0 ? HEPH_METADATA_MIN
	                                     : 0;
}

bool
heph_is_packet(const char *p, const char *inside, const char *end)
{
	const uint32_t min = inside - p >= HEPH_START ? heph_packet_min(p, inside) : 0;
	const uint32_t size = min != 0 ? load_u32(p + 4, true) : 0;

	return min != 0 && size >= min && size <= (size_t)(inside - p) && heph_is_packet_end(p + size, end);
}
