/* validate --init, and the schema of policies for editors. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "test/support/strength.h"

#define SCHEMA "schemas/policy.schema.json"

/* Each good trace of a folder of samples meets its own starter policy. */
static size_t expect_kept(const char *folder, const char *suffix)
{
	char **const names = list_folder(folder, suffix);
	char *const dir = make_folder(), policy[1024], trace[1024];
	size_t n = 0;

	snprintf(policy, sizeof policy, "%s/p.yaml", dir);
	for (size_t i = 0; names[i] != NULL; i++) {
		snprintf(trace, sizeof trace, "%s/%s", folder, names[i]);
		struct ran r = run_tool(
		    (const char *const[]){ "validate", "--init", "-fo", policy, trace, NULL }, NULL, 0);
		const bool good = r.status == 0;
		cr_expect(good || strstr(r.err, "a policy is made from a good trace") != NULL, "%s", r.err);
		ran_free(&r);
		if (!good)
			continue;
		r = run_tool((const char *const[]){ "validate", "--config", policy, "--fail-level", "note",
		                                    "--select-rules", "policy/*", trace, NULL },
		             NULL, 0);
		cr_expect_eq(r.status, strstr(r.out, "[policy/un") != NULL, "%s: %s%s", trace, r.out, r.err);
		ran_free(&r);
		n++;
	}
	list_free(names);
	remove_folder(dir);
	return n;
}

Test(policy_starter, is_kept_by_its_trace)
{
	cr_expect(expect_kept("testdata/htdump/good", ".htdump") > 5);
	cr_expect(expect_kept("testdata/chrome/good", ".json") > 3);
	cr_expect(expect_kept("testdata/heph/good", ".log") > 5);
	cr_expect(expect_kept("testdata/dial9/good", ".dial9") > 2);
}

/* ---- the schema ---- */

/* Writes a policy as JSON into a folder, as another reader of YAML has it. */
static void as_json(const char *policy, const char *dir, const char *name)
{
	char to[1024];

	snprintf(to, sizeof to, "%s/%s", dir, name);
	struct ran r = run_program(
	    (const char *const[]){ "/usr/bin/python3", "-c",
	                           "import json, sys, yaml\n"
	                           "json.dump(yaml.safe_load(open(sys.argv[1])), open(sys.argv[2], 'w'))",
	                           policy, to, NULL },
	    NULL, 0);
	cr_assert_eq(r.status, 0, "%s: %s", policy, r.err);
	ran_free(&r);
}

static struct ran validate_json(const char *path)
{
	const char *const tool =
	    access("/usr/bin/jsonschema", X_OK) == 0 ? "/usr/bin/jsonschema" : "jsonschema";

	return run_program((const char *const[]){ tool, "-i", path, SCHEMA, NULL }, NULL, 0);
}

static bool has_yaml(void)
{
	struct ran r =
	    run_program((const char *const[]){ "/usr/bin/python3", "-c", "import yaml", NULL }, NULL, 0);
	const bool has = r.status == 0;

	ran_free(&r);
	return has;
}

/* A policy of one line: the reader and the schema agree on its validity. */
static void expect_judged(const char *dir, const char *text, bool taken)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/p.yaml", dir);
	cr_assert(write_whole(path, text, strlen(text)));
	as_json(path, dir, "p.json");
	struct ran r =
	    run_tool((const char *const[]){ "validate", "--config", path, "--select-rules", "input/*", "--",
	                                    "testdata/htdump/good/wire-little.htdump", NULL },
	             NULL, 0);
	cr_expect_eq(r.status, taken ? 0 : 2, "%s: %s%s", text, r.out, r.err);
	ran_free(&r);
	snprintf(path, sizeof path, "%s/p.json", dir);
	r = validate_json(path);
	cr_expect_eq(r.status == 0, taken, "%s: the schema: %s%s", text, r.out, r.err);
	ran_free(&r);
}

