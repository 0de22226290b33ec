/*
 * Rules.  Every rule has a sample that breaks it and causes no other finding except notes, from a file and
 * from a pipe.  Faults that ovniemu refuses are errors if the group "state" is checked, else warnings.  In
 * the group "state", each sample folder and real trace breaks exactly the rules that ovniemu rejects.
 */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "cmd/test/samples_test_util.h"
#include "format/registry.h"
#include "model/trace_engine.h"
#include "ovni/ovni.h"
#include "ovni/test/state_rig_test.h"
#include "test/support/samples.h"
#include "test/support/strength.h"

/* ---- samples of all rules ---- */

/* Returns the findings of `validate` in all files of its report, to be freed: "exit N", then lines of "rule
 * offset".  Missing metadata is left out; other notes too unless they are wanted. */
static char *describe_report(struct ran r, const char *path, bool notes)
{
	cJSON *const report = cJSON_ParseWithLength(r.out, r.out_n);
	const cJSON *file, *f;
	char *const text = calloc(1, 65536);
	size_t n = 0;

	cr_assert(report != NULL && text != NULL, "%s: no report: %.200s%.200s", path, r.out, r.err);
	n += (size_t)sprintf(text, "exit %d\n", r.status);
	cJSON_ArrayForEach(file, cJSON_GetObjectItemCaseSensitive(report, "files"))
	    cJSON_ArrayForEach(f, cJSON_GetObjectItemCaseSensitive(file, "findings"))
	{
		const char *const rule = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(f, "rule"));
		const cJSON *const offset = cJSON_GetObjectItemCaseSensitive(f, "offset");
		cr_assert(rule != NULL && offset != NULL && n < 60000);
		const bool note =
		    strcmp(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(f, "level")), "note") == 0;
		if (strcmp(rule, "ovni/no-metadata") != 0 && (notes || !note))
			n += (size_t)snprintf(text + n, 65536 - n, "%s %.0f\n", rule, offset->valuedouble);
	}
	cJSON_Delete(report);
	ran_free(&r);
	return text;
}

static void expect_report(const char *path, const void *in, size_t n, const char *want)
{
	const char *const args[] = { "validate", "--format", "json", path, NULL };
	char *const got = describe_report(run_tool(args, in, n), path, strchr(want, '/') != NULL);

	cr_expect_str_eq(got, want, "%s: %swhere this was expected:\n%s", path, got, want);
	free(got);
}

#define STREAMS NULL

static bool is_of(const struct sample *s, const char *folder)
{
	return folder == STREAMS ? !s->folder : strncmp(s->name, folder, strlen(folder)) == 0;
}

/* Calls f for each sample in a folder of testdata/ovni, or for all single streams.  Returns the number of
 * samples. */
static size_t each_sample(const char *folder, void (*f)(const struct sample *s, const char *path))
{
	struct samples_of all;
	size_t count = 0;
	char path[300];

	cr_assert(samples_read(&all, "ovni"));
	for (const struct sample *s = all.list; s < all.list + all.n; s++)
		if (is_of(s, folder)) {
			snprintf(path, sizeof path, "testdata/ovni/%s",
			         s->folder ? s->name : s->files[0].name);
			f(s, path);
			count++;
		}
	samples_free(&all);
	return count;
}

/* Whether the sample breaks a rule: only then its exit status is set. */
static bool is_bad(const struct sample *s)
{
	return s->exit_status >= 0;
}

static void put_wanted(char *want, size_t size, const struct sample *s)
{
	if (s->nfindings > 0)
		snprintf(want, size, "exit %d\n%s %" PRIu64 "\n", is_bad(s) ? s->exit_status : 0,
		         s->findings[0].rule, s->findings[0].offset);
	else
		snprintf(want, size, "exit 0\n");
}

static void expect_stream(const struct sample *s, const char *path)
{
	char want[200];
	size_t n;
	char *const p = read_whole(path, &n);

	put_wanted(want, sizeof want, s);
	cr_assert(p != NULL && n == s->files[0].n && memcmp(p, s->files[0].p, n) == 0, "%s", path);
	expect_report(path, NULL, 0, want);
	expect_report("-", p, n, want);
	free(p);
}

