#ifndef MODEL_OBJECT_H
#define MODEL_OBJECT_H

#include "model/value.h"

/* Whether a MAP is an object in JSON, else it is a list of pairs: its keys are STRINGs that all differ,
 * because readers retain one value of a name.  False on OOM. */
bool value_is_object(const struct value *map);

#endif
