#ifndef STATS_TOTAL_H
#define STATS_TOTAL_H

#include <stdint.h>

/* A sum in two halves: compilers take one of 128 bits through memory. */
struct total {
	uint64_t low, high;
};

static inline void
total_add(struct total *t, uint64_t v)
{
	t->high += __builtin_add_overflow(t->low, v, &t->low);
}

static inline void
total_subtract(struct total *t, uint64_t v)
{
	t->high -= __builtin_sub_overflow(t->low, v, &t->low);
}

static inline unsigned __int128
total_of(struct total t)
{
	return (unsigned __int128)t.high << 64 | t.low;
}

#endif