Test(ovni_rules, samples_say_what_is_expected)
{
	cr_expect(each_sample(STREAMS, expect_stream) > 40);
}

static void expect_sample_folder(const struct sample *s, const char *path)
{
	char want[200];

	put_wanted(want, sizeof want, s);
	expect_report(path, NULL, 0, want);
}

Test(ovni_rules, folders_say_what_is_expected)
{
	cr_expect(each_sample("folders/", expect_sample_folder) > 50);
}

/* Rules that no small file can break, or that every single stream breaks; each has a test below. */
static const char *const elsewhere[] = { "ovni/limit",
	                                 "ovni/jumbo-size",
	                                 "ovni/no-metadata",
	                                 "ovni/nesting-deep",
	                                 "ovni/tasks-forgotten",
	                                 "ovni/clock-host",
	                                 "ovni/old-unfinished",
	                                 "ovni/no-breakdown",
	                                 "ovni/breakdown-off",
	                                 "ovni/burst-slow",
	                                 NULL };

Test(ovni_rules, every_rule_has_a_sample)
{
	struct samples_of all;

	cr_assert(samples_read(&all, "ovni"));
	for (const struct rule *r = format_by_name("ovni")->rules; r->id != NULL; r++) {
		bool has = false, other = false;
		for (size_t i = 0; i < all.n; i++)
			has |= is_bad(&all.list[i]) && strcmp(r->id, all.list[i].findings[0].rule) == 0;
		for (size_t i = 0; elsewhere[i] != NULL; i++)
			other |= strcmp(r->id, elsewhere[i]) == 0;
		cr_expect(has != other, "%s", r->id);
	}
	samples_free(&all);
}

Test(ovni_rules, bad_magic_and_no_metadata)
{
	expect_ran(run_tool((const char *const[]){ "validate", "--from", "ovni", "-", NULL }, "abcdefgh", 8),
	           1, "[ovni/bad-magic]");
	expect_ran(
	    run_tool((const char *const[]){ "validate", "testdata/ovni/good/document.obs", NULL }, NULL, 0),
	    0, "[ovni/no-metadata]");
}

/* Validates a jumbo event of `size` bytes of data, followed by OHe. */
static void expect_jumbo(uint32_t size, const char *want)
{
	const size_t n = 8 + 16 + (size_t)size + 12;
	char *const p = calloc(1, n);

	cr_assert_not_null(p);
	memcpy(p, "ovni\1\0\0\0\x13OUj\1", 13);
	for (int i = 0; i < 4; i++)
		p[20 + i] = (char)(size >> 8 * i & 0xff);
	memcpy(p + n - 12, "\0OHe\2", 5);
	expect_report("-", p, n, want);
	free(p);
}

Test(ovni_rules, large_jumbo_events)
{
	expect_jumbo(OVNI_WRITER_JUMBO, "exit 0\n");
	expect_jumbo(OVNI_WRITER_JUMBO + 1, "exit 0\novni/jumbo-size 8\n");
	expect_jumbo(5U << 20, "exit 0\novni/jumbo-size 8\n");
	expect_jumbo((64U << 20) - OVNI_JUMBO_HEAD, "exit 0\novni/jumbo-size 8\n");
	expect_jumbo((64U << 20) - OVNI_JUMBO_HEAD + 1, "exit 0\nlimit/record 8\n");
}

Test(ovni_rules, more_codes_than_are_told_apart)
{
	static char p[8 + 12 * (OVNI_MAX_CODES + 2)] = "ovni\1";

	for (unsigned i = 0; i < OVNI_MAX_CODES + 1; i++) {
		char *const e = p + 8 + 12 * i;
		e[1] = 'X';
		e[2] = (char)(i >> 8);
		e[3] = (char)(i & 0xff);
	}
	memcpy(p + sizeof p - 12, "\0OHe", 4);
	expect_ran(run_tool((const char *const[]){ "stats", "-", NULL }, p, sizeof p), 0, "[ovni/limit]");
}

