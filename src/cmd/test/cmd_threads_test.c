/* One thread and many give the same bytes, findings and status. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "cmd/test/cli_test_util.h"

/* Of the inputs each so manieth: all of them take minutes under the sanitizers. */
#if defined(__SANITIZE_ADDRESS__)
#define EVERY "301"
#else
#define EVERY "101"
#endif

Test(cmd_threads, give_the_same_output)
{
	static const char *const argv[] = { "sh", "-c",
		                            "exec sh scripts/threads.sh \"$TRACETOOL_BIN\" " EVERY, NULL };
	struct ran r = run_program(argv, NULL, 0);

	cr_expect_eq(r.status, 0, "%s%s", r.out, r.err);
	ran_free(&r);
}
