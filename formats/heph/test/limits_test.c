/*
 * Limits, cost and lifetimes: inputs too large for samples, sent through a pipe; hostile inputs whose cost
 * must be proportional to their size (Heph repeats each text, so no reference multiplies it); and the memory
 * of batches, which must outlive the reader (run it under a memory checker).
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "heph/test/build.h"
#include "test/fuzz/live_batches.h"

/* ---- limits ---- */

static struct ran run_on(const struct heph_build *b, const char *command)
{
	const char *const validate[] = { "validate", "-", NULL };
	const char *const convert[] = { "convert", "--to", "chrome", "-", "-", NULL };

	return run_tool(strcmp(command, "validate") == 0 ? validate : convert, b->p, b->n);
}

/* Expects a finding and an exit status of both commands. */
static void expect_reported(struct heph_build *b, int status, const char *want)
{
	struct ran r = run_on(b, "validate"), c = run_on(b, "convert");

	cr_expect_eq(r.status, status, "exit status %d: %.300s", r.status, r.err);
	cr_expect_not_null(strstr(r.out, want), "no %s in: %.1000s", want, r.out);
	cr_expect_eq(c.status, status, "exit status %d: %.300s", c.status, c.err);
	if (status != 0) /* warnings are only counted */
		cr_expect_not_null(strstr(c.err, want), "no %s in: %.1000s", want, c.err);
	else
		cr_expect_not_null(strstr(c.err, " in the input: tracetool validate - lists "), "%.300s",
		                   c.err);
	ran_free(&r);
	ran_free(&c);
	heph_free(b);
}

Test(heph_limits, streams)
{
	struct heph_build b;

	heph_init(&b);
	for (uint32_t i = 0; i < 65540; i++)
		heph_event_at(&b, 7 * i + 1, 0, 1, i, i + 1, "x");
	expect_reported(&b, 0, "[heph/stream-limit]");
}

Test(heph_limits, substreams)
{
	struct heph_build b;

	heph_init(&b);
	for (uint32_t i = 0; i < 98400; i++)
		heph_event_at(&b, 1, i, 3 * i, i, i + 1, "x");
	struct ran r = run_on(&b, "convert");
	cr_expect_eq(r.status, 0, "exit status %d", r.status);
	cr_expect_not_null(strstr(r.err, " warnings in the input: "), "%.500s", r.err);
	ran_free(&r);
	heph_free(&b);
}

Test(heph_limits, attributes)
{
	struct heph_build b;

	heph_init(&b);
	heph_event(&b, 1, 1, 1, 2, "many");
	for (uint32_t i = 0; i < 70000; i++) {
		heph_u16(&b, 4);
		heph_u32(&b,
		         0x41414141 + i % 26 + (i / 26 % 26 << 8) + (i / 676 % 26 << 16) + (i / 17576 << 24));
		heph_u8(&b, 1);
		heph_u64(&b, i);
	}
	heph_end(&b);
	heph_plain(&b, 1, 3, 4);
	expect_reported(&b, 1, "more than 65000 attributes; those from here on are dropped [heph/limit]");
}

/* One array of maximum size of each type is within the limit; a fifth is dropped. */
Test(heph_limits, elements)
{
	struct heph_build b;

	for (unsigned last = 0x84; last <= 0x85; last++) {
		heph_init(&b);
		heph_event(&b, 1, 1, 1, 2, "arrays");
		for (unsigned type = 0x81; type <= last; type++) {
			heph_attribute(&b, (char[]){ (char)(type - 0x20), 0 },
			               (uint8_t)(type > 0x84 ? 0x84 : type));
			heph_u16(&b, UINT16_MAX);
			for (unsigned i = 0; i < UINT16_MAX; i++)
				if (type >= 0x84)
					heph_u16(&b, 0);
				else
					heph_u64(&b, i);
		}
		heph_end(&b);
		if (last > 0x84)
			expect_reported(
			    &b, 1,
			    "an array of 65535 elements after others of 262140 in its event is dropped "
			    "[heph/limit]");
	}
}

static void expect_valid(struct heph_build *b)
{
	struct ran r = run_on(b, "validate");

	cr_expect_eq(r.status, 0, "exit status %d: %.500s", r.status, r.out);
	cr_expect_null(strstr(r.out, "error"), "%.500s", r.out);
	ran_free(&r);
	heph_free(b);
}

/* A packet larger than the buffers of a pipe. */
Test(heph_limits, large_packets)
{
	static char text[65536];
	struct heph_build b;
	char name[8];

	memset(text, 'x', sizeof text - 1);
	heph_init(&b);
	for (unsigned i = 0; i < 3; i++) {
		heph_event(&b, 1, 1, i, i + 1, text);
		for (unsigned k = 0; k < 28; k++) {
			snprintf(name, sizeof name, "a%u", k);
			heph_text_value(&b, name, text);
		}
		heph_plain(&b, 2, i, i);
	}
	expect_valid(&b);
}

