/* Folders whose files are read apart: which are, and that the result is that of one file with all records. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/apart.h"
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
static void write_spans(FILE *f, int pid, const char *host)
{
	static const char *const names[] = { "read", "write", "close", "open64" };

	for (int i = 0; i < LINES; i++)
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
	write_spans(f, pid, host);
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

struct seen {
	struct trace_run run; /* first member */
	bool possible, apart;
	uint32_t joined, reported;
	uint64_t records;
};

static bool begin(struct apart_file *f)
{
	f->job.read.want = WANT_FINDINGS;
	return true;
}

static bool join(struct apart_file *f, const struct run_report *run)
{
	struct seen *const s = f->ctx;

	cr_expect_eq(f->number, s->joined);
	s->joined++;
	s->records += run->trace->records;
	return true;
}

static void report(struct trace_slot *t, void *ctx, struct finding_log *logs, uint32_t n)
{
	struct seen *const s = ctx;

	(void)t;
	s->reported = n;
	for (uint32_t i = 0; i < n; i++)
		cr_expect_not_null(logs[i].first);
}

static void read_one(struct trace_slot *t)
{
	static const struct apart_ops ops = { .begin = begin, .join = join, .report = report };
	struct seen *const s = (struct seen *)t->run;

	s->possible = apart_is_possible(t);
	s->apart = s->possible && apart_read(t, &ops, s);
}

static struct seen read_trace(const char *dir, uint64_t threads)
{
	char command[] = "stats", quiet[] = "-q", folder[300];
	char *argv[] = { command, quiet, folder, NULL };
	struct seen s = { .joined = 0 };

	snprintf(folder, sizeof folder, "%s", dir);
	options_init(&s.run.options, &stats_command, 3, argv);
	s.run.options.in = (const char *const[]){ folder };
	s.run.options.nin = 1;
	if (options_traces(&s.run.options, &s.run.groups))
		traces_each(&s.run, threads, 0, read_one);
	(void)traces_end(&s.run);
	return s;
}

Test(dftracer_apart, only_independent_files)
{
	char *const dir = make_folder();

	for (int c = 0; c < CHANGES; c++) {
		const bool expected = c == NOTHING || c == OTHER_HOST || c == COUNTER || c == CUT;
		write_trace(dir, (enum change)c);
		for (uint64_t threads = 1; threads < 4; threads += 2) {
			const struct seen s = read_trace(dir, threads);
			cr_expect(s.possible, "%s", change_names[c]);
			cr_expect_eq(s.apart, expected, "%s: apart %d", change_names[c], s.apart);
			cr_expect_eq(s.reported, expected ? FILES : 0U, "%s", change_names[c]);
			if (c == NOTHING)
				cr_expect_eq(s.records, FILES * (LINES + 1));
		}
	}
	remove_folder(dir);
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
