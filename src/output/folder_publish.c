#include "output/folder_publish.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/rename.h"
#include "output/folder_old.h"
#include "output/text_start.h"
#include "output/text_visible.h"

static bool
refuse(struct output_failure *failure, struct folder_wrong wrong)
{
	return wrong.error != 0 ? output_failure_set(failure, wrong.error)
	                        : output_failure_because(failure, EEXIST, wrong.text);
}

bool
folder_may_replace(const char *path, bool replace, struct output_failure *failure)
{
	struct stat st;
	struct folder_old old;

	if (lstat(path, &st) != 0)
		return errno == ENOENT || output_failure_set(failure, errno);
	if (!S_ISDIR(st.st_mode))
		return output_failure_because(failure, ENOTDIR, "exists and is not a directory");
	if (!replace)
		return output_failure_because(failure, EEXIST, "already exists (use -f to replace it)");
	const struct folder_wrong wrong = folder_old_read(&old, path);
	folder_old_free(&old);
	return (wrong.text == NULL && wrong.error == 0) || refuse(failure, wrong);
}

/* Where the system cannot exchange: the old one steps aside to a name that is new, and back if the new one
 * does not get the name.  `aside` is then the path of the old one. */
static int
step_aside(const struct output_temp *temp, const char *aside)
{
	int why = rename_new(temp->target, aside);

	if (why != 0)
		return why;
	why = rename_new(temp->path, temp->target);
	if (why != 0)
		(void)rename_new(aside, temp->target);
	return why;
}

/* The old one is at `at` now: removes it.  What came into it since it was looked at stays, and all goes back.
 */
static bool
remove_old(struct output_temp *temp, const char *at, bool exchanged, folder_exchange *exchange,
           struct output_failure *failure)
{
	struct folder_old old;
	char reason[128], room[512];
	struct text text = text_start(room, sizeof room);
	const struct folder_wrong wrong = folder_old_read(&old, at);
	const bool is_old = wrong.text == NULL && wrong.error == 0;
	int why = 0;

	if (is_old) {
		why = folder_old_remove(&old, at);
	} else if (exchanged) {
		(void)exchange(temp->path, temp->target);
	} else if (rename_new(temp->target, temp->path) == 0) {
		(void)rename_new(at, temp->target);
	}
	folder_old_free(&old);
	if (!is_old)
		return refuse(failure, wrong);
	if (why != 0) {
		if (strerror_r(why, reason, sizeof reason) != 0)
			(void)snprintf(reason, sizeof reason, "error %d", why);
		text_str(&text, "is written, but the old one could not be removed from ");
		text_visible(&text, slice_str(strrchr(at, '/') != NULL ? strrchr(at, '/') + 1 : at), 0);
		text_printf(&text, ": %s", reason);
		text_char(&text, '\0');
		(void)output_failure_because(failure, why, text.failed ? reason : text.p);
		text_free(&text);
	}
	output_temp_forget(temp); /* `at` may be its path */
	return why == 0;
}

static bool
replace_old(struct output_temp *temp, folder_exchange *exchange, struct output_failure *failure)
{
	char *const aside = strdup(temp->path);

	if (aside == NULL)
		return output_failure_set(failure, ENOMEM);
	aside[strlen(aside) - 1] = '-'; /* random names have none */
	int why = exchange(temp->path, temp->target);
	const bool exchanged = why == 0;
	if (why == EINVAL || why == ENOSYS)
		why = step_aside(temp, aside);
	const bool done = why == 0
	                      ? remove_old(temp, exchanged ? temp->path : aside, exchanged, exchange, failure)
	                      : output_failure_set(failure, why);
	free(aside);
	return done;
}

static bool
publish(struct output_temp *temp, bool replace, folder_exchange *exchange, struct output_failure *failure)
{
	struct stat st;

	if (!folder_may_replace(temp->target, replace, failure))
		return false;
	if (lstat(temp->target, &st) == 0) {
		(void)chmod(temp->path, st.st_mode & 0777);
		return replace_old(temp, exchange, failure);
	}
	if (errno != ENOENT)
		return output_failure_set(failure, errno);
	const int why = rename_new(temp->path, temp->target);
	if (why == EEXIST)
		return output_failure_because(failure, why, "appeared while it was written");
	if (why != 0)
		return output_failure_set(failure, why);
	output_temp_forget(temp);
	return true;
}

bool
folder_publish(struct output_temp *temp, bool replace, folder_exchange *exchange,
               struct output_failure *failure)
{
	struct output_register_hold hold;
	const bool done = output_register_begin(&hold) ? publish(temp, replace, exchange, failure)
	                                               : output_failure_set(failure, EINTR);

	output_register_end(&hold);
	return done;
}
