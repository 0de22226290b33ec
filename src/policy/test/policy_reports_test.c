/* Three planted faults and a broken budget are the same findings in all reports, for any number of threads.
 */
/* Which findings count: the options of validate that all reports and the exit status obey. */
#define _XOPEN_SOURCE 700 /* realpath() */

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/test/policy_util_test.h"
#include "report/test/reports_util_test.h"

/* ---- reports ---- */

#define RULES 4

/* An escape that is none, a span without a duration, one without an end; and the budget. */
static const char faults[] =
    "{\"traceEvents\":[\n"
    "{\"ph\":\"X\",\"name\":\"frame\",\"cat\":\"a\",\"pid\":7,\"tid\":1,\"ts\":1000,\"dur\":20},\n"
    "{\"ph\":\"X\",\"name\":\"bad \\ud800 text\",\"cat\":\"a\",\"pid\":7,\"tid\":1,\"ts\":1100,\"dur\":5},\n"
    "{\"ph\":\"X\",\"name\":\"no duration\",\"cat\":\"a\",\"pid\":7,\"tid\":1,\"ts\":1200},\n"
    "{\"ph\":\"B\",\"name\":\"open\",\"cat\":\"a\",\"pid\":7,\"tid\":2,\"ts\":1300},\n"
    "{\"ph\":\"X\",\"name\":\"frame\",\"cat\":\"a\",\"pid\":7,\"tid\":1,\"ts\":1400,\"dur\":30}\n"
    "]}\n";

static struct ran report(const char *dir, const char *kind, const char *more)
{
	char args[512];

	snprintf(args, sizeof args, "--format %s %s f.json", kind, more);
	return policy_run(dir, args);
}

/* The rules that were found, from the JSON report; each once. */
static size_t rules_of(const char *json, char rules[][64], size_t most)
{
	cJSON *const doc = cJSON_Parse(json);
	const cJSON *finding;
	size_t n = 0;

	cr_assert_not_null(doc, "%s", json);
	cJSON_ArrayForEach(finding, cJSON_GetObjectItem(cJSON_GetObjectItem(doc, "files")->child, "findings"))
	{
		cr_assert(n < most, "%s", json);
		snprintf(rules[n++], 64, "%s", cJSON_GetObjectItem(finding, "rule")->valuestring);
	}
	cJSON_Delete(doc);
	return n;
}

/* What of the budget is in all kinds of report; quotes are written differently in each. */
static const char *const words[] = { "p99 of ", "frame", "30000 ns (30.00 us), more than 25us",
	                             ".tracetool.yaml:1" };

Test(policy_reports, the_same_findings_in_all)
{
	char *const dir = policy_folder(), rules[RULES][64];

	policy_put(dir, "f.json", faults);
	policy_put(dir, ".tracetool.yaml", "budgets: [{name: frame, statistic: p99, limit: 25us}]\n");
	struct ran json = report(dir, "json", "");
	cr_expect_eq(json.status, 1);
	cr_expect_eq(rules_of(json.out, rules, RULES), RULES, "%s", json.out);
	cr_expect_not_null(strstr(json.out, "\"rule\":\"policy/budget\",\"level\":\"error\",\"offset\":301,"),
	                   "%s", json.out);
	for (size_t k = 0; k < REPORT_KINDS; k++) {
		struct ran r = report(dir, report_names[k], "");
		cr_expect_eq(r.status, 1, "%s: %d", report_names[k], r.status);
		for (size_t i = 0; i < RULES; i++)
			cr_expect_not_null(strstr(r.out, rules[i]), "%s lacks %s: %s", report_names[k],
			                   rules[i], r.out);
		for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
			cr_expect_not_null(strstr(r.out, words[i]), "%s lacks %s: %s", report_names[k],
			                   words[i], r.out);
		ran_free(&r);
		r = report(dir, report_names[k], "--fail-level never");
		cr_expect_eq(r.status, 0, "%s: %d", report_names[k], r.status);
		ran_free(&r);
	}
	ran_free(&json);
	remove_folder(dir);
}

/* A case for each budget, whether it is kept or not. */
Test(policy_reports, junit_has_a_case_for_each_budget)
{
	char *const dir = policy_folder();

	policy_put(dir, "f.json", faults);
	policy_put(dir, ".tracetool.yaml",
	           "select: 'policy/*'\nbudgets:\n"
	           "  - {name: frame, statistic: p99, limit: 25us}\n"
	           "  - {name: frame, statistic: max, limit: 25us}\n"
	           "  - {name: frame, statistic: p50, limit: 25us}\n");
	struct ran r = report(dir, "junit", "");
	cr_expect_not_null(
	    strstr(r.out, "\"budget: p99 of &quot;frame&quot;\" classname=\"f.json\" file=\"f.json\">\n"
	                  "   <failure message=\"p99 of "),
	    "%s", r.out);
	cr_expect_not_null(
	    strstr(r.out, "\"budget: p50 of &quot;frame&quot;\" classname=\"f.json\" file=\"f.json\"/>"),
	    "%s", r.out);
	cr_expect_not_null(strstr(r.out, " failures=\"2\" "), "%s", r.out);
	cr_expect_eq(count_word(r.out, "<failure"), 2, "%s", r.out);
	char *const tests = strstr(r.out, " tests=\"");
	cr_assert_not_null(tests);
	cr_expect_eq(strtoul(tests + 8, NULL, 10), count_word(r.out, "<testcase"), "%s", r.out);
	ran_free(&r);
	r = report(dir, "junit", "--limit 1 --level policy/budget=warning");
	cr_expect_eq(count_word(r.out, "<failure"), 0, "%s", r.out);
	cr_expect_not_null(strstr(r.out, "1 more are not listed"), "%s", r.out);
	ran_free(&r);
	remove_folder(dir);
}

