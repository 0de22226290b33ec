#include "out/facts.h"

#include <criterion/criterion.h>

static struct field meta[2] = {
	{ .name = SLICE_LIT("host"), .value = { .type = VALUE_BOOL, .u64 = 1 } },
	{ .name = SLICE_LIT("tool"), .value = { .type = VALUE_U64, .u64 = 5 } },
};
static const struct loss loss = { .id = "a/b" };
static struct ledger_row rows[1] = { { .loss = &loss, .count = 3 } };

static struct trace make_trace(void)
{
	return (struct trace){ .format = "f",
		               .dialect = "",
		               .clock = "unix",
		               .epoch_known = true,
		               .epoch_ns = 9,
		               .records = 7,
		               .events = 6,
		               .meta = meta,
		               .nmeta = 2 };
}

/* "name=value name=value ", with a question mark for values that are no text. */
static void list(const struct run_facts *w, unsigned kinds, struct text *t)
{
	struct facts facts = facts_of(w, kinds);
	struct fact f;

	text_clear(t);
	while (facts_next(&facts, &f)) {
		text_slice(t, f.name);
		text_char(t, '=');
		if (!fact_put_text(t, &f))
			text_char(t, '?');
		text_char(t, ' ');
	}
	cr_assert_not(facts_next(&facts, &f), "the end is the end");
	text_char(t, '\0');
}

Test(out_facts, all_in_order_without_unknown_ones)
{
	const struct trace trace = make_trace();
	const struct ledger total = { .rows = rows, .n = 1 };
	struct run_facts w = { .trace = &trace, .tool = "t", .total = &total };
	struct text t = { .p = NULL };

	list(&w, ~0U, &t);
	cr_assert_str_eq(t.p,
	                 "tool=t format=f clock=unix epoch_ns=9 records=7 events=6 host=? tool=? a/b=3 ");
	w.rebased = true;
	w.rebased_by = UINT64_MAX;
	list(&w, FACTS_OF(FACT_REBASED_BY) | FACTS_OF(FACT_LOSS), &t);
	cr_assert_str_eq(t.p, "rebased_by_ns=18446744073709551615 a/b=3 ");
	list(&w, FACTS_TEXTS, &t);
	cr_assert_str_eq(t.p, "tool=t format=f clock=unix ");
	list(&w, 0, &t);
	cr_assert_str_eq(t.p, "");
	text_free(&t);
}

Test(out_facts, index_counts_those_of_a_kind)
{
	const struct trace trace = make_trace();
	const struct ledger total = { .rows = rows, .n = 1 };
	const struct run_facts w = { .trace = &trace, .tool = "t", .total = &total };
	struct facts facts = facts_of(&w, FACTS_OF(FACT_CLOCK) | FACTS_OF(FACT_TRACE) | FACTS_OF(FACT_LOSS));
	const struct {
		enum fact_kind kind;
		uint32_t index;
	} want[] = { { FACT_CLOCK, 0 }, { FACT_TRACE, 0 }, { FACT_TRACE, 1 }, { FACT_LOSS, 0 } };
	struct fact f;

	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		cr_assert(facts_next(&facts, &f));
		cr_assert_eq(f.kind, want[i].kind);
		cr_assert_eq(f.index, want[i].index);
	}
	cr_assert_not(facts_next(&facts, &f));
}
