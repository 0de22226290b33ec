/* What the vocabulary makes of real traces: polls, parks and spans of each worker, against pairs that the
 * oracle's events make. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli_test_util.h"
#include "dial9/dial9_oracle.h"

#define WORKERS 64
#define DEPTH 64

enum kind { POLL, PARK, SPAN, KINDS };

static const char *const categories[KINDS] = { "poll", "park", "span" };

struct begun {
	uint64_t ts, key;
};

/* Of one kind on one worker. */
struct sum {
	uint64_t count, ns;
	struct begun open[DEPTH];
	size_t depth;
};

struct sums {
	struct sum of[KINDS][WORKERS];
};

static uint64_t
member(const cJSON *o, const char *name)
{
	const cJSON *const v = cJSON_GetObjectItemCaseSensitive(o, name);

	return cJSON_IsNumber(v) ? (uint64_t)v->valuedouble : 0;
}

/* ---- what is expected ---- */

static bool
starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* false: neither a beginning nor an end. */
static bool
kind_of(const char *name, enum kind *kind, bool *begin)
{
	*begin = strcmp(name, "PollStartEvent") == 0 || strcmp(name, "WorkerParkEvent") == 0 ||
	         starts(name, "SpanEnter:");
	*kind = starts(name, "Poll") ? POLL : starts(name, "Worker") ? PARK : SPAN;
	return *begin || strcmp(name, "PollEndEvent") == 0 || strcmp(name, "WorkerUnparkEvent") == 0 ||
	       starts(name, "SpanExit:");
}

static void
end(struct sum *s, uint64_t ts, uint64_t key)
{
	size_t i = s->depth;

	while (i > 0 && s->open[i - 1].key != key)
		i--;
	if (i == 0)
		return;
	s->count++;
	s->ns += ts > s->open[i - 1].ts ? ts - s->open[i - 1].ts : 0;
	memmove(&s->open[i - 1], &s->open[i], (s->depth - i) * sizeof s->open[0]);
	s->depth--;
}

static void
expected(const struct d9o *o, struct sums *sums)
{
	for (size_t i = 0; i < o->nevents; i++) {
		const struct d9o_event *const e = &o->events[i];
		enum kind kind;
		bool begin;
		if (!kind_of(o->schemas[e->schema].name, &kind, &begin))
			continue;
		char *const text = d9o_arguments(o, i);
		cJSON *const args = cJSON_Parse(text);
		const uint64_t worker = member(args, "worker_id"),
		               key = kind == SPAN ? member(args, "span_id") : 0;
		cr_assert_lt(worker, WORKERS);
		struct sum *const s = &sums->of[kind][worker];
		cr_assert_lt(s->depth, DEPTH);
		if (begin)
			s->open[s->depth++] = (struct begun){ e->ts, key };
		else
			end(s, e->ts, key);
		cJSON_Delete(args);
		free(text);
	}
}

/* ---- what came out ---- */

struct output {
	char tracks[4096][32]; /* tid % 4096 -> name */
	struct sums sums;
	size_t out, in, begins, ends, unfinished, counters;
};

/* Microseconds with three digits behind the point, as ns. */
static uint64_t
nanoseconds(const char *line, const char *key)
{
	const char *const p = strstr(line, key);
	uint64_t us = 0;
	unsigned ns = 0;

	cr_assert(p != NULL && sscanf(p + strlen(key), "%" SCNu64 ".%3u", &us, &ns) == 2, "%.200s", line);
	return us * 1000 + ns;
}

static void
take_span(struct output *o, const cJSON *e, const char *line, const char *path)
{
	const cJSON *const args = cJSON_GetObjectItemCaseSensitive(e, "args");
	const char *const name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(e, "name"));
	const char *const category = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(e, "cat"));
	const char *const track = o->tracks[member(e, "tid") % 4096];
	unsigned worker = WORKERS;
	int kind = 0;

	while (kind < KINDS && strcmp(category, categories[kind]) != 0)
		kind++;
	if (kind == KINDS || cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(args, "unfinished")))
		return;
	cr_assert(sscanf(track, "worker %u", &worker) == 1 && worker < WORKERS, "%s: on %s: %.200s", path,
	          track, line);
	cr_expect_eq(member(args, "worker_id"), worker, "%s: %.200s", path, line);
	if (kind == PARK)
		cr_expect_str_eq(name, "parked");
	else
		cr_expect_str_eq(name, cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(
		                           args, kind == POLL ? "spawn_loc" : "span_name")));
	o->sums.of[kind][worker].count++;
	o->sums.of[kind][worker].ns += nanoseconds(line, "\"dur\":");
}

