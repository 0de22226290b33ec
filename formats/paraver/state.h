#ifndef PARAVER_STATE_H
#define PARAVER_STATE_H

#include "base/decimal.h"
#include "output/text_put.h"
#include "paraver/arrows.h"
#include "paraver/names.h"
#include "paraver/rows.h"
#include "paraver/spans.h"
#include "paraver/store.h"

/*
 * The writer of Paraver traces.  Records are in order of time, so a span is two
 * of them, and ends wait until it is their turn.  The head of the .prv file
 * says how long the trace is and what objects there are, so the records wait,
 * too, in a temporary file.
 */
#define PARAVER_PRV "trace.prv"
#define PARAVER_PCF "trace.pcf"
#define PARAVER_ROW "trace.row"

#define PARAVER_LAST_TIME ((uint64_t)INT64_MAX)

/* In the store: the line behind it is an arrow that lacks its receiver. */
#define PARAVER_ARROW_MARK '\001'

enum paraver_loss {
#define LOSS(row, ...) PARAVER_##row,
#include "paraver/losses.def"
#undef LOSS
	PARAVER_LOSSES
};

extern const struct loss paraver_losses[PARAVER_LOSSES + 1];
extern const struct writer_ops paraver_writer_ops;

/* What a track is in the output. */
struct paraver_track {
	const struct track *row_track;
	uint32_t row;   /* TABLE_NONE: it has had no event */
	uint32_t group; /* TABLE_NONE: that of the category */
	uint32_t lane;
	uint32_t last_group, last_stack; /* of its last span */
};

struct paraver_state {
	bool any;      /* there was an event */
	uint64_t base; /* its time, on the clock of the events */
	struct paraver_names names;
	struct paraver_rows rows;
	struct paraver_spans spans;
	struct paraver_arrows arrows;
	struct paraver_store store;
	struct paraver_track *tracks;
	uint32_t *categories; /* group + 1 of each class; 0: not looked for */
	uint32_t ntracks, tracks_cap, ncategories;
	struct arena arena;
	struct text scratch;
	bool closing;
	uint64_t given;   /* of the store */
	uint32_t narrows; /* met in it */
	char why[256];
};

static inline void
paraver_lose(struct chunk *chunk, enum paraver_loss kind, uint64_t offset)
{
	ledger_add(&chunk->ledger, &paraver_losses[kind], offset, 1);
}

/* Writes "2:OBJECT:TIME:TYPE:VALUE" and, if type2 is not 0, ":TYPE2:VALUE2". */
void paraver_put(struct paraver_state *st, uint32_t row, uint64_t time, uint32_t type, uint64_t value,
                 uint32_t type2, uint32_t value2);

/* ---- paraver_event.c ---- */

bool paraver_declare_track(struct paraver_state *st, struct track *t);
void paraver_event(struct paraver_state *st, const struct batch *b, const struct event *e,
                   struct chunk *chunk);

/* ---- paraver_close.c ---- */

/* false: memory or a temporary file failed, and the chunk says so. */
bool paraver_is_well(struct paraver_state *st, struct chunk *chunk);

bool paraver_close(struct writer *w, struct chunk *chunk);

#endif
