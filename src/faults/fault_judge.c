#include "faults/fault_judge.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

static bool
same(const struct fault_bytes *a, const struct fault_bytes *b)
{
	return a->n == b->n && memcmp(a->p, b->p, a->n) == 0;
}

/* ---- the message ---- */

static bool
has_reason(const char *line, const struct fault_plan *plan)
{
	/* the second is what pthread_create() says when its own memory fails */
	static const char *const memory[] = { "memory", "Resource temporarily unavailable", NULL };

	for (const char *const *w = memory; plan->error == ENOMEM && *w != NULL; w++)
		if (strstr(line, *w) != NULL)
			return true;
	return plan->error > 0 && strstr(line, strerror(plan->error)) != NULL;
}

static bool
has_path(const char *line, const struct fault_case *c)
{
	for (int i = 1; i < c->argc; i++) /* of a policy, say */
		if (strchr(c->argv[i], '/') != NULL && strstr(line, c->argv[i]) != NULL)
			return true;
	return (c->input != NULL && strstr(line, c->input) != NULL) ||
	       (c->output != NULL && strstr(line, c->output) != NULL) ||
	       strstr(line, "standard output") != NULL || strstr(line, "standard input") != NULL ||
	       strstr(line, "the temporary file for") != NULL; /* has no name: its folder is told */
}

/* A line that says what failed, of whom. */
static bool
has_message(char *text, const struct fault_case *c, const struct fault_plan *plan)
{
	const bool json = text[0] == '{'; /* path and reason stand on lines of their own */

	for (char *line = text, *end; *line != '\0'; line = end) {
		end = json ? NULL : strchr(line, '\n');
		if (end == NULL)
			end = line + strlen(line);
		const char kept = *end;
		*end = '\0';
		const bool found = has_path(line, c) && has_reason(line, plan);
		*end = kept;
		end += kept != '\0';
		if (found)
			return true;
	}
	return false;
}

/* ---- the two ways to end ---- */

static const char *
judge_failed(const struct fault_case *c, const struct fault_plan *plan, const struct fault_outcome *with)
{
	if (with->has_file)
		return "it failed, and there is an output";
	if (plan->muted)
		return NULL;
	if (with->err.n == 0 && with->out.n == 0)
		return "it failed without a word";
	return has_message(with->err.p, c, plan) || has_message(with->out.p, c, plan)
	           ? NULL
	           : "no line of the message has path and reason";
}

static const char *
judge_done(const struct fault_case *c, const struct fault_plan *plan, const struct fault_outcome *without,
           const struct fault_outcome *with)
{
	if (!same(&with->out, &without->out))
		return "standard output is another one";
	if (with->has_file != without->has_file)
		return "the output is missing";
	if (!same(&with->file, &without->file))
		return "the output is another one";
	if (!plan->muted && !same(&with->err, &without->err))
		return "the messages are other ones";
	return NULL;
}

const char *
fault_judge(const struct fault_case *c, const struct fault_plan *plan, const struct fault_outcome *without,
            const struct fault_outcome *with)
{
	if (with->hung)
		return "it hung";
	if (!WIFEXITED(with->status))
		return "a signal ended it";
	/* What cannot be removed stays. */
	if (with->stray[0] != '\0' && plan->call != FAULT_unlink && plan->call != FAULT_unlinkat)
		return "a temporary file is left";
	if (with->status == without->status)
		return judge_done(c, plan, without, with);
	if (WEXITSTATUS(with->status) != 2)
		return "the status is neither 2 nor what it is without the fault";
	if (plan->error == FAULT_SHORT ||
	    (fault_errors[plan->call].harmless == plan->error && plan->error != 0))
		return "a call that is to be made again was taken for a failure";
	return judge_failed(c, plan, with);
}
