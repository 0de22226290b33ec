/* Every rule has a bad sample that provokes it, or a test that is named here. */
#include <criterion/criterion.h>

#include "cmd/test/samples_test_util.h"

/* Rules that no small file of bytes can provoke, with where they are tested. */
static const char *const elsewhere[] = {
	"htdump/limit",         /* htdump_limits: a file of some MB */
	"htdump/thread-limit",  /* htdump_limits: likewise */
	"htdump/bad-label-map", /* cmd: a bad file of the user */
	NULL,
};

Test(htdump_rules, every_rule_has_a_sample)
{
	expect_samples_of_rules("htdump", elsewhere);
}