Test(policy_starter, schema_and_reader_agree)
{
	static const char *const bad[] = {
		"selct: x",
		"fail-level: no",
		"level: {'*': fatal}",
		"report: sarf",
		"budgets: [{name: a, statistic: p50}]",
		"budgets: [{name: a, statistic: p50, limit: 5}]",
		"budgets: [{name: a, statistic: count, limit: 5ms}]",
		"budgets: [{name: a, statistic: rate, limit: 5ms}]",
		"expect: {lost-packets: 5}",
		"expect: {time: {duration: 5ms}}",
		"expect: {events: [{count: 5}]}",
		"overrides: [{fail-level: note}]",
		"budgets: [{name: a, statistic: p50, limit: 1ms, min-count: 5}]",
		"budgets: [{name: a, statistic: p0, limit: 5ms}]",
		"budgets: [{name: a, statistic: p100.1, limit: 5ms}]",
		"budgets: [{name: a, statistic: count, limit: '5k'}]",
		"budgets: [{name: a, statistic: bytes, limit: '1.5'}]",
		"threads: '0'",
		"budgets: [{name: a, kind: counter, statistic: sum, limit: 5}]",
		"budgets: [{name: a, kind: counter, statistic: max, limit: 5ms}]",
		"budgets: [{name: a, kind: counter, statistic: p99.9, limit: 5}]",
		"budgets: [{name: a, kind: counter, group: all, statistic: max, limit: 5}]",
		"budgets: [{name: a, series: x, kind: span, statistic: max, limit: 5ms}]",
		"budgets: [{name: a, series: x, statistic: count, limit: 5}]",
		"budgets: [{name: a, series: x, statistic: p90, tolerance: 5%}]",
		"budgets: [{name: a, series: x, statistic: max, limit: inf}]",
		"budgets: [{name: a, kind: instant, statistic: max, limit: 5ms}]",
		"budgets: [{name: a, statistic: bytes, limit: 1.5}]",
		"budgets: [{name: a, category: b, kind: counter, statistic: max, limit: 5}]",
		"budgets: [{name: a, kind: instant, group: category, statistic: count, limit: 5}]",
		"budgets: [{name: a, thread: b, statistic: p50, tolerance: 5%}]",
		"budgets: [{name: a, group: all, statistic: p50, tolerance: 5%}]",
		"budgets: [{name: a, kind: async, statistic: self, limit: 5ms}]",
	};
	char *const dir = make_folder(), path[1024];

	if (!has_yaml())
		cr_skip_test("python3-yaml is not here");
	as_json("testdata/policy/web.yaml", dir, "web.json");
	snprintf(path, sizeof path, "%s/web.json", dir);
	struct ran r = validate_json(path);
	cr_expect_eq(r.status, 0, "%s%s", r.out, r.err);
	ran_free(&r);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i += strength(7, 1, 1))
		expect_judged(dir, bad[i], false);
	expect_judged(dir, "level: {'*': note}\nbudgets: [{name: a, statistic: max, limit: 0}]", true);
	expect_judged(dir, "budgets: [{name: frame, statistic: bytes, limit: 64KiB}]", true);
	expect_judged(dir,
	              "budgets:\n- {name: a, kind: counter, statistic: max, limit: 2GiB}\n"
	              "- {name: a, series: x, statistic: mean, limit: -0.5}\n"
	              "- {name: a, series: 'x*', kind: counter, statistic: p95, limit: '1e3'}\n"
	              "- {name: a, kind: counter, statistic: rate, limit: 1/s}\n"
	              "- {name: a, series: x, statistic: p99, limit: 5, tolerance: 5%}\n",
	              true);
	expect_judged(dir,
	              "threads: '2'\nmax-findings: '9'\nexit-zero: 'true'\nbudgets:\n"
	              "- {name: 1, statistic: count, limit: '99'}\n"
	              "- {name: a, statistic: p50.0, limit: 5ms, tolerance: 5%, min-count: '7'}\n"
	              "- {name: true, statistic: p100, limit: 5ms}\n",
	              true);
	r = run_tool(
	    (const char *const[]){ "validate", "--init", "testdata/htdump/good/wire-little.htdump", NULL },
	    NULL, 0);
	cr_expect_eq(r.status, 0);
	expect_judged(dir, r.out, true);
	ran_free(&r);
	remove_folder(dir);
}

#define SERVICE "../shared/traces/dial9/metrics-service.bin"
#define NEXT_BUILD "../shared/traces/next/dial9/span-enter-event.bin"

/* The next build of a service meets its policy, although line numbers differ. */
Test(policy_starter, the_next_build_keeps_it)
{
	char *const dir = make_folder(), path[1024];
	size_t n;

	if (access(SERVICE, R_OK) != 0 || access(NEXT_BUILD, R_OK) != 0)
		cr_skip_test("the traces are not here");
	snprintf(path, sizeof path, "%s/p.yaml", dir);
	expect_ran(
	    run_tool((const char *const[]){ "validate", "--init", SERVICE, "-o", path, NULL }, NULL, 0), 0,
	    "p.yaml: 3 events, 4 budgets; check: tracetool validate --config ");
	char *const text = read_whole(path, &n);
	cr_assert_not_null(text);
	cr_expect_null(strstr(text, "173"), "%s", text);
	cr_expect_null(strstr(text, "/home/"), "%s", text);
	cr_expect_null(strstr(text, "\"parked\""), "%s", text);
	cr_expect_not_null(strstr(text, "\"*/hyper-util-*/src/rt/tokio.rs:*\""), "%s", text);
	free(text);
	expect_ran(run_tool((const char *const[]){ "validate", "--config", path, SERVICE, NEXT_BUILD, NULL },
	                    NULL, 0),
	           0, "");
	remove_folder(dir);
}
