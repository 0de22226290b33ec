#include "base/idset.h"

#include <stdlib.h>
#include <string.h>

/* The first run that ends at id or later; n when all end before. */
static size_t
find_run(const struct idset *s, uint64_t id)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		if (s->runs[mid].last < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool
ends_before(const struct idset *s, size_t i, uint64_t id)
{
	return i < s->n && s->runs[i].last < id && id - s->runs[i].last == 1;
}

static bool
starts_after(const struct idset *s, size_t i, uint64_t id)
{
	return i < s->n && s->runs[i].first > id && s->runs[i].first - id == 1;
}

static bool
make_room(struct idset *s)
{
	if (s->n < s->cap)
		return true;
	if (s->n >= IDSET_MAX_RUNS)
		return false;

	const size_t cap = s->cap == 0 ? 16 : s->cap * 2;
	struct idset_run *runs = realloc(s->runs, cap * sizeof *runs);
	if (runs == NULL)
		return false;
	s->runs = runs;
	s->cap = cap;
	return true;
}

/* Takes id into run i, which ends just before it, and joins the next run when they meet. */
static void
extend(struct idset *s, size_t i, uint64_t id)
{
	s->recent = i;
	s->runs[i].last = id;
	if (!starts_after(s, i + 1, id))
		return;
	s->runs[i].last = s->runs[i + 1].last;
	memmove(&s->runs[i + 1], &s->runs[i + 2], (s->n - i - 2) * sizeof *s->runs);
	s->n--;
}

static enum idset_result
insert(struct idset *s, size_t i, uint64_t id)
{
	if (!make_room(s))
		return IDSET_FULL;
	memmove(&s->runs[i + 1], &s->runs[i], (s->n - i) * sizeof *s->runs);
	s->runs[i] = (struct idset_run){ id, id };
	s->n++;
	s->recent = i;
	return IDSET_NEW;
}

enum idset_result
idset_add(struct idset *s, uint64_t id)
{
	/* Nearly all ids follow the one before them. */
	if (ends_before(s, s->recent, id)) {
		extend(s, s->recent, id);
		return IDSET_NEW;
	}

	const size_t i = find_run(s, id);
	if (i < s->n && s->runs[i].first <= id)
		return IDSET_SEEN;
	if (i > 0 && ends_before(s, i - 1, id)) {
		extend(s, i - 1, id);
		return IDSET_NEW;
	}
	if (starts_after(s, i, id)) {
		s->runs[i].first = id;
		s->recent = i;
		return IDSET_NEW;
	}
	return insert(s, i, id);
}

void
idset_free(struct idset *s)
{
	free(s->runs);
	*s = (struct idset){ 0 };
}
