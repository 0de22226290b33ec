#include "bench/dft_samples.h"
#include "bench/dft_samples_parts.h"

/* Each has one thing wrong with five records that are sound otherwise, and more than one only where that cannot be avoided. */

#define LAST(args) FOUR EVENT("5", "last", args) "\n]"
#define ODD_LINE(line) FOUR line "\n" CLOSE "\n]"
#define NULS_10 "\0\0\0\0\0\0\0\0\0\0"
#define NULS_100 NULS_10 NULS_10 NULS_10 NULS_10 NULS_10 NULS_10 NULS_10 NULS_10 NULS_10 NULS_10
#define RECORD(fields) "{\"id\":6," fields "}"
#define ROUTINE "\"name\":\"x\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":8,"
#define DEEP_10 "[[[[[[[[[["
#define DEEP_60 DEEP_10 DEEP_10 DEEP_10 DEEP_10 DEEP_10 DEEP_10

/* ---- the rows of what other tools do with imperfect files ---- */

#define ROWS \
	{ "no-closing-bracket", TEXT(FOUR CLOSE), 0, "d2a", 5, { { "no-brackets", NULL, 0 } }, DFT_PLAIN }, \
	{ "cut-last-line", TEXT(FOUR "{\"id\":5,\"name\":\"close\",\"cat\":\"PO"), 1, "d2a", 4, { { "cut-record", "{\"id\":5", 0 }, { "no-brackets", NULL, 0 } }, DFT_PLAIN }, \
	{ "trailing-commas", TEXT("[\n" HOST ",\n" FILE_A ",\n" OPEN ",\n" READ ",\n" CLOSE "\n]"), 1, "d2a", 5, { { "trailing-comma", "},\n", 1 } }, DFT_PLAIN }, \
	{ "unescaped-quote", TEXT(LAST("\"hhash\":5692,\"text\":\"say \"hi\"\",\"ret\":1")), 1, "d2a", 5, { { "unescaped-quote", "\"hi", 0 } }, DFT_PLAIN }, \
	{ "control-byte", TEXT(LAST("\"hhash\":5692,\"text\":\"bell\a\"")), 1, "d2a", 5, { { "control-byte", "\a", 0 } }, DFT_PLAIN }, \
	{ "raw-tab", TEXT(LAST("\"hhash\":5692,\"text\":\"a\tb\"")), 1, "d2a", 5, { { "control-byte", "\t", 0 } }, DFT_PLAIN }, \
	{ "raw-newline", TEXT(LAST("\"hhash\":5692,\"text\":\"a\nb\"")), 1, "d2a", 4, { { "cut-record", "{\"id\":5", 0 }, { "broken-json", "b\"}}", 0 } }, DFT_PLAIN }, \
	{ "invalid-utf8", TEXT(FOUR EVENT("5", "na\xefve", "\"hhash\":5692") "\n]"), 1, "d2a", 5, { { "invalid-utf8", "\xef", 0 } }, DFT_PLAIN }, \
	{ "nuls-at-the-end", TEXT(SOUND "\n" NULS_100), 1, "d2a", 5, { { "nul-bytes", NULL, sizeof(SOUND) } }, DFT_PLAIN }, \
	{ "nuls-before-a-record", TEXT(FOUR NULS_100 CLOSE "\n]"), 1, "d2a", 5, { { "nul-bytes", NULL, sizeof(FOUR) - 1 } }, DFT_PLAIN }, \
	{ "two-files", TEXT("[\n" HOST "\n" OPEN_NO_FILE "\n][\n" SECOND_FILE "\n]"), 0, "d2a", 4, { { "bracket", "][", 0 } }, DFT_PLAIN }, \
	{ "appended-session", TEXT("[\n" HOST "\n" OPEN_NO_FILE "\n]  " SECOND_FILE "\n]"), 0, "d2a", 4, { { "bracket", "]  ", 0 } }, DFT_PLAIN }, \
	{ "blank-lines", TEXT("[\n" HOST "\n\n" FILE_A "\n\n" OPEN "\n" READ "\n" CLOSE "\n\n]"), 0, "d2a", 5, { { "blank-line", "\n\n", 1 } }, DFT_PLAIN }, \
	{ "cr-lf", TEXT("[\r\n" HOST "\r\n" FILE_A "\r\n" OPEN "\r\n" READ "\r\n" CLOSE "\r\n]\r\n"), 0, "d2a", 5, { { "cr-lf", "\r\n{", 0 } }, DFT_PLAIN }, \
	{ "byte-order-mark", TEXT("\xef\xbb\xbf" SOUND), 0, "d2a", 5, { { "byte-order-mark", NULL, 0 } }, DFT_PLAIN }, \
	{ "stray-q", TEXT(ODD_LINE("{\"id\":6,\"name\":\"PR\",\"cat\":\"dftracer\",\"pid\":7q,\"tid\":7,\"ph\":\"M\",\"args\":{\"name\":\"core_affinity\",\"value\":[0,1]}}")), 1, "d2a", 6, { { "stray-q", "q,", 0 } }, DFT_PLAIN }, \
	{ "comma-in-args", TEXT(LAST("\"hhash\":5692,")), 1, "d2a", 5, { { "comma-in-object", ",}}", 1 } }, DFT_PLAIN }, \
	{ "nan-and-inf", TEXT(FOUR EVENT("5", "a", "\"hhash\":5692,\"x\":nan") "\n" EVENT("6", "b", "\"hhash\":5692,\"x\":-inf,\"y\":1e+06") "\n]"), 1, "d2a", 6, { { "not-finite", "nan", 0 }, { "not-finite", "-inf", 0 } }, DFT_PLAIN }, \
	{ "two-records", TEXT(FIRST_TWO OPEN READ "\n" CLOSE "\n]"), 1, "d2a", 5, { { "two-records", "{\"id\":4", 0 } }, DFT_PLAIN }, \
	{ "cut-and-whole", TEXT(FIRST_TWO "{\"id\":3,\"name\":\"op" READ "\n" CLOSE "\n]"), 1, "d2a", 4, { { "cut-record", "{\"id\":3", 0 } }, DFT_PLAIN }, \
	{ "array-on-a-line", TEXT("[" HOST "," FILE_A "," OPEN "," READ "," CLOSE "]\n"), 1, "d2a", 5, { { "bracket", NULL, 0 }, { "bracket", "]\n", 0 }, { "two-records", "{\"id\":2", 0 } }, DFT_PLAIN }, \
	{ "other-lines", TEXT(FOUR "{\"a\":1}\nnull\nhello there\n" CLOSE "\n]"), 1, "d2a", 6, { { "missing-field", "{\"a\"", 0 }, { "missing-field", "{\"a\"", 0 }, { "broken-json", "null", 0 }, { "broken-json", "hello", 0 }, { "no-id", "{\"a\"", 0 }, { "extra-field", "{\"a\"", 0 } }, DFT_PLAIN }, \
	{ "gzip-no-trailer", TEXT(SOUND), 2, "d2a", 5, { { "input/packed-cut", NULL, sizeof(SOUND) - 1 } }, DFT_GZIP_NO_TRAILER }, \
	{ "gzip-bad-crc", TEXT(SOUND), 2, "d2a", 5, { { "input/packed-corrupt", NULL, sizeof(SOUND) - 1 } }, DFT_GZIP_BAD_CRC }, \
	{ "gzip-bytes-behind", TEXT(SOUND), 0, "d2a", 5, { { "input/packed-trailing", NULL, sizeof(SOUND) - 1 } }, DFT_GZIP_BYTES_BEHIND }

