/* Call stacks: samples of threads, and stacks of other events. */
#include <criterion/criterion.h>

#include "output/text.h"
#include "perfetto/test/rig_test.h"
#include "test/properties/cost_test_util.h"

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

/* ---- cost ---- */

static void put_varint(struct text *t, uint64_t v)
{
	for (; v > 127; v >>= 7)
		text_char(t, (char)(v | 128));
	text_char(t, (char)v);
}

/* Adds a field of bytes, and empties them. */
static void put_bytes(struct text *t, uint32_t number, struct text *bytes)
{
	put_varint(t, (uint64_t)number << 3 | 2);
	put_varint(t, bytes->n);
	text_add(t, bytes->p, bytes->n);
	text_clear(bytes);
}

static void put_many(struct text *t, const char *field, uint32_t n)
{
	while (n-- > 0)
		text_str(t, field);
}

/* A function, a frame and a call stack with so many fields of frames, and unknown fields; then samples. */
static struct text made_samples(uint32_t frame_junk, uint32_t frames, uint32_t stack_junk, uint32_t samples)
{
	struct text t = { .p = NULL }, entry = t, interned = t, packet = t;

	text_str(&entry, "\x08\x01\x12\x01\x66");
	put_bytes(&interned, 5, &entry);
	text_str(&entry, "\x08\x01\x10\x01");
	put_many(&entry, "\xc0\x0c\x01", frame_junk);
	put_bytes(&interned, 6, &entry);
	text_str(&entry, "\x08\x01");
	put_many(&entry, "\x10\x01", frames);
	put_many(&entry, "\xc0\x0c\x01", stack_junk);
	put_bytes(&interned, 7, &entry);
	text_str(&packet, "\x50\x01\x68\x01"); /* sequence 1, which begins */
	put_bytes(&packet, 12, &interned);
	put_bytes(&t, 1, &packet);
	for (uint32_t i = 0; i < samples; i++) {
		text_str(&packet, "\x50\x01\x68\x02\x40"); /* its state, and a time */
		put_varint(&packet, i);
		text_str(&entry, "\x10\x01\x18\x01\x20\x01");
		put_bytes(&packet, 66, &entry);
		put_bytes(&t, 1, &packet);
	}
	text_free(&entry);
	text_free(&interned);
	text_free(&packet);
	cr_assert_not(t.failed);
	return t;
}

/* Events refer to a stack, and stacks to a frame, without reading all of its bytes again. */
Test(perfetto_cost, long_stacks_and_frames)
{
	struct text t = made_samples(400000, 1000000, 0, 1);

	cost_of("validate -q \"$1\"", t.p, t.n, NULL);
	cost_of("convert -q --to chrome \"$1\" -", t.p, t.n, NULL);
	text_free(&t);
	t = made_samples(0, 10, 1500000, 100000);
	cr_expect_gt(cost_of("convert -q --to chrome \"$1\" -", t.p, t.n, NULL), 100000 * 50.0);
	text_free(&t);
	t = made_samples(0, 2000000, 0, 5000);
	cr_expect_gt(cost_of("convert -q --to ndjson \"$1\" -", t.p, t.n, NULL), 5000 * 1024.0);
	text_free(&t);
}
