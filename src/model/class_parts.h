#ifndef EVENT_CLASS_PARTS_H
#define EVENT_CLASS_PARTS_H

#include "base/arena.h"
#include "model/class.h"
#include "model/plan.h"

/*
 * Names of classes can carry facts: "SpanEnter:MODULE::FUNCTION:FILE:LINE".
 * The shape of such a name is a template of the plan.  A part that is all
 * digits is a number.
 */

/* A made category is cut behind so many bytes. */
#define CLASS_CATEGORY_MAX 256

/* Sets class.parts, and class.category if the plan makes it of them, by class.name.  What is new lies in the
 * arena.  false: no memory. */
bool class_parts_find(struct class *cls, const struct plan *m, struct arena *arena);

/* Whether a name has the shape: its text in place, and something for each reference, the first of which takes
 * as much as it can.  part[i] becomes the text of the i-th part's reference, p NULL: it has none. */
bool class_parts_match(const struct plan_template *shape, struct slice name, struct slice *part);

#endif
