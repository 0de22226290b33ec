/*
 * Limits and cost: inputs too large for samples, sent through a pipe, and hostile inputs, whose cost must be
 * proportional to their size (Heph repeats each text, so no reference multiplies it).
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "heph/test/build.h"
#include "test/properties/cost_test_util.h"

/* ---- limits ---- */

static struct ran run_on(const struct heph_build *b, const char *command)
{
	const char *const validate[] = { "validate", "-", NULL };
	const char *const convert[] = { "convert", "--to", "chrome", "-", "-", NULL };

	return run_tool(strcmp(command, "validate") == 0 ? validate : convert, b->p, b->n);
}

/* Expects a finding and an exit status of both commands. */
static void expect_reported(struct heph_build *b, int status, const char *want)
{
	struct ran r = run_on(b, "validate"), c = run_on(b, "convert");

	cr_expect_eq(r.status, status, "exit status %d: %.300s", r.status, r.err);
	cr_expect_not_null(strstr(r.out, want), "no %s in: %.1000s", want, r.out);
	cr_expect_eq(c.status, status, "exit status %d: %.300s", c.status, c.err);
	cr_expect_not_null(strstr(c.err, want), "no %s in: %.1000s", want, c.err);
	ran_free(&r);
	ran_free(&c);
	heph_free(b);
}

Test(heph_limits, streams)
{
	struct heph_build b;

	heph_init(&b);
	for (uint32_t i = 0; i < 65540; i++)
		heph_event_at(&b, 7 * i + 1, 0, 1, i, i + 1, "x");
	expect_reported(&b, 0, "[heph/stream-limit]");
}

Test(heph_limits, substreams)
{
	struct heph_build b;

	heph_init(&b);
	for (uint32_t i = 0; i < 98400; i++)
		heph_event_at(&b, 1, i, 3 * i, i, i + 1, "x");
	struct ran r = run_on(&b, "convert");
	cr_expect_eq(r.status, 0, "exit status %d", r.status);
	cr_expect_not_null(strstr(r.err, "[heph/stream-limit]"), "%.500s", r.err);
	ran_free(&r);
	heph_free(&b);
}

Test(heph_limits, attributes)
{
	struct heph_build b;

	heph_init(&b);
	heph_event(&b, 1, 1, 1, 2, "many");
	for (uint32_t i = 0; i < 70000; i++) {
		heph_u16(&b, 4);
		heph_u32(&b,
		         0x41414141 + i % 26 + (i / 26 % 26 << 8) + (i / 676 % 26 << 16) + (i / 17576 << 24));
		heph_u8(&b, 1);
		heph_u64(&b, i);
	}
	heph_end(&b);
	heph_plain(&b, 1, 3, 4);
	expect_reported(&b, 0, "more than 65000 attributes; those from here on are dropped [heph/limit]");
}

/* Empty texts take two bytes each.  All numbers of a packet are retained: an eighth of --max-record. */
Test(heph_limits, elements)
{
	static const char *const args[] = { "validate", "--max-record", "1M", "-", NULL };
	struct heph_build b;

	for (unsigned n = 4; n <= 5; n++) {
		heph_init(&b);
		heph_event(&b, 1, 1, 1, 2, "arrays");
		for (unsigned k = 0; k < n; k++) {
			heph_attribute(&b, (char[]){ (char)('a' + k), 0 }, 0x84);
			heph_u16(&b, UINT16_MAX);
			for (unsigned i = 0; i < UINT16_MAX; i++)
				heph_u16(&b, 0);
		}
		heph_end(&b);
		struct ran r = run_tool(args, b.p, b.n);
		cr_expect_eq(r.status, 0, "%s", r.out);
		cr_expect((strstr(r.out, "an array of 65535 elements after others of 262140 in its event is "
		                         "dropped [heph/limit]") != NULL) == (n > 4),
		          "%s", r.out);
		ran_free(&r);
		heph_free(&b);
	}
}

