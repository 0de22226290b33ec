/* Valid samples.  Each covers a feature of the format, or a value at a limit. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "heph/test/samples.h"

static void spec_example(struct heph_build *b)
{
	heph_spec_epoch(b);
	heph_spec_event(b);
}

/* "a trace without any metadata packets is valid" */
static void no_metadata(struct heph_build *b)
{
	heph_spec_event(b);
	heph_plain(b, 1, 300, 400);
}

static void no_events(struct heph_build *b)
{
	heph_spec_epoch(b);
}

static void epoch_late(struct heph_build *b)
{
	heph_plain(b, 1, 100, 200);
	heph_plain(b, 2, 50, 90);
	heph_spec_epoch(b);
	heph_plain(b, 1, 300, 301);
	heph_spec_epoch(b); /* again, but the same */
}

/* The smallest packets. */
static void smallest(struct heph_build *b)
{
	heph_spec_epoch(b);
	heph_event(b, 1, 0, 0, 0, "");
	heph_event(b, 1, 0, 0, 0, "");
	heph_event(b, 2, 0, 1, 2, "");
	heph_attribute(b, "", 4); /* the smallest attribute */
	heph_string(b, "");
	heph_end(b);
}

static void all_types(struct heph_build *b)
{
	heph_spec_epoch(b);
	for (unsigned i = 0; i < 3; i++) {
		heph_event(b, 3, 7, 1000 + 10 * i, 1005 + 10 * i, "all types");
		heph_unsigned(b, "unsigned", i);
		heph_signed(b, "signed", -(int64_t)i);
		heph_float(b, "float", 0.5 * i);
		heph_text_value(b, "string", i == 0 ? "" : "some text");
		for (uint8_t type = 0x81; type <= 0x84; type++) {
			static const char *const names[] = { "unsigneds", "signeds", "floats", "strings" };
			heph_attribute(b, names[type - 0x81], type);
			heph_u16(b, (uint16_t)i);
			for (unsigned k = 0; k < i; k++)
				if (type == 0x84)
					heph_string(b, k == 0 ? "" : "one of them");
				else if (type == 0x83)
					heph_f64(b, 1.5 * (k + 1));
				else
					heph_u64(b, UINT64_MAX - k);
		}
		heph_end(b);
	}
}

static void max_integers(struct heph_build *b)
{
	heph_epoch(b, 0);
	heph_event_at(b, UINT32_MAX, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX, "latest");
	heph_event_at(b, UINT32_MAX, 1, 0, 0, UINT64_MAX, "longest");
	heph_unsigned(b, "2^64 - 1", UINT64_MAX);
	heph_unsigned(b, "2^53", UINT64_C(1) << 53);
	heph_unsigned(b, "2^53 - 1", (UINT64_C(1) << 53) - 1);
	heph_signed(b, "-2^63", INT64_MIN);
	heph_signed(b, "2^63 - 1", INT64_MAX);
	heph_signed(b, "-1", -1);
}

static void odd_floats(struct heph_build *b)
{
	heph_spec_epoch(b);
	heph_event(b, 1, 1, 5, 6, "floats");
	heph_float(b, "nan", (double)NAN);
	heph_float(b, "infinity", (double)INFINITY);
	heph_float(b, "minus infinity", -(double)INFINITY);
	heph_float(b, "minus zero", -0.0);
	heph_float(b, "least", DBL_TRUE_MIN);
	heph_float(b, "most", DBL_MAX);
	heph_float(b, "tenth", 0.1);
}

static void strange_texts(struct heph_build *b)
{
	static const char *const texts[] = { "quote \" backslash \\",
		                             "tab\tnewline\nbell\a",
		                             "\x7f",
		                             "d\xc3\xa9j\xc3\xa0",
		                             "\xe2\x82\xac",
		                             "\xf0\x9f\x98\x80",
		                             "</script>",
		                             "a;b",
		                             " " };

	heph_spec_epoch(b);
	for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		heph_event(b, 1, i, 100 + i, 101 + i, texts[i]);
		heph_text_value(b, texts[i], texts[i]);
	}
	heph_event(b, 1, 1, 200, 201, "NUL");
	heph_attribute(b, "text", 4);
	heph_u16(b, 3);
	heph_bytes(b, "a\0b", 3);
	heph_end(b);
}

/* Each stream has its own counters, and packets are in the order in which threads appended them. */
static void interleaved(struct heph_build *b)
{
	for (unsigned i = 0; i < 24; i++) {
		if (i == 5)
			heph_spec_epoch(b);
		heph_event(b, i * 5 % 4, i % 3, 1000 - 10 * i, 1005 - 10 * i, i % 2 == 0 ? "even" : "odd");
		heph_unsigned(b, "i", i);
	}
}

/* A parent, its children, and spans that overlap partially. */
static void nested(struct heph_build *b)
{
	heph_spec_epoch(b);
	heph_event(b, 1, 1, 110, 120, "child");
	heph_event(b, 1, 1, 130, 150, "child");
	heph_event(b, 1, 1, 100, 200, "parent");
	heph_event(b, 1, 1, 190, 220, "overlapping");
	heph_event(b, 1, 2, 100, 200, "another substream");
}

/* "The counter may wrap-around on overflow" */
static void counter_wraps(struct heph_build *b)
{
	heph_spec_epoch(b);
	for (uint32_t i = 0; i < 4; i++) {
		heph_event_at(b, 1, UINT32_MAX - 1 + i, 1, 10 * i, 10 * i + 5, "own");
		heph_event_at(b, 0, UINT32_MAX - 1 + i, 1, 10 * i, 10 * i + 5, "shared");
	}
}

