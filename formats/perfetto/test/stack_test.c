/* Call stacks: samples of threads, and stacks of other events. */
#include <criterion/criterion.h>

#include "perfetto/test/rig_test.h"

#define FRAME(text)                                                                                          \
	{                                                                                                    \
		.type = VALUE_STRING, .count = sizeof(text) - 1, .p = (text)                                 \
	}

static const struct value leaf_first[] = { FRAME("leaf"),
	                                   FRAME("middle"),
	                                   { .type = VALUE_ADDRESS, .u64 = 0x1234 } };
static const struct plan with_stack = { .stack = SLICE_LIT("callchain") };

static void add(struct rig *r, enum phase phase, const struct track *t, uint64_t ts, uint32_t frames)
{
	perf_rig_event(r, phase, "sample", t, ts, 0);
	perf_rig_field(r, SLICE_LIT("callchain"),
	               (struct value){ .type = VALUE_LIST, .count = frames, .values = leaf_first });
}

Test(perfetto_stack, samples_and_stacks_of_events)
{
	struct rig r;

	perf_rig_begin(&r);
	struct class *const stack = trace_add_class(&r.trace, SLICE_LIT("sampled")), *const plain = r.cls;
	stack->category = SLICE_LIT("stack");
	stack->plan = plain->plan = &with_stack;
	const struct track *const wide =
	    trace_add_thread(&r.trace, r.process, UINT64_C(1) << 40, SLICE_LIT("wide"));
	r.cls = stack;
	add(&r, PHASE_INSTANT, r.thread, 1, 3);
	add(&r, PHASE_INSTANT, r.thread, 2, 3);
	add(&r, PHASE_INSTANT, r.thread, 3, 2);
	add(&r, PHASE_INSTANT, wide, 4, 3);
	add(&r, PHASE_INSTANT, r.process, 5, 3);
	add(&r, PHASE_INSTANT, r.thread, 6, 0);
	r.cls = plain;
	add(&r, PHASE_SPAN, r.thread, 7, 1);
	perf_rig_end(&r);
	cr_expect_eq(r.model.nsamples, 3);
	cr_expect_eq(r.model.nstacks, 3);
	cr_expect_eq(r.model.nslices, 7);
	cr_expect_str_eq(r.model.slices[0].args, "callchain=[sleaf,smiddle,0x1234]");
	perf_rig_free(&r);
}
