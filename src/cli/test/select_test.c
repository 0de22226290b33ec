#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cmd/test/cli_test_util.h"

/* Which events come out, held against a slow oracle: the lines of the whole trace, each judged alone. */

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

static void copy(char *to, size_t room, const cJSON *line, const char *key)
{
	const char *const s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, key));

	snprintf(to, room, "%s", s != NULL ? s : "");
}

/* The events of NDJSON.  Times of the inputs are below 2^53, which is as far as cJSON counts. */
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
		for (int k = 0; whole.n > 0 && k < 40; k++) {
			const struct question q = ask(&whole, &seed);
			compare(inputs[i], &q, &whole);
		}
		free_lines(&whole);
	}
}

/* ---- single facts ---- */

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

static void expect_message(const char *script, int status, const char *words)
{
	struct ran r = shell(script);

	cr_expect_eq(r.status, status, "%s: status %d: %s", script, r.status, r.err);
	cr_expect_not_null(strstr(r.err, words), "%s: %s is not in: %s", script, words, r.err);
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

Test(select, what_needs_the_whole_trace_needs_a_file)
{
	expect_message("\"$0\" cat --since 50% - <" SAMPLE, 2, "read it from a file");
	expect_message("\"$0\" cat --until -1us - <" SAMPLE, 2, "read it from a file");
	expect_message("\"$0\" cat --since 2026-01-01 " SAMPLE, 2, "wall time of this trace is not known");
	/* the first event of a pipe stands for the first time */
	expect_output("\"$0\" cat -q --since +0 - <" SAMPLE " | grep -c span", 0, "6\n");
}

Test(select, mistakes)
{
	expect_message("\"$0\" cat --since soon " SAMPLE, 3, "--since takes a time");
	expect_message("\"$0\" cat --min-dur -1 " SAMPLE, 3, "--min-dur takes a duration");
	expect_message("\"$0\" cat --pid x " SAMPLE, 3, "--pid takes a number");
	expect_message("\"$0\" cat --where x " SAMPLE, 3, "--where takes KEY=GLOB");
	expect_message("\"$0\" cat --where '>5' " SAMPLE, 3, "--where takes KEY=GLOB");
	expect_message("\"$0\" cat --since 200% " SAMPLE, 3, "--since takes at most 100%");
	expect_message("\"$0\" cat --since -10% " SAMPLE, 3, "0% to 100% of the trace");
	expect_message("\"$0\" cat --min-dur 1m " SAMPLE, 3,
	               "one of the units ns, us, ms, s, min, h, not 1m");
	expect_message("\"$0\" cat --min-dur 100 " SAMPLE, 3, "a unit with its number");
	expect_message("\"$0\" cat --not " SAMPLE, 3, "--not stands before no option");
	expect_message("\"$0\" cat --not --since 1 " SAMPLE, 3, "--not does not go with --since");
	expect_message("\"$0\" cat --edges keep " SAMPLE, 3, "give one of them");
	expect_message("\"$0\" convert --raw --name a --to ndjson testdata/ndjson/good/raw.ndjson -", 3,
	               "of which all records are written or none");
	expect_message(
	    "set --; for i in $(seq 65); do set -- \"$@\" --name a; done; exec \"$0\" cat \"$@\" " SAMPLE, 3,
	    "takes 64 conditions at most");
}

Test(select, fields_tracks_and_processes)
{
	expect_output("\"$0\" cat -q --where id=4[12] " SAMPLE " | wc -l", 0, "0\n");
	expect_output("\"$0\" cat -q --where 'id>=41' --where 'id<43' --not --where 'id>41' " SAMPLE
	              " | grep -c id=41",
	              0, "1\n");
	expect_output("\"$0\" cat -q --where 'id=4?' --not --where id=41 --name '*crosses*' " SAMPLE
	              " | wc -l",
	              0, "1\n");
	expect_output("\"$0\" cat -q --tid 2 " SAMPLE " | grep -vc 'track=\"thread 2\"'", 1, "0\n");
	expect_output("\"$0\" cat -q --track 'thread 2' " SAMPLE " | grep -c 'track=\"thread 2\"'", 0, "1\n");
	expect_output("\"$0\" stats -q --where id=41 " SAMPLE
	              " | sed -n '/^spans/,/^$/p' | grep -c 'CallstackString'",
	              0, "1\n");
}

/* Nothing is said of tracks that have no event in the output. */
Test(select, other_tracks_are_not_in_the_output)
{
	expect_output("\"$0\" convert -q --to chrome --tid 2 " SAMPLE
	              " - | grep -c '\"thread_name\"'; \"$0\" convert -q --to ndjson --tid 2 " SAMPLE
	              " - | grep -c '\"type\":\"track\"'; \"$0\" convert -q --to htdump --tid 2 " SAMPLE
	              " - | \"$0\" info -q --from htdump - | grep tracks",
	              0, "1\n2\ntracks:   1 in 1 process\n");
}

Test(select, events_left_out_are_counted_and_no_loss)
{
	expect_message("exec \"$0\" convert --fail-on-loss --name first --to chrome " SAMPLE " -", 0,
	               "events selected");
	expect_output("\"$0\" convert -q --name first --to chrome " SAMPLE " - 2>&1 >/dev/null", 0, "");
}

/* What matches nothing is said, also with -q, with what was meant. */
Test(select, options_that_match_nothing)
{
	static const struct {
		const char *options, *says;
	} rows[] = {
		{ "--name Frist", "warning: no event has the name \"Frist\"; did you mean \"first\"?" },
		{ "--name first --category nosuch",
		  "warning: no event has the category \"nosuch\"; there is \"" },
		{ "--name first --pid 77", "warning: no event is of a process 77" },
		{ "--tid 77", "warning: no event is of a thread 77; there are 1, 2" },
		{ "--not --track nosuch", "warning: no track, thread or process with events has the name" },
		{ "--where nosuch=1", "warning: no event has a field \"nosuch\"" },
		{ "--min-dur 1h", "warning: none of " },
		{ "--since 400s", "warning: none of " },
	};
	char command[512];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		snprintf(command, sizeof command, "exec \"$0\" stats -q %s " SAMPLE, rows[i].options);
		expect_message(command, 0, rows[i].says);
		snprintf(command, sizeof command,
		         "\"$0\" convert -q --fail-on-empty --to ndjson %s " SAMPLE
		         " - 2>&1 >/dev/null | grep -c warning",
		         rows[i].options);
		expect_output(command, 0, "1\n");
	}
	expect_output("\"$0\" cat -q --fail-on-empty --name nosuch " SAMPLE " 2>/dev/null", 1, "");
	expect_output("\"$0\" info -q --pid 77 " SAMPLE " 2>/dev/null | grep times", 0,
	              "times:    none (0 of 6 events selected)\n");
	expect_output("\"$0\" stats -q --name first " SAMPLE " 2>&1 | grep -c warning", 1, "0\n");
}

