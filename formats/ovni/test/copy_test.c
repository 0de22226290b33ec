/*
 * An ovni trace written as one: the same files with the same bytes; single records, where clocks move or data
 * is too large; selections, which are whole records and those that they depend on.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "ovni/test/written_test.h"
#include "run/pipeline.h"

/* ---- whole traces ---- */

#define REAL "../shared/traces/ovni/good"
#define MADE "testdata/ovni/folders/"

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Expects the same files in both folders, but for the list of the output; returns their number. */
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

/* Sets *err to the messages, to be freed; err NULL: none are expected. */
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

/* The rules of the group "state" need the events of all streams in order of time. */
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

/* A compressed stream with its metadata, and a stream without a name. */
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
	put_file(dir, "stream.json", json, m);
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

/* The last run of records ends near the end of the stream. */
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

/* ---- names ---- */

Test(ovni_copy, same_name_twice)
{
	static const char folder[] = MADE "good-two-threads";
	char *const dir = make_folder(), *err;
	char out[1024], path[1200];

	snprintf(out, sizeof out, "%s/out", dir);
	convert(folder, folder, out, 1, &err);
	cr_expect(strstr(err, "streams whose directory got another name: 2 [") != NULL, "%s", err);
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

/* The name of a folder with terminal control sequences is not copied. */
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

/* ---- single records ---- */

static uint64_t clock_at(const char *p, size_t n, size_t at, bool big)
{
	cr_assert_leq(at + 12, n);
	return load_u64(p + at + 4, big);
}

static char *converted(const char *dir, const char *option, const char *file, size_t *n, char **err)
{
	char in[1024], out[1024], path[1200];

	snprintf(in, sizeof in, "%s/in", dir);
	snprintf(out, sizeof out, "%s/out", dir);
	const char *const args[] = { "convert", "--to=ovni", "-f", in, out, option, NULL };
	struct ran r = run_tool(args, NULL, 0);
	cr_expect_lt(r.status, 2, "%s", r.err);
	*err = strdup(r.err);
	ran_free(&r);
	snprintf(path, sizeof path, "%s/%s", out, file);
	char *const p = read_whole(path, n);
	cr_assert_not_null(p, "%s", path);
	return p;
}

static char *make_input(char in[1024])
{
	char *const dir = make_folder();

	snprintf(in, 1024, "%s/in", dir);
	cr_assert_eq(mkdir(in, 0777), 0);
	return dir;
}

Test(ovni_copied_records, rebased)
{
	char in[1024], *err;
	char *const dir = make_input(in);
	struct written w;
	size_t n;

	for (int i = 0; i < 2; i++) {
		written_init(&w, 3);
		written_start(&w, 1000 + (uint64_t)i * 50, i);
		written_put(&w, "OB.", 1200, NULL, 0);
		written_put(&w, "OHe", 1300, NULL, 0);
		written_save(&w, in, i);
	}
	for (int i = 0; i < 2; i++) {
		char *const p =
		    converted(dir, "--rebase", i == 0 ? "a/stream.obs" : "b/stream.obs", &n, &err);
		cr_expect_str_eq(err, "");
		cr_assert_eq(n, 8 + 28 + 12 + 12);
		cr_expect_eq(memcmp(p + 8, "\x0fOHx", 4), 0);
		cr_expect_eq(clock_at(p, n, 8, false), (uint64_t)i * 50);
		cr_expect_eq(clock_at(p, n, 36, false), 200);
		cr_expect_eq(clock_at(p, n, 48, false), 300);
		free(p);
		free(err);
	}
	remove_folder(dir);
}

Test(ovni_copied_records, rebased_big_endian)
{
	static const char stream[] = "ovni\0\0\0\1\0VU[\0\0\0\0\0\0\1\5\0OHe\0\0\0\0\0\0\1\7";
	char in[1024], *err;
	char *const dir = make_input(in);
	size_t n;

	put_file(in, "stream.obs", stream, sizeof stream - 1);
	char *const p = converted(dir, "--rebase", "stream.obs", &n, &err);
	cr_assert_eq(n, sizeof stream - 1);
	cr_expect_eq(clock_at(p, n, 8, true), 0);
	cr_expect_eq(clock_at(p, n, 20, true), 2);
	free(p);
	free(err);
	remove_folder(dir);
}

/* Jumbo data beyond the limit is copied in runs of records; a single record is left out and counted. */
Test(ovni_copied_records, large_jumbo)
{
	const uint32_t size = (64U << 20) + 5;
	const size_t all = 8 + 16 + size + 12;
	char in[1024], *err, *q = calloc(1, all);
	char *const dir = make_input(in);
	size_t n;

	cr_assert_not_null(q);
	memcpy(q, "ovni\1\0\0\0\x13OB.\7", 13);
	written_number(q + 20, size, 4);
	memset(q + 24, 'x', size);
	memcpy(q + all - 12, "\0OHe\x0b", 5);
	put_file(in, "stream.obs", q, all);
	char *p = converted(dir, NULL, "stream.obs", &n, &err);
	cr_expect(n == all && memcmp(p, q, n) == 0);
	cr_expect(strstr(err, "left-out") == NULL, "%s", err);
	free(p);
	free(err);
	p = converted(dir, "--rebase", "stream.obs", &n, &err);
	cr_expect_eq(n, 8 + 12);
	cr_expect_eq(clock_at(p, n, 8, false), 4);
	cr_expect(strstr(err, "jumbo events longer than --max-record, left out: 1;") != NULL, "%s", err);
	free(p);
	free(err);
	p = converted(dir, "--name=*", "stream.obs", &n, &err); /* a selection */
	cr_expect_eq(n, 8 + 12);
	cr_expect(strstr(err, "jumbo events longer than --max-record, left out: 1;") != NULL, "%s", err);
	free(p);
	free(q);
	free(err);
	remove_folder(dir);
}

/* Metadata that is too large is reported. */
Test(ovni_copied_records, large_metadata)
{
	char in[1024], *err;
	char *const dir = make_input(in), *json = calloc(1, 600000);
	struct written w;
	size_t n;

	written_init(&w, 1);
	written_put(&w, "OHe", 5, NULL, 0);
	written_save(&w, in, 0);
	memset(json, ' ', 600000);
	put_file(in, "a/stream.json", json, 600000);
	free(converted(dir, NULL, "a/stream.obs", &n, &err));
	cr_expect_eq(n, 20);
	cr_expect(strstr(err, "files beside streams, left out: 1 [") != NULL, "%s", err);
	free(json);
	free(err);
	remove_folder(dir);
}

/* ---- selections ---- */

static char *make_selected_input(char in[1024])
{
	char *const dir = make_folder();

	snprintf(in, 1024, "%s/in", dir);
	cr_assert_eq(mkdir(in, 0777), 0);
	return dir;
}

/* Writes DIR/out; option and value are the selection. */
static void select_events(const char *in, const char *dir, const char *option, const char *value)
{
	char out[1100];

	snprintf(out, sizeof out, "%s/out", dir);
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "-q", "-f", "--to=ovni", option, value, in, out, NULL }, NULL,
	    0);
	cr_assert_eq(r.status, 0, "%s %s: %s", option, value, r.err);
	ran_free(&r);
	r = run_tool((const char *const[]){ "validate", "-q", "--check=state", out, NULL }, NULL, 0);
	cr_expect(r.status == 0 && r.out_n == 0, "%s %s %s: %s%s", in, option, value, r.out, r.err);
	ran_free(&r);
}

