/* A Heph trace written as a Heph trace: the same bytes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "test/fuzz/fuzz_check.h"
#include "heph/test/build.h"
#include "heph/test/oracle.h"

#define GOOD "testdata/heph/good"
#define BAD "testdata/heph/bad"

/* Runs convert --to heph of up to two inputs; p: what comes down a pipe. */
static struct ran to_heph(const char *option, const char *a, const char *b, const void *p, size_t n)
{
	const char *args[] = { "convert", option, "--to=heph", a, b, b != NULL ? "-o-" : "-", NULL, NULL };

	if (b == NULL) {
		args[4] = "-";
		args[5] = NULL;
	}
	return run_tool(args, p, n);
}

static void expect_same(const char *path, const char *p, size_t n)
{
	static const char *const options[] = { "--threads=1", "--threads=3", "--raw" };

	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		struct ran r = to_heph(options[i], path, NULL, NULL, 0);
		expect_bytes(path, &r, p, n);
		ran_free(&r);
	}
	struct ran r = to_heph("--quiet", "-", NULL, p, n);
	expect_bytes(path, &r, p, n);
	ran_free(&r);
}

Test(heph_write_raw, good_samples_stay_what_they_are)
{
	each_file(GOOD, ".bin.log", expect_same);
}

Test(heph_write_raw, real_traces_stay_what_they_are)
{
	char dir[1000];

	snprintf(dir, sizeof dir, "%s/heph", real_traces());
	each_file(dir, ".bin.log", expect_same);
}

/* What is whole is kept, and the status says that there was an error. */
static void expect_whole(const char *path, const char *p, size_t n)
{
	struct ran check = run_tool((const char *const[]){ "validate", path, NULL }, NULL, 0);
	struct ran r = to_heph("--quiet", path, NULL, NULL, 0);
	struct heph_oracle o;

	(void)p;
	cr_expect_eq(r.status, check.status, "%s: status %d, validate %d", path, r.status, check.status);
	cr_expect_leq(r.out_n, n, "%s", path);
	if (strstr(path, "epoch-size") == NULL && strstr(path, "past-packet") == NULL &&
	    strstr(path, "type") == NULL && strstr(path, "left-over") == NULL &&
	    strstr(path, "untyped") == NULL) {
		heph_oracle_decode(&o, (const unsigned char *)r.out, r.out_n);
		cr_expect_null(o.fault, "%s: %s", path, o.fault);
		heph_oracle_free(&o);
	}
	ran_free(&check);
	ran_free(&r);
}

Test(heph_write_raw, of_bad_samples_what_is_whole)
{
	each_file(BAD, ".bin.log", expect_whole);
}

/* Also the bytes left out, and times moved to 0: see test/fuzz/fuzz_outputs.c. */
static void expect_promises(const char *path, const char *p, size_t n)
{
	struct fuzz_result result;

	cr_expect(fuzz_check(&result, p, n, NULL, NULL, FUZZ_CONVERT | FUZZ_REBASE | FUZZ_FEW), "%s: %s",
	          path, result.fault);
}

Test(heph_write_raw, promises)
{
	each_file(GOOD, ".bin.log", expect_promises);
	each_file(BAD, ".bin.log", expect_promises);
}

/* A packet that reaches into the next one gets the size that it has. */
Test(heph_write_raw, damaged_size)
{
	struct ran r = to_heph("--threads=1", BAD "/packet-too-large.bin.log", NULL, NULL, 0);
	struct ran v = run_tool((const char *const[]){ "validate", "-", NULL }, r.out, r.out_n);

	cr_expect_not_null(strstr(r.err, "[heph/damaged-packet]"), "%s", r.err);
	cr_expect_eq(v.status, 0, "%s", v.out);
	ran_free(&v);
	ran_free(&r);
}

/* ---- several inputs ---- */

/* A trace of stream 1 (and 0), in a file of its own; `first`: the counter of stream 1. */
static char *make_trace(const char *dir, const char *name, uint64_t epoch, uint32_t first, bool with_shared)
{
	struct heph_build b;
	char path[1024];

	heph_init(&b);
	if (epoch > 0)
		heph_epoch(&b, epoch);
	heph_event_at(&b, 1, first, 9, 100, 200, "one");
	heph_event_at(&b, 1, first + 1, 9, 300, 400, "two");
	if (with_shared) {
		heph_event_at(&b, 0, 1, 0, 500, 600, "later");
		heph_event_at(&b, 0, 0, 0, 500, 600, "earlier");
	}
	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert(write_whole(path, b.p, b.n));
	heph_free(&b);
	return strdup(path);
}

/* The trace made of two, which has no finding. */
struct joined {
	struct ran r;
	struct heph_oracle o;
};

static void join(struct joined *j, const char *a, const char *b)
{
	j->r = to_heph("--threads=2", a, b, NULL, 0);
	struct ran v = run_tool((const char *const[]){ "validate", "-", NULL }, j->r.out, j->r.out_n);

	cr_expect_eq(v.status, 0, "%s", v.out);
	cr_expect(strstr(v.out, "warning") == NULL && strstr(v.out, "note") == NULL, "%s", v.out);
	heph_oracle_decode(&j->o, (const unsigned char *)j->r.out, j->r.out_n);
	cr_expect_null(j->o.fault, "%s", j->o.fault);
	ran_free(&v);
}

