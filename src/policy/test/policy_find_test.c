/* Which policy is for a trace, and what counts more. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/test/policy_util_test.h"

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
	policy_expect(dir, "a.json", 2, "is a named FIFO [policy/unreadable]", NULL);
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
	policy_expect(dir, "x/a.json", 1, NULL, "exists"); /* it is known as an earlier report */
	policy_expect(dir, "-f x/a.json", 1, NULL, "exists");
	remove_folder(dir);
}

/* All that is not known as an earlier report is kept, with -f too. */
Test(policy_find, reports_replace_reports_alone)
{
	static const char *const kinds[] = { "json", "sarif", "junit", "markdown" };
	static const char *const others[] = { "text", "gcc", "ndjson", "github", "gitlab" };
	char *const dir = policy_folder(), path[1024], policy[200];
	size_t n;

	snprintf(path, sizeof path, "%s/r", dir);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		snprintf(policy, sizeof policy, "report: [text, %s=r]\n", kinds[i]);
		policy_put(dir, ".tracetool.yaml", policy);
		policy_put(dir, "r", "all:\n");
		policy_expect(dir, "a.json", 2, "r: already exists and is kept", NULL);
		policy_expect(dir, "-f a.json", 2, "r: already exists and is kept", NULL);
		char *const kept = read_whole(path, &n);
		cr_expect(kept != NULL && strcmp(kept, "all:\n") == 0, "%s: %s", kinds[i], kept);
		free(kept);
		cr_expect_eq(unlink(path), 0);
		policy_expect(dir, "a.json", 1, NULL, "exists");
		policy_expect(dir, "a.json", 1, NULL, "exists");
		cr_expect_eq(unlink(path), 0);
	}
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		snprintf(policy, sizeof policy, "report: [text, %s=r]\n", others[i]);
		policy_put(dir, ".tracetool.yaml", policy);
		policy_expect(dir, "a.json", 1, NULL, "exists");
		policy_expect(dir, "-f a.json", 2, "r: already exists and is kept", NULL);
		policy_expect(dir, "-f --report text=r a.json", 1, NULL, "exists");
		cr_expect_eq(unlink(path), 0);
	}
	remove_folder(dir);
}

/* Whatever leads out of the folder, or into what runs programs. */
Test(policy_find, files_lie_below_the_folder)
{
	static const char *const names[] = {
		"../r",       "/tmp/r", "a/../../r", ".git/hooks/x", ".GIT/x",
		"sub/.git/x", ".git",   "sub/",      ".hg/hgrc",     "./.git/x",
		".",          "link",   "folder/r",  "folder/../r",  "dangling",
	};
	char *const dir = policy_folder(), *const out = make_folder(), path[1024], to[1024], policy[200];

	snprintf(to, sizeof to, "%s/precious", out);
	cr_assert(write_whole(to, "x", 1));
	policy_put(dir, "sub/y", "y");
	symlink(to, (snprintf(path, sizeof path, "%s/link", dir), path));
	symlink(out, (snprintf(path, sizeof path, "%s/folder", dir), path));
	snprintf(to, sizeof to, "%s/new", out);
	symlink(to, (snprintf(path, sizeof path, "%s/dangling", dir), path));
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		for (int force = 0; force < 2; force++) {
			snprintf(policy, sizeof policy, "report: [text, json=%s]\n", names[i]);
			policy_put(dir, ".tracetool.yaml", policy);
			policy_expect(dir, force == 0 ? "a.json" : "-f a.json", 2, "folder", "valid chrome");
			snprintf(policy, sizeof policy, "baseline: %s\n", names[i]);
			policy_put(dir, "p.yaml", policy);
			policy_expect(dir,
			              force == 0 ? "--config p.yaml a.json" : "-f --config p.yaml a.json", 2,
			              NULL, "valid chrome");
		}
	char **const left = list_folder(out, "");
	cr_expect(left[0] != NULL && strcmp(left[0], "precious") == 0 && left[1] == NULL);
	list_free(left);
	remove_folder(out);
	remove_folder(dir);
}

/* A file of version control is known by any name that leads to it. */
Test(policy_find, other_names_of_git)
{
	char *const dir = policy_folder(), path[1024], to[1024];

	snprintf(path, sizeof path, "%s/.git", dir);
	snprintf(to, sizeof to, "%s/hidden", dir);
	cr_assert_eq(rename(path, to), 0);
	cr_assert_eq(symlink("hidden", path), 0);
	policy_put(dir, ".tracetool.yaml", "report: [text, json=hidden/r]\n");
	policy_expect(dir, "a.json", 2, "version control", NULL);
	policy_put(dir, ".tracetool.yaml", "report: [text, json=./r]\n");
	policy_expect(dir, "a.json", 1, NULL, "exists");
	remove_folder(dir);
}

/* A policy costs what its size allows: what is beyond is a mistake, looked at no further. */
Test(policy_find, patterns_are_bounded)
{
	char *const dir = policy_folder();
	char *const text = malloc(200000);
	size_t n = (size_t)sprintf(text, "ignore: [");

	for (unsigned i = 0; i < 1000; i++)
		n += (size_t)sprintf(text + n, "%s'policy/*'", i > 0 ? "," : "");
	strcpy(text + n, "]\nselect: '*'\n");
	policy_put(dir, "p.yaml", text);
	policy_expect(dir, "--config p.yaml a.json", 2, "there are more than 1000 patterns of rules in all",
	              "valid chrome");
	strcpy(text + n, "]\n");
	policy_put(dir, "p.yaml", text);
	policy_expect(dir, "--config p.yaml a.json", 1, NULL, "policy/");
	policy_put(dir, "p.yaml", "expect: {events: ['*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a']}\n");
	policy_expect(dir, "--config p.yaml a.json", 2, "name has more than 16 *", NULL);
	free(text);
	remove_folder(dir);
}
