/* Folders whose files are read apart: which are, and that the result is that of one file with all records. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/test/apart_test_util.h"
#include "cmd/test/cli_test_util.h"

#define FILES 3
#define LINES 4000 /* 140 bytes each: files of some size */

/* A change of one file. */
enum change {
	NOTHING,
	SAME_PROCESS,  /* that of the file before */
	OTHER_HOST,    /* the same pid, on another host */
	NO_HOST,       /* the same pid, in a record without a host */
	LACKS_HASH,    /* uses one that the file before defines */
	OTHER_NAME,    /* for a hash that the file before defines */
	NEW_NAME,      /* for a hash that the file defines itself */
	BEGIN_AND_END, /* a pair */
	NO_PROCESS,    /* a record without a pid */
	COUNTER,
	CUT, /* the last record is incomplete */
	OTHER_FORMAT,
	CHANGES
};

static const char *const change_names[CHANGES] = { "nothing",  "same process",  "other host",
	                                           "no host",  "lacks hash",    "other name",
	                                           "new name", "begin and end", "no process",
	                                           "counter",  "cut",           "other format" };

static void define(FILE *f, int pid, const char *host, const char *hash, const char *name)
{
	fprintf(f,
	        "{\"id\":0,\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":%d,\"tid\":%d,\"ph\":\"M\",\"args\":{"
	        "\"hhash\":\"%s\",\"name\":\"%s\",\"value\":\"%s\"}}\n",
	        pid, pid, host, name, hash);
}

/* Spans in spans, and beside each other, of three threads. */
static void write_spans(FILE *f, int pid, const char *host, int lines)
{
	static const char *const names[] = { "read", "write", "close", "open64" };

	for (int i = 0; i < lines; i++)
		fprintf(
		    f,
		    "{\"id\":%d,\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%d,\"dur\":%d,"
		    "\"ph\":\"X\",\"args\":{\"hhash\":\"%s\",\"fhash\":\"00000000000000f1\",\"ret\":%d}}\n",
		    i, names[(i * 7 + pid) % 4], i % 5 == 0 ? "STDIO" : "POSIX", pid, 100 * pid + i % 3,
		    1000000 + 9 * i + pid, i % 10 == 0 ? 60 : i % 7, host, i % 4096);
}

static void write_file(const char *path, int number, enum change c)
{
	const char *const host = c == OTHER_HOST ? "00000000000000ab" : "00000000000000aa";
	const bool same = c == SAME_PROCESS || c == OTHER_HOST || c == NO_HOST;
	const int pid = 10 + number - (same ? 1 : 0);
	FILE *const f = fopen(path, "w");

	cr_assert_not_null(f);
	if (c == OTHER_FORMAT)
		fputs("{\"traceEvents\":[\n", f);
	if (c != LACKS_HASH)
		define(f, pid, host, "00000000000000f1", c == OTHER_NAME ? "/other" : "/a/b");
	if (c == NEW_NAME)
		define(f, pid, host, "00000000000000f1", "/new");
	if (c == BEGIN_AND_END)
		fprintf(f,
		        "{\"name\":\"b\",\"cat\":\"P\",\"pid\":%d,\"tid\":1,\"ts\":1,\"ph\":\"B\"}\n{"
		        "\"name\":\"b\","
		        "\"cat\":\"P\",\"pid\":%d,\"tid\":1,\"ts\":9,\"ph\":\"E\"}\n",
		        pid, pid);
	if (c == NO_PROCESS)
		fputs("{\"id\":9,\"name\":\"n\",\"cat\":\"P\",\"tid\":1,\"ts\":1,\"dur\":1,\"ph\":\"X\"}\n",
		      f);
	if (c == COUNTER)
		fprintf(f,
		        "{\"name\":\"c\",\"cat\":\"P\",\"pid\":%d,\"tid\":1,\"ts\":1,\"ph\":\"C\",\"args\":{"
		        "\"hhash\":"
		        "\"%s\",\"v\":0.1}}\n",
		        pid, host);
	if (c == NO_HOST)
		fprintf(f,
		        "{\"id\":9,\"name\":\"n\",\"cat\":\"P\",\"pid\":%d,\"tid\":1,\"ts\":1,\"dur\":1,"
		        "\"ph\":\"X\"}\n",
		        pid);
	write_spans(f, pid, host, LINES);
	if (c == CUT)
		fputs("{\"id\":1,\"name\":\"rea", f);
	if (c == OTHER_FORMAT)
		fputs("{}]}", f);
	cr_assert_eq(fclose(f), 0);
}