/* Names of a policy are no commands either. */
Test(policy_reports, names_are_escaped)
{
	char *const dir = policy_folder();

	policy_put(dir, "f.json", faults);
	policy_put(dir, ".tracetool.yaml",
	           "expect: {events: [\"##[error]\\n::error::x\"]}\n"
	           "budgets: [{name: \"*##[group]*\", statistic: max, limit: 1s}]\n");
	for (size_t k = 0; k < REPORT_KINDS; k++) {
		struct ran r = report(dir, report_names[k], "");
		cr_expect_eq(count_word(r.out, "##["), 0, "%s: %s", report_names[k], r.out);
		cr_expect_eq(count_word(r.out, "\n::error::"), 0, "%s: %s", report_names[k], r.out);
		ran_free(&r);
	}
	remove_folder(dir);
}

Test(policy_reports, any_number_of_threads)
{
	char *const dir = policy_folder(), *const here = realpath(".", NULL), args[4096];

	policy_put(
	    dir, "p.yaml",
	    "expect: {events: [nothing, {name: '*', count: {max: 3}}], epoch: true, threads: 2}\n"
	    "budgets: [{name: '*', statistic: p99, limit: 1us}, {name: 'a*', statistic: count, limit: 2}]\n");
	for (size_t k = 0; k < REPORT_KINDS; k += 4) {
		struct ran one = { .out = NULL };
		for (int threads = 1; threads <= 7; threads += 3) {
			snprintf(args, sizeof args,
			         "--config p.yaml --threads %d --format %s nowhere %s/testdata/htdump "
			         "%s/testdata/heph "
			         "%s/testdata/ovni %s/testdata/dftracer",
			         threads, report_names[k], here, here, here, here);
			struct ran r = policy_run(dir, args);
			cr_expect_eq(r.status, 2);
			if (one.out != NULL)
				cr_expect(r.out_n == one.out_n && memcmp(r.out, one.out, r.out_n) == 0,
				          "%s: %d threads give another report", report_names[k], threads);
			if (one.out == NULL)
				one = r;
			else
				ran_free(&r);
		}
		ran_free(&one);
	}
	free(here);
	remove_folder(dir);
}

/* A line, and a word in it that a comparison must not depend on. */
static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t sorted_lines(char *text, const char **lines, size_t most)
{
	size_t n = 0;

	for (char *line = strtok(text, "\n"); line != NULL && n < most; line = strtok(NULL, "\n"))
		lines[n++] = line;
	qsort(lines, n, sizeof *lines, by_text);
	return n;
}

/* That something is expected changes no other finding. */
Test(policy_reports, other_findings_stay)
{
	static const char *a[20000], *b[20000];
	char *const dir = policy_folder(), *const here = realpath(".", NULL), args[4096];

	policy_put(dir, "p.yaml", "expect: {threads: {count: {min: 0}}}\n");
	for (int i = 0; i < 3; i++) {
		static const char *const formats[] = { "htdump", "heph", "ovni" };
		snprintf(args, sizeof args, "--no-config --format ndjson %s/testdata/%s", here, formats[i]);
		struct ran without = policy_run(dir, args);
		snprintf(args, sizeof args, "--config p.yaml --format ndjson %s/testdata/%s", here,
		         formats[i]);
		struct ran with = policy_run(dir, args);
		cr_expect_eq(without.status, with.status);
		const size_t n = sorted_lines(without.out, a, 20000), m = sorted_lines(with.out, b, 20000);
		cr_expect(n > 20 && n == m, "%s: %zu and %zu lines", formats[i], n, m);
		for (size_t k = 0; k < n && k < m; k++)
			cr_expect_str_eq(a[k], b[k]);
		ran_free(&without);
		ran_free(&with);
	}
	free(here);
	remove_folder(dir);
}

