#include "dftracer/test/samples.h"

/* clang-format off */

/* ---- dialects ---- */

/* August 2023: bare numbers, no id, host names as text, core_affinity in every record, three blanks at the
 * start. */
#define D0_EVENT(name, ts) \
	"{\"name\":\"" name "\",\"cat\":\"POSIX\",\"pid\":31,\"tid\":4711,\"ts\":" ts \
	",\"dur\":12,\"ph\":\"X\",\"args\":{\"hostname\":\"node1\", " \
	"\"core_affinity\": [0,1,2,3],\"ret\":\"4096\",\"fname\":\"/data/a\"}}\n"
#define D0 "[\n" D0_EVENT("open", "1693000000000001") D0_EVENT("read", "1693000000000020") \
	D0_EVENT("close", "1693000000000099")

/* November 2023 to August 2024: everything in quotes. */
#define D1_EVENT(id, name, args) \
	"{\"id\":\"" id "\",\"name\":\"" name \
	"\",\"cat\":\"POSIX\",\"pid\":\"1338896\",\"tid\":\"2677792\",\"ts\":\"16980803237755" id \
	"\",\"dur\":\"141\"," \
	"\"ph\":\"X\",\"args\":{\"hostname\":\"node1\"" args "}}\n"
#define D1 \
	"[\n " D1_EVENT("10", "open", ",\"fname\":\"/data/a\",\"ret\":18,\"mode\":\"r\"") \
	D1_EVENT("11", "write", ",\"ret\":\"3276800\",\"fd\":18") \
	D1_EVENT("12", "close", "")

/* 24 September 2024: bare numbers again, metadata with nothing but a name. */
#define D2 \
	"[\n{\"id\":0,\"name\":\"thread_name\",\"pid\":31,\"tid\":62,\"ph\":\"M\"," \
	"\"args\":{\"name\":\"31\"}}\n" \
	"{\"id\":1,\"name\":\"open\",\"cat\":\"POSIX\",\"pid\":31,\"tid\":62,\"ts\":1727200000000001," \
	"\"dur\":3,\"ph\":\"X\",\"args\":{\"hostname\":\"node1\"," \
	"\"fname\":\"/data/a\",\"size\":\"512\"}}\n"

/* 25 September 2024: hash records of a kind of their own, for a day. */
#define D2B \
	"[\n{\"id\":1,\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"H\"," \
	"\"args\":{\"name\":\"node1\",\"hash\":5692}}\n" EVENT("2", "read", "\"hhash\":5692") "\n]"

/* October 2024: hexadecimal hashes for some days. */
static const char d2c[] =
    "[\n{\"id\":1,\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\","
    "\"args\":{\"hhash\":\"0a1b2c3d4e5f6071\",\"name\":\"node1\","
    "\"value\":\"0a1b2c3d4e5f6071\"}}\n"
    "{\"id\":2,\"name\":\"start\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ts\":1728400000000000,\"dur\":0,"
    "\"ph\":\"X\",\"args\":{\"hhash\":\"0a1b2c3d4e5f6071\","
    "\"version\":100006}}\n"
    "{\"id\":3,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":8,\"ts\":1728400000000009,\"dur\":20,"
    "\"ph\":\"X\",\"args\":{\"hhash\":\"0a1b2c3d4e5f6071\"}}\n"
    "{\"id\":4,\"name\":\"end\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ts\":1728400000000099,\"dur\":0,"
    "\"ph\":\"X\",\"args\":{\"num_events\":3}}\n]";

/* December 2024: unsigned 64-bit hashes, larger than signed numbers and than the exact range of a double. */
static const char d3[] =
    "[\n{\"id\":1,\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\","
    "\"args\":{\"hhash\":18446744073709551557,\"name\":\"node1\","
    "\"value\":18446744073709551557}}\n"
    "{\"id\":2,\"name\":\"SH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\","
    "\"args\":{\"hhash\":18446744073709551557,\"name\":\"./sim\","
    "\"value\":9007199254740993}}\n"
    "{\"id\":3,\"name\":\"start\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ts\":1733000000000000,\"dur\":0,"
    "\"ph\":\"X\",\"args\":{\"hhash\":18446744073709551557,"
    "\"exec_hash\":9007199254740993,\"cmd_hash\":9007199254740993,\"version\":100008,\"ppid\":6}}\n"
    "{\"id\":4,\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\","
    "\"args\":{\"hhash\":18446744073709551557,\"name\":\"/data/a\","
    "\"value\":9007199254740995}}\n"
    "{\"id\":5,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":8,\"ts\":1733000000000009,\"dur\":20,"
    "\"ph\":\"X\",\"args\":{\"hhash\":18446744073709551557,"
    "\"p_idx\":-1,\"fhash\":9007199254740995,\"ret\":9223372036854775807,\"offset\":18446744073709551615}}\n"
    "{\"id\":6,\"name\":\"end\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ts\":1733000000000999,\"dur\":0,"
    "\"ph\":\"X\",\"args\":{\"hhash\":18446744073709551557,"
    "\"num_events\":5}}\n]";

