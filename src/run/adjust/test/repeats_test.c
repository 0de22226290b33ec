#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/trace_engine.h"
#include "model/value.h"
#include "run/adjust/adjust.h"

/* Texts that are repeated by reference: whole up to a bound, then cut and counted. */

#define MANY (1U << 20)

struct rig {
	struct trace trace;
	struct ledger ledger;
	struct repeats repeats;
	struct batch batch;
	char *text; /* MANY times an "x", then a NUL */
};

static void begin(struct rig *g, uint64_t factor)
{
	*g = (struct rig){ .text = malloc(MANY + 1) };
	trace_init(&g->trace);
	repeats_init(&g->repeats, &g->trace, factor, &g->ledger, NULL);
	cr_assert(g->text != NULL && batch_init(&g->batch, 8, false));
	memset(g->text, 'x', MANY);
	g->text[MANY] = '\0';
}

static void finish(struct rig *g)
{
	repeats_free(&g->repeats);
	ledger_free(&g->ledger);
	batch_free(&g->batch);
	trace_free(&g->trace);
	free(g->text);
}

static struct slice text_of(const struct rig *g, uint32_t n)
{
	return (struct slice){ g->text, n, SLICE_UTF8 | SLICE_JSON };
}

/* Fills the batch with one event of this name, with this field. */
static struct event *event(struct rig *g, struct slice name, struct slice category, struct field f)
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

static uint64_t lost(const struct rig *g, const char *id)
{
	for (size_t i = 0; i < g->ledger.n; i++)
		if (strcmp(g->ledger.rows[i].loss->id, id) == 0)
			return g->ledger.rows[i].count;
	return 0;
}

/* Returns how often a text of n bytes passes unchanged. */
static uint64_t passes(struct rig *g, uint32_t n, uint64_t read)
{
	for (uint64_t i = 0;; i++) {
		struct event *const e =
		    event(g, text_of(g, n), SLICE_LIT("c"), (struct field){ .value = value_u64(1) });
		cr_assert(repeats_batch(&g->repeats, &g->batch, read));
		if (e->name.n != n)
			return i;
	}
}

/* The cost of the event of passes() besides its name: "class" twice and the number. */
#define BESIDE (5 + 1 + COST_EVENT + COST_VALUE)

/* All parts of events share 64 MiB; the rest of the bound is for texts only. */
Test(repeats, long_texts_pass_up_to_the_bound)
{
	struct rig g;

	begin(&g, 0);
	cr_expect_eq(passes(&g, MANY, 0), 63, "64 MiB, of which other things take some");
	cr_expect_eq(g.batch.events[0].name.n, REPEATS_SHORT, "cut, as there is room for that");
	cr_expect_eq(passes(&g, MANY, 10 * MANY), 10 * REPEATS_FACTOR);
	cr_expect_eq(lost(&g, "repeats/text-cut"), 2);
	finish(&g);
	begin(&g, 3);
	cr_expect_eq(passes(&g, MANY, 10 * MANY), 64 + 30 - 1);
	finish(&g);
}

/* Without any allowance, texts are cut at 16 bytes, which count as well: later texts do not pass sooner. */
Test(repeats, nothing_is_left)
{
	struct rig g;

	begin(&g, 1);
	const uint64_t n = passes(&g, 200, 0);
	cr_expect_eq(n, (64 << 20) / (200 + BESIDE));
	cr_expect_eq(g.batch.events[0].name.n, REPEATS_LEAST);
	cr_expect_eq(lost(&g, "repeats/short-cut"), 1);
	cr_expect_eq(lost(&g, "repeats/text-cut"), 0);
	for (int i = 0; i < 1000; i++) {
		event(&g, text_of(&g, 200), SLICE_LIT("c"), (struct field){ .value = value_u64(1) });
		cr_assert(repeats_batch(&g.repeats, &g.batch, 0));
	}
	const uint64_t min = REPEATS_LEAST + BESIDE, whole = 200 + BESIDE;
	const uint64_t spent = n * whole + 1001 * min;
	cr_expect_eq(g.repeats.spent.all, spent);
	const uint64_t needed = (spent - (64 << 20)) / (1 + REPEATS_REST) + 1;
	cr_expect_eq(passes(&g, 200, needed), 0, "all was spent in advance");
	finish(&g);
}

