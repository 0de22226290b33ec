/* What is selected of a Heph trace, packet by packet: nothing else is changed, and nothing new is found. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "heph/test/build.h"
#include "heph/test/oracle.h"

struct selected {
	char *dir, *in;
	struct ran r;
	struct heph_oracle was, is;
};

/* Makes the trace a file, and takes the events whose names match. */
static void take(struct selected *s, struct heph_build *b, const char * not, const char *name)
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

/* No more than `validate` finds in the input. */
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

/* The events of the output are those of this name (or the others), in order; only counters may differ. */
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

static void make(struct heph_build *b)
{
	heph_init(b);
	heph_spec_epoch(b);
	for (uint32_t i = 0; i < 12; i++) {
		heph_event(b, 1 + i % 3, i % 2, 100 + i, 200 + i, i % 4 < 2 ? "taken" : "other");
		heph_unsigned(b, "i", i);
	}
	heph_metadata(b, "unknown");
}

/* Counters go on without a gap; the epoch and options that hold for all of the trace come along. */
Test(heph_write_select, counters_and_options)
{
	uint32_t next[4] = { 0 };
	struct heph_build b;
	struct selected s;

	make(&b);
	take(&s, &b, NULL, "taken");
	expect_events(&s, "taken", true);
	cr_expect(s.is.epoch_known && s.is.epoch == s.was.epoch);
	cr_expect_eq(s.is.packets, s.is.n + 2);
	for (size_t i = 0; i < s.is.n; i++)
		cr_expect_eq(s.is.events[i].counter, next[s.is.events[i].stream]++);
	selected_free(&s);
	heph_free(&b);
}

/* What is missing in the input is missing in the output too. */
Test(heph_write_select, gaps_stay)
{
	static const uint32_t counters[] = { 7, 8, 11, 12, 13 }, want[] = { 7, 10, 11 };
	struct heph_build b;
	struct selected s;

	heph_init(&b);
	for (uint32_t i = 0; i < 5; i++)
		heph_event_at(&b, 3, counters[i], 1, i, i + 1, i == 1 || i == 3 ? "other" : "taken");
	take(&s, &b, NULL, "taken");
	cr_assert_eq(s.is.n, 3);
	for (size_t i = 0; i < 3; i++)
		cr_expect_eq(s.is.events[i].counter, want[i], "%u", s.is.events[i].counter);
	selected_free(&s);
	heph_free(&b);
}

/* Stream 0 is out of order; whatever is left out of it, nothing seems to be missing. */
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
		take(&s, &b, "--not", "other");
		expect_events(&s, "other", false);
		expect_clean(&s);
		selected_free(&s);
		heph_free(&b);
	}
}

static bool holds(const struct ran *r, const char *word)
{
	const size_t n = strlen(word);

	for (size_t i = 0; i + n <= r->out_n; i++)
		if (memcmp(r->out + i, word, n) == 0)
			return true;
	return false;
}

/* Tracks that an option describes: those of streams with an event come along, before it. */
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
	cr_expect_not(holds(&none, "tracetool.track"));
	cr_expect(holds(&none, "tracetool.trace"));
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
