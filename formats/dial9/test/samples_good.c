/* Good samples: of the format, and of events and tracks that this program writes. */
#include <math.h>
#include <string.h>

#include "dial9/test/samples.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const struct d9_field_desc poll_start[] = { { "worker_id", D9T_VARINT },
	                                           { "local_queue", D9T_U8 },
	                                           { "task_id", D9T_VARINT },
	                                           { "spawn_loc", D9T_POOLED_STRING } };
static const struct d9_field_desc poll_end[] = { { "worker_id", D9T_VARINT } };
static const struct d9_field_desc sample[] = { { "tid", D9T_U32 }, { "callchain", D9T_POOLED_STACK } };
static const struct d9_field_desc text[] = { { "text", D9T_STRING } };

static void no_events(struct d9_build *b)
{
	d9b_header(b);
}

/* The document alone: a schema, a pool, a reset, two events. */
static void document(struct d9_build *b)
{
	d9b_header(b);
	d9b_schema(b, 1, "PollStartEvent", true, poll_start, COUNT(poll_start));
	d9b_schema(b, 2, "PollEndEvent", true, poll_end, COUNT(poll_end));
	d9b_string(b, 7, "src/main.rs:12:5");
	d9b_reset(b, 1000000000);
	d9b_event(b, 1, 1000000000);
	d9b_varint(b, 3);
	d9b_u8(b, 1);
	d9b_varint(b, 300);
	d9b_u32(b, 7);
	d9b_event(b, 2, 1000004000);
	d9b_varint(b, 3);
}

static const struct d9_field_desc every[] = { { "i64", D9T_I64 },        { "f64", D9T_F64 },
	                                      { "bool", D9T_BOOL },      { "string", D9T_STRING },
	                                      { "bytes", D9T_BYTES },    { "pooled", D9T_POOLED_STRING },
	                                      { "frames", D9T_STACK },   { "varint", D9T_VARINT },
	                                      { "map", D9T_STRING_MAP }, { "u8", D9T_U8 },
	                                      { "u16", D9T_U16 },        { "u32", D9T_U32 } };

static const struct d9_field_desc every_optional[] = {
	{ "i64", D9T_I64 | D9T_OPTIONAL },        { "f64", D9T_F64 | D9T_OPTIONAL },
	{ "bool", D9T_BOOL | D9T_OPTIONAL },      { "string", D9T_STRING | D9T_OPTIONAL },
	{ "bytes", D9T_BYTES | D9T_OPTIONAL },    { "pooled", D9T_POOLED_STRING | D9T_OPTIONAL },
	{ "frames", D9T_STACK | D9T_OPTIONAL },   { "varint", D9T_VARINT | D9T_OPTIONAL },
	{ "map", D9T_STRING_MAP | D9T_OPTIONAL }, { "u8", D9T_U8 | D9T_OPTIONAL },
	{ "u16", D9T_U16 | D9T_OPTIONAL },        { "u32", D9T_U32 | D9T_OPTIONAL }
};

/* One value of type `which` among the twelve above; presence: 2 writes none, 0 and 1 themselves first. */
static void put_value(struct d9_build *b, size_t which, unsigned presence)
{
	if (presence < 2)
		d9b_u8(b, (uint8_t)presence);
	if (presence == 0)
		return;
	switch (which) {
	case 0:
		d9b_u64(b, UINT64_MAX - 41); /* -42 */
		return;
	case 1:
		d9b_f64(b, 2.5);
		return;
	case 2:
		d9b_u8(b, 1);
		return;
	case 3:
		d9b_text32(b, "some text");
		return;
	case 4:
		d9b_u32(b, 3);
		d9b_bytes(b, "\0\x80\xff", 3);
		return;
	case 5:
		d9b_u32(b, 7);
		return;
	case 6:
		d9b_u32(b, 2);
		d9b_u64(b, 0x55d0c0ffee00);
		d9b_u64(b, UINT64_MAX);
		return;
	case 7:
		d9b_varint(b, 300);
		return;
	case 8:
		d9b_u32(b, 2);
		d9b_text32(b, "key");
		d9b_text32(b, "value");
		d9b_text32(b, "");
		d9b_text32(b, "empty key");
		return;
	case 9:
		d9b_u8(b, 200);
		return;
	case 10:
		d9b_u16(b, 60000);
		return;
	default:
		d9b_u32(b, 4000000000);
	}
}

