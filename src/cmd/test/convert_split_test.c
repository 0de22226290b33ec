#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/outputs.h"
#include "cmd/convert.h"
#include "cmd/test/cli_test_util.h"

/* ---- --split ---- */

/* convert --split time= and --split by=: parts are valid traces by themselves, and hold each event once. */
TestSuite(convert_split, .timeout = 120);

#define REAL "../shared/traces/"

struct division {
	const char *in, *to, *option, *value;
	const char *ignored; /* by diff: what a part says otherwise; "": nothing */
	size_t parts;
};

static void expect_run(const char *const *args, int status, const char *says)
{
	struct ran r = run_tool(args, NULL, 0);

	cr_expect_eq(r.status, status, "%s: status %d: %s", args[1], r.status, r.err);
	cr_expect_not_null(strstr(r.err, says), "%s", r.err);
	ran_free(&r);
}

static void split(const struct division *d, const char *out)
{
	expect_run(
	    (const char *const[]){ "convert", "-q", "--to", d->to, d->option, d->value, d->in, out, NULL }, 0,
	    "");
}

/* The events of the trace, and of all parts together, are the same; each part is valid. */
static void expect_whole(const struct division *d, const char *out)
{
	char **const names = list_folder(out, "");
	char path[1024];
	size_t n = 0;

	for (; names[n] != NULL; n++) {
		snprintf(path, sizeof path, "%s/%s", out, names[n]);
		if (strcmp(names[n], ".tracetool-files") != 0)
			expect_run((const char *const[]){ "validate", "-q", path, NULL }, 0, "");
	}
	list_free(names);
	cr_expect_eq(n, d->parts + 1, "%s %s %s: %zu parts", d->in, d->option, d->value, n - 1);
	expect_run((const char *const[]){ "diff", "-q", "--ignore", d->ignored, d->in, out, NULL }, 0, "");
}

static const struct division divisions[] = {
	{ "testdata/htdump/good/equal-starts.htdump", "htdump", "--split", "time=10us", "track", 4 },
	{ "testdata/htdump/good/thread-ids.htdump", "htdump", "--split", "by=tid", "track", 5 },
	{ "testdata/heph/good/mixed.bin.log", "heph", "--split", "time=1us", "track,field:stream_counter",
	  2 },
	{ "testdata/heph/good/interleaved.bin.log", "heph", "--split", "by=pid", "track,field:stream_counter",
	  4 },
	{ "testdata/dial9/good/segments.dial9", "dial9", "--split", "time=1s", "track", 3 },
	{ "testdata/dial9/good/tracks.dial9", "dial9", "--split", "by=tid", "track", 3 },
	{ "testdata/dftracer/good/merged.pfw", "dftracer", "--split", "time=1us", "track", 2 },
	{ "testdata/dftracer/good/d1.pfw", "dftracer", "--split", "time=1us", "track", 3 },
};

Test(convert_split, records_of_each_format)
{
	char *const dir = make_folder(), out[512];

	for (size_t i = 0; i < sizeof divisions / sizeof *divisions; i++) {
		snprintf(out, sizeof out, "%s/%zu", dir, i);
		split(&divisions[i], out);
		expect_whole(&divisions[i], out);
	}
	remove_folder(dir);
}

/* A folder of streams: a thread for each; what other threads need comes along. */
Test(convert_split, folders_of_streams)
{
	static const struct division d[] = {
		{ REAL "ovni/good/mpi-func", "ovni", "--split", "by=stream", "track", 4 },
		{ REAL "ovni/good/mpi-func", "ovni", "--split", "by=tid", "track", 4 },
		{ REAL "ovni/good/mpi-func", "ovni", "--split", "time=500us", "track", 4 },
	};
	char *const dir = make_folder(), out[512];

	if (access(d[0].in, R_OK) != 0)
		cr_skip_test("no real traces here");
	for (size_t i = 0; i < sizeof d / sizeof *d; i++) {
		snprintf(out, sizeof out, "%s/%zu", dir, i);
		split(&d[i], out);
		expect_whole(&d[i], out);
	}
	remove_folder(dir);
}

/* ---- parts of a size ---- */

