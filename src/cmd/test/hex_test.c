#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

/* The bytes that cat --hex shows, concatenated, are the file. */
Test(cmd_report, hex_shows_every_byte)
{
	size_t n, at = 0;
	char *const p = read_whole("testdata/htdump/good/wire-little.htdump", &n);
	struct ran r = run_tool(
	    (const char *const[]){ "cat", "-x", "testdata/htdump/good/wire-little.htdump", NULL }, NULL, 0);

	cr_assert_not_null(p);
	for (const char *line = r.out; *line != '\0'; line += strcspn(line, "\n") + 1) {
		unsigned long long offset;
		int used;
		if (sscanf(line, "    %llx %n", &offset, &used) != 1 || line[0] != ' ')
			continue;
		cr_assert_eq(offset, at);
		const char *pair = line + used;
		for (unsigned byte; pair[0] != ' ' && sscanf(pair, "%2x", &byte) == 1; pair += 3, at++) {
			cr_assert(at < n && (unsigned char)p[at] == byte, "byte %zu", at);
			if (pair - line >= used + 45) {
				at++;
				break;
			}
		}
	}
	cr_expect_eq(at, n);
	ran_free(&r);
	free(p);
}
