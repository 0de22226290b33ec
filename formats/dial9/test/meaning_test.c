/* What the vocabulary makes of real traces: spans of each worker, where instants stand, lives of tasks, and
 * how long the trace takes; against what is made by hand from the oracle's events. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "dial9/test/facts_test.h"

static const char *real_trace(char path[1024], const char *name)
{
	const char *const dir = real_traces();

	snprintf(path, 1024, "%s/%s", dir, name);
	return path;
}

static struct ran converted(const char *path)
{
	struct ran r =
	    run_tool((const char *const[]){ "convert", "--to", "chrome", path, "-", NULL }, NULL, 0);

	cr_assert_eq(r.status, 0, "%s: %s", path, r.err);
	return r;
}

/* Each row of a is in b. */
static void is_in(const struct d9f_facts *a, const struct d9f_facts *b, const char *path)
{
	for (uint32_t i = 0; i < a->n; i++) {
		const struct d9f_row *const r = &a->rows[i];
		const uint32_t at =
		    tabletext_get(&b->index, (struct slice){ r->key, (uint32_t)strlen(r->key), 0 });
		const struct d9f_row *const other = at != TABLE_NONE ? &b->rows[at] : NULL;
		cr_expect(other != NULL && r->count == other->count && r->ns == other->ns,
		          "%s: %s: %" PRIu64 " of %" PRIu64 " ns, %" PRIu64 " of %" PRIu64 " ns", path,
		          r->key, r->count, r->ns, other != NULL ? other->count : 0,
		          other != NULL ? other->ns : 0);
	}
}

static void times_agree(const struct d9f_facts *want, const char *path)
{
	struct ran r = run_tool((const char *const[]){ "stats", "--format", "json", path, NULL }, NULL, 0);
	char first[64], last[64];

	snprintf(first, sizeof first, "\"first_ns\": %" PRIu64 ",", want->first);
	snprintf(last, sizeof last, "\"last_ns\": %" PRIu64 ",", want->last);
	cJSON *const report = cJSON_Parse(r.out);
	const cJSON *const in = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "inputs"), 0);
	cr_expect_eq(cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(in, "first_ns")),
	             (double)want->first, "%s", path);
	cr_expect_eq(cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(in, "last_ns")),
	             (double)want->last, "%s", path);
	cJSON_Delete(report);
	ran_free(&r);
}

static uint64_t sum_of(const struct d9f_facts *f, const char *start)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < f->n; i++)
		n += strncmp(f->rows[i].key, start, strlen(start)) == 0 ? f->rows[i].count : 0;
	return n;
}

/* *want: to be freed. */
static void agree(const char *name, struct d9f_facts *want)
{
	struct d9f_facts got;
	char path[1024];
	struct d9o o;
	size_t n;

	struct ran r = converted(real_trace(path, name));
	unsigned char *const p = (unsigned char *)read_unpacked(path, &n);
	d9o_decode(&o, p, n);
	cr_assert_null(o.fault);
	d9f_expected(want, &o);
	d9f_converted(&got, r.out);
	is_in(want, &got, path);
	is_in(&got, want, path);
	cr_expect_eq(got.unfinished, want->unfinished, "%s: %" PRIu64 " of %" PRIu64, path, got.unfinished,
	             want->unfinished);
	times_agree(want, path);
	d9f_free(&got);
	d9o_free(&o);
	free(p);
	ran_free(&r);
}

Test(dial9_meaning, metrics_service)
{
	struct d9f_facts f;

	agree("dial9/metrics-service.bin", &f);
	cr_expect_eq(sum_of(&f, "b|task|"), 309); /* some end in earlier blocks than they are spawned in */
	cr_expect_eq(sum_of(&f, "X|metrics_service::routes|query_metric|"), 5584);
	cr_expect_eq(sum_of(&f, "X|metrics_service::ddb|query_metric|"), 5584);
	cr_expect_eq(sum_of(&f, "X|metrics_service::"), 27392);
	d9f_free(&f);
}

Test(dial9_meaning, block_in_place)
{
	struct d9f_facts f;

	agree("dial9/block-in-place.bin", &f);
	cr_expect_eq(sum_of(&f, "b|task|"), 10);
	cr_expect_eq(sum_of(&f, "i|stack|CPU sample|worker "), 194);
	d9f_free(&f);
}