/* Writes the files of a trace, of which number 1 has the change. */
static void write_trace(const char *dir, enum change c)
{
	char path[300];

	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof path, "%s/run-%d.pfw", dir, i);
		write_file(path, i, i == 1 ? c : NOTHING);
	}
}

/* ---- which files are read apart ---- */

Test(dftracer_apart, only_independent_files)
{
	char *const dir = make_folder();

	for (int c = 0; c < CHANGES; c++) {
		const bool expected = c == NOTHING || c == OTHER_HOST || c == COUNTER || c == CUT;
		write_trace(dir, (enum change)c);
		for (uint64_t threads = 1; threads < 4; threads += 2) {
			const struct apart_seen s = apart_see(dir, threads);
			cr_expect(s.possible, "%s", change_names[c]);
			cr_expect_eq(s.apart, expected, "%s: apart %d", change_names[c], s.apart);
			cr_expect_eq(s.reported, expected ? FILES : 0U, "%s", change_names[c]);
			if (c == NOTHING)
				cr_expect_eq(s.records, FILES * (LINES + 1));
		}
	}
	remove_folder(dir);
}

/* A packed file counts as what it unpacks to. */
Test(dftracer_apart, files_of_some_size)
{
	static const struct {
		int lines;
		bool packed, possible;
	} cases[] = { { 30, false, false }, { 100, false, true }, { 100, true, true }, { 10, true, false } };

	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		char *const dir = make_folder();
		for (int i = 0; i < FILES; i++) {
			char path[300];
			snprintf(path, sizeof path, "%s/run-%d.pfw", dir, i);
			FILE *const f = fopen(path, "w");
			cr_assert_not_null(f);
			define(f, 10 + i, "00000000000000aa", "00000000000000f1", "/a/b");
			write_spans(f, 10 + i, "00000000000000aa", cases[c].lines);
			cr_assert_eq(fclose(f), 0);
			if (cases[c].packed) {
				struct ran r =
				    run_program((const char *const[]){ "gzip", path, NULL }, NULL, 0);
				ran_free(&r);
			}
		}
		for (uint64_t threads = 1; threads < 4; threads += 2) {
			const struct apart_seen s = apart_see(dir, threads);
			cr_expect_eq(s.possible, cases[c].possible, "%d lines", cases[c].lines);
			cr_expect_eq(s.apart, cases[c].possible, "%d lines", cases[c].lines);
			if (s.apart)
				cr_expect_eq(s.records, FILES * (cases[c].lines + 1));
		}
		remove_folder(dir);
	}
}

/* ---- results ---- */

/* The rows of the table without their first value, the path. */
static char *rows_of(const char *key, const char *threads, const char *path)
{
	struct ran r = run_tool((const char *const[]){ "stats", "-q", "--threads", threads, "--format", "csv",
	                                               "--by", key, path, NULL },
	                        NULL, 0);
	char *const out = calloc(1, r.out_n + 1), *to = out;

	cr_assert_not_null(out);
	for (char *line = strtok(r.out, "\n"); line != NULL; line = strtok(NULL, "\n"))
		to += sprintf(to, "%s\n", strchr(line, ','));
	ran_free(&r);
	return out;
}

/* Writes all records to one file. */
static void join_files(const char *dir, const char *whole)
{
	FILE *const to = fopen(whole, "w");
	char path[300], line[600];

	cr_assert_not_null(to);
	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof path, "%s/run-%d.pfw", dir, i);
		FILE *const from = fopen(path, "r");
		cr_assert_not_null(from);
		while (fgets(line, sizeof line, from) != NULL)
			fputs(line, to);
		fclose(from);
	}
	cr_assert_eq(fclose(to), 0);
}

Test(dftracer_apart_race, tables_are_those_of_one_file)
{
	static const enum change changes[] = { NOTHING,    SAME_PROCESS,  OTHER_HOST,
		                               LACKS_HASH, BEGIN_AND_END, COUNTER };
	static const char *const keys[] = { "name", "category", "process", "thread", "host,name" };
	char *const dir = make_folder(), *const other = make_folder();
	char whole[300];

	snprintf(whole, sizeof whole, "%s/whole.pfw", other);
	for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
		write_trace(dir, changes[c]);
		join_files(dir, whole);
		for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
			char *const one = rows_of(keys[k], "1", whole);
			cr_expect(strlen(one) > 100, "%s", one);
			for (int threads = 1; threads < 4; threads += 2) {
				char *const all = rows_of(keys[k], threads == 1 ? "1" : "3", dir);
				cr_expect_str_eq(all, one, "%s by %s", change_names[changes[c]], keys[k]);
				free(all);
			}
			free(one);
		}
	}
	remove_folder(dir);
	remove_folder(other);
}

