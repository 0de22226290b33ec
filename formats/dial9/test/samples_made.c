#include "dial9/test/samples.h"

/* Samples of what this program writes into a dial9 trace: see dial9_made.h. */

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

/* Two processes with threads of one number; a span that ends past the last time; a track that is not there.
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
