/* Detection of formats that consist of lines of JSON. */
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

static const struct {
	const char *text, *format;
} rows[] = {
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

Test(ndjson_probe, tells_json_apart)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *const got = format_of(rows[i].text, strlen(rows[i].text));
		cr_expect_str_eq(got, rows[i].format, "%s: %s", rows[i].text, got);
	}
}
