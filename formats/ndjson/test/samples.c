#include "ndjson/test/samples.h"

/* clang-format off */

#define TEXT(s) s, sizeof(s) - 1
#define FACTS "\"format\":\"tick\",\"dialect\":\"plain\",\"byte_order\":\"little\",\"clock\":\"monotonic\""
#define TRACE_OF(version, mode) \
	"{\"type\":\"trace\",\"version\":" version ",\"tool\":\"tracetool 0.1.0\",\"mode\":\"" mode \
	"\",\"rebased\":false," FACTS "}\n"
#define TRACE TRACE_OF("1", "interpreted")
#define RAW TRACE_OF("1", "raw")
#define PROCESS "{\"type\":\"track\",\"index\":0,\"kind\":\"process\",\"name\":\"p\",\"id\":7}\n"
#define THREAD "{\"type\":\"track\",\"index\":1,\"kind\":\"thread\",\"name\":\"t\",\"id\":8,\"parent\":0}\n"
#define CLASS "{\"type\":\"class\",\"index\":0,\"name\":\"c\",\"category\":\"k\",\"fields\":[" \
	"{\"name\":\"a\",\"type\":\"uint8_t\",\"value\":\"u8\",\"size\":1,\"unit\":\"byte\"}," \
	"{\"name\":\"b\",\"type\":\"float\",\"value\":\"f32\",\"size\":4}," \
	"{\"name\":\"s\",\"type\":\"text\",\"value\":\"string\"}]}\n"
#define HEAD TRACE PROCESS THREAD CLASS
#define ON "\"class_index\":0,\"category\":\"k\",\"track_index\":1,\"pid\":7,\"tid\":8,\"offset\":"
#define E(kind, ts, offset, more) \
	"{\"kind\":\"" kind "\",\"ts_ns\":" ts ",\"name\":\"n\"," ON offset more "}\n"
#define SPAN(ts, dur, more) \
	"{\"kind\":\"span\",\"ts_ns\":" ts ",\"dur_ns\":" dur ",\"name\":\"n\"," ON "4" more "}\n"
#define END_OF(records, events, more) \
	"{\"type\":\"trace_end\",\"records\":" records ",\"events\":" events "," FACTS more \
	",\"losses\":{}}\n"
#define END END_OF("2", "1", "")

/* Every type of line, and every type of value. */
#define KINDS \
	TRACE PROCESS THREAD \
	"{\"type\":\"track\",\"index\":2,\"kind\":\"thread\",\"name\":\"states\",\"parent\":1," \
	"\"child\":true}\n" \
	"{\"type\":\"track\",\"index\":2147483648,\"kind\":\"thread\",\"name\":\"t (2)\",\"id\":8," \
	"\"parent\":1,\"lane\":1}\n" \
	CLASS \
	"{\"type\":\"class\",\"index\":1,\"name\":\"caf\\\\xe9\",\"category\":\"caf\\\\xe9\"," \
	"\"escaped\":[\"name\",\"category\"]}\n" \
	SPAN("1000", "500", ",\"args\":{\"a\":255,\"b\":0.1,\"s\":\"x\\ty\"}") \
	"{\"kind\":\"async\",\"ts_ns\":1000,\"dur_ns\":7,\"name\":\"n\"," \
	ON "4,\"big_endian\":true}\n" \
	E("begin", "1100", "9", "") E("instant", "1200", "10", "") E("end", "1300", "11", "") \
	"{\"kind\":\"flow_out\",\"ts_ns\":1050,\"id\":18446744073709551615,\"name\":\"f\"," ON "12}\n" \
	"{\"kind\":\"flow_step\",\"ts_ns\":1150,\"id\":18446744073709551615," \
	"\"name\":\"f\"," ON "13}\n" \
	"{\"kind\":\"flow_in\",\"ts_ns\":1250,\"id\":18446744073709551615," \
	"\"name\":\"f\"," ON "13}\n" \
	E("counter", "1400", "14", ",\"args\":{\"a\":3,\"b\":-2.5,\"c\":-7}") \
	E("instant", "1500", "15", ",\"args\":{\"u\":7,\"i\":-9223372036854775808,\"h\":\"0xdeadbeef\"," \
	"\"y\":\"00ff\",\"e\":\"caf\\\\xe9\",\"l\":[1,2],\"j\":{\"x\":[1, 2]},\"t\":\" 1\",\"f\":\"NaN\"," \
	"\"m\":{\"k\":null,\"v\":[true,{\"$u8\":1}]},\"p\":[[{\"$u8\":1},\"x\"]],\"q\":[1.5]," \
	"\"z\":\"NaN:0x7ff8000000000001\",\"b\":\"-Infinity\"}," \
	"\"types\":{\"u\":\"u16\",\"h\":\"address\",\"y\":\"bytes\",\"e\":\"escaped\",\"l\":\"[i8]\"," \
	"\"j\":\"json\",\"t\":\"json-text\",\"f\":\"f64\",\"p\":\"map\",\"q\":\"[f32?]\",\"z\":\"f64\"}") \
	E("instant", "1600", "16", ",\"pairs\":[[\"x\",1],[\"y\",{\"$u32\":8192}]," \
	"[{\"$escaped\":\"\\\\xff\"},{\"$[u8]\":[]}]]") \
	"{\"kind\":\"instant\",\"ts_ns\":1700,\"name\":\"caf\\\\xe9\",\"class_index\":1," \
	"\"category\":\"caf\\\\xe9\",\"track_index\":2147483648,\"pid\":7,\"tid\":8,\"offset\":17," \
	"\"escaped\":[\"name\",\"category\"]}\n" \
	"{\"type\":\"trace_end\",\"records\":40,\"events\":13," FACTS ",\"epoch_ns\":1000," \
	"\"losses\":{\"pairs/no-end\":2},\"args\":{\"host\":\"h\",\"cores\":[1,2]," \
	"\"more\":{\"a\":1}},\"types\":{\"more\":\"json\"}}\n"

