#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>

#include "model/event_traits.h"
#include "model/trace_engine.h"

/* Memory that a batch owns or holds, and its release: at the latest when the batch is taken from its pool
 * again, or the pool is freed. */

struct counted {
	struct shared_memory shared;
	int destroyed;
};

static void count_destroy(struct shared_memory *m)
{
	((struct counted *)m)->destroyed++;
}

static void hold_new(struct counted *c)
{
	c->destroyed = 0;
	shared_memory_init(&c->shared, count_destroy);
}

static struct batch_pool new_pool(void)
{
	struct batch_pool p;

	cr_assert(batch_pool_init(&p, 16, true));
	return p;
}

Test(batch, what_several_hold_goes_with_the_last)
{
	struct batch_pool p = new_pool();
	struct batch *const a = batch_pool_take(&p), *const b = batch_pool_take(&p);
	struct counted c;

	hold_new(&c);
	cr_assert(batch_hold(a, &c.shared) && batch_hold(b, &c.shared) && batch_hold(a, &c.shared));
	shared_memory_drop(&c.shared); /* the maker's */
	cr_expect_eq(c.destroyed, 0);
	batch_release(a);
	cr_assert_eq(batch_pool_take(&p), a);
	cr_expect_eq(c.destroyed, 0);
	batch_release(b);
	cr_assert_eq(batch_pool_take(&p), b);
	cr_expect_eq(c.destroyed, 1);
	shared_memory_drop(NULL);
	batch_release(a);
	batch_release(b);
	batch_pool_free(&p);
}

/* Memory that is held again after other memory has two references, and both are dropped. */
Test(batch, many_can_be_held_in_turn)
{
	struct batch_pool p = new_pool();
	struct batch *const b = batch_pool_take(&p);
	struct counted c[5];

	for (int i = 0; i < 5; i++)
		hold_new(&c[i]);
	for (int i = 0; i < 100; i++)
		cr_assert(batch_hold(b, &c[i % 5].shared));
	cr_expect_eq(b->engine.nshared, 100);
	for (int i = 0; i < 5; i++)
		shared_memory_drop(&c[i].shared);
	for (int i = 0; i < 5; i++)
		cr_expect_eq(c[i].destroyed, 0);
	batch_release(b);
	batch_pool_free(&p);
	for (int i = 0; i < 5; i++)
		cr_expect_eq(c[i].destroyed, 1);
}

/* Blocks are freed when the batch is released, which the address sanitizer sees; until then they can be
 * written to. */
Test(batch, blocks_live_until_the_release)
{
	struct batch_pool p = new_pool();
	struct batch *const b = batch_pool_take(&p);
	char *bytes[10];

	for (int i = 0; i < 10; i++) {
		struct batch_block *const block = malloc(sizeof *block + 100);
		cr_assert_not_null(block);
		bytes[i] = (char *)(block + 1);
		memset(bytes[i], i, 100);
		batch_own(b, block);
	}
	for (int i = 0; i < 10; i++)
		cr_expect_eq(bytes[i][99], i);
	batch_release(b);
	cr_assert_eq(batch_pool_take(&p), b);
	cr_expect_null(b->engine.blocks);
	batch_release(b);
	batch_pool_free(&p);
}

Test(batch, memory_that_moved_outlives_the_batch)
{
	struct batch_pool p = new_pool();
	struct batch *const b = batch_pool_take(&p), *const other = batch_pool_take(&p);
	struct counted c;

	hold_new(&c);
	char *const text = arena_alloc(&b->scratch, 4);
	cr_assert_not_null(text);
	memcpy(text, "abc", 4);
	cr_assert(batch_hold(b, &c.shared));
	shared_memory_drop(&c.shared);
	struct shared_memory *const moved = batch_share_memory(b);
	cr_assert_not_null(moved);
	batch_release(b);
	cr_assert(batch_hold(other, moved));
	shared_memory_drop(moved);
	cr_expect_eq(c.destroyed, 0);
	cr_expect_str_eq(text, "abc");
	batch_release(other);
	batch_pool_free(&p);
	cr_expect_eq(c.destroyed, 1);
}

Test(batch, a_batch_that_is_handed_out_again_is_empty)
{
	struct batch_pool p = new_pool();
	struct batch *const b = batch_pool_take(&p);

	b->n = 3;
	b->nfields = 2;
	b->ntracks = b->nclasses = 1;
	batch_release(b);
	batch_release(NULL);
	struct batch *const again = batch_pool_take(&p);
	cr_expect_eq(again, b);
	cr_expect(again->n == 0 && again->nfields == 0 && again->ntracks == 0 && again->nclasses == 0);
	cr_expect_not_null(again->bytes);
	batch_release(again);
	batch_pool_free(&p);
	batch_pool_free(&(struct batch_pool){ .cap = 0 });
}

Test(batch, fields_grow_as_much_as_is_asked_for)
{
	struct batch b;

	cr_assert(batch_init(&b, 4, false));
	for (uint32_t n = 1; n < 5000; n *= 3) {
		struct field *const f = batch_fields(&b, n);
		cr_assert_not_null(f);
		f[n - 1].value.u64 = n;
		b.nfields += n;
		cr_assert_geq(b.fields_cap, b.nfields);
	}
	cr_expect_eq(b.fields[0].value.u64, 1);
	batch_free(&b);
}

/* ---- threads ---- */

enum { ROUNDS = 2000, GIVERS = 3 };

struct giver {
	struct batch_pool *pool;
	struct shared_memory *held;
	bool ok;
};

static void *take_and_release(void *arg)
{
	struct giver *const g = arg;

	for (int i = 0; g->ok && i < ROUNDS; i++) {
		struct batch *const a = batch_pool_take(g->pool), *const b = batch_pool_take(g->pool);
		g->ok = a != NULL && b != NULL && a != b && a->n == 0 && b->n == 0 && batch_hold(a, g->held);
		if (g->ok)
			a->n = b->n = 1;
		batch_release(a);
		batch_release(b);
	}
	return NULL;
}

Test(batch, fields_have_a_first_of_each_name)
{
	const struct field f[] = { { SLICE_LIT("a"), value_u64(1) },
		                   { SLICE_LIT("b"), value_u64(2) },
		                   { SLICE_LIT("b"), value_u64(3) } };

	cr_assert_eq(field_find(f, 3, SLICE_LIT("b")), &f[1]);
	cr_assert_null(field_find(f, 1, SLICE_LIT("b")));
	cr_assert_null(
	    field_find(NULL, 0, SLICE_LIT("a"))); /* no offset to NULL, which clang's sanitizer reports */
}

Test(batch, a_pool_is_shared_by_threads)
{
	struct batch_pool p = new_pool();
	struct counted c;
	struct giver givers[GIVERS];
	pthread_t threads[GIVERS];

	hold_new(&c);
	for (int i = 0; i < GIVERS; i++) {
		givers[i] = (struct giver){ &p, &c.shared, true };
		cr_assert_eq(pthread_create(&threads[i], NULL, take_and_release, &givers[i]), 0);
	}
	for (int i = 0; i < GIVERS; i++) {
		cr_assert_eq(pthread_join(threads[i], NULL), 0);
		cr_expect(givers[i].ok);
	}
	cr_expect_eq(c.destroyed, 0);
	batch_pool_free(&p);
	cr_expect_eq(c.destroyed, 0);
	shared_memory_drop(&c.shared);
	cr_expect_eq(c.destroyed, 1);
}
