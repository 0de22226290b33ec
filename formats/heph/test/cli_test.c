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