/* None is larger, and they are no smaller than need be. */
static void expect_sizes(const char *out, size_t most)
{
	char **const names = list_folder(out, "");
	size_t n = 0, sum = 0;

	for (size_t i = 0; names[i] != NULL; i++) {
		char path[1024];
		size_t size;
		snprintf(path, sizeof path, "%s/%s", out, names[i]);
		if (strncmp(names[i], "part-", 5) != 0)
			continue;
		char *const p = read_whole(path, &size);
		cr_expect_not_null(p);
		cr_expect_leq(size, most, "%s", path);
		sum += size;
		n++;
		free(p);
	}
	cr_expect_geq(2 * sum, (n - 1) * most, "%s: %zu parts of %zu bytes", out, n, sum / n);
	list_free(names);
}

Test(convert_split, of_a_size)
{
	static const struct division d[] = {
		{ REAL "htdump/two-threads.htdump", "htdump", "--split", "size=4000", "track", 9 },
		{ "testdata/heph/good/mixed.bin.log", "heph", "--split", "size=1024",
		  "track,field:stream_counter", 5 },
		{ "testdata/dial9/good/strange-texts.dial9", "dial9", "--split", "size=1024", "track", 1 },
		{ "testdata/dftracer/good/merged.pfw", "dftracer", "--split", "size=1024", "track", 1 },
	};
	char *const dir = make_folder(), out[512];

	for (size_t i = 0; i < sizeof d / sizeof *d; i++) {
		snprintf(out, sizeof out, "%s/%zu", dir, i);
		if (access(d[i].in, R_OK) != 0)
			continue;
		split(&d[i], out);
		expect_whole(&d[i], out);
		expect_sizes(out, strtoull(strchr(d[i].value, '=') + 1, NULL, 10));
	}
	snprintf(out, sizeof out, "%s/none", dir);
	expect_run((const char *const[]){ "convert", "--split", "size=1024",
	                                  "testdata/htdump/good/equal-starts.htdump", out, NULL },
	           2, "a part of the fewest records takes");
	cr_expect_eq(access(out, F_OK), -1);
	remove_folder(dir);
}

/* ---- other formats, and what names the parts ---- */

/* Events of two processes and three threads, with names that lead elsewhere. */
static const char hostile[] =
    "[{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"../../p\"}},\n"
    "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":7,\"args\":{\"name\":\"/etc/t\\u0000\"}},\n"
    "{\"name\":\"../a\",\"ph\":\"X\",\"ts\":10,\"dur\":100,\"pid\":1,\"tid\":7},\n"
    "{\"name\":\"b/..\",\"ph\":\"X\",\"ts\":2010,\"dur\":5,\"pid\":1,\"tid\":18446744073709551615},\n"
    "{\"name\":\"\\u001b[31m\",\"ph\":\"X\",\"ts\":2020,\"dur\":5,\"pid\":2,\"tid\":7}]\n";

static void expect_names(const char *out, const char *const *want)
{
	char **const names = list_folder(out, "");
	size_t n = 0;

	for (; names[n] != NULL && want[n] != NULL; n++)
		cr_expect_str_eq(names[n], want[n]);
	cr_expect(names[n] == NULL && want[n] == NULL, "%s: %zu files", out, n);
	list_free(names);
}

Test(convert_split, names_are_words_and_numbers)
{
	char *const dir = make_folder(), in[512], out[512];

	snprintf(in, sizeof in, "%s/in.json", dir);
	snprintf(out, sizeof out, "%s/out.ndjson.d///", dir);
	cr_assert(write_whole(in, hostile, sizeof hostile - 1));
	expect_run((const char *const[]){ "convert", "--split", "by=tid", in, out, NULL }, 0, "");
	expect_names(out, (const char *const[]){ ".tracetool-files", "pid-1-tid-00000000000000000007.ndjson",
	                                         "pid-1-tid-18446744073709551615.ndjson",
	                                         "pid-2-tid-00000000000000000007.ndjson", NULL });
	expect_run((const char *const[]){ "convert", "--split", "time=1ms", in, out, NULL }, 2,
	           "already exists");
	expect_run((const char *const[]){ "convert", "-f", "--split", "time=1ms", in, out, NULL }, 0, "");
	expect_names(
	    out, (const char *const[]){ ".tracetool-files", "part-00000.ndjson", "part-00002.ndjson", NULL });
	remove_folder(dir);
}

