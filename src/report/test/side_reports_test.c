#define _XOPEN_SOURCE 700 /* realpath */

#include <criterion/criterion.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cmd/test/cli_test_util.h"

/* Reports of commands that read a trace for something else. */

static struct ran shell(const char *script, const char *dir)
{
	return run_program((const char *const[]){ "sh", "-c", script, tool_path(), dir, NULL }, NULL, 0);
}

/* What convert, stats, cat and info find, their reports say as those of validate do. */
Test(side_reports, are_those_of_validate)
{
	static const char script[] =
	    "for f in testdata/*/bad/*; do case $f in *.expect) continue ;; esac; "
	    "n=$((n + 1)); [ $((n % 9)) = 0 ] || continue; "
	    "\"$0\" validate --no-config -f --report json=\"$1/v\" --report junit=\"$1/vj\" \"$f\" "
	    ">/dev/null 2>&1; "
	    "for c in stats cat info 'convert -f --to ndjson'; do "
	    "case $c in convert*) o=/dev/null ;; *) o= ;; esac; "
	    "rm -f \"$1/c\" \"$1/cj\"; "
	    "\"$0\" $c -q -f --report json=\"$1/c\" --report junit=\"$1/cj\" \"$f\" $o >/dev/null 2>&1; "
	    /* without an output there is nothing new */
	    "case $?$c in 2convert*) [ ! -e \"$1/c\" ] || echo \"$c $f\"; continue ;; esac; "
	    "cmp \"$1/v\" \"$1/c\" || echo \"$c $f\"; cmp \"$1/vj\" \"$1/cj\" || echo \"$c $f\"; done; done; "
	    "echo $((n > 100))";
	char *const dir = make_folder();
	struct ran r = shell(script, dir);

	cr_expect_str_eq(r.out, "1\n", "%s%s", r.out, r.err);
	ran_free(&r);
	remove_folder(dir);
}