static void all_types(struct d9_build *b)
{
	d9b_header(b);
	d9b_schema(b, 1, "Every", true, every, COUNT(every));
	d9b_schema(b, 2, "EveryOptional", true, every_optional, COUNT(every_optional));
	d9b_string(b, 7, "pooled text");
	d9b_event(b, 1, 5000);
	for (size_t i = 0; i < COUNT(every); i++)
		put_value(b, i, 2);
	for (unsigned mask = 0; mask < 3; mask++) { /* all absent, every other one, all present */
		d9b_event(b, 2, 6000 + mask);
		for (size_t i = 0; i < COUNT(every); i++)
			put_value(b, i, mask == 1 ? i & 1 : mask / 2);
	}
}

static void max_integers(struct d9_build *b)
{
	static const struct d9_field_desc fields[] = {
		{ "a", D9T_VARINT }, { "b", D9T_VARINT }, { "c", D9T_I64 }, { "d", D9T_I64 }, { "e", D9T_U32 }
	};

	d9b_header(b);
	d9b_schema(b, 65535, "Max", true, fields, COUNT(fields));
	d9b_reset(b, UINT64_MAX - 0xffffff);
	d9b_event(b, 65535, UINT64_MAX); /* the largest delta, to the largest time */
	d9b_varint(b, UINT64_MAX);
	d9b_bytes(b, "\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00",
	          10); /* 1, in more bytes than it needs: allowed */
	d9b_u64(b, (uint64_t)1 << 63);
	d9b_u64(b, UINT64_MAX >> 1);
	d9b_u32(b, UINT32_MAX);
}

static void odd_doubles(struct d9_build *b)
{
	static const struct d9_field_desc fields[] = { { "v", D9T_F64 } };
	const double values[] = { (double)NAN, (double)INFINITY, -(double)INFINITY,
		                  -0.0,        5e-324,           1.7976931348623157e308,
		                  0.1 };

	d9b_header(b);
	d9b_schema(b, 1, "Double", true, fields, 1);
	for (size_t i = 0; i < COUNT(values); i++) {
		d9b_event(b, 1, 100 * i);
		d9b_f64(b, values[i]);
	}
}

static void strange_texts(struct d9_build *b)
{
	static const char *const texts[] = { "",
		                             "\"quoted\" and \\",
		                             "line\nbreak\ttab\x01",
		                             "gr\xc3\xbc\xc3\x9f dich \xf0\x9f\x98\x80",
		                             "sixteen bytes ..",
		                             "a text that is longer than sixteen bytes" };

	d9b_header(b);
	d9b_schema(b, 1, "a \"name\"", true, text, 1);
	d9b_schema(b, 2, "", true, NULL, 0);
	for (size_t i = 0; i < COUNT(texts); i++) {
		d9b_event(b, 1, 100 * i);
		d9b_text32(b, texts[i]);
		d9b_event(b, 2, 100 * i + 50);
	}
	d9b_event(b, 1, 2000);
	d9b_u32(b, 3);
	d9b_bytes(b, "a\0b", 3);
}

/* Events without a time have the present one. */
static void untimed(struct d9_build *b)
{
	d9b_header(b);
	d9b_schema(b, 1, "Note", false, text, 1);
	d9b_schema(b, 2, "PollEndEvent", true, poll_end, COUNT(poll_end));
	d9b_untimed(b, 1);
	d9b_text32(b, "before");
	d9b_event(b, 2, 7000);
	d9b_varint(b, 1);
	d9b_untimed(b, 1);
	d9b_text32(b, "after");
}

/* Times that step back through resets, as buffers of several threads make them. */
static void time_back(struct d9_build *b)
{
	d9b_header(b);
	d9b_schema(b, 2, "PollEndEvent", true, poll_end, COUNT(poll_end));
	for (uint64_t i = 0; i < 6; i++) {
		d9b_event(b, 2, i % 2 == 0 ? 50000000 + i : 40000000 + i);
		d9b_varint(b, i % 2);
	}
}

