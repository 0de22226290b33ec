/* Converts samples with the program: the output has the same events as NDJSON. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "cmd/test/cli_test_util.h"
#include "perfetto/schema/wire.h"
#include "perfetto/test/model_test.h"
#include "test/support/strength.h"

#define TRACES "../shared/traces/"

/* Sums over spans and instants, in any order. */
struct sums {
	uint64_t spans, hash, dur, counters, arrows;
};

static void add(struct sums *s, uint64_t ts, uint64_t dur, struct slice name)
{
	s->spans++;
	s->dur += dur;
	s->hash += hash_u64(ts ^ dur << 20, hash_bytes(name.p, name.n, 7));
}

static struct ran convert(const char *in, const char *to, const char *threads)
{
	const char *const args[] = { "convert", "--quiet", "--to", to, "--threads", threads, in, "-", NULL };

	return run_tool(args, NULL, 0);
}

static uint64_t number_of(const char *line, const char *key)
{
	const char *const p = strstr(line, key);

	return p != NULL ? strtoull(p + strlen(key), NULL, 10) : 0;
}

static bool is_of(const char *line, const char *type)
{
	return strncmp(line + strlen("{\"kind\":\""), type, strlen(type)) == 0;
}

static void take_line(struct sums *s, const char *line)
{
	cJSON *const json = cJSON_Parse(line);
	const cJSON *const fields = cJSON_GetObjectItem(json, "args"), *f;
	const char *const name = cJSON_GetStringValue(cJSON_GetObjectItem(json, "name"));

	cr_assert(json != NULL && name != NULL);
	if (is_of(line, "counter\"") && fields != NULL) {
		cJSON_ArrayForEach(f, fields) s->counters += cJSON_IsNumber(f) != 0;
	} else {
		add(s, number_of(line, "\"ts_ns\":"), number_of(line, "\"dur_ns\":"), slice_str(name));
	}
	cJSON_Delete(json);
}

/* Returns false if a text is changed by the conversion. */
static bool sums_of_lines(struct sums *s, char *text)
{
	if (strstr(text, "\"escaped\":") != NULL || strstr(text, "\\u0000") != NULL)
		return false;
	for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		if (is_of(line, "span\"") || is_of(line, "async\"") || is_of(line, "instant\"") ||
		    is_of(line, "counter\""))
			take_line(s, line);
		s->arrows += is_of(line, "flow_in\"");
	}
	return true;
}

/* Returns true for times that the importer refuses. */
static bool has_odd_times(const struct model *m)
{
	return model_attribute(m, "loss.perfetto/time-limit") != NULL ||
	       model_attribute(m, "loss.perfetto/clipped") != NULL;
}

/* Returns true for a span that an arrow added: length 0 and no category. */
static bool is_brought(const struct model_slice *s)
{
	return s->dur == 0 && s->category.n == 0;
}

static void expect_same_sums(const char *path)
{
	struct ran lines = convert(path, "ndjson", "1"), packets = convert(path, "perfetto", "1");
	struct sums a = { 0 }, b = { 0 };
	struct model m;

	cr_assert_eq(lines.status, packets.status, "%s: status %d and %d: %s", path, lines.status,
	             packets.status, packets.err);
	if (lines.status <= 1 && sums_of_lines(&a, lines.out)) {
		model_read(&m, packets.out, packets.out_n);
		for (uint32_t i = 0; i < m.nslices; i++)
			if (!is_brought(&m.slices[i]))
				add(&b, m.slices[i].ts, (uint64_t)m.slices[i].dur, m.slices[i].name);
		cr_expect(has_odd_times(&m) || (a.spans == b.spans && a.dur == b.dur && a.hash == b.hash),
		          "%s: %" PRIu64 " spans of %" PRIu64 " ns, %" PRIu64 " of %" PRIu64, path, b.spans,
		          b.dur, a.spans, a.dur);
		cr_expect_eq(a.arrows, m.narrows, "%s: arrows", path);
		cr_expect_eq(a.counters, m.ncounts, "%s: %" PRIu64 " counts, %u", path, a.counters,
		             m.ncounts);
		model_free(&m);
	}
	ran_free(&lines);
	ran_free(&packets);
}

