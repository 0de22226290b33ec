#include "faults/fault_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faults/fault_samples.h"
#include "format/registry.h"
#include "testing/format_aids.h"

static char *
copy(const char *s)
{
	char *const c = strdup(s);

	if (c == NULL)
		abort();
	return c;
}

/* Words are parted by blanks. */
static struct fault_case *
add(struct fault_cases *all, const char *line)
{
	if (all->n == all->cap) {
		all->cap = all->cap * 2 + 64;
		all->list = realloc(all->list, all->cap * sizeof *all->list);
		if (all->list == NULL)
			abort();
	}
	struct fault_case *const c = &all->list[all->n++];
	*c = (struct fault_case){ .argc = 1 };
	c->argv[0] = copy("tracetool");
	char *const words = copy(line);
	for (char *w = strtok(words, " "); w != NULL && c->argc < FAULT_ARGS; w = strtok(NULL, " "))
		c->argv[c->argc++] = w;
	return c;
}

/* How the bytes are read, and how many threads make something of them. */
static uint64_t
kind_of(const char *command, const char *input, const char *piped)
{
	const char *const dot = strrchr(piped != NULL ? piped : input, '.');
	const uint64_t packing = dot == NULL                ? 0
	                         : strcmp(dot, ".gz") == 0  ? 1
	                         : strcmp(dot, ".zst") == 0 ? 2
	                                                    : 0;

	return (uint64_t)command[0] << 8 | packing << 2 | (uint64_t)(piped != NULL) << 1 |
	       (strstr(command, "threads 3") != NULL);
}

/* A command that reads this trace; `output`: NULL, or a file. */
static struct fault_case *
add_reading(struct fault_cases *all, const char *command, const char *input, const char *output)
{
	char line[1024];

	snprintf(line, sizeof line, "%s %s %s", command, input, output != NULL ? output : "");
	struct fault_case *const c = add(all, line);
	c->input = copy(input);
	c->output = output != NULL ? copy(output) : NULL;
	c->kind = kind_of(command, input, NULL);
	return c;
}

/* Whether the writer can hold raw records of this input, which is named after its format. */
static bool
takes_raw(const struct format *f, const char *input)
{
	const char *const slash = strrchr(input, '/');
	const char *const name = slash != NULL ? slash + 1 : input;

	return (f->writer->modes & WRITER_RAW) != 0 ||
	       ((f->writer->modes & WRITER_RAW_SAME) != 0 && strncmp(name, f->name, strlen(f->name)) == 0);
}

/* To each `every`-th writer, from number `first` on; `packing`: of the output. */
static void
add_conversions(struct fault_cases *all, const char *input, const char *out, const char *packing,
                const char *options, unsigned every, unsigned first)
{
	char to[1024], command[256];
	unsigned number = 0;

	for (const struct format *const *f = formats; *f != NULL; f++) {
		if ((*f)->writer == NULL || (strstr(options, "--raw") != NULL && !takes_raw(*f, input)) ||
		    number++ % every != first)
			continue;
		snprintf(to, sizeof to, "%s/made%s%s", out, (*f)->suffixes[0], packing);
		snprintf(command, sizeof command, "convert %s --to %s", options, (*f)->name);
		add_reading(all, command, input, to);
	}
}

/* What is asked of a plain file or folder. */
static void
add_plain(struct fault_cases *all, const char *input, const char *out)
{
	static const char *const commands[] = { "validate", "validate --format json",
		                                "stats",    "stats --format json",
		                                "cat",      "cat --hex",
		                                "info",     NULL };

	add_reading(all, commands[0], input, NULL)->whole = true;
	for (const char *const *c = commands + 1; *c != NULL; c++)
		add_reading(all, *c, input, NULL);
	add_conversions(all, input, out, "", "--threads 1", 1, 0);
	all->list[all->n - 1].whole = true;
	add_conversions(all, input, out, ".gz", "--threads 3", 6, 0);
	add_conversions(all, input, out, ".zst", "--raw --threads 1", 1, 0);
	add_conversions(all, input, out, "", "--rebase --threads 3", 6, 3);
}