/* The same schema again is fine; so is the same text under the same id. */
static void again(struct d9_build *b)
{
	d9b_header(b);
	for (int i = 0; i < 2; i++) {
		d9b_schema(b, 1, "PollStartEvent", true, poll_start, COUNT(poll_start));
		d9b_string(b, 0, "here");
		d9b_event(b, 1, 1000);
		d9b_bytes(b, "\0\0\5\0\0\0\0", 7);
	}
}

/* Several entries in a frame, none at all, and ids that are far apart. */
static void pools(struct d9_build *b)
{
	d9b_header(b);
	d9b_schema(b, 1, "PollStartEvent", true, poll_start, COUNT(poll_start));
	d9b_strings(b, 0);
	d9b_strings(b, 3);
	d9b_u32(b, UINT32_MAX);
	d9b_text32(b, "the last id");
	d9b_u32(b, 0);
	d9b_text32(b, "");
	d9b_u32(b, 262143);
	d9b_text32(b, "between");
	for (unsigned i = 0; i < 3; i++) {
		d9b_event(b, 1, 100 * i);
		d9b_bytes(b, "\1\2\3", 3);
		d9b_u32(b, i == 0 ? UINT32_MAX : i == 1 ? 0 : 262143);
	}
}

/* A string that is defined after its first use, and one whose id gets another text. */
static void late(struct d9_build *b)
{
	d9b_header(b);
	d9b_schema(b, 1, "PollStartEvent", true, poll_start, COUNT(poll_start));
	for (unsigned i = 0; i < 4; i++) {
		d9b_event(b, 1, 100 * i);
		d9b_bytes(b, "\1\2\3", 3);
		d9b_u32(b, 5);
		if (i == 1 || i == 2)
			d9b_string(b, 5, i == 1 ? "the first text" : "another text");
	}
}

/* ---- 0.4 ---- */

static void all_types_0_4(struct d9_build *b)
{
	static const struct d9_field_desc fields[] = { { "stack", D9T_POOLED_STACK },
		                                       { "list", D9T_LIST },
		                                       { "map", D9T_MAP },
		                                       { "no stack", D9T_POOLED_STACK | D9T_OPTIONAL },
		                                       { "some list", D9T_LIST | D9T_OPTIONAL } };
	const uint64_t addresses[] = { 0x1000, 0x2000 };

	d9b_header(b);
	d9b_string(b, 0, "in the pool");
	d9b_stack(b, 9, addresses, 2);
	d9b_schema(b, 1, "Newer", true, fields, COUNT(fields));
	d9b_annotation(b, 1, 1, "metrique.unit", "ms");
	d9b_event(b, 1, 1000);
	d9b_u32(b, 9);
	d9b_u32(b, COUNT(every) + 1); /* one of each type, and a list */
	for (size_t i = 0; i < COUNT(every); i++) {
		d9b_u8(b, (uint8_t)every[i].type);
		if (every[i].type == D9T_POOLED_STRING)
			d9b_u32(b, 0);
		else
			put_value(b, i, 2);
	}
	d9b_bytes(b, "\x0e\x02\0\0\0\x0b\x07\x0e\0\0\0\0", 12); /* [7, []] */
	d9b_u32(b, 2);
	d9b_u8(b, D9T_STRING);
	d9b_text32(b, "a key");
	d9b_bytes(b, "\x0f\x01\0\0\0\x0b\x01\x0b\x02", 9); /* { 1: 2 } */
	d9b_u8(b, D9T_STRING);
	d9b_text32(b, "stack");
	d9b_u8(b, D9T_POOLED_STACK);
	d9b_u32(b, 9);
	d9b_u8(b, 0);
	d9b_u8(b, 1);
	d9b_u32(b, 0);
}

/* 64 nested lists, the limit. */
static void deep(struct d9_build *b)
{
	static const struct d9_field_desc fields[] = { { "list", D9T_LIST } };

	d9b_header(b);
	d9b_schema(b, 1, "Deep", true, fields, 1);
	d9b_event(b, 1, 1000);
	for (int i = 1; i < 64; i++)
		d9b_bytes(b, "\1\0\0\0\x0e", 5);
	d9b_u32(b, 0);
}

static const struct d9_field_desc clock_sync[] = { { "realtime_ns", D9T_VARINT } };
static const struct d9_field_desc metadata[] = { { "entries", D9T_STRING_MAP } };