/* The offsets of the events in lines of NDJSON, as a set of those below 64 * 1024, and how many there are. */
static size_t take_offsets(const char *text, unsigned char *seen)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, "\"offset\":")) != NULL; p += 9, n++)
		seen[strtoul(p + 9, NULL, 10) & 0xffff] = 1;
	return n;
}

Test(convert_split, events_made_anew)
{
	static const char in[] = "testdata/heph/good/mixed.bin.log";
	static unsigned char whole[1 << 16], parts[1 << 16];
	char *const dir = make_folder(), out[512], path[1024];
	struct ran r =
	    run_tool((const char *const[]){ "convert", "-q", "--to", "ndjson", in, "-", NULL }, NULL, 0);
	const size_t want = take_offsets(r.out, whole);
	size_t n = 0, size;

	snprintf(out, sizeof out, "%s/out.ndjson.d", dir);
	expect_run((const char *const[]){ "convert", "--split", "by=tid", in, out, NULL }, 0, "");
	char **const names = list_folder(out, ".ndjson");
	for (size_t i = 0; names[i] != NULL; i++) {
		snprintf(path, sizeof path, "%s/%s", out, names[i]);
		char *const text = read_whole(path, &size);
		cr_assert_not_null(text);
		n += take_offsets(text, parts);
		free(text);
		expect_run((const char *const[]){ "validate", "-q", path, NULL }, 0, "");
	}
	cr_expect_not_null(names[1], "one part alone");
	cr_expect_eq(n, want);
	cr_expect_eq(memcmp(whole, parts, sizeof whole), 0);
	list_free(names);
	ran_free(&r);
	remove_folder(dir);
}

/* What is selected is divided, and the rest counted once. */
Test(convert_split, of_a_selection)
{
	static const char in[] = "testdata/htdump/good/equal-starts.htdump";
	char *const dir = make_folder(), out[512], one[512];

	snprintf(out, sizeof out, "%s/out", dir);
	snprintf(one, sizeof one, "%s/one.htdump", dir);
	expect_run((const char *const[]){ "convert", "--since", "20000", in, one, NULL }, 0,
	           " events selected");
	expect_run(
	    (const char *const[]){ "convert", "--since", "20000", "--split", "time=10us", in, out, NULL }, 0,
	    " events selected");
	expect_run((const char *const[]){ "diff", "-q", "--ignore", "track", one, out, NULL }, 0, "");
	remove_folder(dir);
}

Test(convert_split, of_no_events)
{
	char *const dir = make_folder(), out[512];

	snprintf(out, sizeof out, "%s/out", dir);
	expect_run((const char *const[]){ "convert", "--split", "time=1s",
	                                  "testdata/htdump/good/only-endianness.htdump", out, NULL },
	           0, "");
	expect_names(out, (const char *const[]){ ".tracetool-files", "part-00000.htdump", NULL });
	remove_folder(dir);
}

/* Findings are reported once, and what stands before the fault is divided. */
Test(convert_split, of_a_damaged_trace)
{
	char *const dir = make_folder(), out[512];

	snprintf(out, sizeof out, "%s/out", dir);
	struct ran r = run_tool((const char *const[]){ "convert", "--split", "by=tid",
	                                               "testdata/htdump/bad/cut-record.htdump", out, NULL },
	                        NULL, 0);
	const char *const first = strstr(r.err, "htdump/cut-record");
	cr_expect_eq(r.status, 1, "%s", r.err);
	cr_assert_not_null(first, "%s", r.err);
	cr_expect_null(strstr(first + 1, "htdump/cut-record"), "%s", r.err);
	cr_expect_eq(access(out, R_OK), 0);
	ran_free(&r);
	remove_folder(dir);
}

