/* The expectations of a trace.  Without any, its events need not be interpreted. */
#include "policy/policy.h"

#include <criterion/criterion.h>

static struct policy_file *parse(const char *text)
{
	struct findings findings;
	bool no_memory;

	findings_init(&findings, "p.yaml", NULL, NULL);
	struct policy_file *const f =
	    policy_file_parse(slice_str(text), "p.yaml", "/f", &findings, &no_memory);
	cr_assert_not_null(f, "%s", text);
	findings_free(&findings);
	return f;
}

static bool any(const char *text, uint32_t overrides, bool baseline)
{
	struct policy_file *const f = text != NULL ? parse(text) : NULL;
	struct policy_checks c;

	cr_assert(policy_checks_init(&c, f, overrides, baseline));
	const bool is = c.any;
	policy_checks_free(&c);
	policy_file_free(f);
	return is;
}

Test(policy_checks, nothing_is_expected)
{
	static const char all[] =
	    "select: '*'\nlevel: {'*': note}\nfail-level: note\nreport: json\nthreads: 2\n"
	    "baseline: b.json\nexpect: {events: [], metadata: []}\nbudgets: []\n"
	    "overrides: [{paths: a, expect: {threads: 1}}]\n";

	cr_expect_not(any(NULL, 0, false));
	cr_expect_not(any(all, 0, false));
	cr_expect(any(all, 1, false));
	cr_expect(any(NULL, 0, true));
}

Test(policy_checks, each_key_is_something)
{
	static const char *const rows[] = {
		"expect: {events: [a]}",
		"expect: {metadata: a}",
		"expect: {epoch: false}",
		"expect: {threads: 1}",
		"expect: {processes: {}}",
		"expect: {lost-packets: 0%}",
		"expect: {unfinished-spans: 0%}",
		"expect: {time: {}}",
		"budgets: [{name: a, statistic: max, limit: 0}]",
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		cr_expect(any(rows[i], 0, false), "%s", rows[i]);
}

/* Overrides by path. */
Test(policy_checks, overrides)
{
	struct policy_file *const f = parse(
	    "overrides: [{paths: a.json}, {paths: 'x/*'}, {paths: ['*.b', 'y/?']}, {paths: '/ff/z'}]\n");

	cr_expect_eq(policy_file_overrides(f, "/f/a.json"), 1);
	cr_expect_eq(policy_file_overrides(f, "/f/x/a.json"), 3);
	cr_expect_eq(policy_file_overrides(f, "/f/x/y/c.b"), 6);
	cr_expect_eq(policy_file_overrides(f, "/f/y/c"), 4);
	cr_expect_eq(policy_file_overrides(f, "/f/y/cd"), 0);
	cr_expect_eq(policy_file_overrides(f, "/ff/x/cd"), 0);
	/* outside of the folder the whole path is matched, also if the folder's is a prefix of it */
	cr_expect_eq(policy_file_overrides(f, "/ff/z"), 8);
	cr_expect_eq(policy_file_overrides(f, "/g/x/cd"), 0);
	policy_file_free(f);
}