/* Packed, or through a pipe: what reads the bytes is another, what is made of them is not. */
static void
add_source(struct fault_cases *all, const char *input, const char *piped, const char *out)
{
	static const char *const commands[] = { "validate", "stats", "cat", "info", NULL };

	const unsigned first = all->n;

	for (const char *const *c = commands; *c != NULL; c++)
		add_reading(all, *c, input, NULL);
	add_conversions(all, input, out, "", "--threads 3", 8, 1);
	for (unsigned i = first; i < all->n; i++) {
		all->list[i].stdin_ = piped;
		all->list[i].kind = kind_of(all->list[i].argv[1], input, piped);
	}
}

/* Findings of streams that are merged are only counted when there is no memory to keep them. */
static bool
merges(const struct format *f)
{
	return f->trace != NULL && f->trace->merges;
}

/* With a policy and a baseline, and for a policy. */
static void
add_policies(struct fault_cases *all, const char *testdata, const char *input)
{
	char command[700];

	snprintf(command, sizeof command,
	         "validate --config %s/policy/frames.yaml --baseline %s/policy/base.json", testdata,
	         testdata);
	add_reading(all, command, input, NULL)->whole = true;
	add_reading(all, "validate --init", input, NULL);
}

static bool
add_sample(struct fault_cases *all, const struct format *format, const char *from, const char *in,
           const char *out, unsigned number)
{
	static const char *const packings[] = { "", ".gz", ".zst" };
	char to[512], made[600];
	struct stat st;

	for (unsigned i = 0; i < 3; i++) {
		snprintf(to, sizeof to, "%s/%s%u%s", in, format->name, number, &packings[i][i > 0]);
		if (!fault_sample_copy(format, from, to, packings[i], made, sizeof made))
			return false;
		if (i == 0)
			add_plain(all, made, out);
		else
			add_source(all, made, NULL, out);
		if (stat(made, &st) == 0 && S_ISREG(st.st_mode))
			add_source(all, "-", copy(made), out);
	}
	return true;
}

static bool
add_samples(struct fault_cases *all, const char *testdata, const char *in, const char *out)
{
	char from[512];

	for (const struct format_aids *const *a = format_aids; *a != NULL; a++)
		for (unsigned i = 0; (*a)->fault_samples != NULL && (*a)->fault_samples[i] != NULL; i++) {
			snprintf(from, sizeof from, "%s/%s/%s", testdata, (*a)->format,
			         (*a)->fault_samples[i]);
			if (!add_sample(all, format_by_name((*a)->format), from, in, out, i))
				return false;
			if (i == 0 && !merges(format_by_name((*a)->format)))
				add_policies(all, testdata, from);
		}
	return true;
}

bool
fault_cases_make(struct fault_cases *all, const char *testdata, const char *in, const char *out)
{
	static const char *const alone[] = {
		"--help",         "--version", "--version --verbose", "formats",         "formats --json",
		"convert --help", "explain",   "vocabulary show",     "completion bash", "completion fish",
		"completion zsh", NULL,
	};
	char line[600];

	for (const char *const *a = alone; *a != NULL; a++)
		add(all, *a);
	for (const struct format *const *f = formats; *f != NULL; f++) {
		if ((*f)->rules != NULL) {
			snprintf(line, sizeof line, "explain %s", (*f)->rules[0].id);
			add(all, line);
		}
		snprintf(line, sizeof line, "%s/../schemas/%s.yaml", testdata, (*f)->name);
		if (access(line, R_OK) == 0)
			add_reading(all, "vocabulary check", copy(line), NULL);
	}
	return add_samples(all, testdata, in, out);
}

void
fault_case_show(const struct fault_case *c, char *to, unsigned n)
{
	unsigned at = 0;

	to[0] = '\0';
	for (int i = 0; i < c->argc && at < n; i++)
		at += (unsigned)snprintf(to + at, n - at, "%s%s", i > 0 ? " " : "", c->argv[i]);
	if (c->stdin_ != NULL && at < n)
		snprintf(to + at, n - at, " < %s", c->stdin_);
}