#define OPEN_NO_FILE EVENT("2", "open", "\"hhash\":5692,\"ret\":5")
#define SECOND_FILE EVENT("3", "read", "\"hhash\":5692,\"ret\":5") "\n" EVENT("4", "close", "\"hhash\":5692")

/* ---- the rules that no row above provokes alone ---- */

#define RULES \
	{ "broken-json", TEXT(ODD_LINE("{\"id\":6,\"name\":\"x\" \"cat\":1}")), 1, "d2a", 5, { { "broken-json", "\"cat\":1}", 0 } }, DFT_PLAIN }, \
	{ "too-deep", TEXT(ODD_LINE("{\"id\":6," ROUTINE "\"ts\":1,\"dur\":1,\"ph\":\"X\",\"args\":{\"a\":[" DEEP_60 "1]")), 1, "d2a", 5, { { "broken-json", "[[", 60 } }, DFT_PLAIN }, \
	{ "bad-value", TEXT(LAST("\"hhash\":5692,\"x\":007,\"y\":None")), 1, "d2a", 5, { { "bad-value", "007", 0 } }, DFT_PLAIN }, \
	{ "bad-escape", TEXT(LAST("\"hhash\":5692,\"path\":\"C:\\data\\x\"")), 1, "d2a", 5, { { "bad-escape", "\\data", 0 } }, DFT_PLAIN }, \
	{ "half-a-surrogate-pair", TEXT(LAST("\"hhash\":5692,\"path\":\"\\ud83d\"")), 1, "d2a", 5, { { "bad-escape", "\\ud83d", 0 } }, DFT_PLAIN }, \
	{ "nul-in-a-text", TEXT(LAST("\"hhash\":5692,\"path\":\"a\0b\"")), 1, "d2a", 5, { { "nul-bytes", "path\":\"a", 8 } }, DFT_PLAIN }, \
	{ "duplicate-key", TEXT(LAST("\"hhash\":5692,\"step\":1,\"step\":2,\"step\":3")), 0, "d2a", 5, { { "duplicate-key", "\"step\":2", 1 } }, DFT_PLAIN }, \
	{ "duplicate-field", TEXT(ODD_LINE(RECORD(ROUTINE "\"pid\":9,\"ts\":1,\"dur\":1,\"ph\":\"X\",\"args\":{\"hhash\":5692}"))), 0, "d2a", 6, { { "duplicate-key", "pid\":9", 0 }, { "extra-field", "{\"id\":6", 0 } }, DFT_PLAIN }, \
	{ "bracket-between", TEXT(FOUR "[\n" CLOSE "\n]"), 0, "d2a", 5, { { "bracket", "[\n{\"id\":5", 0 } }, DFT_PLAIN }, \
	{ "bracket-behind-a-record", TEXT(FOUR CLOSE "]\n"), 0, "d2a", 5, { { "bracket", "]\n", 0 } }, DFT_PLAIN }, \
	{ "wrapped", TEXT("{\"traceEvents\":[\n" HOST "\n" OPEN_NO_FILE "\n],\"other\":1}\n"), 0, "d2a", 2, { { "wrapped", NULL, 0 }, { "wrapped", ",\"other\"", 0 } }, DFT_PLAIN }, \
	{ "leading-blanks", TEXT("   " HOST "\n" OPEN_NO_FILE "\n"), 0, "d2a", 2, { { "no-brackets", NULL, 0 }, { "leading-blanks", NULL, 0 } }, DFT_PLAIN }, \
	{ "missing-dur", TEXT(ODD_LINE(RECORD(ROUTINE "\"ts\":1,\"ph\":\"X\",\"args\":{\"hhash\":5692}"))), 1, "d2a", 6, { { "missing-field", "{\"id\":6", 0 } }, DFT_PLAIN }, \
	{ "missing-hash-value", TEXT(ODD_LINE(RECORD("\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\",\"args\":{\"name\":\"x\"}"))), 1, "d2a", 6, { { "missing-field", "{\"id\":6", 0 } }, DFT_PLAIN }, \
	{ "field-type", TEXT(ODD_LINE(RECORD("\"name\":5,\"cat\":\"POSIX\",\"pid\":\"seven\",\"tid\":8,\"ts\":1.5,\"dur\":1,\"ph\":\"X\",\"args\":[]"))), 1, "d2a", 6, { { "field-type", "5,\"cat\":\"POSIX\",\"pid\":\"seven", 0 }, { "field-type", "1.5", 0 }, { "field-type", "[]", 0 }, { "field-type", "seven", 0 } }, DFT_PLAIN }, \
	{ "number-range", TEXT(ODD_LINE(RECORD(ROUTINE "\"ts\":18446744073709551616,\"dur\":-1,\"ph\":\"X\",\"args\":{\"hhash\":5692}"))), 1, "d2a", 6, { { "number-range", "18446744073709551616", 0 }, { "number-range", "-1", 0 } }, DFT_PLAIN }, \
	{ "time-overflow", TEXT(ODD_LINE(RECORD(ROUTINE "\"ts\":18446744073709551,\"dur\":18446744073709551,\"ph\":\"X\",\"args\":{\"hhash\":5692}"))), 1, "d2a", 6, { { "number-range", "18446744073709551,\"ph", 0 } }, DFT_PLAIN }, \
	{ "unknown-phase", TEXT(ODD_LINE(RECORD(ROUTINE "\"ts\":1,\"dur\":1,\"ph\":\"Q\",\"args\":{\"hhash\":5692}"))), 1, "d2a", 6, { { "unknown-phase", "Q", 0 } }, DFT_PLAIN }, \
	{ "bad-hash", TEXT(LAST("\"hhash\":5692,\"fhash\":\"/data/a\"")), 1, "d2a", 5, { { "bad-hash", "/data/a\"}}\n]", 0 } }, DFT_PLAIN }, \
	{ "hash-undefined", TEXT(LAST("\"hhash\":5692,\"fhash\":23")), 0, "d2a", 5, { { "hash-undefined", "{\"id\":5", 0 } }, DFT_PLAIN }, \
	{ "hash-redefined", TEXT(ODD_LINE(RECORD("\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\",\"args\":{\"name\":\"/data/b\",\"value\":22}"))), 0, "d2a", 6, { { "hash-redefined", "{\"id\":6", 0 } }, DFT_PLAIN }, \
	{ "id-repeated", TEXT(FOUR EVENT("4", "again", "\"hhash\":5692") "\n]"), 0, "d2a", 5, { { "id-repeated", "{\"id\":4,\"name\":\"again", 0 } }, DFT_PLAIN }, \
	{ "num-events", TEXT("[\n" HOST "\n" TRACER("2", "start", "\"version\":100005") "\n" TRACER("9", "end", "\"num_events\":8") "\n]"), 0, "d2a", 3, { { "num-events", "8}}\n]", 0 } }, DFT_PLAIN }, \
	{ "end-missing", TEXT("[\n" HOST "\n" TRACER("2", "start", "\"version\":100005") "\n" READ_NO_FILE "\n]"), 0, "d2a", 3, { { "end-missing", "{\"id\":2", 0 } }, DFT_PLAIN }, \
	{ "time-unit", TEXT("[\n" HOST "\n{\"id\":2,\"name\":\"CM\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\",\"args\":{\"name\":\"time_metric\",\"value\":\"HOURS\"}}\n" READ_NO_FILE "\n]"), 0, "d2a", 3, { { "time-unit", "HOURS", 0 } }, DFT_PLAIN }, \
	{ "mixed-dialects", TEXT(SOUND "\n{\"id\":\"6\",\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":\"7\",\"tid\":\"8\",\"ts\":\"1\",\"dur\":\"1\",\"ph\":\"X\",\"args\":{}}\n"), 0, "d2a", 6, { { "bracket", "]\n{\"id\":\"6", 0 }, { "mixed-dialects", "{\"id\":\"6", 0 }, { "no-brackets", NULL, 0 }, { "quoted-number", "{\"id\":\"6", 0 } }, DFT_PLAIN }, \
	{ "no-args", TEXT(ODD_LINE(RECORD(ROUTINE "\"ts\":1,\"dur\":1,\"ph\":\"X\""))), 0, "d2a", 6, { { "no-args", "{\"id\":6", 0 } }, DFT_PLAIN }

#define TRACER(id, name, args) "{\"id\":" id ",\"name\":\"" name "\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ts\":100000" id ",\"dur\":0,\"ph\":\"X\",\"args\":{" args "}}"
#define READ_NO_FILE EVENT("3", "read", "\"hhash\":5692,\"ret\":5")

const struct dft_sample dft_bad[] = {
	ROWS,
	RULES,
	{ NULL, NULL, 0, 0, NULL, 0, { { 0 } }, DFT_PLAIN },
};
