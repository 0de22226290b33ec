/* Rules of users for a format whose events are complete without a vocabulary. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

#define SAMPLE "testdata/heph/good/interleaved.bin.log"

static struct ran with_rules(const char *command, const char *rules)
{
	char *const dir = make_folder();
	char path[1024], text[1024];

	snprintf(path, sizeof path, "%s/own.yaml", dir);
	snprintf(text, sizeof text, "format: heph\n%s", rules);
	cr_assert(write_whole(path, text, strlen(text)));
	struct ran r =
	    run_tool((const char *const[]){ command, "--vocabulary", path, SAMPLE, NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	remove_folder(dir);
	return r;
}

/* Only the events of one name; the attribute is there although `stats` wants no fields. */
Test(heph_schema, named_by_an_attribute)
{
	struct ran r =
	    with_rules("stats", "events:\n  - {event: event, named: \"ev*\", name: \"even {i}\"}\n");

	cr_expect_not_null(strstr(r.out, "even 0"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "odd"), "%s", r.out);
	cr_expect_null(strstr(r.out, "even 1 "), "%s", r.out);
	ran_free(&r);
}

Test(heph_schema, names_of_substreams)
{
	struct ran r =
	    with_rules("cat", "tracks: {thread: \"actor {id}\", threads: {1: first}}\nevents: []\n");

	cr_expect_not_null(strstr(r.out, "track=\"actor 0\" name=even"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "track=first name=odd"), "%s", r.out);
	ran_free(&r);
}
