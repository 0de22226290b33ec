/* Reports for people: what stands apart, how many digits are shown, how wide tables are, which units. */
/* What is lost is said, whatever is asked for besides; what a killed run leaves is what the manual says. */
/* What a user sees when memory, the disk or the input fails.  Every single call is failed by `make
 * check-faults`. */
#include <criterion/criterion.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cmd/test/cli_test_util.h"

/* ---- reports ---- */

#define RUN(...) run_tool((const char *const[]){ __VA_ARGS__, NULL }, NULL, 0)

static const char lives[] = /* a task that lives for 8 us, of which a thread spends 2 on it */
    "[{\"ph\":\"b\",\"cat\":\"task\",\"name\":\"job\",\"id\":1,\"ts\":1,\"pid\":1,\"tid\":2},"
    "{\"ph\":\"X\",\"cat\":\"poll\",\"name\":\"job\",\"ts\":2,\"dur\":2,\"pid\":1,\"tid\":2},"
    "{\"ph\":\"e\",\"cat\":\"task\",\"name\":\"job\",\"id\":1,\"ts\":9,\"pid\":1,\"tid\":2}]\n";

Test(trust, async_spans_stand_apart_from_what_took_the_time)
{
	struct ran r = run_tool((const char *const[]){ "stats", "-", NULL }, lives, sizeof lives - 1);
	const char *const spans = strstr(r.out, "\nspans\n"), *const async = strstr(r.out, "\nasync spans\n");

	cr_assert(spans != NULL && async != NULL && spans < async, "%s", r.out);
	const char *const poll = strstr(spans, "  job   poll"), *const life = strstr(spans, "  job   task");
	cr_expect(poll != NULL && poll < async, "%s", r.out);
	cr_expect(life != NULL && life > async, "%s", r.out);
	cr_expect_not_null(strstr(spans, "2.00 us  2.00 us"), "total and self: %s", r.out);
	cr_expect_not_null(strstr(async, "8.00 us"), "%s", r.out);
	ran_free(&r);
}

/* 20 spans of 1,000 to 1,950 ns: percentiles of more than 16 are known to 1 %. */
Test(trust, percentiles_show_as_many_digits_as_the_maximum)
{
	char text[4000];
	size_t n = 0;

	for (unsigned i = 0; i < 20; i++)
		n +=
		    (size_t)snprintf(text + n, sizeof text - n,
		                     "%c{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"c\",\"ts\":%u,\"dur\":1.%02u1,"
		                     "\"pid\":1,\"tid\":1}\n",
		                     i == 0 ? '[' : ',', 10 * i, 5 * i);
	n += (size_t)snprintf(text + n, sizeof text - n, "]\n");
	struct ran r = run_tool((const char *const[]){ "stats", "-", NULL }, text, n);
	cr_expect(strstr(r.out, " 1.44 us") != NULL || strstr(r.out, " 1.45 us") != NULL ||
	              strstr(r.out, " 1.46 us") != NULL,
	          "p50, the tenth, is 1,451 ns: %s", r.out);
	cr_expect_not_null(strstr(r.out, " 1.95 us\n"), "the longest: %s", r.out);
	cr_expect_null(strstr(r.out, "1.951"), "%s", r.out);
	ran_free(&r);
	r = run_tool((const char *const[]){ "stats", "--format", "json", "-", NULL }, text, n);
	const char *const p50 = strstr(r.out, "\"p50\":");
	cr_assert_not_null(p50);
	const double ns = atof(p50 + 6);
	cr_expect(ns >= 1451 * 0.99 && ns <= 1451 * 1.01, "%.0f", ns);
	ran_free(&r);
}

/* On a terminal, made by script(1), no line is wider than COLUMNS; elsewhere names are whole. */
Test(trust, tables_of_stats_are_as_wide_as_the_terminal)
{
	static const char command[] = "COLUMNS=120 script -qec \"$0 stats $1\" /dev/null < /dev/null";
	static const char name[] =
	    "a_name_that_is_longer_than_would_fit_into_so_few_columns_beside_nine_numbers";
	char *const dir = make_folder(), path[600], text[400];

	snprintf(path, sizeof path, "%s/t.json", dir);
	snprintf(text, sizeof text,
	         "[{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"%s\",\"ts\":2,\"dur\":2,\"pid\":1,\"tid\":2}]\n",
	         name);
	cr_assert(write_whole(path, text, strlen(text)));
	if (system("script -qec true /dev/null > /dev/null 2>&1 < /dev/null") != 0) {
		remove_folder(dir);
		cr_skip_test("script is not here");
	}
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", command, tool_path(), path, NULL }, NULL, 0);
	const char *const table = strstr(r.out, "spans");
	cr_assert_not_null(table, "%s%s", r.out, r.err);
	cr_expect_null(strstr(table, name), "%s", r.out);
	for (const char *p = table, *end; (end = strchr(p, '\n')) != NULL; p = end + 1)
		cr_expect_leq((size_t)(end - p), 120 + 1, "%.*s", (int)(end - p), p); /* and CR */
	ran_free(&r);
	r = RUN("stats", path);
	cr_expect_not_null(strstr(r.out, name), "%s", r.out);
	ran_free(&r);
	remove_folder(dir);
}

