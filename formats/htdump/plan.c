#include "htdump/plan.h"

#include <stdlib.h>

void
ht_plan_free(struct ht_plan *plan)
{
	if (plan == NULL)
		return;
	free(plan->leaves);
	free(plan->paths);
	free(plan->runs);
	free(plan->args);
	free(plan);
}

bool
ht_plan_make_runs(struct ht_plan *plan)
{
	uint32_t run = 0;

	plan->runs = calloc((size_t)plan->nleaves + 1, sizeof *plan->runs);
	if (plan->runs == NULL)
		return false;
	for (uint32_t i = 0; i < plan->nleaves; i++) {
		struct ht_leaf *const l = &plan->leaves[i];
		l->run = (uint16_t)run;
		l->at = plan->runs[run].fixed;
		if (l->value == VALUE_STRING)
			plan->runs[run++].string = 1;
		else
			plan->runs[run].fixed += l->size;
	}
	plan->nruns = plan->runs[run].fixed > 0 ? run + 1 : run;
	return true;
}

/* What has become the event's time, track or name is no field any more.  An integer label stays: it is more
 * than its name. */
bool
ht_plan_list_args(struct ht_plan *plan, bool structure)
{
	plan->args = calloc((size_t)plan->nleaves + 1, sizeof *plan->args);
	if (plan->args == NULL)
		return false;
	for (uint32_t i = 0; i < plan->nleaves; i++) {
		if (structure || (i != plan->duration && i != plan->thread && i != plan->name))
			plan->args[plan->nargs++] = i;
	}
	return true;
}
