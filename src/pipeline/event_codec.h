#ifndef PIPELINE_EVENT_CODEC_H
#define PIPELINE_EVENT_CODEC_H

#include "event/batch_pool.h"
#include "event/trace_engine.h"

/*
 * Packs an event with all it points to into one run of bytes that can be
 * moved, written to a file and read back by the same process.
 *
 * A packed event is, in this order:
 *
 *	struct event      first_field holds the size of the whole in units of 8 bytes
 *	struct slice      the bytes of the record; only when packed `with_bytes`
 *	struct field[]    its fields
 *	struct value[]    entries of lists and maps, breadth first
 *	char[]            text, then zeros up to a multiple of 8 bytes
 *
 * A pointer is an offset from the start of the packed event, 0 is NULL.  Kept
 * as pointers are: classes and tracks, and text with SLICE_STAYS, which all
 * live as long as the trace.  Flags, types, widths and unused bits stay as
 * they are.  So a small event takes 64 bytes, and each field 32 bytes more.
 */
#define EVENT_PACKED_UNIT 8U
#define EVENT_PACKED_MAX ((uint64_t)UINT32_MAX * EVENT_PACKED_UNIT)

/* Packs event i of b into [to, to + room); `to` is aligned to 8 bytes.  with_bytes: b->bytes too (an empty
 * text when b has none).  The number of bytes used, a multiple of 8; 0: they do not fit (what is in the room
 * then is undefined).  Lists in lists may be of any depth. */
uint64_t event_pack(char *to, uint64_t room, const struct batch *b, uint32_t i, bool with_bytes);

/* The fixed part; of its pointers, use cls and track only. */
static inline const struct event *
event_packed_head(const char *packed)
{
	return (const struct event *)(const void *)packed;
}

static inline uint64_t
event_packed_size(const char *packed)
{
	return (uint64_t)event_packed_head(packed)->first_field * EVENT_PACKED_UNIT;
}

/* Adds the packed event to a batch that has room for one more (n < cap).  false: no memory; the batch is as
 * before, but for its scratch arena.  with_bytes: as it was packed; out->bytes may be NULL all the same.
 *
 * event_unpack_in_place: the batch points into `packed`, which must live as long as the batch.  It changes
 * what is packed: unpack it only once.
 * event_unpack_copy: what the batch points to is copied to its scratch arena. */
bool event_unpack_in_place(struct batch *out, char *packed, bool with_bytes);
bool event_unpack_copy(struct batch *out, const char *packed, bool with_bytes);

#endif
