#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/outputs.h"
#include "cmd/convert/convert.h"
#include "cmd/test/cli_test_util.h"

/* ---- --split ---- */

/* convert --split time= and --split by=: parts are valid traces by themselves, and contain each event
 * once. */
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

/* A folder of streams, one per thread; a part also has the records of other threads that it needs. */
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

/* No part is larger than `max`, and none is smaller than necessary. */
static void expect_sizes(const char *out, size_t max)
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
		cr_expect_leq(size, max, "%s", path);
		sum += size;
		n++;
		free(p);
	}
	cr_expect_geq(2 * sum, (n - 1) * max, "%s: %zu parts of %zu bytes", out, n, sum / n);
	list_free(names);
}

Test(convert_split, of_a_size)
{
	static const struct division d[] = {
		{ REAL "htdump/two-threads.htdump", "htdump", "--split", "size=4000", "track", 9 },
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
	remove_folder(dir);
}

/* Writes NDJSON with this number of threads. */
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

/* ---- limits ---- */

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

/* ---- writers of folders ---- */

/* convert with an unregistered writer of folders: a file for the times and one for the names. */

#define SAMPLE "testdata/htdump/good/wire-little.htdump"
#define MISSING "testdata/htdump/good/there-is-none.htdump"

static bool two_open(struct writer *w, struct chunk *chunk)
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
	.shape = WRITER_FOLDER,
	.open = two_open,
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

/* Runs convert in the folder. */
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
