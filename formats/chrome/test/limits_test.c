/* Events up to --max-record are read; longer ones are passed over, which is no error of the file. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "output/text.h"
#include "test/properties/cost_test_util.h"

#define EVENT(ts) "{\"ph\":\"X\",\"name\":\"a\",\"ts\":" ts ",\"dur\":1,\"pid\":1,\"tid\":1"

static void expect(const char *max, const struct text *t, int status, const char *words)
{
	const char *const args[] = { "validate", "--max-record", max, "-", NULL };

	expect_ran(run_tool(args, t->p, t->n), status, words);
}

static void expect_passed_over(const char *long_event)
{
	const char *const args[] = { "validate", "--max-record=1M", NULL, NULL };
	struct text t = { .p = NULL };

	text_str(&t, "[\n" EVENT("1") "},\n");
	const size_t at = t.n;
	text_str(&t, long_event);
	text_str(&t, ",\n" EVENT("9") "}\n]\n");
	expect("64M", &t, 0, ": valid chrome, 3 records\n");
	expect("1M", &t, 0, ": valid as far as it was read: chrome, 2 records, 1 limit\n");
	char *const dir = make_folder(), path[1024], want[100];
	snprintf(path, sizeof path, "%s/long.json", dir);
	cr_assert(write_whole(path, t.p, t.n));
	snprintf(want, sizeof want, ":3:1:@%zu: limit: an event was not checked", at);
	expect_ran(run_tool((const char *const[]){ args[0], args[1], path, NULL }, NULL, 0), 0, want);
	remove_folder(dir);
	text_free(&t);
}

Test(chrome_limits, a_text_of_20_MB)
{
	struct text t = { .p = NULL };

	text_str(&t, EVENT("3") ",\"args\":{\"v\":\"");
	for (unsigned i = 0; i < 2000000; i++)
		text_str(&t, "0123456789");
	text_str(&t, "\"}}");
	text_char(&t, '\0');
	expect_passed_over(t.p);
	text_free(&t);
}

/* Objects like events within it are no events, and its brackets are not those of the file. */
Test(chrome_limits, arrays_of_20_MB)
{
	struct text t = { .p = NULL };

	text_str(&t, EVENT("3") ",\"args\":{\"v\":[0");
	for (unsigned i = 0; i < 400000; i++)
		text_str(&t, ",[1,2,3],{\"a\":{\"b\":[4,5]},\"c\":\"d\\\"e\"},null,1.5e3");
	text_str(&t, "]}}");
	text_char(&t, '\0');
	expect_passed_over(t.p);
	text_free(&t);
}

/* A text in the object around the events, without an end, does not take memory as large as the input. */
Test(chrome_limits, a_member_of_20_MB)
{
	struct text t = { .p = NULL };

	text_str(&t, "{\"traceEvents\":[" EVENT("1") "}],\"x\":\"");
	for (unsigned i = 0; i < 2000000; i++)
		text_str(&t, "0123456789");
	expect("64M", &t, 1, "a member of the file that cannot be read [chrome/foreign-bytes]");
	text_free(&t);
}

/* After a lost bracket all later events may pass for values of an event.  On a pipe its window grows. */
Test(chrome_limits, a_lost_bracket_before_20_MB)
{
	struct text t = { .p = NULL };
	char *const dir = make_folder(), path[1024];

	text_str(&t, "[\n" EVENT("1") "},\n" EVENT("2") ",\"args\":{\"v\":[\n");
	for (unsigned i = 0; i < 300000; i++)
		text_str(&t, EVENT("3") ",\"args\":{\"a\":[1,2]}},\n");
	text_str(&t, EVENT("9") "}\n]\n");
	snprintf(path, sizeof path, "%s/lost.json", dir);
	cr_assert(write_whole(path, t.p, t.n));
	expect("64M", &t, 1, "-: not valid chrome, 300002 records, 1 error\n");
	expect("64M", &t, 1, "-:3:1:@56: error: 66 bytes into the event something else begins");
	expect_ran(run_tool((const char *const[]){ "validate", path, NULL }, NULL, 0), 1,
	           ":3:1:@56: error: 66 bytes into the event something else begins");
	remove_folder(dir);
	text_free(&t);
}

