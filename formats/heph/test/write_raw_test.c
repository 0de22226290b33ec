/*
 * Copies of Heph traces: damaged, joined, rebased and selected traces change only where they must, and
 * `validate` reports nothing new.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "heph/test/build.h"
#include "heph/test/oracle.h"

#define BAD "testdata/heph/bad"

/* Runs convert --to heph on one or two inputs; p: bytes for standard input. */
static struct ran to_heph(const char *option, const char *a, const char *b, const void *p, size_t n)
{
	const char *args[] = { "convert", option, "--to=heph", a, b, b != NULL ? "-o-" : "-", NULL, NULL };

	if (b == NULL) {
		args[4] = "-";
		args[5] = NULL;
	}
	return run_tool(args, p, n);
}

/* The size of a packet that reaches into the next one is corrected. */
Test(heph_write_raw, damaged_size)
{
	struct ran r = to_heph("--threads=1", BAD "/packet-too-large.bin.log", NULL, NULL, 0);
	struct ran v = run_tool((const char *const[]){ "validate", "-", NULL }, r.out, r.out_n);

	cr_expect_not_null(strstr(r.err, "[heph/damaged-packet]"), "%s", r.err);
	cr_expect_eq(v.status, 0, "%s", v.out);
	ran_free(&v);
	ran_free(&r);
}

/* ---- several inputs ---- */

/* Writes a trace of stream 1, and optionally 0, to a file; `first`: the first counter of stream 1. */
static char *make_trace(const char *dir, const char *name, uint64_t epoch, uint32_t first, bool with_shared)
{
	struct heph_build b;
	char path[1024];

	heph_init(&b);
	if (epoch > 0)
		heph_epoch(&b, epoch);
	heph_event_at(&b, 1, first, 9, 100, 200, "one");
	heph_event_at(&b, 1, first + 1, 9, 300, 400, "two");
	if (with_shared) {
		heph_event_at(&b, 0, 1, 0, 500, 600, "later");
		heph_event_at(&b, 0, 0, 0, 500, 600, "earlier");
	}
	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert(write_whole(path, b.p, b.n));
	heph_free(&b);
	return strdup(path);
}

/* A trace joined from two, without findings. */
struct joined {
	struct ran r;
	struct heph_oracle o;
};

static void join(struct joined *j, const char *a, const char *b)
{
	j->r = to_heph("--threads=2", a, b, NULL, 0);
	struct ran v = run_tool((const char *const[]){ "validate", "-", NULL }, j->r.out, j->r.out_n);

	cr_expect_eq(v.status, 0, "%s", v.out);
	cr_expect(strstr(v.out, "warning") == NULL && strstr(v.out, "note") == NULL, "%s", v.out);
	heph_oracle_decode(&j->o, (const unsigned char *)j->r.out, j->r.out_n);
	cr_expect_null(j->o.fault, "%s", j->o.fault);
	ran_free(&v);
}

static void joined_free(struct joined *j)
{
	heph_oracle_free(&j->o);
	ran_free(&j->r);
}

/* A trace that continues in the next file. */
Test(heph_write_raw, counters_that_go_on)
{
	char *const dir = make_folder(), *const a = make_trace(dir, "a.bin.log", 7, 0, false),
	            *const b = make_trace(dir, "b.bin.log", 7, 2, false);
	struct joined j;

	join(&j, a, b);
	cr_expect_eq(j.r.err_n, 0, "%s", j.r.err);
	cr_assert_eq(j.o.n, 4);
	for (uint32_t i = 0; i < 4; i++)
		cr_expect(j.o.events[i].stream == 1 && j.o.events[i].counter == i);
	joined_free(&j);
	free(a);
	free(b);
	remove_folder(dir);
}

