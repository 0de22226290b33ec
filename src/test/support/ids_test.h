#ifndef TESTING_IDS_TEST_H
#define TESTING_IDS_TEST_H

#include <string.h>

#include "format/registry.h"
#include "run/engine_losses.h"

/* Rules and kinds of loss by their ids. */

/* A rule of any format or of the engine; NULL: none. */
static inline const struct rule *rule_by_id(const char *id)
{
	struct rule_walk w = { .list = 0 };
	const struct rule *r;

	while ((r = rule_next(&w)) != NULL && strcmp(r->id, id) != 0)
		;
	return r;
}

/* A kind of loss, likewise. */
static inline const struct loss *loss_by_id(const char *id)
{
	struct loss_walk w = { .format = 0 };
	const struct loss *l;

	while ((l = loss_next(&w)) != NULL && strcmp(l->id, id) != 0)
		;
	return l;
}

#endif
