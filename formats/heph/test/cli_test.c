/* The program on all Heph samples: its findings, whether from files, pipes or compressed files. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "heph/test/oracle.h"

#define GOOD "testdata/heph/good"
#define BAD "testdata/heph/bad"

static const struct samples samples = { .suffix = ".bin.log" };

Test(heph_cli, bad_samples_say_what_is_expected)
{
	expect_samples(&samples, BAD);
}

Test(heph_cli, good_samples_are_clean)
{
	expect_sound_samples(&samples, GOOD);
}

Test(heph_cli, real_traces_are_clean)
{
	const char *const dir = real_traces();
	char path[1024];

	snprintf(path, sizeof path, "%s/heph/actors.bin.log", dir);
	expect_by_all_ways(&samples, path, "exit 0\n", true);
	snprintf(path, sizeof path, "%s/heph/no-arrays.bin.log", dir);
	expect_by_all_ways(&samples, path, "exit 0\n", true);
}

/* Two traces joined: both are valid, but have different epochs. */
Test(heph_cli, epochs_of_several_inputs)
{
	const char *const args[] = {
		"convert", "--to", "chrome", GOOD "/spec-example.bin.log", GOOD "/max-integers.bin.log",
		"-o",      "-",    NULL
	};
	struct ran r = run_tool(args, NULL, 0);

	cr_expect_eq(r.status, 2, "%s", r.err);
	cr_expect_not_null(strstr(r.err, "[input/other-clock]"), "%s", r.err);
	ran_free(&r);
}

/* Streams are processes, substreams their threads. */
Test(heph_cli, streams_are_processes)
{
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "--to", "chrome", GOOD "/interleaved.bin.log", "-", NULL },
	    NULL, 0);

	cr_expect_not_null(strstr(r.out, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":3,\"tid\":4194308,"
	                                 "\"args\":{\"name\":\"stream 3\"}}"),
	                   "%s", r.out);
	cr_expect_not_null(strstr(r.out, "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":3,\"tid\":2,"
	                                 "\"args\":{\"name\":\"substream 2\"}}"));
	/* viewers treat a pid of 0 as none; the others keep their numbers */
	cr_expect_not_null(strstr(r.out, "\"args\":{\"name\":\"stream 0 (coordinator)\",\"true_pid\":0}}"));
	ran_free(&r);
}

Test(heph_cli, structure_is_shown)
{
	struct ran r = run_tool((const char *const[]){ "cat", BAD "/unknown-option.bin.log", NULL }, NULL, 0);

	cr_expect_not_null(
	    strstr(r.out, "@0 structure metadata ts=0 option=\"epoch\" value=1610113734118010000\n"), "%s",
	    r.out);
	cr_expect_not_null(
	    strstr(r.out, "@23 structure metadata ts=0 option=\"host\" value=0x6578616d706c65\n"), "%s",
	    r.out);
	ran_free(&r);
}
