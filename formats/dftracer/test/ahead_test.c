/* Names defined after their use are found in every dialect. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

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
Test(dftracer_ahead, finds_names_of_tracks_far_ahead)
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
