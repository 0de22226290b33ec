#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli_test_util.h"
#include "cmd/cmd.h"

/* Which events come out, held against a slow oracle: the lines of the whole trace, each judged alone. */
TestSuite(select, .timeout = 300);

#define MOST_EVENTS 20000

static const char *const inputs[] = {
	"testdata/heph/good/all-types.bin.log",
	"testdata/dial9/good/again.dial9",
	"testdata/dftracer/good/aggregated.pfw",
	"testdata/htdump/good/overlapping.htdump",
	"../shared/traces/heph/actors.bin.log",
	"../shared/traces/dftracer/graph.pfw",
	"../shared/traces/htdump/two-threads.htdump",
	"../shared/traces/ovni/state",
};

struct happening {
	uint64_t offset, ts, dur, pid, tid;
	bool span, has_pid, has_tid;
	char name[200], category[200], clipped[8];
	cJSON *fields; /* of `whole` */
};

struct list {
	struct happening *all;
	size_t n;
	cJSON **lines;
};

static uint64_t
number(const cJSON *line, const char *key, bool *has)
{
	const cJSON *const v = cJSON_GetObjectItemCaseSensitive(line, key);

	if (has != NULL)
		*has = v != NULL;
	return v == NULL             ? 0
	       : cJSON_IsString(v)   ? strtoull(v->valuestring, NULL, 10)
	                             : (uint64_t)v->valuedouble;
}

static void
copy(char *to, size_t room, const cJSON *line, const char *key)
{
	const char *const s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, key));

	snprintf(to, room, "%s", s != NULL ? s : "");
}

/* The events of NDJSON.  Times of the inputs are below 2^53, which is as far as cJSON counts. */
static struct list
read_lines(char *text)
{
	struct list l = { calloc(MOST_EVENTS, sizeof *l.all), 0, calloc(MOST_EVENTS, sizeof *l.lines) };

	for (char *p = strtok(text, "\n"); p != NULL && l.n < MOST_EVENTS; p = strtok(NULL, "\n")) {
		cJSON *const line = cJSON_Parse(p);
		const char *const type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, "type"));
		cr_assert_not_null(type, "%s", p);
		if (strncmp(type, "trace", 5) == 0 || strcmp(type, "track") == 0 || strcmp(type, "class") == 0) {
			cJSON_Delete(line);
			continue;
		}
		struct happening *const h = &l.all[l.n];
		h->span = strcmp(type, "span") == 0;
		h->offset = number(line, "offset", NULL);
		h->ts = number(line, "ts", NULL);
		h->dur = h->span ? number(line, "dur", NULL) : 0;
		h->pid = number(line, "pid", &h->has_pid);
		h->tid = number(line, "tid", &h->has_tid);
		copy(h->name, sizeof h->name, line, "name");
		copy(h->category, sizeof h->category, line, "category");
		h->fields = cJSON_GetObjectItemCaseSensitive(line, "fields");
		copy(h->clipped, sizeof h->clipped, h->fields, "clipped");
		l.lines[l.n++] = line;
	}
	return l;
}

static void
free_lines(struct list *l)
{
	for (size_t i = 0; i < l->n; i++)
		cJSON_Delete(l->lines[i]);
	free(l->lines);
	free(l->all);
}

static struct list
run(const char *input, const char *const *options, size_t n)
{
	const char *args[40] = { "convert", "-q", "--to", "ndjson" };
	size_t k = 4;

	for (size_t i = 0; i < n; i++)
		args[k++] = options[i];
	args[k++] = input;
	args[k++] = "-";
	args[k] = NULL;
	struct ran r = run_tool(args, NULL, 0);
	cr_assert(r.status == 0 || r.status == 1, "%s: status %d: %s", input, r.status, r.err);
	struct list l = read_lines(r.out);
	ran_free(&r);
	return l;
}

/* ---- one question ---- */

struct question {
	char text[12][64];
	size_t n;
	const char *name, *not_name, *category; /* NULL: not asked */
	const struct happening *pid, *tid;
	uint64_t min_dur, max_dur, since, until;
	int edges; /* 0 clip, 1 keep, 2 drop */
};

static void
say(struct question *q, const char *option, const char *arg)
{
	snprintf(q->text[q->n++], 64, "%s", option);
	if (arg != NULL)
		snprintf(q->text[q->n++], 64, "%s", arg);
}

static void
say_number(struct question *q, const char *option, uint64_t v)
{
	char text[32];

	snprintf(text, sizeof text, "%" PRIu64, v);
	say(q, option, text);
}