/* Several headers: ids are new in each segment, and the time base is 0. */
static void segments(struct d9_build *b)
{
	d9b_header(b);
	d9b_schema(b, 0, "ClockSyncEvent", true, clock_sync, 1);
	d9b_event(b, 0, 5000000000);
	d9b_varint(b, 1779308082928415749);
	d9b_schema(b, 1, "SegmentMetadataEvent", true, metadata, 1);
	d9b_event(b, 1, 5000000000);
	d9b_u32(b, 2);
	d9b_text32(b, "service");
	d9b_text32(b, "sample");
	d9b_text32(b, "worker_threads");
	d9b_text32(b, "2");
	d9b_header(b);
	d9b_schema(b, 0, "PollStartEvent", true, poll_start, COUNT(poll_start));
	d9b_string(b, 0, "first");
	d9b_event(b, 0, 6000000000);
	d9b_bytes(b, "\1\0\7\0\0\0\0", 7);
	d9b_header(b);
	d9b_schema(b, 0, "PollEndEvent", true, poll_end, COUNT(poll_end));
	d9b_schema(b, 1, "PollStartEvent", true, poll_start, COUNT(poll_start));
	d9b_string(b, 0, "second");
	d9b_event(b, 1, 4000);
	d9b_bytes(b, "\1\0\7\0\0\0\0", 7);
	d9b_event(b, 0, 5500000000);
	d9b_varint(b, 1);
}

/* The symbol table comes last, at time 0, and names addresses of all segments; a stack may come late too. */
static void symbols(struct d9_build *b)
{
	static const struct d9_field_desc symbol[] = { { "addr", D9T_VARINT },
		                                       { "size", D9T_VARINT },
		                                       { "symbol_name", D9T_POOLED_STRING },
		                                       { "inline_depth", D9T_VARINT } };
	const uint64_t addresses[] = { 0x1010, 0x2020, 0x3030 };

	d9b_header(b);
	d9b_schema(b, 0, "CpuSampleEvent", true, sample, COUNT(sample));
	d9b_stack(b, 0, addresses, 3);
	d9b_event(b, 0, 9000);
	d9b_u32(b, 77);
	d9b_u32(b, 0);
	d9b_event(b, 0, 9100);
	d9b_u32(b, 78);
	d9b_u32(b, 1);
	d9b_stack(b, 1, addresses + 1, 1);
	d9b_header(b);
	d9b_schema(b, 0, "SymbolTableEntry", true, symbol, COUNT(symbol));
	d9b_string(b, 0, "inlined");
	d9b_string(b, 1, "outer");
	d9b_string(b, 2, "main");
	for (unsigned i = 0; i < 3; i++) {
		d9b_event(b, 0, 0);
		d9b_varint(b, i < 2 ? 0x2020 : 0x3030);
		d9b_u8(b, 0);
		d9b_u32(b, i);
		d9b_u8(b, i == 0);
	}
}

/* The thread, else the worker, else nobody. */
static void tracks(struct d9_build *b)
{
	static const struct d9_field_desc who[] = { { "worker_id", D9T_VARINT | D9T_OPTIONAL },
		                                    { "tid", D9T_U32 | D9T_OPTIONAL } };

	d9b_header(b);
	d9b_schema(b, 0, "Who", true, who, COUNT(who));
	d9b_event(b, 0, 10);
	d9b_bytes(b, "\1\5\1\x39\x30\0\0", 7);
	d9b_event(b, 0, 20);
	d9b_bytes(b, "\1\5\0", 3);
	d9b_event(b, 0, 30);
	d9b_bytes(b, "\0\0", 2);
	d9b_event(b, 0, 40);
	d9b_bytes(b, "\0\1\5\0\0\0", 6); /* thread 5 is not worker 5 */
}

static void annotations(struct d9_build *b)
{
	d9b_header(b);
	d9b_schema(b, 300, "PollStartEvent", true, poll_start, COUNT(poll_start));
	d9b_annotations(b, 300, 2);
	d9b_u16(b, 2);
	d9b_text16(b, "metrique.unit");
	d9b_text32(b, "us");
	d9b_u16(b, 0);
	d9b_text16(b, "some.key");
	d9b_text32(b, "");
	d9b_annotations(b, 300, 0);
}

