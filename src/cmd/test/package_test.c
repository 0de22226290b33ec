#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "test/support/strength.h"

/* What of the packages can be tried in seconds; make check-package tries the rest. */

/* The tarball holds what git knows, and is the same when it is made again, also from what it holds itself. */
static const char twice[] =
    "git rev-parse -q --verify HEAD >/dev/null 2>&1 || exit 77\n"
    "exec 2>&1\n"
    "a=$(sh packaging/dist.sh \"$0/a\") && b=$(sh packaging/dist.sh \"$0/b\") && cmp \"$a\" \"$b\" || exit\n"
    "tar -C \"$0\" -xf \"$a\" && cd \"$0\"/tracetool-* && c=$(sh packaging/dist.sh \"$0/c\") && cmp \"$a\" "
    "\"$c\" || exit\n"
    "find . -type f | sed 's|^./||' | LC_ALL=C sort > \"$0/held\"\n"
    "cd \"$OLDPWD\" && git ls-tree -r --name-only -z HEAD | tr '\\0' '\\n' | LC_ALL=C sort > \"$0/known\" || "
    "exit\n"
    "diff \"$0/known\" \"$0/held\"\n";

Test(package, the_tarball_is_the_same_each_time)
{
	if (strength(0, 1, 1) == 0)
		cr_skip_test("the tarball is made with STRENGTH=10");
	char *const dir = make_folder();
	struct ran r = run_program((const char *const[]){ "sh", "-c", twice, dir, NULL }, NULL, 0);

	if (r.status == 77)
		fprintf(stderr, "this is no git repository: the tarball is not tried\n");
	else
		cr_expect_eq(r.status, 0, "%d: %s", r.status, r.out);
	ran_free(&r);
	r = run_program((const char *const[]){ "rm", "-rf", dir, NULL }, NULL, 0);
	ran_free(&r);
	free(dir);
}

/* The version stands in three places more. */
Test(package, versions_agree)
{
	static const char script[] =
	    "v=$(\"$0\" --version) && v=${v#tracetool }\n"
	    "head -n 1 debian/changelog | grep -qF \"tracetool ($v-\" || echo debian/changelog\n"
	    "! grep -oE 'tracetool@v[0-9.]+' docs/ci.md | grep -vxF \"tracetool@v$v\" || echo docs/ci.md\n";
	struct ran r = run_program((const char *const[]){ "sh", "-c", script, tool_path(), NULL }, NULL, 0);

	cr_expect_str_eq(r.out, "", "another version stands in: %s", r.out);
	ran_free(&r);
}
