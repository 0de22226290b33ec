/* The rules of the group "state", one trace folder after the other: what ovniemu rejects, and nothing else.
 */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ovni/test/samples.h"
#include "model/trace_engine.h"
#include "cmd/test/samples_test_util.h"
#include "ovni/ovni.h"
#include "ovni/test/state_rig_test.h"

Test(ovni_state, each_sample_breaks_its_rule_and_no_other)
{
	for (const struct ovni_emulated *s = ovni_emulated; s->name != NULL; s++) {
		char folder[300], want[200] = "";
		snprintf(folder, sizeof folder, "testdata/ovni/folders-state/%s", s->name);
		if (s->rule != NULL)
			snprintf(want, sizeof want, "ovni/%s 1\n", s->rule);
		rig_expect(folder, want);
	}
}

/* The rules of the group that `validate` finds in a folder, in all files of its report: "ID COUNT" lines. */
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

Test(ovni_state, validate_checks_when_it_is_selected)
{
	for (const struct ovni_emulated *s = ovni_emulated; s->name != NULL; s++) {
		char folder[300], want[200] = "";
		snprintf(folder, sizeof folder, "testdata/ovni/folders-state/%s", s->name);
		if (s->rule != NULL)
			snprintf(want, sizeof want, "ovni/%s 1\n", s->rule);
		expect_validated(folder, want,
		                 s->rule != NULL && strcmp(s->rule, "flush-slow") != 0 &&
		                     strcmp(s->rule, "task-over-task") != 0);
	}
}

/* A rule of the user for all events, without words for the reader: they are shown in another way, but checked
 * as without it. */
Test(ovni_state, a_schema_of_the_user_changes_no_validation)
{
	for (const struct ovni_emulated *s = ovni_emulated; s->name != NULL; s++) {
		char folder[300], want[200] = "", text[RIG_TEXT];
		if (s->rule != NULL && strcmp(s->rule, "event-refused") == 0)
			continue; /* what the user has a rule for is known */
		snprintf(folder, sizeof folder, "testdata/ovni/folders-state/%s", s->name);
		if (s->rule != NULL)
			snprintf(want, sizeof want, "ovni/%s 1\n", s->rule);
		validated(folder, true, "testdata/ovni/raw.yaml", text);
		cr_expect_str_eq(text, want, "%s: %s", folder, text);
	}
}

Test(ovni_state, each_rule_has_a_sample)
{
	for (int i = 0; i < OVNI_RULE_COUNT; i++) {
		bool has = !rig_is_state(i) || i == OVNI_RULE_NESTING_DEEP ||
		           i == OVNI_RULE_TASKS_FORGOTTEN || /* in state_{oracle,task}_test.c */
		           i == OVNI_RULE_BURST_SLOW;        /* in ovni_refused_test.c */
		for (const struct ovni_emulated *s = ovni_emulated; s->name != NULL; s++)
			has |= s->rule != NULL && strcmp(ovni_rules[i].id + 5, s->rule) == 0;
		cr_expect(has, "%s", ovni_rules[i].id);
	}
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
		expect_trace(name, "");
	}
}

Test(ovni_state, traces_that_ovniemu_rejects)
{
	expect_trace("state/mpi-func-nested", "ovni/nesting-repeat 1\n");
	expect_trace("state/nanos6-rerun-task-bad", "ovni/task-again 1\n");
	expect_trace("state/nosv-bad-double-execute", "ovni/task-nested 1\n");
}

/* Messages name states; their numbers are those of ovniemu. */
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

/* After the last batch no reader can report that memory ran out: the trace does. */
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
