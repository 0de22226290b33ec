/* Folders whose processes are read apart: which are, and that the output is that of streams in turn. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/test/apart_test_util.h"
#include "cmd/test/cli_test_util.h"

#define PROCESSES 3
#define THREADS 2
#define EVENTS 24000 /* of a stream: 12 bytes each, and their payloads */

/* A change of the second process. */
enum change {
	NOTHING,
	SAME_PROCESS, /* its folder has another name, but the metadata are those of the first one */
	OTHER_LOOM,   /* the same pid in another loom */
	NO_LOOM,
	NO_METADATA, /* of one stream */
	MARKS,       /* declared by all */
	MARKS_OF_ONE,
	OTHER_MARK, /* with a label that the others do not have */
	OTHER_LIB,
	OTHER_CPUS, /* another phyid */
	NO_CPUS,    /* of any process: a finding about the whole trace */
	SIDECAR,    /* metadata without a stream */
	CUT,
	UNKNOWN_CODE, /* of the first process: classes are in order of arrival, process by process */
	CHANGES
};

static const struct {
	const char *name;
	bool apart;
} rows[CHANGES] = {
	[NOTHING] = { "nothing", true },
	[SAME_PROCESS] = { "same process", false },
	[OTHER_LOOM] = { "other loom", true },
	[NO_LOOM] = { "no loom", false },
	[NO_METADATA] = { "no metadata", false },
	[MARKS] = { "marks", true },
	[MARKS_OF_ONE] = { "marks of one", false },
	[OTHER_MARK] = { "other mark", false },
	[OTHER_LIB] = { "other lib", false },
	[OTHER_CPUS] = { "other CPUs", false },
	[NO_CPUS] = { "no CPUs", true },
	[SIDECAR] = { "sidecar", true },
	[CUT] = { "cut", true },
	[UNKNOWN_CODE] = { "unknown code", true },
};

/* ---- streams ---- */

static uint64_t clock_of(int process, int thread, int i)
{
	return 1000 + (uint64_t)i * 7 + (uint64_t)(process * 3 + thread); /* streams alternate in time */
}

static void add(FILE *f, const char *code, uint64_t clock, const void *payload, uint32_t n)
{
	char head[12] = { (char)(n > 0 ? n - 1 : 0) };

	memcpy(head + 1, code, 3);
	memcpy(head + 4, &clock, sizeof clock);
	fwrite(head, 1, sizeof head, f);
	if (n > 0)
		fwrite(payload, 1, n, f);
}

/* Tasks are created in one thread and run in the other. */
static void add_tasks(FILE *f, int process, int thread, int i)
{
	const uint32_t id = (uint32_t)i, of_other = id - (id % 4 == 2 ? 14 : 16);
	const uint64_t clock = clock_of(process, thread, i);
	const int step = (i + 12 * thread) % 24;

	if (step == 0)
		add(f, "VTc", clock, (const uint32_t[]){ id, 1 + id / 24 % 2 }, 8);
	else if (step == 2 && i > 12)
		add(f, "VTx", clock, (const uint32_t[]){ of_other, 1 }, 8);
	else if (step == 4 && i > 14)
		add(f, "VTe", clock, (const uint32_t[]){ of_other, 1 }, 8);
	else
		add(f, i % 2 == 0 ? "OB." : "OBa", clock, NULL, 0);
}

static void add_types(FILE *f, int process)
{
	const uint64_t clock = clock_of(process, 0, -1);

	for (uint32_t type = 1; type <= 2; type++) {
		char data[32];
		memcpy(data, &type, sizeof type);
		const uint32_t n =
		    4 + (uint32_t)snprintf(data + 4, 28, "type %u of %d", type, process % 2) + 1;
		char head[16] = { 0x13, 'V', 'Y', 'c' };
		memcpy(head + 4, &clock, sizeof clock);
		memcpy(head + 12, &n, sizeof n);
		fwrite(head, 1, sizeof head, f);
		fwrite(data, 1, n, f);
	}
}

static void write_stream(const char *path, int process, int thread, enum change c)
{
	static const char mark[12] = { 1, 0, 0, 0, 0, 0, 0, 0, 3 }; /* value 1 of type 3 */
	const bool marks = c == MARKS || c == MARKS_OF_ONE || c == OTHER_MARK;
	FILE *const f = fopen(path, "w");

	cr_assert_not_null(f);
	fwrite("ovni\1\0\0\0", 1, 8, f);
	add(f, "OHx", clock_of(process, thread, -2), (const char[16]){ 0 }, 16);
	if (thread == 0)
		add_types(f, process);
	for (int i = 0; i < EVENTS; i++) {
		if (marks && i % 120 == 20)
			add(f, "OM=", clock_of(process, thread, i), mark, sizeof mark);
		else if (c == UNKNOWN_CODE && process == 0 && i % 120 == 20)
			add(f, "Xyz", clock_of(process, thread, i), NULL, 0);
		else
			add_tasks(f, process, thread, i);
	}
	add(f, "OHe", clock_of(process, thread, EVENTS), NULL, 0);
	if (c == CUT && process == 1)
		fwrite("\0OH", 1, 3, f);
	cr_assert_eq(fclose(f), 0);
}

