/*
 * The cases: command lines over small samples of each format (plain, packed, through a pipe), and those of
 * testdata/faults/command-lines.
 */
#include "test/faults/faults.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/output.h"
#include "test/support/format_aids.h"

/* ---- copies of samples ---- */

enum { PATH_SIZE = 1024, MAX_FILE = 1 << 20, MAX_DEPTH = 8 };

static bool report_failure(const char *path, const char *why)
{
	fprintf(stderr, "faults: %s: %s\n", path, why);
	return false;
}

/* Copies a file, packed according to the suffix of `to`. */
static bool copy_file(const char *from, const char *to)
{
	static char bytes[MAX_FILE];
	char why[PATH_SIZE + 100];
	FILE *const f = fopen(from, "rb");

	if (f == NULL)
		return report_failure(from, strerror(errno));
	const size_t n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	if (n == sizeof bytes)
		return report_failure(from, "too large for a sample");
	struct output *const o = output_open(to, OUTPUT_FORCE, 1, why, sizeof why);
	if (o == NULL)
		return report_failure(to, why);
	output_write(o, bytes, n);
	return output_commit(o, why, sizeof why) || report_failure(to, why);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool copy_folder(const struct format *format, const char *from, const char *to, const char *packing,
                        int depth)
{
	char source[PATH_SIZE], target[PATH_SIZE];
	DIR *const d = depth < MAX_DEPTH ? opendir(from) : NULL;
	bool ok = d != NULL;

	if (!ok || (mkdir(to, 0777) != 0 && errno != EEXIST))
		ok = report_failure(from, strerror(errno));
	for (struct dirent *e; ok && (e = readdir(d)) != NULL;) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(source, sizeof source, "%s/%s", from, e->d_name);
		snprintf(target, sizeof target, "%s/%s%s", to, e->d_name,
		         format_wants_name(format, e->d_name) ? packing : "");
		ok = is_folder(source) ? copy_folder(format, source, target, packing, depth + 1)
		                       : copy_file(source, target);
	}
	if (d != NULL)
		closedir(d);
	return ok;
}

/* Copies a trace, a file or a folder.  packing: "", ".gz" or ".zst", for files that can contain events; also
 * their suffix.  The copy of a file is named `to` plus its suffixes; the name is written to `made` (n bytes).
 * Returns false after a message. */
static bool copy_sample(const struct format *format, const char *from, const char *to, const char *packing,
                        char *made, unsigned n)
{
	const char *const slash = strrchr(from, '/');
	const char *const dot = strchr(slash != NULL ? slash : from, '.');

	if (is_folder(from)) {
		snprintf(made, n, "%s", to);
		return copy_folder(format, from, made, packing, 0);
	}
	snprintf(made, n, "%s%s%s", to, dot != NULL ? dot : "", packing);
	return copy_file(from, made);
}

/* ---- commands over samples ---- */

static char *copy_text(const char *s)
{
	char *const c = strdup(s);

	if (c == NULL)
		abort();
	return c;
}

static bool is_any_of(const char *word, const char *a, const char *b, const char *c)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

/* Adds a command line: arguments separated by blanks. */
static struct fault_case *add_case(struct fault_cases *all, const char *line)
{
	if (all->n == all->cap) {
		all->cap = all->cap * 2 + 64;
		all->list = realloc(all->list, all->cap * sizeof *all->list);
		if (all->list == NULL)
			abort();
	}
	struct fault_case *const c = &all->list[all->n++];
	*c = (struct fault_case){ .argc = 1 };
	c->argv[0] = copy_text("tracetool");
	char *const words = copy_text(line);
	for (char *w = strtok(words, " "); w != NULL && c->argc < FAULT_ARGS; w = strtok(NULL, " "))
		c->argv[c->argc++] = w;
	c->only_reads = !is_any_of(c->argv[1], "convert", "merge", "recover");
	return c;
}

/* Returns the kind of a case: command, packing, pipe, threads. */
static uint64_t kind_of(const char *command, const char *input, const char *piped)
{
	const char *const dot = strrchr(piped != NULL ? piped : input, '.');
	const uint64_t packing = dot == NULL                ? 0
	                         : strcmp(dot, ".gz") == 0  ? 1
	                         : strcmp(dot, ".zst") == 0 ? 2
	                                                    : 0;

	return (uint64_t)command[0] << 8 | packing << 2 | (uint64_t)(piped != NULL) << 1 |
	       (strstr(command, "threads 3") != NULL);
}

