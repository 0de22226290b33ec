#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "test/support/strength.h"

/* Selected events, compared with a slow oracle: the lines of the whole trace, each judged alone. */

#define MAX_EVENTS 20000

static const char *const inputs[] = {
	"testdata/heph/good/all-types.bin.log",
	"testdata/dial9/good/again.dial9",
	"testdata/dftracer/good/aggregated.pfw",
	"testdata/htdump/good/overlapping.htdump",
	"../shared/traces/heph/actors.bin.log",
	"../shared/traces/dftracer/graph.pfw",
	"../shared/traces/htdump/two-threads.htdump",
	"../shared/traces/ovni/state/mpi-func-nested",
	"../shared/traces/ovni/state/nanos6-rerun-task-bad",
	"../shared/traces/ovni/state/nosv-bad-double-execute",
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

static uint64_t number(const cJSON *line, const char *key, bool *has)
{
	const cJSON *const v = cJSON_GetObjectItemCaseSensitive(line, key);

	if (has != NULL)
		*has = v != NULL;
	return v == NULL           ? 0
	       : cJSON_IsString(v) ? strtoull(v->valuestring, NULL, 10)
	                           : (uint64_t)v->valuedouble;
}

static void copy(char *to, size_t space, const cJSON *line, const char *key)
{
	const char *const s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, key));

	snprintf(to, space, "%s", s != NULL ? s : "");
}

/* The events of NDJSON.  Times of the inputs are below 2^53, up to which cJSON is exact. */
static struct list read_lines(char *text)
{
	struct list l = { calloc(MAX_EVENTS, sizeof *l.all), 0, calloc(MAX_EVENTS, sizeof *l.lines) };

	for (char *p = strtok(text, "\n"); p != NULL && l.n < MAX_EVENTS; p = strtok(NULL, "\n")) {
		cJSON *const line = cJSON_Parse(p);
		const char *const kind = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, "kind"));
		if (cJSON_GetObjectItemCaseSensitive(line, "type") != NULL) {
			cJSON_Delete(line);
			continue;
		}
		cr_assert_not_null(kind, "%s", p);
		struct happening *const h = &l.all[l.n];
		h->span = strcmp(kind, "span") == 0 || strcmp(kind, "async") == 0;
		h->offset = number(line, "offset", NULL);
		h->ts = number(line, "ts_ns", NULL);
		h->dur = h->span ? number(line, "dur_ns", NULL) : 0;
		h->pid = number(line, "pid", &h->has_pid);
		h->tid = number(line, "tid", &h->has_tid);
		copy(h->name, sizeof h->name, line, "name");
		copy(h->category, sizeof h->category, line, "category");
		h->fields = cJSON_GetObjectItemCaseSensitive(line, "args");
		copy(h->clipped, sizeof h->clipped, h->fields, "clipped");
		l.lines[l.n++] = line;
	}
	return l;
}

static void free_lines(struct list *l)
{
	for (size_t i = 0; i < l->n; i++)
		cJSON_Delete(l->lines[i]);
	free(l->lines);
	free(l->all);
}

static struct list run(const char *input, const char *const *options, size_t n)
{
	const char *args[40] = { "convert", "-q", "--to", "ndjson" };
	size_t k = 4;

	for (size_t i = 0; i < n; i++)
		args[k++] = options[i];
	args[k++] = input;
	args[k++] = "-";
	args[k] = NULL;
	struct ran r = run_tool(args, NULL, 0);
	const bool reversed = r.status == 3 && strstr(r.err, "no event can be between them") != NULL;
	cr_assert(reversed || r.status == 0 || r.status == 1, "%s: status %d: %s", input, r.status, r.err);
	struct list l = read_lines(r.out);
	ran_free(&r);
	return l;
}

/* ---- one question ---- */

struct question {
	char text[24][64];
	size_t n;
	const char *name, *not_name, *category; /* NULL: not asked */
	const struct happening *pid, *tid;
	uint64_t min_dur, max_dur, since, until;
	int edges; /* 0 clip, 1 keep, 2 drop */
};

