#include "check/file_record.h"

#include <stdlib.h>

#include "base/array.h"

static const char *
keep(struct file_records *k, const char *s)
{
	return s != NULL ? arena_copy(&k->arena, slice_str(s)).p : NULL;
}

void
file_records_finding(struct file_records *k, const struct finding *f)
{
	struct finding copy = *f;

	copy.message = keep(k, f->message);
	copy.check = k->check;
	if (copy.message == NULL ||
	    !array_room(&k->present, k->npresent, &k->present_cap, sizeof *k->present))
		k->failed = true;
	else
		k->present[k->npresent++] = copy;
}

void
file_records_check(struct file_records *k, const char *name, const struct rule *const *rules)
{
	struct file_check c = { .name = keep(k, name) };

	for (int i = 0; i < FILE_CHECK_RULES; i++)
		c.rules[i] = rules[i];
	if (c.name == NULL || !array_room(&k->checks, k->nchecks, &k->checks_cap, sizeof *k->checks)) {
		k->failed = true;
		return;
	}
	k->checks[k->nchecks++] = c;
	k->check = k->nchecks;
}

void
file_records_checked(struct file_records *k, const uint64_t *counts)
{
	for (int i = 0; i < FILE_CHECK_RULES && k->check > 0; i++)
		k->checks[k->check - 1].counts[i] = counts[i];
	k->check = 0;
}

/* Cleared memory; n == 0: a valid pointer. */
static void *
copy_array(struct file_records *k, const void *from, size_t n, size_t size)
{
	void *const p = arena_zalloc(&k->arena, n, size);

	if (p != NULL && n > 0)
		memcpy(p, from, n * size);
	return p;
}

static void
count_rest(struct file_record *r, const struct findings *j)
{
	for (int level = 0; level < LEVEL_COUNT; level++)
		r->uncounted[level] += j->levels[level];
	for (size_t i = 0; i < j->ncounts; i++)
		r->uncounted[j->counts[i].rule->level] -= j->counts[i].count;
}

void
file_records_close(struct file_records *k, const struct file_record *what, const struct findings *j)
{
	struct file_record *const r = copy_array(k, what, 1, sizeof *r);

	if (r != NULL) {
		r->next = NULL;
		r->path = keep(k, what->path);
		r->format = keep(k, what->format);
		r->dialect = keep(k, what->dialect);
		r->trace = keep(k, what->trace);
		r->findings = copy_array(k, k->present, k->npresent, sizeof *k->present);
		r->nfindings = k->npresent;
		r->counts = copy_array(k, j->counts, j->ncounts, sizeof *j->counts);
		r->ncounts = j->ncounts;
		r->checks = copy_array(k, k->checks, k->nchecks, sizeof *k->checks);
		r->nchecks = k->nchecks;
		count_rest(r, j);
	}
	k->npresent = k->nchecks = 0;
	k->failed |= k->arena.failed || j->failed;
	if (k->failed)
		return;
	if (k->last != NULL)
		k->last->next = r;
	else
		k->first = r;
	k->last = r;
}

/* Two arrays as one. */
static void *
join_arrays(struct file_records *k, const void *a, size_t na, const void *b, size_t nb, size_t size)
{
	char *const p = arena_zalloc(&k->arena, na + nb, size);

	if (p != NULL && na > 0)
		memcpy(p, a, na * size);
	if (p != NULL && nb > 0)
		memcpy(p + na * size, b, nb * size);
	return p;
}

void
file_records_amend(struct file_records *k, const struct findings *j)
{
	struct file_record *const r = k->last;

	if (r != NULL && !k->failed) {
		r->findings = join_arrays(k, r->findings, r->nfindings, k->present, k->npresent,
		                          sizeof *k->present);
		r->nfindings += k->npresent;
		r->counts = join_arrays(k, r->counts, r->ncounts, j->counts, j->ncounts, sizeof *j->counts);
		r->ncounts += j->ncounts;
		r->checks = join_arrays(k, r->checks, r->nchecks, k->checks, k->nchecks, sizeof *k->checks);
		r->nchecks += k->nchecks;
		count_rest(r, j);
	}
	k->npresent = k->nchecks = 0;
	k->failed |= k->arena.failed || j->failed;
}

void
file_records_clear(struct file_records *k)
{
	k->first = k->last = NULL;
	arena_reset(&k->arena);
}

void
file_records_free(struct file_records *k)
{
	arena_free(&k->arena);
	free(k->present);
	free(k->checks);
	*k = (struct file_records){ .first = NULL };
}
