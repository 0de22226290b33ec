/* validate --init, and what editors are told of policies. */
#define _GNU_SOURCE /* memmem */

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/test/policy_util_test.h"
#include "test/support/strength.h"

#define SCHEMA "schemas/policy.schema.json"

/* The traces of a folder of samples: the starter policy of each good one is kept by it. */
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
		cr_expect_eq(r.status, strstr(r.out, "[policy/unchecked]") != NULL, "%s: %s%s", trace, r.out,
		             r.err);
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

Test(policy_starter, names_that_are_patterns_or_no_text)
{
	static const char trace[] =
	    "{\"traceEvents\":[\n"
	    "{\"ph\":\"X\",\"name\":\"a*b?\\\\c\\\"d: #\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":9},\n"
	    "{\"ph\":\"X\",\"name\":\"\\u0001\\u2028\\u001b[0m\\ud83d\\ude00\\ufeff\\uffff\",\"pid\":1,"
	    "\"tid\":1,"
	    "\"ts\":20,\"dur\":8},\n"
	    "{\"ph\":\"X\",\"name\":\"\",\"pid\":1,\"tid\":1,\"ts\":30,\"dur\":7},\n"
	    "{\"ph\":\"X\",\"name\":\"true\",\"pid\":1,\"tid\":1,\"ts\":40,\"dur\":6},\n"
	    "{\"ph\":\"X\",\"name\":\"%s\",\"pid\":1,\"tid\":1,\"ts\":50,\"dur\":5}\n"
	    "]}\n";
	char *const dir = policy_folder(), text[2048], longest[400];

	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	const char *const place = strstr(trace, "%s");
	snprintf(text, sizeof text, "%.*s%s%s", (int)(place - trace), trace, longest, place + 2);
	policy_put(dir, "a.json", text);
	policy_expect(dir, "--init -o .tracetool.yaml a.json", 0, NULL, NULL);
	policy_expect(dir, "--fail-level note a.json", 0, "valid", "[");
	policy_expect(dir, "--no-config --init a.json", 0, "- name: \"a\\\\*b\\\\?\\\\\\\\c\\\"d: #\"\n",
	              NULL);
	policy_expect(dir, "--no-config --init a.json", 0, "statistic: p99 # 9.000 us here\n", NULL);
	remove_folder(dir);
}

Test(policy_starter, mistakes)
{
	char *const dir = policy_folder();

	policy_expect(dir, "--init a.json", 1,
	              "a.json: a policy is made from a good trace; this one has 1 error", "fail-level");
	policy_expect(dir, "--init nowhere.json", 2, ": no such file", "fail-level");
	policy_put(dir, "p.yaml", "");
	policy_put(dir, "b.json", "[]");
	policy_expect(dir, "--init -o p.yaml b.json", 3, "already exists", NULL);
	policy_expect(dir, "--init -f -o p.yaml b.json", 0, NULL, NULL);
	policy_expect(dir, "--config p.yaml b.json", 0, "valid", NULL);
	remove_folder(dir);
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

/* A policy of one line: whether our reader and the schema take it. */
static void expect_judged(const char *dir, const char *text, bool taken)
{
	char path[1024];

	policy_put(dir, "p.yaml", text);
	snprintf(path, sizeof path, "%s/p.yaml", dir);
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

Test(policy_starter, the_schema_takes_what_the_reader_takes)
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
	};
	char *const dir = make_folder(), path[1024];

	if (!has_yaml())
		cr_skip_test("python3-yaml is not here");
	as_json("testdata/policy/web.yaml", dir, "web.json");
	snprintf(path, sizeof path, "%s/web.json", dir);
	struct ran r = validate_json(path);
	cr_expect_eq(r.status, 0, "%s%s", r.out, r.err);
	ran_free(&r);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i += strength(4, 1, 1))
		expect_judged(dir, bad[i], false);
	expect_judged(dir, "level: {'*': note}\nbudgets: [{name: a, statistic: max, limit: 0}]", true);
	r = run_tool(
	    (const char *const[]){ "validate", "--init", "testdata/htdump/good/wire-little.htdump", NULL },
	    NULL, 0);
	cr_expect_eq(r.status, 0);
	expect_judged(dir, r.out, true);
	ran_free(&r);
	remove_folder(dir);
}

