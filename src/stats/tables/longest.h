#ifndef STATS_TABLES_LONGEST_H
#define STATS_TABLES_LONGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "model/event.h"
#include "output/text.h"

/*
 * The longest items (spans, gaps, arrows) of each group, with copies of their texts: one heap per group, the
 * shortest item first.  Of equal lengths the first one is kept.
 *
 * Memory is bounded: if several groups have more than LONGEST_ITEMS items or LONGEST_BYTES of texts, each
 * keeps half as many as before (`limit`), the longest.  If one per group is still too much, further groups
 * are kept together as LONGEST_OTHER, with short names and no fields.
 */
#define LONGEST_ITEMS (1U << 18)
#define LONGEST_BYTES (UINT64_C(64) << 20)
#define LONGEST_OTHER UINT32_MAX /* the number of a group */

struct longest_item {
	uint64_t length, ts, offset;    /* of a gap: offset of the span after it */
	uint64_t number;                /* in order of arrival */
	const struct track *track, *to; /* to: where an arrow ends; NULL: none */
	char *texts;                    /* owned: name, second, fields, one after the other */
	uint32_t name, second, fields;  /* their bytes.  second: category; of a gap the span before it */
};

struct longest_group {
	struct longest_item *list; /* a heap; after longest_end() the longest first */
	uint32_t n, cap;
};

/* Set `limit`, at least 1, and zero-initialise the rest. */
struct longest {
	uint32_t limit;               /* items of a group */
	struct longest_group *groups; /* by number */
	uint32_t ngroups, used;       /* used: groups that have items */
	struct longest_group other;
	uint64_t items, bytes, arrived;
	bool full; /* LONGEST_OTHER is in use */
};

/* Whether an item of this length would be kept; make its texts only then. */
bool longest_wants(const struct longest *l, uint32_t group, uint64_t length);

/* Adds an item that longest_wants().  Copies the texts.  Returns false on OOM. */
bool longest_add(struct longest *l, uint32_t group, struct longest_item item, struct slice name,
                 struct slice second, struct slice fields);

/* Sorts the items of each group, the longest first; nothing can be added then. */
void longest_end(struct longest *l);

/* Returns the items of a group; there may be none. */
const struct longest_group *longest_of(const struct longest *l, uint32_t group);

void longest_free(struct longest *l);

static inline struct slice longest_name(const struct longest_item *i)
{
	return slice_of(i->texts, i->name);
}

static inline struct slice longest_second(const struct longest_item *i)
{
	return slice_of(i->texts + i->name, i->second);
}

static inline struct slice longest_fields(const struct longest_item *i)
{
	return slice_of(i->texts + i->name + i->second, i->fields);
}

#endif
