#define _GNU_SOURCE
#include "run/sort/test/sorter_run_test.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>

struct batch *batches_add(struct batches *b, uint32_t cap)
{
	if (b->n == b->cap) {
		b->cap = b->cap * 2 + 16;
		b->list = realloc(b->list, b->cap * sizeof *b->list);
		cr_assert_not_null(b->list);
	}
	cr_assert(batch_init(&b->list[b->n], cap, false));
	return &b->list[b->n++];
}

void batches_free(struct batches *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		batch_free(&b->list[i]);
	free(b->list);
	*b = (struct batches){ .n = 0 };
}

uint64_t batches_events(const struct batches *b)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < b->n; i++)
		n += b->list[i].n;
	return n;
}

/* Returns the number of events of the batch that begins with event `done`. */
static uint32_t size_of_next(uint32_t done, uint32_t n)
{
	const uint32_t size = done % 5 * 50 + done % 3;

	return size < n - done ? size + 1 : n - done;
}

struct batches batches_of_samples(struct event_samples *s, uint32_t n)
{
	struct batches all = { .n = 0 };

	for (uint32_t done = 0, size; done < n; done += size) {
		size = size_of_next(done, n);
		event_samples_fill(s, batches_add(&all, size), size);
	}
	return all;
}

void sorter_add_samples(struct sorter *s, struct event_samples *samples, uint32_t n)
{
	for (uint32_t done = 0, size; done < n; done += size) {
		struct batch b;
		size = size_of_next(done, n);
		cr_assert(batch_init(&b, size, false));
		event_samples_fill(samples, &b, size);
		cr_assert(sorter_add(s, &b), "%s", sorter_says(s));
		batch_free(&b);
	}
}

struct batches sorter_take_all(struct sorter *s, uint32_t cap)
{
	struct batches all = { .n = 0 };
	enum sorter_status status = SORTER_MORE;

	cr_assert(sorter_end(s), "%s", sorter_says(s));
	while (status == SORTER_MORE) {
		struct batch *const b = batches_add(&all, cap);
		status = sorter_next(s, b);
		cr_assert_eq(status == SORTER_MORE, b->n > 0);
	}
	cr_assert_eq(status, SORTER_END, "%s", sorter_says(s));
	return all;
}

/* ---- the slow way ---- */

struct ref {
	const struct batch *batch;
	uint32_t i;
	uint64_t arrival;
	struct order_rule rule;
};

static int order_of(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_ts(const struct event *x, const struct event *y, bool is_signed)
{
	const int64_t a = (int64_t)x->ts, b = (int64_t)y->ts;

	return is_signed ? (a < b ? -1 : a > b) : order_of(x->ts, y->ts);
}

static int by_rule(const void *a, const void *b)
{
	const struct ref *const r = a, *const q = b;
	const struct event *const x = &r->batch->events[r->i], *const y = &q->batch->events[q->i];
	int order = 0;

	if (r->rule.order == ORDER_TRACK_TIME)
		order = order_of(x->track != NULL ? x->track->index + UINT64_C(1) : 0,
		                 y->track != NULL ? y->track->index + UINT64_C(1) : 0);
	if (order == 0 && r->rule.order != ORDER_FILE)
		order = compare_ts(x, y, r->rule.signed_time);
	if (order == 0 && r->rule.order != ORDER_FILE)
		order = order_of(y->phase == PHASE_SPAN ? y->dur : 0, x->phase == PHASE_SPAN ? x->dur : 0);
	return order != 0 ? order : order_of(r->arrival, q->arrival);
}

static struct ref *refs_of(const struct batches *b, struct order_rule rule)
{
	struct ref *const refs = calloc(batches_events(b) + 1, sizeof *refs);
	uint64_t n = 0;

	cr_assert_not_null(refs);
	for (uint32_t k = 0; k < b->n; k++)
		for (uint32_t i = 0; i < b->list[k].n; i++, n++)
			refs[n] = (struct ref){ &b->list[k], i, n, rule };
	return refs;
}

void batches_must_be_sorted(const struct batches *given, const struct batches *got, struct order_rule rule)
{
	const uint64_t n = batches_events(given);
	struct ref *const want = refs_of(given, rule), *const have = refs_of(got, rule);

	cr_assert_eq(batches_events(got), n);
	qsort(want, n, sizeof *want, by_rule);
	for (uint64_t i = 0; i < n; i++) {
		const char *const what =
		    event_samples_differ(want[i].batch, want[i].i, have[i].batch, have[i].i);
		cr_assert_null(what, "event %llu: %s", (unsigned long long)i, what);
	}
	free(want);
	free(have);
}

const char *sorter_says(const struct sorter *s)
{
	static char why[300];

	sorter_reason(s, why, sizeof why);
	return why;
}

int open_descriptors(void)
{
	struct dirent **names = NULL;
	const int n = scandir("/proc/self/fd", &names, NULL, NULL);

	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return n;
}
