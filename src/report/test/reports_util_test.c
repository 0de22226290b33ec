#include "report/test/reports_util_test.h"

#include <stdio.h>
#include <string.h>

const char *const report_names[REPORT_KINDS] = { "text",  "gcc",    "json",     "ndjson", "sarif",
	                                         "junit", "github", "markdown", "gitlab" };

static const char faults[] = "testdata/htdump/bad/cut-record.htdump testdata/htdump/bad/invalid-utf8.htdump "
                             "testdata/htdump/bad/no-base.htdump testdata/dftracer/bad/array-on-a-line.pfw "
                             "testdata/dftracer/bad/blank-lines.pfw testdata/htdump/good/wire-little.htdump";

size_t count_word(const char *text, const char *word)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, word)) != NULL; p += strlen(word))
		n++;
	return n;
}

struct ran validate_sh(const char *environment, const char *args)
{
	char command[8192];

	snprintf(command, sizeof command,
	         "unset GITHUB_ACTIONS GITHUB_WORKSPACE CI_PROJECT_DIR; FAULTS='%s'; exec env %s \"$0\" "
	         "validate %s "
	         "2>&1",
	         faults, environment, args);
	return run_program((const char *const[]){ "sh", "-c", command, tool_path(), NULL }, NULL, 0);
}
