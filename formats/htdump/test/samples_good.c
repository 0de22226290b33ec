#include <float.h>
#include <math.h>

#include "htdump/test/samples.h"

#define FIELDS(f) f, sizeof(f) / sizeof((f)[0])

/* The specification's own example. */
static void spec_example(struct ht_build *b)
{
	static const struct ht_field_desc usage[] = {
		{ "string", "thread_name", 0, HT_STRING },
		{ "usage_t", "usage", 4, HT_FLOAT },
		{ "uint32_t", "cpu_num", 4, HT_UNSIGNED },
	};

	ht_prologue(b);
	ht_describe(b, HT_ID_OWN, "CPUUsageEvent", NULL, FIELDS(usage));
	for (uint32_t i = 0; i < 4; i++) {
		ht_event(b, HT_ID_OWN, 5000000 + 1001 * i);
		ht_string(b, i % 2 == 0 ? "main" : "worker");
		ht_f32(b, 12.5f + 0.1f * (float)i);
		ht_u32(b, i);
		ht_span(b, 5000100 + 1001 * i, 250, 1 + i % 2, "draw");
		ht_span(b, 5000000 + 1001 * i, 700, 1 + i % 2, "frame");
	}
}

static void all_types(struct ht_build *b)
{
	static const struct ht_field_desc types[] = {
		{ "int8_t", "i8", 1, HT_INTEGER },       { "int16_t", "i16", 2, HT_INTEGER },
		{ "int32_t", "i32", 4, HT_INTEGER },     { "int64_t", "i64", 8, HT_INTEGER },
		{ "uint8_t", "u8", 1, HT_UNSIGNED },     { "uint16_t", "u16", 2, HT_UNSIGNED },
		{ "uint32_t", "u32", 4, HT_UNSIGNED },   { "uint64_t", "u64", 8, HT_UNSIGNED },
		{ "float", "f32", 4, HT_FLOAT },         { "double", "f64", 8, HT_DOUBLE },
		{ "void*", "p4", 4, HT_POINTER },        { "void*", "p8", 8, HT_POINTER },
		{ "const char*", "text", 8, HT_STRING },
	};

	ht_prologue(b);
	ht_describe(b, HT_ID_OWN, "AllTypes", NULL, FIELDS(types));
	for (unsigned i = 0; i < 3; i++) {
		ht_event(b, HT_ID_OWN, 9000 + i);
		ht_u8(b, (uint8_t)(0xfe + i));
		ht_u16(b, (uint16_t)(0xfffe + i));
		ht_u32(b, 0xfffffffeu + i);
		ht_u64(b, UINT64_MAX - 1 + i);
		ht_u8(b, (uint8_t)(0x7f + i));
		ht_u16(b, (uint16_t)(0x7fff + i));
		ht_u32(b, 0x7fffffffu + i);
		ht_u64(b, (UINT64_C(1) << 53) - 1 + i);
		ht_f32(b, 0.1f * (float)i);
		ht_f64(b, -1.0 / (1 + i));
		ht_u32(b, 0xdeadbeefu + i);
		ht_u64(b, UINT64_C(0x7fff12345678) + i);
		ht_string(b, "text");
	}
}

/* Minimum and maximum values. */
static void max_integers(struct ht_build *b)
{
	static const struct ht_field_desc ends[] = {
		{ "uint64_t", "largest", 8, HT_UNSIGNED }, { "int64_t", "smallest", 8, HT_INTEGER },
		{ "int64_t", "biggest", 8, HT_INTEGER },   { "int64_t", "below_double", 8, HT_INTEGER },
		{ "void*", "all_ones", 8, HT_POINTER },
	};

	ht_prologue(b);
	ht_describe(b, HT_ID_OWN, "Ends", NULL, FIELDS(ends));
	ht_event(b, HT_ID_OWN, UINT64_MAX);
	ht_u64(b, UINT64_MAX);
	ht_u64(b, UINT64_C(1) << 63);
	ht_u64(b, (UINT64_C(1) << 63) - 1);
	ht_u64(b, ~(UINT64_C(1) << 53)); /* -2^53 - 1 */
	ht_u64(b, UINT64_MAX);
	ht_span(b, 0, UINT64_MAX, 1, "all of time");
	ht_span(b, UINT64_MAX, 0, 2, "the last instant");
	ht_span(b, UINT64_MAX - 7, 7, 3, "ends at the end");
}

