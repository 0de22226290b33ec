#include "ovni/test/samples.h"

/* Traces that the emulator refuses: one for each rule of the group "state".  Clocks and numbers have one
 * small byte each. */
#define HEAD "ovni\1\0\0\0"
#define AT(c) c "\0\0\0\0\0\0\0"
#define N(n) n "\0\0\0"
#define E(code, c) "\0" code AT(c)
#define E4(code, c, a) "\3" code AT(c) N(a)
#define E8(code, c, a, b) "\7" code AT(c) N(a) N(b)
#define MARK(code, c, value, type) "\x0b" code AT(c) value "\0\0\0\0\0\0\0" N(type)
#define TYPE(code, c, id, label) "\x13" code AT(c) "\6\0\0\0" N(id) label "\0"
#define RUN_AT(clock) "\x0fOHx" clock "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define RUN(c) RUN_AT(AT(c))
#define RUN_ON(cpu, c) "\x0fOHx" AT(c) cpu "\0\0\0\0\0\0\0\0\0\0\0\0"
#define VIRTUAL "\xff\xff\xff\xff"
#define DIE(c) E("OHe", c)
#define STREAM(s) (HEAD s), sizeof(HEAD s) - 1

#define CPUS ",\"loom_cpus\":[{\"index\":0,\"phyid\":4},{\"index\":1,\"phyid\":5}]"
#define ALL                                                                                                  \
	"\"ovni\":\"1.1.0\",\"nanos6\":\"1.1.0\",\"nosv\":\"2.7.0\",\"openmp\":\"1.2.1\",\"mpi\":\"1.0.0\"," \
	"\"kernel\":\"1.0.0\""
#define OVNI(tid, require, more)                                                                             \
	"\"version\":3,\"ovni\":{\"lib\":{\"version\":\"1.14.0\",\"commit\":\"x\"},\"part\":\"thread\","     \
	"\"tid\":" tid ",\"pid\":7,\"loom\":\"host.1\",\"app_id\":1,\"require\":{" require                   \
	"},\"finished\":1" CPUS more "}"
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
	/* a bit of everything; nothing is wrong */
	/* clang-format off */
	{ "good",
	  NULL,
	  { { WITH_COUNTERS,
	      STREAM("\x0bOHC" AT("\1") "\0\0\0\0\0\0\0\0\0\0\0\0" RUN("\2") E("OF[", "\3")
	             E("OF]", "\4") E("OB.", "\5") E("OU[", "\6") E("OU]", "\7")
	             MARK("OM[", "\x08", "\5", "\1") MARK("OM[", "\x08", "\5", "\1")
	             MARK("OM]", "\x08", "\5", "\1") MARK("OM=", "\x09", "\6", "\2")
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
	       RUN("\1") MARK("OM[", "\2", "\5", "\1") MARK("OM]", "\3", "\6", "\1") DIE("\4")),
	ONE("nesting-empty", "nesting-empty", RUN("\1") E("VS]", "\2") DIE("\3")),
	ONE_OF("mark-empty", "nesting-empty", WITH_MARKS, RUN("\1") MARK("OM]", "\2", "\5", "\1") DIE("\4")),
	ONE("nesting-repeat", "nesting-repeat",
	    RUN("\1") E("MUf", "\2") E("MUf", "\3") E("MUF", "\4") E("MUF", "\5") DIE("\6")),
	ONE("nesting-left-open", "nesting-left-open", RUN("\1") E("VS[", "\2") E("VS[", "\3") DIE("\4")),
	ONE("mark-undeclared", "mark-undeclared", RUN("\1") MARK("OM=", "\2", "\1", "\x09") DIE("\3")),
	ONE_OF("mark-zero", "mark-zero", WITH_MARKS, RUN("\1") MARK("OM=", "\2", "\0", "\2") DIE("\3")),
	ONE_OF("mark-kind", "mark-kind", WITH_MARKS, RUN("\1") MARK("OM=", "\2", "\1", "\1") DIE("\3")),
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
	/* a region lies between, so that no state repeats */
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
	/* in another model it is another list */
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
	/* an older minor number, words behind the patch, and somebody's own model */
	ONE_OF("good-require", NULL, "{" OVNI("7", "\"ovni\":\"1.0.9-rc1\",\"taskr\":\"x\"", "") "}\n",
	       RUN("\1") DIE("\2")),
	/* 3600 s and 1 ns */
	TWO("clock-gate", "clock-gate", RUN("\1") DIE("\2"),
	    RUN_AT("\2\xa0\xb8\x30\x46\3\0\0") "\0OHe\3\xa0\xb8\x30\x46\3\0\0"),
	{ 0 },
};
