/* The files of a run: several passes must see the same file.  A row is found by a keyed hash of the path
 * alone, as collisions of 64 bits are not expected. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "input/private.h"

/* ---- comparing ---- */

struct input_id input_id_of(const struct stat *st)
{
	return (struct input_id){ st->st_dev, st->st_ino, (uint64_t)st->st_size, st->st_mtim };
}

enum input_fault input_id_compare(const struct input_id *was, const struct stat *now, bool again)
{
	const bool touched =
	    now->st_mtim.tv_sec != was->modified.tv_sec || now->st_mtim.tv_nsec != was->modified.tv_nsec;

	if (now->st_dev != was->device || now->st_ino != was->inode || !S_ISREG(now->st_mode))
		return INPUT_OK;
	if ((uint64_t)now->st_size < was->size)
		return INPUT_SHRUNK;
	return touched && (again || (uint64_t)now->st_size == was->size) ? INPUT_CHANGED : INPUT_OK;
}

/* Notes the change of a file, after the fault is set.  Called with the lock. */
static void note_changed(struct input_files *f, const struct input *in)
{
	if (!atomic_load(&f->changed)) {
		f->changed_path = strdup(in->path);
		(void)snprintf(f->changed_why, sizeof f->changed_why, "%s", in->fault_text);
	}
	atomic_store(&f->changed, true);
}

bool input_fail_compared(struct input *in, enum input_fault fault)
{
	if (fault == INPUT_OK)
		return false;
	(void)input_fail(in, fault,
	                 fault == INPUT_SHRUNK ? "the file became shorter while it was read"
	                                       : "the file was changed while it was read");
	if (in->files != NULL) {
		pthread_mutex_lock(&in->files->lock);
		note_changed(in->files, in);
		pthread_mutex_unlock(&in->files->lock);
	}
	return true;
}

/* ---- rows (called with the lock) ---- */

static uint64_t hash_path(const struct input *in)
{
	return hash_bytes(in->path, strlen(in->path), hash_seed());
}

/* Returns NULL if there is none. */
static struct input_files_row *find_row(const struct input_files *f, const struct input *in)
{
	const uint32_t i = table64_get(&f->by_path, hash_path(in));

	return i != TABLE_NONE ? &f->rows[i] : NULL;
}

static struct input_files_row *add_row(struct input_files *f, const struct input *in)
{
	if (!array_reserve(&f->rows, f->n, &f->cap, sizeof *f->rows) ||
	    !table64_put(&f->by_path, hash_path(in), f->n))
		return NULL;
	f->rows[f->n] = (struct input_files_row){ .fd = -1 };
	return &f->rows[f->n++];
}

static void fail_memory(struct input *in)
{
	(void)input_fail(in, INPUT_SYSTEM, "out of memory");
}

/* ---- passes ---- */

enum input_files_known input_files_look(struct input_files *f, struct input *in, int *fd)
{
	enum input_files_known known = INPUT_FILES_NEW;

	*fd = -1;
	pthread_mutex_lock(&f->lock);
	const struct input_files_row *const row = find_row(f, in);
	if (row != NULL && row->fault != NULL) {
		known = INPUT_FILES_FAILED;
		(void)input_fail(in, (enum input_fault)row->fault[0], "%s", row->fault + 1);
	} else if (row != NULL) {
		known = INPUT_FILES_AGAIN;
		if (row->fd >= 0)
			*fd = fcntl(row->fd, F_DUPFD_CLOEXEC, 0);
	}
	pthread_mutex_unlock(&f->lock);
	if (known == INPUT_FILES_AGAIN && f->before_again != NULL)
		f->before_again(f->ctx, in->path);
	in->again = known == INPUT_FILES_AGAIN;
	return known;
}

void input_files_note_fault(struct input_files *f, struct input *in)
{
	char text[sizeof in->fault_text];

	if (in->again) { /* an earlier pass could read it; a system error is reported unchanged */
		memcpy(text, in->fault_text, sizeof text);
		if (in->fault != INPUT_SYSTEM && in->fault != INPUT_DENIED)
			(void)input_fail(
			    in, INPUT_CHANGED, "changed while it was read: it %s%.200s",
			    strncmp(text, "is ", 3) == 0 ? "" : "cannot be opened again: ", text);
		pthread_mutex_lock(&f->lock);
		note_changed(f, in);
		pthread_mutex_unlock(&f->lock);
		return;
	}
	const size_t n = strlen(in->fault_text);
	char *const fault = malloc(n + 2);
	pthread_mutex_lock(&f->lock);
	struct input_files_row *const row = fault != NULL && find_row(f, in) == NULL ? add_row(f, in) : NULL;
	if (row != NULL) {
		fault[0] = (char)in->fault;
		memcpy(fault + 1, in->fault_text, n + 1);
		row->fault = fault;
	}
	pthread_mutex_unlock(&f->lock);
	if (row != NULL)
		return;
	free(fault);
	if (fault == NULL)
		fail_memory(in);
}

/* Reports the difference from the earlier file.  Returns false if there is none. */
static bool fail_if_other(struct input *in, const struct input_id *was, const struct stat *now)
{
	const uint64_t size = (uint64_t)now->st_size;

	if (now->st_dev != was->device || now->st_ino != was->inode)
		(void)input_fail(in, INPUT_CHANGED,
		                 "changed while it was read: another file has its name now");
	else if (S_ISREG(now->st_mode) && size != was->size)
		(void)input_fail(in, INPUT_CHANGED,
		                 "changed while it was read: it had %" PRIu64 " bytes, and has %" PRIu64,
		                 was->size, size);
	else if (input_id_compare(was, now, true) != INPUT_OK)
		(void)input_fail(in, INPUT_CHANGED, "changed while it was read: it was written to");
	else
		return false;
	return true;
}

bool input_files_note(struct input_files *f, struct input *in, int fd, const struct stat *st)
{
	bool ok = true;

	pthread_mutex_lock(&f->lock);
	struct input_files_row *row = find_row(f, in);
	if (row != NULL && row->fault == NULL) {
		in->again = true;
		ok = !fail_if_other(in, &row->id, st);
		if (!ok)
			note_changed(f, in);
	} else if (row == NULL && (row = add_row(f, in)) != NULL) {
		row->id = input_id_of(st);
		if (f->nopen < INPUT_FILES_OPEN && S_ISREG(st->st_mode) && input_is_named(in->path))
			row->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		f->nopen += row->fd >= 0;
	} else if (row == NULL) {
		fail_memory(in);
		ok = false;
	}
	pthread_mutex_unlock(&f->lock);
	return ok;
}

void input_files_unkeep(struct input_files *f, const struct input *in)
{
	pthread_mutex_lock(&f->lock);
	struct input_files_row *const row = find_row(f, in);
	if (row != NULL && row->fd >= 0) {
		(void)close(row->fd);
		row->fd = -1;
	}
	pthread_mutex_unlock(&f->lock);
}

void input_files_free(struct input_files *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		if (f->rows[i].fd >= 0)
			(void)close(f->rows[i].fd);
		free(f->rows[i].fault);
	}
	free(f->rows);
	table64_free(&f->by_path);
	free(f->changed_path);
	f->changed_path = NULL;
	f->rows = NULL;
	f->n = f->cap = f->nopen = 0;
}
