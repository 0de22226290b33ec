/* A .htdump written as a .htdump: the same bytes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "test/fuzz/fuzz_check.h"
#include "htdump/test/build.h"
#include "htdump/test/oracle.h"
#include "input/input.h"

#define GOOD "testdata/htdump/good"
#define BAD "testdata/htdump/bad"

static void expect_same(const char *path, const char *p, size_t n)
{
	static const char *const threads[] = { "--threads=1", "--threads=2", "--threads=7", "--raw",
		                               "--lanes=off" };

	for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
		const char *const args[] = {
			"convert", "--quiet", threads[i], "--to=htdump", path, "-", NULL
		};
		struct ran r = run_tool(args, NULL, 0);
		expect_bytes(path, &r, p, n);
		ran_free(&r);
	}
}

static void expect_same_piped(const char *path, const char *p, size_t n)
{
	struct ran r =
	    run_tool((const char *const[]){ "convert", "-q", "--to", "htdump", "-", "-", NULL }, p, n);

	expect_bytes(path, &r, p, n);
	ran_free(&r);
}

Test(htdump_write_raw, good_samples_stay_what_they_are)
{
	each_file(GOOD, ".htdump", expect_same);
	each_file(GOOD, ".htdump", expect_same_piped);
}

Test(htdump_write_raw, real_traces_stay_what_they_are)
{
	char dir[1000];

	snprintf(dir, sizeof dir, "%s/htdump", real_traces());
	each_file(dir, ".htdump", expect_same);
}

/* The ends of names tell the format; packed outputs unpack to the same. */
Test(htdump_write_raw, files_by_name)
{
	static const char *const names[] = { "out.htdump", "out.htdump.gz", "out.htdump.zst" };
	char *const dir = make_folder(), path[1024];
	size_t n, m;
	char *const want = read_unpacked(GOOD "/wire-big.htdump", &n);

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		struct ran r = run_tool(
		    (const char *const[]){ "convert", GOOD "/wire-big.htdump", path, NULL }, NULL, 0);
		cr_expect_eq(r.status, 0, "%s", r.err);
		char *const got = read_unpacked(path, &m);
		cr_expect(n == m && memcmp(got, want, n) == 0, "%s", path);
		free(got);
		ran_free(&r);
	}
	free(want);
	remove_folder(dir);
}

/* What is whole is kept, and the status says that there was an error. */
static void expect_start(const char *path, const char *p, size_t n)
{
	struct ran check = run_tool((const char *const[]){ "validate", path, NULL }, NULL, 0);
	struct ran r =
	    run_tool((const char *const[]){ "convert", "--to", "htdump", path, "-", NULL }, NULL, 0);

	cr_expect_eq(r.status, check.status, "%s: status %d, validate %d", path, r.status, check.status);
	cr_expect(r.out_n <= n && memcmp(r.out, p, r.out_n) == 0, "%s", path);
	cr_expect(strstr(r.err, "not read") != NULL || r.out_n == n, "%s: %zu of %zu bytes: %s", path,
	          r.out_n, n, r.err);
	ran_free(&check);
	ran_free(&r);
}

Test(htdump_write_raw, of_bad_samples_what_is_whole)
{
	each_file(BAD, ".htdump", expect_start);
}

/* Also the bytes left out, and times moved to 0: see test/fuzz/fuzz_outputs.c. */
static void expect_promises(const char *path, const char *p, size_t n)
{
	struct fuzz_result result;

	cr_expect(fuzz_check(&result, p, n, NULL, NULL, FUZZ_CONVERT | FUZZ_REBASE), "%s: %s", path,
	          result.fault);
}

Test(htdump_write_raw, promises)
{
	each_file(GOOD, ".htdump", expect_promises);
	each_file(BAD, ".htdump", expect_promises);
}

/* ---- several inputs ---- */

static struct ran convert_both(const char *a, const char *b)
{
	char out[] = "-o-";

	return run_tool((const char *const[]){ "convert", "--to", "htdump", a, b, out, NULL }, NULL, 0);
}

static void expect_both(const char *a, const char *b)
{
	size_t an, bn;
	char *const ap = read_unpacked(a, &an), *const bp = read_unpacked(b, &bn);
	struct ran r = convert_both(a, b);

	cr_expect_eq(r.status, 0, "%s %s: %s", a, b, r.err);
	cr_assert_eq(r.out_n, an + bn, "%s %s", a, b);
	cr_expect(memcmp(r.out, ap, an) == 0 && memcmp(r.out + an, bp, bn) == 0, "%s %s", a, b);
	ran_free(&r);
	free(ap);
	free(bp);
}

