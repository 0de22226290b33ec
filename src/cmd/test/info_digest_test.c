#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

/* info --digest: the same through every conversion that loses nothing, however the trace is packed or
 * divided. */

#define GOOD "testdata/"

/* The line of the digest of a trace; to be freed. */
static char *digest_of(const char *path)
{
	struct ran r = run_tool((const char *const[]){ "info", "-q", "--digest", path, NULL }, NULL, 0);
	char *const line = strstr(r.out, "digest:   ");

	cr_assert(r.status <= 1, "%s: %s", path, r.err);
	cr_assert_not_null(line, "%s", path);
	char *const copy = strndup(line, strcspn(line, "\n"));
	ran_free(&r);
	cr_assert_eq(strcspn(copy + 10, " "), 32, "%s", copy);
	return copy;
}

static void expect_digest(const char *path, const char *want)
{
	char *const got = digest_of(path);

	cr_expect_str_eq(got, want, "%s", path);
	free(got);
}

/* The file `name` in the folder; a text that is valid until the next call. */
static const char *in(const char *dir, const char *name)
{
	static char path[512];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static void convert(const char *from, const char *to)
{
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "-q", "-f", "--fail-on-loss", from, to, NULL }, NULL, 0);

	cr_assert_eq(r.status, 0, "%s: %s", to, r.err);
	ran_free(&r);
}

Test(info_digest, conversion_and_compression_keep_it)
{
	static const char *const samples[] = {
		GOOD "htdump/good/all-types.htdump", GOOD "htdump/good/overlapping.htdump",
		GOOD "heph/good/nested.bin.log",     GOOD "dial9/good/tracks.dial9",
		GOOD "dftracer/good/d1.pfw",
	};
	static const char *const outputs[] = { "a.ndjson", "a.json", "a.ndjson.gz", "a.json.zst" };
	char *const dir = make_folder();

	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
		char *const want = digest_of(samples[i]);
		for (size_t k = 0; k < sizeof outputs / sizeof *outputs; k++) {
			char *const out = strdup(in(dir, outputs[k]));
			convert(samples[i], out);
			expect_digest(out, want);
			free(out);
		}
		char *const first = strdup(in(dir, "a.json")), *const again = strdup(in(dir, "b.ndjson"));
		convert(first, again);
		expect_digest(again, want);
		free(first);
		free(again);
		free(want);
	}
	remove_folder(dir);
}

/* Two threads, three events; `value` is that of a field. */
#define HEAD "{\"traceEvents\":[\n"
#define ONE                                                                                                  \
	"{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":7,\"tid\":8,\"args\":{\"x\":1,\"y\":[1,2]}" \
	"}"
#define TWO "{\"name\":\"b\",\"ph\":\"X\",\"ts\":4,\"dur\":2,\"pid\":7,\"tid\":9}"
#define THREE "{\"name\":\"b\",\"ph\":\"i\",\"ts\":5,\"s\":\"t\",\"pid\":7,\"tid\":8}"
#define TAIL "\n]}"

static void write_text(const char *path, const char *text)
{
	cr_assert(write_whole(path, text, strlen(text)));
}

Test(info_digest, files_of_a_folder_are_traces)
{
	char *const dir = make_folder(), *const part = make_folder();

	write_text(in(dir, "all.json"), HEAD ONE ",\n" TWO ",\n" THREE TAIL);
	char *const want = digest_of(in(dir, "all.json"));
	cr_expect_not_null(strstr(want, " of 3 events"), "%s", want);
	write_text(in(dir, "all.json"), HEAD THREE ",\n" ONE ",\n" TWO TAIL);
	expect_digest(in(dir, "all.json"), want);
	write_text(in(part, "1.json"), HEAD TWO TAIL);
	write_text(in(part, "2.json"), HEAD ONE ",\n" TWO ",\n" THREE TAIL);
	struct ran r = run_tool(
	    (const char *const[]){ "info", "-q", "--from", "chrome", "--digest", part, NULL }, NULL, 0);
	cr_expect_not_null(strstr(r.out, " of 1 events\n"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, want), "%s, %s", want, r.out);
	ran_free(&r);
	free(want);
	remove_folder(dir);
	remove_folder(part);
}

Test(info_digest, steps_of_arrows_are_no_ends)
{
#define END(phase, time) "{\"name\":\"w\",\"ph\":\"" phase "\",\"id\":1,\"ts\":" time ",\"pid\":7,\"tid\":8}"
#define ARROW(end) HEAD END("s", "1") "," END(end, "2") TAIL
	char *const dir = make_folder(), *const path = strdup(in(dir, "arrow.json"));

	write_text(path, ARROW("f"));
	char *const end = digest_of(path);
	write_text(path, ARROW("t"));
	char *const step = digest_of(path);
	cr_expect_str_neq(end, step);
	free(end);
	free(step);
	free(path);
	remove_folder(dir);
#undef ARROW
#undef END
}

Test(info_digest, every_part_of_an_event_counts)
{
	static const char *const others[] = {
		"{\"name\":\"A\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":7,\"tid\":8,\"args\":{\"x\":1,\"y\":"
		"[1,2]}}",
		"{\"name\":\"a\",\"ph\":\"X\",\"ts\":1.001,\"dur\":2,\"pid\":7,\"tid\":8,\"args\":{\"x\":1,"
		"\"y\":[1,2]}}",
		"{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":3,\"pid\":7,\"tid\":8,\"args\":{\"x\":1,\"y\":"
		"[1,2]}}",
		"{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":8,\"tid\":8,\"args\":{\"x\":1,\"y\":"
		"[1,2]}}",
		"{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":7,\"tid\":7,\"args\":{\"x\":1,\"y\":"
		"[1,2]}}",
		"{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":7,\"tid\":8,\"args\":{\"x\":1,\"y\":"
		"[2,1]}}",
		"{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":7,\"tid\":8,\"args\":{\"x\":1}}",
		"{\"name\":\"a\",\"cat\":\"c\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":7,\"tid\":8,\"args\":{"
		"\"x\":1,\"y\":"
		"[1,2]}}",
		"{\"name\":\"a\",\"ph\":\"i\",\"s\":\"t\",\"ts\":1,\"pid\":7,\"tid\":8,\"args\":{\"x\":1,"
		"\"y\":[1,2]}}",
	};
	char *const dir = make_folder(), *const path = strdup(in(dir, "one.json"));
	char text[512];

	write_text(path, HEAD ONE TAIL);
	char *const want = digest_of(path);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		snprintf(text, sizeof text, HEAD "%s" TAIL, others[i]);
		write_text(path, text);
		char *const got = digest_of(path);
		cr_expect_str_neq(got, want, "%s", text);
		free(got);
	}
	free(want);
	free(path);
	remove_folder(dir);
}
