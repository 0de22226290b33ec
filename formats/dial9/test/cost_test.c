/* Small hostile files: time and memory stay in proportion to their size. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "dial9/test/build.h"
#include "test/properties/cost_test_util.h"

#define POLLS 400000U

static void put_polls(struct d9_build *b)
{
	for (uint32_t i = 0; i < POLLS; i++) {
		d9b_event_delta(b, 0, 10);
		d9b_varint(b, 1); /* the worker */
		d9b_u32(b, 1);    /* the name */
		d9b_event_delta(b, 1, 10);
		d9b_varint(b, 1);
	}
}

static void put_name(struct d9_build *b, size_t n)
{
	char *const name = malloc(n + 1);

	cr_assert_not_null(name);
	memset(name, 'x', n);
	name[n] = '\0';
	d9b_string(b, 1, name);
	free(name);
}

/* Polls with one name of n bytes, which is defined before or after them. */
static struct d9_build polls_of_one_name(size_t n, bool after)
{
	static const struct d9_field_desc fields[] = { { "worker_id", D9T_VARINT },
		                                       { "spawn_loc", D9T_POOLED_STRING } };
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 0, "PollStartEvent", true, fields, 2);
	d9b_schema(&b, 1, "PollEndEvent", true, fields, 1);
	if (!after)
		put_name(&b, n);
	put_polls(&b);
	if (after)
		put_name(&b, n);
	return b;
}

/* Open spans have no copies of the name. */
Test(dial9_cost, long_name)
{
	struct d9_build b = polls_of_one_name(6 << 20, false);
	const char *const p = (const char *)b.p;

	expect_in_proportion("convert --to chrome --from dial9 - -", p, b.n, "[repeats/text-cut]");
	cr_expect_leq(cost_of("stats --format json --from dial9 \"$1\"", p, b.n, NULL),
	              2.0 * (6 << 20) + 1e5);
	d9b_free(&b);
}

Test(dial9_cost, long_name_after_its_use)
{
	struct d9_build b = polls_of_one_name(3 << 19, true);

	expect_in_proportion("convert --to chrome --from dial9 \"$1\" -", (const char *)b.p, b.n,
	                     "[repeats/text-cut]");
	d9b_free(&b);
}

/* Patterns are compared once with the name. */
Test(dial9_cost, long_name_selected)
{
	struct d9_build b = polls_of_one_name(6 << 20, false);

	cost_of("stats --name '*1*2*,*2*3*' --format json --from dial9 \"$1\"", (const char *)b.p, b.n,
	        "0 of 400000");
	d9b_free(&b);
}
