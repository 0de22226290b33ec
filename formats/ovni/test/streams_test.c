/*
 * Streams of one trace merged by time, against sorting all of their events; their findings; a stream that is
 * truncated while it is merged.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/test/cli_test_util.h"
#include "ovni/test/written_test.h"
#include "run/pipeline.h"

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* ---- traces of random streams ---- */

struct made {
	uint64_t key, ts, offset;
	uint32_t stream, number; /* in its stream */
};

struct trace_made {
	char *dir;
	uint64_t random;
	struct made *events;
	size_t n, cap;
	unsigned char *stream; /* bytes of the current one */
	size_t size;
};

enum { NORMAL = 0, BACKWARDS = 1, JUMBO = 2 };

static void put_event(struct trace_made *t, uint32_t stream, uint32_t number, uint64_t *clock, unsigned kind)
{
	const bool jumbo = (kind & JUMBO) != 0 && number % 16 == 3;
	const uint32_t data = jumbo ? 100000 : 8;
	unsigned char *const p = t->stream + t->size;

	if ((kind & BACKWARDS) != 0 && next_random(&t->random) % 8 == 0)
		*clock -= next_random(&t->random) % 9;
	else
		*clock += next_random(&t->random) % 3;
	p[0] = jumbo ? 0x13 : 7;
	memcpy(p + 1, "ZZz", 3);
	written_number(p + 4, *clock, 8);
	written_number(p + 12, data, 4);
	unsigned char *const payload = p + (jumbo ? 16 : 12);
	memset(payload, 0, data);
	memcpy(payload, &stream, 4);
	memcpy(payload + 4, &number, 4);
	if (t->n == t->cap) {
		t->cap = t->cap * 2 + 1024;
		t->events = realloc(t->events, t->cap * sizeof *t->events);
		cr_assert_not_null(t->events);
	}
	t->events[t->n++] =
	    (struct made){ .ts = *clock, .offset = t->size, .stream = stream, .number = number };
	t->size += (size_t)(payload - p) + data;
}

/* The order of streams by path is that of their numbers. */
static void put_stream(struct trace_made *t, uint32_t stream, uint32_t events, unsigned kind)
{
	char path[600];
	uint64_t clock = 1000, key = 0;

	t->stream = malloc(8 + (size_t)events * ((kind & JUMBO) != 0 ? 100016 : 20));
	cr_assert_not_null(t->stream);
	memcpy(t->stream, "ovni\1\0\0\0", 8);
	t->size = 8;
	for (uint32_t i = 0; i < events; i++) {
		put_event(t, stream, i, &clock, kind);
		key = clock > key ? clock : key;
		t->events[t->n - 1].key = key;
	}
	snprintf(path, sizeof path, "%s/%05u.obs", t->dir, stream);
	cr_assert(write_whole(path, t->stream, t->size));
	free(t->stream);
}

static int by_key(const void *a, const void *b)
{
	const struct made *const x = a, *const y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static struct trace_made make_trace(uint32_t streams, uint32_t events, unsigned kind)
{
	struct trace_made t = { .dir = make_folder(), .random = streams * 1000 + events };

	for (uint32_t i = 0; i < streams; i++)
		put_stream(&t, i, i % 5 == 4 ? 0 : (uint32_t)(next_random(&t.random) % events) + 1, kind);
	qsort(t.events, t.n, sizeof *t.events, by_key);
	return t;
}

static void free_trace(struct trace_made *t)
{
	remove_folder(t->dir);
	free(t->events);
}

/* ---- merged events ---- */

struct taken {
	const struct trace_made *made;
	size_t n, opened, closed, findings;
};

static bool opened(void *ctx, const struct source *f)
{
	struct taken *const t = ctx;

	cr_expect_not_null(f->in);
	cr_expect_eq(t->n, 0, "all streams are opened first");
	t->opened++;
	return true;
}

static void take(struct taken *t, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		const struct made *const want = &t->made->events[t->n];
		const struct field *const payload =
		    &b->fields[e->first_field + e->nfields - 1U]; /* of jumbo events after the flags */
		uint32_t stream, number;
		cr_assert_lt(t->n, t->made->n);
		cr_assert(e->nfields > 0 && slice_is(payload->name, "payload"));
		memcpy(&stream, payload->value.p, 4);
		memcpy(&number, payload->value.p + 4, 4);
		cr_assert(stream == want->stream && number == want->number,
		          "event %zu: %u of stream %u, expected %u of %u", t->n, number, stream, want->number,
		          want->stream);
		cr_assert(e->ts == want->ts && e->offset == want->offset);
		t->n++;
	}
}

