#include "dftracer/test/samples.h"

/* Each sample has five records, which are valid except for one fault; more faults only if unavoidable. */

#define LAST(args) FOUR EVENT("5", "last", args) "\n]"
#define ODD_LINE(line) FOUR line "\n" CLOSE "\n]"
#define NULS_10 "\0\0\0\0\0\0\0\0\0\0"
#define NULS_100 NULS_10 NULS_10 NULS_10 NULS_10 NULS_10 NULS_10 NULS_10 NULS_10 NULS_10 NULS_10
#define NULS_1000 NULS_100 NULS_100 NULS_100 NULS_100 NULS_100 NULS_100 NULS_100 NULS_100 NULS_100 NULS_100
#define NULS_4096                                                                                            \
	NULS_1000 NULS_1000 NULS_1000 NULS_1000 NULS_10 NULS_10 NULS_10 NULS_10 NULS_10 NULS_10 NULS_10      \
	    NULS_10 NULS_10 "\0\0\0\0\0\0"
#define RECORD(fields) "{\"id\":6," fields "}"
#define ROUTINE "\"name\":\"x\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":8,"
#define DEEP_10 "[[[[[[[[[["
#define DEEP_60 DEEP_10 DEEP_10 DEEP_10 DEEP_10 DEEP_10 DEEP_10

#define OPEN_NO_FILE EVENT("2", "open", "\"hhash\":5692,\"ret\":5")
#define READ_NO_FILE EVENT("3", "read", "\"hhash\":5692,\"ret\":5")
#define SECOND_FILE EVENT("3", "read", "\"hhash\":5692,\"ret\":5") "\n" EVENT("4", "close", "\"hhash\":5692")
#define TRACER(id, name, args)                                                                               \
	"{\"id\":" id ",\"name\":\"" name "\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ts\":100000" id     \
	",\"dur\":0,\"ph\":\"X\","                                                                           \
	"\"args\":{" args "}}"

/* Name, exit status, records that are kept, text, and the findings: rule, a text at the position, bytes after
 * it. */
#define PACKED(name, packing, status, records, text, ...)                                                    \
	{                                                                                                    \
		name, TEXT(text), status, "d2a", records, { __VA_ARGS__ }, packing                           \
	}
#define SAMPLE(name, ...) PACKED(name, DFT_PLAIN, __VA_ARGS__)

#define PAIR(ph)                                                                                             \
	"{\"id\":\"1:2:read\",\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":8,\"ts\":1,\"ph\":\"" ph \
	"\",\"args\":{}}"

/* clang-format off */

