/* The further tables of `stats`, one after the other. */
#include "stats/tables/tables.h"

unsigned stats_tables_count(const struct stats_tables_asked *asked)
{
	return (asked->flows ? 1U : 0) + (asked->every > 0 ? 1U : 0);
}

void stats_tables_begin(struct stats_tables *t, const struct stats_tables_asked *asked)
{
	t->asked = *asked;
	flows_begin(&t->flows, &t->text);
	every_begin(&t->every, &t->text, asked->every);
}

bool stats_tables_add(struct stats_tables *t, struct stats *s, const struct batch *b, const struct event *e)
{
	if (!t->any)
		t->first_ns = e->ts;
	t->any = true;
	return (!t->asked.flows || flows_add(&t->flows, e)) &&
	       (t->asked.every == 0 || every_add(&t->every, s, b, e, t->first_ns));
}

bool stats_tables_end(struct stats_tables *t)
{
	return (!t->asked.flows || flows_end(&t->flows)) && (t->asked.every == 0 || every_end(&t->every));
}

bool stats_tables_put(const struct stats *s, struct cells *c)
{
	const struct stats_tables *const t = s->tables;

	c->first_ns = t->first_ns;
	return (!t->asked.flows || flows_put(&t->flows, c)) &&
	       (t->asked.every == 0 || every_put(&t->every, c, s, t->asked.hist));
}

void stats_tables_free(struct stats_tables *t)
{
	flows_free(&t->flows);
	every_free(&t->every);
	arena_free(&t->text);
}