Test(ovni_rules, groups_are_named_by_an_option)
{
	static const char *const good[] = { "format", "hygiene", "state" };
	struct ran r;

	for (size_t i = 0; i < 3; i++) {
		r = run_tool((const char *const[]){ "validate", "--check", good[i],
		                                    "testdata/ovni/good/equal-clocks.obs", NULL },
		             NULL, 0);
		/* The group "state" requires that the thread has started. */
		cr_expect_eq(r.status, i < 2 ? 0 : 1, "%s: %s%s", good[i], r.out, r.err);
		ran_free(&r);
	}
	expect_ran(run_tool((const char *const[]){ "validate", "--check", "states",
	                                           "testdata/ovni/good/equal-clocks.obs", NULL },
	                    NULL, 0),
	           3, "format, hygiene, state, breakdown");
}

/* ---- refused by ovniemu ---- */

/* Expects a status of `validate --check GROUP`, and a line of the report with this level and rule. */
static void expect_level(const char *folder, const char *group, int status, const char *level,
                         const char *rule)
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
	expect_level(folder, "hygiene", 0, ": warning: ", rule);
	/* These streams end without having started, which is an error of its own. */
	expect_level(folder, "state", 1, refused ? ": error: " : ": warning: ", rule);
}

Test(trust, metadata_that_ovniemu_refuses)
{
	static const char *const refused[] = { "no-lib",   "app-id",        "loom-name",   "rank-mixed",
		                               "bad-mark", "mark-conflict", "unknown-part" };

	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		expect_folder(refused[i], refused[i], true);
}

/* ovniemu ignores nranks without rank. */
Test(trust, nranks_without_a_rank)
{
	expect_folder("nranks-alone", "nranks-alone", false);
}

/* Creates a folder of one stream whose thread starts and ends. */
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
	put_file(dir, "stream.json", json, (size_t)size);
	memcpy(stream, head, sizeof head - 1);
	memcpy(stream + sizeof head - 1, events, n);
	memcpy(stream + sizeof head - 1 + n, end, sizeof end);
	put_file(dir, "stream.obs", stream, sizeof head - 1 + n + sizeof end);
	free(stream);
	return dir;
}

Test(trust, counters_that_ovniemu_refuses)
{
	char *const dir = one_stream("host.1", "thread", ",\"nosv\":{\"hwc\":{\"0\":{}}}", "", 0);

	expect_level(dir, "hygiene", 0, ": warning: ", "bad-counter");
	expect_level(dir, "state", 1, ": error: ", "bad-counter");
	remove_folder(dir);
	/* No stream of this trace requires nOS-V. */
	expect_folder("bad-counter", "bad-counter", false);
}

/* ovniemu only warns of the part of a stream without events. */
Test(trust, an_unknown_part_without_events)
{
	char *const dir = one_stream("host.1", "cpu", "", "", 0);

	put_file(dir, "stream.obs", "ovni\1\0\0\0", 8);
	expect_level(dir, "state", 1, ": warning: ", "unknown-part");
	remove_folder(dir);
}

Test(trust, breakdown_of_nosv)
{
	char *dir = one_stream("host.1", "thread", "", "", 0);

	expect_level(dir, "breakdown", 1, ": error: ", "no-breakdown");
	remove_folder(dir);
	dir = one_stream("host.1", "thread", ",\"nosv\":{\"can_breakdown\":false}", "", 0);
	expect_level(dir, "breakdown", 0, ": warning: ", "breakdown-off");
	remove_folder(dir);
	dir = one_stream("host.1", "thread", ",\"nosv\":{\"can_breakdown\":true}", "", 0);
	struct ran r =
	    run_tool((const char *const[]){ "validate", "--check", "breakdown", dir, NULL }, NULL, 0);
	cr_expect(r.status == 0 && strstr(r.out, "breakdown") == NULL, "%s", r.out);
	ran_free(&r);
	remove_folder(dir);
}

/* Creates a stream of burst events; `slow` of the times between them are 101 ns, the others 100. */
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

	expect_level(dir, "state", 0,
	             ": warning: 50 of the last 99 times between burst events are over 100 ns", "burst-slow");
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
	expect_level("testdata/ovni/folders-state/task-over-task", "state", 0,
	             ": warning: ", "task-over-task");
	expect_level("testdata/ovni/folders-state/task-over-task-openmp", "state", 0,
	             ": warning: ", "task-over-task");
	expect_level("testdata/ovni/folders-state/label-collision", "state", 1,
	             ": error: label \"t61351\" has the number ", "label-collision");
}

