/* A dial9 trace written as a dial9 trace: the same bytes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "dial9/test/build.h"
#include "dial9/test/oracle.h"
#include "dial9/test/run_test.h"

#define GOOD "testdata/dial9/good/"
#define BAD "testdata/dial9/bad/"

static struct ran convert(const char *option, const char *path, const void *in, size_t n)
{
	return run_tool((const char *const[]){ "convert", "-q", option, "--to", "dial9", path, "-", NULL },
	                in, n);
}

/* Valid, and without a finding but notes. */
static void expect_valid(const char *what, const char *p, size_t n)
{
	struct ran r = run_tool((const char *const[]){ "validate", "-q", "-", NULL }, p, n);

	cr_expect_eq(r.status, 0, "%s: %s%s", what, r.out, r.err);
	ran_free(&r);
}

/* ---- one input ---- */

static void same(const char *path)
{
	static const char *const options[] = { "--threads=1", "--threads=3", "--raw" };
	size_t n;
	unsigned char *const p = (unsigned char *)read_unpacked(path, &n);

	for (size_t i = 0; i < 3; i++) {
		struct ran r = convert(options[i], path, NULL, 0);
		expect_bytes(path, &r, p, n);
		ran_free(&r);
	}
	struct ran r = convert("--threads=2", "-", p, n);
	expect_bytes(path, &r, p, n);
	ran_free(&r);
	free(p);
}

Test(dial9_write_raw, good_samples_and_real_traces_stay_what_they_are)
{
	d9t_each_trace(same);
}

/* What is complete is written, and the status says that there was an error. */
Test(dial9_write_raw, of_bad_samples_what_is_complete)
{
	char **const names = list_folder("testdata/dial9/bad", ".dial9");

	for (size_t i = 0; names[i] != NULL; i++) {
		char path[500];
		size_t n;
		snprintf(path, sizeof path, BAD "%s", names[i]);
		unsigned char *const p = (unsigned char *)read_unpacked(path, &n);
		struct ran check = run_tool((const char *const[]){ "validate", "-q", path, NULL }, NULL, 0);
		struct ran r = convert("--threads=2", path, NULL, 0);
		const int want = r.out_n > 0 ? check.status : 2; /* nothing at all could be read */
		cr_expect_eq(r.status, want, "%s: status %d, validate %d", path, r.status, check.status);
		cr_expect(r.out_n <= n && memcmp(r.out, p, r.out_n) == 0, "%s", path);
		cr_expect(r.out_n == n || strstr(r.err, "not read") != NULL, "%s: %s", path, r.err);
		ran_free(&check);
		ran_free(&r);
		free(p);
	}
	list_free(names);
}

/* ---- several inputs ---- */

static struct ran convert_both(const char *a, const char *b)
{
	return run_tool((const char *const[]){ "convert", "--to", "dial9", "-o", "-", a, b, NULL }, NULL, 0);
}

Test(dial9_write_raw, inputs_become_segments)
{
	size_t an, bn;
	unsigned char *const a = (unsigned char *)read_unpacked(GOOD "document.dial9", &an),
	                     *const b = (unsigned char *)read_unpacked(GOOD "segments.dial9", &bn);
	struct ran r = convert_both(GOOD "document.dial9", GOOD "segments.dial9");

	cr_expect_eq(r.status, 0, "%s", r.err);
	cr_assert_eq(r.out_n, an + bn);
	cr_expect(memcmp(r.out, a, an) == 0 && memcmp(r.out + an, b, bn) == 0);
	expect_valid("both", r.out, r.out_n);
	ran_free(&r);
	free(a);
	free(b);
}

/* Behind half a pool frame nothing can stand. */
Test(dial9_write_raw, nothing_stands_behind_half_a_frame)
{
	char *const dir = make_folder(), path[500];
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_strings(&b, 3);
	d9b_u32(&b, 1);
	d9b_text32(&b, "one");
	snprintf(path, sizeof path, "%s/cut", dir);
	cr_assert(write_whole(path, b.p, b.n));
	struct ran r = convert_both(path, GOOD "untimed.dial9");
	cr_expect_eq(r.status, 1);
	cr_expect(r.out_n == b.n && memcmp(r.out, b.p, b.n) == 0, "%zu bytes", r.out_n);
	cr_expect_not_null(strstr(r.err, "[dial9/after-cut]"), "%s", r.err);
	ran_free(&r);
	d9b_free(&b);
	remove_folder(dir);
}

/* ---- what is too large is dropped; what is behind it stays right ---- */

#define LARGE (5U << 20)

static void large(struct d9_build *b)
{
	char *const p = calloc(1, LARGE);

	cr_assert_not_null(p);
	d9b_u32(b, LARGE);
	d9b_bytes(b, p, LARGE);
	free(p);
}

static void entry(struct d9_build *b, uint32_t id, const char *s)
{
	d9b_u32(b, id);
	if (s != NULL)
		d9b_text32(b, s);
	else
		large(b);
}

