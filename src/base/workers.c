/* Jobs on several threads, as slots of a ring: prepared in order, run in parallel, finished in order; the
 * caller's thread works while it waits. */
#include "base/workers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/os.h"

/*
 * Jobs have ascending numbers; slot = number % slots.  finished <= prepared <= taken <= put: jobs below
 * `finished` are finished, jobs below `taken` are running or have run.  Jobs are taken in order, so a thread
 * always runs the oldest waiting job, and each job gets its turn.
 */
struct workers {
	const struct workers_ops *ops;
	void *ctx;
	size_t slots;
	bool *done; /* by slot: the job has run */
	unsigned long long put, taken, prepared, finished;
	bool finishing; /* a thread is finishing a job */
	bool settling;  /* workers_settle() waits: wakes threads for few jobs too */
	bool ended;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* prepared or finished has changed */
	pthread_cond_t work;    /* there is work for one more thread */
	pthread_t *threads;
	size_t nthreads;
};

/* Finishes jobs in order.  Called with the lock. */
static void finish_ready(struct workers *w)
{
	while (!w->finishing && w->finished < w->taken && w->done[w->finished % w->slots]) {
		const size_t slot = (size_t)(w->finished % w->slots);
		w->finishing = true;
		pthread_mutex_unlock(&w->lock);
		if (w->ops->finish != NULL)
			w->ops->finish(w->ctx, slot);
		pthread_mutex_lock(&w->lock);
		w->done[slot] = false;
		w->finishing = false;
		w->finished++;
		pthread_cond_broadcast(&w->changed);
	}
}

/* Prepares the job of the calling thread.  Called with the lock. */
static void prepare(struct workers *w, unsigned long long job)
{
	while (w->prepared < job)
		pthread_cond_wait(&w->changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
	w->ops->prepare(w->ctx, (size_t)(job % w->slots));
	pthread_mutex_lock(&w->lock);
	w->prepared++;
	pthread_cond_broadcast(&w->changed);
}

/* Runs the oldest waiting job, which must exist.  Called with the lock. */
static void run_one(struct workers *w)
{
	const unsigned long long job = w->taken++;
	const size_t slot = (size_t)(job % w->slots);

	if (w->ops->prepare != NULL)
		prepare(w, job);
	pthread_mutex_unlock(&w->lock);
	if (w->ops->run != NULL)
		w->ops->run(w->ctx, slot);
	pthread_mutex_lock(&w->lock);
	w->done[slot] = true;
	finish_ready(w);
}

/* Whether to wake a sleeping thread: when half of the slots are full.  Waking one for every job costs more
 * time than it saves, and the caller works too when no slot is free. */
static bool is_worth_waking(const struct workers *w)
{
	return w->put - w->taken >= (w->slots + 1) / 2 || (w->settling && w->taken < w->put);
}

static void *work(void *arg)
{
	struct workers *const w = arg;

	pthread_mutex_lock(&w->lock);
	while (!w->ended) {
		while (w->taken < w->put)
			run_one(w);
		while (!w->ended && !is_worth_waking(w))
			pthread_cond_wait(&w->work, &w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

struct workers *workers_new(size_t slots, size_t threads, const struct workers_ops *ops, void *ctx)
{
	struct workers *const w = calloc(1, sizeof *w);

	if (w == NULL)
		return NULL;
	*w = (struct workers){ .ops = ops, .ctx = ctx, .slots = slots };
	w->done = calloc(slots, sizeof *w->done);
	w->threads = calloc(threads > 0 ? threads : 1, sizeof *w->threads);
	if (w->done == NULL || w->threads == NULL || pthread_mutex_init(&w->lock, NULL) != 0) {
		free(w->done);
		free(w->threads);
		free(w);
		return NULL;
	}
	pthread_cond_init(&w->changed, NULL);
	pthread_cond_init(&w->work, NULL);
	while (w->nthreads < threads && thread_start(&w->threads[w->nthreads], work, w) == 0)
		w->nthreads++;
	return w;
}

/* Works, or waits, until the jobs below `finished` are finished.  Called with the lock. */
static void help_until(struct workers *w, unsigned long long finished)
{
	while (w->finished < finished) {
		if (w->taken < w->put)
			run_one(w);
		else
			pthread_cond_wait(&w->changed, &w->lock);
	}
}

size_t workers_slot(struct workers *w)
{
	pthread_mutex_lock(&w->lock);
	if (w->put >= w->slots)
		help_until(w, w->put - w->slots + 1);
	const size_t slot = (size_t)(w->put % w->slots);
	pthread_mutex_unlock(&w->lock);
	return slot;
}

void workers_put(struct workers *w)
{
	pthread_mutex_lock(&w->lock);
	w->put++;
	if (is_worth_waking(w))
		pthread_cond_signal(&w->work);
	pthread_mutex_unlock(&w->lock);
}

void workers_turn(struct workers *w, size_t slot)
{
	pthread_mutex_lock(&w->lock);
	while (w->finishing || w->finished % w->slots != slot) {
		finish_ready(w);
		if (w->finishing || w->finished % w->slots != slot)
			pthread_cond_wait(&w->changed, &w->lock);
	}
	pthread_mutex_unlock(&w->lock);
}

void workers_settle(struct workers *w)
{
	pthread_mutex_lock(&w->lock);
	w->settling = true;
	if (w->put - w->taken > 1) /* one is run here */
		pthread_cond_broadcast(&w->work);
	help_until(w, w->put);
	w->settling = false;
	pthread_mutex_unlock(&w->lock);
}

void workers_free(struct workers *w)
{
	if (w == NULL)
		return;
	pthread_mutex_lock(&w->lock);
	w->ended = true;
	pthread_cond_broadcast(&w->work);
	pthread_mutex_unlock(&w->lock);
	for (size_t i = 0; i < w->nthreads; i++)
		pthread_join(w->threads[i], NULL);
	pthread_cond_destroy(&w->changed);
	pthread_cond_destroy(&w->work);
	pthread_mutex_destroy(&w->lock);
	free(w->threads);
	free(w->done);
	free(w);
}
