#include "ovni/test/samples.h"

/* ---- samples of the rules of streams and metadata ---- */

/* Clocks of 8 bytes with one small byte; little endian, unless the name says otherwise. */
#define HEAD "ovni\1\0\0\0"
#define CLOCK(c) c "\0\0\0\0\0\0\0"
#define EVENT(code, c) "\0" code CLOCK(c)
#define END(c) EVENT("OHe", c)
#define BYTES(s) (s), sizeof(s) - 1

#define SAMPLE(name, rule, status, offset, s)                                                                \
	{                                                                                                    \
		name, rule, status, offset, BYTES(s)                                                         \
	}

#define GOOD(name, s)                                                                                        \
	{                                                                                                    \
		name, NULL, 0, 0, BYTES(s)                                                                   \
	}

const struct ovni_sample ovni_samples[] = {
	/* The specification's own dump of 162 bytes. */
	GOOD("document",
	     HEAD "\x0fOHx\x08\xba\x2e\x5c\xb5\xb0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0"
	          "\x13VYc\x3c\xc2\x2e\x5c\xb5\xb0\0\0\x0e\0\0\0\1\0\0\0testtype1\0"
	          "\7VTcC\xcc\x2e\x5c\xb5\xb0\0\0\1\0\0\0\1\0\0\0\3VTx\3\xcd\x2e\x5c\xb5\xb0\0\0\1\0\0\0"
	          "\3VTp+}7\x5c\xb5\xb0\0\0\1\0\0\0\3VTr\xc3M@\x5c\xb5\xb0\0\0\1\0\0\0"
	          "\3VTe\3\x36I\x5c\xb5\xb0\0\0\1\0\0\0\0OHe\xf5\x36I\x5c\xb5\xb0\0\0"),
	/* Its examples of one event each: with payload, jumbo, without payload. */
	GOOD("document-events",
	     HEAD "\x0fOHx\x58\xc1\xb0\xb5\x95\x43\x11\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0"
	          "\x13VYc\xeb\xc1\x4b\x1a\x96\xd0\x12\0\x0e\0\0\0\1\0\0\0testtype1\0"
	          "\0OHe\1\xc5\xcf\x1d\x96\xd0\x12\0"),
	GOOD("equal-clocks", HEAD EVENT("VU[", "\5") EVENT("VU]", "\5") END("\5")),
	GOOD("big-endian", "ovni\0\0\0\1\0VU["
	                   "\0\0\0\0\0\0\0\5\x13VYc\0\0\0\0\0\0\0\6\0\0\0\5\0\0\0\1\0\0OHe\0\0\0\0\0\0\0\7"),
	GOOD("strange-codes", HEAD EVENT("\0\xff\n", "\1") EVENT("\"\\ ", "\2") END("\3")),
	GOOD("sorted-region", HEAD EVENT("OU[", "\1") EVENT("OB.", "\2") EVENT("OU]", "\3") END("\4")),
	GOOD("empty-jumbo", HEAD "\x13OUj" CLOCK("\1") "\0\0\0\0" END("\2")),

	SAMPLE("bad-version", "bad-version", 1, 4, "ovni\xd2\4\0\0" END("\1")),
	SAMPLE("cut-header", "cut-header", 1, 4, "ovni\1"),
	SAMPLE("byte-order", "byte-order", 0, 4, "ovni\0\0\0\1\0OHe\0\0\0\0\0\0\0\7"),
	SAMPLE("cut-event-head", "cut-event", 1, 20, HEAD END("\1") "\0VU[\2"),
	SAMPLE("cut-payload", "cut-event", 1, 20, HEAD END("\1") "\3VTx" CLOCK("\2") "\1\0"),
	SAMPLE("cut-jumbo-size", "cut-event", 1, 20, HEAD END("\1") "\x13VYc" CLOCK("\2") "\1\0"),
	SAMPLE("cut-jumbo-data", "cut-event", 1, 20, HEAD END("\1") "\x13VYc" CLOCK("\2") "\5\0\0\0abc"),
	/* Sizes near 2^32, which wrap in readers that count with 32 bits. */
	SAMPLE("jumbo-fffffff0", "cut-event", 1, 20,
	       HEAD END("\1") "\x13VYc" CLOCK("\2") "\xf0\xff\xff\xff" END("\3")),
	SAMPLE("jumbo-7ffffffc", "cut-event", 1, 20,
	       HEAD END("\1") "\x13VYc" CLOCK("\2") "\xfc\xff\xff\x7f" END("\3")),
	SAMPLE("jumbo-ffffffec", "cut-event", 1, 20,
	       HEAD END("\1") "\x13VYc" CLOCK("\2") "\xec\xff\xff\xff" END("\3")),
	SAMPLE("jumbo-ffffffff", "cut-event", 1, 20,
	       HEAD END("\1") "\x13VYc" CLOCK("\2") "\xff\xff\xff\xff" END("\3")),
	SAMPLE("jumbo-nibble", "jumbo-nibble", 1, 8, HEAD "\x1fOUj" CLOCK("\1") "\2\0\0\0ab" END("\2")),
	SAMPLE("reserved-flags", "reserved-flags", 0, 8, HEAD "\x20VU[" CLOCK("\1") END("\2")),
	SAMPLE("clock-backwards", "clock-backwards", 1, 20,
	       HEAD EVENT("VU[", "\5") EVENT("VU]", "\4") END("\6")),
	SAMPLE("needs-sorting", "needs-sorting", 1, 32,
	       HEAD EVENT("VU[", "\5") EVENT("OU[", "\6") EVENT("KCO", "\2") EVENT("OU]", "\7") END("\x08")),
	SAMPLE("region-end-back", "clock-backwards", 1, 32,
	       HEAD EVENT("OU[", "\5") EVENT("KCO", "\7") EVENT("OU]", "\6") END("\x08")),
	SAMPLE("region-open", "region-unmatched", 0, 8, HEAD EVENT("OU[", "\1") END("\2")),
	SAMPLE("region-close", "region-unmatched", 0, 8, HEAD EVENT("OU]", "\1") END("\2")),
	SAMPLE("region-nested", "region-unmatched", 0, 20,
	       HEAD EVENT("OU[", "\1") EVENT("OU[", "\2") EVENT("OU]", "\3") END("\4")),
	SAMPLE("clock-large", "clock-large", 0, 8, HEAD "\0OHe\0\0\0\0\0\0\0\x80"),
	SAMPLE("no-events", "no-events", 0, 8, HEAD),
	SAMPLE("no-thread-end", "no-thread-end", 0, 20, HEAD EVENT("VU[", "\1")),
	SAMPLE("unknown-event", "unknown-event", 0, 8, HEAD EVENT("VZ[", "\1") EVENT("VZ[", "\1") END("\2")),
	SAMPLE("unknown-model", "unknown-model", 0, 8, HEAD EVENT("X  ", "\1") EVENT("X !", "\1") END("\2")),
	SAMPLE("payload-short", "payload-size", 0, 8, HEAD "\3OHx" CLOCK("\1") "\0\0\0\0" END("\2")),
	SAMPLE("payload-long", "payload-size", 0, 8, HEAD "\1VU[" CLOCK("\1") "\0\0" END("\2")),
	SAMPLE("payload-none", "payload-size", 0, 8, HEAD EVENT("OAs", "\1") END("\2")),
	SAMPLE("payload-jumbo", "payload-size", 0, 8,
	       HEAD "\x13OAs" CLOCK("\1") "\4\0\0\0\0\0\0\0" END("\2")),
	SAMPLE("payload-plain", "payload-size", 0, 8, HEAD "\5VYc" CLOCK("\1") "\1\0\0\0a\0" END("\2")),
	SAMPLE("jumbo-empty", "payload-size", 0, 8, HEAD "\x13VYc" CLOCK("\1") "\0\0\0\0" END("\2")),
	SAMPLE("jumbo-rest", "payload-size", 0, 8,
	       HEAD "\x13VYc" CLOCK("\1") "\7\0\0\0\1\0\0\0a\0b" END("\2")),
	SAMPLE("counters-odd", "payload-size", 0, 8,
	       HEAD "\x13VWC" CLOCK("\1") "\x0a\0\0\0\1\0\0\0\0\0\0\0\0\0" END("\2")),
	SAMPLE("text-end", "text-end", 0, 8, HEAD "\x13VYc" CLOCK("\1") "\6\0\0\0\1\0\0\0ab" END("\2")),
	SAMPLE("old-event", "old-event", 0, 8, HEAD EVENT("6TC", "\1") END("\2")),
	SAMPLE("old-size", "old-event", 0, 8,
	       HEAD "\3VTx" CLOCK("\1") "\1\0\0\0"
	                                "\3VTx" CLOCK("\1") "\1\0\0\0" END("\2")),
	{ 0 },
};

