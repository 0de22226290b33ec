/* A trace of ovni written as one: the same files with the same bytes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "ovni/test/written_test.h"

#define REAL "../shared/traces/ovni/good"
#define MADE "testdata/ovni/folders/"

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Both have the same files, but for the list that the output has; how many they are. */
static unsigned expect_same_files(const char *a, const char *b)
{
	char **const names = list_folder(a, ""), **const others = list_folder(b, "");
	char from[1024], to[1024];
	unsigned n = 0, extra = 0, here = 0;

	for (size_t i = 0; others[i] != NULL; i++)
		extra += strcmp(others[i], ".tracetool-files") != 0;
	for (size_t i = 0; names[i] != NULL; i++, here++) {
		size_t na, nb;
		snprintf(from, sizeof from, "%s/%s", a, names[i]);
		snprintf(to, sizeof to, "%s/%s", b, names[i]);
		if (is_folder(from)) {
			n += expect_same_files(from, to);
			continue;
		}
		char *const pa = read_whole(from, &na), *const pb = read_whole(to, &nb);
		cr_assert(pa != NULL && pb != NULL, "%s", to);
		cr_expect(na == nb && memcmp(pa, pb, na) == 0, "%s", to);
		free(pa);
		free(pb);
		n++;
	}
	cr_expect_eq(here, extra, "%s: %u names, %s: %u", a, here, b, extra);
	list_free(names);
	list_free(others);
	return n;
}

/* What the conversion says is *err, to be freed, or "" if that is NULL. */
static void convert(const char *in, const char *more, const char *out, int status, char **err)
{
	const char *const args[] = { "convert", "--to=ovni", "--output", out, in, more, NULL };
	struct ran r = run_tool(args, NULL, 0);

	cr_expect_eq(r.status, status, "%s: status %d: %s", in, r.status, r.err);
	if (err != NULL)
		*err = strdup(r.err);
	else
		cr_expect_str_eq(r.err, "", "%s: %s", in, r.err);
	ran_free(&r);
}

static void expect_copied(const char *in, const char *option)
{
	char *const dir = make_folder();
	char out[1024];

	snprintf(out, sizeof out, "%s/out", dir);
	convert(in, option, out, 0, NULL);
	cr_expect_gt(expect_same_files(in, out), 1, "%s", in);
	remove_folder(dir);
}

Test(ovni_copy, folders)
{
	expect_copied(MADE "good-two-threads", "--threads=1");
	expect_copied(MADE "good-two-threads", "--threads=7");
	expect_copied(MADE "good-offsets", NULL);
	expect_copied(MADE "good-offsets/", "--raw");
}

/* The state's rules need the events of all streams in the order of time. */
Test(ovni_copy, merged)
{
	expect_copied("testdata/ovni/folders-state/good", "--check=state");
}

Test(ovni_copy, real_traces)
{
	char **const names = list_folder(REAL, "");
	char path[1024];

	for (size_t i = 0; names[i] != NULL; i++) {
		snprintf(path, sizeof path, "%s/%s", REAL, names[i]);
		expect_copied(path, i % 2 == 0 ? NULL : "--threads=7");
	}
	list_free(names);
}

/* ---- streams alone ---- */

static void expect_file(const char *path, const void *p, size_t n)
{
	size_t have;
	char *const q = read_whole(path, &have);

	cr_assert_not_null(q, "%s", path);
	cr_expect(n == have && memcmp(p, q, n) == 0, "%s", path);
	free(q);
}

/* A compressed one, with the metadata beside it; and what has no name. */
Test(ovni_copy, one_stream)
{
	char *const dir = make_folder();
	char in[1024], out[1024], path[1200];
	size_t n, m, packed;
	char *const p = read_whole(MADE "good-two-threads/a/stream.obs", &n);
	char *const json = read_whole(MADE "good-two-threads/a/stream.json", &m);

	snprintf(in, sizeof in, "%s/stream.obs.gz", dir);
	void *const gz = gzip_copy(p, n, &packed);
	cr_assert(write_whole(in, gz, packed));
	snprintf(path, sizeof path, "%s/stream.json", dir);
	cr_assert(write_whole(path, json, m));
	snprintf(out, sizeof out, "%s/out", dir);
	convert(in, NULL, out, 0, NULL);
	snprintf(path, sizeof path, "%s/stream.obs", out);
	expect_file(path, p, n);
	snprintf(path, sizeof path, "%s/stream.json", out);
	expect_file(path, json, m);

	snprintf(out, sizeof out, "%s/piped.ovni", dir);
	struct ran r = run_tool((const char *const[]){ "convert", "-q", "-", out, NULL }, p, n);
	cr_expect_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
	snprintf(path, sizeof path, "%s/stream.obs", out);
	expect_file(path, p, n);
	free(p);
	free(json);
	free(gz);
	remove_folder(dir);
}

