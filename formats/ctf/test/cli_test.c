/*
 * The command line: traces of each format, converted by the program and read back by the oracle.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "ctf/test/oracle_test.h"

#define SAMPLE "testdata/htdump/good/overlapping.htdump"

static struct ran convert(const char *in, const char *out, const char *option)
{
	const char *const args[] = { "convert", "--quiet", "--to", "ctf", in, out, option, NULL };

	return run_tool(args, NULL, 0);
}

/* Returns the bytes of a file, or NULL if it does not exist. */
static char *read_file(const char *dir, const char *name, size_t *n)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return read_whole(path, n);
}

static void read_output(struct ctf_oracle *o, const char *dir, const char *what)
{
	size_t n = 0, stream_n = 0;
	char *const metadata = read_file(dir, "metadata", &n), *const stream =
	                                                           read_file(dir, "events", &stream_n);

	cr_assert_not_null(metadata, "%s: no metadata", what);
	cr_assert(ctf_oracle_read(o, metadata, stream, stream_n), "%s: %s", what, o->error);
	free(metadata);
	free(stream);
}

/* ---- all samples, against stats ---- */

/* Adds the spans of a report of stats, and the sum of their durations. */
static void add_stats(const char *json, uint64_t *spans, uint64_t *dur)
{
	static const char mark[] = ",\"dur_ns\":{\"sum\":", before[] = "\"count\":";
	const char *at = json;

	while ((at = strstr(at, mark)) != NULL) {
		const char *count = at;
		while (strncmp(count, before, sizeof before - 1) != 0)
			count--;
		*spans += strtoull(count + sizeof before - 1, NULL, 10);
		at += sizeof mark - 1;
		*dur += strtoull(at, NULL, 10);
	}
}

/* Compares the sums of one input.  Returns false if it is no trace. */
static bool expect_sums(const char *in, const char *dir)
{
	char out[1024];
	struct ctf_oracle o;
	uint64_t spans = 0, dur = 0;

	snprintf(out, sizeof out, "%s/out", dir);
	struct ran r = convert(in, out, "-f");
	const int status = r.status;
	ran_free(&r);
	if (status != 0)
		return false;
	read_output(&o, out, in);
	r = run_tool((const char *const[]){ "stats", "--quiet", "--format", "json", in, NULL }, NULL, 0);
	add_stats(r.out, &spans, &dur);
	cr_expect(o.spans == spans && o.dur == dur,
	          "%s: %" PRIu64 " spans of %" PRIu64 " ns, stats says %" PRIu64 " of %" PRIu64, in, o.spans,
	          o.dur, spans, dur);
	ran_free(&r);
	ctf_oracle_free(&o);
	return true;
}

Test(ctf_cli, sums_of_all_samples_are_those_of_stats)
{
	static const char *const folders[] = { "heph", "dial9", "dftracer", "htdump", "chrome", "ovni" };
	char *const dir = make_folder(), path[1024];
	size_t n = 0;

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		snprintf(path, sizeof path, "testdata/%s/good", folders[i]);
		char **const names = list_folder(path, "");
		for (size_t k = 0; names[k] != NULL; k++) {
			snprintf(path, sizeof path, "testdata/%s/good/%s", folders[i], names[k]);
			n += expect_sums(path, dir);
		}
		list_free(names);
	}
	cr_expect_geq(n, 40);
	remove_folder(dir);
}

/* A finding gives status 1, and the output has the events before it. */
Test(ctf_cli, a_broken_input_is_converted_as_far_as_it_goes)
{
	char *const dir = make_folder(), out[1024];
	struct ctf_oracle o;

	snprintf(out, sizeof out, "%s/a.ctf", dir);
	struct ran r = convert("testdata/htdump/bad/cut-record.htdump", out, NULL);
	cr_expect_eq(r.status, 1, "%s", r.err);
	ran_free(&r);
	read_output(&o, out, "cut-record");
	cr_expect_gt(o.events, 0);
	ctf_oracle_free(&o);
	remove_folder(dir);
}

/* ---- times ---- */

