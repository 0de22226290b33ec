#define _XOPEN_SOURCE 700 /* realpath */

#include <criterion/criterion.h>
#include <inttypes.h>
#include <libgen.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/match.h"
#include "check/rules.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cmd/test/cli_test_util.h"
#include "cmd/test/docs_test_util.h"
#include "format/registry.h"
#include "htdump/htdump.h"
#include "policy/policy.h"
#include "run/engine_losses.h"
#include "run/nest/lanes.h"
#include "stats/stats.h"
#include "test/support/ids_test.h"
#include "vocab/private.h"

/*
 * The documentation is true: its examples write the stated output, and its lists are those of the program.
 * docs_test_util.h describes examples.
 */

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

static void run_page(const char *path)
{
	char *const text = doc_text(path);
	const char *at = text;
	struct place p = place_make(tool_path());
	char *block;
	size_t n = 0;

	while ((block = markdown_block(&at, "console")) != NULL) {
		n += run_examples(&p, path, block);
		free(block);
	}
	cr_expect(n >= 5, "%s: %zu examples", path, n);
	place_free(&p);
	free(text);
}

Test(docs, examples_of_the_readme_and_the_cookbook)
{
	run_page("README.md");
	run_page("docs/cookbook.md");
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

/* A wrong output makes the comparison fail. */
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

/* ---- lists of formats ---- */

/*
 * docs/add-a-format.md: its blocks are written to the files that they name, the program is linked with them,
 * and its examples are run.  All other objects are those of this build, beside the program.
 */

#ifdef __clang__
#define COMPILER "clang"
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#else
#define COMPILER "gcc"
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED
#endif
#endif

#ifdef SANITIZED
#define SANITIZE "-fsanitize=address,undefined"
#else
#define SANITIZE ""
#endif

/* In the new folder $1, with the objects below $2.  The flags are those of the Makefile. */
static const char script[] =
    "warn=$(MAKEFLAGS= make -s list-flags) || exit\n"
    "flags=\"-D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 -I$1/formats -Isrc -Iformats " SANITIZE "\"\n"
    "for o in $(MAKEFLAGS= make -s BUILD=\"$2\" list-objects); do\n"
    "	case $o in */format/registry.o) ;; *) objects=\"$objects $o\" ;; esac\n"
    "done\n"
    "cat formats/formats.def >> \"$1/formats/formats.def\"\n"
    "exec " COMPILER
    " $warn $flags -o \"$1/tracetool\" \"$1\"/formats/tick/*.c src/format/registry.c $objects "
    "$(pkg-config --libs $(sed -n 's/^LIB_PC *:= *//p' Makefile)) -lpthread -lm\n";

/* A block of C begins with a comment that is its path; a block without one is added to formats.def. */
static void write_block(const char *dir, const char *block)
{
	char name[256] = "formats/formats.def", path[1024];

	sscanf(block, "/* %255s */", name);
	const char *const text = strncmp(block, "/* ", 3) == 0 ? strchr(block, '\n') + 1 : block;
	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert(write_whole(path, text, strlen(text)), "cannot write %s", path);
}

static size_t write_blocks(const char *dir, const char *tutorial)
{
	char *block;
	size_t n = 0;

	for (; (block = markdown_block(&tutorial, "c")) != NULL; n++) {
		write_block(dir, block);
		free(block);
	}
	return n;
}

static void run_quietly(const char *const *argv)
{
	struct ran r = run_program(argv, NULL, 0);

	cr_assert_eq(r.status, 0, "%s %s: %s%s", argv[0], argv[1], r.out, r.err);
	ran_free(&r);
}

Test(docs_format, the_format_of_the_tutorial_builds_reads_and_writes)
{
	char *const tutorial = doc_text("docs/add-a-format.md"), *const dir = make_folder();
	char *const program = realpath(tool_path(), NULL), path[1024];
	const char *at = tutorial;

	cr_assert_not_null(program);
	snprintf(path, sizeof path, "%s/formats/tick", dir);
	run_quietly((const char *const[]){ "mkdir", "-p", path, NULL });
	cr_expect_eq(write_blocks(dir, tutorial), 7);

	/* ./tracetool is a copy; the objects are where it was linked */
	const char *objects = dirname(program);
	snprintf(path, sizeof path, "%s/src/main.o", objects);
	if (access(path, F_OK) != 0)
		objects = "build";
	run_quietly((const char *const[]){ "sh", "-c", script, "sh", dir, objects, NULL });

	snprintf(path, sizeof path, "%s/tracetool", dir);
	struct place p = place_make(path);
	char *const examples = markdown_block(&at, "console tick");
	cr_assert_not_null(examples);
	cr_expect(run_examples(&p, "docs/add-a-format.md", examples) > 0);
	free(examples);
	place_free(&p);
	run_quietly((const char *const[]){ "rm", "-rf", dir, NULL });
	free(dir);
	free(program);
	free(tutorial);
}

/* ---- lists of rules ---- */

/* The manual pages agree with the tables of the program: rules, losses, options, commands. */

static void expect_rule(const char *page, const char *text, const struct rule *r)
{
	char line[256];

	snprintf(line, sizeof line, "\n.It Sy %s Pq %s\n", r->id, level_name(r->level));
	cr_expect_not_null(strstr(text, line), "%s lacks the rule %s (%s)", page, r->id,
	                   level_name(r->level));
}

Test(docs_rules, each_rule_is_in_its_page)
{
	char *text = doc_text("man/tracetool-validate.1");

	for (size_t i = 0; i < INPUT_RULE_COUNT; i++)
		expect_rule("tracetool-validate.1", text, &input_rules[i]);
	free(text);
	text = doc_text("man/tracetool-vocabulary.5");
	for (const struct rule *r = vocab_rules; r->id != NULL; r++)
		expect_rule("tracetool-vocabulary.5", text, r);
	free(text);
	text = doc_text("man/tracetool.yaml.5");
	for (const struct rule *r = policy_rules; r->id != NULL; r++)
		expect_rule("tracetool.yaml.5", text, r);
	free(text);
	text = doc_text("man/tracetool-compare.1");
	for (const struct rule *r = compare_rules; r->id != NULL; r++)
		expect_rule("tracetool-compare.1", text, r);
	free(text);
	for (const struct format *const *f = formats; *f != NULL; f++) {
		char page[256];
		snprintf(page, sizeof page, "man/tracetool-%s.5", (*f)->name);
		text = doc_text(page);
		for (const struct rule *r = (*f)->rules; r != NULL && r->id != NULL; r++)
			expect_rule(page, text, r);
		free(text);
	}
}

/* ".It Sy ID Pq LEVEL" is a rule, ".It Sy a/b" without a level a kind of loss. */
static size_t check_ids(const char *page, const char *text)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, "\n.It Sy ")) != NULL; at++) {
		char id[128] = "", level[16] = "";
		const int words = sscanf(at, "\n.It Sy %127s Pq %15s", id, level);
		const struct rule *const r = rule_by_id(id);
		if (strchr(id, '/') == NULL)
			continue;
		n++;
		if (words == 2)
			cr_expect(r != NULL && strcmp(level_name(r->level), level) == 0,
			          "%s: there is no rule %s (%s)", page, id, level);
		else
			cr_expect(r == NULL && loss_by_id(id) != NULL,
			          "%s: %s is no loss, or a rule without level", page, id);
	}
	return n;
}

