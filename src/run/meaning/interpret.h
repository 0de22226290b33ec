#ifndef PIPELINE_INTERPRET_H
#define PIPELINE_INTERPRET_H

#include "model/class_plan.h"
#include "run/meaning/arrows.h"
#include "run/meaning/pairing.h"
#include "format/format.h"

/*
 * The stage that gives events their meaning (model/plan.h): payloads become
 * fields, definitions are kept and looked up, names and time lines are found,
 * beginnings and ends become spans, wakes find what they woke.  It goes over
 * each batch once, in place, after the reader and before everybody else.
 */

enum interpret_mode {
	INTERPRET_NOT,    /* events stay as the reader made them */
	INTERPRET_EVENTS, /* each event for itself: fields, names, time lines */
	INTERPRET_SPANS,  /* and beginnings and ends become spans; arrows, if fields are wanted */
};

struct known_class;
struct line_cached;

struct interpret {
	struct trace *trace;
	unsigned want;
	bool spans, fields;          /* spans are made; fields are wanted */
	bool checks_payloads;        /* the reader does */
	struct known_class *classes; /* what is known of each class, by its index */
	uint32_t nclasses;
	struct arena arena;
	struct tabletext lines;     /* time lines that events named: "scope:name" -> index of the track */
	struct line_cached *cached; /* the recent ones */
	uint32_t line_bytes;        /* of their names */
	bool lines_full;            /* which was said */
	uint32_t facts_bytes;
	struct pairing pairing;
	struct arrows arrows;
	/* For each event of a batch, if not NULL: the offset of the record that ended it, or its own. */
	uint64_t *others;
	bool open_given; /* interpret_finish: all that was open is out */
	bool failed;     /* memory ran out some time */
};

/* `trace` is borrowed.  Nothing is allocated before it is needed. */
void interpret_init(struct interpret *in, struct trace *trace, enum interpret_mode mode, unsigned want);
void interpret_free(struct interpret *in);

/* The next batch of the reader, which `of` is of; it may be shorter afterwards.  false: no memory. */
bool interpret_batch(struct interpret *in, const struct format *of, struct batch *b);

/* Arrows that had no room in that batch: adds them to an empty one.  false: there are none. */
bool interpret_more(struct interpret *in, struct batch *b);

/* After the last batch: adds what is still open, and the last arrows.  *more: call again with an empty batch.
 * false: no memory. */
bool interpret_finish(struct interpret *in, struct batch *b, bool *more);

/* What became of spans and arrows that could not be had, so far. */
const struct ledger *interpret_ledger(const struct interpret *in);

/* Begins and ends of spans without a partner, so far. */
uint64_t interpret_unpaired(const struct interpret *in);

#endif
