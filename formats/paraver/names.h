#ifndef PARAVER_NAMES_H
#define PARAVER_NAMES_H

#include "base/arena.h"
#include "base/table.h"
#include "format/format.h"

/*
 * What the numbers of the output mean.  A group is a set of names that are
 * numbered together: those of the spans and instants of a category, or of a
 * time line below a thread.  A type of event belongs to a group, several types
 * of one group share its names.  Numbers are given in the order in which they
 * are first wanted.
 */

/* Bounds, so that memory does not grow with the trace. */
#define PARAVER_MOST_TYPES 16384U
#define PARAVER_MOST_NAMES (1U << 20)
#define PARAVER_MOST_TEXT (64U << 20) /* bytes of names */

/* The first type of event.  Those of the tracers that write Paraver traces themselves are smaller, or much
 * larger: views that were made for these show nothing of a trace where the numbers mean something else. */
#define PARAVER_FIRST_TYPE 1000U

enum paraver_group_kind {
	PARAVER_CATEGORY, /* spans and instants of threads, by the category of their class */
	PARAVER_LINE,     /* what a time line below a thread shows */
	PARAVER_COUNTER,
	PARAVER_ARROWS,
};

enum paraver_type_kind {
	PARAVER_SPANS, /* what is innermost; with a level: what is there */
	PARAVER_INSTANTS,
	PARAVER_ASYNC,
	PARAVER_NUMBERS, /* of a counter; of arrows */
};

struct paraver_group {
	struct slice label;
	uint32_t first_value, last_value, nvalues; /* numbers are 1, 2, ...; TABLE_NONE: none */
	uint32_t first_type, last_type;
	uint32_t other; /* value for names without room; 0: none yet */
	enum paraver_group_kind kind;
};

struct paraver_type {
	uint32_t group, next;
	uint16_t lane;  /* of overlapping spans, from 0; of async ones, from 0 */
	uint16_t level; /* 0: the innermost */
	enum paraver_type_kind kind;
};

struct paraver_value {
	uint32_t name, next; /* index of its text; value of the same group */
};

/* Zero-initialise to start. */
struct paraver_names {
	struct arena arena;
	struct paraver_group *groups;
	struct paraver_type *types; /* PARAVER_FIRST_TYPE + index */
	struct paraver_value *values;
	struct slice *texts;
	uint32_t ngroups, groups_cap, ntypes, types_cap, nvalues, values_cap, ntexts, texts_cap;
	uint64_t bytes;                     /* of texts and labels */
	struct tabletext by_text, by_label; /* texts[]; kind and label -> groups[] */
	struct table64 by_value, by_type;
	struct text key;
	bool failed; /* no memory */
};

/* Index of the group; TABLE_NONE: there is no room. */
uint32_t paraver_group(struct paraver_names *n, enum paraver_group_kind kind, struct slice label);

/* Number of a name in a group, from 1 on; *full is set where it is that of all others. */
uint32_t paraver_value(struct paraver_names *n, uint32_t group, struct slice name, bool *full);

/* Number of a type; 0: there is no room. */
uint32_t paraver_type(struct paraver_names *n, struct paraver_type like);

static inline const struct paraver_type *
paraver_type_at(const struct paraver_names *n, uint32_t number)
{
	return &n->types[number - PARAVER_FIRST_TYPE];
}

void paraver_names_free(struct paraver_names *n);

/* A name of a trace as one line of text; true: it was changed. */
bool paraver_label(struct text *t, struct slice name);

/* The file .pcf; labels that were changed are counted. */
void paraver_pcf(const struct paraver_names *n, struct chunk *chunk);

#endif
