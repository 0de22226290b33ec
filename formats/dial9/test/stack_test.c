/* Call stacks of samples, as writers get them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "dial9/test/build.h"
#include "dial9/test/oracle.h"
#include "dial9/test/run_test.h"
#include "model/call_stack.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* The frames of one event, leaf first, behind each other. */
static void expect(const struct d9t_run *t, uint32_t i, uint8_t element, const char *text)
{
	const struct event *const e = &t->batches[0].events[i];
	char room[CALL_STACK_ADDRESS], got[300] = "";
	struct call_stack s;

	cr_assert(call_stack_get(&s, &t->batches[0], e), "event %u", i);
	for (uint32_t k = 0; k < s.n; k++) {
		const struct slice frame = call_stack_frame(&s, k, room);
		strncat(got, frame.p, frame.n);
		strcat(got, " ");
	}
	cr_expect_str_eq(got, text, "event %u", i);
	for (uint32_t k = 0; k < e->nfields; k++) {
		const struct value *const v = &t->batches[0].fields[e->first_field + k].value;
		if (v->type == VALUE_LIST)
			cr_expect_eq(v->element, element, "event %u", i);
	}
}

Test(dial9_meaning, stacks_for_writers)
{
	static const struct d9_field_desc pooled[] = { { "tid", D9T_U32 },
		                                       { "callchain", D9T_POOLED_STACK } };
	static const struct d9_field_desc own[] = { { "tid", D9T_U32 }, { "callchain", D9T_STACK } };
	static const struct d9_field_desc symbol[] = { { "address", D9T_VARINT }, { "symbol", D9T_STRING } };
	static const uint64_t named[] = { 16, 32 }, mixed[] = { 32, 48 }, plain[] = { 64 };
	struct d9_build b;
	struct d9t_run t;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 0, "CallframeDefEvent", true, symbol, COUNT(symbol));
	d9b_schema(&b, 1, "AllocEvent", true, pooled, COUNT(pooled));
	d9b_schema(&b, 2, "CpuSampleEvent", true, own, COUNT(own));
	for (uint64_t i = 1; i <= 2; i++) {
		d9b_event(&b, 0, 0);
		d9b_varint(&b, i * 16);
		d9b_text32(&b, i == 1 ? "leaf" : "root");
	}
	d9b_stack(&b, 7, named, 2);
	d9b_stack(&b, 8, mixed, 2);
	d9b_stack(&b, 9, plain, 1);
	for (uint32_t i = 7; i < 10; i++) {
		d9b_event(&b, 1, 1000 + i);
		d9b_u32(&b, 1);
		d9b_u32(&b, i);
	}
	d9b_event(&b, 2, 2000);
	d9b_u32(&b, 1);
	d9b_u32(&b, 2);
	d9b_u64(&b, 16);
	d9b_u64(&b, 32);
	d9t_open(&t, input_from_memory((const char *)b.p, b.n), WANT_TIMES | WANT_FIELDS);
	d9t_read(&t, 1024);
	cr_assert_eq(t.batches[0].n, 4);
	expect(&t, 0, VALUE_STRING, "leaf root ");
	expect(&t, 1, VALUE_NONE, "root 0x30 ");
	expect(&t, 2, VALUE_ADDRESS, "0x40 ");
	expect(&t, 3, VALUE_STRING, "leaf root ");
	d9t_free(&t);
	d9b_free(&b);
}
