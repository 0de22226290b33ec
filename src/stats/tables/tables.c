/* The further tables of `stats`, one after the other. */
#include "stats/tables/tables.h"

unsigned stats_tables_count(const struct stats_tables_asked *asked)
{
	return asked->flows;
}

void stats_tables_begin(struct stats_tables *t, const struct stats_tables_asked *asked)
{
	t->asked = *asked;
	flows_begin(&t->flows, &t->text);
}

bool stats_tables_add(struct stats_tables *t, struct stats *s, const struct batch *b, const struct event *e)
{
	if (!t->any)
		t->first_ns = e->ts;
	t->any = true;
	return !t->asked.flows || flows_add(&t->flows, e);
}

bool stats_tables_end(struct stats_tables *t)
{
	return !t->asked.flows || flows_end(&t->flows);
}

bool stats_tables_put(const struct stats *s, struct cells *c)
{
	const struct stats_tables *const t = s->tables;

	c->first_ns = t->first_ns;
	return !t->asked.flows || flows_put(&t->flows, c);
}

void stats_tables_free(struct stats_tables *t)
{
	flows_free(&t->flows);
	arena_free(&t->text);
}
