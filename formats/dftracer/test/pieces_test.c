/* Lines that further threads read: the same output as from one thread. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

#define MANY 30000 /* lines of 150 bytes: more than the 4 MiB from which threads pay */
#define FEW 1000   /* for a build with short pieces */

/* Unusual text between common records. */
static const char *const oddities[] = {
	"",
	"\n",
	"[\n",
	"]\n",
	"{\"id\":1,\"name\":\"cut\n",
	"\xff\xfe\n",
	"  {\"id\":7,\"name\":\"blank\",\"cat\":\"P\",\"pid\":5,\"tid\":6,\"ts\":7,\"dur\":8,\"ph\":\"X\"}\n",
	"{\"id\":8,\"name\":\"es\\u0063\",\"cat\":\"P\",\"pid\":5,\"tid\":6,\"ts\":7,\"dur\":8,\"ph\":\"X\"}"
	"\r\n",
	"{\"id\":9,\"name\":\"a\",\"cat\":\"P\",\"pid\":5,\"tid\":6,\"ts\":7,\"dur\":8,\"ph\":\"X\"}"
	"{\"id\":10,\"name\":\"b\",\"cat\":\"P\",\"pid\":5,\"tid\":6,\"ts\":7,\"dur\":8,\"ph\":\"X\"},\n",
	"{\"id\":11,\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":5,\"tid\":6,\"ph\":\"M\",\"args\":"
	"{\"hhash\":\"00000000000000aa\",\"name\":\"/late\",\"value\":\"00000000000000f1\"}}\n",
};

/* Members of args that differ from line to line; a new one each time fills the table of layouts. */
static void put_args(FILE *f, int line, bool new_layouts)
{
	static const char *const values[] = { "1", "-5", "1.5", "\"text\"", "[1,{\"a\":2}]", "null", "true" };
	const int n = line % 7;

	for (int i = 0; i < n; i++)
		fprintf(f, ",\"k%d\":%s", i, values[(line / 7 + i) % 7]);
	if (new_layouts)
		fprintf(f, ",\"new%d\":%d", line, line);
}

static void write_trace(const char *path, int lines, size_t oddity, bool new_layouts)
{
	FILE *const f = fopen(path, "w");

	cr_assert_not_null(f);
	for (int i = 0; i < lines; i++) {
		fprintf(
		    f,
		    "{\"id\":%d,\"name\":\"%s\",\"cat\":\"%s\",\"pid\":5,\"tid\":%d,\"ts\":%d,\"dur\":%d,"
		    "\"ph\":\"X\",\"args\":{\"hhash\":\"00000000000000aa\",\"fhash\":\"00000000000000f1\"",
		    i, i % 3 == 0 ? "read" : "open64", i % 5 == 0 ? "STDIO" : "POSIX", 50 + i % 3,
		    1000000 + 9 * i, i % 10 == 0 ? 60 : i % 7);
		put_args(f, i, new_layouts);
		fputs("}}\n", f);
		if (i % 97 == 96)
			fputs(oddities[oddity], f);
		if (i == lines / 2) /* longer than a piece has behind it */
			fprintf(f, "{\"id\":%d,\"name\":\"%05000d\",\"cat\":\"P\",\"pid\":5,\"tid\":6}\n",
			        lines, 1);
	}
	cr_assert_eq(fclose(f), 0);
}

static void expect_output_of_one_thread(int lines)
{
	static const char *const commands[][8] = { { "validate", "IN" },
		                                   { "stats", "IN" },
		                                   { "convert", "--to", "dftracer", "IN", "-" },
		                                   { "convert", "--to", "csv", "IN", "-" } };
	char *const dir = make_folder();
	const size_t n = sizeof oddities / sizeof oddities[0];
	char path[300], what[40];

	snprintf(path, sizeof path, "%s/a.pfw", dir);
	for (size_t i = 0; i <= n; i++) {
		const bool new_layouts = i == n;
		write_trace(path, lines, new_layouts ? 0 : i, new_layouts);
		snprintf(what, sizeof what, new_layouts ? "new layouts" : "oddity %zu", i);
		for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++)
			expect_same_for_threads(commands[k], path, what);
	}
	remove_folder(dir);
}

Test(dftracer_pieces, output_of_one_thread)
{
	expect_output_of_one_thread(MANY);
}

Test(dftracer_pieces_race, output_of_one_thread)
{
	expect_output_of_one_thread(FEW);
}
