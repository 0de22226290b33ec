/*
 * Samples that provoke one rule each.  Event ids are unique and ascend unless the sample is about them. Where
 * a record ends the reading, more bytes follow if that matters.
 */
#include "htdump/test/samples.h"

#include <string.h>

static const struct ht_field_desc plain_base = { "HT_Event", "base", 24, HT_STRUCT };
static const struct ht_field_desc value = { "uint32_t", "value", 4, HT_UNSIGNED };

static void expect(struct ht_expected *e, const char *rule, uint64_t offset)
{
	if (e->n < HT_MAX_EXPECTED) {
		e->row[e->n].rule = rule;
		e->row[e->n++].offset = offset;
	}
}

static void own_class(struct ht_build *b)
{
	ht_prologue(b);
	ht_describe(b, HT_ID_OWN, "Own", NULL, &value, 1);
}

static void own_event(struct ht_build *b, uint64_t ts)
{
	ht_event(b, HT_ID_OWN, ts);
	ht_u32(b, 5);
}

static void no_byte_order(struct ht_build *b, struct ht_expected *e)
{
	ht_describe_common(b);
	ht_span(b, 100, 5, 1, "work");
	expect(e, "no-byte-order", 0);
}

static void bad_byte_order(struct ht_build *b, struct ht_expected *e)
{
	expect(e, "bad-byte-order", 20);
	ht_prologue(b);
	b->p[20] = 2;
	ht_span(b, 100, 5, 1, "work");
}

static void unknown_class(struct ht_build *b, struct ht_expected *e)
{
	own_class(b);
	own_event(b, 10);
	expect(e, "unknown-class", ht_event(b, 77, 20));
	own_event(b, 30);
	ht_span(b, 100, 5, 1, "never seen");
}

static void class_after_use(struct ht_build *b, struct ht_expected *e)
{
	own_class(b);
	own_event(b, 10);
	expect(e, "class-after-use", ht_class(b, HT_ID_OWN, "Own", 2));
}

static void field_after_use(struct ht_build *b, struct ht_expected *e)
{
	own_class(b);
	own_event(b, 10);
	expect(e, "class-after-use",
	       ht_field(b, HT_ID_OWN, (struct ht_field_desc){ "uint8_t", "late", 1, HT_UNSIGNED }));
}

static void redefined_name(struct ht_build *b, struct ht_expected *e)
{
	own_class(b);
	expect(e, "class-redefined", ht_class(b, HT_ID_OWN, "Other", 2));
}

static void redefined_count(struct ht_build *b, struct ht_expected *e)
{
	own_class(b);
	expect(e, "class-redefined", ht_class(b, HT_ID_OWN, "Own", 3));
}

static void redefined_field(struct ht_build *b, struct ht_expected *e)
{
	own_class(b);
	ht_class(b, HT_ID_OWN, "Own", 2);
	ht_field(b, HT_ID_OWN, plain_base);
	expect(e, "class-redefined",
	       ht_field(b, HT_ID_OWN, (struct ht_field_desc){ "uint64_t", "value", 8, HT_UNSIGNED }));
}

static void too_few_fields(struct ht_build *b, struct ht_expected *e)
{
	ht_prologue(b);
	ht_class(b, HT_ID_OWN, "Own", 3);
	if (b->layout == HT_WIRE)
		ht_field(b, HT_ID_OWN, plain_base);
	ht_field(b, HT_ID_OWN, value);
	expect(e, "field-count", b->n);
	own_event(b, 10);
	own_event(b, 20);
}

static void too_many_fields(struct ht_build *b, struct ht_expected *e)
{
	ht_prologue(b);
	ht_class(b, HT_ID_OWN, "Own", 1);
	ht_field(b, HT_ID_OWN, plain_base);
	ht_field(b, HT_ID_OWN, value);
	expect(e, "field-count", b->n);
	own_event(b, 10);
	own_event(b, 20);
}

/* The class is not used, so only its description can be wrong. */
static void field_type(struct ht_build *b, struct ht_expected *e)
{
	ht_prologue(b);
	ht_class(b, HT_ID_OWN, "Own", b->layout == HT_WIRE ? 2 : 1);
	if (b->layout == HT_WIRE)
		ht_field(b, HT_ID_OWN, plain_base);
	expect(e, "field-type", ht_field_raw(b, HT_ID_OWN, value, 7));
	ht_span(b, 100, 5, 1, "work");
}

