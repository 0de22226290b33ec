/*
 * Tests of commands: a file X.test in a folder test/ is the Criterion test commands/FOLDER_X. CONTRIBUTING.md
 * describes the syntax.  One shell runs all commands of a file, because starting processes dominates the
 * cost; it prints a mark with the status after the output of each command.
 */
#define _GNU_SOURCE /* memmem(), realpath() */

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "test/commands/lines_test_util.h"

/* each STATUS [ARGUMENT...]: runs tracetool once per line of standard input, with these arguments and those
 * of the line, and prints lines that end with another status. */
static const char prelude[] =
    "unset COLUMNS NO_COLOR GITHUB_ACTIONS GITHUB_STEP_SUMMARY GITHUB_WORKSPACE CI_PROJECT_DIR\n"
    "export LC_ALL=C TZ=UTC TERM=dumb TESTDATA=\"$PWD/testdata\" PATH=\"$0/bin:$PATH\"\n"
    "mark() { printf '\\036%s %s\\n' \"$1\" \"$2\"; printf '\\036%s %s\\n' \"$1\" \"$2\" >&2; }\n"
    "each() {\n"
    "  want=$1; shift\n"
    "  while IFS= read -r line; do\n"
    "    eval \"tracetool \\\"\\$@\\\" $line\" </dev/null; s=$?\n"
    "    [ $s = \"$want\" ] || echo \"status $s: $line\"\n"
    "  done\n"
    "}\n";

struct command {
	size_t first, answer, end; /* line numbers: first "$ ", end of "> ", end of the expected output */
	size_t title;              /* line of the title of its case, from 1; 0: none */
	size_t runs, wrong;
	struct text mended; /* new expected output, if wrong > 0 */
};

struct file {
	const char *path;
	char *bytes;
	struct lines lines;
	struct command *commands;
	size_t n, shared; /* number of commands; of those before the first case */
};

static bool begins(struct slice s, const char *word)
{
	return s.n >= strlen(word) && memcmp(s.p, word, strlen(word)) == 0;
}

static void read_file(struct file *f)
{
	size_t size, title = 0;

	f->bytes = read_whole(f->path, &size);
	cr_assert_not_null(f->bytes, "%s", f->path);
	for (const char *p = f->bytes, *stop; (stop = strchr(p, '\n')) != NULL; p = stop + 1)
		lines_add(&f->lines, slice_of(p, (size_t)(stop - p)));
	f->commands = calloc(f->lines.n + 1, sizeof *f->commands);
	cr_assert_not_null(f->commands);
	const struct slice *const v = f->lines.v;
	for (size_t i = 0; i < f->lines.n;) {
		struct command *const c = &f->commands[f->n];
		cr_assert(v[i].n == 0 || begins(v[i], "#") || begins(v[i], "== ") || begins(v[i], "$ "),
		          "%s:%zu: is no comment, case or command: %.*s", f->path, i + 1, (int)v[i].n,
		          v[i].p);
		if (begins(v[i], "== "))
			title = i + 1;
		if (!begins(v[i], "$ ")) {
			i++;
			continue;
		}
		*c = (struct command){ .first = i++, .title = title };
		while (i < f->lines.n && (begins(v[i], "> ") || slice_is(v[i], ">")))
			i++;
		c->answer = i;
		while (i < f->lines.n && !begins(v[i], "#") && !begins(v[i], "== ") && !begins(v[i], "$ "))
			i++;
		for (c->end = i; c->end > c->answer && v[c->end - 1].n == 0;)
			c->end--;
		f->n++;
		f->shared += title == 0;
	}
	cr_assert_gt(f->n, 0, "%s: has no command", f->path);
}

/* ---- running ---- */

/* Adds a command, and a mark with its number and status. */
static void put_command(struct text *script, const struct file *f, size_t number)
{
	const struct command *const c = &f->commands[number];

	text_str(script, "{ ");
	for (size_t i = c->first; i < c->answer; i++) {
		const struct slice line = f->lines.v[i];
		if (line.n > 2)
			text_add(script, line.p + 2, line.n - 2);
		text_char(script, '\n');
	}
	text_printf(script, "}; mark %zu $?\n", number);
}