static void expect_folder(const char *dir, const char *suffix, size_t min)
{
	char **const names = list_folder(dir, suffix), path[1024];
	size_t n = 0;

	for (; names != NULL && names[n] != NULL; n++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[n]);
		if (strength_takes(path, 3))
			expect_same_sums(path);
	}
	cr_expect_geq(n, min, "%s", dir);
	if (names != NULL)
		list_free(names);
}

Test(perfetto_cli, samples_say_the_same_as_their_lines)
{
	expect_folder("testdata/htdump/good", ".htdump", 3);
	expect_folder("testdata/heph/good", ".bin.log", 3);
	expect_folder("testdata/dial9/good", ".dial9", 3);
	expect_folder("testdata/dftracer/good", ".pfw", 3);
}

Test(perfetto_cli, real_traces_say_the_same_as_their_lines)
{
	static const char *const paths[] = { TRACES "htdump/mapped.htdump", TRACES "heph/actors.bin.log",
		                             TRACES "dial9/block-in-place.bin",
		                             TRACES "dftracer/posix-v0.pfw", TRACES "ovni/good/mpi-func" };
	FILE *const f = fopen(paths[0], "r");

	if (f == NULL)
		cr_skip_test("no traces");
	fclose(f);
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		expect_same_sums(paths[i]);
}

Test(perfetto_cli, any_number_of_threads_gives_the_same_bytes)
{
	static const char *const paths[] = { TRACES "dial9/metrics-service.bin",
		                             TRACES "htdump/two-threads.htdump",
		                             "testdata/htdump/good/overlapping.htdump" };
	static const char *const threads[] = { "2", "7" };

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		FILE *const f = fopen(paths[i], "r");
		if (f == NULL)
			continue;
		fclose(f);
		struct ran one = convert(paths[i], "perfetto", "1");
		for (size_t k = 0; k < 2; k++) {
			struct ran many = convert(paths[i], "perfetto", threads[k]);
			cr_expect(many.status == one.status && many.out_n == one.out_n &&
			              memcmp(many.out, one.out, one.out_n) == 0,
			          "%s: other bytes with %s threads", paths[i], threads[k]);
			ran_free(&many);
		}
		ran_free(&one);
	}
}

/* Gaps in the trace are events of this output only. */
Test(perfetto_cli, lost_records_are_spans_of_a_track_of_their_own)
{
	struct ran r = convert("testdata/heph/bad/counter-gap.bin.log", "perfetto", "2");
	struct ran lines = convert("testdata/heph/bad/counter-gap.bin.log", "ndjson", "2");
	struct model m;

	cr_assert_eq(r.status, 0, "%s", r.err);
	model_read(&m, r.out, r.out_n);
	cr_assert_eq(m.nslices, 7);
	const struct model_slice *const s = model_slice_named(&m, "lost records");
	cr_assert_not_null(s);
	cr_expect(s->ts == 20 && s->dur == 20 && s->depth == 0 && slice_is(s->category, "lost"));
	cr_expect_str_eq(s->args, "missing=u2");
	cr_expect(slice_is(model_track(&m, s->track)->name, "stream 1: lost"));
	cr_expect_eq(model_track(&m, model_track(&m, s->track)->parent)->kind, 'p');
	cr_expect_null(strstr(lines.out, "lost records"));
	model_free(&m);
	ran_free(&r);
	ran_free(&lines);
}

