/* The rules of the group "state", one trace folder after the other: what the emulator refuses, and nothing else. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/ovni_samples.h"
#include "cmd/cli_test_util.h"
#include "ovni/ovni_rig_test.h"

Test(ovni_emulate, each_sample_breaks_its_rule_and_no_other)
{
	for (const struct ovni_emulated *s = ovni_emulated; s->name != NULL; s++) {
		char folder[300], want[200] = "";
		snprintf(folder, sizeof folder, "testdata/ovni/folders-state/%s", s->name);
		if (s->rule != NULL)
			snprintf(want, sizeof want, "ovni/%s 1\n", s->rule);
		rig_expect(folder, want);
	}
}

Test(ovni_emulate, each_rule_has_a_sample)
{
	for (int i = OVNI_RULE_THREAD_STATE; i <= OVNI_RULE_CLOCK_GATE; i++) {
		bool has = i == OVNI_RULE_NESTING_DEEP; /* see below */
		for (const struct ovni_emulated *s = ovni_emulated; s->name != NULL; s++)
			has |= s->rule != NULL && strcmp(ovni_rules[i].id + 5, s->rule) == 0;
		cr_expect(has, "%s", ovni_rules[i].id);
	}
}

/* ---- real traces ---- */

static void
expect_trace(const char *name, const char *want)
{
	const char *const traces = getenv("TRACETOOL_TRACES") != NULL ? getenv("TRACETOOL_TRACES") : "../shared/traces";
	char folder[600];
	size_t n;

	snprintf(folder, sizeof folder, "%s/EXPECTED.json", traces);
	char *const there = read_whole(folder, &n);
	if (there == NULL)
		cr_skip_test("no traces");
	free(there);
	snprintf(folder, sizeof folder, "%s/ovni/%s", traces, name);
	rig_expect(folder, want);
}

Test(ovni_emulate, traces_that_the_emulator_takes)
{
	static const char *const good[] = { "mpi-func", "nanos6-nested-tasks", "nanos6-task-types", "nosv-nested-tasks", "openmp-mix-task-ws",
		                            "ovni-libovni-mark", "ovni-merge-cpus-loom", "ovni-sort", "tampi-ss-comm" };

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		char name[100];
		snprintf(name, sizeof name, "good/%s", good[i]);
		expect_trace(name, "");
	}
}

Test(ovni_emulate, traces_that_the_emulator_refuses)
{
	expect_trace("state/mpi-func-nested", "ovni/nesting-repeat 1\n");
	expect_trace("state/nanos6-rerun-task-bad", "ovni/task-again 1\n");
	expect_trace("state/nosv-bad-double-execute", "ovni/task-nested 1\n");
}
