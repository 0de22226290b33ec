/*
 * Recovery of dumps: what is found after an unreadable event.
 */
#include <criterion/criterion.h>

#include "format/registry.h"
#include "htdump/test/build.h"
#include "run/write/test/recover_rig_test.h"

enum { ID_UNKNOWN = 99 };

static void in_each_layout(void (*f)(enum ht_layout layout, bool big))
{
	for (unsigned i = 0; i < 4; i++)
		f(i < 2 ? HT_WIRE : HT_DOCUMENT, i % 2 == 1);
}

/* Starts a dump with a span, and damages it.  Returns the offset of the damage. */
static size_t make_damaged(struct ht_build *b, enum ht_layout layout, bool big)
{
	ht_init(b, layout, big);
	ht_prologue(b);
	ht_span(b, 1000, 500, 1, "before");
	const size_t at = ht_event(b, ID_UNKNOWN, 2000);
	ht_u64(b, 0);
	return at;
}

/* Times and durations of a trace that begins at 0 have many zero bytes: with the number of its thread, a span
 * looks like an EndiannessInfoEvent and the head of a description, and its label like a name. */
static void expect_no_start(enum ht_layout layout, bool big)
{
	struct ht_build b;
	const size_t at = make_damaged(&b, layout, big);

	for (uint32_t i = 0; i < 4096; i++)
		ht_span(&b, 2000 + i * (i % 2 == 0 ? 1000 : 256), 500, i % 5,
		        "tokio::runtime::task::harness::poll");
	struct recovered r;
	recover_bytes(&r, format_by_name("htdump"), false, (const char *)b.p, b.n, 0);
	cr_expect_eq(r.n, at, "%zu bytes instead of %zu", r.n, at);
	cr_expect_eq(r.gaps, 1);
	recovered_free(&r);
	ht_free(&b);
}

Test(htdump_recover, spans_that_look_like_the_start_of_a_dump)
{
	in_each_layout(expect_no_start);
}

static void expect_start(enum ht_layout layout, bool big, bool event)
{
	static const struct ht_field_desc number = { "uint32_t", "n", 4, HT_UNSIGNED };
	struct ht_build b;
	const size_t damage = make_damaged(&b, layout, big);
	const size_t second = ht_endianness(&b);

	if (event) {
		b.list_base = false;
		ht_describe(&b, HT_ID_OWN, "Own", NULL, NULL, 0);
		ht_event(&b, HT_ID_OWN, 3000);
	} else {
		ht_describe(&b, HT_ID_OWN, "Own", NULL, &number, 1);
	}
	for (size_t step = 0; step < 200; step += 67) {
		struct recovered r;
		recover_bytes(&r, format_by_name("htdump"), true, (const char *)b.p, b.n, step);
		cr_expect_eq(r.n, b.n - (second - damage));
		cr_expect_eq(r.gaps, 1);
		recovered_free(&r);
	}
	ht_free(&b);
}

static void expect_starts(enum ht_layout layout, bool big)
{
	expect_start(layout, big, false);
	expect_start(layout, big, true);
}

Test(htdump_recover, dump_that_was_appended)
{
	in_each_layout(expect_starts);
}
