/* The specification's own bytes, read by the program, against values taken from them by hand. */
#include <criterion/criterion.h>
#include <string.h>

#include "cmd/cli_test_util.h"

struct expected {
	const char *at, *code, *time, *fields;
};

static void
expect_lines(const char *path, const struct expected *want, size_t n)
{
	const char *const args[] = { "cat", path, NULL };
	struct ran r = run_tool(args, NULL, 0);
	char *line = strtok(r.out, "\n");

	cr_expect_eq(r.status, 0, "%s", r.err);
	for (size_t i = 0; i < n; i++, line = strtok(NULL, "\n")) {
		cr_assert_not_null(line, "%s ends before event %zu", path, i + 1);
		cr_expect_eq(strncmp(line, want[i].at, strlen(want[i].at)), 0, "%s", line);
		cr_expect_not_null(strstr(line, want[i].code), "%s", line);
		cr_expect_not_null(strstr(line, want[i].time), "%s", line);
		cr_expect_not_null(strstr(line, want[i].fields), "%s", line);
	}
	cr_expect_null(line, "one event too many: %s", line);
	ran_free(&r);
}

Test(ovni_document, the_examples_of_one_event)
{
	static const struct expected want[] = {
		{ "@8 ", " OHx ", " ts=4859384881529176 ", " cpu=0 tid=-1 tag=0" },
		{ "@36 ", " VYc ", " ts=5295892685636075 ", " typeid=1 label=\"testtype1\"" },
		{ "@66 ", " OHe ", " ts=5295892744619265 ", "" },
	};

	expect_lines("testdata/ovni/good/document-events.obs", want, sizeof want / sizeof want[0]);
}

Test(ovni_document, the_dump)
{
	static const struct expected want[] = {
		{ "@8 ", " OHx ", " ts=194292982135304 ", " cpu=0 tid=-1 tag=0" },
		{ "@36 ", " VYc ", " ts=194292982137404 ", " typeid=1 label=\"testtype1\"" },
		{ "@66 ", " VTc ", " ts=194292982139971 ", " taskid=1 typeid=1" },
		{ "@86 ", " VTx ", " ts=194292982140163 ", " taskid=1" },
		{ "@102 ", " VTp ", " ts=194292982709547 ", " taskid=1" },
		{ "@118 ", " VTr ", " ts=194292983287235 ", " taskid=1" },
		{ "@134 ", " VTe ", " ts=194292983870979 ", " taskid=1" },
		{ "@150 ", " OHe ", " ts=194292983871221 ", "" },
	};

	expect_lines("testdata/ovni/good/document.obs", want, sizeof want / sizeof want[0]);
}
