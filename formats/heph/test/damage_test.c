/* Damage in one packet does not reach the others; nothing breaks the promises of the headers. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "heph/test/build.h"
#include "cmd/test/cli_test_util.h"
#include "run/pipeline.h"
#include "test/fuzz/fuzz_sweep.h"
#include "test/fuzz/fuzz_sweep_test_util.h"
#include "format/registry.h"

#define MIXED "testdata/heph/good/mixed.bin.log"
#define MAX_PACKETS 512

/* The offsets of the packets of a sound trace. */
static size_t offsets_of(const unsigned char *p, size_t n, size_t *offsets)
{
	size_t count = 0;

	for (size_t at = 0; at < n && count < MAX_PACKETS; count++) {
		offsets[count] = at;
		at += (size_t)p[at + 6] << 8 | p[at + 7];
	}
	return count;
}

struct seen {
	uint64_t offsets[MAX_PACKETS];
	size_t n;
	uint64_t errors;
};

static void take(struct seen *s, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n && s->n < MAX_PACKETS; i++)
		s->offsets[s->n++] = b->events[i].offset;
}

static void closed(void *ctx, const struct source *source)
{
	struct seen *const s = ctx;

	s->errors += source->findings.levels[LEVEL_ERROR];
}

static bool was_seen(const struct seen *s, uint64_t offset)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->offsets[i] == offset)
			return true;
	return false;
}

/* All packets but the damaged one come out. */
static void expect_others(const unsigned char *p, size_t n, const size_t *offsets, size_t count,
                          size_t damaged, const char *what)
{
	static const char *const paths[] = { "memory" };
	struct seen s = { .n = 0 };
	struct pipeline f;
	struct batch *b;
	const struct pipeline_job job = { .paths = paths,
		                          .npaths = 1,
		                          .input = input_from_memory((const char *)p, n),
		                          .from = format_by_name("heph"),
		                          .want = WANT_TIMES | WANT_STRUCTURE,
		                          .hooks = { .closed = closed, .ctx = &s } };

	cr_assert(pipeline_open(&f, &job));
	while (pipeline_next(&f, &b) == STAGE_MORE) {
		take(&s, b);
		batch_release(b);
	}
	for (size_t i = 0; i < count; i++)
		if (i != damaged)
			cr_expect(was_seen(&s, offsets[i]), "%s of packet %zu: packet %zu at %zu is lost",
			          what, damaged, i, offsets[i]);
	cr_expect_gt(s.errors, 0, "%s of packet %zu", what, damaged);
	pipeline_close(&f);
}

/* Sizes of the same length as the damaged one, smaller and larger, and ones that reach beyond the end. */
Test(heph_damage, other_packets_are_found)
{
	static const int sizes[] = { -1, 1, -7, 30, 57, 100, 300 };
	size_t n, offsets[MAX_PACKETS];
	unsigned char *const p = (unsigned char *)read_whole(MIXED, &n);

	cr_assert_not_null(p);
	const size_t count = offsets_of(p, n, offsets);
	cr_assert_gt(count, 40);
	for (size_t i = 0; i < count; i++) {
		unsigned char *const at = p + offsets[i], size = at[7];
		for (unsigned bit = 0; bit < 32; bit++) {
			at[bit / 8] ^= (unsigned char)(1 << bit % 8);
			expect_others(p, n, offsets, count, i, "magic");
			at[bit / 8] ^= (unsigned char)(1 << bit % 8);
		}
		at[4] = 0x80;
		expect_others(p, n, offsets, count, i, "absurd size");
		at[4] = 0;
		at[5] = 1;
		expect_others(p, n, offsets, count, i, "size past the end");
		at[5] = 0;
		for (size_t k = 0; k < sizeof sizes / sizeof sizes[0] && at[6] == 0 && i + 1 < count; k++) {
			at[6] = (unsigned char)(((int)size + sizes[k]) >> 8);
			at[7] = (unsigned char)((int)size + sizes[k]);
			/* the value of an option has no end of its own: a longer one swallows what follows */
			if (*at == 0xC1)
				expect_others(p, n, offsets, count, i, "size");
			at[6] = 0;
			at[7] = size;
		}
	}
	free(p);
}

/* All of these promises are held against all prefixes and some changes of every byte. */
Test(heph_damage, promises_hold_for_cut_and_changed_bytes)
{
	expect_sweep("testdata/heph/good/all-types.bin.log", 0);
	expect_sweep("testdata/heph/bad/attribute-repeated.bin.log", 0);
	expect_sweep("testdata/heph/bad/bad-magic-decoys.bin.log", 0);
	expect_sweep(MIXED, 7);
}

Test(heph_damage, promises_hold_for_samples)
{
	expect_promises("testdata/heph/good", ".bin.log");
	expect_promises("testdata/heph/bad", ".bin.log");
}