/* Returns the texts of all manual pages, concatenated. */
static char *all_pages(void)
{
	struct ran r = run_program((const char *const[]){ "sh", "-c", "cat man/*", NULL }, NULL, 0);

	cr_assert_eq(r.status, 0);
	free(r.err);
	return r.out;
}

Test(docs_rules, each_rule_of_a_page_exists)
{
	char **const names = list_folder("man", "");
	size_t n = 0;

	for (size_t i = 0; names[i] != NULL; i++) {
		char page[512];
		snprintf(page, sizeof page, "man/%s", names[i]);
		char *const text = doc_text(page);
		n += check_ids(page, text);
		free(text);
	}
	cr_expect(n >= INPUT_RULE_COUNT);
	list_free(names);
}

static size_t expect_losses(const char *page, const char *text, const struct loss *l)
{
	size_t n = 0;

	for (; l != NULL && l->id != NULL; l++, n++) {
		char line[256];
		snprintf(line, sizeof line, "\n.It Sy %s\n", l->id);
		cr_expect_not_null(strstr(text, line), "%s lacks the loss %s", page, l->id);
	}
	return n;
}

Test(docs_rules, each_kind_of_loss_is_in_a_page)
{
	char *const pages = all_pages();
	size_t n = expect_losses("man", pages, engine_losses);

	free(pages);
	for (const struct format *const *f = formats; *f != NULL; f++) {
		char page[256];
		if (f > formats && (*f)->losses == f[-1]->losses)
			continue; /* two forms of one format: the page of the first has them */
		snprintf(page, sizeof page, "man/tracetool-%s.5", (*f)->name);
		char *const text = doc_text(page);
		n += expect_losses(page, text, (*f)->losses);
		free(text);
	}
	cr_expect(n > 20);
}

