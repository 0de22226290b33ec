/* Every rule has a sample that provokes it, or a test that is named here. */
#include <criterion/criterion.h>

#include "cmd/test/samples_test_util.h"

/* Rules that no small file can provoke, with where they are tested. */
static const char *const elsewhere[] = {
	"dftracer/hash-late",       /* dftracer_cli: on a pipe */
	"dftracer/limit",           /* dftracer_limits: files of some MB */
	"dftracer/record-too-long", /* dftracer_limits: likewise */
	"dftracer/thread-limit",    /* dftracer_limits: likewise */
	NULL,
};

Test(dftracer_rules, every_rule_has_a_sample)
{
	expect_samples_of_rules("dftracer", elsewhere);
}
