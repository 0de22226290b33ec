/*
 * Judges a run with a fault.  It must either succeed with the same outputs and messages as without the fault,
 * or end with status 2, a message with path and reason, and the files that existed before.
 */

#include "test/faults/faults.h"
#include "base/compiler.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

struct judge {
	const struct fault_case *c;
	const struct fault_plan *plan;
	const struct fault_tree *before;
	const struct fault_outcome *without, *with;
	char *why;
	size_t n;
};

PRINTF(2, 3) static bool wrong(const struct judge *j, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(j->why, j->n, fmt, ap);
	va_end(ap);
	return false;
}

/* ---- the message ---- */

static bool has_reason(const char *line, const struct fault_plan *plan)
{
	if (plan->error == ENOMEM && strstr(line, "memory") != NULL)
		return true;
	return plan->error > 0 && strstr(line, strerror(plan->error)) != NULL;
}

/* Returns true if the line has a path of the command line (an argument, or after FORMAT=), or of an output.
 * Reports can have absolute paths of inputs. */
static bool has_path(const char *line, const struct judge *j)
{
	const struct fault_tree *const made = &j->without->made;

	for (int i = 1; i < j->c->argc; i++) {
		const char *const equals = strchr(j->c->argv[i], '=');
		const char *path = equals != NULL ? equals + 1 : j->c->argv[i];
		path += strncmp(path, "../", 3) == 0 ? 3 : 0;
		const bool names = strchr(path, '/') != NULL || strcmp(path, "-") == 0;
		if (names && strstr(line, path) != NULL)
			return true;
	}
	for (unsigned i = 0; i < made->n; i++) {
		const char *const at = strstr(line, made->list[i].path);
		if (at > line && at[-1] == '/')
			return true;
	}
	return strstr(line, "standard output") != NULL || strstr(line, "standard input") != NULL ||
	       strstr(line, "the current directory") != NULL ||
	       strstr(line, "the temporary file for") != NULL; /* it has no name */
}

/* Whether a line has path and reason. */
static bool has_message(char *text, const struct judge *j)
{
	const bool json = text[0] == '{'; /* path and reason are on separate lines */

	for (char *line = text, *end; *line != '\0'; line = end) {
		end = json ? NULL : strchr(line, '\n');
		if (end == NULL)
			end = line + strlen(line);
		const char kept = *end;
		*end = '\0';
		const bool found = has_path(line, j) && has_reason(line, j->plan);
		*end = kept;
		end += kept != '\0';
		if (found)
			return true;
	}
	return false;
}

/* Whether a report in a file has path and reason, on any lines. */
static bool has_report(const struct judge *j)
{
	const struct fault_tree *const made = &j->with->made;
	char text[65536];

	for (unsigned i = 0; j->c->only_reads && i < made->n; i++) {
		const struct fault_entry *const e = &made->list[i];
		snprintf(text, sizeof text, "%.*s", e->p != NULL ? (int)e->n : 0, e->p != NULL ? e->p : "");
		if (has_path(text, j) && has_reason(text, j->plan))
			return true;
	}
	return false;
}

/* ---- the files ---- */

/* Returns true for calls that remove files: if they fail, files remain. */
static bool removes(enum fault_call call)
{
	return call == FAULT_unlink || call == FAULT_unlinkat || call == FAULT_rmdir;
}

/* Returns a temporary file: an entry that is neither old nor an output.  NULL: none. */
static const char *find_stray(const struct judge *j)
{
	const struct fault_tree *const made = &j->with->made;

	for (unsigned i = 0; i < made->n; i++)
		if (fault_tree_find(j->before, made->list[i].path) == NULL &&
		    fault_tree_find(&j->without->made, made->list[i].path) == NULL)
			return made->list[i].path;
	return NULL;
}

/* Returns an old entry or an output that differs from the expected one, or NULL. */
static const char *find_other(const struct judge *j, const struct fault_tree *expected)
{
	const struct fault_tree *const trees[] = { j->before, &j->without->made };

	for (int k = 0; k < 2; k++)
		for (unsigned i = 0; i < trees[k]->n; i++) {
			const char *const path = trees[k]->list[i].path;
			if (!fault_entries_equal(fault_tree_find(&j->with->made, path),
			                         fault_tree_find(expected, path)))
				return path;
		}
	return NULL;
}

/* ---- the two allowed ends: failure and success ---- */

static bool judge_failed(const struct judge *j)
{
	const struct fault_outcome *const with = j->with;
	const char *const other = find_other(j, j->before);

	if (other != NULL && !j->c->only_reads &&
	    !(removes(j->plan->call) && find_other(j, &j->without->made) == NULL))
		return wrong(j, "it failed, and %s is %s", other,
		             fault_tree_find(&with->made, other) == NULL ? "gone" : "new");
	if (j->plan->muted)
		return true;
	if (has_message(with->err.p, j) || has_message(with->out.p, j) || has_report(j))
		return true;
	return with->err.n == 0 && with->out.n == 0 ? wrong(j, "it failed without a word")
	                                            : wrong(j, "no line of the message has path and reason");
}

static bool bytes_equal(const struct fault_bytes *a, const struct fault_bytes *b)
{
	return a->n == b->n && memcmp(a->p, b->p, a->n) == 0;
}

static bool judge_done(const struct judge *j)
{
	const struct fault_outcome *const without = j->without, *const with = j->with;
	const char *const other = find_other(j, &without->made);

	if (!bytes_equal(&with->out, &without->out))
		return wrong(j, "standard output is another one");
	if (other != NULL)
		return wrong(j, "%s is %s", other,
		             fault_tree_find(&with->made, other) == NULL ? "missing" : "another one");
	if (!j->plan->muted && !bytes_equal(&with->err, &without->err))
		return wrong(j, "the messages are other ones");
	return true;
}

bool fault_judge(const struct fault_case *c, const struct fault_plan *plan, const struct fault_tree *before,
                 const struct fault_outcome *without, const struct fault_outcome *with, char *why, size_t n)
{
	const struct judge j = { c, plan, before, without, with, why, n };
	const char *const stray = find_stray(&j);

	if (with->hung)
		return wrong(&j, "it hung");
	if (!WIFEXITED(with->status))
		return wrong(&j, "a signal ended it");
	if (stray != NULL && !removes(plan->call))
		return wrong(&j, "a temporary file is left: %s", stray);
	if (with->status == without->status)
		return judge_done(&j);
	if (WEXITSTATUS(with->status) != 2)
		return wrong(&j, "the status is neither 2 nor what it is without the fault");
	if (plan->error == FAULT_SHORT ||
	    (fault_errors[plan->call].harmless == plan->error && plan->error != 0))
		return wrong(&j, "a call that is to be made again was taken for a failure");
	return judge_failed(&j);
}
