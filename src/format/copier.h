#ifndef FORMAT_COPIER_H
#define FORMAT_COPIER_H

#include "format/writer.h"

/*
 * Copies records into a new file of their format.  The engine passes raw events (reader_ops.fields) in the
 * order of the input, on one thread at a time, and joins adjacent bytes that are kept, so that whole
 * stretches of the input are written without a copy.
 */

/* Parts of records that the reader may omit, so that copying costs little. */
enum copier_modes {
	COPIER_SELECTS = 1, /* it can omit records; otherwise the writer writes selections.  Raw and
	                     * interpreted events of a record must have the same offset, and no event may
	                     * combine several records: the engine marks records by offset */
	COPIER_RUNS = 2,    /* unless records are omitted or times moved, one event may stand for several
	                     * adjacent records: only bytes, offset and, as their number, ts are valid */
	COPIER_BARE = 4,    /* if records are omitted and times not moved: only fields of structure, of the
	                     * record at offset 0 and, in survey, of events that a table may name */
	COPIER_BYTES = 8,   /* no fields at all */
	COPIER_FILES = 16,  /* files of a trace come as structure: see WANT_FILES */
	COPIER_REFERS = 32, /* survey states references; structure that no kept record needs then has
	                     * EVENT_LEFT_OUT */
	COPIER_WHOLE = 64,  /* a record is at most one event, which reader_ops.event completes, except for
	                     * records that have EVENT_PART, are the begin or end of a span, or have a plan
	                     * that the reader does not apply.  Without such exceptions selecting needs no
	                     * other pass */
	COPIER_GAPS = 128,  /* if records are omitted and times not moved: plain events that are left out need
	                     * not be passed */
};

/* For formats that count their records, or store the time of each record in a field.  format.recounted names
 * the fields that a copier recomputes if records are left out, times are moved or an input follows another.
 * copier_ops.renumbered names the ids that it changes so that equal ids of several inputs stay distinct.
 * These changes are not differences for convert --verify.  "FIELD.MEMBER" is a member of a map, at any depth
 * of the field. */

struct copier {
	void *state; /* state_size bytes, zeroed and freed by the engine */
	const struct run_facts *run;
	const struct option_value *options;
	bool selected;           /* records may have EVENT_LEFT_OUT */
	bool joins;              /* inputs follow one another */
	struct closure *closure; /* in survey: see copier_defines() */
	struct chunk *chunk;     /* the output: see copier_text() */
	struct slice kept;       /* adjacent bytes that are not in the chunk yet */
};

struct copier_ops {
	size_t state_size;
	unsigned modes;
	const char *const *renumbered;  /* NULL-terminated; NULL: none */
	const char *restates;           /* class of an event that it may add once to a selection, with a fact
	                                 * of a record that is left out; NULL: none */
	bool (*open)(struct copier *c); /* false: OOM; NULL: nothing to do */
	/* Called before the first record of each input.  NULL: any input can follow another. */
	void (*input)(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes);
	/* Keeps, changes or omits a record. */
	void (*record)(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes);
	/* Optional: whether to keep bytes of a record that was not read (RECORD_IS_LONG).  Not called if
	 * records are selected or times moved: such records are left out then. */
	bool (*passed)(struct copier *c, const struct event *e, struct slice bytes);
	/* States the references of the record.  Called in a pass of its own before the first record, if
	 * events are selected, as definitions may precede the events that need them.  NULL: there is no such
	 * pass. */
	void (*survey)(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes);
	/* Whether an event that is left out need not be passed to `record` or `survey`, if it follows another
	 * one that is left out.  Depends on the event alone or, if there is `survey`, also on earlier records
	 * that were passed to all copiers of a split.  NULL: all are passed. */
	bool (*skips)(const struct copier *c, const struct event *e, struct slice bytes);
	void (*end)(struct copier *c); /* writes the end of the output; NULL: it has none */
	struct slice empty; /* a file without events, written if no record is selected; none if some records
	                     * are always selected */
	void (*free)(void *state); /* NULL: the state owns nothing */
};

/* For survey, with COPIER_REFERS: the record defines or uses a key (a hash of the defined object), or is
 * always needed.  A definition is kept if a kept record uses its key, before or after the definition. */
void copier_defines(struct copier *c, uint64_t key);
void copier_redefines(struct copier *c, uint64_t key); /* replaces definitions that are not kept yet */
void copier_uses(struct copier *c, uint64_t key);
void copier_needs(struct copier *c);

/* The text of the output, after all kept bytes. */
static inline struct text *copier_text(struct copier *c)
{
	if (c->kept.n > 0)
		chunk_borrow(c->chunk, c->kept);
	c->kept.n = 0;
	return &c->chunk->text;
}

/* Writes bytes of the batch unchanged. */
static inline void copier_keep(struct copier *c, struct slice bytes)
{
	if (c->kept.n == 0 || c->kept.p + c->kept.n != bytes.p || bytes.n > UINT32_MAX - c->kept.n) {
		(void)copier_text(c);
		c->kept = bytes;
	} else {
		c->kept.n += bytes.n;
	}
}

#endif