/* 2025: hexadecimal hashes, counters, an aggregate written as a counter, nested arguments. */
static const char d4[] =
    "[\n{\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\","
    "\"args\":{\"hhash\":\"0a1b2c3d4e5f6071\",\"name\":\"node1\","
    "\"value\":\"0a1b2c3d4e5f6071\"}}\n"
    "{\"name\":\"PR\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\","
    "\"args\":{\"hhash\":\"0a1b2c3d4e5f6071\",\"name\":\"core_affinity\",\"value\":[0,1,2]}}\n"
    "{\"name\":\"process_name\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\","
    "\"args\":{\"hhash\":\"0a1b2c3d4e5f6071\",\"name\":\"Rank 3\","
    "\"value\":\"process_name\"}}\n"
    "{\"id\":1,\"name\":\"start\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ts\":1750000000000000,\"dur\":0,"
    "\"ph\":\"X\",\"args\":{\"hhash\":\"0a1b2c3d4e5f6071\","
    "\"version\":\"2.0.1\",\"cwd\":\"1111222233334444\"}}\n"
    "{\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\","
    "\"args\":{\"hhash\":\"0a1b2c3d4e5f6071\",\"name\":\"/home/u\","
    "\"value\":\"1111222233334444\"}}\n"
    "{\"name\":\"cpu\",\"cat\":\"sys\",\"ts\":1750000000000100,\"ph\":\"C\",\"pid\":7,\"tid\":0,"
    "\"args\":{\"hhash\":\"0a1b2c3d4e5f6071\",\"user_pct\":12.5,\"idle_pct\":1e+01}}\n"
    "{\"name\":\"read\",\"cat\":\"POSIX\",\"ts\":1750000000000200,\"ph\":\"C\",\"pid\":7,\"tid\":8,"
    "\"args\":{\"hhash\":\"0a1b2c3d4e5f6071\",\"dft_cnt\":12,"
    "\"dur_sum\":480,\"size_max\":4096}}\n"
    "{\"id\":2,\"name\":\"step\",\"cat\":\"PY\",\"pid\":7,\"tid\":8,\"ts\":1750000000000300,\"dur\":900,"
    "\"ph\":\"X\",\"args\":{\"hhash\":\"0a1b2c3d4e5f6071\","
    "\"epoch\":1,\"shape\":{\"x\":[1,2,{\"y\":null}],\"ok\":true},\"loss\":0.25}}\n"
    "{\"id\":3,\"name\":\"end\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ts\":1750000000000999,\"dur\":0,"
    "\"ph\":\"X\",\"args\":{\"hhash\":\"0a1b2c3d4e5f6071\","
    "\"num_events\":4}}\n]";

