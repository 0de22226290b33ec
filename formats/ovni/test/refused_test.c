/* What ovniemu refuses is an error where the rules of the group "state" are checked, and a warning elsewhere.
 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

/* `level` and `rule` are in the report of a folder, whose status is `status`. */
static void expect(const char *folder, const char *group, int status, const char *level, const char *rule)
{
	struct ran r = run_tool((const char *const[]){ "validate", "--check", group, folder, NULL }, NULL, 0);
	char id[100];
	const char *line = r.out;

	snprintf(id, sizeof id, "[ovni/%s]", rule);
	const char *const at = strstr(r.out, id);
	cr_expect_eq(r.status, status, "%s, %s: %d: %s", folder, group, r.status, r.out);
	cr_assert_not_null(at, "%s, %s: no %s: %s", folder, group, id, r.out);
	for (const char *p = r.out; p < at; p++)
		line = *p == '\n' ? p + 1 : line;
	const char *const said = strstr(line, level);
	cr_expect(said != NULL && said < at, "%s, %s: no %s: %s", folder, group, level, r.out);
	ran_free(&r);
}

static void expect_folder(const char *name, const char *rule, bool refused)
{
	char folder[200];

	snprintf(folder, sizeof folder, "testdata/ovni/folders/%s", name);
	expect(folder, "hygiene", 0, ": warning: ", rule);
	/* these streams end without having started, which is an error of its own */
	expect(folder, "state", 1, refused ? ": error: " : ": warning: ", rule);
}

Test(trust, metadata_that_ovniemu_refuses)
{
	static const char *const refused[] = { "no-lib",   "app-id",        "loom-name",   "rank-mixed",
		                               "bad-mark", "mark-conflict", "unknown-part" };

	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		expect_folder(refused[i], refused[i], true);
}

/* ovniemu ignores it. */
Test(trust, nranks_without_a_rank)
{
	expect_folder("nranks-alone", "nranks-alone", false);
}

static void put(const char *dir, const char *name, const void *p, size_t n)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert(write_whole(path, p, n), "%s", path);
}

/* A folder of one stream that starts and ends. */
static char *one_stream(const char *loom, const char *part, const char *more, const void *events, size_t n)
{
	static const char head[] = "ovni\1\0\0\0\x0fOHx\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
	                  end[] = "\0OHe\xff\xff\xff\xff\0\0\0";
	char *const dir = make_folder(), json[1000], *const stream = malloc(sizeof head + n + 20);

	cr_assert_not_null(stream);
	const int size = snprintf(
	    json, sizeof json,
	    "{\"version\":3,\"ovni\":{\"lib\":{\"version\":\"1.14.0\",\"commit\":\"x\"},\"part\":\"%s\","
	    "\"tid\":7,\"pid\":7,\"loom\":\"%s\",\"app_id\":1,\"require\":{\"ovni\":\"1.1.0\",\"nosv\":\"2.7."
	    "0\"},"
	    "\"finished\":1,\"loom_cpus\":[{\"index\":0,\"phyid\":0}]}%s}",
	    part, loom, more);
	put(dir, "stream.json", json, (size_t)size);
	memcpy(stream, head, sizeof head - 1);
	memcpy(stream + sizeof head - 1, events, n);
	memcpy(stream + sizeof head - 1 + n, end, sizeof end);
	put(dir, "stream.obs", stream, sizeof head - 1 + n + sizeof end);
	free(stream);
	return dir;
}

Test(trust, counters_that_ovniemu_refuses)
{
	char *const dir = one_stream("host.1", "thread", ",\"nosv\":{\"hwc\":{\"0\":{}}}", "", 0);

	expect(dir, "hygiene", 0, ": warning: ", "bad-counter");
	expect(dir, "state", 1, ": error: ", "bad-counter");
	remove_folder(dir);
	/* no stream of this trace requires nOS-V */
	expect_folder("bad-counter", "bad-counter", false);
}

/* Without events ovniemu only warns of it. */
Test(trust, an_unknown_part_without_events)
{
	char *const dir = one_stream("host.1", "cpu", "", "", 0);

	put(dir, "stream.obs", "ovni\1\0\0\0", 8);
	expect(dir, "state", 1, ": warning: ", "unknown-part");
	remove_folder(dir);
}

Test(trust, breakdown_of_nosv)
{
	char *dir = one_stream("host.1", "thread", "", "", 0);

	expect(dir, "breakdown", 1, ": error: ", "no-breakdown");
	remove_folder(dir);
	dir = one_stream("host.1", "thread", ",\"nosv\":{\"can_breakdown\":false}", "", 0);
	expect(dir, "breakdown", 0, ": warning: ", "breakdown-off");
	remove_folder(dir);
	dir = one_stream("host.1", "thread", ",\"nosv\":{\"can_breakdown\":true}", "", 0);
	struct ran r =
	    run_tool((const char *const[]){ "validate", "--check", "breakdown", dir, NULL }, NULL, 0);
	cr_expect(r.status == 0 && strstr(r.out, "breakdown") == NULL, "%s", r.out);
	ran_free(&r);
	remove_folder(dir);
}

/* Burst events, `slow` of whose times apart are 101 ns and the others 100. */
static char *burst_stream(int events, int slow)
{
	char bytes[101 * 12];
	uint64_t clock = 1;

	for (int i = 0; i < events; i++) {
		char *const e = bytes + 12 * i;
		clock += i > 0 && i <= slow ? 101 : 100;
		memcpy(e, "\0OB.", 4);
		for (int k = 0; k < 8; k++)
			e[4 + k] = (char)(clock >> 8 * k & 0xff);
	}
	return one_stream("host.1", "thread", "", bytes, (size_t)events * 12);
}

Test(trust, bursts_that_are_slow)
{
	char *dir = burst_stream(100, 50);

	expect(dir, "state", 0, ": warning: 50 of the last 99 times between burst events are over 100 ns",
	       "burst-slow");
	remove_folder(dir);
	for (int few = 0; few < 2; few++) {
		dir = burst_stream(few ? 99 : 100, few ? 98 : 49);
		struct ran r =
		    run_tool((const char *const[]){ "validate", "--check", "state", dir, NULL }, NULL, 0);
		cr_expect(r.status == 0 && strstr(r.out, "burst-slow") == NULL, "%s", r.out);
		ran_free(&r);
		remove_folder(dir);
	}
}

Test(trust, tasks_and_labels_that_ovniemu_warns_of)
{
	expect("testdata/ovni/folders-state/task-over-task", "state", 0, ": warning: ", "task-over-task");
	expect("testdata/ovni/folders-state/task-over-task-openmp", "state", 0,
	       ": warning: ", "task-over-task");
	expect("testdata/ovni/folders-state/label-collision", "state", 1,
	       ": error: label \"t61351\" has the number ", "label-collision");
}
