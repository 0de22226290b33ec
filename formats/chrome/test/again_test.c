/* Output read as input gives the same spans, times, counters and arrows. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "run/pipeline.h"

struct sums {
	uint64_t spans, async, begins, ends, instants, counters, arrows;
	uint64_t total, first, last; /* ns */
	uint64_t texts;              /* sum over hashes of names */
};

/* Text that is not ASCII may be invalid UTF-8, which is replaced. */
static uint64_t hash_of(struct slice s)
{
	for (uint32_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] >= 0x80)
			return 0;
	return hash_bytes(s.p, s.n, 1);
}

static void add(struct sums *s, const struct event *e)
{
	const bool async = e->phase == PHASE_SPAN && (e->flags & EVENT_ASYNC) != 0;

	/* a counter without fields is written as an instant */
	s->counters += e->phase == PHASE_COUNTER && e->nfields > 0;
	s->instants += e->phase == PHASE_INSTANT || (e->phase == PHASE_COUNTER && e->nfields == 0);
	s->spans += e->phase == PHASE_SPAN && !async;
	s->async += async;
	s->begins += e->phase == PHASE_BEGIN;
	s->ends += e->phase == PHASE_END;
	s->arrows += e->phase == PHASE_FLOW_IN;
	if (e->phase == PHASE_SPAN)
		s->total += e->dur;
	if (e->phase == PHASE_STRUCTURE || e->phase == PHASE_FLOW_OUT || e->phase == PHASE_COUNTER)
		return;
	s->first = e->ts < s->first ? e->ts : s->first;
	s->last = e->ts > s->last ? e->ts : s->last;
	s->texts += hash_of(e->name);
}

static struct sums sums_of(const char *path)
{
	const char *const paths[] = { path };
	const struct pipeline_job job = { .in.paths = paths,
		                          .in.npaths = 1,
		                          .read.want = WANT_TIMES | WANT_FIELDS,
		                          .read.interpret = INTERPRET_SPANS };
	struct sums s = { .first = UINT64_MAX };
	struct pipeline f;
	struct batch *b;

	cr_assert(pipeline_open(&f, &job));
	while (pipeline_next(&f, &b) == STAGE_MORE) {
		for (uint32_t i = 0; i < b->n; i++)
			add(&s, &b->events[i]);
		batch_release(b);
	}
	pipeline_end(&f);
	pipeline_close(&f);
	return s;
}

static void expect_same(const char *path)
{
	char *const dir = make_folder();
	char out[512];

	snprintf(out, sizeof out, "%s/out.json", dir);
	struct ran r = run_tool((const char *const[]){ "convert", "--quiet", path, out, NULL }, NULL, 0);
	if (access(out, R_OK) == 0) {
		const struct sums a = sums_of(path), b = sums_of(out);
		cr_expect(
		    memcmp(&a, &b, sizeof a) == 0,
		    "%s: spans %zu %zu, async %zu %zu, begins %zu %zu, ends %zu %zu, instants %zu %zu, "
		    "counters %zu %zu, arrows %zu %zu, total %zu %zu, from %zu %zu to %zu %zu, names %zx %zx",
		    path, a.spans, b.spans, a.async, b.async, a.begins, b.begins, a.ends, b.ends, a.instants,
		    b.instants, a.counters, b.counters, a.arrows, b.arrows, a.total, b.total, a.first,
		    b.first, a.last, b.last, a.texts, b.texts);
	}
	ran_free(&r);
	remove_folder(dir);
}

Test(chrome_again, samples)
{
	static const char *const formats_with_samples[] = { "dftracer", "dial9", "heph",
		                                            "htdump",   "ovni",  "chrome" };
	char folder[256], path[1024];

	for (size_t i = 0; i < sizeof formats_with_samples / sizeof *formats_with_samples; i++) {
		snprintf(folder, sizeof folder, "testdata/%s/good", formats_with_samples[i]);
		char **const names = list_folder(folder, "");
		for (char **name = names; *name != NULL; name++) {
			snprintf(path, sizeof path, "%s/%s", folder, *name);
			if (strstr(*name, ".expect") == NULL)
				expect_same(path);
		}
		list_free(names);
	}
}

Test(chrome_again, real_traces)
{
	static const char *const traces[] = { "dial9/metrics-service.bin", "dftracer/posix-v0.pfw",
		                              "dftracer/cm1-DEFAULT-3537780-preload.pfw.gz",
		                              "htdump/mapped.htdump", "heph/actors.bin.log" };
	char path[512];

	if (access("../shared/traces", R_OK) != 0)
		cr_skip_test("no real traces");
	for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
		snprintf(path, sizeof path, "../shared/traces/%s", traces[i]);
		if (access(path, R_OK) == 0)
			expect_same(path);
	}
}

#define OBJECT "testdata/chrome/good/object.json"

/* An arrow that continues from its end, also through other formats. */
Test(chrome_again, a_step_of_an_arrow_stays_one)
{
	static const char *const by_way[] = { "chrome", "ndjson", "heph", "dial9" };
	char *const dir = make_folder();
	char path[512];

	snprintf(path, sizeof path, "%s/between", dir);
	for (size_t i = 0; i < sizeof by_way / sizeof *by_way; i++) {
		const char *const to[] = { "convert", "-qf", "--to", by_way[i], OBJECT, path, NULL };
		const char *const back[] = { "convert", "-q", "--to=chrome", path, "-", NULL };
		struct ran r = run_tool(to, NULL, 0);
		cr_expect_eq(r.status, 0, "%s", r.err);
		ran_free(&r);
		r = run_tool(back, NULL, 0);
		cr_expect_not_null(strstr(r.out, "\"ph\":\"s\",\"id\":\"0xff\",\"ts\":2.600"), "%s", r.out);
		cr_expect_not_null(strstr(r.out, "\"ph\":\"t\",\"bp\":\"e\",\"id\":\"0xff\",\"ts\":6.0"),
		                   "%s", r.out);
		cr_expect_not_null(strstr(r.out, "\"ph\":\"f\",\"bp\":\"e\",\"id\":\"0xff\",\"ts\":9.0"),
		                   "%s", r.out);
		ran_free(&r);
	}
	remove_folder(dir);
}