const struct d9_good d9_good[] = {
	{ "no-events", no_events },
	{ "document", document },
	{ "all-types", all_types },
	{ "max-integers", max_integers },
	{ "odd-doubles", odd_doubles },
	{ "strange-texts", strange_texts },
	{ "untimed", untimed },
	{ "time-back", time_back },
	{ "again", again },
	{ "pools", pools },
	{ "late", late },
	{ "all-types-0.4", all_types_0_4 },
	{ "deep", deep },
	{ "segments", segments },
	{ "symbols", symbols },
	{ "tracks", tracks },
	{ "annotations", annotations },
	{ NULL, NULL },
};

/* ---- made by this program ---- */

#define TRACK 0
#define SPAN 1

static void track_schema(struct d9_build *b)
{
	static const struct d9_field_desc fields[] = { { "track", D9T_VARINT },
		                                       { "parent", D9T_VARINT | D9T_OPTIONAL },
		                                       { "kind", D9T_STRING },
		                                       { "id", D9T_VARINT | D9T_OPTIONAL },
		                                       { "name", D9T_STRING } };

	d9b_schema(b, TRACK, "tracetool:track", false, fields, 5);
}

/* parent, id: 0: none. */
static size_t track(struct d9_build *b, uint64_t number, uint64_t parent, const char *kind, uint64_t id,
                    const char *name)
{
	const size_t at = d9b_untimed(b, TRACK);

	d9b_varint(b, number);
	d9b_u8(b, parent > 0);
	if (parent > 0)
		d9b_varint(b, parent - 1);
	d9b_text32(b, kind);
	d9b_u8(b, id > 0);
	if (id > 0)
		d9b_varint(b, id);
	d9b_text32(b, name);
	return at;
}

static void span_schema(struct d9_build *b)
{
	static const struct d9_field_desc fields[] = {
		{ "tracetool.track", D9T_VARINT }, { "tracetool.duration", D9T_VARINT },
		{ "tracetool.name", D9T_STRING },  { "small:i8", D9T_I64 },
		{ "real:f32", D9T_F64 },           { "at:address", D9T_VARINT },
		{ "odd:text", D9T_BYTES },         { "json:json", D9T_STRING },
		{ "broken:json", D9T_STRING },     { "callchain", D9T_STACK },
		{ "a:i8:plain", D9T_VARINT }
	};

	d9b_schema(b, SPAN, "tracetool:span:io%3aread:my:class", true, fields, 11);
}

static void span(struct d9_build *b, uint64_t ts, uint64_t on, uint64_t dur)
{
	d9b_event(b, SPAN, ts);
	d9b_varint(b, on);
	d9b_varint(b, dur);
	d9b_text32(b, "read");
	d9b_u64(b, (uint64_t)-3);
	d9b_f64(b, 0.5);
	d9b_varint(b, 4096);
	d9b_u32(b, 2);
	d9b_bytes(b, "o!", 2);
	d9b_text32(b, "{\"a\":[1]}");
	d9b_text32(b, "{\"a\":");
	d9b_u32(b, 1);
	d9b_u64(b, 0x401000);
	d9b_varint(b, 7);
}

/* Two processes with threads of one number; a span that ends past the last time; an undefined track.
 */
static void made(struct d9_build *b)
{
	d9b_header(b);
	track_schema(b);
	span_schema(b);
	track(b, 0, 0, "process", 10, "server");
	track(b, 1, 1, "thread", 7, "worker");
	track(b, 2, 2, "child", 0, "worker: states");
	track(b, 3, 0, "process", 11, "client");
	track(b, 4, 4, "thread", 7, "worker");
	span(b, 1000000000, 1, 500);
	span(b, 1000000100, 2, 50);
	span(b, 1000000200, 4, UINT64_MAX);
	span(b, 900000000, 99, 1);
}

static void track_limit(struct d9_build *b, struct d9_expected *e)
{
	d9b_header(b);
	track_schema(b);
	span_schema(b);
	d9s_expect(e, "track-limit", track(b, 5, 0, "process", 10, "server"));
	span(b, 1000, 5, 1);
}

const struct d9_good d9_made_good[] = {
	{ "made", made },
	{ NULL, NULL },
};

const struct d9_bad d9_made_bad[] = {
	{ "track-limit", 0, track_limit },
	{ NULL, 0, NULL },
};