static void say(struct question *q, const char *option, const char *arg)
{
	snprintf(q->text[q->n++], 64, "%s", option);
	if (arg != NULL)
		snprintf(q->text[q->n++], 64, "%s", arg);
}

static void say_number(struct question *q, const char *option, uint64_t v)
{
	char text[32];

	snprintf(text, sizeof text, "%" PRIu64 "%s", v, strcmp(option, "--min-dur") == 0 ? "ns" : "");
	say(q, option, text);
}

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static bool plain(const char *s)
{
	return strlen(s) < 60 && strpbrk(s, "*?[]\\,") == NULL;
}

static struct question ask(const struct list *l, uint32_t *seed)
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

static bool is_answer(const struct question *q, const struct happening *h)
{
	const uint64_t end = h->ts + h->dur;
	const bool inside = h->ts >= q->since && h->ts < q->until;

	if (q->since >= q->until || (q->name != NULL && strcmp(h->name, q->name) != 0) ||
	    (q->not_name != NULL && strcmp(h->name, q->not_name) == 0) ||
	    (q->category != NULL && strcmp(h->category, q->category) != 0) ||
	    (q->tid != NULL && (!h->has_tid || h->tid != q->tid->tid)) || h->dur < q->min_dur)
		return false;
	if (h->dur == 0)
		return inside;
	return q->edges == 2 ? h->ts >= q->since && end <= q->until : end > q->since && h->ts < q->until;
}

static void compare(const char *input, const struct question *q, const struct list *whole)
{
	const char *options[24];
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
		                             : from != h->ts                       ? "start"
		                             : to != h->ts + h->dur                ? "end"
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
		for (unsigned long k = 0; whole.n > 0 && k < strength(8, 40, 400); k++) {
			const struct question q = ask(&whole, &seed);
			compare(inputs[i], &q, &whole);
		}
		free_lines(&whole);
	}
}

/* ---- relative times ---- */

#define SAMPLE "testdata/htdump/good/overlapping.htdump"

static struct ran shell(const char *script)
{
	return run_program((const char *const[]){ "sh", "-c", script, tool_path(), NULL }, NULL, 0);
}

static void expect_output(const char *script, int status, const char *out)
{
	struct ran r = shell(script);

	cr_expect_eq(r.status, status, "%s: status %d: %s", script, r.status, r.err);
	cr_expect_str_eq(r.out, out, "%s: %s%s", script, r.out, r.err);
	ran_free(&r);
}

Test(select, times_may_be_relative)
{
	struct ran all = shell("\"$0\" cat -q " SAMPLE " | grep ' span ' | sed 's/.* ts=\\([0-9]*\\) "
	                       "dur=\\([0-9]*\\) .*/\\1 \\2/'");
	uint64_t first = UINT64_MAX, last = 0, middle;
	char script[600];

	cr_assert_eq(all.status, 0);
	for (char *p = all.out; *p != '\0';) {
		const uint64_t ts = strtoull(p, &p, 10), end = ts + strtoull(p, &p, 10);
		first = ts < first ? ts : first;
		last = end > last ? end : last;
		p += *p == '\n';
	}
	middle = first + (last - first) / 2;
	ran_free(&all);
	for (int i = 0; i < 3; i++) {
		char option[64] = "--since 50%";
		if (i == 0)
			snprintf(option, sizeof option, "--since +%" PRIu64, middle - first);
		if (i == 1)
			snprintf(option, sizeof option, "--since -%" PRIu64 "ns", last - middle);
		snprintf(script, sizeof script,
		         "a=$(\"$0\" cat -q --since %" PRIu64 " " SAMPLE ") b=$(\"$0\" cat -q %s " SAMPLE
		         "); [ -n \"$a\" ] && [ \"$a\" = \"$b\" ]",
		         middle, option);
		expect_output(script, 0, "");
	}
}