/* Two runs: streams of the second get other numbers. */
Test(heph_write_raw, streams_of_two_runs)
{
	char *const dir = make_folder(), *const a = make_trace(dir, "a.bin.log", 7, 0, true),
	            *const b = make_trace(dir, "b.bin.log", 7, 0, true);
	static const uint32_t streams[] = { 1, 1, 0, 0, 2, 2, 3, 3 }, counters[] = { 0, 1, 1, 0, 0, 1, 0, 1 };
	struct joined j;

	join(&j, a, b);
	cr_expect_not_null(strstr(j.r.err, ": 2; the first at input offset 23 [heph/stream-number]"), "%s",
	                   j.r.err);
	cr_expect(j.o.epoch_known && j.o.epoch == 7);
	cr_assert_eq(j.o.n, 8);
	for (size_t i = 0; i < 8; i++) {
		const struct heph_oracle_event *const e = &j.o.events[i];
		cr_expect(e->stream == streams[i] && e->counter == counters[i], "%zu: %u %u", i, e->stream,
		          e->counter);
		cr_expect(e->start == j.o.events[i % 4].start && e->end == j.o.events[i % 4].end);
	}
	joined_free(&j);
	free(a);
	free(b);
	remove_folder(dir);
}

/* ---- selections ---- */

struct selected {
	char *dir, *in;
	struct ran r;
	struct heph_oracle was, is;
};

/* Writes the trace to a file, and converts the events whose names match. */
static void select_events(struct selected *s, struct heph_build *b, const char * not, const char *name)
{
	char path[1024];

	s->dir = make_folder();
	snprintf(path, sizeof path, "%s/in.bin.log", s->dir);
	cr_assert(write_whole(path, b->p, b->n));
	const char *args[] = { "convert", "--quiet", "--to=heph", path, "-", "--name", name, NULL, NULL };
	if (not != NULL) {
		args[5] = not ;
		args[6] = "--name";
		args[7] = name;
	}
	s->r = run_tool(args, NULL, 0);
	cr_assert_eq(s->r.status, 0, "%s", s->r.err);
	heph_oracle_decode(&s->was, b->p, b->n);
	heph_oracle_decode(&s->is, (const unsigned char *)s->r.out, s->r.out_n);
	cr_assert_null(s->is.fault, "%s", s->is.fault);
}

static void selected_free(struct selected *s)
{
	heph_oracle_free(&s->was);
	heph_oracle_free(&s->is);
	ran_free(&s->r);
	remove_folder(s->dir);
}

/* Expects no findings. */
static void expect_clean(const struct selected *s)
{
	struct ran v = run_tool((const char *const[]){ "validate", "-", NULL }, s->r.out, s->r.out_n);

	cr_expect(v.status == 0 && strstr(v.out, "warning") == NULL && strstr(v.out, "note") == NULL, "%s",
	          v.out);
	ran_free(&v);
}

static bool is_named(const struct heph_oracle_event *e, const char *name)
{
	return e->name_n == strlen(name) && memcmp(e->name, name, e->name_n) == 0;
}

/* Expects the events of this name (or all others), in order; only counters may differ. */
static void expect_events(const struct selected *s, const char *name, bool wanted)
{
	size_t n = 0;

	for (size_t i = 0; i < s->was.n; i++) {
		const struct heph_oracle_event *const a = &s->was.events[i], *const b = &s->is.events[n];
		if (is_named(a, name) != wanted)
			continue;
		cr_assert_lt(n, s->is.n);
		n++;
		cr_expect(a->stream == b->stream && a->substream == b->substream && a->start == b->start &&
		          a->end == b->end && a->n == b->n);
		cr_expect(is_named(b, name) == wanted);
		for (size_t k = 0; k < a->n; k++)
			cr_expect_eq(a->attributes[k].values[0].bits, b->attributes[k].values[0].bits);
	}
	cr_expect_eq(n, s->is.n);
}

static void build_trace(struct heph_build *b)
{
	heph_init(b);
	heph_spec_epoch(b);
	for (uint32_t i = 0; i < 12; i++) {
		heph_event(b, 1 + i % 3, i % 2, 100 + i, 200 + i, i % 4 < 2 ? "taken" : "other");
		heph_unsigned(b, "i", i);
	}
	heph_metadata(b, "unknown");
}

