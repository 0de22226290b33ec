/*
 * make bench: speed and memory.
 *
 * Every job runs several times and the median counts.  Since machines differ and are seldom idle, two
 * reference jobs run, too: reading every byte of the input, and writing as many bytes as the largest output.
 * Writes nothing outside its folder.
 */
#include "test/bench/bench.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/registry.h"

#define MAX_RUNS 99
#define FOLDER_DEPTH 6 /* of nested folders of an output or input */

enum from { FROM_FILE, FROM_GZIP, FROM_PIPE, FROM_FOLDER };

/* IN and OUT among the arguments are replaced by paths, TO by the format to write. */
struct job {
	const char *label;
	const char *args[8];
	enum from from;
	bool to_file; /* else to standard output, /dev/null */
};

static const struct job jobs[] = {
	{ "convert to a file", { "convert", "-f", "--to", "TO", "IN", "OUT" }, FROM_FILE, true },
	{ "convert", { "convert", "--to", "TO", "IN", "-" }, FROM_FILE, false },
	{ "convert, gzip", { "convert", "--to", "TO", "IN", "-" }, FROM_GZIP, false },
	{ "convert, pipe", { "convert", "--to", "TO", "-", "-" }, FROM_PIPE, false },
	{ "validate", { "validate", "IN" }, FROM_FILE, false },
	{ "validate, gzip", { "validate", "IN" }, FROM_GZIP, false },
	{ "validate, pipe", { "validate", "-" }, FROM_PIPE, false },
	{ "stats", { "stats", "IN" }, FROM_FILE, false },
	{ "stats, gzip", { "stats", "IN" }, FROM_GZIP, false },
	{ "stats, pipe", { "stats", "-" }, FROM_PIPE, false },
	{ "convert, folder", { "convert", "--to", "TO", "IN", "-" }, FROM_FOLDER, false },
	{ "validate, folder", { "validate", "IN" }, FROM_FOLDER, false },
	{ "stats, folder", { "stats", "IN" }, FROM_FOLDER, false },
};

struct bench {
	const char *tool;
	const char *against; /* another build, whose runs alternate with the first; or NULL */
	const char *writer;  /* the format that `convert` writes */
	char dir[400];
	unsigned runs;
	bool big, json;
	bool each;        /* only conversions, to every format with a writer */
	const char *only; /* part of a job's label, or NULL */
	bool any_row;
};

/* The forms of one input; "": none. */
struct paths {
	char plain[600], gz[600], folder[600], out[600];
};

struct row {
	const char *input, *label;
	double wall, cpu, best_wall;  /* seconds: medians, and the minimum */
	uint64_t in_bytes, out_bytes; /* out: 0: none */
	long rss_kib;                 /* max of the runs */
	double ratio;                 /* CPU of the tool divided by that of the other build; 0: none */
};

/* ---- rows ---- */