static void field_size(struct ht_build *b, struct ht_expected *e)
{
	static const struct ht_field_desc sizes[] = {
		{ "int24_t", "three", 3, HT_INTEGER },
		{ "uint64_t", "none", 0, HT_UNSIGNED },
		{ "float", "wide", 8, HT_FLOAT },
		{ "double", "narrow", 2, HT_DOUBLE },
		{ "void*", "short", 2, HT_POINTER },
		{ "uint128_t", "huge", UINT64_C(1) << 40, HT_UNSIGNED },
	};
	const size_t n = sizeof sizes / sizeof sizes[0];

	ht_prologue(b);
	ht_class(b, HT_ID_OWN, "Own", (unsigned)n + 1);
	ht_field(b, HT_ID_OWN, plain_base);
	for (size_t i = 0; i < n; i++)
		expect(e, "field-size", ht_field(b, HT_ID_OWN, sizes[i]));
	ht_span(b, 100, 5, 1, "work");
}

/* A float as HawkTracer 0.11 describes it. */
static void float_as_double(struct ht_build *b, struct ht_expected *e)
{
	ht_prologue(b);
	ht_class(b, HT_ID_OWN, "Own", 3);
	ht_field(b, HT_ID_OWN, plain_base);
	expect(e, "float-as-double",
	       ht_field(b, HT_ID_OWN, (struct ht_field_desc){ "float", "x", 4, HT_DOUBLE }));
	ht_field(b, HT_ID_OWN, (struct ht_field_desc){ "uint32_t", "n", 4, HT_UNSIGNED });
	ht_event(b, HT_ID_OWN, 10);
	ht_f32(b, 1.5f);
	ht_u32(b, 7);
	ht_span(b, 100, 5, 1, "work");
}

static void struct_unknown(struct ht_build *b, struct ht_expected *e)
{
	const struct ht_field_desc nowhere = { "Nowhere", "inner", 8, HT_STRUCT };

	ht_prologue(b);
	ht_describe(b, HT_ID_OWN, "Own", NULL, &nowhere, 1);
	expect(e, "struct-unknown", ht_event(b, HT_ID_OWN, 10));
	ht_u64(b, 1);
}

static void base_unknown(struct ht_build *b, struct ht_expected *e)
{
	ht_prologue(b);
	ht_describe(b, HT_ID_OWN, "Own", "Nowhere", &value, 1);
	expect(e, "struct-unknown", ht_event(b, HT_ID_OWN, 10));
	ht_u64(b, 1);
}

static void nested_unknown(struct ht_build *b, struct ht_expected *e)
{
	const struct ht_field_desc outer = { "Middle", "middle", 8, HT_STRUCT };
	const struct ht_field_desc middle = { "Nowhere", "inner", 8, HT_STRUCT };

	ht_prologue(b);
	ht_describe(b, 30, "Middle", NULL, &middle, 1);
	ht_describe(b, HT_ID_OWN, "Own", NULL, &outer, 1);
	expect(e, "struct-unknown", ht_event(b, HT_ID_OWN, 10));
	ht_u64(b, 1);
}

static void own_base(struct ht_build *b, struct ht_expected *e)
{
	ht_prologue(b);
	ht_describe(b, HT_ID_OWN, "Own", "Own", &value, 1);
	expect(e, "struct-recursion", ht_event(b, HT_ID_OWN, 10));
	ht_u32(b, 1);
}

static void recursion(struct ht_build *b, struct ht_expected *e)
{
	const struct ht_field_desc to_b = { "B", "b", 8, HT_STRUCT };
	const struct ht_field_desc to_c = { "C", "c", 8, HT_STRUCT };
	const struct ht_field_desc to_a = { "A", "a", 8, HT_STRUCT };

	ht_prologue(b);
	ht_describe(b, 30, "A", NULL, &to_b, 1);
	ht_describe(b, 31, "B", NULL, &to_c, 1);
	ht_describe(b, 32, "C", NULL, &to_a, 1);
	expect(e, "struct-recursion", ht_event(b, 30, 10));
	ht_u32(b, 1);
}