/* Returns the codes of the records of a stream in a row; NULL: there is no such stream. */
static char *codes_of(const char *dir, const char *stream)
{
	char path[1200], *codes;
	size_t n, at = 8, k = 0;

	snprintf(path, sizeof path, "%s/out/%s/stream.obs", dir, stream);
	char *const p = read_whole(path, &n);
	if (p == NULL)
		return NULL;
	cr_assert(n >= 8 && memcmp(p, "ovni\1\0\0\0", 8) == 0);
	codes = calloc(n, 1);
	while (at < n) {
		const unsigned nibble = (unsigned char)p[at] & 15;
		cr_assert(at + 12 <= n && (p[at] & 16) == 0);
		memcpy(codes + k, p + at + 1, 3);
		k += 3;
		at += 12 + nibble + (nibble > 0);
	}
	cr_expect_eq(at, n);
	free(p);
	return codes;
}

static void expect_codes(const char *dir, const char *stream, const char *codes)
{
	char *const found = codes_of(dir, stream);

	if (codes == NULL)
		cr_expect(found == NULL, "%s: %s", stream, found);
	else
		cr_expect(found != NULL && strcmp(found, codes) == 0, "%s: %s", stream,
		          found != NULL ? found : "missing");
	free(found);
}

/* Creates two threads on CPUs of their own, with a flush and a burst each. */
static void write_two(const char *in)
{
	struct written w;

	for (int i = 0; i < 2; i++) {
		const uint64_t at = 1000 + (uint64_t)i * 1000;
		written_init(&w, 8);
		written_start(&w, at, i);
		written_put(&w, "OF[", at + 10, NULL, 0);
		written_put(&w, "OF]", at + 20, NULL, 0);
		written_put(&w, "OB.", at + 30, NULL, 0);
		written_put(&w, "OHp", at + 40, NULL, 0);
		written_put(&w, "OHr", at + 50, NULL, 0);
		written_put(&w, "OF[", at + 60, NULL, 0);
		written_put(&w, "OF]", at + 70, NULL, 0);
		written_put(&w, "OHe", at + 80, NULL, 0);
		written_save(&w, in, i);
	}
}

