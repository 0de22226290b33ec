#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "run/write/test/writer_rig_test.h"

/* Batches become bytes: order, text before events, losses, failures, the end of the document. */

static const struct loss odd = { .id = "toy/odd", .text = "odd times" },
                         third = { .id = "toy/third", .text = "times that three divides" };

/* ---- a toy writer: "<(1,2,3,(4,5,6,> 2 losses", with a bracket before each batch ---- */

static bool toy_open(struct writer *w, struct chunk *chunk)
{
	text_str(&chunk->text, "<");
	return true;
}

static bool toy_declare(struct writer *w, const struct batch *b, struct chunk *chunk)
{
	for (uint32_t i = 0; i < b->ntracks; i++) {
		cr_assert_null(b->tracks[i]->declared);
		b->tracks[i]->declared = b->tracks[i]->name.p;
	}
	text_str(&chunk->text, b->n > 0 ? "(" : "");
	return true;
}

/* Batches of different cost, which several threads finish out of order. */
static void waste_time(uint64_t n)
{
	volatile uint64_t x = n % 5 == 0 ? 30000 : 10;

	while (x > 0)
		x--;
}

static void toy_events(const struct batch *b, struct chunk *chunk)
{
	if (b->n > 0)
		waste_time(b->events[0].ts);
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		cr_assert_not_null(e->track->declared);
		text_u64(&chunk->text, e->ts);
		text_slice(&chunk->text, e->name);
		text_str(&chunk->text, ",");
		if (e->ts % 3 == 0)
			ledger_add(&chunk->ledger, &third, e->offset, 1);
		if (e->ts % 2 == 1)
			ledger_add(&chunk->ledger, &odd, e->offset, 1);
		if (e->dur == 666)
			chunk->text.failed = true;
	}
}

static void toy_render(const void *state, const struct batch *b, struct chunk *chunk)
{
	toy_events(b, chunk);
}

static void toy_write(void *state, const struct batch *b, struct chunk *chunk)
{
	toy_events(b, chunk);
}

static bool toy_close(struct writer *w, struct chunk *chunk)
{
	uint64_t lost = 0;

	text_str(&chunk->text, "> ");
	if (!chunk_flush(chunk))
		return true;
	cr_assert_eq(chunk->text.n, 0);
	for (size_t i = 0; i < w->run->total->n; i++)
		lost += w->run->total->rows[i].count;
	text_printf(&chunk->text, "%d losses", (int)lost);
	return true;
}

#define TOY .state_size = 8, .open = toy_open, .declare = toy_declare, .close = toy_close
static const struct writer_ops render_ops = { TOY, .render = toy_render };
static const struct writer_ops write_ops = { TOY, .write = toy_write };
static const struct format by_render = { .name = "render", .writer = &render_ops };
static const struct format by_write = { .name = "write", .writer = &write_ops };

/* ---- made-up events ---- */

struct made {
	uint32_t batches, events; /* of each batch */
	uint64_t fail_at;         /* number of the event whose rendering fails; 0: none */
	struct slice name;
	struct shared_memory *held; /* by each batch */
	const struct track *tracks[2];
	const struct class *cls;
};

static bool fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	struct made *const m = ctx;

	if (number == 0) {
		m->cls = trace_add_class(trace, SLICE_LIT("cls"));
		m->tracks[0] = trace_add_thread(trace, NULL, 1, SLICE_LIT("a"));
	}
	if (number == 2 || (number == 0 && m->batches < 3))
		m->tracks[1] = trace_add_thread(trace, NULL, 2, SLICE_LIT("b"));
	for (uint32_t i = 0; number < m->batches && i < m->events; i++) {
		const uint64_t n = (uint64_t)number * m->events + i + 1;
		const struct track *const t = number > 2 ? m->tracks[n % 2] : m->tracks[0];
		struct event *const e = writer_rig_event(b, m->cls, t, n, m->name);
		e->dur = n == m->fail_at ? 666 : 0;
	}
	if (m->held != NULL)
		cr_assert(batch_hold(b, m->held));
	return number < m->batches;
}

static void expected(struct text *t, const struct made *m)
{
	const uint64_t n = (uint64_t)m->batches * m->events;

	text_str(t, "<");
	for (uint64_t i = 1; i <= n; i++) {
		text_str(t, (i - 1) % m->events == 0 ? "(" : "");
		text_u64(t, i);
		text_slice(t, m->name);
		text_str(t, ",");
	}
	text_printf(t, "> %d losses", (int)(n / 3 + (n + 1) / 2));
	text_char(t, '\0');
}

static void expect_all(const struct format *to, struct made m)
{
	struct writer_rig r;
	struct text want = { .p = NULL };

	expected(&want, &m);
	writer_rig_run_all(&r, &(struct writer_rig_job){ .to = to, .fill = fill, .ctx = &m });
	cr_expect(r.written && !r.failed && !r.no_memory);
	cr_assert_eq(r.nfiles, 1);
	cr_expect_str_eq(writer_rig_text(&r, NULL), want.p);
	text_free(&want);
	writer_rig_free(&r);
}

