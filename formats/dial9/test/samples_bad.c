/*
 * Bad samples.  Features of 0.4 occur only where they are the subject, so that the others are checked
 * alike in both dialects.  Where a frame ends reading, more bytes follow if that matters.
 */
#include <string.h>

#include "dial9/test/samples.h"

static const struct d9_field_desc number[] = { { "value", D9T_VARINT } };
static const struct d9_field_desc text[] = { { "text", D9T_STRING } };
static const struct d9_field_desc pooled[] = { { "text", D9T_POOLED_STRING } };
static const struct d9_field_desc list[] = { { "list", D9T_LIST } };
static const struct d9_field_desc stack[] = { { "stack", D9T_POOLED_STACK } };

void d9s_expect(struct d9_expected *e, const char *rule, uint64_t offset)
{
	if (e->n < D9_MAX_EXPECTED) {
		e->row[e->n].rule = rule;
		e->row[e->n++].offset = offset;
	}
}

/* A header, a whole event of schema 1, and schema 2 with this field (NULL: without); and another event at the
 * end. */
static void begin_sample(struct d9_build *b, const struct d9_field_desc *field)
{
	d9b_header(b);
	d9b_schema(b, 1, "Number", true, number, 1);
	d9b_event(b, 1, 1000);
	d9b_varint(b, 7);
	if (field != NULL)
		d9b_schema(b, 2, "Own", true, field, 1);
}

static void end_sample(struct d9_build *b)
{
	d9b_event(b, 1, b->base + 10);
	d9b_varint(b, 8);
}

static void bad_version(struct d9_build *b, struct d9_expected *e)
{
	d9b_bytes(b, "TRC\0\2", 5);
	d9b_schema(b, 1, "Number", true, number, 1);
	d9s_expect(e, "bad-version", 4);
}

static void bad_version_later(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9s_expect(e, "bad-version", b->n + 4);
	d9b_bytes(b, "TRC\0\0", 5);
}

static void unknown_tag(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9s_expect(e, "unknown-tag", b->n);
	d9b_u8(b, 7);
	end_sample(b);
}

static void unknown_tag_zero(struct d9_build *b, struct d9_expected *e)
{
	d9b_header(b);
	d9s_expect(e, "unknown-tag", b->n);
	d9b_u8(b, 0);
}

/* The first letter of a header, but no header. */
static void unknown_tag_magic(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9s_expect(e, "unknown-tag", b->n);
	d9b_bytes(b, "TRUE\1", 5);
}

static void event_before_schema(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9s_expect(e, "event-before-schema", d9b_event_delta(b, 3, 0));
	d9b_varint(b, 1);
	d9b_schema(b, 3, "Late", true, number, 1);
}

/* Schemas end with their segment. */
static void event_before_schema_segment(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9b_header(b);
	d9s_expect(e, "event-before-schema", d9b_event_delta(b, 1, 0));
	d9b_varint(b, 1);
}

static void schema_redefined(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9s_expect(e, "schema-redefined", d9b_schema(b, 1, "Number", true, text, 1));
	d9b_event(b, 1, 2000);
	d9b_text32(b, "read by the later schema");
	d9s_expect(e, "schema-redefined", d9b_schema(b, 1, "Number", false, text, 1));
	d9s_expect(e, "schema-redefined", d9b_schema(b, 1, "Other", true, number, 1));
	end_sample(b);
}

static void unknown_field_type(struct d9_build *b, struct d9_expected *e)
{
	const struct d9_field_desc fields[] = { { "fine", D9T_U8 }, { "strange", 16 } };

	begin_sample(b, NULL);
	d9b_schema(b, 5, "Strange", true, fields, 2);
	d9s_expect(e, "unknown-field-type", b->n - 1);
	end_sample(b);
}

static void unknown_field_type_used(struct d9_build *b, struct d9_expected *e)
{
	const struct d9_field_desc field = { "zero", 0 };

	begin_sample(b, NULL);
	d9b_schema(b, 5, "Strange", true, &field, 1);
	d9s_expect(e, "unknown-field-type", b->n - 1);
	end_sample(b);
	d9s_expect(e, "unknown-field-type", d9b_event_delta(b, 5, 1));
	d9b_bytes(b, "???", 3);
}

static void optional_unknown_type(struct d9_build *b, struct d9_expected *e)
{
	const struct d9_field_desc field = { "strange", 16 | D9T_OPTIONAL };

	begin_sample(b, NULL);
	d9b_schema(b, 5, "Strange", true, &field, 1);
	d9s_expect(e, "optional-unknown-type", b->n - 1);
	end_sample(b);
	d9s_expect(e, "optional-unknown-type", d9b_event_delta(b, 5, 1));
	d9b_bytes(b, "\0", 1);
}

