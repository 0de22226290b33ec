#include "compare/heads.h"

#include "compare/events_alike.h"

bool
heads_is_more(const struct differ *d, int which, const struct event *e)
{
	return which == DIFFER_B && d->rules.more != NULL && event_words_have(d->rules.more, e->cls->name);
}

unsigned
heads_differences(struct differ *d)
{
	const struct differ_side *const a = &d->sides[DIFFER_A], *const b = &d->sides[DIFFER_B];
	const struct alike x = { .batch = { a->batch, b->batch },
		                 .event = { &a->batch->events[a->at], &b->batch->events[b->at] },
		                 .fields = { &d->rules.fields[DIFFER_A], &d->rules.fields[DIFFER_B] },
		                 .ignore = d->rules.ignore };
	const bool track = (d->rules.ignore & PART_TRACK) == 0 && !wide_hash_equal(a->track, b->track);

	return events_differences(&x, &d->sides[DIFFER_A].canon) | (track ? PART_TRACK : 0U);
}

/* Whether an event can be reported before the events behind it are known. */
static bool
at_once(const struct differ *d)
{
	return d->rules.sorted && d->rules.pair_all && d->rules.tolerance == 0 &&
	       (d->rules.ignore & PART_TIME) == 0 && d->names == NULL &&
	       d->sides[DIFFER_A].pending.alive == 0 && d->sides[DIFFER_B].pending.alive == 0;
}

/* Whether the next event of its side has a later time; false, too, if that is in the next batch. */
static bool
is_last_of_time(const struct differ *d, int which)
{
	const struct differ_side *const s = &d->sides[which];
	uint32_t i = s->at + 1;

	while (i < s->batch->n &&
	       (!event_is_compared(&s->batch->events[i]) || heads_is_more(d, which, &s->batch->events[i])))
		i++;
	return i < s->batch->n && heads_time(s, i) > s->id.ts;
}

bool
heads_are_alone(const struct differ *d)
{
	return at_once(d) && d->sides[DIFFER_A].id.ts == d->sides[DIFFER_B].id.ts &&
	       is_last_of_time(d, DIFFER_A) && is_last_of_time(d, DIFFER_B);
}

bool
heads_is_alone(const struct differ *d, int which)
{
	const struct differ_side *const other = &d->sides[!which];

	return at_once(d) && (other->ended || other->id.ts > d->sides[which].id.ts);
}

/* The head in a batch of its own. */
static struct batch
view(const struct differ_side *s)
{
	struct batch b = *s->batch;

	b.events += s->at;
	b.bytes = b.bytes != NULL ? b.bytes + s->at : NULL;
	b.n = b.cap = 1;
	return b;
}

enum differ_status
heads_report_both(struct differ *d, unsigned parts)
{
	const struct batch a = view(&d->sides[DIFFER_A]), b = view(&d->sides[DIFFER_B]);
	const struct difference diff = { .in = { &a, &b }, .parts = parts };

	d->changed++;
	return d->sink == NULL || d->sink(d->ctx, &diff) ? DIFFER_DONE : DIFFER_STOPPED;
}

enum differ_status
heads_report(struct differ *d, int which)
{
	const struct batch b = view(&d->sides[which]);
	struct difference diff = { .parts = 0 };

	diff.in[which] = &b;
	d->only[which]++;
	return d->sink == NULL || d->sink(d->ctx, &diff) ? DIFFER_DONE : DIFFER_STOPPED;
}