/* Each part is as if the others were not selected: what a part has does not depend on how many there are. */
Test(convert_split, each_part_is_a_selection)
{
	static const char in[] = "testdata/heph/good/mixed.bin.log";
	char *const dir = make_folder(), out[512], path[1024];

	snprintf(out, sizeof out, "%s/out", dir);
	expect_run(
	    (const char *const[]){ "convert", "-q", "--to", "chrome", "--split", "time=1us", in, out, NULL },
	    0, "");
	char **const names = list_folder(out, ".json");
	cr_expect_not_null(names[0]);
	for (size_t i = 0; names[i] != NULL; i++) {
		snprintf(path, sizeof path, "%s/%s", out, names[i]);
		expect_run((const char *const[]){ "validate", "-q", path, NULL }, 0, "");
	}
	list_free(names);
	remove_folder(dir);
}

/* Of NDJSON, with so many threads. */
static void put_threads(const char *path, int threads)
{
	FILE *const f = fopen(path, "w");

	cr_assert_not_null(f);
	for (int i = 0; i < threads; i++)
		fprintf(f, "%s{\"name\":\"a\",\"ph\":\"X\",\"ts\":%d,\"dur\":2,\"pid\":1,\"tid\":%d}",
		        i == 0 ? "[" : ",\n", i, i);
	fprintf(f, "]\n");
	cr_assert_eq(fclose(f), 0);
}

/* The sorter holds some of the events in a file. */
Test(convert_split, many_parts_in_little_memory)
{
	char *const dir = make_folder(), in[1024], out[512];

	snprintf(in, sizeof in, "%s/in.json", dir);
	snprintf(out, sizeof out, "%s/out", dir);
	put_threads(in, 3000);
	expect_run((const char *const[]){ "convert", "-q", "--to", "ndjson", "--memory", "65536", "--split",
	                                  "by=tid", in, out, NULL },
	           0, "");
	char **const names = list_folder(out, ".ndjson");
	size_t n = 0;
	while (names[n] != NULL)
		n++;
	cr_expect_eq(n, 3000);
	cr_expect_str_eq(names[7], "pid-1-tid-0007.ndjson");
	list_free(names);
	snprintf(in, sizeof in, "%s/pid-1-tid-0007.ndjson", out);
	char *const text = read_whole(in, &n);
	cr_assert_not_null(text);
	const char *const span = strstr(text, "{\"kind\":\"span\",\"ts_ns\":7000,");
	cr_assert_not_null(span, "%s", text);
	cr_expect_null(strstr(span + 2, "\"kind\":\"span\""), "%s", text);
	free(text);
	remove_folder(dir);
}

/* ---- limits and mistakes ---- */

Test(convert_split, more_parts_than_there_may_be)
{
	char *const dir = make_folder(), in[512], out[512];
	FILE *f;

	snprintf(in, sizeof in, "%s/in.json", dir);
	snprintf(out, sizeof out, "%s/out", dir);
	cr_assert_not_null(f = fopen(in, "w"));
	for (int i = 0; i <= 10000; i++)
		fprintf(f, "%s{\"name\":\"a\",\"ph\":\"i\",\"ts\":%d,\"pid\":1,\"tid\":1}",
		        i == 0 ? "[" : ",\n", i);
	fprintf(f, "]\n");
	cr_assert_eq(fclose(f), 0);
	expect_run((const char *const[]){ "convert", "--to", "csv", "--split", "time=1us", in, out, NULL }, 2,
	           "more than 10000 parts");
	cr_expect_eq(access(out, F_OK), -1);
	remove_folder(dir);
}

Test(convert_split, of_what_cannot_be_read)
{
	char *const dir = make_folder(), in[512], out[512];

	snprintf(in, sizeof in, "%s/none.htdump", dir);
	snprintf(out, sizeof out, "%s/out", dir);
	expect_run((const char *const[]){ "convert", "--split", "by=tid", in, out, NULL }, 2,
	           "none.htdump: no such file");
	expect_run((const char *const[]){ "convert", "--split", "size=9999", in, out, NULL }, 2,
	           "none.htdump: no such file");
	cr_assert(write_whole(in, "no trace", 8));
	expect_run((const char *const[]){ "convert", "--split", "time=1s", in, out, NULL }, 2,
	           "input/unknown-format");
	cr_expect_eq(access(out, F_OK), -1);
	remove_folder(dir);
}

