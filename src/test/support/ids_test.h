#ifndef TESTING_IDS_TEST_H
#define TESTING_IDS_TEST_H

#include <string.h>

#include "format/registry.h"
#include "run/engine_losses.h"

/* Rules and kinds of loss by their ids. */

struct id_search {
	const char *id;
	const struct rule *rule;
	const struct loss *loss;
};

static inline void id_search_rule(void *ctx, const struct rule *rule)
{
	struct id_search *const s = ctx;

	if (s->rule == NULL && strcmp(rule->id, s->id) == 0)
		s->rule = rule;
}

static inline void id_search_loss(void *ctx, const struct loss *loss)
{
	struct id_search *const s = ctx;

	if (s->loss == NULL && strcmp(loss->id, s->id) == 0)
		s->loss = loss;
}

/* A rule of any format or of the engine; NULL: none. */
static inline const struct rule *rule_by_id(const char *id)
{
	struct id_search s = { .id = id };

	rules_visit(id_search_rule, &s);
	return s.rule;
}

/* A kind of loss, likewise. */
static inline const struct loss *loss_by_id(const char *id)
{
	struct id_search s = { .id = id };

	losses_visit(id_search_loss, &s);
	return s.loss;
}

#endif
