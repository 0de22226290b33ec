#ifndef PIPELINE_EVENT_CODEC_H
#define PIPELINE_EVENT_CODEC_H

#include "model/batch_pool.h"
#include "model/order_key.h"
#include "model/trace_engine.h"
#include "run/sort/event_shapes.h"

/*
 * Packs an event with all it points to into one run of bytes that can be
 * moved, written to a file and read back by the same process.
 *
 * A packed event is, in this order, without gaps:
 *
 *	u32     bits 0-19 the size of the whole; 20-23 that of its dur, 24-27 of its offset, 28-31 of its ts
 *	u16     the number of its shape
 *	u8[]    dur, offset, and how far ts is from event_shapes.base: without leading zero bytes
 *	u64     the size of the whole, if it does not fit above (EVENT_PACKED_LARGE stands there)
 *	struct event  its shape, if it has no number (EVENT_SHAPE_NONE)
 *	text    its name, unless that stays or is NULL
 *	fields  of each the number of its shape, or its name and type; its value; of lists and maps the number
 *	        of entries
 *	u64, struct value[]  the entries of lists and maps, breadth first; only if there are any
 *	text[]  of those
 *	slice   the bytes of the record; only when packed `with_bytes`
 *
 * A text is its length, one byte or five, and its bytes.  Kept as pointers are
 * classes and tracks, and text with SLICE_STAYS, which all live as long as the
 * trace.  So a small event takes some 25 bytes, and each field some 5 and its
 * text.
 *
 * Reading may look at EVENT_PACKED_SLACK bytes behind a packed event.
 */
#define EVENT_PACKED_MAX (UINT64_C(1) << 40)
#define EVENT_PACKED_LARGE ((1U << 20) - 1)
#define EVENT_PACKED_SLACK 8U

/* Packs event i of b into [to, to + room).  shapes: NULL makes its shape part of it.  with_bytes: b->bytes
 * too (an empty text when b has none).  The number of bytes used; 0: they do not fit (what is in the room
 * then is undefined).  Lists in lists may be of any depth. */
uint64_t event_pack(char *to, uint64_t room, const struct batch *b, uint32_t i, struct event_shapes *shapes,
                    bool with_bytes);

/* The first EVENT_PACKED_HEAD bytes of a packed event, or all if it is smaller, say how large it is and where
 * it belongs. */
#define EVENT_PACKED_HEAD (40 + sizeof(struct event))

static inline uint64_t
event_packed_size(const char *packed)
{
	uint32_t head;
	uint64_t size;

	memcpy(&head, packed, sizeof head);
	if ((head & EVENT_PACKED_LARGE) != EVENT_PACKED_LARGE)
		return head & EVENT_PACKED_LARGE;
	memcpy(&size, packed + 6 + (head >> 20 & 15) + (head >> 24 & 15) + (head >> 28), sizeof size);
	return size;
}

/* shapes: those it was packed with. */
struct order_key event_packed_key(const char *packed, const struct event_shapes *shapes,
                                  struct order_rule rule);

/* Adds the packed event to a batch that has room for one more (n < cap).  false: no memory; the batch is as
 * before, but for its scratch arena.  shapes, with_bytes: as it was packed; out->bytes may be NULL all the
 * same.
 *
 * event_unpack_in_place: texts of the batch lie in `packed`, which must live as long as the batch.
 * event_unpack_copy: what the batch points to is copied to its scratch arena. */
bool event_unpack_in_place(struct batch *out, const char *packed, const struct event_shapes *shapes,
                           bool with_bytes);
bool event_unpack_copy(struct batch *out, const char *packed, const struct event_shapes *shapes,
                       bool with_bytes);

#endif