static void has_timestamp(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	const size_t at = d9b_schema(b, 5, "Strange", true, number, 1);
	b->p[at + 5 + 7] = 2;
	d9s_expect(e, "has-timestamp", at + 5 + 7);
	end_sample(b);
	d9s_expect(e, "has-timestamp", d9b_event_delta(b, 5, 1));
	d9b_varint(b, 1);
}

static void duplicate_field(struct d9_build *b, struct d9_expected *e)
{
	const struct d9_field_desc fields[] = {
		{ "x", D9T_U8 }, { "x", D9T_U8 }, { "x (2)", D9T_U8 }, { "x", D9T_U8 }
	};

	begin_sample(b, NULL);
	const size_t at = d9b_schema(b, 5, "Twice", true, fields, 4);
	for (int i = 0; i < 3; i++)
		d9s_expect(e, "duplicate-field", at);
	d9b_event(b, 5, 2000);
	d9b_bytes(b, "\1\2\3\4", 4);
}

static void unknown_element_type(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9b_schema(b, 2, "Own", true, list, 1);
	d9b_event_delta(b, 2, 1);
	d9b_bytes(b, "\2\0\0\0\x0b\1", 6);
	d9s_expect(e, "unknown-element-type", b->n);
	d9b_bytes(b, "\x10\1\1\1", 4);
}

/* The optional bit has no meaning before an element. */
static void unknown_element_type_optional(struct d9_build *b, struct d9_expected *e)
{
	const struct d9_field_desc map = { "map", D9T_MAP };

	begin_sample(b, NULL);
	d9b_schema(b, 2, "Own", true, &map, 1);
	d9b_event_delta(b, 2, 1);
	d9b_bytes(b, "\1\0\0\0\x0b\1", 6);
	d9s_expect(e, "unknown-element-type", b->n);
	d9b_bytes(b, "\x8b\1\1", 3);
}

static void nesting(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9b_schema(b, 2, "Own", true, list, 1);
	d9b_event_delta(b, 2, 1);
	for (int i = 0; i < 64; i++)
		d9b_bytes(b, "\1\0\0\0\x0e", 5);
	d9s_expect(e, "nesting", b->n);
	d9b_u32(b, 0);
}

static void presence_byte(struct d9_build *b, struct d9_expected *e)
{
	const struct d9_field_desc field = { "maybe", D9T_U8 | D9T_OPTIONAL };

	begin_sample(b, &field);
	d9b_event_delta(b, 2, 1);
	d9s_expect(e, "presence-byte", b->n);
	d9b_bytes(b, "\2\1", 2);
	end_sample(b);
}

static void leb128_too_long(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, number);
	d9b_event_delta(b, 2, 1);
	d9s_expect(e, "leb128-too-long", b->n);
	d9b_bytes(b, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11);
}

static void leb128_too_long_annotation(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9b_u8(b, 6);
	d9s_expect(e, "leb128-too-long", b->n);
	d9b_bytes(b, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11);
}

static void leb128_overflow(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, number);
	d9b_event_delta(b, 2, 1);
	d9s_expect(e, "leb128-overflow", b->n);
	d9b_bytes(b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
	end_sample(b);
}

static void bool_value(struct d9_build *b, struct d9_expected *e)
{
	const struct d9_field_desc field = { "flag", D9T_BOOL };

	begin_sample(b, &field);
	d9b_event_delta(b, 2, 1);
	d9b_u8(b, 1);
	d9s_expect(e, "bool-value", d9b_event_delta(b, 2, 1));
	d9b_u8(b, 2);
	d9b_event_delta(b, 2, 1);
	d9b_u8(b, 255);
}

/* Each position of text. */
static void invalid_utf8(struct d9_build *b, struct d9_expected *e)
{
	const struct d9_field_desc fields[] = { { "\xff field", D9T_STRING }, { "map", D9T_STRING_MAP } };

	d9b_header(b);
	const size_t schema = d9b_schema(b, 1, "\xc3(", true, fields, 2);
	d9s_expect(e, "invalid-utf8", schema + 5);
	d9s_expect(e, "invalid-utf8", schema + 5 + 2 + 3 + 2);
	d9b_event_delta(b, 1, 1);
	d9b_text32(b, "\xed\xa0\x80");
	d9s_expect(e, "invalid-utf8", b->n - 3);
	d9b_u32(b, 1);
	d9b_text32(b, "\x80");
	d9s_expect(e, "invalid-utf8", b->n - 1);
	d9b_text32(b, "\xf8");
	d9s_expect(e, "invalid-utf8", b->n - 1);
	d9b_string(b, 1, "cut \xc3");
	d9s_expect(e, "invalid-utf8", b->n - 5);
}

