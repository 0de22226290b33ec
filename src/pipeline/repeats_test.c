#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "event/batch_pool.h"
#include "event/value.h"
#include "pipeline/repeats.h"

/* Texts that are repeated by reference: whole up to a bound, then cut and counted. */

#define MANY (1U << 20)

struct rig {
	struct trace trace;
	struct ledger ledger;
	struct repeats repeats;
	struct batch batch;
	char *text; /* MANY times an "x", then a NUL */
};

static void
begin(struct rig *g, uint64_t factor)
{
	*g = (struct rig){ .text = malloc(MANY + 1) };
	trace_init(&g->trace);
	repeats_init(&g->repeats, &g->trace, factor, &g->ledger);
	cr_assert(g->text != NULL && batch_init(&g->batch, 8, false));
	memset(g->text, 'x', MANY);
	g->text[MANY] = '\0';
}

static void
finish(struct rig *g)
{
	repeats_free(&g->repeats);
	ledger_free(&g->ledger);
	batch_free(&g->batch);
	trace_free(&g->trace);
	free(g->text);
}

static struct slice
text_of(const struct rig *g, uint32_t n)
{
	return (struct slice){ g->text, n, SLICE_UTF8 | SLICE_JSON };
}

/* The batch anew: one event of this name and with this field. */
static struct event *
event(struct rig *g, struct slice name, struct slice category, struct field f)
{
	const struct class like = { .name = SLICE_LIT("class"), .category = category };

	batch_recycle(&g->batch);
	g->batch.events[0] = (struct event){
		.name = name, .cls = trace_plan_class(&g->trace, &like), .nfields = 1, .offset = 7
	};
	g->batch.fields[0] = f;
	g->batch.n = g->batch.nfields = 1;
	return g->batch.events;
}

static uint64_t
lost(const struct rig *g, const char *id)
{
	for (size_t i = 0; i < g->ledger.n; i++)
		if (strcmp(g->ledger.rows[i].loss->id, id) == 0)
			return g->ledger.rows[i].count;
	return 0;
}

/* How often a text of n bytes passes whole. */
static uint64_t
passes(struct rig *g, uint32_t n, uint64_t read)
{
	for (uint64_t i = 0;; i++) {
		struct event *const e =
		    event(g, text_of(g, n), SLICE_LIT("c"), (struct field){ .value = value_u64(1) });
		cr_assert(repeats_batch(&g->repeats, &g->batch, read));
		if (e->name.n != n)
			return i;
	}
}

Test(repeats, long_texts_pass_up_to_the_bound)
{
	struct rig g;

	begin(&g, 0);
	cr_expect_eq(passes(&g, MANY, 0), 64);
	cr_expect_eq(g.batch.events[0].name.n, REPEATS_LEAST, "nothing at all is left");
	cr_expect_eq(passes(&g, MANY, 10 * MANY), 10 * REPEATS_FACTOR);
	cr_expect_eq(lost(&g, "repeats/text-cut"), 2);
	finish(&g);
	begin(&g, 3);
	cr_expect_eq(passes(&g, MANY, 10 * MANY + 100), 64 + 30);
	cr_expect_eq(g.batch.events[0].name.n, REPEATS_SHORT, "300 bytes are left");
	finish(&g);
}

Test(repeats, short_texts_pass_up_to_the_bound)
{
	struct rig g;

	begin(&g, 1);
	cr_expect_eq(passes(&g, 256, 1000 * 256), 1000 + (64 << 20) / 256);
	cr_expect_eq(g.batch.events[0].name.n, REPEATS_LEAST);
	cr_expect_eq(lost(&g, "repeats/short-cut"), 1);
	finish(&g);
}

/* The fields, and the category, of which the class is another one then. */
Test(repeats, all_places_are_cut)
{
	struct rig g;

	begin(&g, 1);
	(void)passes(&g, MANY, 0);
	const struct value texts[] = { value_string(text_of(&g, 300)), value_u64(5) };
	struct value list = { .type = VALUE_LIST, .count = 2, .values = texts };
	struct event *const e =
	    event(&g, text_of(&g, 3), text_of(&g, MANY), (struct field){ text_of(&g, MANY), list });
	const struct class *const before = e->cls;
	cr_assert(repeats_batch(&g.repeats, &g.batch, 500));
	const struct field *const f = g.batch.fields;
	cr_expect_eq(e->name.n, 3);
	cr_expect_eq(f->name.n, REPEATS_SHORT);
	cr_expect(f->value.values != texts && texts[0].count == 300, "what others may look at stays");
	cr_expect(f->value.count == 2 && f->value.values[0].count == REPEATS_LEAST &&
	          f->value.values[1].u64 == 5);
	cr_expect(e->cls != before && e->cls->planned && slice_is(e->cls->name, "class") &&
	          e->cls->category.n == REPEATS_LEAST && before->category.n == MANY);
	finish(&g);
}

Test(repeats, lists_and_json)
{
	struct value *const numbers = calloc(MANY, sizeof *numbers);
	struct value list = { .type = VALUE_LIST, .element = VALUE_U8, .count = MANY, .values = numbers };
	const struct value json = { .type = VALUE_JSON, .count = MANY };
	struct rig g;

	begin(&g, 1);
	for (unsigned i = 0; i < 4; i++) {
		event(&g, text_of(&g, 3), SLICE_LIT("c"), (struct field){ text_of(&g, 1), list });
		cr_assert(repeats_batch(&g.repeats, &g.batch, 0));
		cr_expect_eq(g.batch.fields->value.count, MANY, "16 MiB each");
	}
	event(&g, text_of(&g, 3), SLICE_LIT("c"), (struct field){ text_of(&g, 1), list });
	cr_assert(repeats_batch(&g.repeats, &g.batch, 0));
	cr_expect_eq(g.batch.fields->value.count, REPEATS_ENTRIES);
	cr_expect_eq(lost(&g, "repeats/list-cut"), 1);
	event(&g, text_of(&g, 3), SLICE_LIT("c"), (struct field){ text_of(&g, 1), json });
	g.batch.fields->value.p = g.text;
	cr_assert(repeats_batch(&g.repeats, &g.batch, 1000));
	cr_expect(g.batch.fields->value.type == VALUE_STRING && g.batch.fields->value.count == REPEATS_SHORT);
	finish(&g);
	free(numbers);
}

/* A character is not cut in two. */
Test(repeats, characters_stay_whole)
{
	struct rig g;

	begin(&g, 1);
	(void)passes(&g, MANY, 0);
	memcpy(g.text + 255, "\xc3\xa9", 2);
	struct event *const e = event(&g, (struct slice){ g.text, 300, SLICE_UTF8 }, SLICE_LIT("c"),
	                              (struct field){ .value = value_u64(1) });
	cr_assert(repeats_batch(&g.repeats, &g.batch, 280));
	cr_expect_eq(e->name.n, 255);
	finish(&g);
}