/* An object of 17 MiB between two arrays of events: both arrays are read, from a file and from a pipe.
 * Recovery, which would have to write the object after both, lists it as left out. */
Test(chrome_limits, arrays_of_events_17_MiB_apart)
{
	struct text t = { .p = NULL };
	char *const dir = make_folder(), path[1024], out[1024];

	text_str(&t, "{\"traceEvents\":[" EVENT("1") "}],\n\"x\":{\"y\":[0");
	while (t.n < 17u << 20)
		text_str(&t, ",{\"a\":[1,2,3]}");
	text_str(&t, "]},\n\"traceEvents\":[" EVENT("9") "}]}\n");
	snprintf(path, sizeof path, "%s/two.json", dir);
	snprintf(out, sizeof out, "%s/out.json", dir);
	cr_assert(write_whole(path, t.p, t.n));
	expect("64M", &t, 0, "-: valid chrome, 2 records, 1 warning, 1 note\n");
	expect("64M", &t, 0, "-:2:5:@75: note: \"x\" is left out [chrome/fact-left-out]\n");
	expect_ran(run_tool((const char *const[]){ "validate", path, NULL }, NULL, 0), 0,
	           "two.json: valid chrome, 2 records, 1 warning, 1 note\n");
	expect_ran(
	    run_tool((const char *const[]){ "recover", path, out, NULL }, NULL, 0), 1,
	    ": 52 bytes dropped: an event more than 16 MiB or 4,096 members behind the array of events "
	    "[chrome/limit]\n");
	expect_ran(run_tool((const char *const[]){ "validate", out, NULL }, NULL, 0), 0,
	           "valid chrome, 1 record");
	remove_folder(dir);
	text_free(&t);
}

/* Damage of 3 MB that contains bytes like the end of the array: files and pipes give the same result. */
Test(chrome_limits, damage_of_3_MB)
{
	struct text t = { .p = NULL };
	char *const dir = make_folder(), path[1024], want[200];

	text_str(&t, "[\n" EVENT("1") "},\n");
	const size_t at = t.n;
	for (unsigned i = 0; i < 100000; i++)
		text_str(&t, "x\": {\"name\": {\"a\": \"b\"}},\n\n");
	text_str(&t, EVENT("9") "}\n]\n");
	snprintf(path, sizeof path, "%s/damage.json", dir);
	cr_assert(write_whole(path, t.p, t.n));
	snprintf(want, sizeof want, ":3:1:@%zu: error: not part of an event: \"x\" [chrome/foreign-bytes]\n",
	         at);
	expect("64M", &t, 1, want);
	expect("64M", &t, 1, "-: not valid chrome, 2 records, 1 error\n");
	expect_ran(run_tool((const char *const[]){ "validate", path, NULL }, NULL, 0), 1, want);
	expect_ran(run_tool((const char *const[]){ "validate", path, NULL }, NULL, 0), 1,
	           ": not valid chrome, 2 records, 1 error\n");
	remove_folder(dir);
	text_free(&t);
}

/* A text of 20 MB in a member that is read in parts.  If the text is too long, reading continues after the
 * member. */
Test(chrome_limits, a_text_of_20_MB_in_a_large_member)
{
	struct text t = { .p = NULL };

	text_str(&t, "{\"displayTimeUnit\":\"ns\",\"x\":{\"a\":[1");
	for (unsigned i = 0; i < 600000; i++)
		text_str(&t, ",2");
	text_str(&t, "],\"b\":\"");
	for (unsigned i = 0; i < 2000000; i++)
		text_str(&t, "0123456789");
	text_str(&t, "\"},\n\"traceEvents\":[" EVENT("9") "}]}\n");
	expect("64M", &t, 0, "-: valid chrome, 1 record, 1 note\n");
	expect("1M", &t, 1, ": error: unterminated string [chrome/foreign-bytes]\n");
	expect("1M", &t, 1, "-: not valid chrome, 1 record, ");
	text_free(&t);
}