/* Adds a command that reads this trace.  output: a file, or NULL. */
static struct fault_case *add_command(struct fault_cases *all, const char *command, const char *input,
                                      const char *output)
{
	char line[1024];

	if ((size_t)snprintf(line, sizeof line, "%s %s %s", command, input, output != NULL ? output : "") >=
	    sizeof line)
		abort(); /* a shorter command would test something else */
	struct fault_case *const c = add_case(all, line);
	c->kind = kind_of(command, input, NULL);
	return c;
}

/* Returns true if the writer can write raw records of this input, which is named after its format. */
static bool accepts_raw(const struct format *f, const char *input)
{
	const char *const slash = strrchr(input, '/');
	const char *const name = slash != NULL ? slash + 1 : input;

	return (f->writer->modes & WRITER_RAW) != 0 ||
	       (f->copier != NULL && strncmp(name, f->name, strlen(f->name)) == 0);
}

/* Adds conversions to every nth writer (every), from number `first` on.  packing: of the output. */
static void add_conversions(struct fault_cases *all, const char *input, const char *out, const char *packing,
                            const char *options, unsigned every, unsigned first)
{
	char to[1024], command[256];
	unsigned number = 0;

	for (const struct format *const *f = formats; *f != NULL; f++) {
		if ((*f)->writer == NULL || (strstr(options, "--raw") != NULL && !accepts_raw(*f, input)) ||
		    number++ % every != first)
			continue;
		const bool packs = (*f)->writer->shape != WRITER_FOLDER; /* folders cannot be packed */
		snprintf(to, sizeof to, "%s/made%s%s", out, (*f)->suffixes[0], packs ? packing : "");
		snprintf(command, sizeof command, "convert %s --to %s", options, (*f)->name);
		add_command(all, command, input, to);
	}
}

/* Adds the cases of an unpacked file or folder. */
static void add_plain(struct fault_cases *all, const char *input, const char *out)
{
	static const char *const commands[] = { "validate",
		                                "validate --format json",
		                                "stats",
		                                "stats --format json",
		                                "cat",
		                                "cat --hex",
		                                "info",
		                                "info --tracks",
		                                "stats --by thread,arg:x --sum arg:x --format csv",
		                                "stats --by process --format md --examples 2",
		                                "top",
		                                "top --gaps --format json",
		                                "top --arrows",
		                                "top --by name,thread",
		                                "stats --every 1s --hist --share --flows",
		                                "stats --imbalance thread --overlap *,* --longer 1ns --json",
		                                "stats --together --format json --full",
		                                "report",
		                                NULL };

	add_command(all, commands[0], input, NULL)->whole = true;
	for (const char *const *c = commands + 1; *c != NULL; c++)
		add_command(all, *c, input, NULL);
	add_conversions(all, input, out, "", "--threads 1", 1, 0);
	all->list[all->n - 1].whole = true;
	add_conversions(all, input, out, ".gz", "--threads 3", 6, 0);
	add_conversions(all, input, out, ".zst", "--raw --threads 1", 1, 0);
	add_conversions(all, input, out, "", "--rebase --threads 3", 6, 3);
}

/* Adds the cases of a packed or piped input, where only the input layer differs. */
static void add_source(struct fault_cases *all, const char *input, const char *piped, const char *out)
{
	static const char *const commands[] = { "validate", "stats", "cat", "info", NULL };

	const unsigned first = all->n;

	for (const char *const *c = commands; *c != NULL; c++)
		add_command(all, *c, input, NULL);
	add_conversions(all, input, out, "", "--threads 3", 8, 1);
	for (unsigned i = first; i < all->n; i++) {
		all->list[i].stdin_ = piped;
		all->list[i].kind = kind_of(all->list[i].argv[1], input, piped);
	}
}

/* Whether streams of the format are merged: their findings are only counted on OOM. */
static bool merges(const struct format *f)
{
	return f->trace != NULL && f->trace->merges;
}

/* Adds a validation with policy and baseline, and the creation of a policy. */
static void add_policies(struct fault_cases *all, const char *testdata, const char *input)
{
	char command[700];

	snprintf(command, sizeof command,
	         "validate --config %s/policy/frames.yaml --baseline %s/policy/base.json", testdata,
	         testdata);
	add_command(all, command, input, NULL)->whole = true;
	add_command(all, "validate --init", input, NULL);
}