static int compare_double(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void row_costs(struct row *row, const struct bench_cost *costs, unsigned n)
{
	double wall[MAX_RUNS], cpu[MAX_RUNS];

	for (unsigned i = 0; i < n; i++) {
		wall[i] = costs[i].wall;
		cpu[i] = costs[i].cpu;
		if (costs[i].rss_kib > row->rss_kib)
			row->rss_kib = costs[i].rss_kib;
	}
	qsort(wall, n, sizeof wall[0], compare_double);
	qsort(cpu, n, sizeof cpu[0], compare_double);
	row->wall = wall[n / 2];
	row->cpu = cpu[n / 2];
	row->best_wall = wall[0];
}

static double rate(uint64_t bytes, double seconds)
{
	return seconds > 0 ? (double)bytes / 1e6 / seconds : 0;
}

static void print_row(struct bench *b, const struct row *r)
{
	if (b->json) {
		printf("%s\n{\"format\":\"%s\",\"job\":\"%s\",\"in_bytes\":%llu,\"out_bytes\":%llu,\"wall_"
		       "s\":%.6f,"
		       "\"best_wall_s\":%.6f,\"cpu_s\":%.6f,\"rss_kib\":%ld",
		       b->any_row ? "," : "", r->input, r->label, (unsigned long long)r->in_bytes,
		       (unsigned long long)r->out_bytes, r->wall, r->best_wall, r->cpu, r->rss_kib);
		if (r->ratio > 0)
			printf(",\"cpu_ratio\":%.4f", r->ratio);
		fputs("}", stdout);
	} else {
		if (!b->any_row)
			printf("%-10s %-22s %9s %9s %9s %9s %8s %8s %8s%s\n", "format", "job", "in MB/s",
			       "best", "cpu MB/s", "out MB/s", "wall s", "cpu s", "RSS MiB",
			       b->against != NULL ? "  cpu new/old" : "");
		printf("%-10s %-22s %9.0f %9.0f %9.0f ", r->input, r->label, rate(r->in_bytes, r->wall),
		       rate(r->in_bytes, r->best_wall), rate(r->in_bytes, r->cpu));
		if (r->out_bytes > 0)
			printf("%9.0f", rate(r->out_bytes, r->wall));
		else
			printf("%9s", "-");
		printf(" %8.3f %8.3f %8.1f", r->wall, r->cpu, (double)r->rss_kib / 1024);
		if (r->ratio > 0)
			printf(" %12.3f", r->ratio);
		putchar('\n');
	}
	b->any_row = true;
	fflush(stdout);
}

/* ---- sizes of files ---- */

static uint64_t file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* Returns the bytes of the files of a folder. */
static uint64_t folder_size(const char *path, unsigned depth)
{
	DIR *const d = opendir(path);
	uint64_t bytes = 0;

	for (const struct dirent *e = d != NULL ? readdir(d) : NULL; e != NULL; e = readdir(d)) {
		char name[900];
		struct stat st;

		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "%s/%s", path, e->d_name);
		if (stat(name, &st) != 0)
			continue;
		if (!S_ISDIR(st.st_mode))
			bytes += (uint64_t)st.st_size;
		else if (depth > 0)
			bytes += folder_size(name, depth - 1);
	}
	if (d != NULL)
		closedir(d);
	return bytes;
}

/* Returns the size of an output, a file or a folder. */
static uint64_t output_size(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? folder_size(path, FOLDER_DEPTH)
	                                                   : file_size(path);
}

static void remove_output(const char *path, unsigned depth)
{
	DIR *const d = unlink(path) != 0 ? opendir(path) : NULL;

	for (const struct dirent *e = d != NULL ? readdir(d) : NULL; e != NULL; e = readdir(d)) {
		char name[900];

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(name, sizeof name, "%s/%s", path, e->d_name);
		if (depth > 0)
			remove_output(name, depth - 1);
	}
	if (d != NULL) {
		closedir(d);
		(void)rmdir(path);
	}
}

/* ---- jobs ---- */

static const char *input_of(const struct job *job, const struct paths *p)
{
	return job->from == FROM_FOLDER ? p->folder : job->from == FROM_GZIP ? p->gz : p->plain;
}

static const char *expand_argument(const struct bench *b, const char *word, const char *in, const char *out)
{
	if (strcmp(word, "IN") == 0)
		return in;
	if (strcmp(word, "OUT") == 0)
		return out;
	return strcmp(word, "TO") == 0 ? b->writer : word;
}

/* Runs one build once.  Returns false after a message. */
static bool run_once(const struct job *job, const char *const *argv, const struct paths *p,
                     struct bench_cost *cost)
{
	if (!bench_run(argv, job->from == FROM_PIPE ? p->plain : NULL, "/dev/null", cost))
		return false;
	if (cost->status != 0)
		fprintf(stderr, "bench: %s %s: exit status %d\n", argv[0], argv[1], cost->status);
	return cost->status == 0;
}

/* Runs of two builds alternate, and swap which is first, so that a machine whose speed drifts favours none.
 */
static bool run_job(struct bench *b, const struct job *job, struct row *row, const struct paths *p)
{
	const char *const in = input_of(job, p);
	struct bench_cost costs[MAX_RUNS], others[MAX_RUNS];
	const char *argv[10] = { b->tool }, *other[10] = { b->against };
	struct row old = { 0 };

	for (size_t i = 0; i < 8 && job->args[i] != NULL; i++)
		other[i + 1] = argv[i + 1] = expand_argument(b, job->args[i], in, p->out);
	row->label = job->label;
	for (unsigned i = 0; i < b->runs; i++) {
		const bool old_first = b->against != NULL && i % 2 == 1;
		if ((old_first && !run_once(job, other, p, &others[i])) ||
		    !run_once(job, argv, p, &costs[i]) ||
		    (b->against != NULL && !old_first && !run_once(job, other, p, &others[i])))
			return false;
	}
	row_costs(row, costs, b->runs);
	if (b->against != NULL) {
		row_costs(&old, others, b->runs);
		row->ratio = old.cpu > 0 ? row->cpu / old.cpu : 0;
	}
	return true;
}