/* ---- the group "state" ---- */

static void put_rule_once(char *want, size_t size, const struct sample *s)
{
	want[0] = '\0';
	if (is_bad(s))
		snprintf(want, size, "%s 1\n", s->findings[0].rule);
}

static void expect_rule(const struct sample *s, const char *path)
{
	char want[200];

	put_rule_once(want, sizeof want, s);
	rig_expect(path, want);
}

Test(ovni_state, each_sample_breaks_its_rule_and_no_other)
{
	cr_expect(each_sample("folders-state/", expect_rule) > 70);
}

/* Counts the findings of the group in all files of the report: lines of "ID COUNT".  Returns the status. */
static int validated(const char *folder, bool state, const char *schema, char text[RIG_TEXT])
{
	const char *const args[] = { "validate",
		                     "--format",
		                     "json",
		                     folder,
		                     state ? "--check" : NULL,
		                     "state",
		                     schema != NULL ? "--vocabulary" : NULL,
		                     schema,
		                     NULL };
	struct ran r = run_tool(args, NULL, 0);
	cJSON *const report = cJSON_ParseWithLength(r.out, r.out_n);
	const cJSON *file, *f;
	uint64_t counts[OVNI_RULE_COUNT] = { 0 };
	size_t n = 0;

	cr_assert_not_null(report, "%s: %.300s", folder, r.err);
	cJSON_ArrayForEach(file, cJSON_GetObjectItemCaseSensitive(report, "files")) cJSON_ArrayForEach(
	    f, cJSON_GetObjectItemCaseSensitive(file, "findings")) for (int i = 0; i < OVNI_RULE_COUNT; i++)
	    counts[i] +=
	    rig_is_state(i) &&
	    strcmp(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(f, "rule")), ovni_rules[i].id) == 0;
	text[0] = '\0';
	for (int i = 0; i < OVNI_RULE_COUNT; i++)
		if (counts[i] > 0)
			n += (size_t)snprintf(text + n, RIG_TEXT - n, "%s %d\n", ovni_rules[i].id,
			                      (int)counts[i]);
	const int status = r.status;
	cJSON_Delete(report);
	ran_free(&r);
	return status;
}

static void expect_validated(const char *folder, const char *want, int status)
{
	char text[RIG_TEXT];

	cr_expect_eq(validated(folder, true, NULL, text), status, "%s", folder);
	cr_expect_str_eq(text, want, "%s: %s\nwhere this was expected: %s", folder, text, want);
	cr_expect_eq(validated(folder, false, NULL, text), 0, "%s", folder);
	cr_expect_str_eq(text, "", "%s: %s", folder, text);
}

static void expect_rule_of_validate(const struct sample *s, const char *path)
{
	char want[200];

	if (!strength_takes(path, 4))
		return;
	put_rule_once(want, sizeof want, s);
	expect_validated(path, want, is_bad(s) ? s->exit_status : 0);
}

Test(ovni_state, validate_checks_when_it_is_selected)
{
	each_sample("folders-state/", expect_rule_of_validate);
}

static void expect_rule_with_schema(const struct sample *s, const char *path)
{
	char want[200], text[RIG_TEXT];

	if (!strength_takes(path, 4))
		return;
	put_rule_once(want, sizeof want, s);
	if (strstr(want, "/event-refused ") != NULL)
		return; /* codes with a user rule are known */
	validated(path, true, "testdata/ovni/raw.yaml", text);
	cr_expect_str_eq(text, want, "%s: %s", path, text);
}

/* A user's rule for all events, without keywords for the reader, changes how they are shown, but not how they
 * are checked. */
Test(ovni_state, a_schema_of_the_user_changes_no_validation)
{
	each_sample("folders-state/", expect_rule_with_schema);
}

