/* Findings of the program and their positions for every sample of Chrome JSON. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "chrome/chrome.h"
#include "cmd/test/samples_test_util.h"
#include "format/registry.h"

Test(chrome_samples, what_is_found_and_where)
{
	static const struct samples samples = { .suffix = ".json", .records = true, .lines = true };

	expect_samples(&samples, "testdata/chrome/good");
	expect_samples(&samples, "testdata/chrome/bad");
}

Test(chrome_samples, every_rule_has_a_sample)
{
	expect_samples_of_rules(
	    "chrome", (const char *const[]){ "chrome/limit", "chrome/late", "chrome/fact-left-out", NULL });
}

/* Events of the sample that has every kind of event. */
Test(chrome_samples, what_events_become)
{
	static const char *const lines[] = {
		"span c ts=2500 dur=250 track=main name=inner",
		"counter c ts=4000 track=program name=memory used=5 free=2.5",
		"name=memory[2] used=5",
		"begin c ts=5000 track=main name=n of=\"task\"",
		"instant c ts=6500 track=main name=n id=\"0x1\" ph=\"n\"",
		"flow_out c ts=2600 track=main name=n",
		"flow_step c ts=6750 track=main name=n",
		"flow_in c ts=9000 track=main name=n",
	};
	struct ran r =
	    run_tool((const char *const[]){ "cat", "testdata/chrome/good/object.json", NULL }, NULL, 0);

	cr_expect_eq(r.status, 0, "%s", r.err);
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		cr_expect_not_null(strstr(r.out, lines[i]), "%s is not in\n%s", lines[i], r.out);
	ran_free(&r);
}

Test(chrome_samples, times_are_exact)
{
	struct ran r =
	    run_tool((const char *const[]){ "cat", "testdata/chrome/good/numbers.json", NULL }, NULL, 0);

	cr_expect_not_null(strstr(r.out, "ts=9007199254740993125 dur=1 "), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "ts=1500000 dur=20 "), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "ts=12500 dur=1000 "), "%s", r.out);
	ran_free(&r);
}

Test(chrome_samples, names_at_the_end_are_found)
{
	struct ran r =
	    run_tool((const char *const[]){ "cat", "testdata/chrome/good/late-names.json", NULL }, NULL, 0);

	cr_expect_not_null(strstr(r.out, "track=late name=a"), "%s", r.out);
	ran_free(&r);
}
