#define _XOPEN_SOURCE 700 /* realpath */

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "cmd/test/docs_test_util.h"
#include "test/support/strength.h"

/*
 * The files for CI services: action.yml, the job of GitLab, and the blocks of docs/ci.md.
 * packaging/run_steps.py runs their shell parts as the services do; it needs Debian's python3-yaml.
 */

/* Returns false, and prints why, if the steps cannot be run here. */
static bool can_run_steps(void)
{
	struct ran r =
	    run_program((const char *const[]){ "/usr/bin/python3", "-c", "import yaml", NULL }, NULL, 0);
	const bool can = r.status == 0;

	if (!can)
		fprintf(stderr, "python3-yaml is not installed: CI files are not tried\n");
	ran_free(&r);
	return can;
}

/* Runs a CI file in the folder of the place; $1.. are further operands. */
static struct ran run_steps(const struct place *p, const char *file, const char *a, const char *b,
                            const char *c, const char *d)
{
	static const char script[] =
	    "PATH=\"$1:$PATH\" GITHUB_STEP_SUMMARY=\"$2/summary.md\"; export PATH GITHUB_STEP_SUMMARY\n"
	    "dir=$2 file=$3; shift 3; exec 2>&1 /usr/bin/python3 packaging/run_steps.py \"$file\" "
	    "--workspace \"$dir\" "
	    "\"$@\"\n";

	return run_program(
	    (const char *const[]){ "sh", "-c", script, "sh", p->bin, p->dir, file, a, b, c, d, NULL }, NULL,
	    0);
}

static void expect_run(struct ran r, const char *what, int status, const char *words)
{
	cr_expect_eq(r.status, status, "%s: %d: %s", what, r.status, r.out);
	cr_expect_not_null(strstr(r.out, words), "%s: %s is not in: %s", what, words, r.out);
	ran_free(&r);
}

/* A place with the folder "traces": a sound trace, a cut one in "traces/a b". */
static struct place place_with_traces(void)
{
	const struct place p = place_make(tool_path());
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c",
	                                       "cd \"$0\" && mkdir -p 'traces/a b' && cd traces && "
	                                       "cp ../testdata/htdump/good/overlapping.htdump good.htdump && "
	                                       "cp ../testdata/htdump/bad/cut-record.htdump 'a b/cut.htdump'",
	                                       p.dir, NULL },
	                NULL, 0);

	cr_assert_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
	return p;
}

static void discard_place(struct place *p)
{
	struct ran r = run_program((const char *const[]){ "rm", "-rf", p->dir, NULL }, NULL, 0);

	ran_free(&r);
	free(p->dir);
	remove_folder(p->bin);
}

/* The text of a file of the place, to be freed. */
static char *place_text(const struct place *p, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", p->dir, name);
	return doc_text(path);
}

#define ACTION(...) run_steps(&p, "action.yml", "--input", __VA_ARGS__)

Test(ci, the_action)
{
	if (!can_run_steps())
		return;
	struct place p = place_with_traces();
	expect_run(ACTION("paths=traces", "--input", "sarif=found.sarif"), "a cut trace", 1,
	           "\noutput status=1\noutput sarif=found.sarif\noutput page=\njob: red\n");
	char *text = place_text(&p, "found.sarif");
	cr_expect_not_null(strstr(text, "\"ruleId\":\"htdump/cut-record\""), "%s", text);
	free(text);
	text = place_text(&p, "summary.md");
	cr_expect_not_null(strstr(text, "htdump/cut-record"), "%s", text);
	free(text);
	expect_run(ACTION("paths=traces/**/*.htdump", NULL, NULL), "all below", 1,
	           "::error file=traces/a b/cut.htdump,line=1,title=htdump/cut-record::");
	expect_run(ACTION("paths=traces/*.htdump", NULL, NULL), "the sound one", 0,
	           "\noutput status=0\noutput sarif=\noutput page=\njob: green\n");
	expect_run(ACTION("paths=traces/a b/c*.htdump\n\ntraces/good.htdump\n", NULL, NULL), "several lines",
	           1, "traces/good.htdump: valid htdump");
	expect_run(ACTION("paths=traces", "--input", "fail-level=never"), "a fail level", 0, "job: green");
	expect_run(ACTION("paths=traces", "--input", "fail-level=$(touch stolen)"), "a foreign level", 1,
	           "\noutput status=3\n");
	expect_run(ACTION("paths=$(touch stolen)", NULL, NULL), "an injection", 1, "\noutput status=2\n");
	expect_run(ACTION("paths=\n", NULL, NULL), "nothing", 1,
	           "::error::the input \"paths\" names no trace");
	expect_run(ACTION("path=x", NULL, NULL), "a foreign input", 2, "no input path");
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/stolen", p.dir);
	cr_expect_neq(access(path, F_OK), 0, "text of an input was run");
	discard_place(&p);
}

