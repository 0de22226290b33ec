#ifndef OUT_FACTS_H
#define OUT_FACTS_H

#include "format/writer.h"
#include "model/trace.h"

/* Facts of the whole trace, in the order of most outputs.  Each except the last two occurs at most once, and
 * not at all if it is not known. */
enum fact_kind {
	FACT_TOOL, /* text, like the next four */
	FACT_FORMAT,
	FACT_DIALECT,
	FACT_BYTE_ORDER,
	FACT_CLOCK,
	FACT_EPOCH, /* ns; number, like the next three */
	FACT_REBASED_BY,
	FACT_RECORDS,
	FACT_EVENTS,
	FACT_TRACE, /* metadata of the input: any value */
	FACT_LOSS,  /* id of a loss, and how often it occurred */
	FACT_KINDS
};

/* Sets of kinds, as bits 1 << kind. */
#define FACTS_TEXTS 0x1fU
#define FACTS_OF(kind) (1U << (kind))

struct fact {
	enum fact_kind kind;
	uint32_t index;    /* among those of its kind, from 0 */
	struct slice name; /* "tool", "epoch_ns", ...; NUL-terminated unless kind is FACT_TRACE */
	struct value value;
};

struct facts {
	const struct run_facts *run;
	unsigned kinds, kind; /* wanted kinds; the next kind */
	uint32_t index;
};

static inline struct facts facts_of(const struct run_facts *run, unsigned kinds)
{
	return (struct facts){ .run = run, .kinds = kinds };
}

/* Returns false when there are no more.  The facts are complete at the end of the output:
 * writer_ops.close. */
bool facts_next(struct facts *f, struct fact *fact);

/* Counts, at the end of the output, what it has no place for: metadata of the trace, hosts of processes, the
 * time of day.  NULL: it has one. */
struct facts_losses {
	const struct loss *facts, *hosts, *epoch;
};
void facts_lose(const struct writer *w, struct facts_losses lost, struct chunk *c);

/* Names in a combined list of facts: "trace.NAME" for metadata of the trace, "losses.ID" for a loss. */
#define FACT_OF_TRACE "trace."
void fact_put_name(struct text *t, const struct fact *fact);

/* Whether such a name is metadata of the trace; removes the prefix. */
bool fact_is_of_trace(struct slice *name);

/* Adds the value of a fact as text, if it is a text, or a number of any kind except FACT_TRACE.  Returns
 * false for other values. */
bool fact_put_text(struct text *t, const struct fact *fact);

#endif