Test(ovni_select, names)
{
	char in[1024];
	char *const dir = make_selected_input(in);

	write_two(in);
	select_events(in, dir, "--name", "flush");
	expect_codes(dir, "a", "OHxOF[OF]OHpOHrOF[OF]OHe");
	expect_codes(dir, "b", "OHxOF[OF]OHpOHrOF[OF]OHe");
	select_events(in, dir, "--name", "burst*");
	expect_codes(dir, "a", "OHxOB.OHpOHrOHe");
	remove_folder(dir);
}

/* ovniemu accepts a progress event only if it differs from the one before; a thread starts as progressing. */
Test(ovni_select, progress)
{
	char in[1024];
	char *const dir = make_selected_input(in);
	struct written w;

	written_init(&w, 8);
	written_start(&w, 1000, 0);
	written_put(&w, "VPr", 1010, NULL, 0);
	written_put(&w, "VPp", 1020, NULL, 0);
	written_put(&w, "OB.", 1030, NULL, 0);
	written_put(&w, "VPr", 1040, NULL, 0);
	written_put(&w, "OHe", 1050, NULL, 0);
	written_save(&w, in, 0);
	select_events(in, dir, "--since", "+25ns");
	expect_codes(dir, "a", "OHxVPrVPpOB.VPrOHe");
	remove_folder(dir);
}

Test(ovni_select, threads_and_times)
{
	char in[1024], path[1100];
	char *const dir = make_selected_input(in);
	size_t n, m;

	write_two(in);
	select_events(in, dir, "--tid", "2");
	expect_codes(dir, "a", NULL);
	expect_codes(dir, "b", "OHxOF[OF]OB.OHpOHrOF[OF]OHe");
	snprintf(path, sizeof path, "%s/b/stream.json", in);
	char *const before = read_whole(path, &n);
	snprintf(path, sizeof path, "%s/out/b/stream.json", dir);
	char *const after = read_whole(path, &m);
	cr_assert(before != NULL && after != NULL);
	cr_expect(n == m && memcmp(before, after, n) == 0);
	free(before);
	free(after);
	select_events(in, dir, "--until", "1025");
	expect_codes(dir, "a", "OHxOF[OF]OHpOHrOHe");
	expect_codes(dir, "b", NULL);
	remove_folder(dir);
}

/* The output has a stream even if nothing was selected. */
Test(ovni_select, nothing)
{
	char in[1024];
	char *const dir = make_selected_input(in);

	write_two(in);
	select_events(in, dir, "--name", "no such name");
	expect_codes(dir, "a", "OHxOHpOHrOHe");
	expect_codes(dir, "b", NULL);
	remove_folder(dir);
}

/* A stream is copied if only its metadata declares something. */
Test(ovni_select, metadata_elsewhere)
{
	static const char bare[] =
	    "{\"version\":3,\"ovni\":{\"lib\":{\"version\":\"1\",\"commit\":\"x\"},\"part\":\"thread\","
	    "\"tid\":2,"
	    "\"pid\":7,\"loom\":\"h\",\"require\":{\"ovni\":\"1.1.0\",\"nosv\":\"2.7.0\",\"mpi\":\"1.0.0\"},"
	    "\"finished\":1}}";
	char in[1024];
	char *const dir = make_selected_input(in);

	write_two(in);
	put_file(in, "b/stream.json", bare, sizeof bare - 1);
	select_events(in, dir, "--tid", "2");
	expect_codes(dir, "a", "OHxOHpOHrOHe");
	expect_codes(dir, "b", "OHxOF[OF]OB.OHpOHrOF[OF]OHe");
	remove_folder(dir);
}