static void closed(void *ctx, const struct source *f)
{
	struct taken *const t = ctx;

	cr_expect(f->complete || f->unreadable, "%s", f->findings.path);
	t->findings += f->findings.levels[LEVEL_ERROR];
	t->closed++;
}

static void expect_sorted(uint32_t streams, uint32_t events, unsigned kind)
{
	struct trace_made made = make_trace(streams, events, kind);
	struct taken t = { .made = &made };
	const char *const paths[] = { made.dir };
	const struct pipeline_job job = { .in.paths = paths,
		                          .in.npaths = 1,
		                          .read.want = WANT_TIMES | WANT_FIELDS | WANT_ORDER,
		                          .to.hooks = { .opened = opened, .closed = closed, .ctx = &t } };
	enum stage_status status;
	struct batch *b;
	struct pipeline *f;

	cr_assert(pipeline_open(&f, &job));
	while ((status = pipeline_next(f, &b)) == STAGE_MORE) {
		take(&t, b);
		batch_release(b);
	}
	cr_expect_eq(status, STAGE_END);
	pipeline_end(f);
	cr_expect_eq(t.n, made.n, "%u streams: %zu of %zu events", streams, t.n, made.n);
	cr_expect_eq(t.opened, streams);
	cr_expect_eq(t.closed, streams);
	cr_expect_eq(pipeline_trace(f)->records, made.n);
	cr_expect((t.findings > 0) == (kind == BACKWARDS), "%zu", t.findings);
	pipeline_close(f);
	free_trace(&made);
}

Test(ovni_streams, sorted_by_clock_path_and_offset)
{
	for (uint32_t n = 1; n < 12; n++)
		expect_sorted(n, 60, NORMAL);
	expect_sorted(3, 5000, NORMAL);
	expect_sorted(40, 700, NORMAL);
}

Test(ovni_streams, clocks_that_go_back_keep_their_order)
{
	expect_sorted(1, 300, BACKWARDS);
	expect_sorted(7, 300, BACKWARDS);
	expect_sorted(140, 30, BACKWARDS);
}

Test(ovni_streams, large_events_in_many_streams)
{
	expect_sorted(5, 60, JUMBO);
	expect_sorted(150, 20, JUMBO);
}

Test(ovni_streams, thousands)
{
	expect_sorted(3000, 20, NORMAL);
}

/* ---- commands ---- */

static struct ran run(const char *a, const char *b, const char *c, const char *d)
{
	const char *const args[] = { a, b, c, d, NULL };

	return run_tool(args, NULL, 0);
}

/* The clocks of the lines of `cat`. */
static size_t expect_lines(const struct trace_made *t, const char *text)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, " ts=")) != NULL && n < t->n; n++) {
		p += 4;
		cr_assert_eq(strtoull(p, NULL, 10), t->events[n].ts, "line %zu", n);
	}
	return n;
}

Test(ovni_streams, bad_streams_among_good_ones)
{
	struct trace_made t = make_trace(6, 50, NORMAL);
	char path[600];

	snprintf(path, sizeof path, "%s/0.obs", t.dir);
	cr_assert(write_whole(path, "", 0));
	snprintf(path, sizeof path, "%s/1.obs", t.dir);
	cr_assert(write_whole(path, "ovni\xff\0\0\0", 8));
	snprintf(path, sizeof path, "%s/2.obs", t.dir);
	cr_assert_eq(mkfifo(path, 0600), 0);
	struct ran r = run("cat", t.dir, NULL, NULL);
	cr_expect_eq(r.status, 2, "%s", r.err);
	cr_expect_eq(expect_lines(&t, r.out), t.n);
	cr_expect_not_null(strstr(r.err, "/0.obs:@0: error: the input is empty"), "%s", r.err);
	cr_expect_not_null(strstr(r.err, "/1.obs:@4: error: version 255"), "%s", r.err);
	cr_expect_not_null(strstr(r.err, "/2.obs:@0: error: is not a regular file"), "%s", r.err);
	ran_free(&r);
	free_trace(&t);
}