Test(writing, chunks_come_in_order)
{
	expect_all(&by_render, (struct made){ .batches = 500, .events = 3 });
	expect_all(&by_write, (struct made){ .batches = 500, .events = 3 });
	expect_all(&by_render, (struct made){ .batches = 7, .events = 1024 });
}

Test(writing, documents_without_events_have_both_ends)
{
	expect_all(&by_render, (struct made){ .batches = 0 });
	expect_all(&by_write, (struct made){ .batches = 0 });
	expect_all(&by_render, (struct made){ .batches = 20, .events = 0 });
	expect_all(&by_render, (struct made){ .batches = 1, .events = 1 });
}

/* Texts that are output before their batch is completely rendered. */
Test(writing, long_texts_are_handed_over_in_order)
{
	enum { LONG = 100 << 10 };
	char *const name = malloc(LONG);

	cr_assert_not_null(name);
	memset(name, 'n', LONG);
	expect_all(&by_render, (struct made){ .batches = 9, .events = 11, .name = slice_of(name, LONG) });
	expect_all(&by_write, (struct made){ .batches = 3, .events = 11, .name = slice_of(name, LONG) });
	free(name);
}

Test(writing, losses_are_counted_by_kind)
{
	struct made m = { .batches = 100, .events = 10 };
	struct writer_rig r;

	writer_rig_run_all(&r, &(struct writer_rig_job){ .to = &by_render, .fill = fill, .ctx = &m });
	cr_assert_eq(r.losses.n, 2);
	cr_expect(r.losses.rows[0].loss == &odd && r.losses.rows[0].count == 500);
	cr_expect_eq(r.losses.rows[0].first_offset, 1);
	cr_expect(r.losses.rows[1].loss == &third && r.losses.rows[1].count == 333);
	cr_expect_eq(r.losses.rows[1].first_offset, 3);
	writer_rig_free(&r);
}

/* ---- failures ---- */

/* The output before the failure is the beginning of the whole, without the end of the document. */
static void expect_beginning(const struct writer_rig *r, const struct made *m)
{
	struct text want = { .p = NULL };
	const char *const got = writer_rig_text(r, NULL);

	expected(&want, m);
	cr_expect_not(r->written);
	cr_expect_eq(strncmp(got, want.p, strlen(got)), 0);
	cr_expect_null(strchr(got, '>'));
	text_free(&want);
}

Test(writing, a_failing_render_ends_the_run)
{
	static const unsigned threads[] = { 1, 2, 7 };

	for (size_t i = 0; i < 3; i++)
		for (uint64_t at = 1; at < 3000; at = at * 7 + 1) {
			struct made m = { .batches = 1000, .events = 3, .fail_at = at };
			struct writer_rig r;
			writer_rig_run(
			    &r, &(struct writer_rig_job){
			            .to = &by_render, .threads = threads[i], .fill = fill, .ctx = &m });
			cr_expect(r.no_memory && !r.failed);
			cr_expect_leq(r.bytes, 9 * at);
			expect_beginning(&r, &m);
			writer_rig_free(&r);
		}
}

Test(writing, a_failing_output_is_given_nothing_more)
{
	static const unsigned threads[] = { 1, 2, 7 };

	for (size_t i = 0; i < 3; i++)
		for (uint64_t bytes = 1; bytes < 10000; bytes = bytes * 9 + 1) {
			struct made m = { .batches = 2000, .events = 3 };
			struct writer_rig r;
			writer_rig_run(&r, &(struct writer_rig_job){ .to = &by_render,
			                                             .threads = threads[i],
			                                             .fill = fill,
			                                             .ctx = &m,
			                                             .fail_after = bytes });
			cr_expect(r.failed && !r.no_memory);
			cr_expect_eq(r.puts_after_failure, 0);
			cr_expect_leq(r.next, m.batches, "all was read although nobody wanted it");
			expect_beginning(&r, &m);
			writer_rig_free(&r);
		}
}

/* ---- memory ---- */

static void count(struct shared_memory *m)
{
	(void)m;
}

Test(writing, batches_are_released)
{
	struct shared_memory held;
	struct made m = { .batches = 300, .events = 3, .held = &held };
	struct writer_rig r;

	shared_memory_init(&held, count);
	writer_rig_run_all(&r, &(struct writer_rig_job){ .to = &by_render, .fill = fill, .ctx = &m });
	cr_expect_eq(atomic_load(&held.refs), 1);
	writer_rig_free(&r);
	m.fail_at = 500;
	writer_rig_run(&r,
	               &(struct writer_rig_job){ .to = &by_render, .threads = 3, .fill = fill, .ctx = &m });
	cr_expect_eq(atomic_load(&held.refs), 1);
	writer_rig_free(&r);
}