/* ---- options ---- */

/* "\n.It Fl o , Fl -output" or "\n.It Fl -output", followed by the argument or the line's end. */
static bool page_has_option(const char *text, char letter, const char *name)
{
	char item[128];

	if (letter != 0)
		snprintf(item, sizeof item, "\n.It Fl %c , Fl -%s", letter, name);
	else
		snprintf(item, sizeof item, "\n.It Fl -%s", name);
	const char *at = text;
	while ((at = strstr(at, item)) != NULL) {
		at += strlen(item);
		if (*at == ' ' || *at == '\n')
			return true;
	}
	return false;
}

/* The next option of a help text: that of a row, "  -o, --output OUT   ...", or of a line "  --since TIME
 * --until TIME"; false: no more. */
static bool help_option(const char *help, const char **at, char *letter, char name[64])
{
	for (const char *p = *at; (p = strstr(p, "--")) != NULL; p += 2) {
		*letter = 0;
		if (p[2] < 'a' || p[2] > 'z' || sscanf(p, "--%63[a-z0-9-]", name) != 1)
			continue;
		const char *line = p;
		while (line > help && line[-1] != '\n')
			line--;
		const bool row =
		    (p - line == 6 && (strncmp(line, "  -", 3) == 0 || strncmp(line, "      ", 6) == 0));
		const bool listed = strncmp(line, "  --", 4) == 0 && strncmp(p - 2, "  ", 2) == 0;
		if (!row && !listed)
			continue;
		if (row && line[3] != ' ')
			*letter = line[3];
		*at = p + 2;
		return true;
	}
	return false;
}

static void check_options(const struct command *c, const char *page, const char *text, const char *help)
{
	const char *at = help;
	char letter, name[64];
	size_t shown = 0, described = 0;

	while (help_option(help, &at, &letter, name)) {
		cr_expect(page_has_option(text, letter, name), "%s lacks -%c, --%s", page,
		          letter != 0 ? letter : ' ', name);
		shown++;
	}
	for (const char *item = text; (item = strstr(item, "\n.It Fl ")) != NULL; item++)
		described++;
	cr_expect_eq(shown, described, "%s describes %zu options, --help shows %zu", page, described, shown);
	for (const struct cmd_option *o = c->options; o != NULL && o->name != NULL; o++) {
		snprintf(name, sizeof name, "--%s", o->name);
		cr_expect_not_null(strstr(help, name), "%s --help lacks %s", c->name, name);
		cr_expect_not_null(strstr(help, o->help), "%s --help lacks the text of %s", c->name, name);
	}
}

