#define _XOPEN_SOURCE 700 /* realpath */

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "cli/options.h"
#include "output/text.h"

/* Completion in real shells: bash, and fish and zsh where they are installed. */

#define RUN(...) run_tool((const char *const[]){ __VA_ARGS__, NULL }, NULL, 0)

/* Sources the script of the shell and completes the command lines that it reads, whose words are separated
 * by blanks.  Writes one answer per line, then a line ".". */
static const char bash_lines[] =
    "PATH=${0%/*}:$PATH && eval \"$(tracetool completion bash)\" || exit\n"
    "cd testdata/htdump && while IFS= read -r line; do\n"
    "	IFS=' ' read -r -a COMP_WORDS <<<\"$line\"\n"
    "	[[ $line != *' ' ]] || COMP_WORDS+=('')\n"
    "	COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$line COMP_POINT=${#line}\n"
    "	_tracetool || :\n"
    "	((${#COMPREPLY[@]} == 0)) || printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    "	echo .\n"
    "done\n";

static const char fish_lines[] = "set -x PATH (dirname $argv[1]) $PATH; tracetool completion fish | source\n"
                                 "cd testdata/htdump; while read -l line\n"
                                 "	complete -C $line | string replace -r '\\t.*' ''\n"
                                 "	echo .\n"
                                 "end\n";

/* Returns the output of a shell for lines of input, to be freed; NULL: the shell is not installed. */
static char *answers(const char *shell, const char *lines)
{
	const bool bash = strcmp(shell, "bash") == 0;
	char *const tool = realpath(tool_path(), NULL);
	const char *const argv[] = { shell, bash ? "--norc" : "--no-config",
		                     "-c",  bash ? bash_lines : fish_lines,
		                     tool,  NULL };

	cr_assert_not_null(tool);
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", "command -v \"$0\"", shell, NULL }, NULL, 0);
	const bool present = r.status == 0;
	ran_free(&r);
	if (!present) {
		fprintf(stderr, "%s is not installed: its completion is not tried\n", shell);
		free(tool);
		return NULL;
	}
	r = run_program(argv, lines, strlen(lines));
	free(tool);
	cr_expect_eq(r.status, 0, "%s: %d: %s", shell, r.status, r.err);
	cr_expect_str_eq(r.err, "", "%s: %s", shell, r.err);
	free(r.err);
	return r.out;
}

/* A command line and its answers, each followed by a blank; "...": further answers are allowed. */
struct
try {
	const char *line, *want;
};

static void expect_answers(const char *shell, const struct try *tries, size_t n)
{
	struct text lines = { .p = NULL };

	for (size_t i = 0; i < n; i++)
		text_printf(&lines, "%s\n", tries[i].line);
	text_char(&lines, '\0');
	char *const all = answers(shell, lines.p), *at = all;
	text_free(&lines);
	for (size_t i = 0; all != NULL && i < n; i++) {
		char *const end = strncmp(at, ".\n", 2) == 0 ? at : strstr(at, "\n.\n");
		cr_assert_not_null(end, "%s: no answers to %s", shell, tries[i].line);
		char *const next = end == at ? at + 2 : end + 3;
		*(end == at ? at : end + 1) = '\0';
		for (char *p = at; *p != '\0'; p++)
			if (*p == '\n')
				*p = ' ';
		const size_t max = strcspn(tries[i].want, ".");
		cr_expect(tries[i].want[max] == '\0' || strncmp(tries[i].want + max, "...", 3) != 0
		              ? strcmp(at, tries[i].want) == 0
		              : strncmp(at, tries[i].want, max) == 0,
		          "%s: %s: %s, not %s", shell, tries[i].line, at, tries[i].want);
		at = next;
	}
	free(all);
}