/* Counters have no gaps; the epoch and options of the whole trace are kept. */
Test(heph_write_select, counters_and_options)
{
	uint32_t next[4] = { 0 };
	struct heph_build b;
	struct selected s;

	build_trace(&b);
	select_events(&s, &b, NULL, "taken");
	expect_events(&s, "taken", true);
	cr_expect(s.is.epoch_known && s.is.epoch == s.was.epoch);
	cr_expect_eq(s.is.packets, s.is.n + 2);
	for (size_t i = 0; i < s.is.n; i++)
		cr_expect_eq(s.is.events[i].counter, next[s.is.events[i].stream]++);
	selected_free(&s);
	heph_free(&b);
}

/* Gaps of the input are gaps of the output. */
Test(heph_write_select, gaps_stay)
{
	static const uint32_t counters[] = { 7, 8, 11, 12, 13 }, want[] = { 7, 10, 11 };
	struct heph_build b;
	struct selected s;

	heph_init(&b);
	for (uint32_t i = 0; i < 5; i++)
		heph_event_at(&b, 3, counters[i], 1, i, i + 1, i == 1 || i == 3 ? "other" : "taken");
	select_events(&s, &b, NULL, "taken");
	cr_assert_eq(s.is.n, 3);
	for (size_t i = 0; i < 3; i++)
		cr_expect_eq(s.is.events[i].counter, want[i], "%u", s.is.events[i].counter);
	selected_free(&s);
	heph_free(&b);
}

/* Stream 0 is out of order; no selection of it may create gaps. */
Test(heph_write_select, shared_stream)
{
	static const uint32_t counters[] = { 1, 0, 3, 2, 4, 6, 5 };

	for (unsigned left_out = 1; left_out < 127; left_out += 9) {
		struct heph_build b;
		struct selected s;
		heph_init(&b);
		heph_spec_epoch(&b);
		for (uint32_t i = 0; i < 7; i++)
			heph_event_at(&b, 0, counters[i], 1, i, i + 1,
			              (left_out >> i & 1) != 0 ? "other" : "taken");
		select_events(&s, &b, "--not", "other");
		expect_events(&s, "other", false);
		expect_clean(&s);
		selected_free(&s);
		heph_free(&b);
	}
}

static bool contains(const struct ran *r, const char *word)
{
	const size_t n = strlen(word);

	for (size_t i = 0; i + n <= r->out_n; i++)
		if (memcmp(r->out + i, word, n) == 0)
			return true;
	return false;
}

/* Options that describe tracks are kept for streams with a selected event, before it. */
Test(heph_write_select, tracks)
{
	char *const dir = make_folder(), all[1024];
	struct heph_oracle o;

	snprintf(all, sizeof all, "%s/all.bin.log", dir);
	struct ran whole =
	    run_tool((const char *const[]){ "convert", "-q", "testdata/ndjson/good/kinds.ndjson", all, NULL },
	             NULL, 0);
	cr_assert_eq(whole.status, 0, "%s", whole.err);
	struct ran none = run_tool(
	    (const char *const[]){ "convert", "-q", "--to=heph", "--name=nothing", all, "-", NULL }, NULL, 0);
	cr_expect_eq(none.status, 0, "%s", none.err);
	cr_expect_not(contains(&none, "tracetool.track"));
	cr_expect(contains(&none, "tracetool.trace"));
	heph_oracle_decode(&o, (const unsigned char *)none.out, none.out_n);
	cr_expect(o.fault == NULL && o.n == 0 && o.packets > 0);
	heph_oracle_free(&o);
	struct ran every = run_tool(
	    (const char *const[]){ "convert", "-q", "--to=heph", "--not", "--name=nothing", all, "-", NULL },
	    NULL, 0);
	cr_expect_eq(every.status, 0, "%s", every.err);
	struct ran lines = run_tool((const char *const[]){ "convert", "-q", "--to=ndjson", "-", "-", NULL },
	                            every.out, every.out_n);
	cr_expect_not_null(strstr(lines.out, "\"kind\":\"thread\""), "%s", lines.out);
	ran_free(&whole);
	ran_free(&none);
	ran_free(&every);
	ran_free(&lines);
	remove_folder(dir);
}