const struct dft_sample dft_bad[] = {
	/* ---- faults that other tools handle in some way ---- */
	SAMPLE("no-closing-bracket", 0, 5, FOUR CLOSE,
	       { "no-brackets", NULL, 0 }),
	SAMPLE("cut-last-line", 1, 4, FOUR "{\"id\":5,\"name\":\"close\",\"cat\":\"PO",
	       { "cut-record", "{\"id\":5", 0 }, { "no-brackets", NULL, 0 }),
	SAMPLE("trailing-commas", 1, 5, "[\n" HOST ",\n" FILE_A ",\n" OPEN ",\n" READ ",\n" CLOSE "\n]",
	       { "trailing-comma", "},\n", 1 }),
	SAMPLE("unescaped-quote", 1, 5, LAST("\"hhash\":5692,\"text\":\"say \"hi\"\",\"ret\":1"),
	       { "unescaped-quote", "\"hi", 0 }),
	SAMPLE("control-byte", 1, 5, LAST("\"hhash\":5692,\"text\":\"bell\a\""),
	       { "control-byte", "\a", 0 }),
	SAMPLE("raw-tab", 1, 5, LAST("\"hhash\":5692,\"text\":\"a\tb\""),
	       { "control-byte", "\t", 0 }),
	SAMPLE("raw-newline", 1, 4, LAST("\"hhash\":5692,\"text\":\"a\nb\""),
	       { "cut-record", "{\"id\":5", 0 }, { "broken-json", "b\"}}", 0 }),
	SAMPLE("invalid-utf8", 1, 5, FOUR EVENT("5", "na\xefve", "\"hhash\":5692") "\n]",
	       { "invalid-utf8", "\xef", 0 }),
	SAMPLE("nuls-at-the-end", 1, 5, SOUND "\n" NULS_4096,
	       { "nul-bytes", NULL, sizeof(SOUND) }),
	SAMPLE("nuls-before-a-record", 1, 5, FOUR NULS_100 CLOSE "\n]",
	       { "nul-bytes", NULL, sizeof(FOUR) - 1 }),
	SAMPLE("two-files", 0, 4, "[\n" HOST "\n" OPEN_NO_FILE "\n][\n" SECOND_FILE "\n]",
	       { "bracket", "][", 0 }),
	SAMPLE("appended-session", 0, 4, "[\n" HOST "\n" OPEN_NO_FILE "\n]  " SECOND_FILE "\n]",
	       { "bracket", "]  ", 0 }),
	SAMPLE("blank-lines", 0, 5, "[\n" HOST "\n\n" FILE_A "\n\n" OPEN "\n" READ "\n" CLOSE "\n\n]",
	       { "blank-line", "\n\n", 1 }),
	SAMPLE("cr-lf", 0, 5, "[\r\n" HOST "\r\n" FILE_A "\r\n" OPEN "\r\n" READ "\r\n" CLOSE "\r\n]\r\n",
	       { "cr-lf", "\r\n{", 0 }),
	SAMPLE("byte-order-mark", 0, 5, "\xef\xbb\xbf" SOUND,
	       { "byte-order-mark", NULL, 0 }),
	SAMPLE("stray-q", 1, 6, ODD_LINE("{\"id\":6,\"name\":\"PR\",\"cat\":\"dftracer\",\"pid\":7q,"
	       "\"tid\":7,\"ph\":\"M\",\"args\":{\"name\":\"core_affinity\",\"value\":[0,1]}}"),
	       { "stray-q", "q,", 0 }),
	SAMPLE("comma-in-args", 1, 5, LAST("\"hhash\":5692,"),
	       { "comma-in-object", ",}}", 1 }),
	SAMPLE("nan-and-inf", 1, 6, FOUR EVENT("5", "a", "\"hhash\":5692,\"x\":nan") "\n"
	       EVENT("6", "b", "\"hhash\":5692,\"x\":-inf,\"y\":1e+06") "\n]",
	       { "not-finite", "nan", 0 }, { "not-finite", "-inf", 0 }),
	SAMPLE("two-records", 1, 5, FIRST_TWO OPEN READ "\n" CLOSE "\n]",
	       { "two-records", "{\"id\":4", 0 }),
	SAMPLE("cut-and-whole", 1, 4, FIRST_TWO "{\"id\":3,\"name\":\"op" READ "\n" CLOSE "\n]",
	       { "cut-record", "{\"id\":3", 0 }),
	SAMPLE("array-on-a-line", 1, 5, "[" HOST "," FILE_A "," OPEN "," READ "," CLOSE "]\n",
	       { "bracket", NULL, 0 }, { "bracket", "]\n", 0 }, { "two-records", "{\"id\":2", 0 }),
	SAMPLE("other-lines", 1, 6, FOUR "{\"a\":1}\nnull\nhello there\n" CLOSE "\n]",
	       { "missing-field", "{\"a\"", 0 }, { "missing-field", "{\"a\"", 0 },
	       { "broken-json", "null", 0 }, { "broken-json", "hello", 0 }, { "no-id", "{\"a\"", 0 },
	       { "extra-field", "{\"a\"", 0 }),
	PACKED("gzip-no-trailer", DFT_GZIP_NO_TRAILER, 1, 5, SOUND,
	       { "input/packed-cut", NULL, sizeof(SOUND) - 1 }),
	PACKED("gzip-bad-crc", DFT_GZIP_BAD_CRC, 1, 5, SOUND,
	       { "input/packed-corrupt", NULL, sizeof(SOUND) - 1 }),
	PACKED("gzip-bytes-behind", DFT_GZIP_BYTES_BEHIND, 0, 5, SOUND,
	       { "input/packed-trailing", NULL, sizeof(SOUND) - 1 }),

	PACKED("gzip-cut", DFT_GZIP_CUT, 1, 3, SOUND,
	       { "cut-record", "{\"id\":4", 0 }, { "no-brackets", NULL, 0 },
	       { "input/packed-cut", NULL, sizeof(SOUND) - 1 - ((sizeof(SOUND) - 1) / 3 - 8) }),

	/* ---- other faults that tracers write ---- */
	SAMPLE("unescaped-backslash", 1, 6, FOUR
	       EVENT("5", "dir\\", "\"hhash\":5692,\"path\":\"C:\\\",\"ret\":1") "\n"
	       EVENT("6", "last", "\"hhash\":5692,\"path\":\"D:\\\"") "\n]",
	       { "bad-escape", "\\\",\"cat", 0 }, { "bad-escape", "\\\"}}", 0 }),
	SAMPLE("cut-at-4096-bytes", 1, 5, FOUR
	       "{\"id\":6,\"name\":\"open\",\"cat\":\"POSIX\",\"args\":{\"path\":\"/very/lo\0\"ret\":\"1\","
	       "\"stale\n" CLOSE "\n]",
	       { "broken-json", "ret\":\"1", 0 }),
	SAMPLE("cut-at-16383-bytes", 1, 5, FOUR
	       "{\"id\":6,\"name\":\"open\",\"cat\":\"POSIX\",\"args\":{\"path\":\"/very/lo" CLOSE "\n]",
	       { "cut-record", "{\"id\":6", 0 }),
	SAMPLE("two-writers", 1, 5, FOUR "{\"id\":6,\"name\":\"op" CLOSE "\nen\",\"cat\":\"POSIX\"}\n]",
	       { "cut-record", "{\"id\":6", 0 }, { "broken-json", "en\",\"cat\":\"POSIX\"}", 0 }),
	SAMPLE("crashed", 1, 4, "   " HOST "\n" FILE_A "\n" OPEN "\n" READ "\n{\"id\":5,\"na",
	       { "cut-record", "{\"id\":5", 0 }, { "no-brackets", NULL, 0 }, { "leading-blanks", NULL, 0 }),
	SAMPLE("glued-files", 1, 4, "[\n" HOST "\n" OPEN_NO_FILE "[\n" READ_NO_FILE
	       EVENT("4", "close", "\"hhash\":5692") "\n]",
	       { "bracket", "[\n{\"id\":3", 0 }, { "two-records", "{\"id\":4", 0 }),
	SAMPLE("wrapped-on-a-line", 1, 2, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[" HOST ","
	       OPEN_NO_FILE "]}",
	       { "wrapped", NULL, 0 }, { "bracket", "]}", 0 }, { "two-records", "{\"id\":2", 0 }),
	SAMPLE("pairs", 1, 7, FOUR CLOSE "\n" PAIR("b") "\n" PAIR("e") "\n]",
	       { "unknown-phase", "b\",\"args", 0 }, { "unknown-phase", "e\",\"args", 0 }),

	/* ---- rules that no sample above breaks alone ---- */
	SAMPLE("broken-json", 1, 5, ODD_LINE("{\"id\":6,\"name\":\"x\" \"cat\":1}"),
	       { "broken-json", "\"cat\":1}", 0 }),
	SAMPLE("too-deep", 1, 5, ODD_LINE("{\"id\":6," ROUTINE "\"ts\":1,\"dur\":1,\"ph\":\"X\","
	       "\"args\":{\"a\":[" DEEP_60 "1]"),
	       { "broken-json", "[[", 60 }),
	SAMPLE("bad-value", 1, 5, LAST("\"hhash\":5692,\"x\":007,\"y\":None"),
	       { "bad-value", "007", 0 }),
	SAMPLE("bad-escape", 1, 5, LAST("\"hhash\":5692,\"path\":\"C:\\data\\x\""),
	       { "bad-escape", "\\data", 0 }),
	SAMPLE("half-a-surrogate-pair", 1, 5, LAST("\"hhash\":5692,\"path\":\"\\ud83d\""),
	       { "bad-escape", "\\ud83d", 0 }),
	SAMPLE("nul-in-a-text", 1, 5, LAST("\"hhash\":5692,\"path\":\"a\0b\""),
	       { "nul-bytes", "path\":\"a", 8 }),
	SAMPLE("duplicate-key", 0, 5, LAST("\"hhash\":5692,\"step\":1,\"step\":2,\"step\":3"),
	       { "duplicate-key", "\"step\":2", 1 }),
	SAMPLE("duplicate-field", 0, 6,
	       ODD_LINE(RECORD(ROUTINE
	       "\"pid\":9,\"ts\":1,\"dur\":1,\"ph\":\"X\",\"args\":{\"hhash\":5692}")),
	       { "duplicate-key", "pid\":9", 0 }, { "extra-field", "{\"id\":6", 0 }),
	SAMPLE("bracket-between", 0, 5, FOUR "[\n" CLOSE "\n]",
	       { "bracket", "[\n{\"id\":5", 0 }),
	SAMPLE("bracket-behind-a-record", 0, 5, FOUR CLOSE "]\n",
	       { "bracket", "]\n", 0 }),
	SAMPLE("wrapped", 0, 2, "{\"traceEvents\":[\n" HOST "\n" OPEN_NO_FILE "\n],\"other\":1}\n",
	       { "wrapped", NULL, 0 }, { "wrapped", ",\"other\"", 0 }),
	SAMPLE("leading-blanks", 0, 2, "   " HOST "\n" OPEN_NO_FILE "\n",
	       { "no-brackets", NULL, 0 }, { "leading-blanks", NULL, 0 }),
	SAMPLE("missing-dur", 1, 6,
	       ODD_LINE(RECORD(ROUTINE "\"ts\":1,\"ph\":\"X\",\"args\":{\"hhash\":5692}")),
	       { "missing-field", "{\"id\":6", 0 }),
	SAMPLE("missing-hash-value", 1, 6,
	       ODD_LINE(RECORD("\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\","
	       "\"args\":{\"name\":\"x\"}")),
	       { "missing-field", "{\"id\":6", 0 }),
	SAMPLE("field-type", 1, 6, ODD_LINE(RECORD("\"name\":5,\"cat\":\"POSIX\",\"pid\":\"seven\",\"tid\":8,"
	       "\"ts\":1.5,\"dur\":1,\"ph\":\"X\",\"args\":[]")),
	       { "field-type", "5,\"cat\":\"POSIX\",\"pid\":\"seven", 0 }, { "field-type", "1.5", 0 },
	       { "field-type", "[]", 0 }, { "field-type", "seven", 0 }),
	SAMPLE("number-range", 1, 6,
	       ODD_LINE(RECORD(ROUTINE
	       "\"ts\":18446744073709551616,\"dur\":-1,\"ph\":\"X\",\"args\":{\"hhash\":5692}")),
	       { "number-range", "18446744073709551616", 0 }, { "number-range", "-1", 0 }),
	SAMPLE("time-overflow", 1, 6,
	       ODD_LINE(RECORD(ROUTINE
	       "\"ts\":18446744073709551,\"dur\":18446744073709551,\"ph\":\"X\",\"args\":{\"hhash\":5692}")),
	       { "number-range", "18446744073709551,\"ph", 0 }),
	SAMPLE("unknown-phase", 1, 6,
	       ODD_LINE(RECORD(ROUTINE "\"ts\":1,\"dur\":1,\"ph\":\"Q\",\"args\":{\"hhash\":5692}")),
	       { "unknown-phase", "Q", 0 }),
	SAMPLE("bad-hash", 1, 5, LAST("\"hhash\":5692,\"fhash\":\"/data/a\""),
	       { "bad-hash", "/data/a\"}}\n]", 0 }),
	SAMPLE("hash-undefined", 0, 5, LAST("\"hhash\":5692,\"fhash\":23"),
	       { "hash-undefined", "{\"id\":5", 0 }),
	SAMPLE("hash-redefined", 0, 6,
	       ODD_LINE(RECORD("\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\","
	       "\"args\":{\"name\":\"/data/b\",\"value\":22}")),
	       { "hash-redefined", "{\"id\":6", 0 }),
	SAMPLE("id-repeated", 0, 5, FOUR EVENT("4", "again", "\"hhash\":5692") "\n]",
	       { "id-repeated", "{\"id\":4,\"name\":\"again", 0 }),
	SAMPLE("num-events", 0, 3, "[\n" HOST "\n" TRACER("2", "start", "\"version\":100005") "\n"
	       TRACER("9", "end", "\"num_events\":8") "\n]",
	       { "num-events", "8}}\n]", 0 }),
	SAMPLE("end-missing", 0, 3, "[\n" HOST "\n" TRACER("2", "start", "\"version\":100005") "\n"
	       READ_NO_FILE "\n]",
	       { "end-missing", "{\"id\":2", 0 }),
	SAMPLE("time-unit", 0, 3, "[\n" HOST
	       "\n{\"id\":2,\"name\":\"CM\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\","
	       "\"args\":{\"name\":\"time_metric\",\"value\":\"HOURS\"}}\n" READ_NO_FILE "\n]",
	       { "time-unit", "HOURS", 0 }),
	SAMPLE("mixed-dialects", 0, 6, SOUND
	       "\n{\"id\":\"6\",\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":\"7\",\"tid\":\"8\",\"ts\":\"1\","
	       "\"dur\":\"1\",\"ph\":\"X\",\"args\":{}}\n",
	       { "bracket", "]\n{\"id\":\"6", 0 }, { "mixed-dialects", "{\"id\":\"6", 0 },
	       { "no-brackets", NULL, 0 }, { "quoted-number", "{\"id\":\"6", 0 }),
	SAMPLE("forms-of-later", 0, 6, FOUR
	       "{\"name\":\"cpu\",\"cat\":\"sys\",\"pid\":7,\"tid\":8,\"ts\":1,\"type\":2,\"ph\":2,"
	       "\"args\":{\"hhash\":\"e6f5f2c220c91879\",\"busy\":1}}\n" CLOSE "\n]",
	       { "mixed-dialects", "{\"name\":\"cpu", 0 }, { "hash-undefined", "{\"name\":\"cpu", 0 },
	       { "phase-form", "{\"name\":\"cpu", 0 },
	       { "later-phase", "{\"name\":\"cpu", 0 }, { "no-id", "{\"name\":\"cpu", 0 },
	       { "extra-field", "{\"name\":\"cpu", 0 }, { "hash-as-text", "{\"name\":\"cpu", 0 }),
	SAMPLE("name-as-text", 0, 6, FOUR
	       EVENT("6", "stat", "\"hostname\":\"node1\",\"fname\":\"/data/a\"") "\n" CLOSE "\n]",
	       { "mixed-dialects", "{\"id\":6", 0 }, { "name-as-text", "{\"id\":6", 0 }),
	SAMPLE("no-args", 0, 6, ODD_LINE(RECORD(ROUTINE "\"ts\":1,\"dur\":1,\"ph\":\"X\"")),
	       { "no-args", "{\"id\":6", 0 }),
	{ NULL, NULL, 0, 0, NULL, 0, { { 0 } }, DFT_PLAIN },
};
