/* Which policy is for a trace, and what counts more. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/policy_util_test.h"

#define FAILS "expect: {events: [nothing]}\n"
#define QUIET "ignore: chrome/unbalanced\n"
#define MISSING "[policy/event-missing]"

Test(policy_find, the_nearest_up_to_the_root_of_the_repository)
{
	char *const dir = policy_folder();

	policy_put(dir, ".tracetool.yaml", QUIET FAILS);
	policy_put(dir, "x/y/a.json", policy_trace);
	policy_put(dir, "x/z/a.json", policy_trace);
	policy_put(dir, "x/z/.tracetool.yaml", QUIET);
	policy_expect(dir, "a.json", 1, "(.tracetool.yaml:2) " MISSING, NULL);
	policy_expect(dir, "x/y/a.json", 1, "(.tracetool.yaml:2) " MISSING, NULL);
	policy_expect(dir, "--from chrome x/y", 1, "(.tracetool.yaml:2) " MISSING, NULL);
	policy_expect(dir, "x/z/a.json", 0, "1 left out", MISSING);
	policy_expect(dir, "--from chrome x/z", 0, "1 left out", MISSING);
	/* each trace has its own */
	policy_expect(dir, "--threads 3 --from chrome x", 1, "x/y/a.json:@0: error: events", "x/z/a.json:@0");
	policy_expect(dir, "- < x/y/a.json", 1, MISSING, NULL);
	/* no further than the repository */
	policy_put(dir, "x/.git/HEAD", "");
	policy_expect(dir, "--ignore-rules chrome/unbalanced x/y/a.json", 0, NULL, MISSING);
	remove_folder(dir);
}

Test(policy_find, without_a_repository_up_to_the_current_folder)
{
	char *const dir = make_folder(), args[2048];

	policy_put(dir, "x/a.json", policy_trace);
	policy_put(dir, ".tracetool.yaml", QUIET FAILS);
	policy_expect(dir, "x/a.json", 1, MISSING, NULL);
	/* from elsewhere only its own folder counts */
	snprintf(args, sizeof args, "--ignore-rules chrome/unbalanced %s/x/a.json", dir);
	struct ran r = validate_sh("X=", args);
	cr_expect_eq(r.status, 0, "%s", r.out);
	ran_free(&r);
	policy_put(dir, "x/.tracetool.yaml", QUIET FAILS);
	r = validate_sh("X=", args);
	cr_expect_eq(r.status, 1, "%s", r.out);
	cr_expect_not_null(strstr(r.out, "x/.tracetool.yaml:2) " MISSING), "%s", r.out);
	ran_free(&r);
	remove_folder(dir);
}

Test(policy_find, config_and_no_config)
{
	char *const dir = policy_folder();

	policy_put(dir, ".tracetool.yaml", QUIET FAILS);
	policy_put(dir, "other.yaml", QUIET);
	policy_expect(dir, "--config other.yaml a.json", 0, "1 left out", MISSING);
	policy_expect(dir, "--no-config a.json", 1, "[chrome/unbalanced]", MISSING);
	policy_expect(dir, "--no-config --config other.yaml a.json", 0, "1 left out", NULL);
	policy_expect(dir, "--config other.yaml --no-config a.json", 1, "[chrome/unbalanced]", NULL);
	policy_expect(dir, "--config nowhere.yaml a.json", 2,
	              "nowhere.yaml:@0: error: No such file or directory [policy/unreadable]", "a.json");
	policy_expect(dir, "--config . a.json", 2, "[policy/unreadable]", "a.json");
	remove_folder(dir);
}

/* Nothing is read, or written, by a policy with a mistake. */
Test(policy_find, a_mistake_stops_the_run)
{
	char *const dir = policy_folder(), path[1024];

	policy_put(dir, ".tracetool.yaml", "# a policy\nfail-levle: note\n");
	policy_expect(
	    dir, "--report json=r.json a.json", 2,
	    ".tracetool.yaml:2:1:@11: error: a policy has no key \"fail-levle\"; did you mean fail-level? "
	    "[policy/unknown-key]",
	    "a.json");
	snprintf(path, sizeof path, "%s/r.json", dir);
	cr_expect_neq(access(path, F_OK), 0);
	snprintf(path, sizeof path, "%s/.tracetool.yaml", dir);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(mkfifo(path, 0666), 0);
	policy_expect(dir, "a.json", 2, "it is not a regular file [policy/unreadable]", NULL);
	remove_folder(dir);
}

/* ---- what counts more ---- */

struct precedence {
	const char *policy, *args;
	int status;
	const char *has, *lacks;
};