/* Each case is a subshell with its own folder, in which the shared commands run first. */
static void put_cases(struct text *script, const struct file *f, const char *dir)
{
	char path[1024];

	for (size_t i = f->shared, number = 1; i < f->n || number == 1; number++) {
		const size_t title = f->commands[i].title;
		snprintf(path, sizeof path, "%s/%zu", dir, number);
		cr_assert_eq(mkdir(path, 0777), 0);
		text_printf(script, "(cd \"$0/%zu\"\n", number);
		for (size_t k = 0; k < f->shared; k++)
			put_command(script, f, k);
		for (; i < f->n && f->commands[i].title == title; i++)
			put_command(script, f, i);
		text_str(script, ")\nmark end 0\n");
	}
}

static void link_to(const char *what, const char *dir, const char *name)
{
	char path[1024], *const real = realpath(what, NULL);

	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert(real != NULL && symlink(real, path) == 0, "%s: %s", what, path);
	free(real);
}

/* ---- judging ---- */

/* Replaces the folder of the case, DIR/NUMBER, by $PWD. */
static struct text without_folder(struct slice s, const char *dir)
{
	const char *p = s.p, *const end = s.p + s.n;
	const size_t n = strlen(dir);
	struct text t = { .p = NULL };

	for (const char *at; (at = memmem(p, (size_t)(end - p), dir, n)) != NULL;) {
		const char *rest = at + n + 1;
		while (rest < end && *rest >= '0' && *rest <= '9')
			rest++;
		const bool is_case = rest > at + n + 1;
		text_add(&t, p, (size_t)(at - p));
		text_add(&t, is_case ? "$PWD" : at, is_case ? 4 : n);
		p = is_case ? rest : at + n;
	}
	text_add(&t, p, (size_t)(end - p));
	return t;
}

/* Compares the output of a command with the expected output; prints the difference. */
static void judge(const struct file *f, struct command *c, struct text out, struct text err, int status)
{
	struct lines want[3] = { 0 }, got[3] = { 0 }; /* standard output, error, status */
	struct text kept[2] = { 0 }, shown = { 0 }, mended = { 0 };
	char text[16];
	bool fit = true;

	for (size_t i = c->answer; i < c->end; i++) {
		const struct slice line = f->lines.v[i];
		const bool is_status = line.n > 2 && line.p[0] == '[' && line.p[line.n - 1] == ']' &&
		                       strspn(line.p + 1, "0123456789") == line.n - 2;
		lines_add(&want[is_status ? 2 : begins(line, "2>")], line);
	}
	lines_shown(&got[0], "", out.p, out.n, &kept[0]);
	lines_shown(&got[1], "2> ", err.p, err.n, &kept[1]);
	snprintf(text, sizeof text, "[%d]", status);
	if (status != 0)
		lines_add(&got[2], slice_str(text));
	for (int i = 0; i < 3; i++) {
		fit = lines_fit(&want[i], &got[i], &shown, &mended) && fit;
		free(want[i].v);
		free(got[i].v);
	}
	c->runs++;
	if (fit || c->wrong++ > 0) {
		text_free(&mended);
	} else {
		const struct slice title = c->title > 0 ? f->lines.v[c->title - 1] : SLICE_LIT("");
		fprintf(stderr, "\n%s:%zu: %.*s\n", f->path, c->first + 1, (int)title.n, title.p);
		for (size_t i = c->first; i < c->answer; i++)
			fprintf(stderr, "    %.*s\n", (int)f->lines.v[i].n, f->lines.v[i].p);
		fprintf(stderr, "%.*s", (int)shown.n, shown.p);
		c->mended = mended;
	}
	text_free(&shown);
	text_free(&kept[0]);
	text_free(&kept[1]);
	text_free(&out);
	text_free(&err);
}

