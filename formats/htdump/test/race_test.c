/* Classes that are described again while batches of their events are on other threads; `make check-threads`
 * lets ThreadSanitizer look on. */
#include <criterion/criterion.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "htdump/test/build.h"

#define STREAMS 40U
#define EVENTS 1500U

/* Files appended to each other; each describes its class with more fields than the one before, every fourth
 * begins anew: without a duration, with one, with a thread, with a name. */
static void appended_files(struct ht_build *b)
{
	static const struct ht_field_desc fields[] = { { "uint64_t", "x", 8, HT_UNSIGNED },
		                                       { "uint64_t", "duration", 8, HT_UNSIGNED },
		                                       { "uint64_t", "thread_id", 8, HT_UNSIGNED },
		                                       { "string", "label", 8, HT_STRING } };

	ht_init(b, HT_WIRE, false);
	for (unsigned i = 0; i < STREAMS; i++) {
		ht_prologue(b);
		ht_describe(b, 100, "Own", NULL, fields, 1 + i % 4);
		for (unsigned k = 0; k < EVENTS; k++) {
			ht_event(b, 100, 1000 * k);
			for (unsigned f = 0; f <= i % 4 && f < 3; f++)
				ht_u64(b, f);
			if (i % 4 == 3)
				ht_string(b, "a name");
		}
	}
}

static void expect_same(const struct ht_build *b, const char *format)
{
	static const char *const numbers[] = { "1", "2", "7" };
	struct ran first, r;

	for (unsigned i = 0; i < 3; i++) {
		r = run_tool((const char *const[]){ "convert", "--threads", numbers[i], "--to", format, "-",
		                                    "-", NULL },
		             b->p, b->n);
		cr_expect_eq(r.status, 0, "%s, %s threads: %d: %.3000s", format, numbers[i], r.status, r.err);
		if (i == 0)
			first = r;
		else
			cr_expect(r.out_n == first.out_n && memcmp(r.out, first.out, r.out_n) == 0,
			          "%s, %s threads", format, numbers[i]);
		if (i > 0)
			ran_free(&r);
	}
	ran_free(&first);
}

Test(htdump_race, classes_that_are_described_again)
{
	struct ht_build b;

	appended_files(&b);
	expect_same(&b, "ndjson");
	expect_same(&b, "chrome");
	ht_free(&b);
}

Test(htdump_race, stats_have_one_row)
{
	struct ht_build b;

	appended_files(&b);
	struct ran r = run_tool((const char *const[]){ "stats", "--format", "json", "-", NULL }, b.p, b.n);
	cr_expect_not_null(strstr(r.out, "{\"name\":\"Own\",\"count\":60000}],"), "%.3000s", r.out);
	ran_free(&r);
	r = run_tool((const char *const[]){ "info", "-", NULL }, b.p, b.n);
	cr_expect_not_null(strstr(r.out, " 15000  Own  (x u64)\n"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, " 15000  Own  (x u64, duration u64)\n"), "%s", r.out);
	ran_free(&r);
	ht_free(&b);
}
