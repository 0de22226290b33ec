#define _XOPEN_SOURCE 700 /* realpath */

#include "cmd/test/docs_test_util.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"

/* The examples of the README and of the manual pages write what they say. */

static void *must(void *p)
{
	if (p == NULL)
		abort();
	return p;
}

char *doc_text(const char *path)
{
	size_t n;
	char *const text = read_whole(path, &n);

	cr_assert_not_null(text, "%s is missing", path);
	return text;
}

struct place place_make(const char *tool)
{
	const struct place p = { make_folder(), make_folder() };
	char to[1024], *const testdata = realpath("testdata", NULL), *const program = realpath(tool, NULL);

	cr_assert(testdata != NULL && program != NULL, "testdata or %s is missing", tool);
	snprintf(to, sizeof to, "%s/testdata", p.dir);
	cr_assert_eq(symlink(testdata, to), 0);
	snprintf(to, sizeof to, "%s/tracetool", p.bin);
	cr_assert_eq(symlink(program, to), 0);
	free(testdata);
	free(program);
	return p;
}

void place_free(struct place *p)
{
	remove_folder(p->dir);
	remove_folder(p->bin);
}

static size_t line_length(const char *s)
{
	return strcspn(s, "\n");
}

static const char *next_line(const char *s)
{
	s += line_length(s);
	return *s == '\n' ? s + 1 : s;
}

static size_t trimmed_length(const char *s)
{
	size_t n = line_length(s);

	while (n > 0 && s[n - 1] == ' ')
		n--;
	return n;
}

static bool lines_match(const char *want, const char *got)
{
	for (; *want != '\0'; want = next_line(want), got = next_line(got)) {
		const size_t n = trimmed_length(want);
		if (n == 3 && memcmp(want, "...", 3) == 0) {
			for (;; got = next_line(got))
				if (lines_match(next_line(want), got))
					return true;
				else if (*got == '\0')
					return false;
		}
		if (*got == '\0' || trimmed_length(got) != n || memcmp(want, got, n) != 0)
			return false;
	}
	return *got == '\0';
}

static void run_example(const struct place *p, const char *doc, const char *command, const char *want)
{
	const char *const argv[] = {
		"sh",
		"-c",
		"cd \"$1\" && PATH=\"$2:$PATH\" && export PATH && unset NO_COLOR COLUMNS && exec 2>&1 "
		"&& eval \"$3\"",
		"sh",
		p->dir,
		p->bin,
		command,
		NULL
	};
	struct ran r = run_program(argv, NULL, 0);

	cr_expect(lines_match(want, r.out), "%s: $ %s\n%swhere this stands:\n%s", doc, command, r.out, want);
	ran_free(&r);
}

size_t run_examples(const struct place *p, const char *doc, const char *block)
{
	size_t n = 0;

	while (strncmp(block, "$ ", 2) == 0) {
		char *const command = must(strndup(block + 2, line_length(block) - 2));
		const char *const from = block = next_line(block);
		while (*block != '\0' && strncmp(block, "$ ", 2) != 0)
			block = next_line(block);
		char *const want = must(strndup(from, (size_t)(block - from)));
		run_example(p, doc, command, want);
		free(command);
		free(want);
		n++;
	}
	cr_expect(*block == '\0', "%s: a block of examples begins with: %.60s", doc, block);
	return n;
}

char *markdown_block(const char **at, const char *info)
{
	char fence[64];

	snprintf(fence, sizeof fence, "\n```%s\n", info);
	const char *const start = strstr(*at, fence);
	if (start == NULL)
		return NULL;
	const char *const text = start + strlen(fence), *const end = strstr(text, "\n```\n");
	cr_assert_not_null(end, "a block without an end: %.60s", text);
	*at = end + 1;
	return must(strndup(text, (size_t)(end + 1 - text)));
}

Test(docs, examples_of_the_readme)
{
	char *const text = doc_text("README.md");
	const char *at = text;
	struct place p = place_make(tool_path());
	char *block;
	size_t n = 0;

	while ((block = markdown_block(&at, "console")) != NULL) {
		n += run_examples(&p, "README.md", block);
		free(block);
	}
	cr_expect(n >= 5, "%zu examples", n);
	place_free(&p);
	free(text);
}

/* The literal text of mdoc: \e is a backslash, \& nothing. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s != '\0'; s++)
		if (s[0] == '\\' && s[1] == 'e') {
			*to++ = '\\';
			s++;
		} else if (s[0] == '\\' && s[1] == '&') {
			s++;
		} else {
			*to++ = *s;
		}
	*to = '\0';
}

/* The displays of EXAMPLES that are literal text. */
static size_t run_manual(const char *path)
{
	char *const text = doc_text(path), *section = strstr(text, "\n.Sh EXAMPLES\n");
	struct place p = place_make(tool_path());
	size_t n = 0;

	if (section != NULL) {
		char *const behind = strstr(section + 1, "\n.Sh ");
		if (behind != NULL)
			*behind = '\0';
		while ((section = strstr(section, "\n.Bd -literal\n")) != NULL) {
			char *const block = section + strlen("\n.Bd -literal\n"), *const end =
			                                                              strstr(block, "\n.Ed");
			cr_assert_not_null(end, "%s: .Bd without .Ed", path);
			end[1] = '\0';
			section = end + 2;
			unescape(block);
			n += run_examples(&p, path, block);
		}
	}
	place_free(&p);
	free(text);
	return n;
}

Test(docs, examples_of_the_manual_pages)
{
	char **const names = list_folder("man", "");

	cr_assert_not_null(names[0]);
	for (size_t i = 0; names[i] != NULL; i++) {
		char path[512];
		snprintf(path, sizeof path, "man/%s", names[i]);
		cr_expect(run_manual(path) > 0, "%s has no examples", path);
	}
	list_free(names);
}

/* A comparison that cannot fail proves nothing. */
Test(docs, wrong_output_is_noticed)
{
	cr_expect(lines_match("a\nb\n", "a \nb\n"));
	cr_expect(lines_match("a\n...\nd\n", "a\nb\nc\nd\n"));
	cr_expect(lines_match("a\n...\n", "a\n"));
	cr_expect(lines_match("", ""));
	cr_expect_not(lines_match("a\nb\n", "a\n"));
	cr_expect_not(lines_match("a\n", "a\nb\n"));
	cr_expect_not(lines_match("a\n...\nd\n", "a\nb\nd\ne\n"));
	cr_expect_not(lines_match("...\n", "a\n") != true);
	cr_expect_not(lines_match("a\n", ""));
	cr_expect_not(lines_match("ab\n", "a\n"));
}