static void joined_free(struct joined *j)
{
	heph_oracle_free(&j->o);
	ran_free(&j->r);
}

/* A trace that goes on in the next file. */
Test(heph_write_raw, counters_that_go_on)
{
	char *const dir = make_folder(), *const a = make_trace(dir, "a.bin.log", 7, 0, false),
	            *const b = make_trace(dir, "b.bin.log", 7, 2, false);
	struct joined j;

	join(&j, a, b);
	cr_expect_eq(j.r.err_n, 0, "%s", j.r.err);
	cr_assert_eq(j.o.n, 4);
	for (uint32_t i = 0; i < 4; i++)
		cr_expect(j.o.events[i].stream == 1 && j.o.events[i].counter == i);
	joined_free(&j);
	free(a);
	free(b);
	remove_folder(dir);
}

/* Two runs: streams of the second get numbers of their own. */
Test(heph_write_raw, streams_of_two_runs)
{
	char *const dir = make_folder(), *const a = make_trace(dir, "a.bin.log", 7, 0, true),
	            *const b = make_trace(dir, "b.bin.log", 7, 0, true);
	static const uint32_t streams[] = { 1, 1, 0, 0, 2, 2, 3, 3 }, counters[] = { 0, 1, 1, 0, 0, 1, 0, 1 };
	struct joined j;

	join(&j, a, b);
	cr_expect_not_null(strstr(j.r.err, ": 2; the first at input offset 23 [heph/stream-number]"), "%s",
	                   j.r.err);
	cr_expect(j.o.epoch_known && j.o.epoch == 7);
	cr_assert_eq(j.o.n, 8);
	for (size_t i = 0; i < 8; i++) {
		const struct heph_oracle_event *const e = &j.o.events[i];
		cr_expect(e->stream == streams[i] && e->counter == counters[i], "%zu: %u %u", i, e->stream,
		          e->counter);
		cr_expect(e->start == j.o.events[i % 4].start && e->end == j.o.events[i % 4].end);
	}
	joined_free(&j);
	free(a);
	free(b);
	remove_folder(dir);
}

/* ---- times from 0 ---- */

static void expect_moved(const char *path, const char *p, size_t n)
{
	struct ran r = to_heph("--rebase", path, NULL, NULL, 0);
	struct heph_oracle was, is;
	uint64_t first = UINT64_MAX;

	cr_assert_eq(r.out_n, n, "%s: %s", path, r.err);
	heph_oracle_decode(&was, (const unsigned char *)p, n);
	heph_oracle_decode(&is, (const unsigned char *)r.out, n);
	cr_assert(is.fault == NULL && was.n == is.n && was.packets == is.packets, "%s", path);
	for (size_t i = 0; i < was.n; i++)
		first = was.events[i].start < first ? was.events[i].start : first;
	first = was.n > 0 ? first : 0;
	cr_expect(was.epoch_known == is.epoch_known && is.epoch == was.epoch + (was.epoch_known ? first : 0),
	          "%s", path);
	for (size_t i = 0; i < was.n; i++) {
		const struct heph_oracle_event *const a = &was.events[i], *const b = &is.events[i];
		cr_expect(b->start == a->start - first && b->end == a->end - first &&
		              b->stream == a->stream && b->counter == a->counter &&
		              b->substream == a->substream && a->name_n == b->name_n && a->n == b->n,
		          "%s: event at %zu", path, (size_t)a->offset);
	}
	heph_oracle_free(&was);
	heph_oracle_free(&is);
	ran_free(&r);
}

Test(heph_write_raw, rebase_moves_times_and_the_epoch)
{
	each_file(GOOD, ".bin.log", expect_moved);
}

/* On a pipe the first event's time is subtracted; what is earlier is at 0. */
Test(heph_write_raw, rebase_on_a_pipe)
{
	struct heph_build b;
	struct heph_oracle o;
	char loss[80];

	heph_init(&b);
	heph_epoch(&b, 1000000);
	heph_plain(&b, 1, 5000, 5010);
	const size_t at = heph_plain(&b, 1, 4000, 4010);
	heph_plain(&b, 1, 7000, 7010);
	struct ran r = to_heph("--rebase", "-", NULL, b.p, b.n);
	snprintf(loss, sizeof loss, ": 1; the first at input offset %zu [heph/negative-time]\n", at);
	cr_expect_not_null(strstr(r.err, loss), "%s", r.err);
	heph_oracle_decode(&o, (const unsigned char *)r.out, r.out_n);
	cr_assert(o.fault == NULL && o.n == 3);
	cr_expect_eq(o.epoch, 1005000);
	cr_expect(o.events[0].start == 0 && o.events[1].start == 0 && o.events[2].start == 2000);
	cr_expect(o.events[0].end == 10 && o.events[1].end == 10 && o.events[2].end == 2010);
	heph_oracle_free(&o);
	ran_free(&r);
	heph_free(&b);
}

Test(heph_write_raw, records_of_other_formats_are_refused)
{
	struct ran r = to_heph("--raw", "testdata/htdump/good/wire-little.htdump", NULL, NULL, 0);

	cr_expect_eq(r.status, 3);
	cr_expect_eq(r.out_n, 0);
	cr_expect_not_null(strstr(r.err, "heph cannot hold its records"), "%s", r.err);
	ran_free(&r);
}