static void undefined_string(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, pooled);
	d9b_string(b, 1, "another");
	const size_t at = d9b_event_delta(b, 2, 1);
	d9b_u32(b, 0);
	const size_t second = d9b_event_delta(b, 2, 1);
	d9b_u32(b, UINT32_MAX);
	d9b_event_delta(b, 2, 1);
	d9b_u32(b, 0);
	d9s_expect(e, "undefined-string", at);
	d9s_expect(e, "undefined-string", second);
}

/* Pools end with their segment, and do not define for an earlier one. */
static void undefined_string_segment(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, pooled);
	const size_t at = d9b_event_delta(b, 2, 1);
	d9b_u32(b, 0);
	d9b_header(b);
	d9b_string(b, 0, "too late");
	d9s_expect(e, "undefined-string", at);
}

static void undefined_stack(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9b_schema(b, 2, "Own", true, stack, 1);
	d9b_string(b, 3, "a string is no stack");
	d9s_expect(e, "undefined-stack", d9b_event_delta(b, 2, 1));
	d9b_u32(b, 3);
	end_sample(b);
}

static void late_definition(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, pooled);
	d9b_event_delta(b, 2, 1);
	d9b_u32(b, 0);
	d9s_expect(e, "late-definition", d9b_string(b, 0, "late"));
	d9b_event_delta(b, 2, 1);
	d9b_u32(b, 0);
}

static void pool_redefined(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, pooled);
	d9b_string(b, 0, "one");
	d9b_string(b, 0, "one");
	d9s_expect(e, "pool-redefined", d9b_string(b, 0, "two"));
	d9b_event_delta(b, 2, 1);
	d9b_u32(b, 0);
	d9b_string(b, 0, "three");
}

static void time_overflow(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9b_reset(b, UINT64_MAX - 5);
	const size_t at = d9b_event_delta(b, 1, 6);
	d9b_varint(b, 1);
	d9s_expect(e, "time-overflow", at + 3);
	d9s_expect(e, "time-overflow", d9b_event_delta(b, 1, 1) + 3);
	d9b_varint(b, 1);
}

/* ---- features of 0.4 ---- */

static void annotation_field(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	const size_t at = d9b_annotation(b, 1, 1, "metrique.unit", "ms");
	d9s_expect(e, "annotation-field", at);
}

static void annotation_schema(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	const size_t at = d9b_annotation(b, 70000, 0, "metrique.unit", "ms");
	d9s_expect(e, "annotation-schema", at);
}

static void clock_changed(struct d9_build *b, struct d9_expected *e)
{
	const struct d9_field_desc field = { "realtime_ns", D9T_VARINT };

	d9b_header(b);
	d9b_schema(b, 0, "ClockSyncEvent", true, &field, 1);
	d9b_event(b, 0, 1000);
	d9b_varint(b, 1779308082928415749);
	d9b_event(b, 0, 2000);
	d9b_varint(b, 1779308082928416849);
	d9s_expect(e, "clock-changed", d9b_event(b, 0, 3000));
	d9b_varint(b, 1779308084928417749);
}

static void metadata_changed(struct d9_build *b, struct d9_expected *e)
{
	const struct d9_field_desc field = { "entries", D9T_STRING_MAP };

	d9b_header(b);
	d9b_schema(b, 0, "SegmentMetadataEvent", true, &field, 1);
	for (unsigned i = 0; i < 3; i++) {
		const size_t at = d9b_event(b, 0, 1000);
		if (i == 2)
			d9s_expect(e, "metadata-changed", at);
		d9b_u32(b, 1);
		d9b_text32(b, "service");
		d9b_text32(b, i < 2 ? "one" : "another");
	}
}

/* One entry above the limit. */
static void metadata_limit(struct d9_build *b, struct d9_expected *e)
{
	const struct d9_field_desc field = { "entries", D9T_STRING_MAP };

	d9b_header(b);
	d9b_schema(b, 0, "SegmentMetadataEvent", true, &field, 1);
	d9s_expect(e, "metadata-limit", d9b_event(b, 0, 1000));
	d9b_u32(b, 65);
	for (char i = 0; i < 65; i++) {
		d9b_text32(b, (const char[]){ 'n', (char)('0' + i), '\0' });
		d9b_text32(b, "value");
	}
}

static void older_format(struct d9_build *b, struct d9_expected *e)
{
	d9s_expect(e, "older-format", 0);
	d9b_bytes(b, "TOKIOTRC\6\0\0\0", 12);
}

