/* Lines that further threads read: the same output as from one thread. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "cmd/test/cli_test_util.h"

#define MANY 30000 /* lines of 150 bytes: more than the 4 MiB from which threads pay */
#define FEW 1000   /* for a build with short pieces */

/* Unusual lines between events. */
#define EVENT "\"class_index\":0,\"category\":\"k\",\"track_index\":1,\"pid\":7,\"tid\":8,\"offset\":4"
static const char *const oddities[] = {
	"",
	"\n",
	"{\"kind\":\"instant\",\"ts_ns\":5,\"name\":\"cut\n",
	"{\"kind\":\"instant\",\"ts_ns\":5,\"name\":\"\xff\"," EVENT "}\n",
	"  {\"kind\":\"instant\",\"ts_ns\":5,\"name\":\"blank\"," EVENT "}  \r\n",
	"{\"kind\":\"instant\",\"ts_ns\":5,\"name\":\"\\u0063\"," EVENT ",\"args\":{\"\\u0061\":2}}\n",
	"{\"kind\":\"instant\",\"ts_ns\":5,\"ts_ns\":6,\"name\":\"twice\"," EVENT "}\n",
	"{\"kind\":\"instant\",\"ts_ns\":5,\"new\":6,\"name\":\"new\"," EVENT "}\n",
	"{\"kind\":\"instant\",\"ts_ns\":\"5\",\"name\":\"wrong\"," EVENT "}\n",
	"{\"kind\":\"instant\",\"ts_ns\":5,\"name\":\"two\"," EVENT "} {}\n",
	"{\"name\":\"order\"," EVENT ",\"ts_ns\":5,\"kind\":\"instant\",\"args\":{\"a\":2}}\n",
	"{\"type\":\"track\",\"index\":3,\"kind\":\"thread\",\"name\":\"again\",\"id\":9,\"parent\":0}\n",
};

static void write_trace(const char *path, int lines, const char *oddity)
{
	FILE *const f = fopen(path, "w");

	cr_assert_not_null(f);
	fputs("{\"type\":\"trace\",\"version\":1,\"tool\":\"t\",\"mode\":\"interpreted\",\"rebased\":false,"
	      "\"format\":\"tick\",\"dialect\":\"plain\",\"byte_order\":\"little\",\"clock\":\"monotonic\"}\n"
	      "{\"type\":\"track\",\"index\":0,\"kind\":\"process\",\"name\":\"p\",\"id\":7}\n"
	      "{\"type\":\"track\",\"index\":1,\"kind\":\"thread\",\"name\":\"t\",\"id\":8,\"parent\":0}\n"
	      "{\"type\":\"class\",\"index\":0,\"name\":\"c\",\"category\":\"k\",\"fields\":["
	      "{\"name\":\"a\",\"type\":\"uint8_t\",\"value\":\"u8\",\"size\":1}]}\n",
	      f);
	for (int i = 0; i < lines; i++) {
		fprintf(f, "{\"kind\":\"span\",\"ts_ns\":%d,\"dur_ns\":%d,\"name\":\"n%d\"," EVENT,
		        100 + 9 * i, i % 8, i % 5);
		if (i % 3 != 0)
			fprintf(f, ",\"args\":{\"a\":%d,\"b\":[%d,{\"x\":null}],\"s\":\"x\\ty\"}", i % 256,
			        i);
		if (i % 7 == 0)
			fprintf(f, "%s,\"types\":{\"b\":\"i16\"}", i % 3 == 0 ? ",\"args\":{\"b\":1}" : "");
		fputs("}\n", f);
		if (i % 97 == 96)
			fputs(oddity, f);
		if (i == lines / 2) /* longer than a piece has behind it */
			fprintf(f, "{\"kind\":\"instant\",\"ts_ns\":5,\"name\":\"%070000d\"," EVENT "}\n", 1);
	}
	fputs("{\"type\":\"trace_end\",\"records\":1,\"events\":1,\"format\":\"tick\",\"dialect\":\"plain\","
	      "\"byte_order\":\"little\",\"clock\":\"monotonic\",\"losses\":{}}\n",
	      f);
	cr_assert_eq(fclose(f), 0);
}

static void expect_output_of_one_thread(int lines)
{
	static const char *const commands[][8] = { { "validate", "IN" },
		                                   { "stats", "IN" },
		                                   { "convert", "--to", "ndjson", "IN", "-" },
		                                   { "convert", "--to", "csv", "IN", "-" } };
	char *const dir = make_folder();
	char path[300];

	snprintf(path, sizeof path, "%s/a.ndjson", dir);
	for (size_t i = 0; i < sizeof oddities / sizeof oddities[0]; i++) {
		write_trace(path, lines, oddities[i]);
		for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++)
			expect_same_for_threads(commands[k], path, oddities[i]);
	}
	remove_folder(dir);
}

Test(ndjson_pieces, output_of_one_thread)
{
	expect_output_of_one_thread(MANY);
}

Test(ndjson_pieces_race, output_of_one_thread)
{
	expect_output_of_one_thread(FEW);
}
