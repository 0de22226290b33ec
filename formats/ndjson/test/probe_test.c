/* NDJSON is not recognised as another format, and no other format as NDJSON. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/test/samples_test_util.h"
#include "format/registry.h"
#include "ndjson/test/agree_test.h"
#include "test/support/strength.h"

#define HEAD 65536 /* bytes that the engine passes to probes */

static const char *format_of(const char *text, size_t n)
{
	const bool complete = n <= HEAD;
	bool no_memory;
	const struct format *const f =
	    format_probe(slice_of(text, complete ? n : HEAD), complete, &no_memory);

	return f != NULL ? f->name : "none";
}

static const struct {
	const char *text, *format;
} rows[] = {
	{ "{\"type\":\"trace\",\"version\":1,", "ndjson" },
	{ " { \"version\" : 7, \"x\": [], \"type\": \"trace\"}\n", "ndjson" },
	{ "{\"type\":\"trace\"", "ndjson" },
	{ "{\"type\":\"trace\"}\n", "none" },
	{ "{\"type\":\"track\",\"index\":0,\"kind\":\"process\",\"name\":\"p\"}\n", "ndjson" },
	{ "{\"kind\":\"span\",\"ts_ns\":1,\"dur_ns\":2,\"name\":\"n\",\"class_index\":0,\"category\":\"c\","
	  "\"track_index\":1,"
	  "\"offset\":5}\n",
	  "ndjson" },
	{ "{\"kind\":\"span\",\"ts_ns\":1,\"dur_ns\":2,\"name\":\"n\"}\n", "none" },
	{ "{\"id\":1,\"name\":\"a\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"ph\":\"X\","
	  "\"kind\":\"span\",\"args\":{\"hhash\":1}}\n",
	  "dftracer" },
	{ "{\"traceEvents\":[{\"type\":\"trace\",\"version\":1}]}", "chrome" },
	{ "{\"type\":1,\"version\":1}", "none" },
	{ "[{\"type\":\"trace\",\"version\":1}]", "none" },
};

Test(ndjson_probe, tells_json_apart)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *const got = format_of(rows[i].text, strlen(rows[i].text));
		cr_expect_str_eq(got, rows[i].format, "%s: %s", rows[i].text, got);
	}
}

/* A sample or real trace has the format of its folder or none.  Its conversions to NDJSON, interpreted and
 * raw, are recognised as NDJSON. */
static void look(const char *path, void *ctx)
{
	static const char *const modes[] = { "--quiet", "--raw" };
	size_t *const count = ctx, n;
	char *const text = read_whole(path, &n); /* NULL for a folder */

	if (text != NULL)
		cr_expect_str_neq(format_of(text, n), "ndjson", "%s", path);
	free(text);
	for (size_t i = 0; i < 2; i++) {
		struct ran r = run_tool(
		    (const char *const[]){ "convert", "-q", modes[i], "--to", "ndjson", path, "-", NULL },
		    NULL, 0);
		if (r.out_n > 0)
			cr_expect_str_eq(format_of(r.out, r.out_n), "ndjson", "%s", path);
		*count += r.out_n > 0;
		ran_free(&r);
	}
}

/* Splits the samples, so that no test is slow. */
struct part {
	size_t i, of, n;
};

static void look_part(const char *path, void *ctx)
{
	struct part *const part = ctx;

	if (part->i++ % 2 == part->of)
		look(path, &part->n);
}

Test(ndjson_probe, samples)
{
	struct part part = { .of = 0 };

	agree_samples(look_part, &part);
	cr_expect_gt(part.n, strength(25, 150, 150));
}

Test(ndjson_probe, other_samples)
{
	struct part part = { .of = 1 };

	agree_samples(look_part, &part);
	cr_expect_gt(part.n, strength(25, 150, 150));
}

Test(ndjson_probe, real_traces)
{
	const char *const dir = real_traces();
	static const char find[] = "[ -d \"$0\" ] && find \"$0\" -type f -size -200k | sort";
	struct ran r = run_program((const char *const[]){ "sh", "-c", find, dir, NULL }, NULL, 0);
	size_t n = 0;

	if (r.out_n == 0)
		cr_skip_test("no real traces at %s", dir);
	for (char *path = strtok(r.out, "\n"); path != NULL; path = strtok(NULL, "\n"))
		if (strength_takes(path, 4))
			look(path, &n);
	cr_expect_gt(n, strength(2, 10, 10));
	ran_free(&r);
}

/* Samples of this format, including corrupt ones. */
static void own(const char *folder)
{
	char **const names = list_folder(folder, ".ndjson");
	char path[1024];
	size_t n;

	for (char **name = names; *name != NULL; name++) {
		snprintf(path, sizeof path, "%s/%s", folder, *name);
		char *const text = read_whole(path, &n);
		cr_expect_str_eq(format_of(text, n), "ndjson", "%s", path);
		free(text);
	}
	list_free(names);
}

Test(ndjson_probe, own_samples)
{
	own("testdata/ndjson/good");
	own("testdata/ndjson/bad");
}
