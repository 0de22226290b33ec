#include <inttypes.h>

#include "run/adjust/join.h"
#include "run/choose/select.h"

/* A time window of the whole, as windows of its parts. */

struct bounds {
	__int128 first, last; /* of all events, on the clock of the whole */
	bool any;
};

static struct bounds
bounds_of(const struct join *j)
{
	struct bounds b = { .any = false };

	for (size_t i = 0; i < j->n; i++) {
		const struct join_part *const part = &j->parts[i];
		const __int128 first = (__int128)part->first_ns + part->later,
		               last = (__int128)part->last_ns + part->later;
		if (!part->any)
			continue;
		b.first = !b.any || first < b.first ? first : b.first;
		b.last = !b.any || last > b.last ? last : b.last;
		b.any = true;
	}
	return b;
}

/* On the clock of the whole. */
static __int128
time_of(const struct join *j, const struct bounds *b, const struct select_time *t)
{
	switch (t->kind) {
	case SELECT_WALL:
		return (__int128)t->v - j->epoch_ns;
	case SELECT_FROM_FIRST:
		return b->first + t->v;
	case SELECT_BEFORE_LAST:
		return b->last - t->v;
	case SELECT_PART:
		return b->first + (b->last - b->first) * t->v / SELECT_WHOLE;
	default:
		return t->v;
	}
}

static struct select_time
in_part(const struct join_part *part, const struct select_time *t, __int128 at)
{
	const __int128 local = at - part->later;

	if (t->kind == SELECT_ANY_TIME)
		return *t;
	const uint64_t v = local < 0 ? 0 : local > UINT64_MAX ? UINT64_MAX : (uint64_t)local;

	return (struct select_time){ .kind = SELECT_AT, .v = v };
}

static const char *
why_reversed(struct join *j, const struct select *s, __int128 since, __int128 until)
{
	const uint64_t from = since > 0 ? (uint64_t)since : 0, to = until > 0 ? (uint64_t)until : 0;
	const struct slice why = arena_printf(&j->arena,
	                                      "--since %s (%" PRIu64 " ns) is not before --until %s (%" PRIu64
	                                      " ns): no event can be between them",
	                                      s->since.text, from, s->until.text, to);

	return why.p != NULL ? why.p : "--since is not before --until";
}

const char *
join_window(struct join *j, const struct select *s)
{
	const struct bounds b = bounds_of(j);

	if (s->since.kind == SELECT_ANY_TIME && s->until.kind == SELECT_ANY_TIME)
		return NULL;
	if (!j->epoch_known && (s->since.kind == SELECT_WALL || s->until.kind == SELECT_WALL))
		return "the wall time of the merged trace is not known: name the time window by its own "
		       "times";
	const __int128 since = time_of(j, &b, &s->since), until = time_of(j, &b, &s->until);
	if (s->since.kind != SELECT_ANY_TIME && s->until.kind != SELECT_ANY_TIME && since >= until)
		return why_reversed(j, s, since, until);
	for (size_t i = 0; i < j->n; i++) {
		struct select *const own = arena_alloc(&j->arena, sizeof *own);
		if (own == NULL) {
			j->failed = true;
			return NULL;
		}
		*own = *s;
		own->since = in_part(&j->parts[i], &s->since, since);
		own->until = in_part(&j->parts[i], &s->until, until);
		j->parts[i].select = own;
	}
	return NULL;
}
