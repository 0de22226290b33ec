/* Small files that ask for much: what they cost stays in proportion to their size. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "htdump/test/build.h"

/* Runs a shell line with the program as $0.  CPU seconds are limited to many times what is needed. */
static struct ran run(const struct ht_build *b, const char *line)
{
	char command[300];

	snprintf(command, sizeof command, "ulimit -t ${COST_SECONDS:-300}; %s", line);
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", command, tool_path(), NULL }, b->p, b->n);
	cr_assert(r.status == 0 || r.status == 1, "%s: status %d: %.500s", line, r.status, r.err);
	return r;
}

static void expect_in_proportion(const struct ht_build *b, const char *to)
{
	const double most = 50.0 * (double)b->n + (double)(64 << 20);
	char line[100];

	snprintf(line, sizeof line, "\"$0\" %s | wc -c", to);
	struct ran r = run(b, line);
	cr_expect_leq(atof(r.out), most, "%s: %s bytes of %zu", to, r.out, b->n);
	cr_expect_gt(atof(r.out), (double)(64 << 20), "%s: %s", to, r.out);
	cr_expect_not_null(strstr(r.err, "[repeats/text-cut]"), "%s: %.500s", to, r.err);
	ran_free(&r);
}

/* One label of 4 MiB is the name of 20,000 events. */
Test(htdump_cost, long_label)
{
	const uint32_t n = (4 << 20) - 10;
	char *const label = malloc(n + 1);
	struct ht_build b;

	cr_assert_not_null(label);
	memset(label, 'x', n);
	label[n] = '\0';
	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	ht_mapping(&b, 1, label);
	for (uint32_t i = 0; i < 20000; i++)
		ht_span_int(&b, i, 1, 1, 1);
	expect_in_proportion(&b, "convert --to chrome - -");
	expect_in_proportion(&b, "cat -");
	struct ran r = run(&b, "\"$0\" stats --format json - | wc -c");
	cr_expect_leq(atof(r.out), 5e6 + 1e5, "%s", r.out);
	ran_free(&r);
	free(label);
	ht_free(&b);
}

/* The names of a class and its fields are of 1 MiB each, its events of 22 bytes. */
Test(htdump_cost, long_names_of_fields)
{
	const uint32_t n = 1 << 20;
	char *const name = malloc(n + 1);
	struct ht_build b;

	cr_assert_not_null(name);
	memset(name, 'f', n);
	name[n] = '\0';
	const struct ht_field_desc fields[] = { { "u", name, 1, HT_UNSIGNED },
		                                { "u", name + 1, 1, HT_UNSIGNED } };
	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	ht_describe(&b, 100, name, NULL, fields, 2);
	for (uint32_t i = 0; i < 100000; i++) {
		ht_event(&b, 100, i);
		ht_u16(&b, 1);
	}
	expect_in_proportion(&b, "convert --to ndjson - -");
	expect_in_proportion(&b, "convert --raw --to ndjson - -");
	free(name);
	ht_free(&b);
}

/* 57,000 classes, each used, on a chain of bases that is 8,100 deep: unfolding all would visit 400 million.
 */
Test(htdump_cost, deep_chain_of_bases)
{
	char name[16], base[16] = "";
	struct ht_build b;

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	for (uint32_t i = 0; i < 57000; i++) {
		snprintf(name, sizeof name, "D%u", i);
		ht_describe(&b, 100 + i, name, i == 0 ? NULL : base, NULL, 0);
		if (i < 8100)
			snprintf(base, sizeof base, "D%u", i);
	}
	for (uint32_t i = 8100; i < 57000; i++)
		ht_event(&b, 100 + i, i);
	struct ran r = run(&b, "\"$0\" validate -");
	cr_expect_not_null(strstr(r.out, "cannot be unfolded"), "%.500s", r.out);
	cr_expect_eq(r.status, 1);
	ran_free(&r);
	ht_free(&b);
}

/* The bound is no bound for files that are appended to each other, however many. */
Test(htdump_cost, descriptions_again_and_again)
{
	const struct ht_field_desc x = { "uint64_t", "x", 8, HT_UNSIGNED };
	struct ht_build b;

	ht_init(&b, HT_WIRE, false);
	for (uint32_t i = 0; i < 4000; i++) {
		ht_prologue(&b);
		ht_describe(&b, 100, "Own", NULL, &x, 1);
		ht_event(&b, 100, i);
		ht_u64(&b, i);
	}
	struct ran r = run(&b, "\"$0\" validate -q -");
	cr_expect_eq(r.status, 0, "%.500s", r.out);
	ran_free(&r);
	ht_free(&b);
}