static void odd_doubles(struct ht_build *b)
{
	static const struct ht_field_desc both[] = {
		{ "double", "d", 8, HT_DOUBLE },
		{ "float", "f", 4, HT_FLOAT },
	};
	static const double values[] = {
		0.0, 1.0, 0.1, 1e21, 1e-7, 123456789.125, DBL_MAX, DBL_MIN, 4.9406564584124654e-324, 1.0 / 3,
	};
	const double special[] = { (double)NAN, (double)INFINITY, -(double)INFINITY, -0.0 };

	ht_prologue(b);
	ht_describe(b, HT_ID_OWN, "Reals", NULL, FIELDS(both));
	for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
		ht_event(b, HT_ID_OWN, 100 + i);
		ht_f64(b, special[i]);
		ht_f32(b, (float)special[i]);
	}
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		ht_event(b, HT_ID_OWN, 200 + i);
		ht_f64(b, -values[i]);
		ht_f32(b, values[i] > 1e30 ? FLT_MAX : (float)values[i]);
	}
}

/* Chains of one, two and five bases, and a struct that is used twice. */
static void inheritance(struct ht_build *b)
{
	static const char *const names[] = { "Level1", "Level2", "Level3", "Level4", "Level5" };
	static const struct ht_field_desc point[] = {
		{ "int32_t", "x", 4, HT_INTEGER },
		{ "int32_t", "y", 4, HT_INTEGER },
	};
	static const struct ht_field_desc holder[] = {
		{ "uint8_t", "before", 1, HT_UNSIGNED },
		{ "Point", "where", 8, HT_STRUCT },
		{ "const char*", "after", 8, HT_STRING },
		{ "Point", "there", 8, HT_STRUCT },
	};

	ht_prologue(b);
	for (uint32_t i = 0; i < 5; i++) {
		const char name[] = { 'f', (char)('1' + i), 0 };
		const struct ht_field_desc own = { "uint16_t", name, 2, HT_UNSIGNED };

		ht_describe(b, HT_ID_OWN + i, names[i], i == 0 ? "HT_CallstackStringEvent" : names[i - 1],
		            &own, 1);
	}
	ht_describe(b, 20, "Point", NULL, FIELDS(point));
	ht_describe(b, 21, "Holder", NULL, FIELDS(holder));
	for (uint32_t i = 0; i < 5; i++) {
		ht_event(b, HT_ID_OWN + i, 7000 + 100 * i);
		ht_u64(b, 50);
		ht_u32(b, 7);
		ht_string(b, names[i]);
		for (uint32_t k = 0; k <= i; k++)
			ht_u16(b, (uint16_t)(1000 * i + k));
	}
	ht_event(b, 21, 8000);
	ht_u8(b, 200);
	ht_u32(b, 0xffffffff);
	ht_u32(b, 12);
	ht_string(b, "behind the point");
	ht_u32(b, 77);
	ht_u32(b, 0x80000000u);
	ht_event(b, 20, 8001);
	ht_u32(b, 3);
	ht_u32(b, 4);
}

/* Integer labels that are named later, when also the class of the mappings is described. */
static void late_mapping(struct ht_build *b)
{
	static const struct ht_field_desc mapping[] = {
		{ "uint64_t", "identifier", 8, HT_UNSIGNED },
		{ "const char*", "label", 8, HT_STRING },
	};
	static const struct ht_field_desc duration[] = {
		{ "uint64_t", "duration", 8, HT_UNSIGNED },
		{ "uint32_t", "thread_id", 4, HT_UNSIGNED },
		{ "uint64_t", "label", 8, HT_UNSIGNED },
	};

	ht_endianness(b);
	ht_describe(b, 40, "OwnSpan", NULL, FIELDS(duration));
	for (uint64_t i = 0; i < 4; i++) {
		ht_event(b, 40, 1000 * i);
		ht_u64(b, 10 + i);
		ht_u32(b, 1);
		ht_u64(b, UINT64_C(0x555500000000) + i % 2);
	}
	ht_describe(b, 41, "HT_StringMappingEvent", NULL, FIELDS(mapping));
	for (uint64_t i = 0; i < 2; i++) {
		ht_event(b, 41, 9000);
		ht_u64(b, UINT64_C(0x555500000000) + i);
		ht_string(b, i == 0 ? "even" : "odd");
	}
}

static void append_again(struct ht_build *b, bool big)
{
	b->big = big;
	b->next_id = 0;
	b->now = 1000;
}

/* Two concatenated files with different byte orders. */
static void concatenated(struct ht_build *b)
{
	spec_example(b);
	append_again(b, true);
	spec_example(b);
}

