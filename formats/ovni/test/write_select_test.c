/* A selection of an ovni trace written as one: whole records, and what they depend on. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "ovni/test/written_test.h"

#define REAL "../shared/traces/ovni/good/"

static char *make_input(char in[1024])
{
	char *const dir = make_folder();

	snprintf(in, 1024, "%s/in", dir);
	cr_assert_eq(mkdir(in, 0777), 0);
	return dir;
}

/* Writes DIR/out; the selection is one option and its value. */
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

/* The codes of the records of a stream, one behind the other; NULL: there is no such stream. */
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

/* Two threads on CPUs of their own, with a flush and a burst each. */
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
	char *const dir = make_input(in);

	write_two(in);
	select_events(in, dir, "--name", "flush");
	expect_codes(dir, "a", "OHxOF[OF]OHpOHrOF[OF]OHe");
	expect_codes(dir, "b", "OHxOF[OF]OHpOHrOF[OF]OHe");
	select_events(in, dir, "--name", "burst*");
	expect_codes(dir, "a", "OHxOB.OHpOHrOHe");
	remove_folder(dir);
}

Test(ovni_select, threads_and_times)
{
	char in[1024], path[1100];
	char *const dir = make_input(in);
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

/* A trace has a stream, even if nothing was selected. */
Test(ovni_select, nothing)
{
	char in[1024];
	char *const dir = make_input(in);

	write_two(in);
	select_events(in, dir, "--name", "no such name");
	expect_codes(dir, "a", "OHxOHpOHrOHe");
	expect_codes(dir, "b", NULL);
	remove_folder(dir);
}

/* What only another stream's metadata says comes with that stream. */
Test(ovni_select, metadata_elsewhere)
{
	static const char bare[] =
	    "{\"version\":3,\"ovni\":{\"lib\":{\"version\":\"1\",\"commit\":\"x\"},\"part\":\"thread\","
	    "\"tid\":2,"
	    "\"pid\":7,\"loom\":\"h\",\"require\":{\"ovni\":\"1.1.0\",\"nosv\":\"2.7.0\",\"mpi\":\"1.0.0\"},"
	    "\"finished\":1}}";
	char in[1024], path[1100];
	char *const dir = make_input(in);

	write_two(in);
	snprintf(path, sizeof path, "%s/b/stream.json", in);
	cr_assert(write_whole(path, bare, sizeof bare - 1));
	select_events(in, dir, "--tid", "2");
	expect_codes(dir, "a", "OHxOHpOHrOHe");
	expect_codes(dir, "b", "OHxOF[OF]OB.OHpOHrOF[OF]OHe");
	remove_folder(dir);
}

/* A task and its type belong to the process: another thread may have made them. */
Test(ovni_select, tasks_of_another_thread)
{
	static const char type[] = "\x13VYc\xe8\3\0\0\0\0\0\0\6\0\0\0\1\0\0\0t\0";
	char in[1024], path[1100];
	char *const dir = make_input(in);
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
		snprintf(in, sizeof in, REAL "%s", traces[i]);
		if (access(in, F_OK) == 0)
			select_events(in, dir, selections[i][0], selections[i][1]);
		remove_folder(dir);
	}
}