Test(completion, of_bash)
{
	static const struct try tries[] = {
		{ "tracetool va", "validate " },
		{ "tracetool ", "convert merge validate stats top cat ..." },
		{ "tracetool help co", "convert compare completion " },
		{ "tracetool --ver", "--version " },
		{ "tracetool --version --v", "--verbose " },
		{ "tracetool nothing ", "" },
		{ "tracetool validate --exit", "--exit-zero " },
		{ "tracetool stats --exit", "" },
		{ "tracetool formats --", "--format --matrix --force --output --json --width --help " },
		/* words after a blank or "=" */
		{ "tracetool validate --report sa", "sarif " },
		{ "tracetool validate --report = sa", "sarif " },
		{ "tracetool validate --report =",
		  "text gcc json ndjson sarif junit github markdown gitlab html auto " },
		{ "tracetool validate --format mark", "markdown " },
		{ "tracetool validate --fail-level ", "note warning limit error never " },
		{ "tracetool stats --format ", "text json csv md " },
		{ "tracetool convert --lanes ", "on off " },
		{ "tracetool convert --to ct", "ctf " },
		{ "tracetool cat --from ht", "htdump " },
		{ "tracetool cat --from ct", "" },
		{ "tracetool cat --color n", "never " },
		{ "tracetool info --from-dialect wi", "wire " },
		{ "tracetool info --check st", "state " },
		{ "tracetool stats --threads ", "" },
		/* rules */
		{ "tracetool validate --select-rules htdump/cut", "htdump/cut-record " },
		{ "tracetool validate --level htdump/cut", "htdump/cut-record= " },
		{ "tracetool validate --level htdump/cut-record = w", "warning " },
		{ "tracetool explain lanes/overlap", "lanes/overlap-left " },
		/* operands that are words */
		{ "tracetool vocabulary ", "check show " },
		{ "tracetool vocabulary show ht", "htdump " },
		{ "tracetool vocabulary check go", "good " },
		{ "tracetool completion ", "bash fish zsh " },
		{ "tracetool rules lanes/overlap", "lanes/overlap-left " },
		/* files */
		{ "tracetool validate go", "good " },
		{ "tracetool validate -q --threads 2 go", "good " },
		{ "tracetool validate --report sarif = go", "good " },
		{ "tracetool validate --report = sarif = go", "good " },
		{ "tracetool stats --vocabulary go", "good " },
		{ "tracetool stats -o go", "good " },
		{ "tracetool convert good/overl", "good/overlapping.htdump " },
	};

	expect_answers("bash", tries, sizeof tries / sizeof *tries);
}

Test(completion, of_fish)
{
	static const struct try tries[] = {
		{ "tracetool va", "validate " },
		{ "tracetool help vo", "vocabulary " },
		{ "tracetool --version --v", "--verbose " },
		{ "tracetool validate --exit", "--exit-zero " },
		{ "tracetool validate --report sa", "sarif " },
		{ "tracetool validate --report=sa", "--report=sarif " },
		{ "tracetool validate --fail-level nev", "never " },
		{ "tracetool stats --format js", "json " },
		{ "tracetool convert --to ct", "ctf " },
		{ "tracetool validate --select-rules htdump/cut", "htdump/cut-record " },
		{ "tracetool validate --level htdump/cut", "htdump/cut-record= " },
		{ "tracetool validate --level htdump/cut-record=w", "htdump/cut-record=warning " },
		{ "tracetool explain lanes/overlap", "lanes/overlap-left " },
		{ "tracetool vocabulary sh", "show " },
		{ "tracetool vocabulary show ht", "htdump " },
		{ "tracetool completion b", "bash " },
		{ "tracetool completion bash ", "" },
		{ "tracetool validate --report sarif=go", "sarif=good/ " },
		{ "tracetool convert go", "good/ " },
	};

	expect_answers("fish", tries, sizeof tries / sizeof *tries);
}

/* In a pseudo-terminal.  A missing list is waited for, without a limit of time, so that a slow machine
 * only takes longer. */
static const char zsh_lines[] =
    "command -v zsh >/dev/null || exit 77\n"
    "export PATH=\"$(cd \"${0%/*}\" && pwd):$PATH\"\n"
    "\"$0\" completion zsh > \"$1/_tracetool\" && zsh -n \"$1/_tracetool\" && exec timeout 120 zsh -f -c '\n"
    "zmodload zsh/zpty; zpty z \"TERM=dumb zsh -f -i\"\n"
    "zpty -w z \"fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -D; bindkey \\\"^I\\\" "
    "list-choices; "
    "COLUMNS=200\"\n"
    "see() { zpty -w -n z $1$'\\''\\t'\\''; zpty -r z out \"*$2*\" && zpty -w -n z $'\\''\\C-u'\\''; }\n"
    "see \"tracetool v\" validate && see \"tracetool validate --report s\" sarif && "
    "see \"tracetool validate --level htdump/cut-record=\" warning && see \"tracetool vocabulary \" show && "
    "see \"tracetool vocabulary show \" heph && see \"tracetool explain lanes/\" overlap-left && "
    "see \"tracetool convert $PWD/testdata/htdump/g\" good\n"
    "' zsh \"$1\"\n";

Test(completion, of_zsh)
{
	char *const dir = make_folder();
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", zsh_lines, tool_path(), dir, NULL }, NULL, 0);

	if (r.status == 77)
		fprintf(stderr, "zsh is not installed: its completion is not tried\n");
	else
		cr_expect_eq(r.status, 0, "%d: %s%s", r.status, r.out, r.err);
	ran_free(&r);
	remove_folder(dir);
}

/* ---- the tables ---- */

static void put_option(void *ctx, const struct cmd_option *o, const char *const *words)
{
	(void)words;
	text_printf(ctx, "      --%s ", o->name);
}

/* Returns the number of options in the help, in rows and in lists. */
static size_t count_options(const char *help)
{
	size_t n = 0;

	for (const char *line = strstr(help, "\n  "); line != NULL; line = strstr(line + 1, "\n  ")) {
		const char *const end = line + 1 + strcspn(line + 1, "\n");
		if (strncmp(line + 3, "--", 2) != 0)
			n += strncmp(line + 7, "--", 2) == 0;
		else
			for (const char *p = line; (p = strstr(p, "  --")) != NULL && p < end; p += 4)
				n++;
	}
	return n;
}