#define CPUS(list) ",\"loom_cpus\":[" list "]"
#define CPU(index, phyid) "{\"index\":" index ",\"phyid\":" phyid "}"
#define CPU0 CPUS(CPU("0", "0"))
#define LIB "\"lib\":{\"version\":\"1.14.0\",\"commit\":\"x\"}"
#define PART ",\"part\":\"thread\""
#define ID(tid, pid) ",\"tid\":" tid ",\"pid\":" pid
#define LOOM ",\"loom\":\"host.1\""
#define APP ",\"app_id\":1"
#define REQUIRE ",\"require\":{\"ovni\":\"1.1.0\"}"
#define DONE ",\"finished\":1"
#define ROOT(ovni) "{\"version\":3,\"ovni\":{" ovni "}}\n"

/* Metadata of thread `tid` with further keys after the common ones. */
#define THREAD(tid, more) ROOT(LIB PART ID(tid, "7") LOOM REQUIRE DONE more)

#define MARK(title, labels)                                                                                  \
	",\"mark\":{\"1\":{\"title\":\"" title "\",\"chan_type\":\"stack\",\"labels\":{" labels "}}}"

#define HWC(tid, list)                                                                                       \
	"{\"version\":3,\"ovni\":{" LIB PART ID(tid, "7") LOOM REQUIRE DONE APP CPU0                         \
	    "},\"nosv\":{\"hwc\":{" list "}}}\n"
#define OTHER_HOST ROOT(LIB PART ID("9", "9") ",\"loom\":\"far.1\"" REQUIRE DONE APP CPU0)
#define TITLES "rank hostname offset_median offset_mean offset_std\n"

