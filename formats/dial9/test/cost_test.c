/* Small hostile files: time and memory stay in proportion to their size. */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "test/properties/cost_test_util.h"

#define POLLS 400000U

struct bytes {
	char *p;
	size_t n;
};

static void put(struct bytes *b, const char *p, size_t n)
{
	memcpy(b->p + b->n, p, n);
	b->n += n;
}

#define PUT(b, literal) put((b), (literal), sizeof(literal) - 1)

/* The pool's only entry, of so many half MiB. */
static void put_name(struct bytes *b, unsigned size)
{
	PUT(b, "\3\1\0\0\0\1\0\0\0\0\0");
	b->p[b->n++] = (char)(size << 3);
	b->p[b->n++] = '\0';
	memset(b->p + b->n, 'x', (size_t)size << 19);
	b->n += (size_t)size << 19;
}

static void put_polls(struct bytes *b)
{
	for (uint32_t i = 0; i < POLLS; i++) {
		PUT(b, "\2\0\0\xa\0\0\1\1\0\0\0"); /* worker 1, string 1 */
		PUT(b, "\2\1\0\xa\0\0\1");
	}
}

/* One name of so many half MiB names 400,000 polls.  late: it is defined after them. */
static struct bytes polls_of_one_name(unsigned size, bool late)
{
	struct bytes b = { .p = malloc(16 << 20) };

	cr_assert_not_null(b.p);
	PUT(&b, "TRC\0\1");
	PUT(&b, "\1\0\0\xe\0PollStartEvent\1\2\0\x9\0worker_id\x9\x9\0spawn_loc\x7");
	PUT(&b, "\1\1\0\xc\0PollEndEvent\1\1\0\x9\0worker_id\x9");
	if (!late)
		put_name(&b, size);
	put_polls(&b);
	if (late)
		put_name(&b, size);
	return b;
}

/* Open spans have no copies of the name. */
Test(dial9_cost, long_name)
{
	struct bytes b = polls_of_one_name(12, false);

	expect_in_proportion("convert --to chrome --from dial9 - -", b.p, b.n, "[repeats/text-cut]");
	cr_expect_leq(cost_of("stats --format json --from dial9 \"$1\"", b.p, b.n, NULL),
	              2.0 * (6 << 20) + 1e5);
	free(b.p);
}

Test(dial9_cost, long_name_after_its_use)
{
	struct bytes b = polls_of_one_name(3, true);

	expect_in_proportion("convert --to chrome --from dial9 \"$1\" -", b.p, b.n, "[repeats/text-cut]");
	free(b.p);
}

/* Patterns are compared once with the name. */
Test(dial9_cost, long_name_selected)
{
	struct bytes b = polls_of_one_name(12, false);

	cost_of("stats --name '*1*2*,*2*3*' --format json --from dial9 \"$1\"", b.p, b.n, "0 of 400000");
	free(b.p);
}
