/*
 * What the headers promise of readers and writers (test/fuzz/contract.h) holds for all samples, for their
 * beginnings and for changes of their bytes: findings are the same by file and in pieces, events are
 * well-formed, outputs are valid, raw records are copied byte for byte.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Findings of raw records are those of validation, and records lie where they are said to. */
static void sweep_raw(const struct sample *s)
{
	const size_t stride = strength(s->n / 64 + 1, 1, 1);

	if (s->n > 900 || !sample_is_copied(s))
		return;
	for (size_t n = 1; n <= s->n; n += stride) {
		char *const p = malloc(n); /* of this size, for sanitizers */
		cr_assert_not_null(p);
		memcpy(p, s->p, n);
		cr_expect(live_batches_raw_agrees(s->format, p, n), "%s: first %zu bytes", s->path, n);
		p[n - 1] = (char)(p[n - 1] ^ (1 << n % 8));
		cr_expect(live_batches_raw_agrees(s->format, p, n), "%s: first %zu bytes, changed", s->path,
		          n);
		free(p);
		s->p[n - 1] = (char)(s->p[n - 1] ^ (1 << n % 8));
		cr_expect(live_batches_raw_agrees(s->format, s->p, s->n), "%s: byte %zu changed", s->path,
		          n - 1);
		s->p[n - 1] = (char)(s->p[n - 1] ^ (1 << n % 8));
	}
}

Test(properties_promises, of_raw_records_of_cut_and_damaged_samples)
{
	each_sample(SAMPLES_GOOD, sweep_raw);
}

Test(properties_promises, of_cut_and_damaged_samples)
{
	each_sample(SAMPLES_GOOD | SAMPLES_BAD, sweep);
	/* a sweep that meets only one kind of end looks at nothing */
	for (int i = 0; i < 2; i++)
		cr_expect_gt(all.status[i], 100, "exit status %d", i);
}