/* 2026: no brackets, ph and type as integers, nanoseconds, entities. */
static const char d5[] =
    "{\"name\":\"CM\",\"cat\":\"dftracer\",\"type\":1,\"pid\":7,\"tid\":7,\"ph\":4,"
    "\"args\":{\"hhash\":\"0a1b2c3d4e5f6071\",\"name\":\"time_metric\",\"value\":\"NS\"}}\n"
    "{\"name\":\"HH\",\"cat\":\"dftracer\",\"type\":1,\"pid\":7,\"tid\":7,\"ph\":4,"
    "\"args\":{\"hhash\":\"0a1b2c3d4e5f6071\",\"name\":\"node1\","
    "\"value\":\"0a1b2c3d4e5f6071\"}}\n"
    "{\"id\":1,\"name\":\"start\",\"cat\":\"dftracer\",\"type\":1,\"pid\":7,\"tid\":7,"
    "\"ts\":1780000000000000000,\"dur\":0,\"ph\":1,\"args\":{\"version\":\"3.0\"}}\n"
    "{\"name\":\"EH\",\"cat\":\"dftracer\",\"type\":1,\"pid\":7,\"tid\":7,\"ph\":4,"
    "\"args\":{\"id\":\"00000000000000aa\",\"type\":\"file\",\"store\":1,\"uri\":\"file:///a\"}}\n"
    "{\"id\":2,\"name\":\"read\",\"cat\":\"POSIX\",\"type\":3,\"pid\":7,\"tid\":8,\"ts\":1780000000000001001,"
    "\"dur\":999,\"ph\":1,\"args\":{\"hhash\":\"0a1b2c3d4e5f6071\","
    "\"relations\":{\"used\":[\"00000000000000aa\"],\"generated\":[]}}}\n"
    "{\"name\":\"gpu\",\"cat\":\"HIP\",\"type\":4,\"ts\":1780000000000002000,\"ph\":2,\"pid\":7,\"tid\":0,"
    "\"args\":{\"hhash\":\"0a1b2c3d4e5f6071\",\"busy\":0.5}}\n"
    "{\"name\":\"read\",\"cat\":\"POSIX\",\"type\":3,\"ts\":1780000000000003000,\"ph\":3,\"pid\":7,\"tid\":8,"
    "\"args\":{\"hhash\":\"0a1b2c3d4e5f6071\",\"dft_cnt\":3,\"dur_sum\":9}}\n"
    "{\"id\":3,\"name\":\"end\",\"cat\":\"dftracer\",\"type\":77,\"pid\":7,\"tid\":7,"
    "\"ts\":1780000000000009000,\"dur\":0,\"ph\":1,\"args\":{\"num_events\":5,"
    "\"cfg\":{\"log_file\":\"x\",\"time_metric\":\"NS\"},\"used\":{},\"app\":{\"a\":[]}}}\n";

/* ---- other valid traces ---- */

/* A merged trace: a process that counts in seconds, one without a unit, a hash that is defined late. */
static const char merged[] =
    "{\"name\":\"CM\",\"cat\":\"dftracer\",\"pid\":1,\"tid\":1,\"ph\":\"M\","
    "\"args\":{\"hhash\":\"aaaaaaaaaaaaaaaa\",\"name\":\"time_metric\",\"value\":\"SEC\"}}\n"
    "{\"id\":1,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,\"ts\":1750000000,\"dur\":2,"
    "\"ph\":\"X\",\"args\":{\"hhash\":\"aaaaaaaaaaaaaaaa\",\"fhash\":\"00000000000000ff\"}}\n"
    "{\"id\":1,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,\"ts\":1750000000000001,\"dur\":2,"
    "\"ph\":\"X\",\"args\":{\"hhash\":\"bbbbbbbbbbbbbbbb\",\"fhash\":\"00000000000000ff\"}}\n"
    "{\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":1,\"tid\":1,\"ph\":\"M\","
    "\"args\":{\"hhash\":\"bbbbbbbbbbbbbbbb\",\"name\":\"/late\",\"value\":\"00000000000000FF\"}}\n"
    "{\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":1,\"tid\":1,\"ph\":\"M\","
    "\"args\":{\"hhash\":\"aaaaaaaaaaaaaaaa\",\"name\":\"node-a\",\"value\":\"aaaaaaaaaaaaaaaa\"}}\n"
    "{\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":1,\"tid\":1,\"ph\":\"M\","
    "\"args\":{\"hhash\":\"bbbbbbbbbbbbbbbb\",\"name\":\"node-b\",\"value\":\"bbbbbbbbbbbbbbbb\"}}\n";

/* As written by jq and Python: another order, blanks, escapes. */
static const char rewritten[] =
    "[\n{\"args\": {\"name\": \"node\\u0031 \\\"\\ud83d\\ude00\\\"\", \"value\": 5692}, \"ph\": \"M\","
    " \"tid\": 7, \"pid\": 7, \"cat\": \"dftracer\", \"name\": \"HH\", \"id\": 1}\n"
    "{\"args\": {\"hhash\": 5692, \"text\": \"tab\\tand \\\\ and \\u00e9\", \"list\": [1, 2.5, -3e-2, [], {},"
    " \"\\n\"], \"none\": null, \"yes\": true, \"no\": false},"
    " \"ph\": \"X\", \"dur\": 3, \"ts\": 1727387308679940, \"tid\": 7, \"pid\": 7, \"cat\": \"PY\","
    " \"name\": \"say \\\"hi\\\"\", \"id\": 2}\n]\n";