Test(side_reports, go_to_files_that_are_no_inputs)
{
	static const struct {
		const char *script, *words;
		int status;
	} cases[] = {
		{ "exec \"$0\" stats --report json testdata/htdump/good/wire-little.htdump", "needs a file",
		  3 },
		{ "exec \"$0\" stats --report json=- testdata/htdump/good/wire-little.htdump", "needs a file",
		  3 },
		{ "exec \"$0\" cat --report csv=x testdata/htdump/good/wire-little.htdump",
		  "takes one of text", 3 },
		{ "cp testdata/htdump/good/wire-little.htdump \"$1/a\"; exec \"$0\" info -f --report "
		  "json=\"$1/a\" \"$1/a\"",
		  "is the input", 3 },
		{ "echo mine >\"$1/r\"; exec \"$0\" info --report json=\"$1/r\" "
		  "testdata/htdump/good/wire-little.htdump",
		  "exists", 2 },
		{ "exec \"$0\" info --report json=\"$1/no/r\" testdata/htdump/good/wire-little.htdump",
		  "does not exist", 2 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *const dir = make_folder();
		struct ran r = shell(cases[i].script, dir);
		cr_expect_eq(r.status, cases[i].status, "%s: status %d", cases[i].script, r.status);
		cr_expect_not_null(strstr(r.err, cases[i].words), "%s: %s", cases[i].script, r.err);
		ran_free(&r);
		remove_folder(dir);
	}
}

/* ---- as a user runs it ---- */

/* What reports look like. */

#define RUN(...) run_tool((const char *const[]){ __VA_ARGS__, NULL }, NULL, 0)
#define SAMPLE "testdata/htdump/good/wire-little.htdump"
#define BAD(name) "testdata/htdump/bad/" name ".htdump"

/* The form that other programs rely on; control bytes are never in it. */
static const char finding_form[] =
    "^[^[:cntrl:]]+:@[0-9]+: (error|warning|note): [^[:cntrl:]]+ \\[[a-z0-9]+/[a-z0-9-]+\\]$";

/* All lines of text that hold an id in brackets have the form; returns how many do. */
static size_t count_findings(const char *text, const char *path)
{
	regex_t form;
	size_t n = 0;

	cr_assert_eq(regcomp(&form, finding_form, REG_EXTENDED | REG_NOSUB), 0);
	for (const char *line = text; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
		char *const copy = strndup(line, strcspn(line, "\n"));
		cr_assert_not_null(copy);
		if (strncmp(copy, path, strlen(path)) == 0 && strstr(copy, ":@") != NULL) {
			cr_expect_eq(regexec(&form, copy, 0, NULL, 0), 0, "not in the form: %s", copy);
			n++;
		}
		free(copy);
	}
	regfree(&form);
	return n;
}

Test(cmd_report, findings_have_one_form)
{
	char **const names = list_folder("testdata/htdump/bad", ".htdump");

	cr_expect_not_null(names[0]);
	for (size_t i = 0; names[i] != NULL; i++) {
		char path[512];
		snprintf(path, sizeof path, "testdata/htdump/bad/%s", names[i]);
		struct ran r = RUN("validate", path);
		cr_expect(count_findings(r.out, path) > 0, "%s: %s", path, r.out);
		cr_expect_str_eq(r.err, "", "%s", r.err);
		ran_free(&r);
		/* as talk: the same lines but notes, on the other output */
		r = RUN("stats", path);
		cr_expect(r.status == 0 || count_findings(r.err, path) > 0, "%s: %s", path, r.err);
		ran_free(&r);
	}
	list_free(names);
}

/* Status of `validate --fail-level`, by the worst finding of a sample. */
Test(cmd_report, fail_level)
{
	static const char *const levels[] = { "note", "warning", "error", "never" };
	static const struct {
		const char *path;
		int status[4];
	} rows[] = {
		{ SAMPLE, { 0, 0, 0, 0 } },         { BAD("id-repeated"), { 1, 0, 0, 0 } },
		{ BAD("no-base"), { 1, 1, 0, 0 } }, { BAD("unknown-class"), { 1, 1, 1, 0 } },
		{ "nowhere", { 2, 2, 2, 2 } },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (size_t k = 0; k < 4; k++) {
			struct ran r = RUN("validate", "--fail-level", levels[k], rows[i].path);
			cr_expect_eq(r.status, rows[i].status[k], "%s, %s: status %d", rows[i].path,
			             levels[k], r.status);
			ran_free(&r);
		}
}

Test(cmd_report, quiet)
{
	struct ran r = RUN("validate", "--quiet", SAMPLE, BAD("no-base"), BAD("id-repeated"));

	cr_expect_eq(r.status, 0);
	cr_expect_str_eq(r.out, "");
	cr_expect_str_eq(r.err, "");
	ran_free(&r);
	r = RUN("validate", "-q", BAD("unknown-class"));
	cr_expect_eq(r.status, 1);
	cr_expect_str_eq(
	    r.out, BAD("unknown-class") ":@2165: error: class 77 was not described [htdump/unknown-class]\n");
	ran_free(&r);
	r = RUN("convert", "-q", "--to=chrome", BAD("invalid-utf8"), "/dev/null");
	cr_expect_eq(r.status, 0);
	cr_expect_str_eq(r.err, "");
	ran_free(&r);
}

static void expect_color(const char *command, const char *option, bool want)
{
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", command, tool_path(), option, NULL }, NULL, 0);

	cr_expect_eq(strstr(r.out, "\033[") != NULL, want, "%s, %s: %s", command, option, r.out);
	ran_free(&r);
}

/* `script` gives the program a terminal, where there is such a program. */
Test(cmd_report, colors)
{
	static const char plain[] = "exec \"$0\" validate --color=\"$1\" " BAD("no-base");
	static const char no_color[] = "NO_COLOR=1 exec \"$0\" validate --color=\"$1\" " BAD("no-base");
	static const char terminal[] =
	    "TERM=xterm script -qec \"$0 validate --color=$1 " BAD("no-base") "\" /dev/null";
	static const char off[] =
	    "NO_COLOR=1 TERM=xterm script -qec \"$0 validate " BAD("no-base") "\" /dev/null";
	static const char dumb[] = "TERM=dumb script -qec \"$0 validate " BAD("no-base") "\" /dev/null";

	expect_color(plain, "auto", false);
	expect_color(plain, "never", false);
	expect_color(plain, "always", true);
	expect_color(no_color, "always", true);
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", "script -qec true /dev/null", NULL }, NULL, 0);
	if (r.status == 0) {
		expect_color(terminal, "auto", true);
		expect_color(terminal, "never", false);
		expect_color(off, "", false);
		expect_color(dumb, "", false);
	}
	ran_free(&r);
}

Test(cmd_report, a_rule_is_shown_twenty_times)
{
	char *const dir = make_folder();
	char path[1024], rest[1100];
	size_t n;
	char *const p = read_whole(BAD("invalid-utf8"), &n);

	cr_assert_not_null(p);
	snprintf(path, sizeof path, "%s/many.htdump", dir);
	FILE *const f = fopen(path, "wb");
	cr_assert_not_null(f);
	for (int i = 0; i < 10; i++) /* five findings each */
		cr_assert_eq(fwrite(p, 1, n, f), n);
	cr_assert_eq(fclose(f), 0);
	struct ran r = RUN("validate", path);
	cr_expect_eq(count_findings(r.out, path), 20);
	snprintf(rest, sizeof rest, "%s: 30 more of [htdump/invalid-utf8] are not shown\n", path);
	cr_expect_not_null(strstr(r.out, rest), "%s", r.out);
	cr_expect_not_null(strstr(r.out, ", 50 warnings\n"), "%s", r.out);
	ran_free(&r);
	free(p);
	remove_folder(dir);
}

/* The bytes that cat --hex shows, put together, are the file. */
Test(cmd_report, hex_shows_every_byte)
{
	size_t n, at = 0;
	char *const p = read_whole(SAMPLE, &n);
	struct ran r = RUN("cat", "-x", SAMPLE);

	cr_assert_not_null(p);
	for (const char *line = r.out; *line != '\0'; line += strcspn(line, "\n") + 1) {
		unsigned long long offset;
		int used;
		if (sscanf(line, "    %llx %n", &offset, &used) != 1 || line[0] != ' ')
			continue;
		cr_assert_eq(offset, at);
		const char *pair = line + used;
		for (unsigned byte; pair[0] != ' ' && sscanf(pair, "%2x", &byte) == 1; pair += 3, at++) {
			cr_assert(at < n && (unsigned char)p[at] == byte, "byte %zu", at);
			if (pair - line >= used + 45) {
				at++;
				break;
			}
		}
	}
	cr_expect_eq(at, n);
	ran_free(&r);
	free(p);
}

Test(cmd_report, limits_of_rows)
{
	struct ran r = RUN("cat", "-n", "3", SAMPLE);
	size_t lines = 0;

	for (const char *s = r.out; *s != '\0'; s++)
		lines += *s == '\n';
	cr_expect_eq(lines, 3);
	ran_free(&r);
	r = RUN("stats", "--classes", "--limit", "1", SAMPLE);
	cr_expect_not_null(strstr(r.out, "\n  ... and 1 more\n"));
	cr_expect_not_null(strstr(r.out, "\n  ... and 5 more\n"));
	ran_free(&r);
	r = RUN("stats", "--limit", "0", SAMPLE);
	cr_expect_null(strstr(r.out, " more\n"));
	ran_free(&r);
}

/* Text from a trace never reaches the terminal as it is. */
Test(cmd_report, trace_text_is_escaped)
{
	static const char *const ways[] = { "cat", "stats", "info", "validate" };

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		struct ran r = RUN(ways[i], "testdata/htdump/good/strange-labels.htdump");
		cr_expect_eq(r.status, 0);
		for (size_t k = 0; k < r.out_n; k++)
			cr_assert(((unsigned char)r.out[k] >= 0x20 && r.out[k] != 0x7f) || r.out[k] == '\n',
			          "%s: byte %zu is %02x", ways[i], k, (unsigned char)r.out[k]);
		ran_free(&r);
	}
}
