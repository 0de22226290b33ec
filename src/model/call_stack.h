#ifndef MODEL_CALL_STACK_H
#define MODEL_CALL_STACK_H

#include "model/batch.h"
#include "model/event.h"
#include "model/plan.h"

/* The call stack of an event, for writers that show samples.  The vocabulary names the field (`stack`): a
 * list of names and addresses, leaf first. */

/* Points into the batch, and lives as long. */
struct call_stack {
	const struct value *frames; /* the leaf first, the root last */
	uint32_t n;                 /* 0: the stack is known and empty */
};

/* Size of a buffer for the text of an address. */
#define CALL_STACK_ADDRESS 20

/* Whether events of the class have stacks; for a writer's `declare`. */
static inline bool call_stack_of_class(const struct class *cls)
{
	return cls->plan != NULL && cls->plan->stack.p != NULL;
}

/* Purpose of the stacks of a class: running, waiting or allocating. */
static inline enum plan_stack call_stack_kind(const struct class *cls)
{
	return cls->plan != NULL ? (enum plan_stack)cls->plan->stack_of : PLAN_STACK_ANY;
}

/* Returns false if the event has none, or its fields were not requested (WANT_FIELDS). */
bool call_stack_get(struct call_stack *stack, const struct batch *b, const struct event *e);

/* The i-th frame from the leaf, i < n: its name, or its address in hexadecimal, written to `text`; else "?".
 * It may contain any bytes, as all text of a trace. */
struct slice call_stack_frame(const struct call_stack *stack, uint32_t i, char text[CALL_STACK_ADDRESS]);

/* The same from the root. */
static inline struct slice call_stack_from_root(const struct call_stack *stack, uint32_t i,
                                                char text[CALL_STACK_ADDRESS])
{
	return call_stack_frame(stack, stack->n - 1 - i, text);
}

#endif
