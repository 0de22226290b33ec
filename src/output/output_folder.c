#include "output/output_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/rename.h"
#include "output/folder_list.h"
#include "output/folder_name.h"
#include "output/folder_publish.h"
#include "output/output.h"
#include "output/output_link.h"
#include "output/text.h"

struct output_folder {
	bool force, finished;
	char *target; /* where it goes, links followed, no slash at its end */
	struct output_failure failure;
	struct output_temp temp;
	struct folder_files files;
	unsigned long long bytes;
};

static void
release(struct output_folder *o)
{
	folder_files_free(&o->files);
	output_temp_remove(&o->temp);
	output_failure_free(&o->failure);
	free(o->target);
	free(o);
}

/* ---- opening ---- */

/* Without the slashes at its end. */
static char *
name_of(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return strndup(path, n);
}

/* A name that a rename can give: not the root, and no other word for a folder that has its own name. */
static bool
is_name(const char *path)
{
	const char *const slash = strrchr(path, '/'), *const last = slash != NULL ? slash + 1 : path;

	return last[0] != '\0' && strcmp(last, ".") != 0 && strcmp(last, "..") != 0;
}

static bool
find_target(struct output_folder *o, const char *path)
{
	char *const name = name_of(path);

	if (name == NULL)
		return output_failure_set(&o->failure, ENOMEM);
	if (name[0] != '\0')
		o->target = output_follow_links(name);
	const int why = name[0] == '\0' ? ENOENT : errno;
	free(name);
	if (o->target == NULL)
		return output_failure_set(&o->failure, why);
	size_t n = strlen(o->target);
	while (n > 1 && o->target[n - 1] == '/') /* of a link */
		o->target[--n] = '\0';
	return is_name(o->target) ||
	       output_failure_because(&o->failure, EISDIR, "is no name that a new directory can be given");
}

static bool
open_temp(struct output_folder *o)
{
	if (output_temp_create_folder(&o->temp, o->target))
		return true;
	if (errno == ENOENT)
		return output_failure_because(&o->failure, ENOENT, "its directory does not exist");
	return output_failure_set(&o->failure, errno);
}

struct output_folder *
output_folder_open(const char *path, unsigned flags, char *why, size_t n)
{
	struct output_folder *const o = calloc(1, sizeof *o);

	if (o == NULL) {
		output_failure_no_memory(path, why, n);
		return NULL;
	}
	o->force = (flags & OUTPUT_FORCE) != 0;
	folder_files_init(&o->files, &o->temp);
	if (!output_failure_init(&o->failure, path)) {
		output_failure_no_memory(path, why, n);
		release(o);
		return NULL;
	}
	if (find_target(o, path) && folder_may_replace(o->target, o->force, &o->failure) && open_temp(o))
		return o;
	output_failure_tell(&o->failure, why, n);
	release(o);
	return NULL;
}

/* ---- writing ---- */

static bool
put_failed(struct output_folder *o, int why)
{
	const uint32_t file = o->files.failed_file;

	if (file != UINT32_MAX)
		return output_failure_in(&o->failure, o->files.files[file].name, why, NULL);
	return output_failure_set(&o->failure, why);
}

static bool
wrong_name(struct output_folder *o, const char *wrong)
{
	char text[64];

	(void)snprintf(text, sizeof text, "the name of a file in it %s", wrong);
	return output_failure_because(&o->failure, EINVAL, text);
}

bool
output_folder_put(struct output_folder *o, const char *file, const char *p, size_t n)
{
	if (o->failure.error != 0 || o->finished)
		return false;
	const char *const wrong = folder_name_wrong(file, strlen(file));
	if (wrong != NULL)
		return wrong_name(o, wrong);
	o->bytes += n;
	const int why = folder_files_put(&o->files, file, p, n);
	return why == 0 || put_failed(o, why);
}

const char *
output_folder_error(const struct output_folder *o)
{
	return output_failure_text(&o->failure);
}

const char *
output_folder_written(const struct output_folder *o)
{
	return o->temp.path;
}

unsigned long long
output_folder_bytes(const struct output_folder *o)
{
	return o->bytes;
}

/* ---- the end ---- */

/* The list is a file like the others, and does not name itself. */
static int
put_list(struct output_folder *o)
{
	struct text list = { .p = NULL };

	folder_list_put(&list, o->files.files, o->files.n);
	const int why =
	    list.failed ? ENOMEM : folder_files_put(&o->files, OUTPUT_FOLDER_LIST, list.p, list.n);
	text_free(&list);
	return why;
}

bool
output_folder_finish(struct output_folder *o)
{
	if (o->failure.error != 0 || o->finished)
		return o->failure.error == 0;
	o->finished = true;
	int why = put_list(o);
	if (why == 0)
		why = folder_files_close(&o->files);
	return why == 0 || put_failed(o, why);
}

bool
output_folder_check(struct output_folder *o)
{
	int why = o->failure.error == 0 ? folder_files_check(&o->files) : 0;

	if (why == EBADMSG)
		return output_failure_in(&o->failure, o->files.files[o->files.failed_file].name, EIO,
		                         BYTE_SUM_DIFFERS);
	return o->failure.error == 0 && (why == 0 || put_failed(o, why));
}

bool
output_folder_commit(struct output_folder *o, char *why, size_t n)
{
	const bool done =
	    output_folder_finish(o) && folder_publish(&o->temp, o->force, rename_exchange, &o->failure);

	if (!done)
		output_failure_tell(&o->failure, why, n);
	release(o);
	return done;
}

void
output_folder_discard(struct output_folder *o)
{
	if (o != NULL)
		release(o);
}