/* Returns the text up to the next mark, and the mark; moves *p after it.  Returns false at the end. */
static bool next_mark(const char **p, const char *end, struct slice *before, struct slice *mark)
{
	const char *const at = memchr(*p, '\036', (size_t)(end - *p));
	const char *const stop = at != NULL ? memchr(at, '\n', (size_t)(end - at)) : NULL;

	*before = slice_of(*p, (size_t)((stop != NULL ? at : end) - *p));
	if (stop == NULL)
		return false;
	*mark = slice_of(at + 1, (size_t)(stop - at - 1));
	*p = stop + 1;
	return true;
}

static void judge_all(const struct file *f, const struct ran *r, const char *dir)
{
	const char *out = r->out, *err = r->err;
	struct slice said[2], mark, again;

	while (next_mark(&out, r->out + r->out_n, &said[0], &mark)) {
		cr_assert(next_mark(&err, r->err + r->err_n, &said[1], &again) && slice_equal(mark, again),
		          "%s: %s", f->path, r->err);
		char *rest;
		const size_t number = strtoul(mark.p, &rest, 10);
		if (!slice_is(mark, "end 0"))
			judge(f, &f->commands[number], without_folder(said[0], dir),
			      without_folder(said[1], dir), atoi(rest));
		else if (said[0].n + said[1].n > 0)
			fprintf(stderr, "\n%s: the shell ended: %.*s%.*s\n", f->path, (int)said[0].n,
			        said[0].p, (int)said[1].n, said[1].p);
	}
	for (size_t i = 0; i < f->n; i++)
		cr_assert_gt(f->commands[i].runs, 0, "%s:%zu: has not run: %s", f->path,
		             f->commands[i].first + 1, err);
}

/* UPDATE=1: rewrites the file with the actual output. */
static void update(const struct file *f)
{
	struct text t = { 0 };
	size_t at = 0;

	for (size_t i = 0; i <= f->n; i++) {
		const struct command *const c = i < f->n ? &f->commands[i] : NULL;
		for (const size_t stop = c != NULL ? c->answer : f->lines.n; at < stop; at++) {
			text_slice(&t, f->lines.v[at]);
			text_char(&t, '\n');
		}
		if (c != NULL && c->wrong > 0) {
			text_add(&t, c->mended.p, c->mended.n);
			at = c->end;
		}
	}
	cr_assert(!t.failed && write_whole(f->path, t.p, t.n), "%s", f->path);
	text_free(&t);
}

static void run_commands(const char *path)
{
	struct file f = { .path = path };
	struct text script = { 0 };
	char *const dir = make_folder(), name[1024];
	size_t wrong = 0;

	read_file(&f);
	snprintf(name, sizeof name, "%s/bin", dir);
	cr_assert_eq(mkdir(name, 0777), 0);
	link_to(tool_path(), name, "tracetool");
	link_to("testdata", dir, "testdata");
	text_str(&script, prelude);
	put_cases(&script, &f, dir);
	snprintf(name, sizeof name, "%s/script", dir);
	cr_assert(!script.failed && write_whole(name, script.p, script.n));
	text_char(&script, '\0');
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", ". \"$0/script\"", dir, NULL }, NULL, 0);
	judge_all(&f, &r, dir);
	for (size_t i = 0; i < f.n; i++)
		wrong += f.commands[i].wrong > 0;
	if (wrong > 0 && getenv("UPDATE") != NULL)
		update(&f);
	else
		cr_expect_eq(wrong, 0, "%s: %zu of %zu commands differ; UPDATE=1 rewrites what is expected",
		             path, wrong, f.n);
	for (size_t i = 0; i < f.n; i++)
		text_free(&f.commands[i].mended);
	free(f.commands);
	free(f.lines.v);
	free(f.bytes);
	text_free(&script);
	ran_free(&r);
	remove_folder(dir);
}

/* Generated by the Makefile: one entry per file. */
#define COMMANDS(name, path)                                                                                 \
	Test(commands, name)                                                                                 \
	{                                                                                                    \
		run_commands(path);                                                                          \
	}
#include "commands.def"
