/* Reads ahead on a thread of its own, into a ring of batches.  The first batches are read without a thread,
 * which does not pay for short inputs; nor does it for records that are only copied, unless they take long to
 * read, or on two cores if the consumer uses the second one.  If most batches have to pass the gate, the
 * thread ends, as each thread would only wait for the other. */
#include "run/read/reading.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/os.h"
#include "model/trace_engine.h"

#define AHEAD_BATCHES 32U /* max batches that wait */
#define AHEAD_FEW 12U /* waiting batches that wake a sleeping thread: waking costs as much as reading one */
#ifndef AHEAD_FIRST
#define AHEAD_FIRST 64U /* batches before the thread starts; 1 to test short inputs */
#endif
#define AHEAD_TRIED (4 * AHEAD_FIRST) /* batches after which idle threads and slow readers are seen */
#ifndef AHEAD_SLOW
#define AHEAD_SLOW 30000U /* ns to read a batch: it takes as long to pass it to another core */
#endif
#define AHEAD_JUDGED 64U /* batches after which it ends if more than half passed the gate */

struct read_batch {
	enum stage_status status;
	struct batch *batch;
};

struct ahead {
	struct stage stage; /* with the reading stage in `from` */
	struct gate gate;
	pthread_t thread;
	bool running; /* used by the other stages: there is a thread ... */
	bool stopped; /* ... and there are no more batches */
	struct ahead_rule rule;
	unsigned first;          /* batches read without a thread */
	struct cpu_times before; /* when AHEAD_FIRST batches were read */
	uint64_t reading;        /* ns of reading from then on */
	pthread_mutex_t lock;
	pthread_cond_t calm;  /* for the other stages: a batch was put, or the reader waits */
	pthread_cond_t go_on; /* for the reader */
	/* Used with the lock. */
	struct read_batch ring[AHEAD_BATCHES]; /* place: number % AHEAD_BATCHES */
	unsigned long long put, taken;
	bool waiting; /* the other stages wait for a batch: all earlier ones are used */
	bool paused;  /* the other stages may change the trace, until they ask for a batch */
	bool parked;  /* the reader waits */
	bool over;    /* the reader will put no more batches */
	bool stop;
	/* Used by the reader alone. */
	bool alone;               /* it may change the trace, until it puts a batch */
	unsigned long long gated; /* batches for which it passed the gate */
};

/* ---- the reader; with the lock ---- */

static void park(struct ahead *a)
{
	a->parked = true;
	pthread_cond_signal(&a->calm);
	pthread_cond_wait(&a->go_on, &a->lock);
	a->parked = false;
}

static void reader_enter(struct ahead *a)
{
	if (a->alone)
		return;
	pthread_mutex_lock(&a->lock);
	while (!a->stop && !(a->waiting && a->put == a->taken))
		park(a);
	pthread_mutex_unlock(&a->lock);
	a->alone = true;
	a->gated++;
}

/* Returns false if the thread ends. */
static bool put(struct ahead *a, struct read_batch r)
{
	pthread_mutex_lock(&a->lock);
	while (!a->stop && (a->paused || a->put - a->taken == AHEAD_BATCHES))
		park(a);
	a->alone = false;
	if (a->stop) {
		batch_release(r.batch);
	} else {
		a->ring[a->put++ % AHEAD_BATCHES] = r;
		const bool waits_much = a->put >= AHEAD_JUDGED && a->gated > a->put / 2;
		a->over = r.status != STAGE_MORE || waits_much;
	}
	const bool ends = a->over || a->stop;
	if (ends || (a->waiting && a->put - a->taken >= AHEAD_FEW))
		pthread_cond_signal(&a->calm);
	pthread_mutex_unlock(&a->lock);
	return !ends;
}

static void *read_ahead(void *arg)
{
	struct ahead *const a = arg;
	struct read_batch r;

	pthread_mutex_lock(&a->lock); /* until a->thread is known */
	pthread_mutex_unlock(&a->lock);
	do {
		r.batch = NULL;
		r.status = stage_next(a->stage.from, &r.batch);
	} while (put(a, r));
	return NULL;
}

/* ---- the other stages ---- */

static void start(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->running = thread_start(&a->thread, read_ahead, a) == 0;
	pthread_mutex_unlock(&a->lock);
}

static void join(struct ahead *a)
{
	pthread_join(a->thread, NULL);
	a->running = false;
}