/* A pipe is read once, so events before its first one have times below 0. */
Test(ctf_cli, times_below_0_are_in_the_offset)
{
	static const char lines[] = "[\n{\"id\":1,\"name\":\"a\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"ts\":"
	                            "5000,\"dur\":1,\"ph\":\"X\"}\n"
	                            "{\"id\":2,\"name\":\"b\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"ts\":4000,"
	                            "\"dur\":1,\"ph\":\"X\"}\n]\n";
	char *const dir = make_folder(), out[1024];
	struct ctf_oracle o;

	snprintf(out, sizeof out, "%s/a.ctf", dir);
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "--quiet", "--rebase", "--from", "dftracer", "-", out, NULL },
	    lines, sizeof lines - 1);
	cr_expect_leq(r.status, 1, "%s", r.err);
	ran_free(&r);
	read_output(&o, out, "rebased");
	cr_expect_not_null(strstr(o.tsdl.env.p, "rebased_by_ns=5000000\n"), "%s", o.tsdl.env.p);
	const int64_t zero = o.tsdl.absolute ? 5000000 : 0; /* the wall clock does not change */
	char want[64];
	snprintf(want, sizeof want, "%" PRId64 " c:span: ", zero - 1000000);
	cr_expect_eq(strncmp(o.lines.p, want, strlen(want)), 0, "%s", o.lines.p);
	snprintf(want, sizeof want, "\n%" PRId64 " c:span: ", zero);
	cr_expect_not_null(strstr(o.lines.p, want), "%s", o.lines.p);
	ctf_oracle_free(&o);
	remove_folder(dir);
}

/* The time of day does not depend on --rebase. */
Test(ctf_cli, rebase_keeps_the_time_of_day)
{
	char *const dir = make_folder(), out[1024];
	struct ctf_oracle plain, rebased;

	snprintf(out, sizeof out, "%s/a.ctf", dir);
	struct ran r = convert("testdata/heph/good/all-types.bin.log", out, NULL);
	ran_free(&r);
	read_output(&plain, out, "plain");
	r = convert("testdata/heph/good/all-types.bin.log", out, "-f");
	ran_free(&r);
	r = run_tool((const char *const[]){ "convert", "-fq", "--rebase",
	                                    "testdata/heph/good/all-types.bin.log", out, NULL },
	             NULL, 0);
	ran_free(&r);
	read_output(&rebased, out, "rebased");
	cr_expect(plain.tsdl.absolute && rebased.tsdl.absolute);
	cr_expect_neq(plain.tsdl.offset, rebased.tsdl.offset);
	cr_expect_str_eq(plain.lines.p, rebased.lines.p);
	ctf_oracle_free(&plain);
	ctf_oracle_free(&rebased);
	remove_folder(dir);
}

/* ---- babeltrace2 ---- */

Test(ctf_cli, babeltrace2_reads_it)
{
	static const char *const inputs[] = { SAMPLE, "testdata/heph/good/all-types.bin.log",
		                              "testdata/htdump/good/max-integers.htdump" };
	char *const dir = make_folder(), out[1024];

	if (system("babeltrace2 --version >/dev/null 2>&1") != 0) {
		remove_folder(dir);
		cr_skip_test("babeltrace2 is not here");
	}
	snprintf(out, sizeof out, "%s/a.ctf", dir);
	for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
		struct ctf_oracle o;
		uint64_t lines = 0;
		struct ran r = convert(inputs[i], out, "-f");
		cr_expect_eq(r.status, 0, "%s", r.err);
		ran_free(&r);
		read_output(&o, out, inputs[i]);
		r = run_program((const char *const[]){ "babeltrace2", out, NULL }, NULL, 0);
		cr_expect_eq(r.status, 0, "%s: %s", inputs[i], r.err);
		cr_expect_str_eq(r.err, "");
		for (size_t k = 0; k < r.out_n; k++)
			lines += r.out[k] == '\n';
		cr_expect_eq(lines, o.events);
		ran_free(&r);
		ctf_oracle_free(&o);
	}
	remove_folder(dir);
}
