#ifndef DFTRACER_WRITE_SELECT_H
#define DFTRACER_WRITE_SELECT_H

#include "dftracer/write_look.h"
#include "format/format.h"

/*
 * Which metadata a selection of records needs.  A survey of the input notes what
 * retained records refer to, so that what is written stays in the order of the
 * input: definitions of the hashes and entities that they name, and all that is
 * said of their processes and threads.
 *
 * Memory: past DFW_MOST_MARKS of these, all metadata is written.
 */
#define DFW_MOST_MARKS (1U << 20)
#define DFW_MOST_ENTITIES (1U << 17)

/* A record that defines an entity. */
struct dfw_entity {
	uint64_t id, type; /* hashes of the texts */
};

struct dfw_select {
	struct table64
	    needed;   /* hash of what is referred to -> 1; of a definition that was written -> of what */
	bool *tracks; /* by index: who its events are of is marked */
	uint32_t ntracks;
	struct dfw_entity *entities;
	uint32_t nentities, entities_cap;
	bool left_out;   /* some record was not selected */
	bool everything; /* it is too much to tell apart */
	bool over;       /* the survey is */
	bool failed;     /* no memory */
};

/* The next raw record of the survey; x: a look at it, if it is needed. */
void dfw_select_look(struct dfw_select *s, struct dfw_look *x, const struct event *e, struct slice bytes);

/* The survey is over.  Harmless twice. */
void dfw_select_end(struct dfw_select *s);

enum dfw_take { DFW_LEAVE, DFW_TAKE, DFW_LEAVE_START };

/* What becomes of the next raw record. */
enum dfw_take dfw_select_takes(struct dfw_select *s, struct dfw_look *x, const struct event *e,
                               struct slice bytes);

void dfw_select_free(struct dfw_select *s);

#endif
