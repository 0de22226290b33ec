#include <criterion/criterion.h>

#include "model/event.h"
#include "model/trace_engine.h"

/* A planned class does not change: other fields make another class of its name. */

static const struct plan span = { .phase = PLAN_SPAN, .category = SLICE_LIT("by plan") };
static const struct class_field fields[] = { { .name = SLICE_LIT("a"), .value = VALUE_U8 },
	                                     { .name = SLICE_LIT("b"), .value = VALUE_U8 },
	                                     { .name = SLICE_LIT("b"), .value = VALUE_U8, .unit = "ns" } };

Test(trace_class, the_same_again_is_found)
{
	const struct class like = { .name = SLICE_LIT("x"), .fields = fields, .nfields = 2, .plan = &span };
	struct trace t;

	trace_init(&t);
	struct class *const c = trace_plan_class(&t, &like);
	cr_assert(c != NULL && trace_plan_class(&t, &like) == c && t.nclasses == 1);
	cr_expect(c->planned && c->first == c && c->other == NULL && c->index == 0 && c->nfields == 2);
	cr_expect(c->fields != fields, "fields are copied");
	cr_expect(slice_is(c->category, "by plan"));
	trace_free(&t);
}

Test(trace_class, what_differs_is_another_class)
{
	const struct class likes[] = {
		{ .name = SLICE_LIT("x") },
		{ .name = SLICE_LIT("x"), .plan = &span },
		{ .name = SLICE_LIT("x"), .plan = &span, .reader_applies = true },
		{ .name = SLICE_LIT("x"), .category = SLICE_LIT("y") },
		{ .name = SLICE_LIT("x"), .fields = fields, .nfields = 1 },
		{ .name = SLICE_LIT("x"), .fields = fields, .nfields = 2 },
		{ .name = SLICE_LIT("x"), .fields = fields + 1, .nfields = 1 },
		{ .name = SLICE_LIT("x"), .fields = fields + 2, .nfields = 1 },
	};
	const uint32_t n = sizeof likes / sizeof likes[0];
	struct class *made[sizeof likes / sizeof likes[0]], before[sizeof likes / sizeof likes[0]];
	struct trace t;

	trace_init(&t);
	for (uint32_t i = 0; i < n; i++) {
		made[i] = trace_plan_class(&t, &likes[i]);
		cr_assert_not_null(made[i]);
		made[i]->records = 1;
		before[i] = *made[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		cr_expect(trace_plan_class(&t, &likes[i]) == made[i] && made[i]->index == i, "%u", i);
		cr_expect(made[i]->name.p == made[0]->name.p && made[i]->first == made[0], "%u", i);
		cr_expect(made[i]->plan == before[i].plan && made[i]->fields == before[i].fields &&
		              made[i]->category.p == before[i].category.p,
		          "%u", i);
	}
	cr_expect(t.nclasses == n && t.nplanned == n);
	cr_expect_eq(trace_class_records(made[0]), n);
	cr_expect(trace_add_class(&t, SLICE_LIT("x")) == made[0]);
	trace_free(&t);
}

/* Numbers are assigned when a class is planned; the position in the list of all classes is assigned with
 * the name. */
Test(trace_class, named_classes_are_planned_later)
{
	struct trace t;

	trace_init(&t);
	struct class *const a = trace_name_class(&t, SLICE_LIT("a")), *const b = trace_name_class(
	                                                                  &t, SLICE_LIT("b"));
	cr_assert(a != NULL && b != NULL && t.nclasses == 2 && t.nplanned == 0);
	cr_expect(trace_name_class(&t, SLICE_LIT("a")) == a);
	cr_expect(trace_plan_class(&t, &(struct class){ .name = b->name, .plan = &span }) == b &&
	          b->index == 0);
	cr_expect(trace_plan_rest(&t) && a->planned && a->index == 1 && a->plan == NULL);
	cr_expect(t.classes[0] == a && t.planned[0] == b);
	trace_free(&t);
}

/* Many classes of one name are found by hash. */
Test(trace_class, very_many_of_one_name)
{
	struct trace t;
	struct class_field f = { .name = SLICE_LIT("n"), .value = VALUE_U8 };
	const struct class like = { .name = SLICE_LIT("x"), .fields = &f, .nfields = 1 };

	trace_init(&t);
	for (unsigned round = 0; round < 2; round++)
		for (f.size = 0; f.size < 100000; f.size++)
			cr_assert_not_null(trace_plan_class(&t, &like));
	cr_expect_eq(t.nclasses, 100000);
	trace_free(&t);
}
