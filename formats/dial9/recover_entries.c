#include "dial9/recover.h"
#include "dial9/wire.h"

/* How many entries of a frame are complete, without a look at what is in them. */

/* The head: tag, the type_id of annotations, count. */
static bool
take_head(struct d9_entries *e, const char *p, const char *end)
{
	const bool annotations = *p == D9_TAG_ANNOTATIONS;
	uint32_t at = 1;

	while (annotations && at <= D9_VARINT_MAX && p + at < end && (unsigned char)p[at] >= 0x80)
		at++;
	at += annotations;
	e->count_at = at;
	e->count_size = annotations ? 2 : 4;
	e->more = at <= D9_VARINT_MAX + 1;
	if (!e->more || (size_t)(end - p) < at + e->count_size)
		return false;
	e->count = annotations ? load_u16(p + at, false) : load_u32(p + at, false);
	e->size = at + e->count_size;
	return true;
}

/* The size of the entry at p; 0: it is not complete. */
static uint64_t
entry_size(uint8_t tag, const char *p, const char *end)
{
	const size_t left = (size_t)(end - p);
	uint64_t n;

	if (tag != D9_TAG_ANNOTATIONS) {
		n = left < D9_ENTRY_HEAD
		        ? 0
		        : D9_ENTRY_HEAD + (uint64_t)load_u32(p + 4, false) * (tag == D9_TAG_STRINGS ? 1 : 8);
	} else {
		const size_t key = left < 4 ? 0 : load_u16(p + 2, false);
		n = left < 4 + key + 4 ? 0 : 4 + key + 4 + (uint64_t)load_u32(p + 4 + key, false);
	}
	return n <= left ? n : 0;
}

bool
d9_entries_walk(struct d9_entries *e, const char *p, const char *end)
{
	if (e->size == 0 && !take_head(e, p, end))
		return false;
	while (e->whole < e->count) {
		const uint64_t n = entry_size((uint8_t)*p, p + e->size, end);
		if (n == 0)
			break;
		e->large |= n > D9_MAX_FRAME / 2;
		e->size += (size_t)n;
		e->whole++;
	}
	e->more = e->whole < e->count;
	return true;
}