/* Complete events of a truncated stream are merged. */
Test(ovni_streams, a_cut_stream_among_good_ones)
{
	struct trace_made t = make_trace(4, 50, NORMAL);
	char path[600];
	size_t n;

	snprintf(path, sizeof path, "%s/00001.obs", t.dir);
	char *const p = read_whole(path, &n);
	cr_assert_not_null(p);
	cr_assert(write_whole(path, p, n - 3));
	free(p);
	struct ran r = run("stats", "--format=json", t.dir, NULL);
	char want[100];
	snprintf(want, sizeof want, "\"events\":%zu", t.n - 1);
	cr_expect_eq(r.status, 1, "%s", r.err);
	cr_expect_not_null(strstr(r.out, want), "%s is not in %s", want, r.out);
	cr_expect_not_null(strstr(r.err, "17 of the event's 20 bytes are present"), "%s", r.err);
	ran_free(&r);
	free_trace(&t);
}

/* Several operands are one trace, in any order on the command line. */
Test(ovni_streams, operands_are_merged_too)
{
	struct trace_made t = make_trace(3, 200, NORMAL);
	char a[600], b[600], c[600];

	snprintf(a, sizeof a, "%s/00000.obs", t.dir);
	snprintf(b, sizeof b, "%s/00001.obs", t.dir);
	snprintf(c, sizeof c, "%s/00002.obs", t.dir);
	const char *const one[] = { "convert", "--to=chrome", "-o", "-", b, c, a, NULL };
	struct ran r = run_tool(one, NULL, 0);
	uint64_t last = 0;
	size_t n = 0;
	for (const char *p = r.out; (p = strstr(p, "\"ts\":")) != NULL; n++) {
		char *end;
		p += 5;
		const uint64_t us = strtoull(p, &end, 10), ts = us * 1000 + strtoull(end + 1, NULL, 10);
		cr_assert_geq(ts, last);
		last = ts;
	}
	cr_expect_eq(n, t.n, "%zu of %zu", n, t.n);
	ran_free(&r);
	free_trace(&t);
}

/* The earliest event is in the middle of an unsorted stream. */
Test(ovni_streams, rebased_times_are_not_negative)
{
	struct trace_made t = make_trace(5, 300, BACKWARDS);
	const char *const args[] = { "convert", "--rebase", "--to=chrome", "-o", "-", t.dir, NULL };
	struct ran r = run_tool(args, NULL, 0);

	cr_expect_null(strstr(r.out, "\"ts\":-"));
	cr_expect_not_null(strstr(r.out, "\"ts\":0.000"));
	ran_free(&r);
	free_trace(&t);
}