static void bench_references(struct bench *b, const char *input, const char *plain, const char *scratch,
                             uint64_t out_bytes)
{
	struct bench_cost costs[MAX_RUNS];
	struct row row = { .input = input, .label = "(look at every byte)", .in_bytes = file_size(plain) };
	unsigned n = 0;

	while (n < b->runs && bench_sum_mapped(plain, &costs[n]))
		n++;
	if (n > 0) {
		row_costs(&row, costs, n);
		print_row(b, &row);
	}
	if (out_bytes == 0)
		return;
	row = (struct row){
		.input = input, .label = "(write the output)", .in_bytes = out_bytes, .out_bytes = out_bytes
	};
	for (n = 0; n < b->runs && bench_write_file(scratch, out_bytes, &costs[n]); n++)
		;
	unlink(scratch);
	if (n > 0) {
		row_costs(&row, costs, n);
		print_row(b, &row);
	}
}

/* Creates the forms of an input that do not exist. */
static bool create_inputs(const struct bench *b, const struct bench_input *in, struct paths *p)
{
	bool ok = true;

	*p = (struct paths){ .plain = "" };
	if (in->make != NULL)
		ok = bench_input_ensure(in, b->dir, b->big, false, p->plain, sizeof p->plain) &&
		     bench_input_ensure(in, b->dir, b->big, true, p->gz, sizeof p->gz);
	if (ok && in->make_folder != NULL)
		ok = bench_folder_ensure(in, b->dir, b->big, p->folder, sizeof p->folder);
	snprintf(p->out, sizeof p->out, "%s/out", b->dir);
	return ok;
}

/* The big input is for measuring memory; its output would be several times as large. */
static bool has_job(const struct bench *b, const struct job *job, const struct paths *p)
{
	return *input_of(job, p) != '\0' && (!b->big || !job->to_file) &&
	       (b->only == NULL || strstr(job->label, b->only) != NULL);
}

/* Prints a row for each format with a writer. */
static bool bench_writers(struct bench *b, const char *name, const struct paths *p)
{
	struct job job = { .args = { "convert", "-fq", "--to", "TO", "IN", "OUT" }, .to_file = true };
	bool ok = true;

	job.from = p->plain[0] != '\0' ? FROM_FILE : FROM_FOLDER;
	for (const struct format *const *f = formats; *f != NULL; f++) {
		char label[64];
		struct row row = { .input = name,
			           .in_bytes = job.from == FROM_FILE ? file_size(p->plain)
			                                             : folder_size(p->folder, FOLDER_DEPTH) };

		if ((*f)->writer == NULL)
			continue;
		snprintf(label, sizeof label, "convert to %s", (*f)->name);
		b->writer = (*f)->name;
		job.label = label;
		if (run_job(b, &job, &row, p)) {
			row.out_bytes = output_size(p->out);
			print_row(b, &row);
		} else {
			ok = false;
		}
		remove_output(p->out, FOLDER_DEPTH);
	}
	return ok;
}

static bool bench_one(struct bench *b, const struct bench_input *in)
{
	struct paths p;
	uint64_t out_bytes = 0;
	bool ok = true;

	if (!create_inputs(b, in, &p)) {
		fprintf(stderr, "bench: cannot make the %s input in %s: %s\n", in->name, b->dir,
		        strerror(errno));
		return false;
	}
	if (b->each)
		return bench_writers(b, in->name, &p);
	for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
		const bool folder = jobs[i].from == FROM_FOLDER;
		struct row row = { .input = in->name,
			           .in_bytes =
			               folder ? folder_size(p.folder, FOLDER_DEPTH) : file_size(p.plain) };

		if (!has_job(b, &jobs[i], &p))
			continue;
		if (!run_job(b, &jobs[i], &row, &p)) {
			ok = false;
			continue;
		}
		if (jobs[i].to_file)
			out_bytes = output_size(p.out);
		if (strncmp(jobs[i].label, "convert", 7) == 0 && !folder)
			row.out_bytes = out_bytes;
		print_row(b, &row);
	}
	remove_output(p.out, FOLDER_DEPTH);
	snprintf(p.out, sizeof p.out, "%s/scratch", b->dir);
	if (in->make != NULL)
		bench_references(b, in->name, p.plain, p.out, out_bytes);
	return ok;
}