/* The input `policy` of the action becomes --config. */
Test(ci, the_policy_of_the_action)
{
	struct ran help = run_tool((const char *const[]){ "validate", "--help", NULL }, NULL, 0);
	const bool has = strstr(help.out, "--config") != NULL;

	ran_free(&help);
	if (!has || !can_run_steps())
		return;
	struct place p = place_with_traces();
	expect_run(ACTION("paths=traces", "--input", "policy=nowhere.yaml"), "no policy", 1, "nowhere.yaml");
	discard_place(&p);
}

Test(ci, the_job_of_gitlab)
{
	if (!can_run_steps())
		return;
	struct place p = place_with_traces();
	expect_run(run_steps(&p, "ci/gitlab-ci.yml", NULL, NULL, NULL, NULL), "a cut trace", 1, "job: red");
	char *text = place_text(&p, "gl-code-quality-report.json");
	cr_expect_not_null(strstr(text, "\"check_name\":\"htdump/cut-record\""), "%s", text);
	free(text);
	expect_run(run_steps(&p, "ci/gitlab-ci.yml", "--variable", "TRACETOOL_FAIL_LEVEL=never", NULL, NULL),
	           "a fail level", 0, "artifact junit: tracetool-junit.xml\njob: green");
	expect_run(run_steps(&p, "ci/gitlab-ci.yml", "--variable",
	                     "TRACETOOL_PATHS=traces/good.htdump traces/good.htdump", NULL, NULL),
	           "two names", 0, "job: green");
	discard_place(&p);
}

Test(ci, the_scripts_of_the_action_are_linted)
{
	static const char script[] = "command -v shellcheck >/dev/null || exit 77\n"
	                             "for f in action.yml ci/gitlab-ci.yml; do\n"
	                             "	/usr/bin/python3 packaging/run_steps.py $f --scripts \"$0\" || exit\n"
	                             "	shellcheck \"$0\"/*.sh || exit\n"
	                             "	rm \"$0\"/*.sh\n"
	                             "done\n"
	                             "shellcheck packaging/*.sh\n";
	char *const dir = make_folder();

	if (can_run_steps()) {
		struct ran r = run_program((const char *const[]){ "sh", "-c", script, dir, NULL }, NULL, 0);
		if (r.status == 77)
			fprintf(stderr, "shellcheck is not installed: scripts are not linted\n");
		else
			cr_expect_eq(r.status, 0, "%s%s", r.out, r.err);
		ran_free(&r);
	}
	remove_folder(dir);
}

/* ---- docs/ci.md ---- */

/* A block of YAML begins with its name as a comment.  Those of services are run;
 * the name is kept in `ran`. */