/* Findings of streams that are read in parallel are reported with their streams. */
Test(ovni_streams, findings_stay_with_their_stream)
{
	struct trace_made t = make_trace(4, 300, BACKWARDS);
	struct ran r = run("stats", t.dir, NULL, NULL);
	char last[600] = "";

	for (char *line = strtok(r.err, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		char *const end = strstr(line, ".obs:");
		if (end == NULL)
			continue;
		*end = '\0';
		cr_assert(strcmp(last, line) <= 0, "%s after %s", line, last);
		snprintf(last, sizeof last, "%s", line);
	}
	ran_free(&r);
	free_trace(&t);
}

/* Each compressed stream needs memory and a thread: the ninth and later ones are not merged, which is
 * reported. */
Test(ovni_streams, packed_streams_up_to_a_number)
{
	struct trace_made t = make_trace(12, 20, NORMAL);

	for (unsigned i = 0; i < 12; i++) {
		char path[600];
		size_t n, packed;
		snprintf(path, sizeof path, "%s/%05u.obs", t.dir, i);
		char *const p = read_whole(path, &n);
		cr_assert_not_null(p);
		void *const gz = gzip_copy(p, n, &packed);
		cr_assert(write_whole(path, gz, packed));
		free(gz);
		free(p);
	}
	char report[600], text[120];
	snprintf(report, sizeof report, "--report=text=%s/report.txt", t.dir);
	struct ran r = run("stats", report, t.dir, NULL);
	cr_expect_eq(r.status, 0, "%s", r.err);
	size_t length;
	char *const said = read_whole(strchr(strchr(report, '=') + 1, '=') + 1, &length);
	cr_assert_not_null(said);
	for (unsigned i = 0; i < 12; i++) {
		snprintf(text, sizeof text,
		         "%05u.obs:@0: warning: a compressed stream beyond the eight that are merged "
		         "[input/not-merged]",
		         i);
		cr_expect_eq(strstr(said, text) != NULL, i >= 8, "%s", said);
	}
	snprintf(text, sizeof text, " %zu records", t.n);
	cr_expect_not_null(strstr(r.out, text), "%s", r.out);
	free(said);
	ran_free(&r);
	free_trace(&t);
}

/* ---- findings of the engine after the merge ---- */

/* More lines with long names than the limit: reported in the stream whose event exceeds it. */
Test(ovni_streams, too_many_lines_are_reported_of_their_stream)
{
	char *const dir = make_folder();
	char schema[600], long_name[301] = "", text[800];
	struct written w[2];

	memset(long_name, 'x', sizeof long_name - 1);
	snprintf(schema, sizeof schema, "%s/lines.yaml", dir);
	const int n =
	    snprintf(text, sizeof text,
	             "format: ovni\nevents:\n  - event: OM=\n    phase: instant\n    track: \"{value} %s\"\n"
	             "    layout: [value: i64, type: i32]\n",
	             long_name);
	cr_assert(write_whole(schema, text, (size_t)n));
	for (int i = 0; i < 2; i++) {
		written_init(&w[i], 10100);
		written_start(&w[i], 1, i);
	}
	/* The first stream has few lines; both last to the end. */
	for (int32_t value = 0; value < 10000; value++) {
		written_put(&w[1], "OM=", (uint64_t)value + 2, (const int32_t[3]){ value }, 12);
		if (value % 1000 == 0)
			written_put(&w[0], "OB.", (uint64_t)value + 2, NULL, 0);
	}
	for (int i = 0; i < 2; i++) {
		written_put(&w[i], "OHe", 10100, NULL, 0);
		written_save(&w[i], dir, i);
	}
	char report[600];
	size_t length;
	snprintf(report, sizeof report, "--report=text=%s/report.txt", dir);
	const char *const args[] = { "convert", "--vocabulary", schema, report, "--to", "chrome", dir, "-",
		                     NULL };
	struct ran r = run_tool(args, NULL, 0);
	char *const said = read_whole(strchr(strchr(report, '=') + 1, '=') + 1, &length);
	cr_assert_not_null(said);
	const char *const reported = strstr(said, "b/stream.obs:@");
	const uint64_t offset =
	    reported != NULL ? strtoull(reported + strlen("b/stream.obs:@"), NULL, 10) : 0;
	cr_expect(r.status == 0 && reported != NULL && strstr(reported, " [vocabulary/line-limit]\n") != NULL,
	          "%d, %.300s", r.status, r.err);
	cr_expect(offset > 8 + 28 && (offset - 8 - 28) % 24 == 0, "no event begins at %d", (int)offset);
	cr_expect_null(strstr(said, "a/stream.obs:@"));
	free(said);
	ran_free(&r);
	remove_folder(dir);
}

/* ---- a stream that is truncated while it is read ---- */

#define HEADER "ovni\1\0\0\0"
#define SHORT_EVENT "\0OB.\7\0\0\0\0\0\0\0" /* at 7 ns, 12 bytes */
#define JUMBO_BYTES (300 << 10) /* bytes; more than one piece of a file, so that the rest is mapped */
#define SHORT_EVENTS 20000

static void write_stream(const char *dir, int number, const char *bytes, size_t n)
{
	static const char json[] = "{\"version\":3,\"ovni\":{\"part\":\"thread\",\"tid\":1,\"pid\":1}}";
	char path[1024];

	snprintf(path, sizeof path, "%s/in/%03d", dir, number);
	cr_assert_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof path, "%s/in/%03d/stream.obs", dir, number);
	cr_assert(write_whole(path, bytes, n));
	snprintf(path, sizeof path, "%s/in/%03d/stream.json", dir, number);
	cr_assert(write_whole(path, json, sizeof json - 1));
}

