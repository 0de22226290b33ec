/* The format that JSON is recognised as. */
#include <criterion/criterion.h>

#include "format/registry.h"

#define HEAD 65536 /* bytes that the engine passes to probes */

static const char *format_of(const char *text, size_t n)
{
	const bool complete = n <= HEAD;
	bool no_memory;
	const struct format *const f =
	    format_probe(slice_of(text, complete ? n : HEAD), complete, &no_memory);

	return f != NULL ? f->name : "none";
}

#define EVENT(ph, more)                                                                                      \
	"{\"name\":\"a\",\"cat\":\"c\",\"ph\":\"" ph "\",\"ts\":1,\"pid\":1,\"tid\":1" more "}"
#define X EVENT("X", ",\"dur\":2")
#define DFT                                                                                                  \
	"{\"id\":1,\"name\":\"a\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"ph\":\"X\","    \
	"\"args\":{\"hhash\":1}}"

static const struct {
	const char *text, *format;
} rows[] = {
	{ "{\"traceEvents\":[]}", "chrome" },
	{ "{\"traceEvents\":[", "chrome" },
	{ " {\n \"traceEvents\" : [\n", "chrome" },
	{ "\xef\xbb\xbf{\"traceEvents\":[]}", "chrome" },
	{ "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"a\":[1,{}]},\"traceEvents\":[" X "]}", "chrome" },
	{ "{\"otherData\":{\"a\":\"", "chrome" },
	{ "{\"traceEvents\":[" X "]}", "chrome" },
	{ "[" X "]", "chrome" },
	{ "[\n" X ",\n" X "\n", "chrome" },
	{ "[\n" EVENT("B", "") ",\n" EVENT("E", "") "\n]", "chrome" },
	{ "[\n  {\n    \"name\": \"a\",\n    \"ph\": \"B\",\n    \"ts\": 1.5\n  },\n  {\n", "chrome" },
	{ "[" EVENT("b", ",\"id\":1") "," EVENT("e", ",\"id\":1") "]", "chrome" },
	{ "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"x\"}},", "chrome" },
	/* a trace of the other format that was converted with its hashes */
	{ "{\"traceEvents\":[" EVENT("X", ",\"dur\":2,\"args\":{\"hhash\":1}") "," X "]}", "chrome" },
	{ "[\n" DFT "\n", "dftracer" },
	{ "[\n" DFT ",\n" DFT "\n]", "dftracer" },
	{ "{\"traceEvents\":[" DFT "," DFT "]}", "dftracer" },
	{ "[\n" X "\n" X "\n", "chrome" },
	{ X "\n" X "\n", "chrome" },
	{ "[]", "chrome" },
	{ "[{'name':'a','ph':'X','ts':1}]", "chrome" },
	{ "/* c */\n[" X "]", "chrome" },
	{ "[\n", "dftracer" },
	{ "[\n]\n", "dftracer" },
	{ "[]\n", "chrome" },
	{ "\n[ ]\n", "chrome" },
	{ "{\"traceEvents\":{}}", "none" },
	{ "{\"ph\":\"X\"", "none" },
	{ "{\"a\":1}", "none" },
	{ "[1,2,3]", "none" },
	{ "[{\"ph\":\"XY\",\"ts\":1}]", "none" },
	/* one object a line */
	{ "{\"type\":\"trace\",\"version\":1,", "ndjson" },
	{ " { \"version\" : 7, \"x\": [], \"type\": \"trace\"}\n", "ndjson" },
	{ "{\"type\":\"trace\"", "ndjson" },
	{ "{\"type\":\"trace\"}\n", "none" },
	{ "{\"type\":\"track\",\"index\":0,\"kind\":\"process\",\"name\":\"p\"}\n", "ndjson" },
	{ "{\"kind\":\"span\",\"ts_ns\":1,\"dur_ns\":2,\"name\":\"n\",\"class_index\":0,\"category\":\"c\","
	  "\"track_index\":1,"
	  "\"offset\":5}\n",
	  "ndjson" },
	{ "{\"kind\":\"span\",\"ts_ns\":1,\"dur_ns\":2,\"name\":\"n\"}\n", "none" },
	{ "{\"id\":1,\"name\":\"a\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"ph\":\"X\","
	  "\"kind\":\"span\",\"args\":{\"hhash\":1}}\n",
	  "dftracer" },
	{ "{\"traceEvents\":[{\"type\":\"trace\",\"version\":1}]}", "chrome" },
	{ "\xef\xbb\xbf{\"type\":\"trace\",\"version\":1}\n", "ndjson" },
	{ "{\"type\":\"tr\n\n{\"type\":\"track\",\"index\":0,\"kind\":\"process\",\"name\":\"p\"}\n",
	  "ndjson" },
	{ "{\"type\":1,\"version\":1}", "none" },
	{ "[{\"type\":\"trace\",\"version\":1}]", "none" },
};

Test(chrome_probe, tells_json_apart)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *const got = format_of(rows[i].text, strlen(rows[i].text));
		cr_expect_str_eq(got, rows[i].format, "%s: %s", rows[i].text, got);
	}
}

/* The first event, or a member before the events, is longer than what the probe has of it. */
Test(chrome_probe, a_long_start)
{
	static const struct {
		const char *start, *end, *format;
	} cut[] = {
		{ "[{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":2,\"args\":{\"t\":\"",
		  "\"}}]", "chrome" },
		{ "[\n{\"args\":{\"t\":\"", "\"},\"name\":\"a\",\"ph\":\"X\",\"ts\":1}\n]", "chrome" },
		{ "[\n{\"id\":1,\"name\":\"a\",\"cat\":\"c\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":2,\"ph\":"
		  "\"X\",\"args\":{\"t\":\"",
		  "\"}}\n", "dftracer" },
		{ "[{\"a\":\"", "\"}]", "none" },
		{ "{\"metadata\":{\"source\":\"DevTools\",\"dataOrigin\":\"TraceEvents\",\"sourceMaps\":[\"",
		  "\"]},\"traceEvents\":[]}", "chrome" },
		{ "{\"metadata\":{\"kernelspec\":\"", "\"}}", "none" },
	};
	char *const text = malloc(2 * HEAD);

	cr_assert_not_null(text);
	for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) {
		memset(text, 'x', 2 * HEAD);
		memcpy(text, cut[i].start, strlen(cut[i].start));
		memcpy(text + 2 * HEAD - strlen(cut[i].end), cut[i].end, strlen(cut[i].end));
		cr_expect_str_eq(format_of(text, 2 * HEAD), cut[i].format, "%s", cut[i].start);
	}
	free(text);
}