/* ---- the same output as in turn ---- */

#define DEFINED 66000 /* narrow hashes of a file; two files have more than DFT_MAX_HASHES */
#define NAMES 40000   /* of a file; two files have more than NAMES_MAX */
#define BLOCKED 1300  /* names whose durations have 20 blocks of a histogram each; the pool has 24576 */

/* Two files with a difference that only the order of reading shows. */
enum pair {
	TITLE_OF_ALL_HOSTS, /* the first file names a process by its pid alone, the second has that pid */
	HOST_AS_NUMBER,     /* digits: the first file defines them as a number, the second has them as text */
	NO_THREADS,         /* labels of tracks without a number have the number of the track */
	NARROW_HASHES,
	MANY_NAMES,
	MANY_BLOCKS,
	PAIRS
};

static const char *const pair_names[PAIRS] = { "title", "host", "no threads", "hashes", "names", "blocks" };

static void write_read(FILE *f, const char *host)
{
	fprintf(f,
	        "{\"id\":1,\"name\":\"r\",\"cat\":\"P\",\"pid\":5,\"tid\":5,\"ts\":1,\"dur\":1,\"ph\":\"X\","
	        "\"args\":{\"hhash\":\"%s\"}}\n",
	        host);
}

static void write_title(FILE *f, bool second)
{
	if (second)
		write_read(f, "00000000000000ab");
	else
		fputs("{\"id\":1,\"name\":\"process_name\",\"cat\":\"dftracer\",\"pid\":5,\"tid\":5,\"ph\":"
		      "\"M\","
		      "\"args\":{\"hostname\":\"a\",\"name\":\"the title\"}}\n",
		      f);
}

static void write_host(FILE *f, bool second)
{
	if (second)
		write_read(f, "1234567890123456");
	else
		fputs("{\"id\":0,\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":1,\"tid\":1,\"ph\":\"M\","
		      "\"args\":{"
		      "\"hhash\":\"00000000000000aa\",\"name\":\"node\",\"value\":1234567890123456}}\n",
		      f);
}

static void write_no_threads(FILE *f, bool second)
{
	for (int i = 0; second && i < 8; i++)
		fprintf(f,
		        "{\"id\":%d,\"name\":\"n\",\"cat\":\"P\",\"pid\":%d,\"ts\":%d,\"dur\":1,\"ph\":\"X\","
		        "\"args\":{\"hhash\":\"00000000000000aa\"}}\n",
		        i, 50 + i % 2, 10 * i);
}

static void write_narrow_hashes(FILE *f, bool second)
{
	for (int i = 0; i < DEFINED; i++)
		fprintf(f,
		        "{\"id\":0,\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":%d,\"tid\":1,\"ph\":\"M\","
		        "\"args\":{\"hhash\":\"00000000000000aa\",\"name\":\"/%d\",\"value\":%d}}\n",
		        100 + second * 2 + i % 2, i % 50, i / 2 + 1);
}

/* dur_of: number of different durations, powers of two; 0: few small ones. */
static void write_named(FILE *f, bool second, int n, int names, int dur_of)
{
	for (int i = 0; i < n; i++)
		fprintf(f,
		        "{\"id\":%d,\"name\":\"n%d\",\"cat\":\"P\",\"pid\":%d,\"tid\":1,\"ts\":%d,\"dur\":%d,"
		        "\"ph\":\"X\",\"args\":{\"hhash\":\"00000000000000aa\"}}\n",
		        i, names == NAMES && second ? NAMES + i : i % names, 200 + second, 10 * i,
		        dur_of == 0 ? i * 7 % 9 + second * 3 : 1 << i / names % dur_of);
}

static void write_pair(const char *dir, enum pair p)
{
	for (int second = 0; second < 2; second++) {
		char path[300];
		snprintf(path, sizeof path, "%s/run-%d.pfw", dir, second);
		FILE *const f = fopen(path, "w");
		cr_assert_not_null(f);
		define(f, 10 + second, "00000000000000aa", "00000000000000f1", "/a/b");
		write_spans(f, 10 + second, "00000000000000aa", LINES);
		if (p == TITLE_OF_ALL_HOSTS)
			write_title(f, second);
		else if (p == HOST_AS_NUMBER)
			write_host(f, second);
		else if (p == NO_THREADS)
			write_no_threads(f, second);
		else if (p == NARROW_HASHES)
			write_narrow_hashes(f, second);
		else if (p == MANY_NAMES)
			write_named(f, second, NAMES, NAMES, 0);
		else
			write_named(f, second, BLOCKED * 20, BLOCKED, 20);
		cr_assert_eq(fclose(f), 0);
	}
}

