/* The promises of the headers, held against all samples, and against cut and changed ones. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "test/fuzz/fuzz_sweep.h"
#include "test/fuzz/fuzz_sweep_test_util.h"

Test(dftracer_damage, promises_hold_for_cut_and_changed_bytes)
{
	expect_sweep("testdata/dftracer/good/rewritten.pfw", 5);
	expect_sweep("testdata/dftracer/good/d4.pfw", 23);
	expect_sweep("testdata/dftracer/bad/array-on-a-line.pfw", 11);
	expect_sweep("testdata/dftracer/bad/cut-and-whole.pfw", 11);
}

Test(dftracer_damage, promises_hold_for_samples)
{
	expect_promises("testdata/dftracer/good", ".pfw");
	expect_promises("testdata/dftracer/bad", ".pfw");
}

/* A rule is said once a record, but a nested value with a fault is no JSON all the same. */
Test(dftracer_damage, the_same_fault_twice)
{
	static const char text[] =
	    "{\"id\":1,\"name\":\"a\x01\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"ph\":\"X\","
	    "\"args\":{\"x\":{\"y\":\"b\x01\"},\"z\":[nan],\"u\":[1,nan]}}\n";
	struct fuzz_result r;

	cr_expect(fuzz_check(&r, text, sizeof text - 1, NULL, NULL, FUZZ_ALL), "%s", r.fault);
}

/* Long enough that most records take known paths; through small windows none does. */
Test(dftracer_damage, promises_hold_for_many_records)
{
	static const char *const names[] = { "read", "write", "open", "close" };
	static char p[100000];
	struct fuzz_result r;
	size_t n = 0;

	for (unsigned i = 0; n < sizeof p - 400; i++) {
		n += (size_t)snprintf(p + n, sizeof p - n,
		                      "{\"id\":%u,\"name\":\"%s\",\"cat\":\"POSIX\",\"pid\":%u,\"tid\":%u,"
		                      "\"ts\":%u,\"dur\":%u,\"ph\":\"X\",\"args\":{",
		                      i, names[i * 7 % 4], 7 + i % 3, 7 + i % 5, 1000 * i, i % 97);
		if (i % 3 == 0)
			n += (size_t)snprintf(p + n, sizeof p - n, "\"hhash\":%u,\"ret\":%d", 5692 + i % 2,
			                      i % 5 == 0 ? -1 : (int)i);
		else if (i % 3 == 1)
			n += (size_t)snprintf(p + n, sizeof p - n, "\"ret\":\"%u\",\"x\":%s", i,
			                      i % 2 == 0 ? "[1,\"a\"]" : "0.5");
		n += (size_t)snprintf(p + n, sizeof p - n, "%s\n", i % 50 == 49 ? ",}}" : "}}");
	}
	cr_expect(fuzz_check(&r, p, n, NULL, NULL, FUZZ_ALL & ~(unsigned)FUZZ_SLOW_1), "%s", r.fault);
}
