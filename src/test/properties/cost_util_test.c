#include "test/properties/cost_test_util.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

#define FREE ((double)(64 << 20))

double cost_of(const char *arguments, const void *p, size_t n, const char *words)
{
	char *const dir = make_folder(), in[300], line[400];

	snprintf(in, sizeof in, "%s/in", dir);
	cr_assert(write_whole(in, p, n));
	snprintf(line, sizeof line,
	         "ulimit -t ${COST_SECONDS:-300}; { \"$0\" %s; echo $? > \"$1.status\"; } | wc -c; "
	         "exit $(cat \"$1.status\")",
	         arguments);
	struct ran r = run_program((const char *const[]){ "sh", "-c", line, tool_path(), in, NULL }, p, n);
	const double written = atof(r.out);
	cr_assert(r.status == 0 || r.status == 1, "%s: status %d: %.500s", arguments, r.status, r.err);
	cr_expect(words == NULL || strstr(r.err, words) != NULL, "%s: no %s in %.500s", arguments, words,
	          r.err);
	ran_free(&r);
	remove_folder(dir);
	return written;
}

void expect_in_proportion(const char *arguments, const void *p, size_t n, const char *words)
{
	const double written = cost_of(arguments, p, n, words);

	cr_expect_leq(written, 50.0 * (double)n + FREE, "%s: %.0f bytes of %zu", arguments, written, n);
	cr_expect_gt(written, words != NULL ? FREE : 0, "%s: %.0f bytes", arguments, written);
}
