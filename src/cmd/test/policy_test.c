/* Which findings count: the options of validate that all reports and the exit status obey. */
#include <criterion/criterion.h>
#include <string.h>

#include "cmd/test/reports_util_test.h"

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
