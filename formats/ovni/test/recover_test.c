/* Recovery of streams: sorting of regions against a simple model, headers, sizes, folders. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "test/support/splitmix.h"

#define HEADER 8

struct stream {
	char p[65536];
	size_t n;
};

/* payload: 0 or 2 to 16 bytes. */
static void put_event(struct stream *s, const char *mcv, uint64_t clock, size_t payload, bool big)
{
	char *const p = s->p + s->n;

	p[0] = (char)(payload > 0 ? payload - 1 : 0);
	memcpy(p + 1, mcv, 3);
	for (unsigned i = 0; i < 8; i++)
		p[4 + i] = (char)(clock >> 8 * (big ? 7 - i : i));
	memset(p + 12, (int)payload, payload);
	s->n += 12 + payload;
}

static void begin(struct stream *s, bool big)
{
	memcpy(s->p, big ? "ovni\0\0\0\1" : "ovni\1\0\0\0", HEADER);
	s->n = HEADER;
}

/* Runs recover on the bytes, and checks its status. */
static struct ran recover(const struct stream *s, const char *option, int status)
{
	const char *const args[] = { "recover", "--from", "ovni", option, "-", "-", NULL };
	struct ran r = run_tool(args, s->p, s->n);

	cr_expect_eq(r.status, status, "status %d, not %d: %s", r.status, status, r.err);
	return r;
}

static void expect_same(const struct ran *r, const struct stream *s)
{
	cr_expect(r->out_n == s->n && memcmp(r->out, s->p, s->n) == 0,
	          "%zu bytes, not %zu, or other ones: %s", r->out_n, s->n, r->err);
}

/* ---- sorting ---- */

struct model {
	char mcv[4];
	uint64_t clock;
	size_t payload;
};

/* Sorts as ovnisort does: from the last event before the region that is older than all of it, up to OU]. */
static void sort_region(struct model *e, size_t open, size_t end)
{
	uint64_t min = UINT64_MAX;
	size_t first = open;

	for (size_t i = open + 1; i < end; i++)
		min = e[i].clock < min ? e[i].clock : min;
	if (open + 1 == end)
		return;
	while (first > 0 && e[first - 1].clock >= min)
		first--;
	for (size_t i = first + 1; i < end; i++)
		for (size_t k = i; k > first && e[k].clock < e[k - 1].clock; k--) {
			const struct model swap = e[k];
			e[k] = e[k - 1];
			e[k - 1] = swap;
		}
}

/* Writes ordered events, with regions in between whose events are up to `back` older. */
static size_t make_events(struct model *e, size_t max, uint64_t *seed, uint64_t back)
{
	uint64_t clock = 1000;
	size_t n = 0;

	while (n < max - 12) {
		clock += splitmix_next(seed) % 20;
		e[n++] = (struct model){ "VU[", clock, splitmix_next(seed) % 9 * 2 };
		if (splitmix_next(seed) % 6 > 0)
			continue;
		const size_t open = n;
		e[n++] = (struct model){ "OU[", clock, 0 };
		for (size_t k = splitmix_next(seed) % 8; k > 0; k--)
			e[n++] = (struct model){ "KCO", clock - splitmix_next(seed) % back, 0 };
		e[n] = (struct model){ "OU]", ++clock, 0 };
		n += open < n;
	}
	return n;
}

static void put_events(struct stream *s, const struct model *e, size_t n, bool big)
{
	begin(s, big);
	for (size_t i = 0; i < n; i++)
		put_event(s, e[i].mcv, e[i].clock, e[i].payload, big);
}

Test(ovni_recover, regions_are_sorted_as_ovnisort_does)
{
	static struct stream in, out;
	static struct model e[300];

	for (unsigned round = 0; round < 8; round++) {
		uint64_t seed = round;
		const size_t n = make_events(e, 300, &seed, 1 + 40U * round);
		put_events(&in, e, n, round % 2 == 1);
		for (size_t i = 0, open = 0; i < n; i++) {
			if (memcmp(e[i].mcv, "OU[", 3) == 0)
				open = i;
			if (memcmp(e[i].mcv, "OU]", 3) == 0)
				sort_region(e, open, i);
		}
		put_events(&out, e, n, round % 2 == 1);
		struct ran r = recover(&in, "--sort", 0);
		expect_same(&r, &out);
		ran_free(&r);
		r = recover(&out, "--sort", 0);
		cr_expect_not_null(strstr(r.err, " 0 repairs"), "%s", r.err);
		expect_same(&r, &out);
		ran_free(&r);
		r = recover(&in, "-q", 0); /* not without --sort */
		expect_same(&r, &in);
		ran_free(&r);
	}
}

