#include "model/call_stack.h"

#include <criterion/criterion.h>

#include "model/trace_engine.h"
#include "model/value.h"

static const struct plan plan = { .stack = SLICE_LIT("frames") };

Test(call_stack, from_leaf_and_from_root)
{
	const struct value frames[] = { value_string(SLICE_LIT("leaf")),
		                        { .type = VALUE_ADDRESS, .u64 = UINT64_MAX },
		                        { .type = VALUE_U32, .u64 = 16 },
		                        { .type = VALUE_F64, .f64 = 1 },
		                        value_string(SLICE_LIT("root")) };
	const struct class with = { .plan = &plan }, without = { .plan = NULL };
	struct field fields[] = {
		{ SLICE_LIT("frames"), value_u64(1) },
		{ SLICE_LIT("other"), { .type = VALUE_LIST, .count = 5, .values = frames } },
		{ SLICE_LIT("frames"), { .type = VALUE_LIST, .count = 5, .values = frames } }
	};
	const struct batch b = { .fields = fields, .nfields = 3 };
	struct event e = { .cls = &with, .nfields = 3 };
	char space[CALL_STACK_ADDRESS];
	struct call_stack s;

	cr_assert(call_stack_of_class(&with) && !call_stack_of_class(&without));
	cr_assert(call_stack_get(&s, &b, &e));
	cr_assert_eq(s.n, 5);
	cr_assert(slice_is(call_stack_frame(&s, 0, space), "leaf"));
	cr_assert(slice_is(call_stack_frame(&s, 1, space), "0xffffffffffffffff"));
	cr_assert(slice_is(call_stack_frame(&s, 2, space), "0x10"));
	cr_assert(slice_is(call_stack_frame(&s, 3, space), "?"));
	cr_assert(slice_is(call_stack_from_root(&s, 0, space), "root"));
	cr_assert(slice_is(call_stack_from_root(&s, 4, space), "leaf"));
	e.nfields = 2;
	cr_assert_not(call_stack_get(&s, &b, &e), "no list of the name");
	e.nfields = 0;
	cr_assert_not(call_stack_get(&s, &b, &e), "nobody asked for fields");
	e = (struct event){ .cls = &without, .nfields = 3 };
	cr_assert_not(call_stack_get(&s, &b, &e));
}