/* Writes a header, a jumbo event, and a quarter of a megabyte of others. */
static size_t large_stream(char *to)
{
	size_t n = 8 + 12;

	memcpy(to, HEADER "\x13OU\"\6\0\0\0\0\0\0\0", n);
	for (int i = 0; i < 4; i++)
		to[n++] = (char)(JUMBO_BYTES >> 8 * i & 0xff);
	memset(to + n, 'j', JUMBO_BYTES);
	n += JUMBO_BYTES;
	for (int i = 0; i < SHORT_EVENTS; i++, n += 12)
		memcpy(to + n, SHORT_EVENT, 12);
	return n;
}

/* More streams than are mapped at once. */
static void put_streams(const char *dir)
{
	char path[1024], *const large = malloc(JUMBO_BYTES + SHORT_EVENTS * 12 + 100);

	cr_assert_not_null(large);
	snprintf(path, sizeof path, "%s/in", dir);
	cr_assert_eq(mkdir(path, 0700), 0);
	for (int i = 0; i < 135; i++)
		write_stream(dir, i, HEADER SHORT_EVENT, 20);
	write_stream(dir, 500, large, large_stream(large));
	memcpy(large, HEADER, 8);
	for (size_t n = 8; n < 8 + 6000 * 12; n += 12)
		memcpy(large + n, SHORT_EVENT, 12);
	put_file(dir, "begin", large, 8 + 6000 * 12);
	free(large);
}

/* Standard input gives enough of a stream to be recognised, then waits until the large file was mapped and
 * truncated after its jumbo event. */
static struct ran cut_while_read(const char *dir, const char *command)
{
	static const char script[] = "mkfifo \"$1/fifo\" || exit 99\n"
	                             "tool=$(readlink -f \"$0\")\n"
	                             "(cd \"$1\" && exec \"$tool\" $2) < \"$1/fifo\" & pid=$!\n"
	                             "exec 9> \"$1/fifo\"\n"
	                             "cat \"$1/begin\" >&9\n"
	                             "n=0\n"
	                             "until grep -q 500/stream.obs /proc/$pid/maps || [ $n -gt 1500 ]; do "
	                             "sleep 0.02; n=$((n+1)); done\n"
	                             "grep -c 500/stream.obs /proc/$pid/maps\n"
	                             "truncate -s 320000 \"$1/in/500/stream.obs\"\n"
	                             "exec 9>&-\n"
	                             "wait $pid; echo \"status $?\"; ls \"$1\"\n";

	return run_program((const char *const[]){ "sh", "-c", script, tool_path(), dir, command, NULL }, NULL,
	                   0);
}

static void expect_nothing_made(const char *command)
{
	char *const dir = make_folder();

	put_streams(dir);
	struct ran r = cut_while_read(dir, command);
	cr_expect_str_eq(r.out, "1\nstatus 2\nbegin\nfifo\nin\n", "%s: %s%s", command, r.out, r.err);
	cr_expect_not_null(strstr(r.err, "in/500/stream.obs:@"), "%s", r.err);
	cr_expect_not_null(strstr(r.err, "the file became shorter while it was read [input/shrunk]"), "%s",
	                   r.err);
	ran_free(&r);
	remove_folder(dir);
}

Test(host_race, ovni_a_merged_stream_that_shrinks_is_not_published)
{
	expect_nothing_made("convert in - -o out.json");
	expect_nothing_made("convert --to ndjson in - -o out.ndjson");
}

/* Streams of big, little and little endian are mixed, not little as the last two. */
Test(ovni_streams, byte_orders_are_mixed)
{
	static const char *const headers[] = { "ovni\0\0\0\1", "ovni\1\0\0\0", "ovni\1\0\0\0" };
	char *const dir = make_folder();
	char path[1100];
	size_t n;
	char *const json = read_whole("testdata/ovni/folders/good-two-threads/a/stream.json", &n);

	cr_assert_not_null(json);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/%d", dir, i);
		cr_assert_eq(mkdir(path, 0777), 0);
		snprintf(path, sizeof path, "%s/%d/stream.json", dir, i);
		cr_assert(write_whole(path, json, n));
		snprintf(path, sizeof path, "%s/%d/stream.obs", dir, i);
		cr_assert(write_whole(path, headers[i], 8));
	}
	struct ran r = run_tool((const char *const[]){ "info", "--json", dir, NULL }, NULL, 0);
	cr_expect_not_null(strstr(r.out, "\"byte_order\":\"mixed\""), "%s%s", r.out, r.err);
	ran_free(&r);
	free(json);
	remove_folder(dir);
}