static void make_large(struct d9_build *b)
{
	static const struct d9_field_desc text[] = { { "text", D9T_BYTES }, { "name", D9T_POOLED_STRING } };

	d9b_init(b);
	d9b_header(b);
	d9b_schema(b, 1, "Text", true, text, 2);
	d9b_strings(b, 4);
	entry(b, 1, "one");
	entry(b, 2, NULL);
	entry(b, 3, "three");
	entry(b, 4, NULL);
	d9b_string(b, 9, "nine");
	d9b_strings(b, 2);
	entry(b, 5, NULL);
	entry(b, 6, "six");
	d9b_event(b, 1, 1000);
	large(b);
	d9b_u32(b, 1);
	d9b_event(b, 1, 3000);
	d9b_text32(b, "x");
	d9b_u32(b, 3);
	d9b_event(b, 1, 3500);
	d9b_text32(b, "y");
	d9b_u32(b, 6);
}

static void expect_without_large(const char *option, uint64_t first)
{
	struct d9_build b;
	struct d9o o;

	make_large(&b);
	struct ran r = convert(option, "-", b.p, b.n);
	cr_expect_eq(r.status, 1);
	cr_expect_lt(r.out_n, LARGE);
	expect_valid(option, r.out, r.out_n);
	d9o_decode(&o, (const unsigned char *)r.out, r.out_n);
	cr_assert(o.fault == NULL && o.nevents == 2, "%s: %zu events", o.fault, o.nevents);
	cr_expect_eq(o.events[0].ts, first);
	cr_expect_eq(o.events[1].ts, first + 500);
	cr_expect_eq(o.nentries, 6, "%zu entries", o.nentries); /* one of them three times */
	d9o_free(&o);
	ran_free(&r);
	d9b_free(&b);
}

Test(dial9_write_raw, large_records_are_dropped)
{
	expect_without_large("--threads=2", 3000);
	expect_without_large("--rebase", 0);
}

/* ---- times from 0 ---- */

static void expect_moved(const char *path)
{
	struct ran r = convert("--rebase", path, NULL, 0);
	struct d9o was, is;
	uint64_t first = UINT64_MAX;
	size_t n;
	unsigned char *const p = (unsigned char *)read_unpacked(path, &n);

	cr_expect_eq(r.status, 0, "%s: %s", path, r.err);
	d9o_decode(&was, p, n);
	d9o_decode(&is, (const unsigned char *)r.out, r.out_n);
	cr_assert(was.fault == NULL && is.fault == NULL && was.nevents == is.nevents, "%s", path);
	for (size_t i = 0; i < was.nevents; i++) {
		const uint64_t by = was.events[i].ts - is.events[i].ts;
		if (is.events[i].ts != 0 && first == UINT64_MAX)
			first = by;
		cr_expect(by == first || is.events[i].ts == 0, "%s: event at %zu", path,
		          was.events[i].offset);
	}
	cr_expect_eq(was.nentries, is.nentries, "%s", path);
	d9o_free(&was);
	d9o_free(&is);
	ran_free(&r);
	free(p);
}

Test(dial9_write_raw, rebase_moves_times_and_nothing_else)
{
	d9t_each_trace(expect_moved);
}

/* On a pipe the first event's time is subtracted; what is earlier is at 0. */
Test(dial9_write_raw, rebase_on_a_pipe)
{
	struct d9_build b;
	struct d9o o;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 1, "X", true, NULL, 0);
	d9b_event(&b, 1, 5000000000);
	d9b_event(&b, 1, 4000000000);
	d9b_event(&b, 1, 7000000000);
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "--rebase", "--to", "dial9", "-", "-", NULL }, b.p, b.n);
	cr_expect_not_null(strstr(r.err, ": 1; the first at input offset 38 [dial9/negative-time]\n"), "%s",
	                   r.err);
	d9o_decode(&o, (const unsigned char *)r.out, r.out_n);
	cr_assert_eq(o.nevents, 3);
	cr_expect(o.events[0].ts == 0 && o.events[1].ts == 0 && o.events[2].ts == 2000000000);
	d9o_free(&o);
	ran_free(&r);
	d9b_free(&b);
}

/* ---- versions ---- */

Test(dial9_write_raw, what_only_0_4_has_is_counted)
{
	static const char *const newer[] = { GOOD "segments.dial9", GOOD "annotations.dial9",
		                             GOOD "all-types-0.4.dial9" };
	struct ran r = run_tool((const char *const[]){ "convert", "--raw", "--to-dialect", "0.3", "--to",
	                                               "dial9", GOOD "document.dial9", "-", NULL },
	                        NULL, 0);

	cr_expect_eq(r.err_n, 0, "%s", r.err);
	ran_free(&r);
	for (size_t i = 0; i < 3; i++) {
		r = run_tool((const char *const[]){ "convert", "--raw", "--to-dialect", "0.3", "--to",
		                                    "dial9", newer[i], "-", NULL },
		             NULL, 0);
		cr_expect_not_null(strstr(r.err, "[dial9/newer]"), "%s: %s", newer[i], r.err);
		ran_free(&r);
	}
	r = run_tool((const char *const[]){ "convert", "--to-dialect", "0.3", "--to", "htdump",
	                                    GOOD "document.dial9", "-", NULL },
	             NULL, 0);
	cr_expect_eq(r.status, 3);
	cr_expect_not_null(strstr(r.err, "--to-dialect is for outputs in format dial9"), "%s", r.err);
	ran_free(&r);
}
