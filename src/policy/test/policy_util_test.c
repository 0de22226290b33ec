#define _XOPEN_SOURCE 700 /* realpath() */

#include "policy/test/policy_util_test.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char policy_trace[] =
    "{\"traceEvents\":[\n"
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"args\":{\"name\":\"server\"}},\n"
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":7,\"tid\":1,\"args\":{\"name\":\"main\"}},\n"
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":7,\"tid\":2,\"args\":{\"name\":\"worker 2\"}},\n"
    "{\"ph\":\"X\",\"name\":\"request\",\"cat\":\"http\",\"pid\":7,\"tid\":1,\"ts\":1000,\"dur\":500},\n"
    "{\"ph\":\"X\",\"name\":\"request\",\"cat\":\"http\",\"pid\":7,\"tid\":2,\"ts\":1100,\"dur\":900},\n"
    "{\"ph\":\"X\",\"name\":\"parse\",\"cat\":\"http\",\"pid\":7,\"tid\":1,\"ts\":1100,\"dur\":100},\n"
    "{\"ph\":\"i\",\"name\":\"tick\",\"cat\":\"time\",\"pid\":7,\"tid\":1,\"ts\":1200,\"s\":\"t\"},\n"
    "{\"ph\":\"B\",\"name\":\"open\",\"cat\":\"io\",\"pid\":7,\"tid\":2,\"ts\":2500},\n"
    "{\"ph\":\"C\",\"name\":\"load\",\"pid\":7,\"tid\":1,\"ts\":2600,\"args\":{\"v\":1}}\n"
    "],\"otherData\":{\"version\":\"1.2\",\"host\":\"a\"}}\n";

void policy_put(const char *dir, const char *name, const char *text)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	for (char *slash = path + strlen(dir) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
	cr_assert(write_whole(path, text, strlen(text)), "%s", path);
}

char *policy_folder(void)
{
	char *const dir = make_folder();

	policy_put(dir, "a.json", policy_trace);
	policy_put(dir, ".git/HEAD", "");
	return dir;
}

struct ran policy_run(const char *dir, const char *args)
{
	char command[8192], *const program = realpath(tool_path(), NULL);

	cr_assert_not_null(program);
	snprintf(command, sizeof command,
	         "unset GITHUB_ACTIONS GITHUB_WORKSPACE CI_PROJECT_DIR; OLDPWD=$PWD; cd \"$1\"; exec \"$0\" "
	         "validate %s 2>&1",
	         args);
	const struct ran r =
	    run_program((const char *const[]){ "sh", "-c", command, program, dir, NULL }, NULL, 0);
	free(program);
	return r;
}

void policy_expect(const char *dir, const char *args, int status, const char *has, const char *lacks)
{
	struct ran r = policy_run(dir, args);

	cr_expect_eq(r.status, status, "%s: status %d, not %d: %s", args, r.status, status, r.out);
	if (has != NULL)
		cr_expect_not_null(strstr(r.out, has), "%s: lacks %s: %s", args, has, r.out);
	if (lacks != NULL)
		cr_expect_null(strstr(r.out, lacks), "%s: has %s: %s", args, lacks, r.out);
	ran_free(&r);
}
