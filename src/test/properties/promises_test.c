/*
 * What the headers promise of readers and writers (test/fuzz/contract.h) holds for all samples, for their
 * beginnings and for changes of their bytes: findings are the same by file and in pieces, events are
 * well-formed, outputs are valid, raw records are copied byte for byte.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "test/fuzz/fuzz_sweep.h"
#include "test/fuzz/live_batches.h"
#include "test/properties/rows_test.h"
#include "test/support/strength.h"

static void expect_promises(const struct sample *s)
{
	struct fuzz_result r;

	cr_expect(fuzz_check(&r, s->p, s->n, s->format, NULL, FUZZ_ALL | FUZZ_FEW), "%s: %s", s->path,
	          r.fault);
}

Test(properties_promises, of_samples)
{
	each_sample(SAMPLES_VALID | SAMPLES_BAD, expect_promises);
}

#define SWEPT_MAX 1200 /* bytes of a sample */

static struct fuzz_swept all;

/* Every so manieth beginning and byte; all of them in CI and at night. */
static void sweep(const struct sample *s)
{
	const size_t sparse = strength(s->good ? 7 : 29, s->good ? 1 : 7, 1);
	struct fuzz_sweep sweep = { .p = s->p,
		                    .n = s->n,
		                    .format = s->format,
		                    .light = true,
		                    .stride = sparse,
		                    .sparse = 2 * sparse + 1,
		                    .full_every = 64 };
	struct fuzz_swept swept;

	if (s->n > SWEPT_MAX)
		return;
	cr_expect(fuzz_sweep_run(&sweep, &swept), "%s: %s %zu to %d: %s", s->path,
	          swept.byte < 0 ? "cut at" : "changed byte", swept.place, swept.byte, swept.result.fault);
	for (int i = 0; i < 3; i++)
		all.status[i] += swept.status[i];
}

Test(properties_promises, of_cut_and_damaged_samples)
{
	each_sample(SAMPLES_GOOD | SAMPLES_BAD, sweep);
	/* a sweep that meets only one kind of end looks at nothing */
	for (int i = 0; i < 2; i++)
		cr_expect_gt(all.status[i], 100, "exit status %d", i);
}