Test(convert_split, mistakes)
{
	static const char in[] = "testdata/htdump/good/equal-starts.htdump";
	static const struct {
		const char *args[8], *says;
	} rows[] = {
		{ { "--split", "time=0", in, "x" }, "--split time= takes a duration" },
		{ { "--split", "time=-1s", in, "x" }, "--split time= takes a duration" },
		{ { "--split", "by=name", in, "x" }, "--split by= takes one of pid, tid, stream" },
		{ { "--split", "by=pid", "--split", "time=1s", in, "x" }, "split in one way" },
		{ { "--split", "by=pid", in, "-" }, "standard output cannot hold them" },
		{ { "--split", "by=pid", "--to", "csv", "-", "x" }, "standard input can be read once" },
		{ { "--split", "by=pid", "--to", "csv", "/dev/stdin", "x" }, "/dev/stdin can be read once" },
		{ { "--split", "by=pid", "--verify", in, "x" }, "--verify does not go with parts" },
		{ { "--split", "by=stream", "--to", "csv", in, "x" },
		  "--split by=stream and size= copy records" },
		{ { "--split", "size=9999", in, "x.csv.d" }, "--split by=stream and size= copy records" },
		{ { "--split", "size=1023", in, "x" },
		  "--split size= takes a number of bytes, at least 1024" },
		{ { "--split", "size=9q", in, "x" },
		  "--split size= takes a number of bytes, 104857600 or 100M, not 9q" },
		{ { "--split", "size=9999", "--split", "by=pid", in, "x" }, "split in one way" },
	};
	const char *args[10] = { "convert" };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		memcpy(args + 1, rows[i].args, sizeof rows[i].args);
		expect_run(args, 3, rows[i].says);
		cr_expect_eq(access("x", F_OK), -1);
	}
}

/* ---- writers of folders ---- */

/* convert with a writer of folders that is in no list: a file for the times and one for the names. */

#define SAMPLE "testdata/htdump/good/wire-little.htdump"
#define MISSING "testdata/htdump/good/there-is-none.htdump"

static bool two_open(struct writer *w, struct chunk *chunk)
{
	return true;
}

static bool two_declare(struct writer *w, const struct batch *b)
{
	return true;
}

static void two_render(const void *state, const struct batch *b, struct chunk *chunk)
{
	for (uint32_t i = 0; i < b->n; i++) {
		chunk_file(chunk, "times");
		text_printf(&chunk->text, "%d\n", (int)b->events[i].ts);
		chunk_file(chunk, "texts/names");
		text_slice(&chunk->text, b->events[i].name);
		text_char(&chunk->text, '\n');
	}
}

static bool two_close(struct writer *w, struct chunk *chunk)
{
	chunk_file(chunk, "losses");
	return true;
}

static const struct writer_ops two_ops = {
	.state_size = 1,
	.modes = WRITER_INTERPRETED,
	.shape = WRITER_FOLDER,
	.open = two_open,
	.declare = two_declare,
	.render = two_render,
	.close = two_close,
};
static const char *const suffixes[] = { ".two", NULL };
static const struct format two = { .name = "two", .suffixes = suffixes, .writer = &two_ops };
static char said[2048]; /* by the last run */

/* Calls the function with standard error in `said`. */
static enum exit_status listen_to(enum exit_status (*call)(struct convert *), struct convert *c)
{
	FILE *const f = tmpfile();
	const int before = dup(STDERR_FILENO);

	cr_assert(f != NULL && before >= 0 && dup2(fileno(f), STDERR_FILENO) >= 0);
	const enum exit_status status = call(c);
	cr_assert_geq(dup2(before, STDERR_FILENO), 0);
	(void)close(before);
	(void)fseek(f, 0, SEEK_SET);
	said[fread(said, 1, sizeof said - 1, f)] = '\0';
	(void)fclose(f);
	return status;
}

/* Runs it in the folder. */
static enum exit_status convert(const char *dir, const char *const *in, size_t n, const char *name,
                                bool force, bool keep_partial)
{
	char out[1024];
	char program[] = "convert", *argv[] = { program, NULL };
	struct convert c = {
		.in = in, .nin = n, .out = out, .to = &two, .threads = 3, .keep_partial = keep_partial
	};

	snprintf(out, sizeof out, "%s/%s", dir, name);
	options_init(&c.options, &convert_command, 1, argv);
	c.options.force = force;
	const enum exit_status status = listen_to(convert_run, &c);
	options_free(&c.options);
	return status;
}