/* All keys of the sample are known to our reader. */
Test(policy_starter, a_policy_with_all_keys)
{
	char *const dir = policy_folder();
	size_t n;
	char *const text = read_whole("testdata/policy/web.yaml", &n);

	cr_assert_not_null(text);
	policy_put(dir, ".tracetool.yaml", text);
	policy_expect(dir, "--format text --ignore-rules 'chrome/*' a.json", 2,
	              "base.json:@0: error: No such file", NULL);
	policy_put(dir, "base.json",
	           "{\"inputs\":[{\"path\":\"a\",\"spans\":[],\"async_spans\":[],\"instants\":[],"
	           "\"counters\":[]}]}");
	policy_expect(dir, "--format text --ignore-rules 'chrome/*' a.json", 1, "[policy/event-missing]",
	              NULL);
	free(text);
	remove_folder(dir);
}

#define SERVICE "../shared/traces/dial9/metrics-service.bin"
#define NEXT_BUILD "../shared/traces/next/dial9/span-enter-event.bin"

/* The policy of a service is kept by its next build, whose line numbers are others. */
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

#define OWN_SERVICE "testdata/dial9/service.bin"

/* A later build of the sample service, whose lines have moved: its texts are as long as before. */
static char *moved_lines(size_t *n)
{
	static const char before[] = "src/http.rs:88:17", after[] = "src/http.rs:91:23";
	char *const text = read_whole(OWN_SERVICE, n);
	unsigned found = 0;

	cr_assert_not_null(text);
	const char *const end = text + *n;
	for (char *p = text; (p = memmem(p, (size_t)(end - p), before, sizeof before - 1)) != NULL; found++)
		memcpy(p, after, sizeof after - 1);
	cr_assert_gt(found, 0);
	return text;
}

Test(policy_starter, lines_that_move_keep_it)
{
	char *const dir = policy_folder(), next[1024], path[1024];
	size_t n;
	char *const text = moved_lines(&n);

	snprintf(next, sizeof next, "%s/next.bin", dir);
	snprintf(path, sizeof path, "%s/p.yaml", dir);
	cr_assert(write_whole(next, text, n));
	free(text);
	const char *const make[] = { "validate", "--init", OWN_SERVICE, "-o", path, NULL };
	const char *const keep[] = { "validate", "--config", path, OWN_SERVICE, next, NULL };
	expect_ran(run_tool(make, NULL, 0), 0, "wrote ");
	expect_ran(run_tool(keep, NULL, 0), 0, "");
	remove_folder(dir);
}

/* Names are demanded once, whatever their categories. */
Test(policy_starter, a_name_of_several_categories)
{
	static const char text[] =
	    "[{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"a\",\"ts\":0,\"dur\":7000,\"pid\":1,\"tid\":2},"
	    "{\"ph\":\"X\",\"cat\":\"d\",\"name\":\"a\",\"ts\":0,\"dur\":500,\"pid\":1,\"tid\":2}]\n";
	char *const dir = policy_folder();

	policy_put(dir, "one.json", text);
	struct ran r = policy_run(dir, "--init one.json -o p.yaml");
	cr_expect_eq(r.status, 0, "%s", r.out);
	cr_expect_not_null(strstr(r.out, "wrote p.yaml: 1 event, 2 budgets"), "%s", r.out);
	ran_free(&r);
	remove_folder(dir);
}

/* Of several traces, what all have, and the largest numbers. */
Test(policy_starter, several_traces)
{
	static const char one[] =
	    "[{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"a\",\"ts\":0,\"dur\":1000,\"pid\":1,\"tid\":2},"
	    "{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"b\",\"ts\":2000,\"dur\":500,\"pid\":1,\"tid\":2}]\n";
	static const char two[] =
	    "[{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"a\",\"ts\":0,\"dur\":7000,\"pid\":1,\"tid\":2}]\n";
	char *const dir = policy_folder();

	policy_put(dir, "one.json", one);
	policy_put(dir, "two.json", two);
	struct ran r = policy_run(dir, "--init one.json two.json -o p.yaml");
	cr_expect_eq(r.status, 0, "%s", r.out);
	cr_expect_not_null(strstr(r.out, "wrote p.yaml: 1 event, 2 budgets"), "%s", r.out);
	ran_free(&r);
	policy_expect(dir, "--config p.yaml one.json two.json", 0, NULL, "error");
	remove_folder(dir);
}