/* Events without long texts: their other bytes have a limit of their own. */
Test(repeats, many_small_events)
{
	struct rig g;

	begin(&g, 1);
	cr_expect_eq(passes(&g, 100, 1000 * 100),
	             (100000 * (1 + REPEATS_REST) + (64 << 20)) / (100 + BESIDE));
	cr_expect_eq(g.batch.events[0].name.n, REPEATS_LEAST);
	finish(&g);
}

/* As they are written. */
Test(repeats, bytes_with_escapes_count_more)
{
	struct rig g;

	begin(&g, 1);
	memset(g.text, 1, MANY);
	event(&g, (struct slice){ g.text, MANY, SLICE_UTF8 }, SLICE_LIT("c"),
	      (struct field){ .value = value_u64(1) });
	cr_assert(repeats_batch(&g.repeats, &g.batch, 0));
	cr_expect_eq(g.repeats.spent.texts, COST_ESCAPED * MANY + 5 + 1);
	for (int i = 0; i < 10; i++) {
		event(&g, (struct slice){ g.text, MANY, SLICE_UTF8 }, SLICE_LIT("c"),
		      (struct field){ .value = value_u64(1) });
		cr_assert(repeats_batch(&g.repeats, &g.batch, 0));
	}
	cr_expect_eq(g.batch.events[0].name.n, REPEATS_SHORT / COST_ESCAPED);
	finish(&g);
}

