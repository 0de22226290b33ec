#include "cmd/convert_output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "output/folder_list.h"

bool
convert_output_open(struct convert_output *o, const char *path, enum writer_shape shape, unsigned flags,
                    char *why, size_t n)
{
	*o = (struct convert_output){ .file = NULL };
	if (shape == WRITER_FOLDER)
		o->folder = output_folder_open(path, flags, why, n);
	else
		o->file = output_open(path, flags, why, n);
	return convert_output_is_open(o);
}

bool
convert_output_put(void *ctx, const char *file, const char *p, size_t n)
{
	struct convert_output *const o = ctx;

	if (o->folder == NULL)
		return output_write(o->file, p, n);
	return (file == NULL && n == 0) || output_folder_put(o->folder, file != NULL ? file : "", p, n);
}

bool
convert_output_finish(struct convert_output *o)
{
	return o->folder != NULL ? output_folder_finish(o->folder) : output_finish(o->file);
}

bool
convert_output_check(struct convert_output *o)
{
	return o->folder != NULL ? output_folder_check(o->folder) : output_check(o->file);
}

const char *
convert_output_error(const struct convert_output *o)
{
	return o->folder != NULL ? output_folder_error(o->folder) : output_error(o->file);
}

bool
convert_output_pipe_closed(const struct convert_output *o)
{
	return o->file != NULL && output_pipe_closed(o->file);
}

bool
convert_output_commit(struct convert_output *o, char *why, size_t n)
{
	const struct convert_output was = *o;

	*o = (struct convert_output){ .file = NULL };
	return was.folder != NULL ? output_folder_commit(was.folder, why, n)
	                          : output_commit(was.file, why, n);
}

void
convert_output_discard(struct convert_output *o)
{
	output_folder_discard(o->folder);
	output_discard(o->file);
	*o = (struct convert_output){ .file = NULL };
}

bool
convert_output_exists(const char *path, enum writer_shape shape, int *error)
{
	struct stat st;

	*error = 0;
	if (strcmp(path, "-") == 0)
		return false;
	if (stat(path, &st) != 0) {
		*error = errno == ENOENT || errno == ENOTDIR ? 0 : errno;
		return false;
	}
	return shape == WRITER_FOLDER ? S_ISDIR(st.st_mode) && folder_is_complete(path, error)
	                              : S_ISREG(st.st_mode);
}