Test(ovni_recover, a_cut_stream_is_sorted_too)
{
	static struct stream in, out;

	begin(&in, false);
	put_event(&in, "VU[", 10, 0, false);
	put_event(&in, "OU[", 20, 0, false);
	put_event(&in, "KCO", 5, 0, false);
	put_event(&in, "OU]", 21, 0, false);
	put_event(&in, "VU]", 22, 4, false);
	in.n -= 3;
	begin(&out, false);
	put_event(&out, "KCO", 5, 0, false);
	put_event(&out, "VU[", 10, 0, false);
	put_event(&out, "OU[", 20, 0, false);
	put_event(&out, "OU]", 21, 0, false);
	struct ran r = recover(&in, "--sort", 1);
	expect_same(&r, &out);
	cr_expect_not_null(strstr(r.err, "-:@8: 36 bytes replaced by 36: "), "%s", r.err);
	cr_expect_not_null(strstr(r.err, "-:@56: 13 bytes dropped: 13 of the event's 16 bytes are present"),
	                   "%s", r.err);
	ran_free(&r);
}

/* ---- headers and sizes ---- */

Test(ovni_recover, a_damaged_header_is_made_anew)
{
	static struct stream in, out;

	for (int big = 0; big < 2; big++) {
		begin(&out, big == 1);
		for (uint64_t i = 0; i < 20; i++)
			put_event(&out, "VU[", 70000 + i, i % 3 * 2, big == 1);
		in = out;
		in.p[5] = 7;
		struct ran r = recover(&in, "-q", 0);
		expect_same(&r, &out);
		ran_free(&r);
		memset(in.p, 'x', HEADER);
		r = recover(&in, "-q", 0);
		expect_same(&r, &out);
		ran_free(&r);
	}
	in.n = 5;
	struct ran r = recover(&in, "-q", 2);
	cr_expect_not_null(strstr(r.err, "no record is intact"), "%s", r.err);
	ran_free(&r);
}

/* A single event is enough if it is all of the stream. */
Test(ovni_recover, a_damaged_header_before_few_events)
{
	static struct stream in, out;

	for (uint64_t round = 0; round < 4; round++) {
		const bool big = round % 2 == 1;
		begin(&out, big);
		for (uint64_t i = 0; i <= round / 2; i++)
			put_event(&out, "VU[", 70000 + i, 0, big);
		in = out;
		memset(in.p, 'x', HEADER);
		struct ran r = recover(&in, "-q", 0);
		expect_same(&r, &out);
		ran_free(&r);
	}
}

static void expect_no_events(const struct stream *s)
{
	struct ran r = recover(s, "-q", 2);

	cr_expect_not_null(strstr(r.err, "no header, and nothing that looks like events"), "%s", r.err);
	ran_free(&r);
}

Test(ovni_recover, no_events_are_found_in_other_bytes)
{
	static struct stream s;
	uint64_t seed = 1;

	for (int round = 0; round < 60; round++) {
		for (s.n = 0; s.n < 3000; s.n++)
			s.p[s.n] = (char)splitmix_next(&seed);
		expect_no_events(&s);
	}
	memset(s.p, 0, s.n);
	expect_no_events(&s);
	s.n = 0;
	while (s.n < 3000)
		s.n += (size_t)sprintf(s.p + s.n, "{\"id\":%zu,\"name\":\"read\",\"ts\":12}\n", s.n);
	expect_no_events(&s);
	/* A plausible event, and bytes that are none. */
	begin(&s, false);
	memset(s.p, 'x', HEADER);
	put_event(&s, "VU[", 70000, 0, false);
	memset(s.p + s.n, 0xff, 40);
	s.n += 40;
	expect_no_events(&s);
}