Test(repeats, prefixes)
{
	static const struct {
		const char *text;
		uint32_t flags, max, n;
	} rows[] = {
		{ "0123456789", SLICE_UTF8 | SLICE_JSON, 10, 10 },
		{ "0123456789", SLICE_UTF8 | SLICE_JSON, 9, 9 },
		{ "a\"b\"cde", SLICE_UTF8, 7, 5 },
		{ "a\\\\\\cd", SLICE_UTF8, 9, 3 },
		{ "a\tb\tc", SLICE_UTF8, 8, 3 },
		{ "caf\xc3\xa9s", SLICE_UTF8, 16, 6 },
		{ "caf\xc3\xa9s", SLICE_UTF8, 8, 3 },
		{ "ab\xff\xff\xff", 0, 18, 3 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct slice s = { rows[i].text, (uint32_t)strlen(rows[i].text), rows[i].flags };
		cr_expect_eq(cost_prefix(s, rows[i].max), rows[i].n, "row %zu: %u", i,
		             cost_prefix(s, rows[i].max));
	}
}

/* Uses up the allowance. */
static void spend_all(struct rig *g)
{
	g->repeats.spent = (struct cost){ .texts = REPEATS_FREE, .all = REPEATS_FREE };
}

/* Fields are cut, and the category, which makes another class. */
Test(repeats, all_places_are_cut)
{
	struct rig g;

	begin(&g, 1);
	spend_all(&g);
	const struct value texts[] = { value_string(text_of(&g, 300)), value_u64(5) };
	struct value list = { .type = VALUE_LIST, .count = 2, .values = texts };
	struct event *const e =
	    event(&g, text_of(&g, 3), text_of(&g, MANY), (struct field){ text_of(&g, MANY), list });
	const struct class *const before = e->cls;
	cr_assert(repeats_batch(&g.repeats, &g.batch, 1000));
	const struct field *const f = g.batch.fields;
	cr_expect_eq(e->name.n, 3);
	cr_expect_eq(f->name.n, REPEATS_SHORT);
	cr_expect(f->value.values != texts && texts[0].count == 300, "what others may look at stays");
	cr_expect(f->value.count == 2 && f->value.values[0].count == REPEATS_SHORT &&
	          f->value.values[1].u64 == 5);
	cr_expect(e->cls != before && e->cls->planned && slice_is(e->cls->name, "class") &&
	          e->cls->category.n == REPEATS_LEAST && before->category.n == MANY);
	cr_expect_eq(lost(&g, "repeats/text-cut"), 3);
	finish(&g);
}

Test(repeats, names_of_tracks)
{
	struct rig g;

	begin(&g, 1);
	const struct track *const process = trace_add_process(&g.trace, text_of(&g, MANY)),
	                          *const thread = trace_add_thread(&g.trace, process, 1, text_of(&g, 300));
	const struct event *last;
	uint32_t n = 0;
	do {
		event(&g, text_of(&g, 3), SLICE_LIT("c"), (struct field){ .value = value_u64(1) })->track =
		    thread;
		cr_assert(repeats_batch(&g.repeats, &g.batch, 1000));
		last = &g.batch.events[g.batch.n - 1];
	} while ((last->flags & EVENT_SHORT) == 0 && n++ < 100);
	cr_expect_eq(n, 63, "of 64 MiB");
	cr_expect(event_track_name(last, process).n == EVENT_SHORT_NAME &&
	          event_track_name(last, thread).n == EVENT_SHORT_NAME);
	cr_expect_eq(event_track_name(NULL, process).n, MANY);
	cr_expect_eq(lost(&g, "repeats/text-cut"), 1);
	const uint64_t spent = g.repeats.spent.all;
	cr_assert(repeats_batch(&g.repeats, &g.batch, 1000));
	cr_expect_lt(g.repeats.spent.all - spent, 1000);
	finish(&g);
}

/* Limits the event again after these bytes were read; returns its field. */
static const struct field *with_field(struct rig *g, struct value v, uint64_t read)
{
	event(g, text_of(g, 3), SLICE_LIT("c"), (struct field){ text_of(g, 1), v });
	cr_assert(repeats_batch(&g->repeats, &g->batch, read));
	return g->batch.fields;
}

Test(repeats, lists)
{
	struct value *const numbers = calloc(MANY, sizeof *numbers);
	struct value list = { .type = VALUE_LIST, .element = VALUE_U8, .count = MANY, .values = numbers };
	struct rig g;

	begin(&g, 1);
	for (unsigned i = 0; i < 10; i++)
		cr_expect_eq(with_field(&g, list, 0)->value.count, MANY, "6 MiB each");
	cr_expect_eq(with_field(&g, list, 0)->value.count, REPEATS_ENTRIES);
	cr_expect_eq(lost(&g, "repeats/list-cut"), 1);
	spend_all(&g);
	cr_expect_eq(with_field(&g, list, 0)->value.count, REPEATS_FEW);
	list.count = REPEATS_FEW + 1;
	cr_expect_eq(with_field(&g, list, 0)->value.count, REPEATS_FEW);
	list.type = VALUE_MAP;
	list.count = 3;
	cr_expect_eq(with_field(&g, list, 0)->value.count, REPEATS_FEW / 2);
	list.count = 1;
	cr_expect_eq(with_field(&g, list, 0)->value.count, 1);
	finish(&g);
	free(numbers);
}

/* Short texts in short lists: the frames of a call stack. */
Test(repeats, lists_of_texts)
{
	struct value frames[200];
	struct rig g;
	uint64_t n = 0;

	begin(&g, 1);
	for (unsigned i = 0; i < 200; i++)
		frames[i] = value_string(text_of(&g, 250));
	const struct value list = {
		.type = VALUE_LIST, .element = VALUE_STRING, .count = 200, .values = frames
	};
	while (n < 10000 && with_field(&g, list, 1 << 20)->value.count == 200)
		n++;
	cr_expect_eq(n, (65 << 20) / (200 * (250 + COST_VALUE) + 3 + 5 + 1 + 1));
	cr_expect_eq(lost(&g, "repeats/list-cut") + lost(&g, "repeats/short-cut"), 5,
	             "the list, and four texts");
	finish(&g);
}

/* Little allowance is left for texts, and much for the rest: measuring the list ends early, and the list
 * is cut. */
Test(repeats, lists_that_are_looked_at_in_part)
{
	struct value frames[200];
	struct rig g;

	begin(&g, 1);
	for (unsigned i = 0; i < 200; i++)
		frames[i] = value_string(text_of(&g, 250));
	const struct value list = {
		.type = VALUE_LIST, .element = VALUE_STRING, .count = 200, .values = frames
	};
	g.repeats.spent.texts = REPEATS_FREE - 1000;
	cr_expect_eq(with_field(&g, list, 0)->value.count, REPEATS_FEW);
	cr_expect_gt(g.repeats.spent.texts, REPEATS_FREE - 1000);
	finish(&g);
}

/* Values that are measured again and again, and are too large each time, use up the allowance. */
Test(repeats, looking_in_vain_is_not_free)
{
	struct value *const numbers = calloc(MANY, sizeof *numbers);
	struct value list = { .type = VALUE_LIST, .element = VALUE_U8, .count = MANY, .values = numbers };
	struct rig g;
	unsigned n = 0;

	begin(&g, 1);
	g.repeats.spent.texts = REPEATS_FREE - MANY;
	for (; g.repeats.spent.texts < REPEATS_FREE && n < 1000; n++)
		(void)with_field(&g, list, 0);
	cr_expect_leq(n, 200);
	finish(&g);
	free(numbers);
}

Test(repeats, json)
{
	struct value json = { .type = VALUE_JSON, .count = MANY };
	struct rig g;

	begin(&g, 1);
	spend_all(&g);
	json.p = g.text;
	const struct field *const f = with_field(&g, json, 1000);
	cr_expect(f->value.type == VALUE_STRING && f->value.count == REPEATS_SHORT);
	json.type = VALUE_BYTES;
	cr_expect_eq(with_field(&g, json, 2000)->value.count, REPEATS_SHORT / 2);
	finish(&g);
}

/* A character is not cut in two. */
Test(repeats, characters_stay_whole)
{
	struct rig g;

	begin(&g, 1);
	spend_all(&g);
	memcpy(g.text + 254, "\xc3\xa9", 2);
	struct event *const e = event(&g, (struct slice){ g.text, 300, SLICE_UTF8 }, SLICE_LIT("c"),
	                              (struct field){ .value = value_u64(1) });
	cr_assert(repeats_batch(&g.repeats, &g.batch, 1000));
	cr_expect_eq(e->name.n, 254);
	finish(&g);
}

/* How often a list of 100 texts of a letter passes whole. */
static uint64_t lists_pass(const struct anonymise *anonymise)
{
	struct rig g;
	struct value texts[100];
	uint64_t n = 0;

	begin(&g, 0);
	repeats_init(&g.repeats, &g.trace, 0, &g.ledger, anonymise);
	for (size_t i = 0; i < 100; i++)
		texts[i] = value_string(text_of(&g, 1));
	const struct value list = {
		.type = VALUE_LIST, .element = VALUE_STRING, .count = 100, .values = texts
	};
	do {
		event(&g, text_of(&g, 1), SLICE_LIT("c"),
		      (struct field){ .name = text_of(&g, 1), .value = list });
		cr_assert(repeats_batch(&g.repeats, &g.batch, 0));
		n++;
	} while (
	    lost(&g, "repeats/list-cut") + lost(&g, "repeats/text-cut") + lost(&g, "repeats/short-cut") == 0);
	finish(&g);
	return n;
}

/* Short texts grow when they become pseudonyms: that is counted. */
Test(repeats, pseudonyms_count_as_they_are_written)
{
	const struct anonymise plain = { .keep_paths = false }, paths = { .keep_paths = true };
	const uint64_t as_is = lists_pass(NULL), words = lists_pass(&plain), parts = lists_pass(&paths);

	cr_expect_gt(as_is, 2 * words, "%" PRIu64 " and %" PRIu64, as_is, words);
	cr_expect_gt(words, parts);
	cr_expect_gt(parts * 100 * 20, 32 << 20, "not a small fraction of 64 MiB");
}