static const struct bench_input *inputs_of(const struct format *format)
{
	static const struct bench_input none[] = { { 0 } };
	const struct format_aids *const aids = format_aids_of(format->name);

	return aids != NULL && aids->bench_inputs != NULL ? aids->bench_inputs : none;
}

/* ---- the command line ---- */

static int usage(FILE *f)
{
	fputs(
	    "usage: bench [-n RUNS] [-t TOOL] [--against TOOL] [-d FOLDER] [-j WORD] [-w FORMAT] [--big] "
	    "[--json]\n"
	    "             [INPUT...]\n"
	    "  -n RUNS    runs of each job; the median is shown (5)\n"
	    "  -t TOOL    the program (./tracetool)\n"
	    "  --against TOOL\n"
	    "             another build, whose runs alternate with those of the first: ratio of CPU seconds\n"
	    "  -d FOLDER  for inputs and outputs ($TMPDIR/tracetool-bench)\n"
	    "  -j WORD    only jobs with this word in their name\n"
	    "  -w FORMAT  what convert writes (the first format that can be written)\n"
	    "  -w each    only conversions to a file, one row for each format that can be written\n"
	    "  --big      inputs of 2 GB, to see the memory\n"
	    "  --json     one object per row\n"
	    "All inputs, or those that are named:\n",
	    f);
	for (const struct format *const *format = formats; *format != NULL; format++)
		for (const struct bench_input *in = inputs_of(*format); in->name != NULL; in++)
			if (in->on_request == NULL)
				fprintf(f, "  %s\n", in->name);
			else
				fprintf(f, "  %-10s %s; only when it is named\n", in->name, in->on_request);
	return f == stdout ? 0 : 3;
}

static bool wanted(const struct bench_input *in, int argc, char **argv)
{
	bool found = optind == argc && in->on_request == NULL;

	for (int i = optind; i < argc; i++)
		found = found || strcmp(argv[i], in->name) == 0;
	return found;
}

static bool run_all(struct bench *b, int argc, char **argv)
{
	bool ok = true;

	if (mkdir(b->dir, 0777) != 0 && errno != EEXIST) {
		fprintf(stderr, "bench: %s: %s\n", b->dir, strerror(errno));
		return false;
	}
	if (b->json)
		fputs("[", stdout);
	for (const struct format *const *format = formats; *format != NULL; format++)
		for (const struct bench_input *in = inputs_of(*format); in->name != NULL; in++)
			if (wanted(in, argc, argv))
				ok = bench_one(b, in) && ok;
	if (b->json)
		fputs("\n]\n", stdout);
	return ok;
}

/* Returns the format of this name if it has a writer; name NULL: the first without a reader.  Returns NULL if
 * there is none. */
static const char *writer_named(const char *name)
{
	for (const struct format *const *f = formats; *f != NULL; f++)
		if ((*f)->writer != NULL &&
		    (name != NULL ? strcmp((*f)->name, name) == 0 : (*f)->reader == NULL))
			return (*f)->name;
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "against", required_argument, NULL, 'a' },
		{ "big", no_argument, NULL, 'b' },
		{ "json", no_argument, NULL, 'J' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *const tmp = getenv("TMPDIR");
	struct bench b = { .tool = "./tracetool", .runs = 5 };
	int ch;

	snprintf(b.dir, sizeof b.dir, "%s/tracetool-bench", tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
	while ((ch = getopt_long(argc, argv, "n:t:d:j:w:h", long_options, NULL)) != -1)
		if (ch == 'n')
			b.runs = (unsigned)strtoul(optarg, NULL, 10);
		else if (ch == 't')
			b.tool = optarg;
		else if (ch == 'a')
			b.against = optarg;
		else if (ch == 'd')
			snprintf(b.dir, sizeof b.dir, "%s", optarg);
		else if (ch == 'j')
			b.only = optarg;
		else if (ch == 'w')
			b.writer = optarg;
		else if (ch == 'b')
			b.big = true;
		else if (ch == 'J')
			b.json = true;
		else
			return usage(ch == 'h' ? stdout : stderr);
	b.each = b.writer != NULL && strcmp(b.writer, "each") == 0;
	b.writer = writer_named(b.each ? NULL : b.writer);
	if (b.runs < 1 || b.runs > MAX_RUNS || b.writer == NULL)
		return usage(stderr);
	return run_all(&b, argc, argv) ? 0 : 2;
}