/* Together with the page that commands with a selection share. */
static char *page_of_command(const struct command *c, const char *page)
{
	char *const own = doc_text(page), *const shared = doc_text("man/tracetool-select.7");
	const size_t n = strlen(own), more = c->selects ? strlen(shared) : 0;
	char *const all = malloc(n + more + 1);

	cr_assert_not_null(all);
	memcpy(all, own, n + 1);
	memcpy(all + n, shared, more);
	all[n + more] = '\0';
	free(own);
	free(shared);
	return all;
}

Test(docs_rules, each_command_has_a_page_with_its_options)
{
	char *const overview = doc_text("man/tracetool.1"), *const readme = doc_text("README.md");

	for (const struct command *const *c = commands; *c != NULL; c++) {
		char page[256], word[128];
		snprintf(page, sizeof page, "man/tracetool-%s.1", (*c)->name);
		char *const text = page_of_command(*c, page);
		struct ran r = run_tool((const char *const[]){ (*c)->name, "--help", NULL }, NULL, 0);
		cr_expect_eq(r.status, 0);
		check_options(*c, page, text, r.out);
		snprintf(word, sizeof word, "\n.It Cm %s\n", (*c)->name);
		cr_expect_not_null(strstr(overview, word), "tracetool.1 lacks %s", (*c)->name);
		snprintf(word, sizeof word, "tracetool %s", (*c)->name);
		cr_expect_not_null(strstr(readme, word), "README.md lacks %s", word);
		ran_free(&r);
		free(text);
	}
	free(overview);
	free(readme);
}

Test(docs_rules, options_of_formats_are_in_their_pages)
{
	for (const struct format *const *f = formats; *f != NULL; f++) {
		char page[256], name[128];
		snprintf(page, sizeof page, "man/tracetool-%s.5", (*f)->name);
		char *const text = doc_text(page);
		for (const struct format_option *o = (*f)->options; o != NULL && o->name != NULL; o++) {
			snprintf(name, sizeof name, "\n.Fl -%s", o->name);
			cr_expect_not_null(strstr(text, name), "%s lacks --%s", page, o->name);
		}
		for (const char *const *d = (*f)->dialects; d != NULL && *d != NULL; d++)
			cr_expect_not_null(strstr(text, *d), "%s lacks the dialect %s", page, *d);
		for (const char *const *s = (*f)->suffixes; *s != NULL; s++)
			cr_expect_not_null(strstr(text, *s), "%s lacks the suffix %s", page, *s);
		free(text);
	}
}

/* ---- limits ---- */

/* The number with commas, as the pages write it, then these words. */
static void expect_limit(const char *page, const char *text, uint64_t v, const char *words)
{
	char digits[32], item[128];
	size_t n = 0;

	const int len = snprintf(digits, sizeof digits, "%" PRIu64, v);
	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			item[n++] = ',';
		item[n++] = digits[i];
	}
	snprintf(item + n, sizeof item - n, "%s", words);
	cr_expect_not_null(strstr(text, item), "%s lacks the limit: %s", page, item);
}

