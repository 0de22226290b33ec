#ifndef HTDUMP_PLAN_H
#define HTDUMP_PLAN_H

#include "format/format.h"

/* A field of the unfolded class: bases first, structs in their place. */
struct ht_leaf {
	struct slice name; /* unique in its class; members of a struct are "struct.member" */
	uint8_t value;     /* enum value_type */
	bool member;       /* of a struct */
	uint16_t run;      /* which run of fixed-size fields it lies in ... */
	uint32_t at;       /* ... and where; strings end their run */
	uint32_t size;     /* bytes; 0 for a string */
};

/* Fields of fixed size one behind the other, and whether a string follows them. */
struct ht_run {
	uint32_t fixed; /* bytes */
	uint32_t string;
};

#define HT_NO_LEAF UINT32_MAX

/* What is known of the records of a class; made when the first one comes. */
struct ht_plan {
	struct ht_leaf *leaves;
	struct slice *paths; /* names of the leaves before they were made unique */
	struct ht_run *runs;
	uint32_t *args; /* the leaves that become fields of the event */
	uint32_t nleaves, nruns, nargs;
	/* Leaves with a role, or HT_NO_LEAF: numbers but for `name`; `label` is looked up for a name. */
	uint32_t duration, thread, label, name, identifier;
	uint8_t want;       /* enum want: who wants its events */
	bool always_fields; /* even if nobody wants fields */
};

void ht_plan_free(struct ht_plan *plan); /* NULL is fine */

/* Runs of fixed-size leaves, each up to the next string.  false: no memory. */
bool ht_plan_make_runs(struct ht_plan *plan);

/* Lists the leaves that become fields of events: of structure all of them.  false: no memory. */
bool ht_plan_list_args(struct ht_plan *plan, bool structure);

/* enum value_type of a leaf in raw events, where it gives the width: an address of 4 bytes is a number. */
static inline uint8_t
ht_leaf_raw_type(const struct ht_leaf *l)
{
	return l->value == VALUE_ADDRESS && l->size == 4 ? VALUE_U32 : l->value;
}

static inline bool
ht_leaf_is_integer(const struct ht_leaf *l)
{
	return l->value >= VALUE_U8 && l->value <= VALUE_I64;
}

#endif
