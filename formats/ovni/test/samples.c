#include "ovni/test/samples.h"

/* Clocks have one small byte each: 8 bytes, little endian unless it says otherwise. */
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
	/* the specification's own dump of 162 bytes */
	GOOD("document",
	     HEAD "\x0fOHx\x08\xba\x2e\x5c\xb5\xb0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0"
	          "\x13VYc\x3c\xc2\x2e\x5c\xb5\xb0\0\0\x0e\0\0\0\1\0\0\0testtype1\0"
	          "\7VTcC\xcc\x2e\x5c\xb5\xb0\0\0\1\0\0\0\1\0\0\0\3VTx\3\xcd\x2e\x5c\xb5\xb0\0\0\1\0\0\0"
	          "\3VTp+}7\x5c\xb5\xb0\0\0\1\0\0\0\3VTr\xc3M@\x5c\xb5\xb0\0\0\1\0\0\0"
	          "\3VTe\3\x36I\x5c\xb5\xb0\0\0\1\0\0\0\0OHe\xf5\x36I\x5c\xb5\xb0\0\0"),
	/* its examples of one event each: with payload, jumbo, without payload */
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
	/* sizes near 2^32, which wrap in readers that count with 32 bits */
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
/* one with a change: what comes behind the usual keys of thread `tid` */
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