/* Eight MB without a packet, but full of its magic constants. */
Test(heph_limits, large_gap)
{
	struct heph_build b;
	char want[120];

	heph_init(&b);
	heph_plain(&b, 1, 1, 2);
	const size_t from = b.n;
	heph_u32(&b, 0);
	for (unsigned i = 0; i < 1000000; i++)
		heph_u64(&b, i % 2 == 0 ? 0xC1FC1FB700100001u : 0x75D11D4D0000000Bu);
	heph_u32(&b, 0);
	snprintf(want, sizeof want,
	         "; the next packet is at offset %zu, %zu bytes from offset %zu on skipped [heph/bad-magic]",
	         b.n, b.n - from, from);
	heph_plain(&b, 1, 3, 4);
	heph_plain(&b, 1, 5, 6);
	expect_reported(&b, 1, want);
}

/* ---- cost ---- */

/* Expects at max 64 MiB plus 50 times the input as output, within many times the CPU time needed. */
static void expect_in_proportion(const struct heph_build *b, const char *what)
{
	const double max = 50.0 * (double)b->n + (double)(64 << 20);
	char command[200];

	snprintf(command, sizeof command, "ulimit -t ${COST_SECONDS:-300}; \"$0\" %s | wc -c", what);
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", command, tool_path(), NULL }, b->p, b->n);
	cr_assert_eq(r.status, 0, "%s: status %d: %.500s", what, r.status, r.err);
	cr_expect_leq(atof(r.out), max, "%s: %s bytes of %zu", what, r.out, b->n);
	cr_expect_gt(atof(r.out), 0, "%s: %.500s", what, r.err);
	ran_free(&r);
}

/* Each event has its own substream and description. */
Test(heph_cost, many_substreams_and_names)
{
	struct heph_build b;
	char name[16];

	heph_init(&b);
	for (unsigned i = 0; i < 60000; i++) {
		snprintf(name, sizeof name, "e%u", i);
		heph_event(&b, 1, i, i, i + 1, name);
		heph_end(&b);
	}
	expect_in_proportion(&b, "validate -");
	expect_in_proportion(&b, "stats --format json -");
	expect_in_proportion(&b, "convert --to chrome - -");
	heph_free(&b);
}

/* An event with 20,000 attributes of one name. */
Test(heph_cost, many_attributes)
{
	struct heph_build b;

	heph_init(&b);
	for (unsigned i = 0; i < 10; i++) {
		heph_event(&b, 1, 0, i, i + 1, "e");
		for (unsigned k = 0; k < 20000; k++)
			heph_unsigned(&b, "a", k);
		heph_end(&b);
	}
	expect_in_proportion(&b, "validate -");
	expect_in_proportion(&b, "convert --to ndjson - -");
	heph_free(&b);
}

/* ---- lifetimes ---- */

#define ALL (WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES | WANT_GAPS)

static size_t expect_lasting(const char *what, struct input *in, unsigned want)
{
	struct live_batches l;
	size_t n;

	cr_assert_not_null(in, "%s", what);
	live_batches_read(&l, format_by_name("heph"), in, want, 3);
	n = l.n;
	cr_expect_eq(live_batches_changed(&l), 0, "%s", what);
	cr_expect_eq(live_batches_free(&l), 0, "%s", what);
	return n;
}

/* Reads all samples of a folder: as files, compressed, and through windows of several sizes. */
static size_t read_folder(const char *dir)
{
	static const size_t steps[] = { 0, 7, 64, 4096 };
	char **const names = list_folder(dir, ".bin.log");
	char *const folder = make_folder();
	size_t batches = 0;
	char path[600], packed[1024];

	cr_assert(names != NULL && folder != NULL);
	snprintf(packed, sizeof packed, "%s/x.gz", folder);
	for (char **name = names; *name != NULL; name++) {
		size_t n, gz_n;
		snprintf(path, sizeof path, "%s/%s", dir, *name);
		char *const p = read_whole(path, &n);
		cr_assert_not_null(p, "%s", path);
		void *const gz = gzip_copy(p, n, &gz_n);
		cr_assert(write_whole(packed, gz, gz_n));
		for (unsigned raw = 0; raw <= WANT_RAW; raw += WANT_RAW) {
			batches += expect_lasting(path, input_open(path), ALL | raw);
			expect_lasting(path, input_open(packed), ALL | raw);
			for (size_t i = 0; i < 4 && n < 16384; i++)
				expect_lasting(path,
				               steps[i] > 0 ? input_from_memory_slowly(p, n, steps[i])
				                            : input_from_memory(p, n),
				               ALL | raw);
		}
		free(gz);
		free(p);
	}
	remove_folder(folder);
	list_free(names);
	return batches;
}

Test(heph_lifetime, samples)
{
	cr_expect_gt(read_folder("testdata/heph/good"), 100);
	cr_expect_gt(read_folder("testdata/heph/bad"), 50);
}
