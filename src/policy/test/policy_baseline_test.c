/* A baseline has a limit of rows. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "policy/test/policy_util_test.h"

/* Rows of all inputs count, in whichever table. */
Test(policy_baseline, rows_have_a_limit)
{
	static const char row[] = "{\"name\":\"r\"},";
	enum { SIZE = sizeof row - 1 };
	char *const dir = policy_folder(), *const text = malloc(BASELINE_MAX_ROWS * SIZE + 1000);

	cr_assert_not_null(text);
	policy_put(dir, ".tracetool.yaml", "ignore: chrome/unbalanced\n");
	for (unsigned more = 0; more < 2; more++) {
		char *p = text + sprintf(text, "{\"inputs\":[{\"path\":\"x\",\"spans\":[");
		for (unsigned i = 0; i < BASELINE_MAX_ROWS - 1 + more; i++, p += SIZE)
			memcpy(p, row, SIZE);
		sprintf(p - 1, "],\"async_spans\":[],\"instants\":[],\"counters\":[%.*s]}]}", SIZE - 1, row);
		policy_put(dir, "base.json", text);
		policy_expect(dir, "--baseline base.json a.json", more > 0 ? 2 : 0,
		              more > 0 ? "from here on it has more rows than a baseline may have" : NULL,
		              more > 0 ? NULL : "[policy/bad-baseline]");
	}
	free(text);
	remove_folder(dir);
}
