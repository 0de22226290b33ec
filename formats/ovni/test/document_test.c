/* The specification's own bytes, read by the program, against values taken from them by hand. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

struct expected {
	const char *at, *code, *time, *fields;
};

static void expect_lines(const char *path, const struct expected *want, size_t n)
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

/* Errors of stream.json name the byte. */
Test(ovni_document, positions_in_stream_json)
{
	static const struct {
		const char *json, *want;
	} rows[] = {
		{ "{\"version\":3,}", "stream.json, byte 13: expected a name in quotes" },
		{ "{\n\t\"version\": 03 }", "stream.json, byte 14: invalid value" },
		{ "{\"version\":3,\"ovni\":{\"part\":\"thr\x01\"}}", "byte 32: control byte in a string" },
		{ "{\"version\":3,\"ovni\":{\"part\":\"\xff\"}}", "byte 29: string is not UTF-8" },
		{ "{\"version\":3,\"ovni\":{\"part\":\"\\udc00\"}}", "byte 29: invalid escape in a string" },
		{ "{\"version\":3", "stream.json, byte 12: unterminated object" },
		{ "{\"version\":3}]", "stream.json, byte 13: data after the end of the value" },
		{ "\xef\xbb\xbf{}", "stream.json, byte 0: byte order mark" },
	};
	char *const dir = make_folder(), path[600];
	size_t n;
	char *const stream = read_whole("testdata/ovni/good/document.obs", &n);

	cr_assert_not_null(stream);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(path, sizeof path, "%s/stream.json", dir);
		cr_assert(write_whole(path, rows[i].json, strlen(rows[i].json)));
		snprintf(path, sizeof path, "%s/stream.obs", dir);
		cr_assert(write_whole(path, stream, n));
		struct ran r = run_tool((const char *const[]){ "validate", path, NULL }, NULL, 0);
		cr_expect_eq(r.status, 1);
		cr_expect_not_null(strstr(r.out, rows[i].want), "%s: %s", rows[i].want, r.out);
		ran_free(&r);
	}
	free(stream);
	remove_folder(dir);
}