const struct ovni_folder ovni_folders[] = {
	{ "good-two-threads", NULL, 0, THREAD("7", APP CPU0), THREAD("8", CPU0 MARK("m", "\"1\":\"one\"")),
	  false, NULL, NULL },
	{ "good-loom-once", NULL, 0, THREAD("7", APP CPUS(CPU("1", "5") "," CPU("0", "9"))),
	  ROOT(LIB PART ID("8", "7") REQUIRE DONE ",\"own\":[1]"), false, NULL, NULL },
	{ "metadata-missing", "metadata-missing", 1, "", NULL, false, NULL, NULL },
	{ "events-missing", "events-missing", 1, THREAD("7", APP CPU0), NULL, true, NULL, NULL },
	{ "old-layout", "old-layout", 0, "{\"version\":2,\"app_id\":1}\n", THREAD("7", APP CPU0), true,
	  "metadata.json", NULL },
	{ "bad-json-trailing", "bad-json", 1, THREAD("7", APP CPU0) "x", NULL, false, NULL, NULL },
	{ "bad-json-bom", "bad-json", 1, "\xef\xbb\xbf" THREAD("7", APP CPU0), NULL, false, NULL, NULL },
	{ "bad-json-array", "bad-json", 1, "[]", NULL, false, NULL, NULL },
	{ "bad-json-cut", "bad-json", 1, "{\"version\":3", NULL, false, NULL, NULL },
	{ "duplicate-key", "duplicate-key", 1, THREAD("7", APP CPU0 APP), NULL, false, NULL, NULL },
	{ "metadata-version", "metadata-version", 1,
	  "{\"version\":3.9,\"ovni\":{" LIB PART ID("7", "7") LOOM REQUIRE DONE APP CPU0 "}}", NULL, false,
	  NULL, NULL },
	{ "metadata-type", "metadata-type", 1, THREAD("7", APP CPU0),
	  ROOT(LIB ",\"part\":5" ID("8", "7") LOOM REQUIRE DONE), false, NULL, NULL },
	{ "no-part", "no-part", 1, ROOT(LIB ID("7", "7") LOOM REQUIRE DONE APP CPU0), NULL, false, NULL,
	  NULL },
	{ "unknown-part", "unknown-part", 0,
	  ROOT(LIB ",\"part\":\"cpu\"" ID("7", "7") LOOM REQUIRE DONE APP CPU0), NULL, false, NULL, NULL },
	{ "not-finished", "not-finished", 1, ROOT(LIB PART ID("7", "7") LOOM REQUIRE APP CPU0), NULL, false,
	  NULL, NULL },
	{ "no-require", "no-require", 1, ROOT(LIB PART ID("7", "7") LOOM DONE APP CPU0), NULL, false, NULL,
	  NULL },
	{ "no-thread", "no-thread", 1, THREAD("7", APP CPU0),
	  ROOT(LIB PART ",\"tid\":0,\"pid\":7" LOOM REQUIRE DONE), false, NULL, NULL },
	{ "no-loom", "no-loom", 1, THREAD("7", APP CPU0), ROOT(LIB PART ID("9", "9") REQUIRE DONE APP), false,
	  NULL, NULL },
	{ "loom-name", "loom-name", 0, ROOT(LIB PART ID("7", "7") ",\"loom\":\"a/b\"" REQUIRE DONE APP CPU0),
	  NULL, false, NULL, NULL },
	{ "no-lib", "no-lib", 0, ROOT("\"part\":\"thread\"" ID("7", "7") LOOM REQUIRE DONE APP CPU0), NULL,
	  false, NULL, NULL },
	{ "lib-mixed", "lib-mixed", 0, THREAD("7", APP CPU0),
	  ROOT("\"lib\":{\"version\":\"2\",\"commit\":\"x\"}" PART ID("8", "7") LOOM REQUIRE DONE), false,
	  NULL, NULL },
	{ "app-id", "app-id", 0, THREAD("7", CPU0), NULL, false, NULL, NULL },
	{ "bad-rank", "bad-rank", 1, THREAD("7", APP CPU0 ",\"rank\":4,\"nranks\":4"), NULL, false, NULL,
	  NULL },
	{ "nranks-alone", "nranks-alone", 0, THREAD("7", APP CPU0 ",\"nranks\":4"), NULL, false, NULL, NULL },
	{ "rank-alone", "bad-rank", 1, THREAD("7", APP CPU0 ",\"rank\":0"), NULL, false, NULL, NULL },
	{ "process-conflict", "process-conflict", 1, THREAD("7", APP CPU0), THREAD("8", ",\"app_id\":2"),
	  false, NULL, NULL },
	{ "rank-mixed", "rank-mixed", 0, THREAD("7", APP CPU0 ",\"rank\":0,\"nranks\":2"),
	  ROOT(LIB PART ID("8", "8") LOOM REQUIRE DONE APP), false, NULL, NULL },
	{ "no-cpus", "no-cpus", 1, THREAD("7", APP), NULL, false, NULL, NULL },
	{ "cpu-list", "cpu-list", 1, THREAD("7", APP CPU0), THREAD("8", CPUS("")), false, NULL, NULL },
	{ "cpu-index", "cpu-index", 1, THREAD("7", APP CPU0), THREAD("8", CPUS(CPU("0", "1"))), false, NULL,
	  NULL },
	{ "cpu-phyid", "cpu-phyid", 1, THREAD("7", APP CPU0), THREAD("8", CPUS(CPU("1", "0"))), false, NULL,
	  NULL },
	{ "tid-repeated", "tid-repeated", 1, THREAD("7", APP CPU0), THREAD("7", ""), false, NULL, NULL },
	{ "bad-mark", "bad-mark", 0, THREAD("7", APP CPU0 ",\"mark\":{\"100\":{}}"), NULL, false, NULL,
	  NULL },
	{ "mark-conflict", "mark-conflict", 0, THREAD("7", APP CPU0 MARK("m", "\"1\":\"one\"")),
	  THREAD("8", MARK("m", "\"1\":\"two\"")), false, NULL, NULL },
	{ "bad-counter", "bad-counter", 0, HWC("7", "\"0\":{\"name\":\"A\"}"),
	  HWC("8", "\"0\":{\"name\":\"B\"}"), false, NULL, NULL },
	{ "can-breakdown", "metadata-type", 1,
	  "{\"version\":3,\"ovni\":{" LIB PART ID("7", "7") LOOM REQUIRE DONE APP CPU0
	  "},\"nosv\":{\"can_breakdown\":1}}\n",
	  NULL, false, NULL, NULL },
	{ "metadata-double", "metadata-type", 1, THREAD("7", APP CPU0 ",\"rank\":0,\"nranks\":1.5"), NULL,
	  false, NULL, NULL },
	{ "mark-label-number", "bad-mark", 0, THREAD("7", APP CPU0 MARK("m", "\"1-2\":\"one\"")), NULL, false,
	  NULL, NULL },
	{ "mark-labels-far", NULL, 0,
	  THREAD("7", APP CPU0 MARK("m", "\"1\":\"one\",\"4294967297\":\"other\"")), NULL, false, NULL,
	  NULL },
	{ "good-offsets", NULL, 0, THREAD("7", APP CPU0), OTHER_HOST, false, NULL,
	  "rank hostname offset_median offset_mean offset_std\n0 host 0 0.000000 0.000000\r\n\n  \t\r\n1 far "
	  "+12.5 1e1 2.5E-3 more\n" },
	{ "no-clock-offsets", "no-clock-offsets", 0, THREAD("7", APP CPU0), OTHER_HOST, false, NULL, NULL },
	{ "offsets-fields", "clock-offsets", 1, THREAD("7", APP CPU0), NULL, false, NULL,
	  TITLES "0 host 5 5.0\n0 host 5 5.0 5.0\n" },
	{ "offsets-comment", "clock-offsets", 1, THREAD("7", APP CPU0), NULL, false, NULL,
	  TITLES "# one two three four\n" },
	{ "offsets-twice", "clock-offsets", 1, THREAD("7", APP CPU0), NULL, false, NULL,
	  TITLES "0 host 5 5.0 1\n1 host 6 6 1\n" },
	{ "offsets-host", "clock-offsets", 1, THREAD("7", APP CPU0), NULL, false, NULL,
	  TITLES "0 host.1 5 5.0 1\n" },
	{ "offsets-nan", "clock-offsets", 1, THREAD("7", APP CPU0), NULL, false, NULL,
	  TITLES "0 host nan 5.0 1\n" },
	{ "offsets-hex", "clock-offsets", 1, THREAD("7", APP CPU0), NULL, false, NULL,
	  TITLES "0 host 0x10 5.0 1\n" },
	{ "offsets-large", "clock-offsets", 1, THREAD("7", APP CPU0), NULL, false, NULL,
	  TITLES "0 host 1e30 5.0 1\n" },
	{ "offsets-mean", "clock-offsets", 1, THREAD("7", APP CPU0), NULL, false, NULL,
	  TITLES "0 host 5 inf 1\n" },
	{ "offsets-rank", "clock-offsets", 1, THREAD("7", APP CPU0), NULL, false, NULL,
	  TITLES "one host 5 5 1\n" },
	{ "offsets-no-row", "clock-offsets", 1, THREAD("7", APP CPU0), NULL, false, NULL, TITLES },
	{ "offsets-empty", "clock-offsets", 1, THREAD("7", APP CPU0), NULL, false, NULL, "" },
	{ "offsets-drift", "clock-offsets", 1, THREAD("7", APP CPU0), NULL, false, NULL,
	  "wallclock host\n1.0 5.0\n" },
	{ "clock-below-zero", "clock-below-zero", 0, THREAD("7", APP CPU0), NULL, false, NULL,
	  TITLES "0 host -5 -5.5 1\n" },
	{ 0 },
};