static void write_metadata(const char *path, int process, int thread, enum change c)
{
	const bool changed = process == 1;
	const int pid = changed && (c == SAME_PROCESS || c == OTHER_LOOM) ? 10 : 10 + process;
	FILE *const f = fopen(path, "w");

	cr_assert_not_null(f);
	fprintf(f,
	        "{\"version\":3,\"ovni\":{\"lib\":{\"version\":\"%s\",\"commit\":\"c\"},\"part\":\"thread\","
	        "\"tid\":%d,\"pid\":%d,\"app_id\":1,\"finished\":1,\"require\":{\"ovni\":\"1.1.0\","
	        "\"nosv\":\"2.5.0\"}",
	        changed && c == OTHER_LIB ? "1.12" : "1.14", 100 * process + thread + 1, pid);
	if (!(changed && c == NO_LOOM))
		fprintf(f, ",\"loom\":\"%s\"", changed && c == OTHER_LOOM ? "node.2" : "node.1");
	if (c != NO_CPUS && thread == 0 && (process == 0 || (changed && c != NOTHING)))
		fprintf(f, ",\"loom_cpus\":[{\"index\":0,\"phyid\":0},{\"index\":%d,\"phyid\":1}]",
		        changed && c == OTHER_CPUS ? 2 : 1);
	if (c == MARKS || c == OTHER_MARK || (changed && c == MARKS_OF_ONE))
		fprintf(f,
		        ",\"mark\":{\"3\":{\"title\":\"Phase\",\"chan_type\":\"single\",\"labels\":{\"1\":"
		        "\"one\"%s}}}",
		        changed && c == OTHER_MARK ? ",\"2\":\"two\"" : "");
	fputs("}}", f);
	cr_assert_eq(fclose(f), 0);
}

static void write_trace(const char *dir, enum change c)
{
	char path[400];

	for (int p = 0; p < PROCESSES; p++)
		for (int t = 0; t < THREADS; t++) {
			int n = snprintf(path, sizeof path, "%s/loom.1", dir);
			mkdir(path, 0777);
			n += snprintf(path + n, sizeof path - (size_t)n, "/proc.%d", 10 + p);
			mkdir(path, 0777);
			n += snprintf(path + n, sizeof path - (size_t)n, "/thread.%d", t);
			mkdir(path, 0777);
			snprintf(path + n, sizeof path - (size_t)n, "/stream.obs");
			write_stream(path, p, t, c);
			snprintf(path + n, sizeof path - (size_t)n, "/stream.json");
			if (!(c == NO_METADATA && p == 1 && t == 1))
				write_metadata(path, p, t, c);
		}
	if (c != SIDECAR)
		return;
	snprintf(path, sizeof path, "%s/loom.1/proc.11/thread.7", dir);
	mkdir(path, 0777);
	strcat(path, "/stream.json");
	write_metadata(path, 1, 7, c);
}

/* ---- which processes are read apart ---- */

Test(ovni_apart, only_independent_processes)
{
	for (int c = 0; c < CHANGES; c++) {
		char *const dir = make_folder();
		write_trace(dir, (enum change)c);
		for (uint64_t threads = 1; threads < 4; threads += 2) {
			const struct apart_seen s = apart_see(dir, threads);
			cr_expect(s.possible, "%s", rows[c].name);
			cr_expect_eq(s.apart, rows[c].apart, "%s: apart %d", rows[c].name, s.apart);
			cr_expect_eq(s.reported, rows[c].apart ? PROCESSES + 1 : 0U, "%s", rows[c].name);
			if (c == NOTHING)
				cr_expect_eq(s.records, PROCESSES * (THREADS * (EVENTS + 2) + 2));
		}
		remove_folder(dir);
	}
}

/* ---- results ---- */

/* The built-in vocabulary, named as one of the user, has no effect but that the streams are read in turn. */
static void expect_as_in_turn(const char *dir, const char *command, const char *option, const char *value,
                              const char *what)
{
	expect_same_output(
	    (const char *const[]){ command, "--json", "--threads", "3", dir, option, value, NULL },
	    (const char *const[]){ command, "--json", "--threads", "1", dir, "--vocabulary",
	                           "schemas/ovni.yaml", option, value, NULL },
	    what);
}

Test(ovni_apart_race, output_is_that_of_streams_in_turn)
{
	for (int c = 0; c < CHANGES; c++) {
		char *const dir = make_folder();
		write_trace(dir, (enum change)c);
		expect_as_in_turn(dir, "validate", NULL, NULL, rows[c].name);
		expect_as_in_turn(dir, "stats", NULL, NULL, rows[c].name);
		expect_as_in_turn(dir, "stats", "--by", "process,thread,name", rows[c].name);
		expect_as_in_turn(dir, "stats", "--min-dur", "20ns", rows[c].name);
		remove_folder(dir);
	}
}

Test(ovni_apart, tasks_of_other_threads_have_names)
{
	char *const dir = make_folder();

	write_trace(dir, NOTHING);
	struct ran r = run_tool((const char *const[]){ "stats", dir, NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	cr_expect(strstr(r.out, "type 2 of 1") != NULL && strstr(r.out, "task 1") == NULL, "%s", r.out);
	ran_free(&r);
	remove_folder(dir);
}

Test(ovni_apart, reports_have_each_stream_once)
{
	char *const dir = make_folder(), *const other = make_folder();
	char report[400];
	size_t n;

	write_trace(dir, NOTHING);
	snprintf(report, sizeof report, "text=%s/report", other);
	struct ran r = run_tool(
	    (const char *const[]){ "stats", "--min-dur", "20ns", "--report", report, dir, NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	char *const text = read_whole(report + strlen("text="), &n);
	cr_assert_not_null(text);
	cr_expect(strstr(text, "valid ovni, 6 streams") != NULL, "%s", text);
	free(text);
	ran_free(&r);
	remove_folder(dir);
	remove_folder(other);
}