static bool add_sample(struct fault_cases *all, const struct format *format, const char *from, const char *in,
                       const char *out, unsigned number)
{
	static const char *const packings[] = { "", ".gz", ".zst" };
	char to[512], made[600];
	struct stat st;

	for (unsigned i = 0; i < 3; i++) {
		snprintf(to, sizeof to, "%s/%s%u%s", in, format->name, number, &packings[i][i > 0]);
		if (!copy_sample(format, from, to, packings[i], made, sizeof made))
			return false;
		if (i == 0)
			add_plain(all, made, out);
		else
			add_source(all, made, NULL, out);
		if (stat(made, &st) == 0 && S_ISREG(st.st_mode))
			add_source(all, "-", copy_text(made), out);
	}
	return true;
}

static bool add_samples(struct fault_cases *all, const char *testdata, const char *in, const char *out)
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

/* Adds commands that read no trace. */
static void add_without_trace(struct fault_cases *all, const char *testdata)
{
	static const char *const commands[] = {
		"--help",         "--version", "--version --verbose", "formats",         "formats --json",
		"convert --help", "explain",   "vocabulary show",     "completion bash", "completion fish",
		"completion zsh", NULL,
	};
	char line[600];

	for (const char *const *a = commands; *a != NULL; a++)
		add_case(all, *a);
	for (const struct format *const *f = formats; *f != NULL; f++) {
		if ((*f)->rules != NULL) {
			snprintf(line, sizeof line, "explain %s", (*f)->rules[0].id);
			add_case(all, line);
		}
		snprintf(line, sizeof line, "%s/../schemas/%s.yaml", testdata, (*f)->name);
		if (access(line, R_OK) == 0)
			add_command(all, "vocabulary check", copy_text(line), NULL);
	}
}

/* ---- the list of command lines ---- */

/* Replaces IN/ and OUT/ at the beginning of an argument, or after a =, by folders. */
static void expand_folders(char *to, size_t size, const char *line, const char *testdata, const char *out)
{
	size_t at = 0;

	for (const char *p = line; *p != '\0' && at + 1 < size;) {
		const bool begins = p == line || p[-1] == ' ' || p[-1] == '=';
		const bool in = begins && strncmp(p, "IN/", 3) == 0;
		if (!in && !(begins && strncmp(p, "OUT/", 4) == 0)) {
			to[at++] = *p++;
			continue;
		}
		at += (size_t)snprintf(to + at, size - at, "%s/", in ? testdata : out);
		p += in ? 3 : 4;
	}
	to[at < size ? at : size - 1] = '\0';
}

/* "put FILE": a file that exists before the next command; "old COMMAND": likewise its outputs.  Cases that
 * only prepare others are not in the list. */
static struct fault_case *add_line(struct fault_cases *all, const char *line,
                                   const struct fault_case *earlier)
{
	const bool puts = strncmp(line, "put ", 4) == 0, old = strncmp(line, "old ", 4) == 0;
	struct fault_case *const c = add_case(all, line + (puts || old ? 4 : 0));
	uint64_t kind = UINT64_C(0xcbf29ce484222325);

	for (const char *p = line; *p != '\0'; p++)
		kind = (kind ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	c->kind = kind;
	c->earlier = earlier;
	if (!puts && !old)
		return NULL;
	struct fault_case *const unlisted = malloc(sizeof *unlisted);
	if (unlisted == NULL)
		abort();
	*unlisted = *c;
	unlisted->copied = puts ? c->argv[1] : NULL;
	all->n--;
	return unlisted;
}

static bool add_lines(struct fault_cases *all, const char *testdata, const char *out)
{
	char path[512], line[1024], words[2048];
	const struct fault_case *earlier = NULL;

	snprintf(path, sizeof path, "%s/faults/command-lines", testdata);
	FILE *const f = fopen(path, "r");
	if (f == NULL) {
		fprintf(stderr, "faults: %s: %s\n", path, strerror(errno));
		return false;
	}
	while (fgets(line, sizeof line, f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '\0' || line[0] == '#')
			continue;
		expand_folders(words, sizeof words, line, testdata, out);
		earlier = add_line(all, words, earlier);
	}
	fclose(f);
	return true;
}

bool fault_cases_create(struct fault_cases *all, const char *testdata, const char *in, const char *out)
{
	add_without_trace(all, testdata);
	return add_lines(all, testdata, out) && add_samples(all, testdata, in, out);
}

void fault_case_show(const struct fault_case *c, char *to, unsigned n)
{
	unsigned at = 0;

	to[0] = '\0';
	for (int i = 0; i < c->argc && at < n; i++)
		at += (unsigned)snprintf(to + at, n - at, "%s%s", i > 0 ? " " : "", c->argv[i]);
	if (c->stdin_ != NULL && at < n)
		snprintf(to + at, n - at, " < %s", c->stdin_);
}