/* ---- samples of the group "state" ---- */

#define AT(c) c "\0\0\0\0\0\0\0"
#define N(n) n "\0\0\0"
#define E(code, c) "\0" code AT(c)
#define E4(code, c, a) "\3" code AT(c) N(a)
#define E8(code, c, a, b) "\7" code AT(c) N(a) N(b)
#define STATE_MARK(code, c, value, type) "\x0b" code AT(c) value "\0\0\0\0\0\0\0" N(type)
#define TYPE(code, c, id, label) "\x13" code AT(c) "\6\0\0\0" N(id) label "\0"
#define RUN_AT(clock) "\x0fOHx" clock "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define RUN(c) RUN_AT(AT(c))
#define RUN_ON(cpu, c) "\x0fOHx" AT(c) cpu "\0\0\0\0\0\0\0\0\0\0\0\0"
#define VIRTUAL "\xff\xff\xff\xff"
#define DIE(c) E("OHe", c)
#define STREAM(s) (HEAD s), sizeof(HEAD s) - 1
#define STATE_CPUS ",\"loom_cpus\":[{\"index\":0,\"phyid\":4},{\"index\":1,\"phyid\":5}]"

#define ALL                                                                                                  \
	"\"ovni\":\"1.1.0\",\"nanos6\":\"1.1.0\",\"nosv\":\"2.7.0\",\"openmp\":\"1.2.1\",\"mpi\":\"1.0.0\"," \
	"\"kernel\":\"1.0.0\""

