#include "stats/stats_thread.h"

#include "model/batch_pool.h"
#include "run/write/workers.h"

static void
count(struct stats_thread *t, struct batch *b)
{
	if (!atomic_load(&t->no_memory) && !stats_batch(t->stats, b))
		atomic_store(&t->no_memory, true);
	batch_release(b);
}

static void
finish(void *ctx, size_t slot)
{
	struct stats_thread *const t = ctx;

	count(t, t->slots[slot]);
	t->slots[slot] = NULL;
}

bool
stats_thread_begin(struct stats_thread *t, struct stats *s, unsigned threads)
{
	static const struct workers_ops ops = { .finish = finish };

	*t = (struct stats_thread){ .stats = s };
	return threads < 2 || (t->workers = workers_new(STATS_SLOTS, 1, &ops, t)) != NULL;
}

bool
stats_thread_put(struct stats_thread *t, struct batch *b)
{
	if (t->workers == NULL) {
		count(t, b);
	} else {
		t->slots[workers_slot(t->workers)] = b;
		workers_put(t->workers);
	}
	return !atomic_load(&t->no_memory);
}

bool
stats_thread_settle(struct stats_thread *t)
{
	if (t->workers != NULL)
		workers_settle(t->workers);
	return !atomic_load(&t->no_memory);
}

void
stats_thread_end(struct stats_thread *t)
{
	stats_thread_settle(t);
	workers_free(t->workers);
	t->workers = NULL;
}
