/* Small hostile files: time and memory stay in proportion to their size. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "test/properties/cost_test_util.h"

struct bytes {
	char *p;
	size_t n;
};

static void put_number(struct bytes *b, uint64_t v, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		b->p[b->n++] = (char)(v >> 8 * i & 0xff);
}

static void put_event(struct bytes *b, unsigned flags, const char *code, uint64_t clock)
{
	b->p[b->n++] = (char)flags;
	memcpy(b->p + b->n, code, 3);
	b->n += 3;
	put_number(b, clock, 8);
}

static void begin(struct bytes *b, size_t space)
{
	*b = (struct bytes){ .p = malloc(space) };
	cr_assert_not_null(b->p);
	memcpy(b->p, "ovni\1\0\0\0", 8);
	b->n = 8;
}

static void declare_type(struct bytes *b, uint32_t id, size_t label, uint64_t clock)
{
	put_event(b, 0x13, "VYc", clock);
	put_number(b, 4 + label + 1, 4);
	put_number(b, id, 4);
	memset(b->p + b->n, 'x', label);
	b->n += label;
	b->p[b->n++] = '\0';
}

static void create_task(struct bytes *b, uint32_t task, uint32_t type, uint64_t clock)
{
	put_event(b, 7, "VTc", clock);
	put_number(b, task, 4);
	put_number(b, type, 4);
}

static void run_task(struct bytes *b, uint32_t task, uint64_t clock)
{
	put_event(b, 3, "VTx", clock);
	put_number(b, task, 4);
	put_event(b, 3, "VTe", clock + 1);
	put_number(b, task, 4);
}

/* One label of 3 MiB names 10,000 tasks. */
Test(ovni_cost, long_label)
{
	struct bytes b;

	begin(&b, 8 << 20);
	declare_type(&b, 1, 3 << 20, 1);
	for (uint32_t i = 1; i <= 10000; i++) {
		create_task(&b, i, 1, 10 * i);
		run_task(&b, i, 10 * i + 1);
	}
	expect_in_proportion("convert --to chrome --from ovni - -", b.p, b.n, "[repeats/text-cut]");
	cr_expect_leq(cost_of("stats --format json --from ovni -", b.p, b.n, NULL), 2.0 * (3 << 20) + 1e5);
	free(b.p);
}

/* Patterns are compared once with one label of 3 MiB, which names 60,000 tasks. */
Test(ovni_cost, long_label_selected)
{
	struct bytes b;

	begin(&b, 8 << 20);
	declare_type(&b, 1, 3 << 20, 1);
	create_task(&b, 1, 1, 2);
	for (uint32_t i = 1; i <= 60000; i++)
		run_task(&b, 1, 10 * (uint64_t)i);
	cost_of("stats --name '*1*2*,*2*3*,*3*4*,x*y' --format json --from ovni -", b.p, b.n,
	        "no event has the name");
	free(b.p);
}

/* 150,000 types and as many tasks: more than the limit. */
Test(ovni_cost, many_definitions)
{
	struct bytes b;

	begin(&b, 16 << 20);
	for (uint32_t i = 1; i <= 150000; i++) {
		declare_type(&b, i, 8, 10 * (uint64_t)i);
		create_task(&b, i, i, 10 * (uint64_t)i + 1);
		run_task(&b, i, 10 * (uint64_t)i + 2);
	}
	cr_expect_lt(cost_of("stats --format json --from ovni -", b.p, b.n, NULL), 1.5e7);
	free(b.p);
}