#define OVNI(tid, require, more)                                                                             \
	"\"version\":3,\"ovni\":{\"lib\":{\"version\":\"1.14.0\",\"commit\":\"x\"},\"part\":\"thread\","     \
	"\"tid\":" tid ",\"pid\":7,\"loom\":\"host.1\",\"app_id\":1,\"require\":{" require                   \
	"},\"finished\":1" STATE_CPUS more "}"
#define JSON(tid) "{" OVNI(tid, ALL, "") "}\n"

#define MARKS                                                                                                \
	",\"mark\":{\"1\":{\"title\":\"a\",\"chan_type\":\"stack\"},\"2\":{\"title\":\"b\",\"chan_type\":"   \
	"\"single\"}}"
#define WITH_MARKS "{" OVNI("7", ALL, MARKS) "}\n"

#define WITH_COUNTERS                                                                                        \
	"{" OVNI("7", ALL, MARKS) ",\"nosv\":{\"hwc\":{\"0\":{\"name\":\"A\"},\"1\":{\"name\":\"B\"}}}}\n"

#define ONE(name, rule, s)                                                                                   \
	{                                                                                                    \
		name, rule,                                                                                  \
		{                                                                                            \
			{ JSON("7"), STREAM(s) },                                                            \
			{                                                                                    \
				0                                                                            \
			}                                                                                    \
		}                                                                                            \
	}

#define ONE_OF(name, rule, json, s)                                                                          \
	{                                                                                                    \
		name, rule,                                                                                  \
		{                                                                                            \
			{ json, STREAM(s) },                                                                 \
			{                                                                                    \
				0                                                                            \
			}                                                                                    \
		}                                                                                            \
	}

#define TWO(name, rule, s, s2)                                                                               \
	{                                                                                                    \
		name, rule,                                                                                  \
		{                                                                                            \
			{ JSON("7"), STREAM(s) },                                                            \
			{                                                                                    \
				JSON("8"), STREAM(s2)                                                        \
			}                                                                                    \
		}                                                                                            \
	}
#define NOSV_TASK(c, c2) TYPE("VYc", c, "\4", "t") E8("VTc", c2, "\1", "\4")
#define LONG8 "longlong"
#define LONG64 LONG8 LONG8 LONG8 LONG8 LONG8 LONG8 LONG8 LONG8
#define LONG512 LONG64 LONG64 LONG64 LONG64 LONG64 LONG64 LONG64 LONG64