/* Several threads get a number of stream 0, and append their packets later. */
static void shared_out_of_order(struct heph_build *b)
{
	static const uint32_t order[] = { 2, 0, 1, 4, 3, 7, 5, 6 };

	heph_spec_epoch(b);
	for (uint32_t i = 0; i < 8; i++)
		heph_event_at(b, 0, order[i], i, 10 * i, 10 * i + 5, "shared");
}

/* Attributes with the names of fields that tracetool adds. */
static void own_names(struct heph_build *b)
{
	heph_spec_epoch(b);
	heph_event(b, 1, 1, 5, 6, "own names");
	heph_unsigned(b, "stream_counter", 77);
	heph_unsigned(b, "end", 78);
	heph_unsigned(b, "stream_counter (2)", 79);
}

/* More attributes than are compared by signature. */
static void many_attributes(struct heph_build *b)
{
	char name[16];

	heph_spec_epoch(b);
	heph_event(b, 1, 1, 5, 6, "many attributes");
	for (unsigned i = 0; i < 70; i++) {
		snprintf(name, sizeof name, "a%u", i);
		heph_unsigned(b, name, i);
	}
}

/* Numbers that look like the start of a packet. */
static void magic_in_values(struct heph_build *b)
{
	heph_spec_epoch(b);
	heph_event(b, 1, 1, 5, 6, "magic");
	heph_unsigned(b, "event", 0xC1FC1FB70000002Au);
	heph_unsigned(b, "metadata", 0x75D11D4D0000000Au);
	heph_event(b, 1, 1, 6, 7, "uM");
}

/* 4 KiB of all kinds of packets, for sweeps. */
static void mixed(struct heph_build *b)
{
	spec_example(b);
	all_types(b);
	interleaved(b);
	nested(b);
	for (unsigned i = 0; i < 16; i++) {
		heph_event(b, 5, i, 5000 + i, 5001 + i, "r\xc3\xa9p\xc3\xa9tition");
		heph_text_value(b, "message", "hello");
		heph_float(b, "ratio", i / 7.0);
	}
}

static void own_track(struct heph_build *b, uint32_t stream, uint64_t substream, const char *kind,
                      const char *name)
{
	heph_metadata(b, "tracetool.track");
	heph_u32(b, stream);
	heph_u64(b, substream);
	heph_end(b);
	heph_text_value(b, "kind", kind);
	heph_text_value(b, "name", name);
}

static void own_event(struct heph_build *b, uint64_t substream, uint64_t start, uint64_t end,
                      const char *kind)
{
	heph_event(b, 3, substream, start, end, kind);
	heph_unsigned(b, "number", 200);
	heph_text_value(b, "text", "00ff");
	heph_attribute(b, "list", 0x81);
	heph_u16(b, 2);
	heph_u64(b, 1);
	heph_u64(b, 0);
	heph_end(b);
	heph_text_value(b, "tracetool.class", "of another format");
	heph_text_value(b, "tracetool.category", "category");
	heph_text_value(b, "tracetool.kind", kind);
}

/* Options and attributes of tracetool; some types do not fit their values. */
static void own_words(struct heph_build *b)
{
	static const char *const kinds[] = { "async span", "begin", "end",     "instant",
		                             "counter",    "span",  "no kind", "arrow out" };

	heph_metadata(b, "tracetool.trace");
	heph_unsigned(b, "version", 1);
	heph_text_value(b, "clock", "monotonic");
	own_track(b, 3, 0, "process", "a process");
	heph_unsigned(b, "id", 33);
	own_track(b, 3, 9, "thread", "a thread");
	heph_unsigned(b, "id", 99);
	own_track(b, 3, 10, "child", "a child of it");
	heph_unsigned(b, "parent", 9);
	own_track(b, 4, 1, "thread", "without a process");
	for (unsigned i = 0; i < 8; i++) {
		own_event(b, i % 2 == 0 ? 9 : 10, 100 + i, i == 0 ? 150 : 100 + i, kinds[i]);
		heph_text_value(b, "tracetool.types",
		                i % 2 == 0 ? "u8,bytes,[bool]" : "bool,json,[none],u8,");
	}
	heph_unsigned(b, "tracetool.arrow", 5);
	heph_event(b, 3, 9, 300, 310, "of no class");
	heph_unsigned(b, "stream_counter", 7);
	heph_metadata(b, "tracetool.fact");
	heph_text_value(b, "trace.host", "a host");
	heph_spec_epoch(b);
}

const struct heph_good heph_good[] = {
	{ "spec-example", spec_example },
	{ "no-metadata", no_metadata },
	{ "no-events", no_events },
	{ "epoch-late", epoch_late },
	{ "smallest", smallest },
	{ "all-types", all_types },
	{ "max-integers", max_integers },
	{ "odd-floats", odd_floats },
	{ "strange-texts", strange_texts },
	{ "interleaved", interleaved },
	{ "nested", nested },
	{ "counter-wraps", counter_wraps },
	{ "shared-out-of-order", shared_out_of_order },
	{ "own-names", own_names },
	{ "many-attributes", many_attributes },
	{ "magic-in-values", magic_in_values },
	{ "mixed", mixed },
	{ "own-words", own_words },
	{ 0 },
};