/* So many events of 12 bytes that a run of records ends close to the end of the stream. */
Test(ovni_copy, long_streams)
{
	enum { MOST = 30000, HEAD = 8, EVENT = 12 };
	static const char header[HEAD] = "ovni\1";
	char *const dir = make_folder(), *const p = calloc(MOST + 2, EVENT);
	char in[1024], out[1024], path[1200];

	snprintf(in, sizeof in, "%s/stream.obs", dir);
	snprintf(out, sizeof out, "%s/out.ovni", dir);
	snprintf(path, sizeof path, "%s/stream.obs", out);
	cr_assert_not_null(p);
	memcpy(p, header, HEAD);
	for (uint32_t n = 10000; n <= MOST; n += 4000) {
		for (uint32_t i = 0; i < n; i++) {
			char *const e = p + HEAD + (size_t)EVENT * i;
			memcpy(e, i + 1 == n ? "\0OHe" : i == 0 ? "\0OHx" : "\0KCO", 4);
			memcpy(e + 4, &i, sizeof i);
		}
		const size_t size = HEAD + (size_t)EVENT * n;
		cr_assert(write_whole(in, p, size));
		struct ran r = run_tool((const char *const[]){ "convert", "-qf", in, out, NULL }, NULL, 0);
		cr_expect(r.status == 0 || r.status == 1, "%u events: status %d: %s", n, r.status, r.err);
		expect_file(path, p, size);
		ran_free(&r);
	}
	free(p);
	remove_folder(dir);
}

/* Records of any size and order of bytes, through the reader's slow paths too. */
Test(ovni_copy, all_samples)
{
	char **const names = list_folder("testdata/ovni/good", ".obs");
	char *const dir = make_folder();
	char in[1200], out[1024];
	size_t n;

	snprintf(out, sizeof out, "%s/out", dir);
	const char *args[80] = { "convert", "-q", "--to=ovni", "-o", out };
	for (size_t i = 0; names[i] != NULL && i < 70; i++) {
		snprintf(in, sizeof in, "testdata/ovni/good/%s", names[i]);
		args[5 + i] = strdup(in);
	}
	struct ran r = run_tool(args, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
	for (size_t i = 0; names[i] != NULL && i < 70; i++) {
		char *const p = read_whole(args[5 + i], &n);
		snprintf(in, sizeof in, "%s/%s", out, names[i]);
		expect_file(in, p, n);
		free(p);
	}
	list_free(names);
	remove_folder(dir);
}

/* ---- names ---- */

Test(ovni_copy, same_name_twice)
{
	static const char folder[] = MADE "good-two-threads";
	char *const dir = make_folder(), *err;
	char out[1024], path[1200];

	snprintf(out, sizeof out, "%s/out", dir);
	convert(folder, folder, out, 1, &err);
	cr_expect(strstr(err, "streams whose folder got another name: 2;") != NULL, "%s", err);
	for (int second = 0; second < 2; second++)
		for (const char *s = "ab"; *s != '\0'; s++) {
			size_t n;
			snprintf(path, sizeof path, "%s/%c/stream.json", folder, *s);
			char *const p = read_whole(path, &n);
			snprintf(path, sizeof path, "%s/%c%s/stream.json", out, *s, second ? ".2" : "");
			expect_file(path, p, n);
			free(p);
		}
	free(err);
	remove_folder(dir);
}

/* A folder whose name would steer a terminal is not copied. */
Test(ovni_copy, name_with_control_characters)
{
	char *const dir = make_folder(), *err;
	char in[1024], out[1024], path[1200];
	struct written w;

	snprintf(in, sizeof in, "%s/in", dir);
	snprintf(path, sizeof path, "%s/\033[31m", in);
	cr_assert(mkdir(in, 0777) == 0 && mkdir(path, 0777) == 0);
	written_init(&w, 2);
	written_start(&w, 5, 0);
	written_put(&w, "OHe", 9, NULL, 0);
	written_save(&w, path, 0);
	snprintf(out, sizeof out, "%s/out", dir);
	convert(in, NULL, out, 0, &err);
	cr_expect(strstr(err, "[ovni/folder-renamed]") != NULL, "%s", err);
	snprintf(path, sizeof path, "%s/stream.obs", out);
	cr_expect_eq(access(path, F_OK), 0);
	snprintf(path, sizeof path, "%s/stream.json", out);
	cr_expect_eq(access(path, F_OK), 0);
	free(err);
	remove_folder(dir);
}
