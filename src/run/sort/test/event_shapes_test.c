#include "run/sort/sorter.h"

#include <criterion/criterion.h>

#include "run/sort/test/event_samples_test.h"

enum { EVENTS = 2000 };

/* An event has a shape with a number, and the same one again.  A few events may have none. */
Test(event_shapes, number)
{
	struct event_shapes s = { .max = EVENT_SHAPES_MAX };
	struct event_samples samples;
	uint32_t none = 0;
	struct batch b;

	event_samples_init(&samples, 1);
	cr_assert(batch_init(&b, EVENTS, false));
	event_samples_fill(&samples, &b, EVENTS);
	for (uint32_t i = 0; i < 2 * b.n; i++) {
		const struct event *const e = &b.events[i % b.n], shape = event_shape_of(e);
		const uint16_t number = event_shapes_find(&s, e);
		none += number == EVENT_SHAPE_NONE;
		if (number == EVENT_SHAPE_NONE)
			continue;
		cr_assert_lt(number, s.n);
		cr_assert_arr_eq(&s.list[number], &shape, sizeof shape);
		cr_assert_eq(event_shapes_find(&s, e), number);
	}
	cr_assert_leq(none, EVENTS / 20, "%u", none);
	cr_assert_leq(s.n, EVENTS + EVENTS / 20);
	event_shapes_free(&s);
	batch_free(&b);
}

/* Properties outside of a shape: times, offset, first field, and a name that may move. */
Test(event_shapes, what_differs)
{
	static const struct class cls[2] = { { .index = 0 }, { .index = 1 } };
	const struct event e = {
		.ts = 1, .dur = 2, .offset = 3, .first_field = 4, .cls = cls, .name = { "a", 1, 0 }
	};
	struct event_shapes s = { .max = 8 };
	struct event other = e;

	cr_assert_eq(event_shapes_find(&s, &e), 0);
	other.ts = other.dur = other.offset = 9;
	other.first_field = 9;
	other.name = slice_of("bc", 2);
	cr_assert_eq(event_shapes_find(&s, &other), 0);
	other.name.p = NULL;
	cr_assert_eq(event_shapes_find(&s, &other), 1);
	other = e;
	other.cls = &cls[1];
	cr_assert_eq(event_shapes_find(&s, &other), 2);
	other = e;
	other.name.flags = SLICE_STAYS;
	cr_assert_eq(event_shapes_find(&s, &other), 3);
	other.name.p = "x";
	cr_assert_eq(event_shapes_find(&s, &other), 4);
	other = e;
	other.nfields = 1;
	cr_assert_eq(event_shapes_find(&s, &other), 5);
	event_shapes_free(&s);
}

Test(event_shapes, no_more_than_most)
{
	struct event_shapes s = { .max = 20 };
	struct event e = { .phase = PHASE_STRUCTURE };
	uint16_t numbers[100];

	for (uint16_t i = 0; i < 100; i++) {
		e.nfields = i;
		numbers[i] = event_shapes_find(&s, &e);
		cr_assert(numbers[i] < 20 || numbers[i] == EVENT_SHAPE_NONE);
	}
	cr_assert_eq(s.n, 20);
	for (uint16_t i = 0; i < 100; i++) {
		e.nfields = i;
		const uint16_t again = event_shapes_find(&s, &e);
		cr_assert(again == numbers[i] || again == EVENT_SHAPE_NONE); /* lost when the table grew */
	}
	event_shapes_free(&s);
}