/* No time is in a window whose end is not after its beginning: nothing is written. */
Test(select, windows_that_are_reversed)
{
	static const struct {
		const char *options, *says;
	} rows[] = {
		{ "--since 50% --until 10%", "--since 50% is not before --until 10%" },
		{ "--since 50% --until 50%", "no event can be between them" },
		{ "--since -1us --until -2us", "--since -1us is not before --until -2us" },
		{ "--since 2ms --until 1ms", "--since 2ms is not before --until 1ms" },
		{ "--since 90% --until +1ns", " ns) is not before --until +1ns (" },
		{ "--since 90% --until 1ns", " ns) is not before --until 1ns (1 ns)" },
		{ "--min-dur 5ms --max-dur 1ms", "--min-dur 5ms is longer than --max-dur 1ms" },
	};
	static const char *const runs[] = {
		"stats " SAMPLE,
		"info " SAMPLE,
		"cat " SAMPLE,
		"diff " SAMPLE " " SAMPLE,
		"validate --scope " SAMPLE,
		"convert --to ndjson " SAMPLE " -",
		"convert --to htdump " SAMPLE " -",
		"merge --align start --to ndjson -o - " SAMPLE " " SAMPLE,
	};
	char command[512];

	for (size_t k = 0; k < sizeof runs / sizeof *runs; k++)
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			snprintf(command, sizeof command, "exec \"$0\" %s %s", runs[k], rows[i].options);
			expect_message(command, 3, rows[i].says);
			snprintf(command, sizeof command, "\"$0\" %s %s 2>/dev/null", runs[k],
			         rows[i].options);
			if (k < 3 || k > 4)
				expect_output(command, 3, "");
		}
}

/* Self times are those of the whole trace; a window cuts first. */
Test(select, self_times_do_not_depend_on_it)
{
	expect_output("for o in '' '--name frame' '--category OwnSpan' '--min-dur 12'; do \"$0\" stats -q "
	              "--format json $o testdata/htdump/good/wire-little.htdump 2>/dev/null | grep -o "
	              "'\"name\":\"frame\".*\"self_ns\":[0-9]*'; done | sort | uniq -c | wc -l",
	              0, "1\n");
}

Test(select, the_same_on_any_number_of_threads)
{
	expect_output("for n in 1 2 7; do for to in chrome ndjson htdump perfetto; do \"$0\" convert -q "
	              "--threads $n --to "
	              "$to --since 20% --until 80% --not --name '*cross*' " SAMPLE
	              " - | cksum; done | cksum; done | sort -u | wc -l",
	              0, "1\n");
}