Test(perfetto_cli, an_interned_name_beyond_the_limit_is_not_reported_as_undefined)
{
	const uint64_t n = (1U << 22) + 1;
	struct text t = { .p = NULL };

	for (uint64_t iid = 1; iid <= n;) {
		const size_t packet = wire_open(&t, 1);
		wire_number(&t, 10, 1);                /* trusted_packet_sequence_id */
		wire_number(&t, 13, iid == 1 ? 1 : 2); /* sequence_flags */
		const size_t interned = wire_open(&t, 12);
		for (const uint64_t end = iid + 4096; iid <= n && iid < end; iid++) {
			const size_t entry = wire_open(&t, 2); /* event_names */
			wire_number(&t, 1, iid);
			wire_close(&t, entry);
		}
		wire_close(&t, interned);
		if (iid > n) {
			wire_number(&t, 8, 5); /* timestamp */
			const size_t event = wire_open(&t, 11);
			wire_number(&t, 9, 3);  /* type: an instant */
			wire_number(&t, 10, n); /* name_iid */
			wire_close(&t, event);
		}
		wire_close(&t, packet);
	}
	cr_assert_not(t.failed);
	struct ran r = run_tool((const char *const[]){ "validate", "-", NULL }, t.p, t.n);
	cr_expect_not_null(strstr(r.out, "more than 4194304 entries"), "%s", r.out);
	cr_expect_null(strstr(r.out, "not defined"), "%s", r.out);
	ran_free(&r);
	text_free(&t);
}

/* Appends a packet of sequence 1 whose event, an instant, is the end of an arrow. */
static void put_arrow(struct text *t, uint64_t ts, uint64_t id, bool ends)
{
	const size_t packet = wire_open(t, 1);
	wire_number(t, 8, ts);               /* timestamp */
	wire_number(t, 10, 1);               /* trusted_packet_sequence_id */
	wire_number(t, 13, ts == 1 ? 1 : 2); /* sequence_flags */
	const size_t event = wire_open(t, 11);
	wire_number(t, 9, 3);               /* type: an instant */
	wire_number(t, ends ? 42 : 36, id); /* terminating_flow_ids_old, flow_ids_old */
	wire_close(t, event);
	wire_close(t, packet);
}

/* From a pipe, as no look-ahead sorts the ends: arrow 0 is open from the first to the last event. */
static void expect_arrows(uint64_t n, bool end, const char *last, bool limited)
{
	struct text t = { .p = NULL };

	for (uint64_t ts = 1, id = 1; id <= n; id++) {
		put_arrow(&t, ts++, id, false);
		if (end)
			put_arrow(&t, ts++, id, true);
		if (id % 100000 == 1 || id == n)
			put_arrow(&t, ts++, 0, false);
	}
	cr_assert_not(t.failed);
	struct ran r = run_tool((const char *const[]){ "cat", "-q", "-", NULL }, t.p, t.n);
	const char *const line = strrchr(r.out, '@');
	cr_expect(line != NULL && strstr(line, last) != NULL, "%s", line);
	ran_free(&r);
	r = run_tool((const char *const[]){ "validate", "-", NULL }, t.p, t.n);
	cr_expect_eq(strstr(r.out, "arrows are open: the oldest are forgotten [perfetto/limit]") != NULL,
	             limited, "%s", r.out);
	ran_free(&r);
	text_free(&t);
}

Test(perfetto_cli, of_many_arrows_those_in_use_are_known)
{
	expect_arrows(1200000, true, "flow_step", false);
	expect_arrows(1200000, false, "flow_step", true);
}

Test(perfetto_cli, different_texts_are_limited_also_if_the_state_is_cleared)
{
	const uint64_t n = (1U << 22) + 1;
	struct text t = { .p = NULL };

	for (uint64_t i = 0; i < n;) {
		const size_t packet = wire_open(&t, 1);
		wire_number(&t, 10, 1); /* trusted_packet_sequence_id */
		wire_number(&t, 13, 1); /* sequence_flags: cleared */
		const size_t interned = wire_open(&t, 12);
		for (const uint64_t end = i + 4096; i < n && i < end; i++) {
			const size_t entry = wire_open(&t, 6); /* frames */
			wire_number(&t, 1, i % 4096 + 1);      /* iid */
			wire_number(&t, 4, i);                 /* rel_pc */
			wire_close(&t, entry);
		}
		wire_close(&t, interned);
		wire_close(&t, packet);
	}
	cr_assert_not(t.failed);
	struct ran r = run_tool((const char *const[]){ "validate", "-", NULL }, t.p, t.n);
	cr_expect_not_null(strstr(r.out, "or 4194304 texts of interned data"), "%s", r.out);
	ran_free(&r);
	text_free(&t);
}
