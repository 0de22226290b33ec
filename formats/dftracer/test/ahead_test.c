/* Names defined after their use are found in every dialect; if the look-ahead pass fails, the message says
 * why. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "input/private.h"
#include "run/pipeline.h"

#define USE                                                                                                  \
	"{\"id\":3,\"name\":\"open\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":8,\"ts\":1000,\"dur\":20,\"ph\":"   \
	"\"X\","                                                                                             \
	"\"args\":{\"hhash\":5692,\"fhash\":22}}\n"
#define HOST(ph) "{\"id\":1,\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":" ph ","

/* Definitions of the host, in the forms of all dialects and in others that the reader accepts. */
static const char *const definitions[] = {
	HOST("\"M\"") "\"args\":{\"name\":\"node1\",\"value\":5692}}\n",
	HOST("\"m\"") "\"args\":{\"name\":\"node1\",\"value\":5692}}\n",
	HOST("\"H\"") "\"args\":{\"name\":\"node1\",\"hash\":5692}}\n",
	HOST("4") "\"args\":{\"name\":\"node1\",\"value\":5692}}\n",
	HOST(" 4 ") "\"args\":{\"name\":\"node1\",\"value\":5692}}\n",
	"{\"ph\":4, \"args\":{\"value\":5692,\"name\":\"node1\"},\"pid\":7,\"tid\":7,\"name\" : \"HH\"}\n",
};

#define NDEFINITIONS (sizeof definitions / sizeof definitions[0])

/* A run of the tool: status, messages, output. */
struct outcome {
	struct ran ran;
	char *json;
};

static struct outcome convert(const char *text)
{
	char *const dir = make_folder();
	char in[512], out[512];
	struct outcome o;
	size_t n;

	snprintf(in, sizeof in, "%s/a.pfw", dir);
	snprintf(out, sizeof out, "%s/a.json", dir);
	cr_assert(write_whole(in, text, strlen(text)));
	o.ran = run_tool((const char *const[]){ "convert", "--quiet", in, out, NULL }, NULL, 0);
	o.json = read_whole(out, &n);
	remove_folder(dir);
	return o;
}

static void outcome_free(struct outcome *o)
{
	ran_free(&o->ran);
	free(o->json);
}

/* Makes a trace with a definition far after its uses. */
static char *text_of(const char *event, size_t times, const char *definition)
{
	const size_t n = strlen(event), d = strlen(definition);
	char *const text = malloc(2 + times * n + d + 1);

	cr_assert_not_null(text);
	memcpy(text, "[\n", 2);
	for (size_t i = 0; i < times; i++)
		memcpy(text + 2 + i * n, event, n);
	memcpy(text + 2 + times * n, definition, d + 1);
	return text;
}

Test(dftracer_ahead, finds_what_any_dialect_defines)
{
	for (size_t i = 0; i < NDEFINITIONS; i++) {
		char *const text = text_of(USE, 300, definitions[i]);
		struct outcome o = convert(text);
		cr_assert_not_null(o.json);
		cr_expect_not_null(strstr(o.json, "node1"), "%s", definitions[i]);
		cr_expect_null(strstr(o.json, "5692"), "%s", definitions[i]);
		cr_expect_null(strstr(o.ran.err, "twice"), "%s: %s", definitions[i], o.ran.err);
		outcome_free(&o);
		free(text);
	}
}

/* The same with names of tracks and ranks, more than one piece of the search ahead. */
Test(dftracer_ahead, finds_names_of_tracks_far_behind)
{
	static const char late[] =
	    "{\"name\":\"process_name\",\"pid\":7,\"tid\":7,\"ph\":4,\"args\":{\"name\":\"late process\"}}\n"
	    "{\"name\":\"thread_name\",\"pid\":7,\"tid\":8,\"ph\":\"M\",\"args\":{\"name\":\"late "
	    "thread\"}}\n"
	    "{\"name\":\"PR\",\"pid\":9,\"tid\":9,\"ph\":4,\"args\":{\"name\":\"rank\",\"value\":77}}\n"
	    "{\"id\":4,\"name\":\"x\",\"cat\":\"C\",\"pid\":9,\"tid\":9,\"ts\":1000,\"dur\":20,\"ph\":1}\n";
	char *const text = text_of(USE, 20000, late);
	struct outcome o = convert(text);

	cr_assert_not_null(o.json);
	cr_expect_not_null(strstr(o.json, "late process"));
	cr_expect_not_null(strstr(o.json, "late thread"));
	cr_expect_not_null(strstr(o.json, "Rank 77"));
	outcome_free(&o);
	free(text);
}

