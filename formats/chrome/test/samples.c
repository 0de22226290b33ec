#include "chrome/test/samples.h"

/* clang-format off */

#define TEXT(s) s, sizeof(s) - 1
#define WHO ",\"pid\":7,\"tid\":8"
#define X(name, ts, dur) \
	"{\"name\":\"" name "\",\"cat\":\"c\",\"ph\":\"X\",\"ts\":" ts ",\"dur\":" dur WHO "}"
#define E(ph, ts, more) "{\"name\":\"n\",\"cat\":\"c\",\"ph\":\"" ph "\",\"ts\":" ts WHO more "}"

/* Every kind of event, in the object form. */
#define OBJECT \
	"{\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[\n" \
	"{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":7,\"args\":{\"name\":\"program\"}},\n" \
	"{\"name\":\"thread_name\",\"ph\":\"M\"" WHO ",\"args\":{\"name\":\"main\"}},\n" \
	"{\"name\":\"outer\",\"cat\":\"c\",\"ph\":\"B\",\"ts\":1.001" WHO \
	",\"args\":{\"a\":1,\"b\":\"x\\ty\"}},\n" \
	X("inner", "2.5", "0.25") ",\n" E("E", "9", "") ",\n" \
	E("i", "3", ",\"s\":\"t\"") ",\n" E("I", "3.5", ",\"s\":\"p\"") ",\n" \
	E("R", "3.5", "") ",\n" \
	"{\"name\":\"memory\",\"cat\":\"c\",\"ph\":\"C\",\"ts\":4,\"pid\":7," \
	"\"args\":{\"used\":5,\"free\":2.5}},\n" \
	"{\"name\":\"memory\",\"cat\":\"c\",\"ph\":\"C\",\"id\":2,\"ts\":4,\"pid\":7," \
	"\"args\":{\"used\":5}},\n" \
	E("b", "5", ",\"id2\":{\"local\":\"0x1\"},\"args\":{\"of\":\"task\"}") ",\n" \
	E("b", "6", ",\"id2\":{\"local\":\"0x1\"}") ",\n" \
	E("n", "6.5", ",\"id2\":{\"local\":\"0x1\"}") ",\n" \
	E("e", "7", ",\"id2\":{\"local\":\"0x1\"}") ",\n" \
	E("e", "8", ",\"id2\":{\"local\":\"0x1\"}") ",\n" \
	E("S", "5", ",\"id\":3") ",\n" E("T", "6", ",\"id\":3") ",\n" E("F", "7", ",\"id\":3") ",\n" \
	E("s", "2.6", ",\"id\":\"0xff\"") ",\n" E("t", "6", ",\"id\":\"0xff\"") ",\n" \
	E("f", "9", ",\"id\":\"0xff\",\"bp\":\"e\"") "\n" \
	"],\n\"otherData\":{\"version\":\"1\",\"epoch_ns\":1000}}\n"

const struct text_sample chrome_good[] = {
	{ "object", TEXT(OBJECT), 0, 21, { { NULL, NULL } } },
	{ "array", TEXT("[" X("a", "1", "2") "," X("b", "1", "1") "]"), 0, 2, { { NULL, NULL } } },
	{ "unclosed", TEXT("[\n" X("a", "1", "2") ",\n" X("b", "1", "1") ",\n"), 0, 2,
	  { { "unclosed", NULL } } },
	{ "empty", TEXT("{\"traceEvents\":[]}"), 0, 0, { { NULL, NULL } } },
	{ "late-names", TEXT("[" X("a", "1", "2") ",{\"ph\":\"M\",\"name\":\"thread_name\"" WHO
	                     ",\"args\":{\"name\":\"late\"}}]"), 0, 2, { { NULL, NULL } } },
	{ "numbers", TEXT("[" X("exact", "9007199254740993.125", "0.001") ","
	                  X("exponent", "1.5e3", "2E-2") ","
	                  X("text", "\"12.5\"", "1")
	                  ",{\"ph\":\"X\",\"name\":\"names\",\"ts\":1,"
	                  "\"dur\":1,\"pid\":\"Browser\",\"tid\":\"12\"}]"), 0, 4,
	  { { "quoted-number", "\"12.5\"" } } },
	{ "escapes", TEXT("[" X("\\u00e9\\n\\ud83d\\ude00", "1", "2") ","
	                  X("\xc3\xa9", "4", "1") "]"), 0, 2,
	  { { NULL, NULL } } },
	{ "order", TEXT("[" E("f", "9", ",\"id\":1") "," X("late", "8", "2") "," X("early", "1", "2") ","
	                E("s", "2", ",\"id\":1") "]"), 0, 4, { { NULL, NULL } } },
	{ NULL, NULL, 0, 0, 0, { { NULL, NULL } } },
};

