/*
 * The writer over generated events: hostile names, overlaps, equal times, and more stacks than the limits
 * allow.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/registry.h"
#include "run/write/test/writer_rig_test.h"
#include "test/support/splitmix.h"

struct made_span {
	uint64_t start, dur;
	char name[16];
};

struct made {
	void (*fill)(struct made *m, struct batch *b, uint32_t number);
	uint32_t batches;
	const struct track *track;
	const struct class *cls;
	struct made_span *spans; /* for add_random() */
};

static bool fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	struct made *const m = ctx;

	if (number == 0) {
		const struct track *const process = trace_add_process(trace, SLICE_LIT("#p;q"));
		m->track = trace_add_thread(trace, process, 1, SLICE_LIT("t"));
		m->cls = trace_add_class(trace, SLICE_LIT("cls"));
	}
	if (number < m->batches)
		m->fill(m, b, number);
	return number < m->batches;
}

static void add_span(struct made *m, struct batch *b, uint64_t ts, uint64_t dur, struct slice name)
{
	struct event *const e = writer_rig_event(b, m->cls, m->track, ts, name);

	e->phase = PHASE_SPAN;
	e->dur = dur;
}

static void run(struct writer_rig *r, struct made *m)
{
	writer_rig_run_all(
	    r, &(struct writer_rig_job){ .to = format_by_name("folded"), .fill = fill, .ctx = m });
	cr_assert(r->written);
}

/* ---- names ---- */

static void add_hostile(struct made *m, struct batch *b, uint32_t number)
{
	static const char *const names[] = { "a;b", "a\nb 1",        "",   "x 12", "x 1.5",
		                             "12",  "\xff\x1b[2J\\", "# x" };

	for (uint64_t i = 0; i < 8; i++)
		add_span(m, b, 10 * i, 5, slice_str(names[i]));
}

Test(folded_made, names_do_not_break_lines)
{
	static const char want[] = "\\x23p\\x3bq;t;a\\x3bb 5\n"
	                           "\\x23p\\x3bq;t;a\\x0ab_1 5\n"
	                           "\\x23p\\x3bq;t;(no name) 5\n"
	                           "\\x23p\\x3bq;t;x_12 5\n"
	                           "\\x23p\\x3bq;t;x_1.5 5\n"
	                           "\\x23p\\x3bq;t;12 5\n"
	                           "\\x23p\\x3bq;t;\\xff\\x1b[2J\\\\ 5\n"
	                           "\\x23p\\x3bq;t;\\x23 x 5\n";
	struct made m = { .fill = add_hostile, .batches = 1 };
	struct writer_rig r;

	run(&r, &m);
	cr_expect_str_eq(writer_rig_text(&r, NULL), want);
	writer_rig_free(&r);
}

/* ---- times ---- */

static void add_nested(struct made *m, struct batch *b, uint32_t number)
{
	add_span(m, b, 10, 5, number == 0 ? SLICE_LIT("first") : SLICE_LIT("second"));
	if (number == 0) {
		add_span(m, b, 12, 0, SLICE_LIT("nothing"));
		add_span(m, b, 20, 100, SLICE_LIT("outer"));
		add_span(m, b, 30, 20, SLICE_LIT("one"));
		add_span(m, b, 40, 30, SLICE_LIT("other"));
		add_span(m, b, UINT64_MAX - 3, 100, SLICE_LIT("end"));
		writer_rig_event(b, m->cls, m->track, 4, SLICE_LIT("instant"));
	}
}

Test(folded_made, time_counts_once)
{
	static const char want[] = "\\x23p\\x3bq;t;second;first 5\n"
	                           "\\x23p\\x3bq;t;second;first;nothing 0\n"
	                           "\\x23p\\x3bq;t;outer 60\n"
	                           "\\x23p\\x3bq;t;outer;one 20\n"
	                           "\\x23p\\x3bq;t;outer;other 30\n"
	                           "\\x23p\\x3bq;t;end 3\n";
	struct made m = { .fill = add_nested, .batches = 2 };
	struct writer_rig r;

	run(&r, &m);
	cr_expect_str_eq(writer_rig_text(&r, NULL), want);
	cr_expect_eq(writer_rig_lost(&r, "folded/no-duration"), 1);
	writer_rig_free(&r);
}

/* ---- random spans, against a slow algorithm ---- */

#define SPANS 300

static bool is_within(const struct made_span *s, size_t a, size_t b)
{
	const uint64_t a_end = s[a].start + s[a].dur, b_end = s[b].start + s[b].dur;

	if (s[a].start == s[b].start && a_end == b_end)
		return a < b; /* the later one is around the earlier one */
	return s[b].start <= s[a].start && a_end <= b_end;
}

/* Counts the nanoseconds of span i that no span within it covers, one by one. */
static uint64_t slow_self(const struct made_span *s, size_t i)
{
	uint64_t self = 0;

	for (uint64_t t = s[i].start; t < s[i].start + s[i].dur; t++) {
		bool covered = false;
		for (size_t j = 0; j < SPANS && !covered; j++)
			covered =
			    j != i && s[j].start <= t && t < s[j].start + s[j].dur && is_within(s, j, i);
		self += !covered;
	}
	return self;
}

static void add_random(struct made *m, struct batch *b, uint32_t number)
{
	for (uint32_t i = 30 * number; i < 30 * (number + 1); i++)
		add_span(m, b, m->spans[i].start, m->spans[i].dur, slice_str(m->spans[i].name));
}