/* ---- the pass fails ---- */

struct seen {
	bool complete;
	char messages[2048];
};

static void add_message(void *ctx, const struct findings *all, const struct finding *f)
{
	struct seen *const s = ctx;
	const size_t n = strlen(s->messages);

	(void)all;
	snprintf(s->messages + n, sizeof s->messages - n, "%s: %s\n", f->rule->id, f->message);
}

static void closed(void *ctx, const struct source *source)
{
	struct seen *const s = ctx;

	s->complete = source->complete;
}

static bool stop_after_some(struct input *in)
{
	return input_fail_errno(in, "cannot unpack: ", EAGAIN);
}

static struct input_source_ops stopping; /* set before a test reads */

static struct input *reopen_stops(const struct input *in)
{
	struct input *const again = input_from_memory_slowly(in->base, 200, 100);

	if (again != NULL) {
		stopping = *again->ops;
		stopping.more = stop_after_some;
		again->ops = &stopping;
	}
	return again;
}

static struct input *reopen_fails_at_once(const struct input *in)
{
	struct input *const again = input_new(in->path);

	if (again != NULL)
		input_fail_errno(again, "cannot unpack: ", EAGAIN);
	return again;
}

static struct input *reopen_has_no_memory(const struct input *in)
{
	(void)in;
	return NULL;
}

static void read_with(struct input *(*reopen)(const struct input *), bool once, struct seen *s)
{
	static const char *const paths[] = { "memory" };
	char *const text = text_of(USE, 300, definitions[0]);
	struct input *const in = input_from_memory(text, strlen(text));
	const struct pipeline_job job = { .in.paths = paths,
		                          .in.npaths = 1,
		                          .in.input = in,
		                          .in.from = format_by_name("dftracer"),
		                          .read.want = WANT_TIMES | WANT_FIELDS,
		                          .to.sink = add_message,
		                          .to.ctx = s,
		                          .to.hooks = { .closed = closed, .ctx = s } };
	struct pipeline f;
	struct batch *b;

	*s = (struct seen){ .complete = false };
	cr_assert_not_null(in);
	struct input_source_ops ops = *in->ops;
	ops.reopen = reopen;
	in->ops = &ops;
	in->source->can_reopen = !once;
	cr_assert(pipeline_open(&f, &job));
	while (pipeline_next(&f, &b) == STAGE_MORE)
		batch_release(b);
	pipeline_end(&f);
	cr_expect_eq(f.context.system_failed, !s->complete);
	cr_expect_eq(f.context.unreadable || !s->complete, !s->complete);
	pipeline_close(&f);
	free(text);
}

Test(dftracer_ahead, a_pipe_is_said_to_be_one)
{
	struct seen s;

	read_with(reopen_stops, true, &s);
	cr_expect(s.complete);
	cr_expect_not_null(strstr(s.messages, "cannot be read twice"), "%s", s.messages);
}

Test(dftracer_ahead, a_thread_that_cannot_be_had_is_named)
{
	struct seen s;

	read_with(reopen_fails_at_once, false, &s);
	cr_expect_not(s.complete);
	cr_expect_not_null(
	    strstr(s.messages, "input/system: cannot unpack: Resource temporarily unavailable"), "%s",
	    s.messages);
	cr_expect_null(strstr(s.messages, "twice"), "%s", s.messages);
	cr_expect_null(strstr(s.messages, "no-memory"), "%s", s.messages);
}

/* The look-ahead pass fails in the middle; the first would not. */
Test(dftracer_ahead, a_passing_failure_is_named)
{
	struct seen s;

	read_with(reopen_stops, false, &s);
	cr_expect_not(s.complete);
	cr_expect_not_null(
	    strstr(s.messages, "input/system: cannot unpack: Resource temporarily unavailable"), "%s",
	    s.messages);
	cr_expect_null(strstr(s.messages, "twice"), "%s", s.messages);
}

Test(dftracer_ahead, no_memory_is_named)
{
	struct seen s;

	read_with(reopen_has_no_memory, false, &s);
	cr_expect_not(s.complete);
	cr_expect_not_null(strstr(s.messages, "input/no-memory"), "%s", s.messages);
	cr_expect_null(strstr(s.messages, "twice"), "%s", s.messages);
}