/* The default limit of repeated texts has no effect but that the files are read in turn. */
static void expect_as_in_turn(const char *dir, const char *key, const char *option, const char *value,
                              const char *what)
{
	expect_same_output((const char *const[]){ "stats", "--json", "--by", key, dir, option, value, NULL },
	                   (const char *const[]){ "stats", "--json", "--by", key, dir, option, value,
	                                          "--max-repeat", "32", NULL },
	                   what);
}

Test(dftracer_apart_race, output_is_that_of_files_in_turn)
{
	static const char *const keys[PAIRS] = { "process", "host", "thread", "name", "name", "name" };
	char *const dir = make_folder();

	for (int p = 0; p < PAIRS; p++) {
		write_pair(dir, (enum pair)p);
		expect_as_in_turn(dir, keys[p], "--width", "full", pair_names[p]);
	}
	remove_folder(dir);
}

/* Sums of integers are added up; those of floats depend on the order of all values: (0.1 + 0.2) + 0.3 is not
 * 0.1 + (0.2 + 0.3). */
Test(dftracer_apart_race, sums_are_those_of_files_in_turn)
{
	static const char *const values[] = { "0.1", "0.2", "0.3" };
	char *const dir = make_folder(), path[300];

	write_trace(dir, NOTHING);
	expect_as_in_turn(dir, "arg:ret,name", "--sum", "arg:ret", "integers");
	expect_same_output(
	    (const char *const[]){ "stats", "--json", "--hist", dir, NULL },
	    (const char *const[]){ "stats", "--json", "--hist", dir, "--max-repeat", "32", NULL }, "decades");
	for (int i = 0; i < 3; i++) {
		const int pid = 10 + (i > 0);
		snprintf(path, sizeof path, "%s/run-%d.pfw", dir, i > 0);
		FILE *const f = fopen(path, "a");
		cr_assert_not_null(f);
		fprintf(
		    f,
		    "{\"id\":9,\"name\":\"n\",\"cat\":\"P\",\"pid\":%d,\"tid\":%d,\"ts\":9999999,\"dur\":1,"
		    "\"ph\":\"X\",\"args\":{\"ret\":%s}}\n",
		    pid, 100 * pid, values[i]);
		cr_assert_eq(fclose(f), 0);
	}
	expect_as_in_turn(dir, "name", "--sum", "arg:ret", "floats");
	remove_folder(dir);
}

Test(dftracer_apart_race, longest_spans_are_those_of_files_in_turn)
{
	static const char *const fields[] = { "ret", "none", "lacking" };
	static const enum change changes[] = { NOTHING, OTHER_HOST, SAME_PROCESS, CUT, COUNTER };
	char *const dir = make_folder();

	for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
		write_trace(dir, changes[c]);
		for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
			expect_same_output((const char *const[]){ "top", "-n", "1500", "--format", "json",
			                                          dir, "--fields", fields[i], NULL },
			                   (const char *const[]){ "top", "-n", "1500", "--format", "json",
			                                          dir, "--fields", fields[i], "--max-repeat",
			                                          "32", NULL },
			                   change_names[changes[c]]);
	}
	remove_folder(dir);
}

/* Lengths repeat, so the order of groups is that in which their longest spans arrive. */
Test(dftracer_apart_race, longest_spans_of_groups_are_those_of_files_in_turn)
{
	static const char *const keys[PAIRS] = { "process,name", "host,arg:ret", "thread",
		                                 "track,file",   "name",         "name,category" };
	char *const dir = make_folder();

	for (int p = 0; p < PAIRS; p++) {
		write_pair(dir, (enum pair)p);
		expect_same_output(
		    (const char *const[]){ "top", "-n", "3", "--by", keys[p], "--format", "json", dir, NULL },
		    (const char *const[]){ "top", "-n", "3", "--by", keys[p], "--format", "json", dir,
		                           "--max-repeat", "32", NULL },
		    pair_names[p]);
	}
	write_trace(dir, NOTHING);
	expect_same_output(
	    (const char *const[]){ "top", "--outliers", dir, "--times", "0.1", NULL },
	    (const char *const[]){ "top", "--outliers", dir, "--times", "0.1", "--max-repeat", "32", NULL },
	    "outliers");
	remove_folder(dir);
}