static void expect_offset(const struct sample *s, const char *path)
{
	const char *const args[] = { "validate", "--format", "json", "--check", "state", path, NULL };
	char place[120] = "\"findings\":[]";

	if (!strength_takes(path, 4))
		return;
	struct ran r = run_tool(args, NULL, 0);
	if (is_bad(s))
		snprintf(place, sizeof place, "\"%s\",\"level\":\"%s\",\"offset\":%" PRIu64 ",",
		         s->findings[0].rule, s->exit_status > 0 ? "error" : "warning",
		         s->findings[0].offset);
	cr_expect_not_null(strstr(r.out, place), "%s: %s is not in\n%s", path, place, r.out);
	ran_free(&r);
}

Test(ovni_state, findings_at_marked_offsets)
{
	each_sample("folders-state/", expect_offset);
}

Test(ovni_state, each_rule_has_a_sample)
{
	struct samples_of all;

	cr_assert(samples_read(&all, "ovni"));
	for (int i = 0; i < OVNI_RULE_COUNT; i++) {
		bool has = !rig_is_state(i) || i == OVNI_RULE_NESTING_DEEP ||
		           i == OVNI_RULE_TASKS_FORGOTTEN || /* both in state_test.c */
		           i == OVNI_RULE_BURST_SLOW;        /* above */
		for (size_t k = 0; k < all.n; k++)
			has |= is_of(&all.list[k], "folders-state/") && is_bad(&all.list[k]) &&
			       strcmp(ovni_rules[i].id, all.list[k].findings[0].rule) == 0;
		cr_expect(has, "%s", ovni_rules[i].id);
	}
	samples_free(&all);
}

/* ---- real traces ---- */

static void expect_trace(const char *name, const char *want)
{
	const char *const traces = real_traces();
	char folder[600];
	size_t n;

	snprintf(folder, sizeof folder, "%s/EXPECTED.json", traces);
	char *const there = read_whole(folder, &n);
	if (there == NULL)
		cr_skip_test("no traces");
	free(there);
	snprintf(folder, sizeof folder, "%s/ovni/%s", traces, name);
	rig_expect(folder, want);
	expect_validated(folder, want, want[0] != '\0');
}

Test(ovni_state, traces_that_ovniemu_accepts)
{
	static const char *const good[] = {
		"mpi-func",           "nanos6-nested-tasks", "nanos6-task-types",    "nosv-nested-tasks",
		"openmp-mix-task-ws", "ovni-libovni-mark",   "ovni-merge-cpus-loom", "ovni-sort",
		"tampi-ss-comm"
	};

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		char name[100];
		snprintf(name, sizeof name, "good/%s", good[i]);
		if (strength_takes(name, 3))
			expect_trace(name, "");
	}
}

Test(ovni_state, traces_that_ovniemu_rejects)
{
	expect_trace("state/mpi-func-nested", "ovni/nesting-repeat 1\n");
	expect_trace("state/nanos6-rerun-task-bad", "ovni/task-again 1\n");
	expect_trace("state/nosv-bad-double-execute", "ovni/task-nested 1\n");
}

/* Messages name states, with the numbers of ovniemu. */
Test(ovni_state, states_are_named)
{
	const char *const folder = "testdata/ovni/folders-state/nesting-mismatch";
	struct ran r =
	    run_tool((const char *const[]){ "validate", "--check", "state", folder, NULL }, NULL, 0);

	cr_expect_not_null(strstr(r.out, "VU] closes \"task submission\" (13.8), but the innermost open one "
	                                 "is \"scheduler server, blocking\" (13.7), "
	                                 "opened by VS[ at byte 36"),
	                   "%s", r.out);
	ran_free(&r);
}

/* OOM after the last batch is reported by the trace. */
Test(ovni_state, no_memory_at_the_end_is_reported)
{
	struct ovni_shared *const shared = calloc(1, sizeof *shared);
	struct findings findings;
	struct trace trace;

	cr_assert_not_null(shared);
	trace_init(&trace);
	findings_init(&findings, "trace", NULL, NULL);
	shared->system.no_memory = true;
	ovni_trace_ops.check(&(struct reader){ .trace = &trace, .findings = &findings, .shared = shared });
	cr_expect_eq(findings_count(&findings, &ovni_rules[OVNI_RULE_LIMIT]), 1);
	ovni_trace_ops.close(shared);
	free(shared);
	findings_free(&findings);
	trace_free(&trace);
}
