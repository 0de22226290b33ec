/* Events outside of a selection can be in the output, because others refer to them. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "compare/compare.h"
#include "model/trace.h"
#include "model/trace_engine.h"

struct side {
	struct batch_pool pool;
	const struct class *cls;
	const struct track *track;
	const char *events; /* a letter each, its name and time; a capital: outside of the selection */
};

static enum stage_status next(void *ctx, struct batch **out)
{
	static const char lower[] = "abcdefghijklmnopqrstuvwxyz";
	struct side *const s = ctx;
	struct batch *const b = *out = *s->events != '\0' ? batch_pool_take(&s->pool) : NULL;

	if (b == NULL)
		return STAGE_END;
	for (; *s->events != '\0' && b->n < b->cap; s->events++) {
		const bool left_out = *s->events >= 'A' && *s->events <= 'Z';
		b->events[b->n++] = (struct event){ .ts = (uint64_t)(unsigned char)*s->events | 0x20,
			                            .name = slice_of(s->events, 1),
			                            .cls = s->cls,
			                            .track = s->track,
			                            .phase = PHASE_INSTANT,
			                            .flags = left_out ? (uint8_t)EVENT_LEFT_OUT : 0 };
		if (left_out)
			b->events[b->n - 1].name = slice_of(lower + (*s->events - 'A'), 1);
	}
	return STAGE_MORE;
}

static void expect(const char *input, const char *output, uint64_t missing, uint64_t more)
{
	struct trace trace;
	struct differ d;
	struct side sides[DIFFER_SIDES] = { { .events = input }, { .events = output } };
	const struct differ_rules rules = { .pair_all = true, .left_out = true, .ignore = PART_TRACK };

	trace_init(&trace);
	const struct track *const process = trace_add_process(&trace, SLICE_LIT("p"));
	cr_assert_not_null(process);
	for (int i = 0; i < DIFFER_SIDES; i++) {
		cr_assert(batch_pool_init(&sides[i].pool, 3, false));
		sides[i].cls = trace_plan_class(&trace, &(struct class){ .name = SLICE_LIT("c") });
		sides[i].track = process;
	}
	differ_init(
	    &d, &rules, (struct differ_source){ .next = next, .ctx = &sides[DIFFER_A], .trace = &trace },
	    (struct differ_source){ .next = next, .ctx = &sides[DIFFER_B], .trace = &trace }, NULL, NULL);
	cr_expect_eq(differ_run(&d), DIFFER_DONE);
	cr_expect_eq(d.only[DIFFER_A], missing, "%s, %s: %d missing", input, output, (int)d.only[DIFFER_A]);
	cr_expect_eq(d.only[DIFFER_B], more, "%s, %s: %d more", input, output, (int)d.only[DIFFER_B]);
	differ_free(&d);
	for (int i = 0; i < DIFFER_SIDES; i++)
		batch_pool_free(&sides[i].pool);
	trace_free(&trace);
}

Test(left_out, may_come_along)
{
	expect("aBcDe", "ace", 0, 0);
	expect("aBcDe", "abce", 0, 0);
	expect("aBcDe", "abcde", 0, 0);
	expect("ABcDEFGh", "bcfh", 0, 0);
	expect("ABC", "", 0, 0);
	expect("ABC", "c", 0, 0);
}

Test(left_out, others_may_not_be_missing)
{
	expect("aBcDe", "ae", 1, 0);
	expect("aBcDe", "abe", 1, 0);
	expect("aBcDe", "", 3, 0);
	expect("aBcDeFgHi", "abdefghi", 1, 0);
}

Test(left_out, nothing_else_may_come)
{
	expect("aBcDe", "acez", 0, 1);
	expect("aBc", "abbc", 0, 1);
	expect("ABC", "abcd", 0, 1);
}
