#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "cli/command.h"

/* Reports of commands that read a trace for something else. */

static struct ran shell(const char *script, const char *dir)
{
	return run_program((const char *const[]){ "sh", "-c", script, tool_path(), dir, NULL }, NULL, 0);
}

/* What convert, stats, cat and info find, their reports say as those of validate do. */
Test(side_reports, are_those_of_validate)
{
	static const char script[] =
	    "for f in testdata/*/bad/*; do case $f in *.expect) continue ;; esac; "
	    "n=$((n + 1)); [ $((n % 9)) = 0 ] || continue; "
	    "\"$0\" validate --no-config -f --report json=\"$1/v\" --report junit=\"$1/vj\" \"$f\" "
	    ">/dev/null 2>&1; "
	    "for c in stats cat info 'convert -f --to ndjson'; do "
	    "case $c in convert*) o=/dev/null ;; *) o= ;; esac; "
	    "rm -f \"$1/c\" \"$1/cj\"; "
	    "\"$0\" $c -q -f --report json=\"$1/c\" --report junit=\"$1/cj\" \"$f\" $o >/dev/null 2>&1; "
	    /* without an output there is nothing new */
	    "case $?$c in 2convert*) [ ! -e \"$1/c\" ] || echo \"$c $f\"; continue ;; esac; "
	    "cmp \"$1/v\" \"$1/c\" || echo \"$c $f\"; cmp \"$1/vj\" \"$1/cj\" || echo \"$c $f\"; done; done; "
	    "echo $((n > 100))";
	char *const dir = make_folder();
	struct ran r = shell(script, dir);

	cr_expect_str_eq(r.out, "1\n", "%s%s", r.out, r.err);
	ran_free(&r);
	remove_folder(dir);
}

Test(side_reports, go_to_files_that_are_no_inputs)
{
	static const struct {
		const char *script, *words;
		int status;
	} cases[] = {
		{ "exec \"$0\" stats --report json testdata/htdump/good/wire-little.htdump", "needs a file",
		  3 },
		{ "exec \"$0\" stats --report json=- testdata/htdump/good/wire-little.htdump", "needs a file",
		  3 },
		{ "exec \"$0\" cat --report csv=x testdata/htdump/good/wire-little.htdump",
		  "takes one of text", 3 },
		{ "cp testdata/htdump/good/wire-little.htdump \"$1/a\"; exec \"$0\" info -f --report "
		  "json=\"$1/a\" \"$1/a\"",
		  "is the input", 3 },
		{ "echo mine >\"$1/r\"; exec \"$0\" info --report json=\"$1/r\" "
		  "testdata/htdump/good/wire-little.htdump",
		  "exists", 2 },
		{ "exec \"$0\" info --report json=\"$1/no/r\" testdata/htdump/good/wire-little.htdump",
		  "does not exist", 2 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *const dir = make_folder();
		struct ran r = shell(cases[i].script, dir);
		cr_expect_eq(r.status, cases[i].status, "%s: status %d", cases[i].script, r.status);
		cr_expect_not_null(strstr(r.err, cases[i].words), "%s: %s", cases[i].script, r.err);
		ran_free(&r);
		remove_folder(dir);
	}
}