const struct text_sample chrome_bad[] = {
	{ "not-json", TEXT("[" X("a", "1", "2") ",\n{\"ph\":\"X\",,}]"), 1, 1, { { "not-json", ",}]" } } },
	{ "nan", TEXT("[" X("a", "1", "2") "," E("i", "1", ",\"args\":{\"v\":NaN}") "]"), 1, 2,
	  { { "not-json", "NaN" } } },
	{ "bytes-behind", TEXT("[" X("a", "1", "2") "]\n]"), 1, 1, { { "not-json", "\n]" } } },
	{ "cut-event", TEXT("{\"traceEvents\":[" X("a", "1", "2") ",\n{\"ph\":\"X\",\"name\":\"b"), 1, 1,
	  { { "cut-event", "{\"ph\"" } } },
	{ "trailing-comma", TEXT("[" X("a", "1", "2") ",]"), 0, 1, { { "trailing-comma", ",]" } } },
	{ "bad-utf8", TEXT("[" X("a\xff", "1", "2") "]"), 1, 1, { { "bad-utf8", "\xff" } } },
	{ "no-events", TEXT("{\"displayTimeUnit\":\"ns\",\"otherData\":{}\n}"), 1, 0,
	  { { "no-events", "\n}" } } },
	{ "not-an-event", TEXT("[" X("a", "1", "2") ",17,{\"name\":\"b\"}]"), 1, 1,
	  { { "not-an-event", "17" }, { "not-an-event", "{\"name\":\"b\"}" } } },
	{ "unknown-phase", TEXT("[" X("a", "1", "2") "," E("Z", "1", "") "]"), 1, 1,
	  { { "unknown-phase", "\"Z\"" } } },
	{ "missing-field", TEXT("[{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"tid\":8},{\"ph\":\"i\",\"pid\":7}]"),
	  1, 1,
	  { { "missing-field", "{\"ph\":\"X\"" }, { "missing-field", "{\"ph\":\"i\"" } } },
	{ "missing-dur", TEXT("[" E("X", "1", "") "]"), 1, 1, { { "missing-dur", "{" } } },
	{ "bad-number", TEXT("[" X("a", "-5", "2") "," X("b", "5", "1e30") "," X("c", "\"x\"", "1") "]"),
	  1, 2,
	  { { "bad-number", "-5" }, { "bad-number", "1e30" }, { "bad-number", "\"x\"" },
	    { "missing-field", "{\"name\":\"c\"" } } },
	{ "id-range", TEXT("[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"s\":\"t\",\"pid\":-1,"
	                   "\"tid\":4294967296}]"), 0, 1,
	  { { "id-range", "4294967296" }, { "id-range", "-1" } } },
	{ "unbalanced-end", TEXT("[" E("B", "1", "") "," E("E", "2", "") "," E("E", "3.5", "") "]"), 1, 3,
	  { { "unbalanced", "{\"name\":\"n\",\"cat\":\"c\",\"ph\":\"E\",\"ts\":3.5" } } },
	{ "unbalanced-begin", TEXT("[" X("a", "1", "2") "," E("B", "1", "") "]"), 1, 2,
	  { { "unbalanced", "{\"name\":\"n\"" } } },
	{ "unbalanced-async", TEXT("[" E("e", "1", ",\"id\":1") "," E("b", "1", ",\"id\":2") "]"), 1, 2,
	  { { "unbalanced", "{\"name\"" }, { "unbalanced", NULL } } },
	{ "unbalanced-flow", TEXT("[" E("f", "1", ",\"id\":1") "]"), 1, 1, { { "unbalanced", NULL } } },
	{ "overlap", TEXT("[" X("a", "1", "5") "," X("b", "3", "5") "]"), 0, 2,
	  { { "overlap", "{\"name\":\"b\"" } } },
	{ "duplicate-id", TEXT("[" E("s", "1", ",\"id\":1") "," E("s", "1.5", ",\"id\":1") "]"), 0, 2,
	  { { "duplicate-id", "{\"name\":\"n\",\"cat\":\"c\",\"ph\":\"s\",\"ts\":1.5" } } },
	{ "duplicate-key", TEXT("[{\"ph\":\"i\",\"ts\":1,\"pid\":1,\"tid\":1,\"s\":\"t\",\"ts\":2}]"), 0, 1,
	  { { "duplicate-key", "\"ts\":2" } } },
	{ NULL, NULL, 0, 0, 0, { { NULL, NULL } } },
};