/* Each beginning, with 500 kB of a text that could make it look at the same bytes again and again. */
Test(chrome_cost, repeated_texts)
{
	static const char *const heads[] = { "[",
		                             "{\"traceEvents\":[",
		                             "{\"traceEvents\":[],\"samples\":[",
		                             "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1,\"name\":\"",
		                             "[{\"ph\":\"X\",\"ts\":1,\"args\":{",
		                             "[]" };
	static const char *const texts[] = {
		" ",
		",",
		"{",
		"[",
		"\"",
		"{\"ph\":",
		"\"ph\":",
		"{\"sf\":",
		"\\",
		"[{",
		"{},",
		"/*",
		"{\"ph\":\"X\"{\"ts\":1,",
		"\"}{'ph':'X'\"name\":\"a\"null,\"tid\":",
		"\\\"",
		"\xff",
	};
	static const char *const ends[] = { "", "\",\"dur\":1}]" };

	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
		for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
			struct text t = { .p = NULL };
			text_str(&t, heads[i]);
			while (t.n < 500000)
				text_str(&t, texts[k]);
			for (size_t m = 0; m < sizeof ends / sizeof ends[0]; m++) {
				text_str(&t, ends[m]);
				cost_of("validate -q --from chrome -", t.p, t.n, NULL);
			}
			text_free(&t);
		}
}

/* Nearly all facts are beyond the limit, and each is a finding with a line. */
Test(chrome_cost, facts_that_are_left_out)
{
	struct text t = { .p = NULL };

	text_str(&t, "{\"otherData\":{");
	while (t.n < 4000000)
		text_str(&t, "\"k\":1,");
	text_str(&t, "\"k\":1},\"traceEvents\":[]}");
	cost_of("validate -q \"$1\"", t.p, t.n, NULL);
	text_free(&t);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* The args have the name of the members, and that with up to 63 times "event." before it. */
Test(host_memory, chrome_repeated_members_stay_small)
{
	static const char script[] =
	    "{ printf '[{\"ph\":\"i\",\"ts\":1,\"pid\":1,\"args\":{\"k\":1'; n=k; for i in $(seq 63); do "
	    "n=event.$n; printf ',\"%s\":1' $n; done; printf '}'; seq -f ',\"k\":%.0f' 60000; echo '}]'; } | "
	    "{ ulimit -v 300000; MALLOC_ARENA_MAX=1 \"$0\" cat -q -; } | grep -o '[0-9]*$'";
	struct ran r = run_program((const char *const[]){ "sh", "-c", script, tool_path(), NULL }, NULL, 0);

	cr_expect_str_eq(r.out, "60000\n", "%s%s", r.out, r.err);
	ran_free(&r);
}
#endif

/* ---- what is referred to often ---- */

static void put_events(struct text *t, uint32_t n, const char *member)
{
	for (uint32_t i = 1; i <= n; i++)
		text_printf(t, "%s{\"ph\":\"i\",\"name\":\"a\",\"ts\":%u,\"pid\":1,\"tid\":%u%s}",
		            i > 1 ? "," : "", i, i % 60000, member);
}

Test(chrome_cost, a_frame_whose_caller_has_a_long_id)
{
	struct text t = { .p = NULL };

	text_str(&t, "{\"stackFrames\":{\"1\":{\"name\":\"f\",\"parent\":\"");
	for (uint32_t i = 0; i < 700000; i++)
		text_str(&t, "0123456789");
	text_str(&t, "\"}},\"traceEvents\":[");
	put_events(&t, 400000, ",\"sf\":1");
	text_str(&t, "]}");
	cr_expect_gt(cost_of("convert -q --to ndjson \"$1\" -", t.p, t.n, NULL), 400000 * 50.0);
	text_free(&t);
}

Test(chrome_cost, many_lists_of_samples)
{
	struct text t = { .p = NULL };

	text_str(&t, "{\"traceEvents\":[");
	put_events(&t, 59000, "");
	text_str(&t, "]");
	for (uint32_t i = 0; i < 2000000; i++)
		text_str(&t, ",\"samples\":[{}]");
	text_str(&t, "}");
	cost_of("validate -q \"$1\"", t.p, t.n, NULL);
	text_free(&t);
}
