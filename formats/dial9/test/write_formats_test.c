/* Traces of the other formats as dial9 traces: valid, and read back they are what they were. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "dial9/test/oracle.h"

#define ORACLE_FIELDS 16U /* what the oracle keeps of a schema */

static struct ran convert(const char *path, const char *version, const char *threads)
{
	return run_tool((const char *const[]){ "convert", "-q", threads, "--to-dialect", version, "--to",
	                                       "dial9", path, "-", NULL },
	                NULL, 0);
}

/* The line of `info` that sums up all events, to be freed. */
static char *digest(const char *path, const void *in, size_t n)
{
	struct ran r = run_tool((const char *const[]){ "info", "-q", "--digest", path, NULL }, in, n);
	const char *const line = strstr(r.out, "\ndigest:");

	cr_assert_not_null(line, "%s: %s%s", path, r.out, r.err);
	char *const copy = strdup(line + 1);
	copy[strcspn(copy, "\n")] = '\0';
	ran_free(&r);
	return copy;
}

/* With --from-dialect 0.3, the document of 0.3 is what it is valid by. */
static void expect_valid(const char *path, const char *version, const struct ran *r)
{
	struct ran v =
	    run_tool((const char *const[]){ "validate", "-q", "--from-dialect", version, "-", NULL }, r->out,
	             r->out_n);

	cr_expect_eq(v.status, 0, "%s %s: %s", path, version, v.out);
	ran_free(&v);
}

/* Frame by frame, by a decoder that knows nothing of the writer. */
static void expect_decodes(const char *path, const struct ran *r, uint32_t most_fields)
{
	struct d9o o;

	if (most_fields > ORACLE_FIELDS)
		return;
	d9o_decode(&o, (const unsigned char *)r->out, r->out_n);
	cr_expect_null(o.fault, "%s: %s", path, o.fault);
	cr_expect_eq(o.at, r->out_n, "%s", path);
	cr_expect_eq(o.segments, 1, "%s", path);
	d9o_free(&o);
}

static void expect_as_it_was(const char *path, const char *version, uint32_t most_fields)
{
	struct ran one = convert(path, version, "--threads=1"), many = convert(path, version, "--threads=3");
	char *const want = digest(path, NULL, 0), *const got = digest("-", one.out, one.out_n);

	cr_expect_eq(one.status, 0, "%s: %s", path, one.err);
	cr_expect_str_eq(got, want, "%s %s", path, version);
	cr_expect(one.out_n == many.out_n && memcmp(one.out, many.out, one.out_n) == 0,
	          "%s: other output of several threads", path);
	expect_valid(path, version, &one);
	expect_decodes(path, &one, most_fields);
	ran_free(&one);
	ran_free(&many);
	free(want);
	free(got);
}

Test(dial9_write_formats, events_are_read_back_as_they_were)
{
	static const struct {
		const char *path;
		uint32_t fields; /* of an event, with those before its arguments, at most */
	} rows[] = {
		{ "testdata/htdump/good/overlapping.htdump", 8 },
		{ "testdata/htdump/good/odd-doubles.htdump", 12 },
		{ "testdata/htdump/good/strange-labels.htdump", 8 },
		{ "testdata/heph/good/mixed.bin.log", 16 },
		{ "testdata/dftracer/good/d3.pfw", 99 },
		{ "testdata/dftracer/good/sound.pfw", 10 },
		{ "testdata/chrome/good/object.json", 99 },
		{ "testdata/ovni/good/big-endian.obs", 8 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		expect_as_it_was(rows[i].path, i % 2 == 0 ? "0.3" : "0.4", rows[i].fields);
}

/* dial9 itself by way of NDJSON: stacks, maps, tasks, wakes. */
Test(dial9_write_formats, what_dial9_shows_itself)
{
	static const char *const names[] = { "tracks", "symbols", "all-types-0.4" };
	char *const dir = make_folder(), from[200], path[500];

	for (size_t i = 0; i < 3; i++) {
		snprintf(from, sizeof from, "testdata/dial9/good/%s.dial9", names[i]);
		snprintf(path, sizeof path, "%s/%s.ndjson", dir, names[i]);
		struct ran r = run_tool((const char *const[]){ "convert", "-q", from, path, NULL }, NULL, 0);
		cr_assert_eq(r.status, 0, "%s", r.err);
		ran_free(&r);
		expect_as_it_was(path, i == 1 ? "0.3" : "0.4", 99);
	}
	remove_folder(dir);
}

/* The wall time at 0 and the facts of the trace come along, also when its times are moved. */
Test(dial9_write_formats, facts_and_wall_time)
{
	static const char *const rebase[] = { "--threads=1", "--rebase" };

	for (size_t i = 0; i < 2; i++) {
		struct ran was = run_tool(
		    (const char *const[]){ "info", "-q", "testdata/dftracer/good/d5.pfw", NULL }, NULL, 0);
		struct ran r = convert("testdata/dftracer/good/d5.pfw", "0.4", rebase[i]);
		struct ran v = run_tool((const char *const[]){ "info", "-q", "-", NULL }, r.out, r.out_n);
		const char *const from = strstr(was.out, "\ntimes:");
		cr_assert_not_null(from);
		cr_expect_not_null(strstr(v.out, "tracetool.format"), "%s", v.out);
		cr_expect_not_null(strstr(v.out, "tracetool.dialect"), "%s", v.out);
		cr_expect_eq(strstr(v.out, "wall time is not known") != NULL,
		             strstr(was.out, "wall time is not known") != NULL, "%s", v.out);
		ran_free(&was);
		ran_free(&r);
		ran_free(&v);
	}
}