const struct ovni_emulated ovni_emulated[] = {
	/* All actions, none of them wrong. */
	/* clang-format off */
	{ "good",
	  NULL,
	  { { WITH_COUNTERS,
	      STREAM("\x0bOHC" AT("\1") "\0\0\0\0\0\0\0\0\0\0\0\0" RUN("\2") E("OF[", "\3")
	             E("OF]", "\4") E("OB.", "\5") E("OU[", "\6") E("OU]", "\7")
	             STATE_MARK("OM[", "\x08", "\5", "\1") STATE_MARK("OM[", "\x08", "\5", "\1")
	             STATE_MARK("OM]", "\x08", "\5", "\1") STATE_MARK("OM=", "\x09", "\6", "\2")
	             E4("OAs", "\x0a", "\1") E4("OAs", "\x0b", "\1") E("VS[", "\x0c") E("VS[", "\x0d")
	             E("VSn", "\x0e") E("VS]", "\x0f") E("VPr", "\x10") E("VPp", "\x11")
	             NOSV_TASK("\x12", "\x13") E8("VTC", "\x14", "\2", "\4")
	             E8("VTx", "\x15", "\1", "\0") E("VAs", "\x16") E8("VTp", "\x17", "\1", "\0")
	             E8("VTx", "\x18", "\2", "\1") E8("VTe", "\x19", "\2", "\1")
	             E8("VTx", "\x1a", "\2", "\2") E8("VTe", "\x1b", "\2", "\2")
	             E8("VTr", "\x1c", "\1", "\0") E("VAS", "\x1d") E8("VTe", "\x1e", "\1", "\0")
	             E8("VTx", "\x1f", "\1", "\0") E8("VTe", "\x20", "\1", "\0") "\x13VWC" AT("\x21")
	             "\x10\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0" E("KCO", "\x22") E("KCI", "\x23")
	             TYPE("POc", "\x24", "\1", "p") TYPE("POc", "\x24", "\2", "p")
	             E8("PPc", "\x25", "\1", "\1") E4("PPx", "\x26", "\1") E4("PQx", "\x27", "\1")
	             E4("PQe", "\x28", "\2") E4("PPe", "\x29", "\1") E4("PPx", "\x2a", "\1")
	             E4("PPe", "\x2b", "\1") E("MUf", "\x2c") E("MUF", "\x2d") E("OHc", "\x2e")
	             E("OHp", "\x2f") E("OHw", "\x30") E("OHr", "\x31") E("OHc", "\x32") DIE("\x33")
	             E("OF[", "\x34") E("OF]", "\x35") RUN("\x36") DIE("\x37")) },
	    { JSON("8"),
	      STREAM(RUN("\x0b") TYPE("6Yc", "\x0c", "\4", "t") E8("6Tc", "\x0d", "\1", "\4")
	             E8("6Tc", "\x0d", "\2", "\4") E4("6Tx", "\x0e", "\1") E("6C[", "\x0f")
	             E4("6Tp", "\x10", "\1") E4("6Tx", "\x11", "\2") E4("6Te", "\x12", "\2")
	             E4("6Tr", "\x13", "\1") E("6C]", "\x14") E4("6Te", "\x15", "\1") E("OHp", "\x16")
	             E8("OAr", "\x17", "\0", "\7") E8("OAr", "\x18", "\1", "\7") E("OHr", "\x35")
	             DIE("\x35")) } } },
	/* clang-format on */

	ONE("thread-state", "thread-state", RUN("\1") E("OHw", "\2") E("OHr", "\3") DIE("\4")),
	ONE("thread-state-start", "thread-state", RUN("\1") RUN("\2") DIE("\3")),
	ONE("thread-state-end", "thread-state", RUN("\1") E("OHp", "\2") DIE("\3")),
	ONE("thread-not-dead", "thread-not-dead", RUN("\1") E("OHp", "\2")),
	ONE("thread-not-dead-empty", "thread-not-dead", ""),
	ONE("thread-inactive", "thread-inactive",
	    E("VS[", "\1") E("VS@", "\1") RUN("\2") E("VS]", "\3") DIE("\4")),
	ONE("thread-not-running", "thread-inactive",
	    RUN("\1") E("OHc", "\2") E("MUf", "\3") E("MUF", "\4") DIE("\5")),
	ONE("affinity-inactive", "thread-inactive",
	    RUN("\1") E("OHp", "\2") E4("OAs", "\3", "\1") E("OHr", "\4") DIE("\5")),
	ONE("out-of-cpu", "out-of-cpu",
	    RUN("\1") E("KCO", "\2") E("VS[", "\3") E("OB.", "\4") E("KCI", "\5") E("VS]", "\6") DIE("\7")),
	ONE("no-such-cpu", "no-such-cpu", RUN_ON(N("\2"), "\1") DIE("\2")),
	ONE("no-such-cpu-move", "no-such-cpu", RUN("\1") E4("OAs", "\2", "\x09") DIE("\3")),
	TWO("cpu-busy", "cpu-busy", RUN("\1") DIE("\4"), RUN("\2") DIE("\3")),
	TWO("cpu-busy-moved", "cpu-busy", RUN("\1") DIE("\5"),
	    RUN_ON(N("\1"), "\2") E4("OAs", "\3", "\0") DIE("\4")),
	TWO("affinity-target", "affinity-target", RUN("\1") E8("OAr", "\2", "\1", "\x08") DIE("\3"),
	    RUN("\4") DIE("\5")),
	TWO("affinity-target-dead", "affinity-target", RUN("\3") E8("OAr", "\4", "\1", "\x08") DIE("\5"),
	    RUN("\1") DIE("\2")),
	ONE("affinity-same", "affinity-same", RUN("\1") E8("OAr", "\2", "\0", "\7") DIE("\3")),
	ONE("flush-open", "state-repeated", RUN("\1") E("OF[", "\2") E("OF[", "\3") E("OF]", "\4") DIE("\5")),
	ONE("flush-close", "state-repeated", RUN("\1") E("OF]", "\2") DIE("\3")),
	/* 10 ms and 1 ns */
	ONE("flush-slow", "flush-slow",
	    RUN("\1") E("OF[", "\2") "\0OF]\x83\x96\x98\0\0\0\0\0"
	                             "\0OHe\x84\x96\x98\0\0\0\0\0"),
	ONE("progress", "state-repeated", RUN("\1") E("VPp", "\2") E("VPr", "\3") DIE("\4")),
	ONE("nesting-mismatch", "nesting-mismatch",
	    RUN("\1") E("VS[", "\2") E("VU]", "\3") E("VS]", "\4") DIE("\5")),
	ONE("nesting-crossed", "nesting-mismatch",
	    RUN("\1") E("VS[", "\2") E("VU[", "\3") E("VS]", "\4") DIE("\5")),
	ONE("task-region-open", "nesting-mismatch",
	    RUN("\1") NOSV_TASK("\2", "\3") E8("VTx", "\4", "\1", "\0") E("VAs", "\5")
	        E8("VTe", "\6", "\1", "\0") DIE("\7")),
	ONE("labels-crossed", "nesting-mismatch",
	    RUN("\1") TYPE("POc", "\2", "\1", "p") TYPE("POc", "\3", "\2", "q") E4("PQx", "\4", "\1")
	        E4("PQe", "\5", "\2") E4("PQe", "\6", "\1") DIE("\7")),
	ONE_OF("mark-mismatch", "nesting-mismatch", WITH_MARKS,
	       RUN("\1") STATE_MARK("OM[", "\2", "\5", "\1") STATE_MARK("OM]", "\3", "\6", "\1") DIE("\4")),
	ONE("nesting-empty", "nesting-empty", RUN("\1") E("VS]", "\2") DIE("\3")),
	ONE_OF("mark-empty", "nesting-empty", WITH_MARKS,
	       RUN("\1") STATE_MARK("OM]", "\2", "\5", "\1") DIE("\4")),
	ONE("nesting-repeat", "nesting-repeat",
	    RUN("\1") E("MUf", "\2") E("MUf", "\3") E("MUF", "\4") E("MUF", "\5") DIE("\6")),
	ONE("nesting-left-open", "nesting-left-open", RUN("\1") E("VS[", "\2") E("VS[", "\3") DIE("\4")),
	ONE("mark-undeclared", "mark-undeclared", RUN("\1") STATE_MARK("OM=", "\2", "\1", "\x09") DIE("\3")),
	ONE_OF("mark-zero", "mark-zero", WITH_MARKS, RUN("\1") STATE_MARK("OM=", "\2", "\0", "\2") DIE("\3")),
	ONE_OF("mark-kind", "mark-kind", WITH_MARKS, RUN("\1") STATE_MARK("OM=", "\2", "\1", "\1") DIE("\3")),
	ONE("payload-refused", "payload-refused", RUN("\1") E8("OAs", "\2", "\1", "\0") DIE("\3")),
	ONE("payload-short", "payload-refused",
	    RUN("\1") NOSV_TASK("\2", "\3") E4("VTx", "\4", "\1") DIE("\5")),
	ONE("payload-long", "payload-refused",
	    RUN("\1") TYPE("6Yc", "\2", "\4", "t") "\x0b"
	                                           "6Tc" AT("\3") N("\1") N("\4") N("\0") DIE("\4")),
	ONE("payload-not-jumbo", "payload-refused", RUN("\1") E8("VYc", "\2", "\1", "\0") DIE("\3")),
	ONE_OF("counters-size", "payload-refused", WITH_COUNTERS,
	       RUN("\1") "\x13VWC" AT("\2") "\x08\0\0\0\1\0\0\0\0\0\0\0" DIE("\3")),
	ONE("event-refused", "event-refused", RUN("\1") E("XYZ", "\2") E("XYZ", "\3") DIE("\4")),
	ONE("event-unknown", "event-refused", RUN("\1") E("VS~", "\2") DIE("\3")),
	ONE_OF("model-not-required", "model-not-required", "{" OVNI("7", "\"ovni\":\"1.1.0\"", "") "}\n",
	       RUN("\1") E("VS@", "\2") E("VS@", "\3") DIE("\4")),
	ONE("type-unknown", "type-unknown", RUN("\1") E8("VTc", "\2", "\1", "\4") DIE("\3")),
	ONE("worksharing-type", "type-unknown", RUN("\1") E4("PQx", "\2", "\1") DIE("\3")),
	ONE("type-repeated", "type-repeated",
	    RUN("\1") TYPE("VYc", "\2", "\4", "t") TYPE("VYc", "\3", "\4", "t") DIE("\4")),
	ONE("label-long", "label-long",
	    RUN("\1") "\x13VYc" AT("\2") "\5\2\0\0" N("\4") LONG512 "\0" DIE("\3")),
	ONE("id-zero", "id-zero", RUN("\1") TYPE("VYc", "\2", "\0", "t") DIE("\3")),
	ONE("task-zero", "id-zero",
	    RUN("\1") TYPE("POc", "\2", "\4", "t") E8("PPc", "\3", "\0", "\4") DIE("\4")),
	ONE("task-zero-run", "id-zero",
	    RUN("\1") TYPE("VYc", "\2", "\4", "t") E8("VTc", "\3", "\0", "\4") E8("VTx", "\4", "\0", "\0")
	        E8("VTe", "\5", "\0", "\0") DIE("\6")),
	ONE("task-repeated", "task-repeated",
	    RUN("\1") NOSV_TASK("\2", "\3") E8("VTc", "\4", "\1", "\4") DIE("\5")),
	ONE("task-unknown", "task-unknown",
	    RUN("\1") E8("VTx", "\2", "\1", "\0") E8("VTe", "\3", "\1", "\0") DIE("\4")),
	ONE("body-id", "body-id",
	    RUN("\1") NOSV_TASK("\2", "\3") E8("VTx", "\4", "\1", "\3") E8("VTe", "\5", "\1", "\3")
	        DIE("\6")),
	ONE("body-id-parallel", "body-id",
	    RUN("\1") TYPE("VYc", "\2", "\4", "t") E8("VTC", "\3", "\1", "\4") E8("VTx", "\4", "\1", "\1") E8(
	        "VTe", "\5", "\1", "\1") E8("VTx", "\6", "\1", "\0") E8("VTe", "\7", "\1", "\0") DIE("\x08")),
	ONE("task-again", "task-again",
	    RUN("\1") TYPE("6Yc", "\2", "\4", "t") E8("6Tc", "\3", "\1", "\4") E4("6Tx", "\4", "\1")
	        E4("6Te", "\5", "\1") E4("6Tx", "\6", "\1") E4("6Te", "\7", "\1") DIE("\x08")),
	ONE("task-again-parallel", "task-again",
	    RUN("\1") TYPE("VYc", "\2", "\4", "t") E8("VTC", "\3", "\1", "\4") E8("VTx", "\4", "\1", "\1") E8(
	        "VTe", "\5", "\1", "\1") E8("VTx", "\6", "\1", "\1") E8("VTe", "\7", "\1", "\1") DIE("\x08")),
	ONE("task-busy", "task-busy",
	    RUN("\1") NOSV_TASK("\2", "\3") E8("VTx", "\4", "\1", "\0") E8("VTp", "\5", "\1", "\0")
	        E8("VTx", "\6", "\1", "\0") E8("VTe", "\7", "\1", "\0") DIE("\x08")),
	ONE("task-busy-running", "task-busy",
	    RUN("\1") NOSV_TASK("\2", "\3") E8("VTx", "\4", "\1", "\0") E8("VTx", "\5", "\1", "\0")
	        E8("VTe", "\6", "\1", "\0") DIE("\7")),
	ONE("task-nested", "task-nested",
	    RUN("\1") NOSV_TASK("\2", "\3") E8("VTc", "\4", "\2", "\4") E8("VTx", "\5", "\1", "\0")
	        E8("VTx", "\6", "\2", "\0") E8("VTe", "\7", "\2", "\0") E8("VTe", "\x08", "\1", "\0")
	            DIE("\x09")),
	/* A region lies between, so that no state repeats. */
	ONE("task-over-task", "task-over-task",
	    RUN("\1") TYPE("6Yc", "\2", "\4", "t") E8("6Tc", "\3", "\1", "\4") E8("6Tc", "\4", "\2", "\4")
	        E4("6Tx", "\5", "\1") E("6C[", "\5") E4("6Tx", "\6", "\2") E4("6Te", "\7", "\2")
	            E("6C]", "\7") E4("6Te", "\x08", "\1") DIE("\x09")),
	ONE("task-over-task-openmp", "task-over-task",
	    RUN("\1") TYPE("POc", "\2", "\4", "t") E8("PPc", "\3", "\1", "\4") E8("PPc", "\4", "\2", "\4")
	        E4("PPx", "\5", "\1") E4("PPx", "\6", "\2") E4("PPe", "\7", "\2") E4("PPe", "\x08", "\1")
	            DIE("\x09")),
	ONE("label-collision", "label-collision",
	    RUN("\1") "\x13VYc" AT("\2") "\x0b\0\0\0" N("\4") "t33675\0"
	                                                      "\x13VYc" AT("\3") "\x0b\0\0\0" N(
	                                                          "\5") "t61351\0"
	                                                                "\x13VYc" AT("\4") "\x0b\0\0\0" N(
	                                                                    "\6") "t33675\0" DIE("\5")),
	/* Another model has a list of its own. */
	ONE("good-labels", NULL,
	    RUN("\1") "\x13VYc" AT("\2") "\x0b\0\0\0" N("\4") "t33675\0"
	                                                      "\x13"
	                                                      "6Yc" AT("\3") "\x0b\0\0\0" N(
	                                                          "\5") "t61351\0" DIE("\4")),
	ONE("pause-parallel", "pause-parallel",
	    RUN("\1") TYPE("VYc", "\2", "\4", "t") E8("VTC", "\3", "\1", "\4") E8("VTx", "\4", "\1", "\1") E8(
	        "VTp", "\5", "\1", "\1") E8("VTr", "\6", "\1", "\1") E8("VTe", "\7", "\1", "\1") DIE("\x08")),
	ONE("task-state-resume", "task-state",
	    RUN("\1") NOSV_TASK("\2", "\3") E8("VTx", "\4", "\1", "\0") E8("VTr", "\5", "\1", "\0")
	        E8("VTe", "\6", "\1", "\0") DIE("\7")),
	ONE("task-state-end", "task-state",
	    RUN("\1") NOSV_TASK("\2", "\3") E8("VTx", "\4", "\1", "\0") E8("VTp", "\5", "\1", "\0")
	        E8("VTe", "\6", "\1", "\0") DIE("\7")),
	TWO("task-elsewhere", "task-elsewhere",
	    RUN("\1") NOSV_TASK("\2", "\3") E8("VTx", "\4", "\1", "\0") E8("VTr", "\x09", "\1", "\0")
	        E8("VTe", "\x0a", "\1", "\0") DIE("\x0b"),
	    RUN_ON(VIRTUAL, "\6") E8("VTp", "\7", "\1", "\0") DIE("\x08")),
	ONE("task-under-another", "task-elsewhere",
	    RUN("\1") NOSV_TASK("\2", "\3") E8("VTc", "\4", "\2", "\4") E8("VTx", "\5", "\1", "\0")
	        E8("VTp", "\6", "\1", "\0") E8("VTx", "\7", "\2", "\0") E8("VTr", "\x08", "\1", "\0")
	            E8("VTe", "\x09", "\2", "\0") E8("VTe", "\x0a", "\1", "\0") DIE("\x0b")),
	ONE("task-unfinished", "task-unfinished",
	    RUN("\1") NOSV_TASK("\2", "\3") E8("VTx", "\4", "\1", "\0") DIE("\5")),
	ONE("counters-undeclared", "counters-undeclared",
	    RUN("\1") "\x13VWC" AT("\2") "\x08\0\0\0\1\0\0\0\0\0\0\0" DIE("\3")),
	ONE_OF("require-version", "require-version", "{" OVNI("7", "\"ovni\":\"1.1\"", "") "}\n",
	       RUN("\1") DIE("\2")),
	ONE_OF("require-version-letters", "require-version", "{" OVNI("7", "\"ovni\":\"1.1.x\"", "") "}\n",
	       RUN("\1") DIE("\2")),
	ONE_OF("model-version", "model-version", "{" OVNI("7", "\"ovni\":\"1.2.0\"", "") "}\n",
	       RUN("\1") DIE("\2")),
	ONE_OF("model-version-old", "model-version",
	       "{" OVNI("7", "\"ovni\":\"1.1.0\",\"nosv\":\"1.9.9\"", "") "}\n", RUN("\1") DIE("\2")),
	/* An older minor number, a suffix after the patch, and a third-party model. */
	ONE_OF("good-require", NULL, "{" OVNI("7", "\"ovni\":\"1.0.9-rc1\",\"taskr\":\"x\"", "") "}\n",
	       RUN("\1") DIE("\2")),
	/* 3600 s and 1 ns */
	TWO("clock-gate", "clock-gate", RUN("\1") DIE("\2"),
	    RUN_AT("\2\xa0\xb8\x30\x46\3\0\0") "\0OHe\3\xa0\xb8\x30\x46\3\0\0"),
	{ 0 },
};