Test(trust, info_has_tracks_with_events_iso_8601_and_units)
{
	static const char *const lines[] = { "\ntracks:   1 in 1 process\n",
		                             "\ntimes:    100 to 200 ns\nduration: 100 ns\n",
		                             "\nwall:     2021-01-08T13:48:54.118010100Z to "
		                             "2021-01-08T13:48:54.118010200Z\n",
		                             NULL };
	struct ran r = RUN("info", "testdata/heph/good/spec-example.bin.log");

	cr_expect_eq(r.status, 0);
	for (const char *const *l = lines; *l != NULL; l++)
		cr_expect_not_null(strstr(r.out, *l), "%s is not in: %s", *l, r.out);
	ran_free(&r);
	r = RUN("info", "testdata/htdump/good/wire-little.htdump");
	cr_expect_not_null(strstr(r.out, "\nsize:     2688 bytes (2.6 KiB)\n"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\ntracks:   3 in 1 process\n"), "as stats counts them: %s", r.out);
	cr_expect_not_null(strstr(r.out, "\nduration: 3703 ns (3.703 us)\n"), "%s", r.out);
	ran_free(&r);
}

/* ---- losses ---- */

#define OVERLAPPING "testdata/htdump/good/overlapping.htdump"

Test(trust, explain_knows_losses_of_the_engine_and_of_outputs)
{
	expect_ran(RUN("explain", "pairs/no-end"), 0, "pairs/no-end (loss): spans without an end");
	expect_ran(RUN("explain", "lanes/off"), 0, "lanes/off (loss): spans that overlap");
	expect_ran(RUN("explain", "chrome/time-rounded"), 0, "chrome/time-rounded (loss): ");
	expect_ran(RUN("explain", "repeats/text-cut"), 0, "repeats/text-cut (loss): ");
	expect_ran(RUN("explain", "lanes/of"), 3, "did you mean lanes/off?");
}

Test(trust, quiet_does_not_hide_why_a_loss_failed)
{
	expect_ran(RUN("convert", "-q", "--fail-on-loss", "--to", "folded", OVERLAPPING, "-"), 1,
	           "spans whose fields are left out: 6");
	struct ran r = RUN("convert", "-q", "--to", "folded", OVERLAPPING, "-");
	cr_expect_eq(r.status, 0);
	cr_expect_str_eq(r.err, "");
	ran_free(&r);
}

Test(trust, lanes_off_with_overlaps_is_a_counted_loss)
{
	expect_ran(RUN("convert", "--lanes", "off", "--to", "chrome", OVERLAPPING, "-"), 0, "[lanes/off]");
	expect_ran(RUN("convert", "--lanes", "off", "--fail-on-loss", "--to", "chrome", OVERLAPPING, "-"), 1,
	           "left there by --lanes off: 2;");
	expect_ran(RUN("convert", "-q", "--lanes", "off", "--to", "chrome", OVERLAPPING, "-"), 0,
	           "\"losses\":{\"lanes/off\":2}");
}

/* The output is half written for certain: the input is a FIFO that stays open. */
Test(host_signal, leftovers_of_sigkill_have_the_name_in_the_manual)
{
	static const char command[] =
	    "mkfifo \"$1/in\" || exit 99\n"
	    "\"$0\" convert - \"$1/out.json\" < \"$1/in\" & pid=$!\n"
	    "exec 9> \"$1/in\"\n"
	    "cat testdata/htdump/good/wire-little.htdump >&9; head -c 70000 /dev/zero >&9\n"
	    "n=0\n"
	    "while [ \"$(ls -A \"$1\" | wc -l)\" -lt 2 ] && [ $n -lt 6000 ]; do sleep 0.01; n=$((n+1)); "
	    "done\n"
	    "kill -KILL $pid; wait $pid 2> /dev/null; echo \"status $?\"; rm \"$1/in\"; ls -A \"$1\"\n";
	char *const dir = make_folder();
	size_t n;
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", command, tool_path(), dir, NULL }, NULL, 0);

	cr_expect_eq(fnmatch("status 137\n.out.json.tracetool-[a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9]"
	                     "[a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9]\n",
	                     r.out, 0),
	             0, "%s", r.out);
	ran_free(&r);
	char *const page = read_whole("man/tracetool.1", &n);
	cr_assert_not_null(page);
	cr_expect_not_null(strstr(page, ".tracetool-XXXXXXXXXX"));
	cr_expect_not_null(strstr(page, "SIGKILL"));
	free(page);
	remove_folder(dir);
}

/* ---- faults ---- */

#define SAMPLE "testdata/htdump/good/overlapping.htdump"

/* $0 is the program, $1 a folder. */
static struct ran shell(const char *script, const char *dir)
{
	const char *const argv[] = { "sh", "-c", script, tool_path(), dir, NULL };

	return run_program(argv, NULL, 0);
}

static void expect_empty(const char *dir, const char *script)
{
	char **const names = list_folder(dir, "");

	cr_expect_null(names[0], "%s left %s", script, names[0]);
	list_free(names);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Below what the loader takes, it says so itself. */
static void limited(const char *command, unsigned kib)
{
	char *const dir = make_folder(), script[400];

	snprintf(script, sizeof script, "ulimit -v %u; exec \"$0\" %s", kib, command);
	struct ran r = shell(script, dir);
	const bool loaded = strstr(r.err, "shared librar") == NULL && strstr(r.err, "loader") == NULL;
	cr_expect(!loaded || r.status == 0 || r.status == 2, "%s: status %d: %s", script, r.status, r.err);
	cr_expect(r.status == 0 || r.err_n + r.out_n > 0, "%s: no message", script);
	if (r.status == 2) {
		cr_expect(strstr(r.err, "memory") != NULL || strstr(r.out, "memory") != NULL, "%s: %s%s",
		          script, r.err, r.out);
		expect_empty(dir, script);
	}
	ran_free(&r);
	remove_folder(dir);
}

Test(host_memory, out_of_memory_is_status_2_with_a_message)
{
	static const char *const lines[] = {
		"convert -f --threads 3 " SAMPLE " \"$1\"/out.json",
		"validate " SAMPLE,
		"stats " SAMPLE,
		"vocabulary check schemas/htdump.yaml",
	};

	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		for (unsigned kib = 8000; kib <= 40000; kib += 1200)
			limited(lines[i], kib);
}
#endif

/* The limit of a file's size counts in 512 or 1024 bytes, as the shell likes. */
Test(trust, a_full_disk_is_status_2_and_leaves_nothing)
{
	static const char *const scripts[] = {
		("ulimit -f 1; exec \"$0\" convert " SAMPLE " \"$1\"/out.json"),
		("ulimit -f 1; exec \"$0\" convert --threads 3 " SAMPLE " \"$1\"/out.ndjson"),
		("ulimit -f 1; exec \"$0\" cat -o \"$1\"/out.txt " SAMPLE),
	};

	for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
		char *const dir = make_folder();
		struct ran r = shell(scripts[i], dir);
		cr_expect_eq(r.status, 2, "%s: status %d", scripts[i], r.status);
		cr_expect_not_null(strstr(r.err, "/out."), "%s: %s", scripts[i], r.err);
		cr_expect_not_null(strstr(r.err, "File too large"), "%s: %s", scripts[i], r.err);
		expect_empty(dir, scripts[i]);
		ran_free(&r);
		remove_folder(dir);
	}
}

Test(trust, a_report_that_cannot_be_written_is_status_2)
{
	static const char *const lines[] = {
		"validate " SAMPLE, "stats " SAMPLE, "cat " SAMPLE, "info " SAMPLE,
		"formats",          "explain",       "--help",      "vocabulary check schemas/htdump.yaml",
	};
	char script[300];

	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		snprintf(script, sizeof script, "exec \"$0\" %s > /dev/full", lines[i]);
		struct ran r = shell(script, "");
		cr_expect_eq(r.status, 2, "%s: status %d", script, r.status);
		cr_expect_not_null(strstr(r.err, "standard output: No space left on device"), "%s: %s",
		                   script, r.err);
		ran_free(&r);
	}
}

/* A writer that takes its name back between the look into the folder and the reading. */
Test(trust, a_vanished_input_is_status_2_and_leaves_nothing)
{
	static const char script[] = "mkdir \"$1\"/in && cp " SAMPLE " \"$1\"/in/a.htdump && "
	                             "ln -s nowhere \"$1\"/gone.htdump && mkdir \"$1\"/out && "
	                             "exec \"$0\" convert \"$1\"/gone.htdump -o \"$1\"/out/out.json";
	char *const dir = make_folder(), out[600];
	struct ran r = shell(script, dir);

	cr_expect_eq(r.status, 2);
	cr_expect_not_null(strstr(r.err, "gone.htdump"), "%s", r.err);
	snprintf(out, sizeof out, "%s/out", dir);
	expect_empty(out, script);
	ran_free(&r);
	struct ran cleaned = shell("rm -r \"$1\"/in \"$1\"/out \"$1\"/gone.htdump", dir);
	ran_free(&cleaned);
	remove_folder(dir);
}
