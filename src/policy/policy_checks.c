#include "policy/policy_checks.h"
#include "policy/policy_draft.h"

#include <stdlib.h>

/* Each replaces one of an earlier section, the first `before`; within a section a pattern may stand twice. */
static void
put_event(struct policy_checks *c, const struct policy_event *e, uint32_t before)
{
	for (uint32_t i = 0; i < before; i++)
		if (policy_same_who(&c->events[i]->who, &e->who)) {
			c->events[i] = e;
			return;
		}
	c->events[c->nevents++] = e;
}

static void
put_metadata(struct policy_checks *c, const struct policy_metadata *m, uint32_t before)
{
	for (uint32_t i = 0; i < before; i++)
		if (slice_equal(c->metadata[i]->name, m->name)) {
			c->metadata[i] = m;
			return;
		}
	c->metadata[c->nmetadata++] = m;
}

static void
put_budget(struct policy_checks *c, const struct policy_budget *b, uint32_t before)
{
	for (uint32_t i = 0; i < before; i++)
		if (policy_same_who(&c->budgets[i]->who, &b->who) && c->budgets[i]->group == b->group &&
		    c->budgets[i]->statistic == b->statistic) {
			c->budgets[i] = b;
			return;
		}
	c->budgets[c->nbudgets++] = b;
}

static void
put_section(struct policy_checks *c, const struct policy_section *s)
{
	const struct {
		uint32_t events, metadata, budgets;
	} before = { c->nevents, c->nmetadata, c->nbudgets };

	for (uint32_t i = 0; i < s->nevents; i++)
		put_event(c, &s->events[i], before.events);
	for (uint32_t i = 0; i < s->nmetadata; i++)
		put_metadata(c, &s->metadata[i], before.metadata);
	for (uint32_t i = 0; i < s->nbudgets; i++)
		put_budget(c, &s->budgets[i], before.budgets);
	c->epoch = s->epoch.line > 0 ? &s->epoch : c->epoch;
	c->threads = s->threads.line > 0 ? &s->threads : c->threads;
	c->processes = s->processes.line > 0 ? &s->processes : c->processes;
	c->lost = s->lost.line > 0 ? &s->lost : c->lost;
	c->unfinished = s->unfinished.line > 0 ? &s->unfinished : c->unfinished;
	c->times = s->times.line > 0 ? &s->times : c->times;
}

static void
add_default(struct policy_checks *c)
{
	static const struct policy_budget usual = { .who = { .name = SLICE_LIT("*"),
		                                             .kinds = 1U << KIND_SPAN | 1U << KIND_ASYNC },
		                                    .statistic = STATISTIC_P50,
		                                    .relative = true,
		                                    .tolerance = 0.1,
		                                    .tolerance_text = SLICE_LIT("10%") };

	for (uint32_t i = 0; i < c->nbudgets; i++)
		if (c->budgets[i]->relative)
			return;
	c->budgets[c->nbudgets++] = &usual;
}

bool
policy_checks_init(struct policy_checks *c, const struct policy_file *file, uint32_t overrides, bool baseline)
{
	const uint32_t nevents = file != NULL ? file->nevents : 0, nmeta = file != NULL ? file->nmetadata : 0,
	               nbudgets = file != NULL ? file->nbudgets : 0;

	*c = (struct policy_checks){ .file = file };
	c->events = calloc((size_t)nevents + 1, sizeof *c->events);
	c->metadata = calloc((size_t)nmeta + 1, sizeof *c->metadata);
	c->budgets = calloc((size_t)nbudgets + 1, sizeof *c->budgets);
	if (c->events == NULL || c->metadata == NULL || c->budgets == NULL) {
		policy_checks_free(c);
		return false;
	}
	if (file != NULL)
		put_section(c, &file->own);
	for (uint32_t i = 0; file != NULL && i < file->noverrides; i++)
		if ((overrides >> i & 1) != 0)
			put_section(c, &file->overrides[i]);
	if (baseline)
		add_default(c);
	c->any = c->nevents + c->nmetadata + c->nbudgets > 0 || c->epoch != NULL || c->threads != NULL ||
	         c->processes != NULL || c->lost != NULL || c->unfinished != NULL || c->times != NULL;
	return true;
}

void
policy_checks_free(struct policy_checks *c)
{
	free(c->events);
	free(c->metadata);
	free(c->budgets);
	*c = (struct policy_checks){ .file = NULL };
}
