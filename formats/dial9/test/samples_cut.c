#include "dial9/test/samples.h"

/* Samples that end too early, or in which a count or length says so. */

static const struct d9_field_desc number[] = { { "value", D9T_VARINT } };
static const struct d9_field_desc text[] = { { "text", D9T_STRING } };
static const struct d9_field_desc list[] = { { "list", D9T_LIST } };

static void cut_frame_event(struct d9_build *b, struct d9_expected *e)
{
	const struct d9_field_desc field = { "number", D9T_U32 };

	d9s_begin(b, &field);
	d9s_expect(e, "cut-frame", d9b_event_delta(b, 2, 1));
	d9b_bytes(b, "\1\2", 2);
}

static void cut_frame_head(struct d9_build *b, struct d9_expected *e)
{
	d9s_begin(b, NULL);
	d9s_expect(e, "cut-frame", b->n);
	d9b_bytes(b, "\2\1", 2);
}

static void cut_frame_schema(struct d9_build *b, struct d9_expected *e)
{
	d9s_begin(b, NULL);
	d9s_expect(e, "cut-frame", d9b_schema(b, 2, "Own", true, number, 1));
	b->n--;
}

static void cut_frame_header(struct d9_build *b, struct d9_expected *e)
{
	d9s_begin(b, NULL);
	d9s_expect(e, "cut-frame", b->n);
	d9b_bytes(b, "TRC", 3);
}

static void cut_frame_reset(struct d9_build *b, struct d9_expected *e)
{
	d9s_begin(b, NULL);
	d9s_expect(e, "cut-frame", d9b_reset(b, 1));
	b->n -= 3;
}

static void cut_frame_pool(struct d9_build *b, struct d9_expected *e)
{
	d9s_begin(b, NULL);
	d9s_expect(e, "cut-frame", d9b_strings(b, 2));
	d9b_u32(b, 1);
	d9b_text32(b, "whole");
	d9b_u32(b, 2);
	d9b_u16(b, 3);
}

static void length_past_end_string(struct d9_build *b, struct d9_expected *e)
{
	d9s_begin(b, text);
	d9s_expect(e, "length-past-end", d9b_event_delta(b, 2, 1));
	d9b_u32(b, UINT32_MAX);
	d9b_bytes(b, "short", 5);
}

static void length_past_end_list(struct d9_build *b, struct d9_expected *e)
{
	d9s_begin(b, NULL);
	d9b_schema(b, 2, "Own", true, list, 1);
	d9s_expect(e, "length-past-end", d9b_event_delta(b, 2, 1));
	d9b_u32(b, 0x80000000);
	d9b_bytes(b, "\x0b\1", 2);
}

static void length_past_end_map(struct d9_build *b, struct d9_expected *e)
{
	const struct d9_field_desc field = { "map", D9T_STRING_MAP };

	d9s_begin(b, &field);
	d9s_expect(e, "length-past-end", d9b_event_delta(b, 2, 1));
	d9b_u32(b, 0x20000000); /* times the 8 bytes of a pair this is 0 in 32 bits */
}

static void length_past_end_stack(struct d9_build *b, struct d9_expected *e)
{
	const struct d9_field_desc field = { "frames", D9T_STACK };

	d9s_begin(b, &field);
	d9s_expect(e, "length-past-end", d9b_event_delta(b, 2, 1));
	d9b_u32(b, 0x20000000);
	d9s_end(b);
}

static void length_past_end_pool(struct d9_build *b, struct d9_expected *e)
{
	d9s_begin(b, NULL);
	d9s_expect(e, "length-past-end", d9b_strings(b, UINT32_MAX));
	d9b_u32(b, 1);
	d9b_text32(b, "the only one");
}

static void length_past_end_pool_data(struct d9_build *b, struct d9_expected *e)
{
	d9s_begin(b, NULL);
	d9s_expect(e, "length-past-end", d9b_strings(b, 1));
	d9b_u32(b, 1);
	d9b_u32(b, 100);
	d9b_bytes(b, "less", 4);
}

static void length_past_end_schema(struct d9_build *b, struct d9_expected *e)
{
	d9s_begin(b, NULL);
	const size_t at = d9b_schema(b, 2, "Own", true, NULL, 0);
	b->n -= 2;
	d9b_u16(b, 65535);
	d9s_expect(e, "length-past-end", at);
}

const struct d9_bad d9_cut[] = {
	{ "cut-frame-event", 1, cut_frame_event },
	{ "cut-frame-head", 1, cut_frame_head },
	{ "cut-frame-schema", 1, cut_frame_schema },
	{ "cut-frame-header", 1, cut_frame_header },
	{ "cut-frame-reset", 1, cut_frame_reset },
	{ "cut-frame-pool", 1, cut_frame_pool },
	{ "length-past-end-string", 1, length_past_end_string },
	{ "length-past-end-list", 1, length_past_end_list },
	{ "length-past-end-map", 1, length_past_end_map },
	{ "length-past-end-stack", 1, length_past_end_stack },
	{ "length-past-end-pool", 1, length_past_end_pool },
	{ "length-past-end-pool-data", 1, length_past_end_pool_data },
	{ "length-past-end-schema", 1, length_past_end_schema },
	{ NULL, 0, NULL },
};