/* Completion offers the options that --help shows. */
Test(completion, offers_the_options_of_the_help)
{
	for (const struct command *const *c = commands; *c != NULL; c++) {
		struct ran r = RUN((*c)->name, "--help");
		struct text list = { .p = NULL };
		const size_t shown = count_options(r.out);
		size_t offered = 0;
		options_visit(*c, put_option, &list);
		text_char(&list, '\0');
		for (const char *p = list.p; (p = strstr(p, "--")) != NULL; p += 2) {
			char name[80];
			sscanf(p, "%78s", name);
			cr_expect_not_null(strstr(r.out, name), "%s --help lacks %s", (*c)->name, name);
			offered++;
		}
		cr_expect_eq(shown, offered, "%s: %zu options, %zu offered", (*c)->name, shown, offered);
		text_free(&list);
		ran_free(&r);
	}
}

/* The words for an argument are those in the message about a wrong argument. */
static void check_words(void *ctx, const struct cmd_option *o, const char *const *words)
{
	const struct command *const cmd = ctx;
	char argument[128];
	struct text want = { .p = NULL };

	(void)words;
	if (o->arg == NULL)
		return;
	const char *const second = strncmp(o->arg, "RULES=", 6) == 0 ? "input/*=" : "";
	snprintf(argument, sizeof argument, "--%s=%s", o->name, second);
	struct ran offered = RUN("__complete", cmd->name, argument);
	cr_expect(offered.status == 0 &&
	              (strncmp(offered.out, "words\n", 6) == 0 || strncmp(offered.out, "files\t", 6) == 0),
	          "%s: %d %s", argument, offered.status, offered.out);
	const bool is_rules = strchr(offered.out, '/') != NULL && second[0] == '\0';
	for (const char *p = strchr(offered.out, '\n') + 1; *p != '\0'; p = strchr(p, '\n') + 1) {
		const size_t n = strcspn(p, "\n"), prefix = strlen(argument);
		cr_assert(n > prefix && strncmp(p, argument, prefix) == 0, "%s: %s", argument, p);
		text_printf(&want, "%s%.*s", want.n > 0 ? ", " : "", (int)(n - prefix), p + prefix);
	}
	const bool has_words = want.n > 0 && !is_rules;
	text_str(&want, ", not");
	text_char(&want, '\0');
	strcat(argument, "no/folder!");
	/* "check" is an operand of vocabulary, and a missing file for others */
	struct ran r = RUN(cmd->name, argument, cmd == &vocabulary_command ? "check" : "-");
	const char *const list = strstr(r.err, " takes one of ");
	if (!has_words)
		cr_expect_null(list, "%s --%s offers no words: %s", cmd->name, o->name, r.err);
	else if (list != NULL)
		cr_expect_eq(strncmp(list + 14, want.p, want.n - 1), 0, "%s --%s offers %s: %s", cmd->name,
		             o->name, want.p, r.err);
	else
		cr_expect_eq(r.status, 3, "%s %s: %d", cmd->name, argument, r.status);
	ran_free(&r);
	ran_free(&offered);
	text_free(&want);
}

/* The program accepts the words that completion offers. */
Test(completion, offers_the_words_that_are_taken)
{
	for (const struct command *const *c = commands; *c != NULL; c++)
		options_visit(*c, check_words, (void *)(uintptr_t)*c);
}

Test(completion, words_are_text)
{
	struct ran r = RUN("__complete", "");

	cr_expect_eq(r.status, 0);
	cr_expect_eq(strlen(r.out), r.out_n, "no NUL");
	cr_expect_not_null(strstr(r.out, "\nhelp\tShows the help of a command.\n"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\n--version\tname and version\n"), "%s", r.out);
	ran_free(&r);
}

Test(completion, mistakes)
{
	static const struct {
		const char *shell, *words;
	} wrong[] = { { "csh", "it takes one of bash, fish, zsh, not csh" }, { "", "bash, fish, zsh, not" } };

	for (size_t i = 0; i < 2; i++) {
		struct ran r = RUN("completion", wrong[i].shell);
		cr_expect_eq(r.status, 3);
		cr_expect_str_eq(r.out, "");
		cr_expect_not_null(strstr(r.err, wrong[i].words), "%s", r.err);
		ran_free(&r);
	}
	struct ran r = RUN("completion");
	cr_expect(r.status == 3 && strstr(r.err, "name one shell: bash, fish or zsh") != NULL, "%s", r.err);
	ran_free(&r);
	r = RUN("completion", "bash", "zsh");
	cr_expect(r.status == 3 && strstr(r.err, "name one shell") != NULL, "%s", r.err);
	ran_free(&r);
}
