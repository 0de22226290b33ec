#ifndef PIPELINE_INTERPRET_PARTS_H
#define PIPELINE_INTERPRET_PARTS_H

#include "run/meaning/interpret.h"

/* The parts of run/meaning/interpret.c: what a meaning says, found in the fields of one event.  What has no
 * memory leaves something out and sets `failed` of the batch, the trace or `in`:
 * interpret_batch() asks. */

/* What is found in an event of the batch is reported here; may be NULL. */
static inline struct findings *
interpret_findings(const struct batch *b, const struct event *e)
{
	return b->engine.inputs != NULL ? b->engine.input_findings[b->engine.inputs[e - b->events]]
	                                : b->engine.findings;
}

/* ---- interpret_text.c ---- */

/* A field of the event, or NULL. */
const struct value *interpret_field(const struct batch *b, const struct event *e, struct slice name);

/* The number that stands for a value in keys: numbers themselves, of texts a hash.  false: it has none. */
bool interpret_number(const struct value *v, uint64_t *number);

/* A reference, looked up in the tables it names; VALUE_NONE: a field or a definition is not there. */
struct value interpret_ref(const struct interpret *in, const struct batch *b, const struct event *e,
                           const struct plan_ref *r);

/* Whose definitions stand in a table, seen from an event. */
uint32_t interpret_scope(const struct interpret *in, const struct event *e, uint8_t table);

/* The text of a template.  *lasting: it outlives the batch.  false: a field or a definition is not there. */
bool interpret_template(const struct interpret *in, struct batch *b, const struct event *e,
                        const struct plan_template *t, struct slice *text, bool *lasting);

/* ---- interpret_learn.c ---- */

/* Definitions, facts and the epoch. */
void interpret_learn(struct interpret *in, const struct batch *b, const struct event *e,
                     const struct plan *m);

/* The ends of arrows. */
void interpret_arrows(struct interpret *in, const struct batch *b, struct event *e,
                      const struct plan *m);

/* ---- interpret_layout.c ---- */

/* The payload's bytes become fields. */
void interpret_layout(const struct interpret *in, struct batch *b, struct event *e, const struct plan *m);

/* ---- interpret_class_parts.c ---- */

/* What the name of the class says becomes fields, behind the event's own; of a span when it is complete, so
 * that they need not be kept. */
void interpret_class_parts(struct interpret *in, struct batch *b, struct event *e);

/* ---- interpret_line.c ---- */

/* The time line of an event, as m->tracks say. */
const struct track *interpret_line(struct interpret *in, struct batch *b, const struct event *e,
                                   const struct plan *m);

/* The line below a track that shows its states of this name. */
const struct track *interpret_state_line(struct interpret *in, struct batch *b, const struct event *e,
                                         const struct plan *m);

void interpret_lines_free(struct interpret *in);

/* Makes the event a counter, which has nothing but numbers: a list of them is one series each, named by
 * m->series or "NAME 1", "NAME 2" ... */
void interpret_series(const struct interpret *in, struct batch *b, struct event *e, const struct plan *m);

#endif