Test(htdump_write_raw, files_behind_one_another)
{
	expect_both(GOOD "/wire-little.htdump.zst", GOOD "/wire-big.htdump");
	expect_both(GOOD "/wire-big.htdump", GOOD "/inheritance.htdump");
	expect_both(GOOD "/document-little.htdump", GOOD "/document-big.htdump");
	expect_both(GOOD "/concatenated.htdump", GOOD "/only-endianness.htdump");
}

/* The second lacks its EndiannessInfoEvent, and was read as little endian. */
Test(htdump_write_raw, byte_order_between_files)
{
	static const char little[21];
	const char *const second = BAD "/no-byte-order.htdump";
	size_t an, bn;
	char *const ap = read_unpacked(GOOD "/wire-big.htdump", &an), *const bp = read_unpacked(second, &bn);
	struct ran r = convert_both(GOOD "/wire-big.htdump", second);

	cr_expect_eq(r.status, 0);
	cr_assert_eq(r.out_n, an + sizeof little + bn);
	cr_expect(memcmp(r.out, ap, an) == 0 && memcmp(r.out + an, little, sizeof little) == 0 &&
	          memcmp(r.out + an + sizeof little, bp, bn) == 0);
	struct ran v = run_tool((const char *const[]){ "validate", "-", NULL }, r.out, r.out_n);
	cr_expect_eq(v.status, 0, "%s%s", v.out, v.err);
	ran_free(&v);
	ran_free(&r);
	free(ap);
	free(bp);
}

Test(htdump_write_raw, other_layout)
{
	size_t n;
	char *const p = read_unpacked(GOOD "/document-big.htdump", &n);
	struct ran r = convert_both(GOOD "/document-big.htdump", GOOD "/wire-little.htdump");

	cr_expect(r.out_n == n && memcmp(r.out, p, n) == 0);
	cr_expect_not_null(strstr(r.err, ": 57; the first at input offset 0 [htdump/other-layout]\n"), "%s",
	                   r.err);
	ran_free(&r);
	free(p);
}

/* ---- times from 0 ---- */

static void expect_moved(const char *path, const char *p, size_t n)
{
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "-q", "--rebase", "--to", "htdump", path, "-", NULL }, NULL, 0);
	struct oracle was, is;
	uint64_t first = UINT64_MAX;

	cr_assert_eq(r.out_n, n, "%s: %s", path, r.err);
	oracle_decode(&was, (const unsigned char *)p, n);
	oracle_decode(&is, (const unsigned char *)r.out, n);
	cr_assert(is.fault == NULL && was.n == is.n && was.records == is.records, "%s", path);
	for (size_t i = 0; i < was.n; i++)
		first = was.events[i].ts < first ? was.events[i].ts : first;
	for (size_t i = 0; i < was.n; i++) {
		const struct oracle_event *const a = &was.events[i], *const b = &is.events[i];
		cr_expect(b->ts == a->ts - first && b->id == a->id && b->dur == a->dur &&
		              b->nfields == a->nfields && strcmp(a->name, b->name) == 0,
		          "%s: event at %zu", path, (size_t)a->offset);
	}
	oracle_free(&was);
	oracle_free(&is);
	ran_free(&r);
}

Test(htdump_write_raw, rebase_moves_times_and_nothing_else)
{
	each_file(GOOD, ".htdump", expect_moved);
}

/* On a pipe the first event's time is subtracted; what is earlier is at 0. */
Test(htdump_write_raw, rebase_on_a_pipe)
{
	struct ht_build b;

	ht_init(&b, HT_WIRE, true);
	ht_prologue(&b);
	ht_span(&b, 5000, 10, 1, "first");
	const size_t at = ht_span(&b, 4000, 10, 1, "earlier");
	ht_span(&b, 7000, 10, 1, "later");
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "--rebase", "--to", "htdump", "-", "-", NULL }, b.p, b.n);
	struct oracle o;
	char loss[80];

	snprintf(loss, sizeof loss, ": 1; the first at input offset %zu [htdump/negative-time]\n", at);
	cr_expect_not_null(strstr(r.err, loss), "%s", r.err);
	oracle_decode(&o, (const unsigned char *)r.out, r.out_n);
	cr_assert_eq(o.n, 3);
	cr_expect_eq(o.events[0].ts, 0);
	cr_expect_eq(o.events[1].ts, 0);
	cr_expect_eq(o.events[2].ts, 2000);
	oracle_free(&o);
	ran_free(&r);
	ht_free(&b);
}

/* ---- refused ---- */

Test(htdump_write_raw, records_of_other_formats)
{
	struct ran r = run_tool((const char *const[]){ "convert", "--raw", "--to", "htdump",
	                                               "testdata/heph/good/mixed.bin.log", "-", NULL },
	                        NULL, 0);

	cr_expect_eq(r.status, 3);
	cr_expect_eq(r.out_n, 0);
	cr_expect_not_null(strstr(r.err, "htdump cannot hold its records"), "%s", r.err);
	ran_free(&r);
}
