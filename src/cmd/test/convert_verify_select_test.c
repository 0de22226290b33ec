/* convert --verify of selections that are copied, and of copies whose times are moved: what writers count
 * anew is no difference, nor is what comes along. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/test/samples_test_util.h"
#include "format/registry.h"

enum { MOST_SAMPLES = 4 }; /* of a format */

static void expect_verified(const char *path, const char *out, const struct format *f, const char *option,
                            const char *arg)
{
	struct ran r = run_tool((const char *const[]){ "convert", "-qf", "--verify", option, arg, "--to",
	                                               f->name, "-o", out, path, NULL },
	                        NULL, 0);

	cr_expect_lt(r.status, 2, "%s %s %s: %s", path, option, arg, r.err);
	cr_expect_null(strstr(r.err, "--verify:"), "%s %s %s: %s", path, option, arg, r.err);
	ran_free(&r);
}

static void expect_all(const char *path, const char *out, const struct format *f)
{
	static const char *const cases[][2] = {
		{ "--since", "40%" }, { "--until", "60%" }, { "--name", "*e*" }, { "--rebase", "--quiet" }
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_verified(path, out, f, cases[i][0], cases[i][1]);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_copied(const struct format *f)
{
	return f->reader != NULL && f->writer != NULL && (f->writer->modes & WRITER_RAW_SELECT) != 0;
}

Test(convert_verify_select, good_samples)
{
	char *const dir = make_folder(), path[1024], out[1024];

	for (size_t i = 0; formats[i] != NULL; i++) {
		size_t n = 0;
		if (!is_copied(formats[i]))
			continue;
		snprintf(path, sizeof path, "testdata/%s/good", formats[i]->name);
		char **const names = list_folder(path, "");
		for (size_t k = 0; names[k] != NULL && n < MOST_SAMPLES; k++) {
			snprintf(path, sizeof path, "testdata/%s/good/%s", formats[i]->name, names[k]);
			if (k % 3 != 0 || strstr(names[k], ".expect") != NULL)
				continue;
			/* a folder is replaced by a folder alone */
			snprintf(out, sizeof out, "%s/%s-%d", dir, formats[i]->name, is_folder(path));
			expect_all(path, out, formats[i]);
			n++;
		}
		cr_expect_gt(n, 1, "%s", formats[i]->name);
		list_free(names);
	}
	remove_folder(dir);
}

Test(convert_verify_select, real_traces)
{
	static const char *const traces[][2] = { { "heph/no-arrays.bin.log", "heph" },
		                                 { "dial9/block-in-place.bin", "dial9" },
		                                 { "ovni/good/mpi-func", "ovni" },
		                                 { "htdump/mapped.htdump", "htdump" },
		                                 { "dftracer/graph.pfw", "dftracer" } };
	const char *const from = real_traces();
	char *const dir = make_folder(), path[1024], out[1024];

	for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
		snprintf(path, sizeof path, "%s/%s", from, traces[i][0]);
		snprintf(out, sizeof out, "%s/%zu", dir, i);
		expect_all(path, out, format_by_name(traces[i][1]));
	}
	remove_folder(dir);
}