Test(policy_reports, its_rules_are_listed_and_explained)
{
	struct ran r =
	    run_tool((const char *const[]){ "explain", "policy/budget", "pairs/no-end", NULL }, NULL, 0);

	cr_expect_eq(r.status, 0);
	cr_expect_not_null(strstr(r.out, "policy/budget (error): a budget of the policy is exceeded\n"));
	cr_expect_not_null(strstr(r.out, "pairs/no-end (loss): "));
	ran_free(&r);
	r = run_tool((const char *const[]){ "explain", "policy/budgets", NULL }, NULL, 0);
	cr_expect_eq(r.status, 3);
	cr_expect_not_null(strstr(r.err, "did you mean policy/budget?"), "%s", r.err);
	ran_free(&r);
	for (int i = 0; i < 3; i++) {
		static const char *const forms[] = { "text", "json", "md" };
		r = run_tool((const char *const[]){ "rules", "--format", forms[i], NULL }, NULL, 0);
		cr_expect_not_null(strstr(r.out, "policy/regression"), "%s", forms[i]);
		cr_expect_not_null(strstr(r.out, "lanes/overlap-left"), "%s", forms[i]);
		ran_free(&r);
	}
}

/* ---- options ---- */

#define BAD(name) "testdata/htdump/bad/" name ".htdump"

static void expect(const char *args, int status, const char *holds, const char *lacks)
{
	struct ran r = validate_sh("X=", args);

	cr_expect_eq(r.status, status, "%s: status %d: %s", args, r.status, r.out);
	if (holds != NULL)
		cr_expect_not_null(strstr(r.out, holds), "%s lacks %s: %s", args, holds, r.out);
	if (lacks != NULL)
		cr_expect_null(strstr(r.out, lacks), "%s has %s: %s", args, lacks, r.out);
	ran_free(&r);
}

Test(policy, select_and_ignore)
{
	expect("--ignore-rules htdump/cut-record " BAD("cut-record"), 0,
	       ": valid htdump (wire), 44 records, 1 left out", "[htdump/cut-record]");
	expect("--ignore-rules 'htdump/*' " BAD("cut-record"), 0, "1 left out", "[htdump/");
	expect("--select-rules 'htdump/no-*' " BAD("cut-record") " " BAD("no-base"), 0, "[htdump/no-base]",
	       "[htdump/cut-record]");
	expect("--select-rules '*' --ignore-rules htdump/no-base --fail-level note " BAD("no-base"), 0,
	       "1 left out", "[htdump/no-base]");
	expect("--format json --ignore-rules 'htdump/*' " BAD("cut-record"), 0, "\"left_out\":1}\n",
	       "cut-record\",");
	expect("--format json --ignore-rules 'htdump/*' " BAD("cut-record"), 0, "\"valid\":true", NULL);
}

Test(policy, a_glob_that_fits_no_rule_is_a_mistake)
{
	expect("--ignore-rules htdump/cut-recrod x", 3,
	       "--ignore-rules: no rule fits htdump/cut-recrod; did you mean htdump/cut-record?", NULL);
	expect("--select-rules 'nothing/*' x", 3,
	       "--select-rules: no rule fits nothing/*; tracetool rules lists them", NULL);
	expect("--level cut-record=error x", 3, "did you mean htdump/cut-record?", NULL);
	expect("--level htdump/cut-record x", 3, "--level takes RULE=LEVEL, not htdump/cut-record", NULL);
	expect("--level htdump/cut-record=fatal x", 3, "takes one of note, warning, error, not fatal", NULL);
	expect("--limit few x", 3, "takes a number, not few", NULL);
}

Test(policy, levels)
{
	expect("--level htdump/cut-record=warning " BAD("cut-record"), 0, ": warning: field", ": error:");
	expect("--level htdump/cut-record=note --fail-level warning " BAD("cut-record"), 0, ": note: field",
	       NULL);
	expect("--level 'htdump/*=error' " BAD("no-base"), 1, ": error: class", ": warning:");
	expect("--level '*=note' --level htdump/no-base=error " BAD("no-base"), 1, ": error: class", NULL);
	expect("-q --level htdump/cut-record=warning " BAD("cut-record"), 0, NULL, "htdump");
}

Test(policy, status)
{
	expect("--exit-zero " BAD("cut-record"), 0, "[htdump/cut-record]", NULL);
	expect("--exit-zero nowhere " BAD("cut-record"), 2, "[htdump/cut-record]", NULL);
	/* never a status without a word */
	expect("-q --ignore-rules 'input/*' nowhere", 2,
	       "nowhere could not be read; why is among the findings that are left out", NULL);
	expect("-q --format gcc --level input/missing=note nowhere", 2, "could not be read", NULL);
}

Test(policy, most_findings)
{
	expect("--limit 2 " BAD("invalid-utf8"), 0, "3 more of [htdump/invalid-utf8] are not shown", NULL);
	expect("--limit 2 " BAD("invalid-utf8"), 0, ", 5 warnings\n", NULL);
	expect("--limit 0 " BAD("cut-record"), 1, ":@", "are not shown");
	expect("--format markdown --limit 2 " BAD("invalid-utf8") " " BAD("no-base"), 0,
	       "6 warnings, 0 notes in 2 files; 4 more are not listed", NULL);
}
