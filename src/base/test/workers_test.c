#include "base/workers.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdint.h>

/* Jobs of different lengths, and their states. */
enum { JOBS = 3000, SLOTS_MAX = 32 };

struct log {
	struct workers *workers;
	size_t slots;
	uint32_t job_of[SLOTS_MAX];
	atomic_uint runs[JOBS];
	uint32_t finished[JOBS];
	atomic_uint nfinished, put;
	atomic_uint nprepared;
	atomic_int preparing, finishing, running;
	atomic_bool wrong; /* a promise was broken */
	bool takes_turns;
};

static void expect(struct log *l, bool true_so)
{
	if (!true_so)
		atomic_store(&l->wrong, true);
}

/* So that jobs end in another order than they begin in. */
static void waste_time(uint32_t job)
{
	volatile uint32_t x = job * 2654435761u % 7 == 0 ? 20000 : 10;

	while (x > 0)
		x--;
}

static void prepare(void *ctx, size_t slot)
{
	struct log *const l = ctx;
	const uint32_t job = l->job_of[slot];

	expect(l, atomic_fetch_add(&l->preparing, 1) == 0);
	waste_time(job + 3);
	expect(l, atomic_load(&l->runs[job]) == 0);
	expect(l, atomic_fetch_add(&l->nprepared, 1) == job);
	atomic_fetch_sub(&l->preparing, 1);
}

static void run(void *ctx, size_t slot)
{
	struct log *const l = ctx;
	const uint32_t job = l->job_of[slot];

	expect(l, atomic_load(&l->nprepared) > job);
	atomic_fetch_add(&l->running, 1);
	atomic_fetch_add(&l->runs[job], 1);
	waste_time(job);
	if (l->takes_turns && job % 3 == 0) {
		workers_turn(l->workers, slot);
		expect(l, atomic_load(&l->nfinished) == job);
		expect(l, atomic_load(&l->finishing) == 0);
	}
	atomic_fetch_sub(&l->running, 1);
}

static void finish(void *ctx, size_t slot)
{
	struct log *const l = ctx;
	const uint32_t job = l->job_of[slot];

	expect(l, atomic_fetch_add(&l->finishing, 1) == 0);
	expect(l, atomic_load(&l->runs[job]) == 1);
	expect(l, atomic_load(&l->nfinished) == job);
	expect(l, atomic_load(&l->put) - job <= l->slots);
	l->finished[atomic_load(&l->nfinished)] = job;
	atomic_fetch_add(&l->nfinished, 1);
	atomic_fetch_sub(&l->finishing, 1);
}

static void run_jobs_with(struct log *l, size_t slots, size_t threads, uint32_t jobs,
                          const struct workers_ops *ops)
{
	l->slots = slots;
	l->workers = workers_new(slots, threads, ops, l);
	cr_assert_not_null(l->workers);
	for (uint32_t i = 0; i < jobs; i++) {
		const size_t slot = workers_slot(l->workers);
		cr_assert_lt(slot, slots);
		l->job_of[slot] = i;
		atomic_store(&l->put, i + 1);
		workers_put(l->workers);
	}
	workers_settle(l->workers);
	cr_expect_eq(atomic_load(&l->nfinished), jobs);
	cr_expect_eq(atomic_load(&l->running), 0);
	workers_settle(l->workers);
	workers_free(l->workers);
	for (uint32_t i = 0; i < jobs; i++)
		cr_assert_eq(l->finished[i], i);
	cr_expect_not(atomic_load(&l->wrong));
}

static void run_jobs(struct log *l, size_t slots, size_t threads, uint32_t jobs)
{
	static const struct workers_ops ops = { prepare, run, finish };

	run_jobs_with(l, slots, threads, jobs, &ops);
}

Test(workers, jobs_run_once_and_are_prepared_and_finished_in_order)
{
	static const size_t shapes[][2] = { { 3, 0 }, { 1, 1 }, { 2, 1 }, { 6, 1 }, { 9, 2 }, { 32, 7 } };

	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		struct log l = { .slots = 0 };
		run_jobs(&l, shapes[i][0], shapes[i][1], JOBS);
	}
}

Test(workers, a_turn_comes_when_all_before_are_finished)
{
	static const size_t shapes[][2] = { { 3, 0 }, { 2, 1 }, { 6, 1 }, { 21, 6 } };

	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		struct log l = { .takes_turns = true };
		run_jobs(&l, shapes[i][0], shapes[i][1], JOBS);
	}
}

Test(workers, nothing_to_prepare)
{
	static const struct workers_ops ops = { NULL, run, finish };
	struct log l = { .slots = 6 };

	atomic_store(&l.nprepared, JOBS);
	run_jobs_with(&l, 6, 2, JOBS, &ops);
}

Test(workers, none_to_few_jobs)
{
	for (uint32_t jobs = 0; jobs < 5; jobs++) {
		struct log l = { .slots = 0 };
		run_jobs(&l, 4, 3, jobs);
	}
	workers_free(NULL);
}

/* After workers_settle() nothing runs, and more may be put. */
Test(workers, settling_in_between)
{
	static const struct workers_ops ops = { prepare, run, finish };
	struct log l = { .slots = 5 };

	l.workers = workers_new(5, 2, &ops, &l);
	cr_assert_not_null(l.workers);
	for (uint32_t i = 0; i < 200; i++) {
		const size_t slot = workers_slot(l.workers);
		l.job_of[slot] = i;
		atomic_store(&l.put, i + 1);
		workers_put(l.workers);
		if (i % 7 == 0) {
			workers_settle(l.workers);
			cr_assert_eq(atomic_load(&l.nfinished), i + 1);
			cr_assert_eq(atomic_load(&l.running), 0);
		}
	}
	workers_settle(l.workers);
	workers_free(l.workers);
	cr_expect_not(atomic_load(&l.wrong));
}