Test(dftracer_apart_race, selections_are_those_of_files_in_turn)
{
	static const char *const selections[][2] = {
		{ "--category", "POSIX" }, { "--pid", "11" },      { "--where", "ret<99" },
		{ "--min-dur", "5us" },    { "--since", "1.01s" },
	};
	char *const dir = make_folder();

	write_trace(dir, NOTHING);
	for (size_t i = 0; i < sizeof selections / sizeof *selections; i++) {
		const char *const option = selections[i][0], *const value = selections[i][1];
		expect_as_in_turn(dir, "process,name", option, value, value);
		expect_same_output(
		    (const char *const[]){ "top", "--format", "json", dir, option, value, NULL },
		    (const char *const[]){ "top", "--format", "json", dir, option, value, "--max-repeat",
		                           "32", NULL },
		    value);
	}
	/* No event meets these: messages name similar texts of all files. */
	expect_as_in_turn(dir, "name", "--name", "reed", "no such name");
	expect_as_in_turn(dir, "name", "--where", "rett=1", "no such field");
	remove_folder(dir);
}

Test(dftracer_apart, definitions_of_a_vocabulary_are_of_all_files)
{
	static const char rules[] = "format: dftracer\n"
	                            "tables: {seen: trace}\n"
	                            "events:\n"
	                            "  - event: POSIX\n"
	                            "    define: {table: seen, key: ret, value: id}\n"
	                            "  - event: STDIO\n"
	                            "    name: [\"after {ret|seen}\", \"first\"]\n";
	char *const dir = make_folder(), path[300];

	write_trace(dir, NOTHING);
	snprintf(path, sizeof path, "%s/rules.yaml", dir);
	cr_assert(write_whole(path, rules, sizeof rules - 1));
	expect_as_in_turn(dir, "name", "--vocabulary", path, "vocabulary");
	remove_folder(dir);
}

/* ---- findings ---- */

static uint32_t count_text(const char *in, const char *what)
{
	uint32_t n = 0;

	for (const char *p = in; (p = strstr(p, what)) != NULL; p += strlen(what))
		n++;
	return n;
}

Test(dftracer_apart, reports_list_each_finding_once)
{
	char *const dir = make_folder(), *const other = make_folder(), option[300];
	size_t n;

	write_trace(dir, CUT);
	snprintf(option, sizeof option, "text=%s/report.txt", other);
	expect_ran(run_tool((const char *const[]){ "stats", "--report", option, dir, NULL }, NULL, 0), 1,
	           "run-1.pfw");
	char *const report = read_whole(option + strlen("text="), &n);
	cr_assert_not_null(report);
	cr_expect_eq(count_text(report, "[dftracer/no-brackets]"), FILES, "%s", report);
	cr_expect_eq(count_text(report, "[dftracer/cut-record]"), 1, "%s", report);
	free(report);
	remove_folder(dir);
	remove_folder(other);
}

/* Both hashes are undefined in both files: the second is used first in the second file. */
Test(dftracer_apart, undefined_hashes_in_order_of_use)
{
	static const char use[] = "{\"id\":%d,\"name\":\"r\",\"cat\":\"P\",\"pid\":%d,\"tid\":1,\"ts\":%d,"
	                          "\"dur\":1,\"ph\":\"X\",\"args\":{%s}}\n";
	static const char f1[] = "\"fhash\":\"00000000000000f1\"", h1[] = "\"hhash\":\"00000000000000aa\"";
	char *const dir = make_folder(), path[300], text[1000], both[100];
	int n;

	snprintf(path, sizeof path, "%s/run-0.pfw", dir);
	n = snprintf(text, sizeof text, use, 1, 1, 1, f1);
	n += snprintf(text + n, sizeof text - (size_t)n, use, 2, 1, 2, h1);
	cr_assert(write_whole(path, text, (size_t)n));
	snprintf(path, sizeof path, "%s/run-1.pfw", dir);
	snprintf(both, sizeof both, "%s,%s", h1, f1);
	n = snprintf(text, sizeof text, use, 1, 2, 1, both);
	cr_assert(write_whole(path, text, (size_t)n));
	struct ran r = run_tool((const char *const[]){ "validate", "--no-config", dir, NULL }, NULL, 0);
	cr_expect_not_null(strstr(r.out, "no FH record defines the hash 00000000000000f1; 2 uses"), "%s",
	                   r.out);
	cr_expect_not_null(strstr(r.out, "no HH record defines the hash 00000000000000aa; 2 uses"), "%s",
	                   r.out);
	ran_free(&r);
	remove_folder(dir);
}