/* The rank of a process is copied although its application has the same number. */
Test(ovni_select, rank_elsewhere)
{
	static const char *const more[] = { "\"pid\":7,\"app_id\":1", "\"pid\":7,\"rank\":1,\"nranks\":2",
		                            "\"pid\":8,\"app_id\":1,\"rank\":0,\"nranks\":2" };
	char in[1024], path[1100], json[600];
	char *const dir = make_selected_input(in);
	struct written w;

	for (int i = 0; i < 3; i++) {
		written_init(&w, 3);
		written_start(&w, 1000, -1);
		written_put(&w, i == 1 ? "OHC" : "OB.", 1010, (const int32_t[]){ -1, 0, 0 }, i == 1 ? 12 : 0);
		written_put(&w, "OHe", 1020, NULL, 0);
		written_save(&w, in, i);
		const int n =
		    snprintf(json, sizeof json,
		             "{\"version\":3,\"ovni\":{\"lib\":{\"version\":\"1\",\"commit\":\"x\"},"
		             "\"part\":\"thread\",\"tid\":%d,%s,\"loom\":\"h\",\"require\":{},"
		             "\"loom_cpus\":[{\"index\":0,\"phyid\":0}],\"finished\":1}}",
		             i + 1, more[i]);
		snprintf(path, sizeof path, "%s/%c/stream.json", in, 'a' + i);
		cr_assert(write_whole(path, json, (size_t)n));
	}
	select_events(in, dir, "--name", "burst*");
	expect_codes(dir, "b", "OHxOHCOHe");
	remove_folder(dir);
}

/* The first thread leaves the CPU of the third one by an event of the second. */
Test(ovni_select, moved_by_another_thread)
{
	char in[1024];
	char *const dir = make_selected_input(in);
	struct written w;

	for (int i = 0; i < 3; i++) {
		written_init(&w, 4);
		written_start(&w, 1000 + (uint64_t)i * 100, i == 1);
		if (i == 1)
			written_put(&w, "OAr", 1110, (const int32_t[]){ -1, 1 }, 8);
		else
			written_put(&w, "OB.", 1210, NULL, 0);
		written_put(&w, "OHe", 1220, NULL, 0);
		written_save(&w, in, i);
	}
	select_events(in, dir, "--tid", "3");
	expect_codes(dir, "a", "OHxOHe");
	expect_codes(dir, "b", "OHxOArOHe");
	expect_codes(dir, "c", "OHxOB.OHe");
	remove_folder(dir);
}

/* Tasks and types belong to the process: those that another thread created are copied, too. */
Test(ovni_select, tasks_of_another_thread)
{
	static const char type[] = "\x13VYc\xe8\3\0\0\0\0\0\0\6\0\0\0\1\0\0\0t\0";
	char in[1024], path[1100];
	char *const dir = make_selected_input(in);
	struct written w;
	size_t n;

	written_init(&w, 8);
	written_start(&w, 1000, 0);
	memcpy(w.p + w.n, type, sizeof type - 1);
	w.n += sizeof type - 1;
	written_put(&w, "VTc", 1001, (const int32_t[]){ 1, 1 }, 8);
	written_put(&w, "OB.", 1002, NULL, 0);
	written_put(&w, "OHe", 3000, NULL, 0);
	written_save(&w, in, 0);
	written_init(&w, 8);
	written_start(&w, 1000, 1);
	written_put(&w, "VTx", 1010, (const int32_t[]){ 1, 0 }, 8);
	written_put(&w, "OB.", 1015, NULL, 0);
	written_put(&w, "VTe", 1020, (const int32_t[]){ 1, 0 }, 8);
	written_put(&w, "OHe", 3000, NULL, 0);
	written_save(&w, in, 1);
	select_events(in, dir, "--name", "t");
	expect_codes(dir, "b", "OHxVTxVTeOHe");
	snprintf(path, sizeof path, "%s/out/a/stream.obs", dir);
	char *const p = read_whole(path, &n);
	cr_assert_not_null(p);
	cr_expect_eq(n, 8 + 28 + (sizeof type - 1) + 20 + 12); /* without the burst */
	free(p);
	remove_folder(dir);
}

Test(ovni_select, real_traces)
{
	static const char *const traces[] = { "mpi-func", "nosv-nested-tasks", "ovni-libovni-mark",
		                              "nanos6-task-types" };
	static const char *const selections[][2] = {
		{ "--name", "*a*" }, { "--since", "30%" }, { "--until", "50%" }, { "--min-dur", "10us" }
	};
	char in[1024];

	for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
		char *const dir = make_folder();
		snprintf(in, sizeof in, REAL "/%s", traces[i]);
		if (access(in, F_OK) == 0)
			select_events(in, dir, selections[i][0], selections[i][1]);
		remove_folder(dir);
	}
}