static uint64_t sum_of_lines(const char *lines, const char *name)
{
	const size_t n = strlen(name);
	uint64_t sum = 0;

	for (const char *p = lines, *end; *p != '\0'; p = end + 1) {
		end = p + strcspn(p, "\n");
		const char *leaf = end, *space;
		while (*leaf != ';')
			leaf--;
		space = leaf + 1 + strcspn(leaf + 1, " \n");
		if ((size_t)(space - leaf - 1) == n && memcmp(leaf + 1, name, n) == 0)
			sum += strtoull(space, NULL, 10);
	}
	return sum;
}

Test(folded_made, any_spans_have_the_self_time_of_the_slow_way)
{
	struct made_span spans[SPANS];

	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct made m = { .fill = add_random, .batches = SPANS / 30, .spans = spans };
		struct writer_rig r;
		uint64_t state = seed;
		for (size_t i = 0; i < SPANS; i++) {
			spans[i].start = splitmix_next(&state) % (seed < 4 ? 60 : 600);
			spans[i].dur = splitmix_next(&state) % (seed % 2 == 0 ? 12 : 40);
			(void)snprintf(spans[i].name, sizeof spans[i].name, "s%zu", i);
		}
		run(&r, &m);
		const bool all = writer_rig_lost(&r, "folded/overlap") == 0;
		cr_expect(all || seed < 4);
		for (size_t i = 0; i < SPANS && all; i++)
			cr_expect_eq(sum_of_lines(writer_rig_text(&r, NULL), spans[i].name),
			             slow_self(spans, i), "seed %d, span %zu: %d", (int)seed, i,
			             (int)sum_of_lines(writer_rig_text(&r, NULL), spans[i].name));
		writer_rig_free(&r);
	}
}

/* ---- limits ---- */

static void add_many(struct made *m, struct batch *b, uint32_t number)
{
	if (number == 0)
		add_span(m, b, 0, 1000000000, SLICE_LIT("all"));
	for (uint32_t i = 0; i < 100; i++) {
		char *const name = arena_alloc(&b->scratch, 1000);
		memset(name, 'n', 1000);
		name[snprintf(name, 16, "%u", number * 100 + i)] = '-';
		add_span(m, b, 10 * ((uint64_t)number * 100 + i), 5, slice_of(name, 1000));
	}
}

/* 40,000 names of 1,000 bytes, each with its escaped text, exceed FOLDED_TREE_MAX. */
Test(folded_made, a_full_table_is_written_and_goes_on)
{
	struct made m = { .fill = add_many, .batches = 400 };
	struct writer_rig r;
	uint64_t lines = 0, sum = 0, all = 0;

	writer_rig_run(&r,
	               &(struct writer_rig_job){ .to = format_by_name("folded"), .fill = fill, .ctx = &m });
	cr_assert(r.written);
	for (const char *p = writer_rig_text(&r, NULL); *p != '\0'; p = strchr(p, '\n') + 1, lines++) {
		const char *const end = strchr(p, '\n');
		const char *space = end;
		while (*space != ' ')
			space--;
		sum += strtoull(space, NULL, 10);
		all += memcmp(space - 4, ";all", 4) == 0;
	}
	cr_expect_eq(lines, 40001);
	cr_expect_eq(sum, 1000000000);
	cr_expect_eq(all, 1);
	writer_rig_free(&r);
}

static void add_deep(struct made *m, struct batch *b, uint32_t number)
{
	for (uint64_t i = 0; i < 100; i++)
		add_span(m, b, 100 * (uint64_t)number + i, 20000 - 2 * (100 * (uint64_t)number + i),
		         SLICE_LIT("d"));
}

Test(folded_made, stacks_are_cut_at_their_depth)
{
	struct made m = { .fill = add_deep, .batches = 42 };
	struct writer_rig r;

	run(&r, &m);
	cr_expect_eq(writer_rig_lost(&r, "folded/too-deep"), 4200 - 4096);
	cr_expect_eq(sum_of_lines(writer_rig_text(&r, NULL), "d"), 20000);
	writer_rig_free(&r);
}

/* Functions with the same name in two categories are one frame. */
static void add_modules(struct made *m, struct batch *b, uint32_t number)
{
	static const struct class classes[] = {
		{ .name = SLICE_LIT("1"), .category = SLICE_LIT("one") },
		{ .name = SLICE_LIT("2"), .category = SLICE_LIT("other") },
		{ .name = SLICE_LIT("run"), .category = SLICE_LIT("run") },
		{ .name = SLICE_LIT("4"), .category = SLICE_LIT("no category") },
		{ .name = SLICE_LIT("5"), .category = SLICE_LIT("") },
	};

	for (uint64_t i = 0; i < sizeof classes / sizeof *classes; i++) {
		add_span(m, b, 1000 * (uint64_t)number + 10 * i, 5, SLICE_LIT("run"));
		b->events[b->n - 1].cls = &classes[i];
	}
}

Test(folded_made, categories_are_lost)
{
	struct made m = { .fill = add_modules, .batches = 2 };
	struct writer_rig r;

	run(&r, &m);
	cr_expect_eq(writer_rig_lost(&r, "folded/category"), 4);
	cr_expect_eq(sum_of_lines(writer_rig_text(&r, NULL), "run"), 50);
	writer_rig_free(&r);
}

Test(folded_made, nothing_in_nothing_out)
{
	struct made m = { .fill = add_deep, .batches = 0 };
	struct writer_rig r;

	run(&r, &m);
	cr_expect_eq(r.bytes, 0);
	writer_rig_free(&r);
}