static void expect_valid(struct heph_build *b)
{
	struct ran r = run_on(b, "validate");

	cr_expect_eq(r.status, 0, "exit status %d: %.500s", r.status, r.out);
	cr_expect_null(strstr(r.out, "error"), "%.500s", r.out);
	ran_free(&r);
	heph_free(b);
}

/* A packet larger than the buffers of a pipe. */
Test(heph_limits, large_packets)
{
	static char text[65536];
	struct heph_build b;
	char name[8];

	memset(text, 'x', sizeof text - 1);
	heph_init(&b);
	for (unsigned i = 0; i < 3; i++) {
		heph_event(&b, 1, 1, i, i + 1, text);
		for (unsigned k = 0; k < 28; k++) {
			snprintf(name, sizeof name, "a%u", k);
			heph_text_value(&b, name, text);
		}
		heph_plain(&b, 2, i, i);
	}
	expect_valid(&b);
}

/* Eight MB without a packet, but full of its magic constants. */
Test(heph_limits, large_gap)
{
	struct heph_build b;
	char want[120];

	heph_init(&b);
	heph_plain(&b, 1, 1, 2);
	const size_t from = b.n;
	heph_u32(&b, 0);
	for (unsigned i = 0; i < 1000000; i++)
		heph_u64(&b, i % 2 == 0 ? 0xC1FC1FB700100001u : 0x75D11D4D0000000Bu);
	heph_u32(&b, 0);
	snprintf(want, sizeof want,
	         "; the next packet is at offset %zu, %zu bytes from offset %zu on skipped [heph/bad-magic]",
	         b.n, b.n - from, from);
	heph_plain(&b, 1, 3, 4);
	heph_plain(&b, 1, 5, 6);
	expect_reported(&b, 1, want);
}

/* Events of tracetool of too many classes: reported once, and the others keep their attributes. */
Test(heph_limits, classes_of_tracetool)
{
	struct heph_build b;
	char name[16];

	heph_init(&b);
	heph_metadata(&b, "tracetool.trace");
	heph_unsigned(&b, "version", 1);
	heph_end(&b);
	for (unsigned i = 0; i < 65538; i++) {
		(void)snprintf(name, sizeof name, "c%u", i);
		heph_event(&b, 1, 1, i, i + 1, "e");
		heph_text_value(&b, "tracetool.class", name);
		heph_end(&b);
	}
	struct ran r = run_tool((const char *const[]){ "cat", "-", NULL }, b.p, b.n);
	cr_expect_not_null(strstr(r.out, " span c65535 "), "%s", r.out);
	cr_expect_not_null(strstr(r.out, " tracetool.class=\"c65536\""), "%s", r.out);
	cr_expect_not_null(strstr(r.err, "have more than 65536 classes"), "%s", r.err);
	ran_free(&r);
	heph_free(&b);
}

/* ---- cost ---- */

/* Each event has its own substream and description. */
Test(heph_cost, many_substreams_and_names)
{
	struct heph_build b;
	char name[16];

	heph_init(&b);
	for (unsigned i = 0; i < 60000; i++) {
		snprintf(name, sizeof name, "e%u", i);
		heph_event(&b, 1, i, i, i + 1, name);
		heph_end(&b);
	}
	expect_in_proportion("validate -", b.p, b.n, NULL);
	expect_in_proportion("stats --format json -", b.p, b.n, NULL);
	expect_in_proportion("convert --to chrome - -", b.p, b.n, NULL);
	heph_free(&b);
}

/* An event with 20,000 attributes of one name. */
Test(heph_cost, many_attributes)
{
	struct heph_build b;

	heph_init(&b);
	for (unsigned i = 0; i < 10; i++) {
		heph_event(&b, 1, 0, i, i + 1, "e");
		for (unsigned k = 0; k < 20000; k++)
			heph_unsigned(&b, "a", k);
		heph_end(&b);
	}
	expect_in_proportion("validate -", b.p, b.n, NULL);
	expect_in_proportion("convert --to ndjson - -", b.p, b.n, NULL);
	heph_free(&b);
}
