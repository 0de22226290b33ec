/*
 * Properties of recover besides suite recover_sweep: nothing of an intact file is dropped or replaced; all
 * intact records of a prefix are kept; bad samples become whole.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "input/open.h"
#include "input/test/memory_input.h"
#include "run/write/test/recover_rig_test.h"
#include "test/fuzz/live_batches.h"
#include "test/properties/rows_test.h"
#include "test/support/strength.h"

/* Returns the end of the last intact record in the first n bytes, or 0 if there is none, or the reader
 * detects another dialect than for the whole file. */
static size_t end_of_whole(const struct sample *s, size_t n, const char *dialect)
{
	struct live_batches l;
	size_t end = 0;

	live_batches_read(&l, s->format, input_from_memory(s->p, n),
	                  WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES | WANT_RAW, 1024);
	for (size_t i = 0; i < l.n; i++)
		for (uint32_t k = 0; k < l.batches[i]->n; k++) {
			const struct slice bytes = l.batches[i]->bytes[k];
			const bool is_last = i + 1 == l.n && k + 1 == l.batches[i]->n;
			/* raw records of text cover all bytes; the last may be half a record */
			if (!is_last || (s->row->is & (ROW_LINES | ROW_TAIL)) == 0)
				end = (size_t)l.batches[i]->events[k].offset + bytes.n;
		}
	const bool same = l.trace.dialect != NULL && strcmp(l.trace.dialect, dialect) == 0;
	live_batches_free(&l);
	return same ? end : 0;
}

static void expect_kept(const struct sample *s)
{
	const size_t stride = strength(s->n / 40 + 1, s->n / 400 + 1, 1);
	struct recovered r;
	struct live_batches l;

	if (s->format->recover == NULL || s->n > 20000)
		return;
	recover_bytes(&r, s->format, true, s->p, s->n, 0);
	/* recover adds the last bracket of text if it is missing, and removes a comma before it */
	size_t whole = s->n;
	while ((s->row->is & ROW_LINES) != 0 && whole > 0 && strchr(",\n", s->p[whole - 1]) != NULL)
		whole--;
	cr_expect(r.dropped == 0 && r.n >= whole && memcmp(r.p, s->p, whole) == 0,
	          "%s: a whole file is changed: %s", s->path, r.first_why);
	recovered_free(&r);
	live_batches_read(&l, s->format, input_from_memory(s->p, s->n), WANT_FINDINGS, 50);
	/* shorter prefixes may not show the dialect */
	for (size_t n = 128; n < s->n && (s->row->is & ROW_FRAMES) == 0; n += stride) {
		const size_t end = end_of_whole(s, n, l.trace.dialect);
		recover_bytes(&r, s->format, true, s->p, n, 0);
		cr_expect(r.n >= end && (end == 0 || memcmp(r.p, s->p, end) == 0),
		          "%s, first %zu bytes: %zu are whole, %zu are kept, or others", s->path, n, end,
		          r.n);
		recovered_free(&r);
	}
	live_batches_free(&l);
}

/* Errors of structure are repaired or dropped, and nothing changes the second time. */
static void expect_promises(const struct sample *s)
{
	bool readable;

	if (s->format->recover == NULL)
		return;
	const char *const fault = recover_fault(s->format, s->p, s->n, &readable);
	cr_expect_null(fault, "%s: %s", s->path, fault);
}

Test(properties_recover, bad_samples_become_whole)
{
	each_sample(SAMPLES_BAD, expect_promises);
}

Test(properties_recover, intact_records_are_kept)
{
	each_sample(SAMPLES_VALID, expect_kept);
}