static void field_without_class(struct ht_build *b, struct ht_expected *e)
{
	ht_prologue(b);
	expect(e, "field-without-class", ht_field(b, 50, value));
	ht_span(b, 100, 5, 1, "work");
}

static void string_unterminated(struct ht_build *b, struct ht_expected *e)
{
	ht_prologue(b);
	ht_span(b, 100, 5, 1, "work");
	expect(e, "string-unterminated", ht_span(b, 200, 5, 1, "no end"));
	b->n--;
}

static void class_name_unterminated(struct ht_build *b, struct ht_expected *e)
{
	ht_prologue(b);
	expect(e, "string-unterminated", ht_class(b, HT_ID_OWN, "Own", 1));
	b->n -= 2;
}

/* The NUL exists, but after more bytes than the limit. */
static void string_too_long(struct ht_build *b, struct ht_expected *e)
{
	char text[4096];

	memset(text, 'a', sizeof text);
	ht_prologue(b);
	expect(e, "string-unterminated", ht_event(b, HT_ID_SPAN, 100));
	ht_u64(b, 5);
	ht_u32(b, 1);
	for (size_t i = 0; i < (16u << 20) / sizeof text + 1; i++)
		ht_bytes(b, text, sizeof text);
	ht_u8(b, 0);
	ht_span(b, 200, 5, 1, "never seen");
}

static void cut_in_head(struct ht_build *b, struct ht_expected *e)
{
	own_class(b);
	own_event(b, 10);
	expect(e, "cut-record", ht_event(b, HT_ID_OWN, 20));
	b->n -= 9;
}

static void cut_in_field(struct ht_build *b, struct ht_expected *e)
{
	own_class(b);
	own_event(b, 10);
	expect(e, "cut-record", b->n);
	own_event(b, 20);
	b->n -= 3;
}

static void cut_before_fields(struct ht_build *b, struct ht_expected *e)
{
	own_class(b);
	expect(e, "cut-record", ht_event(b, HT_ID_OWN, 20));
}

static void cut_in_description(struct ht_build *b, struct ht_expected *e)
{
	ht_prologue(b);
	ht_class(b, HT_ID_OWN, "Own", 2);
	expect(e, "cut-record", ht_field(b, HT_ID_OWN, plain_base));
	b->n -= 4;
}

static void invalid_utf8(struct ht_build *b, struct ht_expected *e)
{
	static const char *const labels[] = { "caf\xe9", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
		                              "cut \xe2\x82" };

	ht_prologue(b);
	for (unsigned i = 0; i < sizeof labels / sizeof labels[0]; i++) {
		expect(e, "invalid-utf8", ht_span(b, 100 * i, 5, 1, labels[i]));
		ht_span(b, 100 * i + 50, 5, 1, "fine");
	}
}

static void invalid_utf8_class(struct ht_build *b, struct ht_expected *e)
{
	ht_prologue(b);
	expect(e, "invalid-utf8", ht_class(b, HT_ID_OWN, "Own\xff", 2));
	ht_field(b, HT_ID_OWN, plain_base);
	ht_field(b, HT_ID_OWN, value);
}

static void id_repeated(struct ht_build *b, struct ht_expected *e)
{
	own_class(b);
	own_event(b, 10);
	b->next_id--;
	expect(e, "id-repeated", b->n);
	own_event(b, 20);
	own_event(b, 30);
}

static void duration_overflow(struct ht_build *b, struct ht_expected *e)
{
	ht_prologue(b);
	ht_span(b, UINT64_MAX - 10, 10, 1, "just fits");
	expect(e, "duration-overflow", ht_span(b, UINT64_MAX - 10, 11, 1, "too long"));
	ht_span(b, 100, 10, 2, "fine");
}

static void mapping_changed(struct ht_build *b, struct ht_expected *e)
{
	ht_prologue(b);
	ht_mapping(b, 1, "one");
	ht_mapping(b, 2, "two");
	ht_mapping(b, 1, "one");
	expect(e, "mapping-changed", ht_mapping(b, 2, "zwei"));
	ht_span_int(b, 100, 10, 2, 1);
}

static void label_unresolved(struct ht_build *b, struct ht_expected *e)
{
	ht_prologue(b);
	ht_mapping(b, 1, "one");
	ht_span_int(b, 100, 5, 1, 1);
	expect(e, "label-unresolved", b->n);
	ht_span_int(b, 200, 5, 1, UINT64_MAX);
	ht_span_int(b, 300, 5, 1, 0);
}

