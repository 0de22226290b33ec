#define _GNU_SOURCE /* memmem */
/* Records of which no event is made are read in another way than those that become events: what is found
 * is the same, and a copy made of runs of them is the input. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "htdump/test/build.h"
#include "test/support/splitmix.h"

/* Spans, and among them what has to be reported or is of another class. */
static void record(struct ht_build *b, uint64_t r, uint64_t ts)
{
	static const char *const labels[] = { "",
		                              "main",
		                              "a label of sixteen",
		                              "fifteen bytes..",
		                              "sixteen bytes...",
		                              "caf\xc3\xa9",
		                              "seventeen bytes.." };
	const char *const label = labels[r / 64 % (sizeof labels / sizeof labels[0])];

	switch (r % 64) {
	case 0:
		ht_span(b, ts, UINT64_MAX - ts + r / 64 % 2, 1, label);
		break;
	case 1:
		ht_span(b, ts, 5, 1, r / 64 % 2 != 0 ? "a\xff" : "a long label, and not valid: \xc3");
		break;
	case 2:
		b->next_id -= 2;
		ht_span(b, ts, 5, 1, label);
		break;
	case 3:
		b->next_id += 5000 * (r / 64 % 9);
		ht_event(b, HT_ID_EVENT, ts);
		break;
	case 4:
		ht_mapping(b, r / 64 % 7, label);
		break;
	case 5:
		ht_span_int(b, ts, 5, 1, r / 64 % 9);
		break;
	case 6:
		b->next_id -= b->next_id > 6000 ? 6000 : 0;
		ht_event(b, HT_ID_SPAN_BASE, ts);
		ht_u64(b, r / 64 % 3 == 0 ? UINT64_MAX : 7);
		ht_u32(b, 1);
		break;
	default:
		ht_span(b, ts, r % 1000, (uint32_t)(r % 3), label);
	}
}

/* The findings of this format in a report that the command writes to `to`, one a line, to be freed; labels
 * have no names in raw records. */
static char *findings(const char *const *args, const char *to)
{
	struct ran r = run_tool(args, NULL, 0);
	size_t size, used = 0;
	char *const report = read_whole(to, &size);
	char *const lines = calloc(1, size + 1);

	cr_assert(report != NULL && lines != NULL, "%s", r.err);
	for (const char *p = report; *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n') {
		const size_t n = strcspn(p, "\n");
		if (memmem(p, n, "[htdump/", 8) == NULL || memmem(p, n, "label-unresolved", 16) != NULL ||
		    memmem(p, n, ": note: ", 8) != NULL)
			continue;
		memcpy(lines + used, p, n);
		used += n;
		lines[used++] = '\n';
	}
	free(report);
	ran_free(&r);
	return lines;
}

static void expect_same(const char *in, const char *copy, const struct ht_build *b)
{
	char to[320], report[330];
	size_t n;

	snprintf(to, sizeof to, "%s.txt", copy);
	snprintf(report, sizeof report, "text=%s", to);
	const char *const events[] = { "convert", "-f", "--report",  report, "--to",
		                       "ndjson",  in,   "/dev/null", NULL };
	const char *const nothing[] = { "validate", "-f", "--report", report, in, NULL };
	const char *const runs[] = { "convert", "-f", "--report", report, "--to", "htdump", in, copy, NULL };
	char *const by_events = findings(events, to), *const by_nothing = findings(nothing, to),
	            *const by_runs = findings(runs, to);

	cr_expect_not_null(strstr(by_events, "htdump/invalid-utf8"), "%s", by_events);
	cr_expect_not_null(strstr(by_events, "htdump/duration-overflow"));
	cr_expect_not_null(strstr(by_events, "htdump/string-unterminated"));
	cr_expect_str_eq(by_nothing, by_events);
	cr_expect_str_eq(by_runs, by_events);
	char *const copied = read_whole(copy, &n);
	cr_assert_not_null(copied);
	cr_expect_leq(n, b->n);
	cr_expect_gt(n + 100, b->n);
	cr_expect_eq(memcmp(copied, b->p, n), 0);
	free(copied);
	free(by_events);
	free(by_nothing);
	free(by_runs);
}

Test(htdump_fast, finds_what_is_found_in_events)
{
	char *const dir = make_folder();
	char in[300], copy[300];

	snprintf(in, sizeof in, "%s/in.htdump", dir);
	snprintf(copy, sizeof copy, "%s/copy.htdump", dir);
	for (unsigned i = 0; i < 4; i++) {
		struct ht_build b;
		uint64_t random = i;
		ht_init(&b, i % 2 == 0 ? HT_WIRE : HT_DOCUMENT, i / 2 != 0);
		ht_prologue(&b);
		for (uint64_t k = 0; k < 3000; k++)
			record(&b, splitmix_next(&random), 1000 + k * 10);
		ht_span(&b, 1, 1, 1, "a text that is cut");
		b.n -= 3;
		cr_assert(write_whole(in, b.p, b.n));
		expect_same(in, copy, &b);
		ht_free(&b);
	}
	remove_folder(dir);
}