static const struct precedence rows[] = {
	{ "ignore: chrome/unbalanced", "", 0, "1 left out", NULL },
	{ "ignore: 'chrome/*'", "--select-rules chrome/unbalanced", 1, "[chrome/unbalanced]", NULL },
	{ "select: 'input/*'", "", 0, "1 left out", NULL },
	{ "select: 'input/*'", "--select-rules 'chrome/*'", 1, "[chrome/unbalanced]", NULL },
	{ "select: 'chrome/*'", "--ignore-rules chrome/unbalanced", 0, "1 left out", NULL },
	{ "level: {chrome/unbalanced: note}", "", 0, ": note: a span", NULL },
	{ "level: {'*': note, chrome/unbalanced: error}", "", 1, ": error: a span", NULL },
	{ "level: {chrome/unbalanced: note}", "--level 'chrome/*=error'", 1, ": error: a span", NULL },
	{ "level: {chrome/unbalanced: note}\nfail-level: note", "", 1, NULL, NULL },
	{ "fail-level: never", "", 0, ": error: a span", NULL },
	{ "fail-level: never", "--fail-level error", 1, NULL, NULL },
	{ "exit-zero: true", "", 0, ": error: a span", NULL },
	{ "exit-zero: false", "", 1, NULL, NULL },
	{ "exit-zero: true", "--fail-level error", 1, NULL, NULL },
	{ "fail-level: note", "--exit-zero", 0, NULL, NULL },
	{ "max-findings: 0", "", 1, "1 more of [chrome/unbalanced] are not shown", ":@" },
	{ "max-findings: 0", "--limit 5", 1, ":@537", NULL },
	{ "threads: 3", "", 1, NULL, NULL },
	{ "report: gcc", "", 1, "a.json:1:1: error: @", "a.json:@" },
	{ "report: gcc", "--report json=-", 1, "{\"tool\":", "a.json:1:1" },
	{ "report: gcc", "--json", 1, "{\"tool\":", "a.json:1:1" },
	{ "level: {policy/event-missing: warning}\nignore: 'chrome/*'\n" FAILS, "", 0, "1 warning", NULL },
	{ "ignore: ['policy/*', 'chrome/*']\n" FAILS, "", 0, "2 left out", MISSING },
	/* overrides */
	{ "ignore: 'chrome/*'\noverrides: [{paths: '*.json', select: 'chrome/*'}]", "", 1, "[chrome/", NULL },
	{ "overrides: [{paths: a.json, fail-level: never}]", "", 0, "1 error", NULL },
	{ "overrides: [{paths: b.json, fail-level: never}]", "", 1, "1 error", NULL },
	{ "fail-level: never\noverrides: [{paths: [b, 'a*'], fail-level: error}]", "", 1, NULL, NULL },
	{ "overrides: [{paths: a.json, exit-zero: true}, {paths: '*', exit-zero: false}]", "", 1, NULL,
	  NULL },
	{ "overrides: [{paths: a.json, level: {'chrome/*': note}}]", "", 0, ": note:", NULL },
	{ "ignore: 'chrome/*'\noverrides: [{paths: a.json, expect: {events: [nothing]}}]", "", 1, MISSING,
	  NULL },
	{ "ignore: 'chrome/*'\n" FAILS
	  "overrides: [{paths: a.json, expect: {events: [{name: nothing, count: 0}]}}]",
	  "", 0, NULL, MISSING },
	{ "ignore: 'chrome/*'\nexpect: {threads: 3}\noverrides: [{paths: a.json, expect: {threads: 2}}]", "",
	  0, NULL, "[policy/" },
	{ "ignore: 'chrome/*'\nbudgets: [{name: request, statistic: max, limit: 1us}]\n"
	  "overrides: [{paths: a.json, budgets: [{name: request, statistic: max, limit: 1s}]}]",
	  "", 0, NULL, "[policy/" },
};

Test(policy_find, options_count_more_than_overrides_and_these_more_than_the_rest)
{
	char *const dir = policy_folder(), args[256];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		policy_put(dir, ".tracetool.yaml", rows[i].policy);
		snprintf(args, sizeof args, "%s a.json", rows[i].args);
		policy_expect(dir, args, rows[i].status, rows[i].has, rows[i].lacks);
	}
	remove_folder(dir);
}

/* Patterns with a slash are of whole paths, from the policy's folder on. */
Test(policy_find, paths_of_overrides)
{
	char *const dir = policy_folder();

	policy_put(dir, "x/y/b.json", policy_trace);
	policy_put(dir, ".tracetool.yaml", "overrides: [{paths: 'x/*', fail-level: never}]");
	policy_expect(dir, "x/y/b.json", 0, NULL, NULL);
	policy_expect(dir, "\"$PWD\"/x/y/b.json", 0, NULL, NULL);
	policy_expect(dir, "x/../x/y/b.json", 0, NULL, NULL);
	policy_expect(dir, "a.json", 1, NULL, NULL);
	policy_expect(dir, "--from chrome .", 1, NULL, NULL);
	policy_put(dir, ".tracetool.yaml", "overrides: [{paths: 'y/*', fail-level: never}]");
	policy_expect(dir, "x/y/b.json", 1, NULL, NULL);
	remove_folder(dir);
}

/* A report of the policy is written below its folder, never over a file that is there. */
Test(policy_find, files_of_reports)
{
	char *const dir = policy_folder(), path[1024];
	size_t n;

	mkdir((snprintf(path, sizeof path, "%s/x", dir), path), 0777);
	policy_put(dir, ".tracetool.yaml", "report: [text, junit=r.xml]\n");
	policy_put(dir, "x/a.json", policy_trace);
	policy_expect(dir, "x/a.json", 1, "[chrome/unbalanced]", NULL);
	snprintf(path, sizeof path, "%s/r.xml", dir);
	char *const xml = read_whole(path, &n);
	cr_assert_not_null(xml);
	cr_expect_not_null(strstr(xml, "<testsuites"));
	free(xml);
	policy_expect(dir, "x/a.json", 2, "already exists", NULL);
	policy_expect(dir, "-f x/a.json", 1, NULL, NULL);
	remove_folder(dir);
}