static size_t run_yaml(const struct place *p, const char *block, int status)
{
	char name[256] = "", path[PATH_MAX];

	cr_assert_eq(sscanf(block, "# %255s", name), 1, "a block without a name: %.60s", block);
	snprintf(path, sizeof path, "%s/%s", p->dir, name);
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", "mkdir -p \"${0%/*}\"", path, NULL }, NULL, 0);
	ran_free(&r);
	cr_assert(write_whole(path, block, strlen(block)), "cannot write %s", path);
	if (strncmp(name, ".git", 4) != 0)
		return 0;
	expect_run(run_steps(p, path, NULL, NULL, NULL, NULL), name, status,
	           status == 0 ? "job: green" : "job: red");
	return 1;
}

/* Runs all blocks of YAML; returns their number. */
static size_t run_services(const struct place *p, const char *text, int status)
{
	const char *at = text;
	char *block;
	size_t n = 0;

	while ((block = markdown_block(&at, "yaml")) != NULL) {
		n += run_yaml(p, block, status);
		free(block);
	}
	return n;
}

/* The jobs fail while the trace is broken, after the first block, and pass after the last one. */
Test(ci, docs_ci)
{
	char *const text = doc_text("docs/ci.md");
	struct place p = place_make(tool_path());
	const char *at = text;
	char *block;
	const bool can = can_run_steps();
	size_t n = 0;

	while ((block = markdown_block(&at, "console")) != NULL) {
		run_examples(&p, "docs/ci.md", block);
		free(block);
		if (n++ == 0 && can)
			cr_expect_eq(run_services(&p, text, 1), 3);
	}
	cr_expect_eq(n, 5);
	if (can)
		cr_expect_eq(run_services(&p, text, 0), 3);
	discard_place(&p);
	free(text);
}

/* ---- packages ---- */

/* Tests of packages that take seconds; make check-package has the others. */

/* The tarball has the files of git.  A second one is equal, also if it is made from the contents of the
 * first. */
static const char twice[] =
    "git rev-parse -q --verify HEAD >/dev/null 2>&1 || exit 77\n"
    "exec 2>&1\n"
    "a=$(sh packaging/dist.sh \"$0/a\") && b=$(sh packaging/dist.sh \"$0/b\") && cmp \"$a\" \"$b\" || exit\n"
    "tar -C \"$0\" -xf \"$a\" && cd \"$0\"/tracetool-* && c=$(sh packaging/dist.sh \"$0/c\") && cmp \"$a\" "
    "\"$c\" || exit\n"
    "find . -type f | sed 's|^./||' | LC_ALL=C sort > \"$0/held\"\n"
    "cd \"$OLDPWD\" && git ls-tree -r --name-only -z HEAD | tr '\\0' '\\n' | LC_ALL=C sort > \"$0/known\" || "
    "exit\n"
    "diff \"$0/known\" \"$0/held\"\n";

Test(package, the_tarball_is_the_same_each_time)
{
	if (strength(0, 1, 1) == 0)
		cr_skip_test("the tarball is made with STRENGTH=10");
	char *const dir = make_folder();
	struct ran r = run_program((const char *const[]){ "sh", "-c", twice, dir, NULL }, NULL, 0);

	if (r.status == 77)
		fprintf(stderr, "this is no git repository: the tarball is not tried\n");
	else
		cr_expect_eq(r.status, 0, "%d: %s", r.status, r.out);
	ran_free(&r);
	r = run_program((const char *const[]){ "rm", "-rf", dir, NULL }, NULL, 0);
	ran_free(&r);
	free(dir);
}

/* The version is stated in three further places. */
Test(package, versions_agree)
{
	static const char script[] =
	    "v=$(\"$0\" --version) && v=${v#tracetool }\n"
	    "head -n 1 debian/changelog | grep -qF \"tracetool ($v-\" || echo debian/changelog\n"
	    "! grep -oE 'tracetool@v[0-9.]+' docs/ci.md | grep -vxF \"tracetool@v$v\" || echo docs/ci.md\n";
	struct ran r = run_program((const char *const[]){ "sh", "-c", script, tool_path(), NULL }, NULL, 0);

	cr_expect_str_eq(r.out, "", "another version stands in: %s", r.out);
	ran_free(&r);
}