/* As written by the aggregator of the utilities: figures as objects, ids of several parts. */
static const char aggregated[] =
    "[\n{\"name\":\"trace_metadata\",\"ph\":\"M\",\"args\":{\"time_interval\":5000000}}\n"
    "{\"name\":\"root_process\",\"ph\":\"M\",\"pid\":7,\"args\":{\"name\":\"root\"}}\n"
    "{\"id\":\"7:8:read\",\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":8,\"ts\":5000000,"
    "\"dur\":5000000,\"ph\":\"X\","
    "\"args\":{\"dur\":{\"sum\":12,\"avg\":1.5,\"min\":1,\"max\":2}}}\n"
    "{\"name\":\"write\",\"cat\":\"POSIX\",\"ts\":5000000,\"ph\":\"C\",\"pid\":7,\"tid\":8,"
    "\"args\":{\"dur\":{\"sum\":12,\"avg\":1.5},"
    "\"size\":{\"sum\":4096}}}\n]\n";

#define NON_ASCII FOUR EVENT("5", "\xe6\x89\x93\xe5\xbc\x80", "\"hhash\":5692," \
	"\"note\":\"na\xc3\xafve \xf0\x9f\x98\x80\"") "\n]"

const struct dft_sample dft_good[] = {
	{ "sound", TEXT(SOUND), 0, "d2a", 5, { { 0 } }, DFT_PLAIN },
	{ "d0", TEXT(D0), 0, "d0", 3,
	  { { "no-brackets", NULL, 0 } }, DFT_PLAIN },
	{ "d1", TEXT(D1), 0, "d1", 3, { { "no-brackets", NULL, 0 } }, DFT_PLAIN },
	{ "d2", TEXT(D2), 0, "d2", 2, { { "no-brackets", NULL, 0 } }, DFT_PLAIN },
	{ "d2b", TEXT(D2B), 0, "d2b", 2, { { 0 } }, DFT_PLAIN },
	{ "d2c", TEXT(d2c), 0, "d2c", 4, { { 0 } }, DFT_PLAIN },
	{ "d3", TEXT(d3), 0, "d3", 6, { { 0 } }, DFT_PLAIN },
	{ "d4", TEXT(d4), 0, "d4", 9, { { 0 } }, DFT_PLAIN },
	{ "d5", TEXT(d5), 0, "d5", 8, { { "no-brackets", NULL, 0 } }, DFT_PLAIN },
	{ "merged", TEXT(merged), 0, "d4", 6, { { "no-brackets", NULL, 0 } }, DFT_PLAIN },
	{ "rewritten", TEXT(rewritten), 0, "d2a", 2, { { 0 } }, DFT_PLAIN },
	{ "non-ascii", TEXT(NON_ASCII), 0, "d2a", 5, { { 0 } }, DFT_PLAIN },
	{ "aggregated", TEXT(aggregated), 0, "d4", 4,
	  { { "sparse-metadata", "{", 0 }, { "id-as-text", "{\"id\"", 0 } }, DFT_PLAIN },
	{ "empty", TEXT("[\n]"), 0, "d3", 0, { { 0 } }, DFT_PLAIN },
	{ "gzip", TEXT(SOUND), 0, "d2a", 5, { { 0 } }, DFT_GZIP },
	{ "gzip-members", TEXT(SOUND), 0, "d2a", 5, { { 0 } }, DFT_GZIP_MEMBERS },
	{ "gzip-members-of-lines", TEXT(SOUND), 0, "d2a", 5, { { 0 } }, DFT_GZIP_MEMBERS_OF_LINES },
	{ "gzip-nuls-behind", TEXT(SOUND), 0, "d2a", 5, { { 0 } }, DFT_GZIP_NULS_BEHIND },
	{ "plain-named-gz", TEXT(SOUND), 0, "d2a", 5, { { 0 } }, DFT_GZIP_IN_NAME_ONLY },
	{ NULL, NULL, 0, 0, NULL, 0, { { 0 } }, DFT_PLAIN },
};