static void pause_reader(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->paused = true;
	while (!a->parked && !a->over)
		pthread_cond_wait(&a->calm, &a->lock);
	pthread_mutex_unlock(&a->lock);
}

static void enter(struct gate *g)
{
	struct ahead *const a = (struct ahead *)((char *)g - offsetof(struct ahead, gate));

	if (!a->running)
		return;
	if (pthread_equal(pthread_self(), a->thread))
		reader_enter(a);
	else
		pause_reader(a);
}

/* The oldest batch of the ring.  *out NULL: the thread has ended, and no batch is left. */
static enum stage_status take(struct ahead *a, struct batch **out)
{
	struct read_batch r = { STAGE_MORE, NULL };

	pthread_mutex_lock(&a->lock);
	a->paused = false;
	a->waiting = true;
	if (a->parked && a->put == a->taken)
		pthread_cond_signal(&a->go_on);
	while (a->put == a->taken && !a->over)
		pthread_cond_wait(&a->calm, &a->lock);
	a->waiting = false;
	if (a->put != a->taken)
		r = a->ring[a->taken++ % AHEAD_BATCHES];
	if (a->parked && a->put - a->taken <= AHEAD_BATCHES / 2)
		pthread_cond_signal(&a->go_on);
	pthread_mutex_unlock(&a->lock);
	*out = r.batch;
	return r.status;
}

/* Whether the other threads did less than half of the work of this one since then. */
static bool others_are_idle(const struct cpu_times *before)
{
	const struct cpu_times now = cpu_times_now();

	return now.others < before->others + (now.mine - before->mine) / 2;
}

static bool if_slow(const struct ahead *a)
{
	return *a->rule.raw ? a->rule.marked : a->rule.if_slow;
}

/* Whether the thread is to start before the next batch. */
static bool is_time(struct ahead *a)
{
	const unsigned n = a->first++;

	if (*a->rule.raw && !a->rule.marked)
		return false;
	if (!if_slow(a) && !a->rule.if_idle)
		return n == AHEAD_FIRST;
	if (n == AHEAD_FIRST)
		a->before = cpu_times_now();
	return n == AHEAD_TRIED && (!a->rule.if_idle || others_are_idle(&a->before)) &&
	       (!if_slow(a) || a->reading > (AHEAD_TRIED - AHEAD_FIRST) * (uint64_t)AHEAD_SLOW);
}

/* Reads a batch on the caller's thread; measures its time until the thread may start. */
static enum stage_status read_along(struct ahead *a, struct batch **out)
{
	if (!if_slow(a) || a->first <= AHEAD_FIRST || a->first > AHEAD_TRIED)
		return stage_next(a->stage.from, out);
	const uint64_t before = cpu_times_now().mine;
	const enum stage_status status = stage_next(a->stage.from, out);
	a->reading += cpu_times_now().mine - before;
	return status;
}

static enum stage_status ahead_next(struct stage *stage, struct batch **out)
{
	struct ahead *const a = (struct ahead *)stage;

	*out = NULL;
	if (a->stopped)
		return STAGE_BAD;
	if (!a->running && a->put == 0 && is_time(a))
		start(a);
	if (a->running) {
		const enum stage_status status = take(a, out);
		if (*out != NULL || status != STAGE_MORE)
			return status;
		join(a);
	}
	return read_along(a, out);
}

/* ---- begin and end ---- */

struct ahead *ahead_new(struct stage *reading, struct ahead_rule rule)
{
	struct ahead *const a = calloc(1, sizeof *a);

	if (a == NULL)
		return NULL;
	a->stage = (struct stage){ ahead_next, reading };
	a->rule = rule;
	a->gate.enter = enter;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->calm, NULL);
	pthread_cond_init(&a->go_on, NULL);
	return a;
}

struct stage *ahead_stage(struct ahead *a)
{
	return &a->stage;
}

struct gate *ahead_gate(struct ahead *a)
{
	return &a->gate;
}

void ahead_stop(struct ahead *a)
{
	if (a == NULL || !a->running)
		return;
	a->stopped = true;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->go_on);
	pthread_mutex_unlock(&a->lock);
	join(a);
	for (; a->taken < a->put; a->taken++)
		batch_release(a->ring[a->taken % AHEAD_BATCHES].batch);
}

void ahead_free(struct ahead *a)
{
	if (a == NULL)
		return;
	ahead_stop(a);
	pthread_cond_destroy(&a->calm);
	pthread_cond_destroy(&a->go_on);
	pthread_mutex_destroy(&a->lock);
	free(a);
}