/* Raw records, and members in another order. */
#define RAW_FILE \
	RAW PROCESS THREAD CLASS \
	"{\"kind\":\"structure\",\"ts_ns\":0,\"name\":\"c\",\"class_index\":0,\"category\":\"k\"," \
	"\"offset\":0,\"args\":{\"a\":1}}\n" \
	E("end", "5", "4", ",\"pairs\":[[\"a\",{\"$u8\":1}],[\"a\",{\"$u8\":2}]]") \
	"{ \"ts_ns\" : 6 , \"name\":\"n\", \"offset\":9, \"track_index\":1, \"args\":{\"b\": 1}, " \
	"\"category\":\"k\", \"class_index\":0, \"kind\":\"instant\" }\r\n" \
	END_OF("3", "2", "")

/* More fields than are compared with each other; types in another order. */
#define MANY \
	HEAD E("instant", "1", "4", ",\"args\":{\"f0\":0,\"f1\":1,\"f2\":2,\"f3\":3,\"f4\":4,\"f5\":5," \
	"\"f6\":6,\"f7\":7,\"f8\":8,\"f9\":9,\"g0\":0,\"g1\":1,\"g2\":2,\"g3\":3,\"g4\":4,\"g5\":5," \
	"\"g6\":6,\"g7\":7,\"g8\":8,\"g9\":9},\"types\":{\"g9\":\"u8\",\"f0\":\"i16\",\"g1\":\"u32\"}") END

const struct text_sample ndjson_good[] = {
	{ "kinds", TEXT(KINDS), 0, 20, { { NULL, NULL } } },
	{ "raw", TEXT(RAW_FILE), 0, 8, { { NULL, NULL } } },
	{ "many-fields", TEXT(MANY), 0, 6, { { NULL, NULL } } },
	{ "no-events", TEXT(TRACE END_OF("0", "0", "")), 0, 2, { { NULL, NULL } } },
	{ "rebased", TEXT("{\"type\":\"trace\",\"version\":1,\"tool\":\"t\",\"mode\":\"interpreted\","
	                  "\"rebased\":true," FACTS "}\n" PROCESS THREAD CLASS SPAN("0", "1", "")
	                  END_OF("1", "1", ",\"epoch_ns\":500,\"rebased_by_ns\":1000")), 0, 6,
	  { { NULL, NULL } } },
	{ NULL, NULL, 0, 0, 0, { { NULL, NULL } } },
};