static uint32_t
next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static bool
plain(const char *s)
{
	return strlen(s) < 60 && strpbrk(s, "*?[]\\") == NULL;
}

static struct question
ask(const struct list *l, uint32_t *seed)
{
	static const char *const edges[] = { "clip", "keep", "drop" };
	struct question q = { .max_dur = UINT64_MAX, .until = UINT64_MAX };
	const struct happening *h[6];

	for (size_t i = 0; i < 6; i++)
		h[i] = &l->all[next(seed) % l->n];
	const uint32_t which = next(seed);
	if ((which & 1) != 0 && plain(h[0]->name))
		say(&q, "--name", q.name = h[0]->name);
	if ((which & 2) != 0 && (which & 64) != 0 && plain(h[1]->name)) {
		say(&q, "--not", NULL);
		say(&q, "--name", q.not_name = h[1]->name);
	}
	if ((which & 4) != 0 && (which & 64) == 0 && plain(h[2]->category))
		say(&q, "--category", q.category = h[2]->category);
	if ((which & 8) != 0 && (which & 128) != 0 && h[3]->has_tid)
		say_number(&q, "--tid", (q.tid = h[3])->tid);
	if ((which & 16) != 0 && (which & 128) == 0)
		say_number(&q, "--min-dur", q.min_dur = h[4]->dur);
	if ((which & 32) != 0) {
		const uint64_t a = h[4]->ts, b = h[5]->ts;
		q.edges = (int)(next(seed) % 3);
		q.since = (a < b ? a : b) + 1;
		q.until = (a < b ? b : a) + 1;
		say_number(&q, "--since", q.since);
		say_number(&q, "--until", q.until);
		say(&q, "--edges", edges[q.edges]);
	}
	return q;
}

static bool
is_answer(const struct question *q, const struct happening *h)
{
	const uint64_t end = h->ts + h->dur;
	const bool inside = h->ts >= q->since && h->ts < q->until;

	if ((q->name != NULL && strcmp(h->name, q->name) != 0) ||
	    (q->not_name != NULL && strcmp(h->name, q->not_name) == 0) ||
	    (q->category != NULL && strcmp(h->category, q->category) != 0) ||
	    (q->tid != NULL && (!h->has_tid || h->tid != q->tid->tid)) || h->dur < q->min_dur)
		return false;
	if (h->dur == 0)
		return inside;
	return q->edges == 2 ? h->ts >= q->since && end <= q->until : end > q->since && h->ts < q->until;
}

static void
compare(const char *input, const struct question *q, const struct list *whole)
{
	const char *options[12];
	char shown[800] = "";
	size_t n = 0;

	for (size_t i = 0; i < q->n; i++) {
		options[i] = q->text[i];
		strncat(shown, " ", sizeof shown - strlen(shown) - 1);
		strncat(shown, q->text[i], sizeof shown - strlen(shown) - 1);
	}
	struct list got = run(input, options, q->n);
	for (size_t i = 0; i < whole->n; i++) {
		const struct happening *const h = &whole->all[i];
		if (!is_answer(q, h))
			continue;
		cr_assert(n < got.n, "%s%s: %zu events, more expected", input, shown, got.n);
		const struct happening *const g = &got.all[n++];
		const bool clip = q->edges == 0 && h->dur > 0;
		const uint64_t from = clip && h->ts < q->since ? q->since : h->ts,
		               to = clip && h->ts + h->dur > q->until ? q->until : h->ts + h->dur;
		cr_expect(g->offset == h->offset && g->ts == from && g->dur == to - from,
		          "%s%s: offset %" PRIu64 ", %" PRIu64 " + %" PRIu64, input, shown, g->offset, g->ts,
		          g->dur);
		cr_expect_str_eq(g->clipped, from != h->ts && to != h->ts + h->dur ? "both"
		                             : from != h->ts                      ? "start"
		                             : to != h->ts + h->dur               ? "end"
		                                                                  : "");
	}
	cr_expect_eq(n, got.n, "%s%s: %zu events, %zu expected", input, shown, got.n, n);
	free_lines(&got);
}

Test(select, random_questions)
{
	uint32_t seed = 20261122;

	for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
		if (access(inputs[i], R_OK) != 0)
			continue;
		struct list whole = run(inputs[i], NULL, 0);
		for (int k = 0; whole.n > 0 && k < 40; k++) {
			const struct question q = ask(&whole, &seed);
			compare(inputs[i], &q, &whole);
		}
		free_lines(&whole);
	}
}