static size_t lines_of(const char *dir, const char *name)
{
	char path[1024];
	size_t n, lines = 0;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	char *const text = read_whole(path, &n);
	cr_assert_not_null(text, "%s", path);
	for (size_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	free(text);
	return lines;
}

static void expect_folder(const char *dir, const char *const *want)
{
	char **const names = list_folder(dir, "");
	size_t i = 0;

	for (; names[i] != NULL && want[i] != NULL; i++)
		cr_expect_str_eq(names[i], want[i]);
	cr_expect(names[i] == NULL && want[i] == NULL, "%s", names[i] != NULL ? names[i] : want[i]);
	list_free(names);
}

Test(convert_folder, a_folder_gets_its_files)
{
	static const char *const in[] = { SAMPLE };
	char *const dir = make_folder();

	cr_expect_eq(convert(dir, in, 1, "out.two", false, false), STATUS_CLEAN);
	expect_folder(dir, (const char *const[]){ "out.two", NULL });
	cr_expect_eq(lines_of(dir, "out.two/times"), lines_of(dir, "out.two/texts/names"));
	cr_expect_gt(lines_of(dir, "out.two/times"), 5);
	cr_expect_eq(lines_of(dir, "out.two/losses"), 0);
	cr_expect_eq(lines_of(dir, "out.two/.tracetool-files"), 4);
	cr_expect_eq(convert(dir, in, 1, "out.two/", false, false), STATUS_UNREADABLE);
	cr_expect_not_null(strstr(said, "out.two/: already exists (use -f to replace it)"), "%s", said);
	cr_expect_eq(convert(dir, in, 1, "out.two/", true, false), STATUS_CLEAN);
	expect_folder(dir, (const char *const[]){ "out.two", NULL });
	remove_folder(dir);
}

Test(convert_folder, an_input_that_is_missing_leaves_the_old_one)
{
	static const char *const in[] = { SAMPLE, MISSING };
	char *const dir = make_folder();

	cr_expect_eq(convert(dir, in, 2, "out", false, false), STATUS_UNREADABLE);
	cr_expect_not_null(strstr(said, "/out: not written, as an input could not be read"), "%s", said);
	expect_folder(dir, (const char *const[]){ NULL });
	cr_expect_eq(convert(dir, in, 1, "out", false, false), STATUS_CLEAN);
	const size_t lines = lines_of(dir, "out/times");
	cr_expect_eq(convert(dir, in, 2, "out", true, false), STATUS_UNREADABLE);
	cr_expect_eq(lines_of(dir, "out/times"), lines);
	cr_expect_eq(convert(dir, in, 2, "new", true, true), STATUS_UNREADABLE);
	cr_expect_eq(lines_of(dir, "new/times"), lines);
	expect_folder(dir, (const char *const[]){ "new", "out", NULL });
	remove_folder(dir);
}

static struct options options;

static enum exit_status fit(struct convert *c)
{
	return output_format_fits(&options, c->to, c->out, c->raw) ? STATUS_CLEAN : options.status;
}

static void expect_misfit(const char *out, bool raw, const char *words)
{
	struct convert c = { .out = out, .to = &two, .raw = raw };

	cr_expect_eq(listen_to(fit, &c), words != NULL ? STATUS_USAGE : STATUS_CLEAN, "%s", out);
	cr_expect(words == NULL || strstr(said, words) != NULL, "%s", said);
}

Test(convert_folder, outputs_that_no_folder_can_be)
{
	options.cmd = &convert_command;
	expect_misfit("out", false, NULL);
	expect_misfit("out.two", false, NULL);
	expect_misfit("-", false, "two is a directory of files; standard output cannot hold it");
	expect_misfit("out.two.gz", false,
	              "out.two.gz: two is a directory of files, which cannot be compressed");
	expect_misfit("out.two.zst", false, "cannot be compressed");
	expect_misfit("out", true, "--raw: two cannot hold raw records");
}