/* Two programs give the same class id to different classes. */
static void concatenated_other_classes(struct ht_build *b)
{
	static const struct ht_field_desc first[] = { { "uint32_t", "apples", 4, HT_UNSIGNED } };
	static const struct ht_field_desc second[] = {
		{ "const char*", "name", 8, HT_STRING },
		{ "uint8_t", "pears", 1, HT_UNSIGNED },
	};

	ht_prologue(b);
	ht_describe(b, HT_ID_OWN, "First", NULL, FIELDS(first));
	ht_event(b, HT_ID_OWN, 100);
	ht_u32(b, 17);
	append_again(b, b->big);
	ht_prologue(b);
	ht_describe(b, HT_ID_OWN, "Second", NULL, FIELDS(second));
	ht_event(b, HT_ID_OWN, 200);
	ht_string(b, "conference");
	ht_u8(b, 3);
}

static void no_events(struct ht_build *b)
{
	ht_prologue(b);
}

static void only_endianness(struct ht_build *b)
{
	ht_endianness(b);
}

/* Spans of one thread that overlap without nesting, and one that begins where another ends. */
static void overlapping(struct ht_build *b)
{
	ht_prologue(b);
	ht_span(b, 1000, 1000, 1, "first");
	ht_span(b, 1500, 1000, 1, "crosses first");
	ht_span(b, 1600, 1900, 1, "crosses both");
	ht_span(b, 3500, 100, 1, "begins at the end");
	ht_span(b, 1000, 1000, 2, "elsewhere");
	ht_span(b, 5000, 10, 1, "apart");
}

static void strange_labels(struct ht_build *b)
{
	static const char *const labels[] = {
		"d\xc3\xa9j\xc3\xa0 vu",
		"\xe6\xbc\xa2\xe5\xad\x97",
		"\xf0\x9f\x98\x80 outside the first plane",
		"quote \" backslash \\ slash /",
		"line\nfeed\ttab\rreturn\bback\fform",
		"\x01\x02\x1f\x7f",
		"\xe2\x80\xa8 line separator, \xef\xbb\xbf mark, \xef\xbf\xbf last",
		"%s %n {} </script> $(x)",
		" ",
	};
	static const struct ht_field_desc odd[] = {
		{ "const char*", "field \"\\\n", 8, HT_STRING },
		{ "uint8_t", "ts", 1, HT_UNSIGNED },
	};

	ht_prologue(b);
	ht_describe(b, HT_ID_OWN, "Class \"\\\t\xc3\xa9", NULL, FIELDS(odd));
	for (unsigned i = 0; i < sizeof labels / sizeof labels[0]; i++) {
		ht_span(b, 1000 * i, 900, 1, labels[i]);
		ht_event(b, HT_ID_OWN, 1000 * i);
		ht_string(b, labels[i]);
		ht_u8(b, (uint8_t)i);
	}
}

static void empty_labels(struct ht_build *b)
{
	ht_prologue(b);
	ht_mapping(b, 5, "");
	ht_span(b, 10, 2, 1, "");
	ht_span_int(b, 20, 2, 1, 5);
	ht_span(b, 30, 0, 1, "");
}

static void thread_ids(struct ht_build *b)
{
	static const uint32_t threads[] = { 0, 1, UINT32_MAX, UINT32_MAX - 1, 0x80000000u };

	ht_prologue(b);
	for (unsigned i = 0; i < 15; i++)
		ht_span(b, 100 * i, 50, threads[i % 5], "work");
}

/* Parents and children with equal starts, children first; spans without length; and all in descending time.
 */
static void equal_starts(struct ht_build *b)
{
	ht_prologue(b);
	for (unsigned i = 4; i-- > 0;) {
		const uint64_t t = 10000 * (i + 1);

		ht_span(b, t, 0, 1, "nothing");
		ht_span(b, t, 10, 1, "inner");
		ht_span(b, t, 10, 1, "inner twin");
		ht_span(b, t, 500, 1, "outer");
	}
}

/* Descriptions of the four built-in classes between events, some repeated and in another order. */
static void builtins_again(struct ht_build *b)
{
	ht_endianness(b);
	ht_describe_common(b);
	ht_span(b, 100, 1, 1, "before");
	ht_describe_builtins(b);
	ht_span(b, 200, 1, 1, "between");
	ht_describe_builtins(b);
	ht_span(b, 300, 1, 1, "after");
}

/* Alternating descriptions of two classes; a field may even follow the first use of the other class. */
static void interleaved(struct ht_build *b)
{
	const struct ht_field_desc base = { "HT_Event", "base", 24, HT_STRUCT };

	ht_prologue(b);
	ht_class(b, 30, "Left", 2);
	ht_class(b, 31, "Right", 3);
	ht_field(b, 31, base);
	ht_field(b, 30, base);
	ht_field(b, 31, (struct ht_field_desc){ "uint8_t", "r1", 1, HT_UNSIGNED });
	ht_field(b, 30, (struct ht_field_desc){ "int64_t", "l1", 8, HT_INTEGER });
	ht_event(b, 30, 50);
	ht_u64(b, 77);
	ht_field(b, 31, (struct ht_field_desc){ "double", "r2", 8, HT_DOUBLE });
	ht_event(b, 31, 60);
	ht_u8(b, 8);
	ht_f64(b, 0.25);
}