Test(ovni_recover, the_size_code_of_a_jumbo_event_is_repaired)
{
	static struct stream in, out;

	begin(&out, false);
	put_event(&out, "OHx", 1, 0, false);
	put_event(&out, "OB.", 2, 6, false);
	out.p[HEADER + 12] = 0x13;
	memcpy(out.p + HEADER + 24, "\2\0\0\0", 4);
	put_event(&out, "OHe", 3, 0, false);
	in = out;
	in.p[HEADER + 12] = 0x15;
	struct ran r = recover(&in, "--sort", 0);
	expect_same(&r, &out);
	cr_expect_not_null(strstr(r.err, "[ovni/jumbo-nibble]"), "%s", r.err);
	ran_free(&r);
}

Test(ovni_recover, a_region_that_is_not_closed_is_sorted_and_one_with_a_damaged_event_is_listed)
{
	static struct stream in, out;
	struct ran r;

	begin(&in, false);
	begin(&out, false);
	put_event(&in, "OU[", 5, 0, false);
	put_event(&in, "OB.", 9, 0, false);
	put_event(&in, "OB.", 7, 0, false);
	put_event(&out, "OU[", 5, 0, false);
	put_event(&out, "OB.", 7, 0, false);
	put_event(&out, "OB.", 9, 0, false);
	r = recover(&in, "--sort", 0);
	expect_same(&r, &out);
	ran_free(&r);
	put_event(&in, "OB.", 8, 6, false);
	memcpy(in.p + in.n - 6, "\2\0\0\0", 4);
	in.p[in.n - 18] = 0x13;
	put_event(&in, "OU]", 10, 0, false);
	out = in;
	in.p[in.n - 12 - 18] = 0x15;
	r = recover(&in, "--sort", 0);
	expect_same(&r, &out);
	cr_expect_not_null(strstr(r.err, "not sorted: a long or damaged jumbo event"), "%s", r.err);
	ran_free(&r);
}

/* ---- folders ---- */

static void expect_same_files(const char *a, const char *b)
{
	struct ran r =
	    run_program((const char *const[]){ "diff", "-r", "-x", ".tracetool-files", a, b, NULL }, NULL, 0);

	cr_expect_eq(r.status, 0, "%s", r.out);
	ran_free(&r);
}

Test(ovni_recover, a_folder_with_its_metadata)
{
	char *const dir = make_folder(), in[1100], out[1100], again[1100], stream[1200];
	const char *const good = "testdata/ovni/folders/good-two-threads";

	snprintf(in, sizeof in, "%s/in", dir);
	snprintf(out, sizeof out, "%s/out", dir);
	snprintf(again, sizeof again, "%s/again", dir);
	struct ran r = run_tool((const char *const[]){ "recover", good, out, NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	expect_same_files(good, out);
	ran_free(&r);
	r = run_program((const char *const[]){ "cp", "-r", good, in, NULL }, NULL, 0);
	ran_free(&r);
	snprintf(stream, sizeof stream, "%s/a/stream.obs", in);
	cr_assert_eq(truncate(stream, 15), 0);
	expect_ran(
	    run_tool((const char *const[]){ "recover", "-f", "--format=json", in, out, NULL }, NULL, 0), 1,
	    "{\"file\":\"a/stream.obs\",\"change\":\"dropped\",\"offset\":8,\"length\":7,\"inserted\":0,"
	    "\"rule\":\"ovni/cut-event\"");
	r = run_tool((const char *const[]){ "recover", out, again, NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	expect_same_files(out, again);
	ran_free(&r);
	/* A stream without a header stays a stream. */
	cr_assert_eq(truncate(stream, 6), 0);
	r = run_tool((const char *const[]){ "recover", "-f", in, out, NULL }, NULL, 0);
	cr_expect_eq(r.status, 1, "%s", r.err);
	ran_free(&r);
	r = run_tool((const char *const[]){ "validate", "-q", "--ignore-rules", "ovni/no-events", out, NULL },
	             NULL, 0);
	cr_expect_eq(r.status, 0, "%s%s", r.out, r.err);
	ran_free(&r);
	remove_folder(dir);
}