static void
take_line(struct output *o, char *line, const char *path)
{
	const size_t n = strlen(line);
	cJSON *const e = cJSON_ParseWithLength(line, n - (n > 0 && line[n - 1] == ','));
	const char *const ph = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(e, "ph"));

	if (ph != NULL && strcmp(ph, "M") == 0 && strstr(line, "thread_name") != NULL)
		snprintf(o->tracks[member(e, "tid") % 4096], sizeof o->tracks[0], "%s",
		         cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(
		             cJSON_GetObjectItemCaseSensitive(e, "args"), "name")));
	else if (ph != NULL && strcmp(ph, "X") == 0)
		take_span(o, e, line, path);
	o->out += ph != NULL && *ph == 's';
	o->in += ph != NULL && *ph == 'f';
	o->begins += ph != NULL && *ph == 'b';
	o->unfinished += ph != NULL && *ph == 'b' && strstr(line, "\"unfinished\":true") != NULL;
	o->ends += ph != NULL && *ph == 'e';
	o->counters += ph != NULL && *ph == 'C';
	cJSON_Delete(e);
}

static void
agree(const char *path, struct output *got)
{
	struct ran r =
	    run_tool((const char *const[]){ "convert", "--to", "chrome", path, "-", NULL }, NULL, 0);
	struct sums *const want = calloc(1, sizeof *want);
	struct d9o o;
	size_t n;

	cr_assert_not_null(want);
	cr_expect_eq(r.status, 0, "%s: %s", path, r.err);
	cr_expect_null(strstr(r.out, "SymbolTableEntry"), "%s: a symbol is an event", path);
	for (char *line = strtok(r.out, "\n"); line != NULL; line = strtok(NULL, "\n"))
		take_line(got, line, path);
	unsigned char *const p = d9o_read(path, &n);
	d9o_decode(&o, p, n);
	expected(&o, want);
	for (int k = 0; k < KINDS; k++)
		for (int w = 0; w < WORKERS; w++) {
			cr_expect_eq(got->sums.of[k][w].count, want->of[k][w].count,
			             "%s: %s of worker %d: %" PRIu64 ", not %" PRIu64, path, categories[k], w,
			             got->sums.of[k][w].count, want->of[k][w].count);
			cr_expect_eq(got->sums.of[k][w].ns, want->of[k][w].ns, "%s: ns of %s of worker %d",
			             path, categories[k], w);
		}
	d9o_free(&o);
	free(p);
	free(want);
	ran_free(&r);
}

static struct output *
real_trace(const char *name)
{
	const char *const dir = d9o_traces();
	struct output *const got = calloc(1, sizeof *got);
	char path[1024];

	if (dir == NULL)
		cr_skip_test("the traces are not here");
	cr_assert_not_null(got);
	snprintf(path, sizeof path, "%s/dial9/%s", dir, name);
	agree(path, got);
	return got;
}

Test(dial9_plan, a_metrics_service)
{
	struct output *const got = real_trace("metrics-service.bin");
	uint64_t polls = 0;

	for (int w = 0; w < WORKERS; w++)
		polls += got->sums.of[POLL][w].count;
	cr_expect_gt(polls, 31000);
	cr_expect_eq(got->counters, 426); /* samples of the queue */
	cr_expect_geq(got->out, got->in); /* some tasks never run again */
	cr_expect_gt(got->out, 20000, "%zu arrows", got->out); /* of 31,824 wakes */
	cr_expect_eq(got->begins, got->ends);
	cr_expect_eq(got->begins,
	             309); /* tasks, some of which are ended in earlier blocks than they are spawned in */
	cr_expect_eq(got->unfinished, 0);
	free(got);
}

Test(dial9_plan, a_small_run)
{
	struct output *const got = real_trace("block-in-place.bin");

	cr_expect_eq(got->counters, 63);
	cr_expect_eq(got->begins, 10);
	cr_expect_eq(got->unfinished, 0);
	cr_expect_eq(got->begins, got->ends);
	free(got);
}
