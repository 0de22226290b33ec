/* The program on every dial9 sample: what it finds, by whichever way the bytes come. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "format/registry.h"

#define GOOD "testdata/dial9/good"
#define BAD "testdata/dial9/bad"

static const struct samples samples = { .suffix = ".dial9" };

Test(dial9_cli, bad_samples_say_what_is_expected)
{
	expect_samples(&samples, BAD);
}

Test(dial9_cli, good_samples_are_clean)
{
	expect_sound_samples(&samples, GOOD);
}

/* What could be read of a broken trace still makes whole documents. */
Test(dial9_cli, bad_samples_give_whole_documents)
{
	char **const names = list_folder(BAD, ".dial9");
	char path[1024];

	for (size_t i = 0; names[i] != NULL; i++) {
		snprintf(path, sizeof path, BAD "/%s", names[i]);
		struct ran r = run_tool(
		    (const char *const[]){ "convert", "--keep-partial", "--to", "chrome", path, "-", NULL },
		    NULL, 0);
		cJSON *const json = cJSON_Parse(r.out);
		cr_expect_not_null(json, "%s: no JSON", path);
		cr_expect(r.status >= 0 && r.status <= 2, "%s: exit status %d", path, r.status);
		cJSON_Delete(json);
		ran_free(&r);
	}
	list_free(names);
}

/* The lines that `cat` prints, which name every record and its offset, are the same down a pipe. */
Test(dial9_cli, the_same_records_by_file_and_pipe)
{
	char **const names = list_folder(GOOD, ".dial9");
	char path[1024];

	for (size_t i = 0; names[i] != NULL; i++) {
		size_t n;
		if (strcmp(names[i], "late.dial9") == 0 || strcmp(names[i], "symbols.dial9") == 0)
			continue; /* these need a second look */
		snprintf(path, sizeof path, GOOD "/%s", names[i]);
		char *const p = read_whole(path, &n);
		struct ran a = run_tool((const char *const[]){ "cat", "--hex", path, NULL }, NULL, 0);
		struct ran b = run_tool((const char *const[]){ "cat", "--hex", "-", NULL }, p, n);
		cr_expect_eq(a.status, 0, "%s: %s", path, a.err);
		cr_expect_str_eq(a.out, b.out, "%s", path);
		ran_free(&a);
		ran_free(&b);
		free(p);
	}
	list_free(names);
}

Test(dial9_cli, bad_magic_when_the_format_is_named)
{
	const char *const args[] = { "validate", "--format", "json", "--from", "dial9", "-", NULL };

	expect_findings(&samples, run_tool(args, "TRQ\0\1", 5), "exit 1\ndial9/bad-magic 0\n", true,
	                "bad magic");
	expect_findings(&samples, run_tool(args, "TRC\0", 4), "exit 1\ndial9/cut-frame 0\n", true,
	                "half a header");
}

/* By the document of 0.3 alone: stack pool, types 6, 14, 15 and 6 and 14 again as optional ones, annotations.
 */
Test(dial9_cli, dialect_0_3)
{
	const char *const newer[] = {
		"validate", "--format", "json", "--from-dialect", "0.3", GOOD "/all-types-0.4.dial9", NULL
	};
	const char *const headers[] = {
		"validate", "--format", "json", "--from-dialect", "0.3", GOOD "/segments.dial9", NULL
	};
	const char *const document[] = {
		"validate", "--format", "json", "--from-dialect", "0.3", GOOD "/all-types.dial9", NULL
	};

	expect_findings(&samples, run_tool(newer, NULL, 0),
	                "exit 1\ndial9/not-in-document 29\ndial9/not-in-document 78\ndial9/not-in-document "
	                "85\ndial9/not-in-document 91\n"
	                "dial9/not-in-document 102\ndial9/not-in-document 114\ndial9/not-in-document 115\n",
	                true, newer[5]);
	expect_findings(&samples, run_tool(headers, NULL, 0),
	                "exit 1\ndial9/not-in-document 157\ndial9/not-in-document 272\n", true, headers[5]);
	expect_findings(&samples, run_tool(document, NULL, 0), "exit 0\n", true, document[5]);
}

/* A cut file says where its last complete frame begins. */
Test(dial9_cli, a_cut_file_names_the_last_complete_frame)
{
	size_t n;
	char *const p = read_whole(GOOD "/document.dial9", &n);
	struct ran r = run_tool((const char *const[]){ "validate", "-", NULL }, p, n - 1);

	cr_expect_eq(r.status, 1);
	cr_expect_not_null(strstr(r.out, "the last complete frame begins at byte 145"), "%s", r.out);
	ran_free(&r);
	free(p);
}

Test(dial9_cli, samples_are_claimed_by_this_format_alone)
{
	char **const names = list_folder(GOOD, ".dial9");
	char path[1024];

	for (size_t i = 0; names[i] != NULL; i++) {
		size_t n;
		snprintf(path, sizeof path, GOOD "/%s", names[i]);
		char *const p = read_whole(path, &n);
		for (const struct format *const *f = formats; *f != NULL; f++)
			if ((*f)->reader != NULL)
				cr_expect_eq((*f)->reader->probe(slice_of(p, n), true) > 0,
				             strcmp((*f)->name, "dial9") == 0, "%s and %s", path, (*f)->name);
		free(p);
	}
	list_free(names);
}