Test(docs_rules, limits_are_those_of_the_program)
{
	char *text = doc_text("man/tracetool-chrome.5");

	expect_limit("chrome", text, NEST_TRACK_ROOM, " spans over all its lanes");
	expect_limit("chrome", text, NEST_TOTAL_ROOM, ".");
	expect_limit("chrome", text, NEST_WINDOW, " last to end");
	expect_limit("chrome", text, NEST_LANES, " lanes");
	expect_limit("chrome", text, NEST_EXTRA_LANES, " extra ones");
	free(text);
	text = doc_text("man/tracetool-stats.1");
	expect_limit("stats", text, NEST_TRACK_ROOM, " spans of a thread");
	expect_limit("stats", text, NEST_TOTAL_ROOM, " of all threads");
	expect_limit("stats", text, HISTOGRAM_KEPT, " spans of a name");
	free(text);
	text = doc_text("man/tracetool-htdump.5");
	expect_limit("htdump", text, HT_MAX_CLASSES, "\n.It described fields");
	expect_limit("htdump", text, HT_MAX_FIELDS, "\n.It fields of all used classes");
	expect_limit("htdump", text, HT_MAX_LEAVES, "\n.It fields visited");
	expect_limit("htdump", text, HT_MAX_UNFOLD, "\n.It memory of all descriptions");
	expect_limit("htdump", text, HT_MAX_DESCRIBED >> 20, " MiB\n.It a field of no known type");
	expect_limit("htdump", text, HT_MAX_OPAQUE, " bytes");
	expect_limit("htdump", text, HT_MAX_MAPPINGS, "\n.It names of labels");
	expect_limit("htdump", text, HT_MAX_LABEL_BYTES >> 20, " MiB\n.It threads");
	free(text);
	text = doc_text("man/tracetool-vocabulary.5");
	expect_limit("schema", text, VOCAB_MAX_BYTES >> 20, " MiB, 262,144 values, 16 deep");
	expect_limit("schema", text, YAML_MAX_NODES, " values, 16 deep");
	expect_limit("schema", text, YAML_MAX_DEPTH, " deep");
	expect_limit("schema", text, VOCAB_MAX_RULES, ", of all files");
	expect_limit("schema", text, VOCAB_MAX_NAMED, ", likewise");
	expect_limit("schema", text, VOCAB_MAX_WORDS, ", likewise");
	expect_limit("schema", text, PLAN_MAX_TABLES, ", likewise");
	expect_limit("schema", text, VOCAB_MAX_LAYOUT, "\n.It references");
	expect_limit("schema", text, VOCAB_MAX_READER, "\n.It files\n16");
	expect_limit("schema", text, OPTIONS_MAX_SCHEMAS, "\n.El");
	expect_limit("schema", text, VOCAB_MAX_CHAINS, " different ways");
	free(text);
	text = doc_text("man/tracetool.yaml.5");
	expect_limit("yaml", text, POLICY_MAX_BYTES >> 20, " MiB, 262,144 values, 16 deep");
	expect_limit("yaml", text, POLICY_MAX_PATTERN, " bytes, 64 of them between two");
	cr_expect_eq(GLOB_LINEAR, 64);
	expect_limit("yaml", text, POLICY_MAX_EVENTS, ", of all overrides\n.It metadata");
	expect_limit("yaml", text, POLICY_MAX_METADATA, ", likewise\n.It budgets");
	expect_limit("yaml", text, POLICY_MAX_BUDGETS, ", likewise\n.It names");
	expect_limit("yaml", text, POLICY_MAX_NAMES, "\n.It overrides");
	expect_limit("yaml", text, POLICY_MAX_OVERRIDES, "\n.It a baseline");
	expect_limit("yaml", text, YAML_MAX_STARS, "\n.It patterns of rules");
	expect_limit("yaml", text, POLICY_MAX_RULES, ", of all overrides\n.It events");
	expect_limit("yaml", text, BASELINE_MAX_ROWS, " rows\n.El");
	expect_limit("yaml", text, BASELINE_MAX_BYTES >> 20, " MiB, ");
	free(text);
}

Test(docs_rules, version_is_in_the_changes)
{
	char *const text = doc_text("CHANGELOG.md");

	cr_expect_not_null(strstr(text, "\n## " TOOL_VERSION), "CHANGELOG.md lacks version " TOOL_VERSION);
	free(text);
}

Test(docs_rules, ids_begin_with_the_name_of_the_format_and_have_texts)
{
	for (const struct format *const *f = formats; *f != NULL; f++)
		for (const struct rule *r = (*f)->rules; r != NULL && r->id != NULL; r++) {
			const size_t n = strlen((*f)->name);
			cr_expect(strncmp(r->id, (*f)->name, n) == 0 && r->id[n] == '/', "%s", r->id);
			cr_expect(strlen(r->text) > 0 && strlen(r->explain) > 0, "%s", r->id);
			cr_expect_eq(rule_by_id(r->id), r, "%s", r->id);
		}
}