Test(dial9_meaning, span_enter_event)
{
	struct d9f_facts f;

	agree("next/dial9/span-enter-event.bin", &f);
	cr_expect_eq(sum_of(&f, "X|span|"), 37489);
	cr_expect_eq(sum_of(&f, "i|span|"), 0);
	cr_expect_eq(sum_of(&f, "i|wake|wake|no thread"), 9);
	cr_expect_eq(sum_of(&f, "i|wake|"), 31146);
	d9f_free(&f);
}

Test(dial9_meaning, wall_time_metadata)
{
	struct d9f_facts f;

	agree("next/dial9/wall-time-metadata.bin", &f);
	cr_expect_eq(f.last - f.first, 4341471479); /* not 56 years */
	cr_expect_eq(f.unfinished, 93);
	d9f_free(&f);
}

Test(dial9_meaning, callframe_def)
{
	struct d9f_facts f;

	agree("next/dial9/callframe-def.bin", &f);
	cr_expect_eq(f.last - f.first, 4155207653); /* not 11 days */
	d9f_free(&f);
}

/* CallframeDefEvent names the frames of samples. */
Test(dial9_meaning, callframes_are_symbols)
{
	char path[1024], name[4000], shown[4010];
	size_t n, frames = 0;
	struct d9o o;

	struct ran r = converted(real_trace(path, "next/dial9/callframe-def.bin"));
	unsigned char *const p = (unsigned char *)read_unpacked(path, &n);
	d9o_decode(&o, p, n);
	for (size_t i = 0; i < o.nevents; i++) {
		uint64_t address;
		if (strcmp(o.schemas[o.events[i].schema].name, "CallframeDefEvent") != 0)
			continue;
		cr_assert(d9f_number(&o, i, "address", &address) &&
		          d9f_text(&o, i, "symbol", name, sizeof name));
		snprintf(shown, sizeof shown, "\"0x%" PRIx64 "\"", address);
		if (strncmp(name, "0x", 2) != 0) /* "0x7fffe0472030" is the name of one */
			cr_expect_null(strstr(r.out, shown), "%s has a name: %s", shown, name);
		snprintf(shown, sizeof shown, "\"%s\"", name);
		cr_expect_not_null(strstr(r.out, shown), "%s", shown);
		frames++;
	}
	cr_expect_eq(frames, 92);
	cr_expect_null(strstr(r.out, "CallframeDefEvent"), "a symbol is an event");
	d9o_free(&o);
	free(p);
	ran_free(&r);
}

/* Where a span was made: of each of the five functions of the trace. */
Test(dial9_meaning, functions_of_spans)
{
	static const char *const places[] = {
		"\"name\":\"query_metric\",\"cat\":\"metrics_service::routes\"",
		"\"module\":\"metrics_service::routes\",\"function\":\"query_metric\","
		"\"file\":\"examples/metrics-service/src/routes.rs\",\"line\":44}",
		"\"name\":\"query_metric\",\"cat\":\"metrics_service::ddb\"",
		"\"module\":\"metrics_service::ddb\",\"function\":\"query_metric\","
		"\"file\":\"examples/metrics-service/src/ddb.rs\",\"line\":122}",
		"\"name\":\"flush_to_ddb\",\"cat\":\"metrics_service::buffer\"",
		"\"module\":\"metrics_service::buffer\",\"function\":\"flush_to_ddb\","
		"\"file\":\"examples/metrics-service/src/buffer.rs\",\"line\":54}",
	};
	size_t met[6] = { 0 }, lines = 0;
	char path[1024], *next;

	struct ran r = converted(real_trace(path, "dial9/metrics-service.bin"));
	for (char *line = r.out; *line != '\0'; line = next) {
		next = strchr(line, '\n');
		cr_assert_not_null(next);
		*next++ = '\0';
		if (strstr(line, "\"ph\":\"X\"") == NULL)
			continue;
		for (size_t i = 0; i < 6; i += 2)
			if (strstr(line, places[i]) != NULL) {
				lines++;
				met[i]++;
				met[i + 1] += strstr(line, places[i + 1]) != NULL;
			}
	}
	cr_expect(met[0] == 5584 && met[1] == 5584 && met[2] == 5584 && met[3] == 5584 && met[4] == 78 &&
	          met[5] == 78);
	cr_expect_eq(lines, 5584 * 2 + 78);
	ran_free(&r);
}