const struct text_sample ndjson_bad[] = {
	{ "no-trace", TEXT(PROCESS THREAD CLASS SPAN("1", "2", "") END), 1, 5,
	  { { "no-trace", "{" } } },
	{ "version", TEXT(TRACE_OF("2", "raw") END), 2, 0, { { "version", "2,\"tool" } } },
	{ "not-json", TEXT(HEAD SPAN("1", "2", "") "{\"kind\":\"span\",}\n17\n" SPAN("3", "2x", "") "\n"
	                   E("instant", "1", "4", ",\"args\":{\"a\":NaN}") END), 1, 11,
	  { { "not-json", "}\n17" }, { "not-json", "17\n" }, { "not-json", "2x" }, { "not-json", "\n\n" },
	    { "not-json", "NaN" } } },
	{ "bad-utf8", TEXT(HEAD E("instant", "1", "4", ",\"args\":{\"s\":\"caf\xe9\"}") END), 1, 6,
	  { { "bad-utf8", "\xe9" } } },
	{ "cut-line", TEXT(HEAD SPAN("1", "2", "") "{\"kind\":\"span\",\"ts_ns\":2,\"na"), 1, 6,
	  { { "cut-line", "{\"kind\":\"span\",\"ts_ns\":2" } } },
	{ "no-end", TEXT(HEAD SPAN("1", "2", "")), 1, 5, { { "no-end", NULL } } },
	{ "unknown-type", TEXT(HEAD E("sample", "1", "4", "") END), 1, 6,
	  { { "unknown-type", "\"sample\"" } } },
	{ "missing-member", TEXT(HEAD "{\"ts_ns\":1}\n"
	                         "{\"kind\":\"span\",\"ts_ns\":1,\"name\":\"n\","
	                         ON "4}\n"
	                         "{\"type\":\"track\",\"index\":5,\"kind\":\"thread\",\"name\":\"x\"}\n" END),
	  1, 8, { { "missing-member", "{\"ts_ns\":1}" }, { "missing-member", "{\"kind\":\"span\"" },
	          { "missing-member", "{\"type\":\"track\",\"index\":5" } } },
	{ "unknown-member", TEXT(HEAD SPAN("1", "2", ",\"colour\":\"red\"") SPAN("1", "2", ",\"id\":99") END),
	  0, 7, { { "unknown-member", "\"colour\"" }, { "unknown-member", "99" } } },
	{ "duplicate-member", TEXT(HEAD SPAN("1", "2", ",\"dur_ns\":3")
	                           E("instant", "1", "4", ",\"args\":{\"a\":1,\"b\":2,\"a\":3}") END), 1, 7,
	  { { "duplicate-member", "\"dur_ns\":3" }, { "duplicate-member", "\"a\":3" } } },
	{ "wrong-type", TEXT(HEAD SPAN("\"1\"", "2", "") SPAN("1", "2", ",\"async\":false")
	                     E("instant", "1", "4", ",\"args\":[]") END), 1, 8,
	  { { "wrong-type", "\"1\",\"dur" }, { "wrong-type", "false}" }, { "wrong-type", "[]" } } },
	{ "out-of-range", TEXT(HEAD SPAN("18446744073709551616", "2", "")
	                       SPAN("18446744073709551615", "9", "")
	                       E("instant", "1", "4", ",\"args\":{\"a\":256}") END), 1, 8,
	  { { "out-of-range", "18446744073709551616" }, { "out-of-range", "9,\"name" },
	    { "out-of-range", "256" } } },
	{ "negative-time", TEXT(HEAD SPAN("-5", "2", "") END), 0, 6, { { "negative-time", "-5" } } },
	{ "bad-value", TEXT(HEAD E("instant", "1", "4", ",\"args\":{\"b\":\"much\",\"h\":\"beef\"},"
	                           "\"types\":{\"h\":\"address\",\"k\":\"u8\"}")
	                    E("instant", "1", "4", ",\"args\":{\"x\":1},\"types\":{\"x\":\"u128\"}")
	                    E("instant", "1", "4", ",\"pairs\":[[\"x\"]]") END), 1, 8,
	  { { "bad-value", "\"much\"" }, { "bad-value", "\"beef\"" }, { "bad-value", "{\"h\":\"address\"" },
	    { "bad-value", "u128" }, { "bad-value", "[\"x\"]" } } },
	{ "unknown-reference", TEXT(TRACE PROCESS THREAD SPAN("1", "2", "") CLASS
	                            "{\"kind\":\"instant\",\"ts_ns\":1,\"name\":\"n\",\"class_index\":0,"
	                            "\"category\":\"k\",\"track_index\":42,\"offset\":4}\n"
	                            "{\"type\":\"track\",\"index\":3,\"kind\":\"thread\",\"name\":\"x\","
	                            "\"parent\":99}\n" END), 1, 8,
	  { { "unknown-reference", "0,\"category" }, { "unknown-reference", "42" },
	    { "unknown-reference", "99" } } },
	{ "index-twice", TEXT(HEAD "{\"type\":\"class\",\"index\":0 ,\"name\":\"d\",\"category\":\"d\"}\n"
	                      END),
	  1, 6, { { "index-twice", "0 ," } } },
	{ "unexpected-line", TEXT(HEAD SPAN("1", "2", "")
	                          "{\"type\": \"trace\",\"version\":1,\"tool\":\"t\",\"mode\":\"raw\","
	                          "\"rebased\":false," FACTS "}\n" END
	                          "{\"type\":\"track\",\"index\":9,\"kind\":\"process\",\"name\":\"x\"}\n"),
	  1,
	  8, { { "unexpected-line", "{\"type\": \"trace\"" },
	       { "unexpected-line", "{\"type\":\"track\",\"index\":9" } } },
	{ "unbalanced", TEXT(HEAD E("end", "1", "4", "") E("begin", "2", "5", "") END), 0, 7,
	  { { "unbalanced", "{\"kind\":\"end\"" }, { "unbalanced", NULL } } },
	{ "events-missing", TEXT(RAW PROCESS THREAD CLASS E("instant", "1", "4", "") END_OF("9", "8", "")), 0,
	  6, { { "events-missing", "8,\"format" } } },
	{ NULL, NULL, 0, 0, 0, { { NULL, NULL } } },
};
