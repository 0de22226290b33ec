/* Reading ahead: order, the gate from both sides, the end of the thread, and stopping. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>

#include "model/trace_engine.h"
#include "run/read/reading.h"

/* A reading stage of `all` batches with one event each, whose time is their number. */
struct counting {
	struct stage stage;
	struct batch_pool pool;
	struct gate *gate;
	uint64_t all, made;
	uint64_t gate_every; /* it passes the gate for every so manieth batch; 0: never */
	atomic_ullong used;  /* batches that the other stages have asked for the next one after */
	atomic_bool reading;
	bool early; /* it was through the gate before all batches were used */
	bool raw;   /* from the first batch on: records are only copied */
	bool copies;
	bool slow; /* a batch takes 60 us of CPU time */
	pthread_t caller;
	bool elsewhere; /* a batch was read on another thread than the caller's */
};

static enum stage_status next(struct stage *stage, struct batch **out)
{
	struct counting *const s = (struct counting *)stage;

	*out = NULL;
	if (s->made == s->all)
		return STAGE_END;
	if (s->gate_every > 0 && s->made % s->gate_every == 0) {
		gate_pass(s->gate);
		s->early |= atomic_load(&s->used) != s->made;
	}
	s->raw = s->copies;
	for (const uint64_t begin = cpu_times_now().mine; s->slow && cpu_times_now().mine < begin + 60000;)
		;
	s->elsewhere |= !pthread_equal(pthread_self(), s->caller);
	atomic_store(&s->reading, true);
	*out = batch_pool_take(&s->pool);
	cr_assert(*out != NULL);
	(*out)->events[0] = (struct event){ .ts = s->made++ };
	(*out)->n = 1;
	atomic_store(&s->reading, false);
	return STAGE_MORE;
}

/* Reads `n` batches.  own_every: the other stages pass the gate for every own_every-th batch; 0: never. */
static void read_all(struct counting *s, struct ahead *a, uint64_t n, uint64_t own_every)
{
	struct batch *b;

	for (uint64_t i = 0; i < n; i++) {
		cr_assert(stage_next(ahead_stage(a), &b) == STAGE_MORE);
		cr_assert_eq(b->events[0].ts, i);
		if (own_every > 0 && i % own_every == 0) {
			gate_pass(s->gate);
			const uint64_t made = s->made;
			for (volatile int k = 0; k < 10000; k++)
				cr_assert(!atomic_load(&s->reading));
			cr_assert_eq(s->made, made);
		}
		batch_release(b);
		atomic_store(&s->used, i + 1);
	}
}

static struct ahead *begin_with(struct counting *s, uint64_t all, uint64_t gate_every, struct ahead_rule rule)
{
	rule.raw = &s->raw;
	struct ahead *const a = ahead_new(&s->stage, rule);

	cr_assert(a != NULL);
	*s = (struct counting){ .stage.next = next,
		                .gate = ahead_gate(a),
		                .all = all,
		                .gate_every = gate_every,
		                .caller = pthread_self() };
	cr_assert(batch_pool_init(&s->pool, 16, false));
	return a;
}

static struct ahead *begin(struct counting *s, uint64_t all, uint64_t gate_every)
{
	return begin_with(s, all, gate_every, (struct ahead_rule){ .raw = NULL });
}

static void end(struct counting *s, struct ahead *a)
{
	ahead_free(a);
	batch_pool_free(&s->pool);
}

static void expect_end(struct ahead *a)
{
	struct batch *b;

	cr_expect(stage_next(ahead_stage(a), &b) == STAGE_END);
	cr_expect(stage_next(ahead_stage(a), &b) == STAGE_END);
}

Test(run_ahead_race, batches_come_in_order)
{
	for (uint64_t n = 0; n < 40; n++) {
		struct counting s;
		struct ahead *const a = begin(&s, n * 7, 0);
		read_all(&s, a, n * 7, 0);
		expect_end(a);
		end(&s, a);
	}
}

Test(run_ahead_race, the_reader_waits_at_the_gate_until_all_is_used)
{
	static const uint64_t everies[] = { 1, 2, 3, 16, 40 }; /* 1: most batches, so the thread ends */

	for (size_t i = 0; i < sizeof everies / sizeof *everies; i++) {
		struct counting s;
		struct ahead *const a = begin(&s, 2000, everies[i]);
		read_all(&s, a, 2000, 0);
		cr_expect(!s.early);
		expect_end(a);
		end(&s, a);
	}
}

Test(run_ahead_race, the_other_stages_pass_the_gate_while_the_reader_waits)
{
	struct counting s;
	struct ahead *const a = begin(&s, 3000, 50);

	read_all(&s, a, 3000, 20);
	cr_expect(!s.early);
	expect_end(a);
	end(&s, a);
}

Test(run_ahead_race, copied_records_are_read_by_the_caller)
{
	for (int copies = 0; copies < 2; copies++) {
		struct counting s;
		struct ahead *const a = begin(&s, 1000, 0);
		s.copies = copies == 1;
		read_all(&s, a, 1000, 0);
		expect_end(a);
		cr_expect_eq(s.elsewhere, !s.copies);
		end(&s, a);
	}
}

Test(run_ahead_race, a_slow_reader_and_an_idle_core_are_seen)
{
	for (int copies = 0; copies < 2; copies++) {
		struct counting s;
		struct ahead *const a = begin_with(
		    &s, 400, 7,
		    (struct ahead_rule){ .marked = copies == 1, .if_slow = copies == 0, .if_idle = true });
		s.copies = copies == 1;
		s.slow = true;
		read_all(&s, a, 400, 0);
		cr_expect(!s.early);
		expect_end(a);
		cr_expect(s.elsewhere);
		end(&s, a);
	}
}

Test(run_ahead_race, it_stops_with_batches_that_nobody_asked_for)
{
	for (uint64_t n = 0; n < 160; n += 5) {
		struct counting s;
		struct batch *b;
		struct ahead *const a = begin(&s, 1000, n % 2 == 0 ? 5 : 0);
		read_all(&s, a, n, 0);
		ahead_stop(a);
		gate_pass(s.gate); /* nobody else is left */
		if (n > 70)
			cr_expect(stage_next(ahead_stage(a), &b) == STAGE_BAD);
		end(&s, a);
	}
}