/* The name is `label`, else `name`, else the class.  An instant with a thread id, and a span without one. */
static void naming(struct ht_build *b)
{
	static const struct ht_field_desc named[] = {
		{ "const char*", "name", 8, HT_STRING },
		{ "uint32_t", "thread_id", 4, HT_UNSIGNED },
	};
	static const struct ht_field_desc both[] = {
		{ "const char*", "name", 8, HT_STRING },
		{ "const char*", "label", 8, HT_STRING },
	};
	static const struct ht_field_desc bare[] = { { "uint64_t", "duration", 8, HT_UNSIGNED } };

	ht_prologue(b);
	ht_describe(b, 50, "Named", NULL, FIELDS(named));
	ht_describe(b, 51, "Both", NULL, FIELDS(both));
	ht_describe(b, 52, "BareSpan", NULL, FIELDS(bare));
	ht_describe(b, 53, "Nothing", NULL, NULL, 0);
	ht_event(b, 50, 10);
	ht_string(b, "by name");
	ht_u32(b, 9);
	ht_event(b, 51, 20);
	ht_string(b, "not this");
	ht_string(b, "by label");
	ht_event(b, 52, 30);
	ht_u64(b, 5);
	ht_event(b, 53, 40);
}

/* Also in the document layout the base may be listed, and be counted or not. */
static void base_listed(struct ht_build *b)
{
	b->list_base = true;
	spec_example(b);
}

static void base_counted(struct ht_build *b)
{
	b->list_base = b->count_base = true;
	spec_example(b);
}

const struct ht_good ht_good[] = {
	{ "wire-little", HT_WIRE, false, spec_example, HT_PLAIN },
	{ "wire-big", HT_WIRE, true, spec_example, HT_PLAIN },
	{ "document-little", HT_DOCUMENT, false, spec_example, HT_PLAIN },
	{ "document-big", HT_DOCUMENT, true, spec_example, HT_PLAIN },
	{ "document-base-listed", HT_DOCUMENT, false, base_listed, HT_PLAIN },
	{ "document-base-counted", HT_DOCUMENT, true, base_counted, HT_PLAIN },
	{ "all-types", HT_WIRE, false, all_types, HT_PLAIN },
	{ "all-types-big", HT_WIRE, true, all_types, HT_PLAIN },
	{ "all-types-document", HT_DOCUMENT, false, all_types, HT_PLAIN },
	{ "max-integers", HT_WIRE, false, max_integers, HT_PLAIN },
	{ "odd-doubles", HT_WIRE, false, odd_doubles, HT_PLAIN },
	{ "inheritance", HT_WIRE, false, inheritance, HT_PLAIN },
	{ "inheritance-document", HT_DOCUMENT, true, inheritance, HT_PLAIN },
	{ "late-mapping", HT_WIRE, false, late_mapping, HT_PLAIN },
	{ "concatenated", HT_WIRE, false, concatenated, HT_PLAIN },
	{ "concatenated-other-classes", HT_WIRE, false, concatenated_other_classes, HT_PLAIN },
	{ "no-events", HT_WIRE, false, no_events, HT_PLAIN },
	{ "only-endianness", HT_WIRE, false, only_endianness, HT_PLAIN },
	{ "overlapping", HT_WIRE, false, overlapping, HT_PLAIN },
	{ "strange-labels", HT_WIRE, false, strange_labels, HT_PLAIN },
	{ "empty-labels", HT_WIRE, false, empty_labels, HT_PLAIN },
	{ "thread-ids", HT_WIRE, false, thread_ids, HT_PLAIN },
	{ "equal-starts", HT_WIRE, false, equal_starts, HT_PLAIN },
	{ "builtins-again", HT_WIRE, false, builtins_again, HT_PLAIN },
	{ "interleaved", HT_WIRE, false, interleaved, HT_PLAIN },
	{ "naming", HT_WIRE, false, naming, HT_PLAIN },
	{ "wire-little", HT_WIRE, false, spec_example, HT_GZIP },
	{ "wire-little-members", HT_WIRE, false, spec_example, HT_GZIP_MEMBERS },
	{ "wire-little", HT_WIRE, false, spec_example, HT_ZSTD },
	{ 0 },
};
