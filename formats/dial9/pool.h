#ifndef DIAL9_POOL_H
#define DIAL9_POOL_H

#include "dial9/type.h"
#include "format/format.h"

/* The strings and stacks that a segment defines by number. */

struct d9_frame;
struct d9_state;

struct d9_entry {
	uint64_t hash; /* of its bytes, to tell another definition */
	union {
		const char *text;           /* strings; NULL: not wanted */
		const struct value *values; /* stacks, likewise */
	};
	uint32_t n, flags; /* bytes and flags of a string, frames of a stack */
	uint32_t cost;     /* about how many bytes it takes in an output */
	uint32_t id;
	uint8_t element; /* stacks: value.element */
};

/* An id that was referenced and is not defined. */
struct d9_pending {
	uint64_t offset, ordinal, count; /* of the first reference; how many there are */
	uint32_t id;
	bool defined; /* by now */
	bool shown;   /* as a number, in a field or a name */
};

/*
 * Texts and stacks of one segment.  Values of events point into it, so batches
 * hold it; what is in it neither moves nor changes.
 */
struct d9_pool_memory {
	struct shared_memory shared;
	struct arena arena;
};

/* The strings or stacks of one segment. */
struct d9_pool {
	struct d9_entry *entries;
	uint32_t n, cap;
	uint32_t *direct; /* id -> its entry's number + 1, or 0 */
	uint32_t ndirect;
	struct table64 far; /* the same for larger ids; the number itself */
	struct d9_pending *pending;
	uint32_t npending, pending_cap;
	struct table64 pending_index; /* id -> pending[] */
};

const struct d9_entry *d9_pool_far(const struct d9_pool *pool, uint32_t id);

static inline const struct d9_entry *
d9_pool_find(const struct d9_pool *pool, uint32_t id)
{
	if (id >= D9_DIRECT_IDS)
		return d9_pool_far(pool, id);
	return id < pool->ndirect && pool->direct[id] != 0 ? &pool->entries[pool->direct[id] - 1] : NULL;
}

/* Defines an id of the present segment; `data` are the bytes of the string or of the addresses. */
void d9_pool_define(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, struct slice data,
                    const struct d9_frame *f);

/* An id was referenced that is not defined (yet). */
void d9_pool_miss(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct d9_frame *f);

/* Such an id was shown as a number. */
void d9_pool_shown(struct d9_state *st, enum d9_pool_kind kind, uint32_t id);

/* The end of a segment was reached: reports what was never defined. */
void d9_pools_check(struct d9_state *st);

/* A new segment: no id is defined.  What batches hold of the one before stays with them. */
void d9_pools_forget(struct d9_state *st);
void d9_pools_free(struct d9_state *st);

/* The batch that is to be filled may point to what is in the pools. */
void d9_pools_hold(struct d9_state *st, struct batch *b);

#endif