static void no_base(struct ht_build *b, struct ht_expected *e)
{
	ht_prologue(b);
	ht_class(b, HT_ID_OWN, "Own", 1);
	ht_field(b, HT_ID_OWN, value);
	expect(e, "no-base", b->n);
	own_event(b, 10);
	own_event(b, 20);
}

const struct ht_bad ht_bad[] = {
	{ "no-byte-order", HT_WIRE, false, 0, no_byte_order, HT_PLAIN },
	{ "bad-byte-order", HT_WIRE, false, 1, bad_byte_order, HT_PLAIN },
	{ "unknown-class", HT_WIRE, false, 1, unknown_class, HT_PLAIN },
	{ "unknown-class-document", HT_DOCUMENT, true, 1, unknown_class, HT_PLAIN },
	{ "class-after-use", HT_WIRE, false, 1, class_after_use, HT_PLAIN },
	{ "class-after-use-field", HT_WIRE, true, 1, field_after_use, HT_PLAIN },
	{ "class-redefined", HT_WIRE, false, 1, redefined_name, HT_PLAIN },
	{ "class-redefined-count", HT_WIRE, false, 1, redefined_count, HT_PLAIN },
	{ "class-redefined-field", HT_WIRE, false, 1, redefined_field, HT_PLAIN },
	{ "field-count", HT_WIRE, false, 1, too_few_fields, HT_PLAIN },
	{ "field-count-too-many", HT_WIRE, false, 1, too_many_fields, HT_PLAIN },
	{ "field-count-document", HT_DOCUMENT, false, 1, too_few_fields, HT_PLAIN },
	{ "field-type", HT_WIRE, false, 1, field_type, HT_PLAIN },
	{ "field-type-document", HT_DOCUMENT, false, 1, field_type, HT_PLAIN },
	{ "field-size", HT_WIRE, false, 1, field_size, HT_PLAIN },
	{ "float-as-double", HT_WIRE, false, 0, float_as_double, HT_PLAIN },
	{ "float-as-double-big", HT_WIRE, true, 0, float_as_double, HT_PLAIN },
	{ "struct-unknown", HT_WIRE, false, 1, struct_unknown, HT_PLAIN },
	{ "struct-unknown-base", HT_WIRE, false, 1, base_unknown, HT_PLAIN },
	{ "struct-unknown-nested", HT_WIRE, true, 1, nested_unknown, HT_PLAIN },
	{ "struct-recursion", HT_WIRE, false, 1, recursion, HT_PLAIN },
	{ "struct-recursion-base", HT_WIRE, false, 1, own_base, HT_PLAIN },
	{ "field-without-class", HT_WIRE, false, 1, field_without_class, HT_PLAIN },
	{ "string-unterminated", HT_WIRE, false, 1, string_unterminated, HT_PLAIN },
	{ "string-unterminated-class", HT_WIRE, false, 1, class_name_unterminated, HT_PLAIN },
	{ "string-unterminated-long", HT_WIRE, false, 1, string_too_long, HT_ZSTD },
	{ "cut-record-head", HT_WIRE, false, 1, cut_in_head, HT_PLAIN },
	{ "cut-record", HT_WIRE, false, 1, cut_in_field, HT_PLAIN },
	{ "cut-record-after-head", HT_WIRE, false, 1, cut_before_fields, HT_PLAIN },
	{ "cut-record-description", HT_DOCUMENT, false, 1, cut_in_description, HT_PLAIN },
	{ "invalid-utf8", HT_WIRE, false, 0, invalid_utf8, HT_PLAIN },
	{ "invalid-utf8-class", HT_WIRE, false, 0, invalid_utf8_class, HT_PLAIN },
	{ "id-repeated", HT_WIRE, false, 0, id_repeated, HT_PLAIN },
	{ "duration-overflow", HT_WIRE, false, 1, duration_overflow, HT_PLAIN },
	{ "mapping-changed", HT_WIRE, false, 0, mapping_changed, HT_PLAIN },
	{ "label-unresolved", HT_WIRE, false, 0, label_unresolved, HT_PLAIN },
	{ "no-base", HT_WIRE, false, 0, no_base, HT_PLAIN },
	{ 0 },
};
