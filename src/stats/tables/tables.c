/* The further tables of `stats` in their order. */
#include "stats/tables/tables.h"

#include "model/event_traits.h"

static bool asks_overlap(const struct stats_tables_asked *a)
{
	return a->overlap.patterns[0].glob.n > 0;
}

unsigned stats_tables_count(const struct stats_tables_asked *a)
{
	return (a->flows ? 1U : 0) + (a->every > 0 ? 1U : 0) + (a->share ? 1U : 0) +
	       (a->imbalance != IMBALANCE_NOT ? 1U : 0) + (asks_overlap(a) ? 1U : 0);
}

void stats_tables_begin(struct stats_tables *t, const struct stats_tables_asked *asked)
{
	t->asked = *asked;
	flows_begin(&t->flows, &t->text);
	every_begin(&t->every, &t->text, asked->every);
	share_begin(&t->share, &t->text, asked->gaps);
	imbalance_begin(&t->imbalance, &t->text, asked->imbalance);
	overlap_begin(&t->overlap, &t->text, &asked->overlap);
}

bool stats_tables_add(struct stats_tables *t, struct stats *s, const struct batch *b, const struct event *e)
{
	const struct stats_tables_asked *const a = &t->asked;

	/* Events outside of the window are partners of arrows, and cover the spans around them. */
	const bool outside = (e->flags & EVENT_OUTSIDE) != 0;
	if (!t->any && !outside) {
		t->first_ns = e->ts;
		t->any = true;
	}
	return (!a->flows || flows_add(&t->flows, e)) &&
	       (a->every == 0 || every_add(&t->every, s, b, e, t->first_ns)) &&
	       (!a->share || outside || share_add(&t->share, e)) &&
	       (a->imbalance == IMBALANCE_NOT || imbalance_add(&t->imbalance, e)) &&
	       (!asks_overlap(a) || overlap_add(&t->overlap, e));
}

bool stats_tables_end(struct stats_tables *t)
{
	const struct stats_tables_asked *const a = &t->asked;

	return overlap_end(&t->overlap) /* it has no spans unless it was asked for */ &&
	       (!a->flows || flows_end(&t->flows)) && (a->every == 0 || every_end(&t->every)) &&
	       (!a->share || share_end(&t->share));
}

bool stats_tables_put(const struct stats *s, struct cells *c)
{
	struct stats_tables *const t = s->tables;
	const struct stats_tables_asked *const a = &t->asked;

	c->first_ns = s->start_ns;
	c->zero_ns = s->zero_ns;
	return (!a->flows || flows_put(&t->flows, c)) &&
	       (a->every == 0 || every_put(&t->every, c, s, a->hist)) &&
	       (!a->share || share_put(&t->share, c)) &&
	       (a->imbalance == IMBALANCE_NOT || imbalance_put(&t->imbalance, c)) &&
	       (!asks_overlap(a) || overlap_put(&t->overlap, c));
}

void stats_tables_free(struct stats_tables *t)
{
	flows_free(&t->flows);
	every_free(&t->every);
	share_free(&t->share);
	imbalance_free(&t->imbalance);
	overlap_free(&t->overlap);
	arena_free(&t->text);
}