const struct d9_bad d9_bad[] = {
	{ "bad-version", 1, bad_version },
	{ "bad-version-later", 1, bad_version_later },
	{ "unknown-tag", 1, unknown_tag },
	{ "unknown-tag-zero", 1, unknown_tag_zero },
	{ "unknown-tag-magic", 1, unknown_tag_magic },
	{ "event-before-schema", 1, event_before_schema },
	{ "event-before-schema-segment", 1, event_before_schema_segment },
	{ "schema-redefined", 1, schema_redefined },
	{ "unknown-field-type", 1, unknown_field_type },
	{ "unknown-field-type-used", 1, unknown_field_type_used },
	{ "optional-unknown-type", 1, optional_unknown_type },
	{ "has-timestamp", 1, has_timestamp },
	{ "duplicate-field", 0, duplicate_field },
	{ "unknown-element-type", 1, unknown_element_type },
	{ "unknown-element-type-optional", 1, unknown_element_type_optional },
	{ "nesting", 1, nesting },
	{ "presence-byte", 1, presence_byte },
	{ "leb128-too-long", 1, leb128_too_long },
	{ "leb128-too-long-annotation", 1, leb128_too_long_annotation },
	{ "leb128-overflow", 1, leb128_overflow },
	{ "bool-value", 0, bool_value },
	{ "invalid-utf8", 1, invalid_utf8 },
	{ "undefined-string", 0, undefined_string },
	{ "undefined-string-segment", 0, undefined_string_segment },
	{ "undefined-stack", 1, undefined_stack },
	{ "late-definition", 0, late_definition },
	{ "pool-redefined", 0, pool_redefined },
	{ "time-overflow", 1, time_overflow },
	{ "annotation-field", 0, annotation_field },
	{ "annotation-schema", 0, annotation_schema },
	{ "clock-changed", 0, clock_changed },
	{ "metadata-changed", 0, metadata_changed },
	{ "metadata-limit", 0, metadata_limit },
	{ "older-format", 1, older_format },
	{ NULL, 0, NULL },
};

/* ---- samples that end too early, by a cut or by a count ---- */

static void cut_frame_event(struct d9_build *b, struct d9_expected *e)
{
	const struct d9_field_desc field = { "number", D9T_U32 };

	begin_sample(b, &field);
	d9s_expect(e, "cut-frame", d9b_event_delta(b, 2, 1));
	d9b_bytes(b, "\1\2", 2);
}

static void cut_frame_head(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9s_expect(e, "cut-frame", b->n);
	d9b_bytes(b, "\2\1", 2);
}

static void cut_frame_schema(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9s_expect(e, "cut-frame", d9b_schema(b, 2, "Own", true, number, 1));
	b->n--;
}

static void cut_frame_header(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9s_expect(e, "cut-frame", b->n);
	d9b_bytes(b, "TRC", 3);
}

static void cut_frame_reset(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9s_expect(e, "cut-frame", d9b_reset(b, 1));
	b->n -= 3;
}

static void cut_frame_pool(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9s_expect(e, "cut-frame", d9b_strings(b, 2));
	d9b_u32(b, 1);
	d9b_text32(b, "whole");
	d9b_u32(b, 2);
	d9b_u16(b, 3);
}

static void length_past_end_string(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, text);
	d9s_expect(e, "length-past-end", d9b_event_delta(b, 2, 1));
	d9b_u32(b, UINT32_MAX);
	d9b_bytes(b, "short", 5);
}

static void length_past_end_list(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9b_schema(b, 2, "Own", true, list, 1);
	d9s_expect(e, "length-past-end", d9b_event_delta(b, 2, 1));
	d9b_u32(b, 0x80000000);
	d9b_bytes(b, "\x0b\1", 2);
}

static void length_past_end_map(struct d9_build *b, struct d9_expected *e)
{
	const struct d9_field_desc field = { "map", D9T_STRING_MAP };

	begin_sample(b, &field);
	d9s_expect(e, "length-past-end", d9b_event_delta(b, 2, 1));
	d9b_u32(b, 0x20000000); /* times the 8 bytes of a pair this is 0 in 32 bits */
}

static void length_past_end_stack(struct d9_build *b, struct d9_expected *e)
{
	const struct d9_field_desc field = { "frames", D9T_STACK };

	begin_sample(b, &field);
	d9s_expect(e, "length-past-end", d9b_event_delta(b, 2, 1));
	d9b_u32(b, 0x20000000);
	end_sample(b);
}

static void length_past_end_pool(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9s_expect(e, "length-past-end", d9b_strings(b, UINT32_MAX));
	d9b_u32(b, 1);
	d9b_text32(b, "the only one");
}

static void length_past_end_pool_data(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
	d9s_expect(e, "length-past-end", d9b_strings(b, 1));
	d9b_u32(b, 1);
	d9b_u32(b, 100);
	d9b_bytes(b, "less", 4);
}

static void length_past_end_schema(struct d9_build *b, struct d9_expected *e)
{
	begin_sample(b, NULL);
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
