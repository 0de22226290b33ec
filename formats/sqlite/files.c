/*
 * A file system for SQLite (sqlite3_vfs): temporary files without a name, so that nothing remains after a
 * crash.  Only open files exist; they are neither locked nor synchronised.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sqlite/sqlite.h"

#define MAX_NAME 64 /* bytes of the names that SQLite generates */

struct file {
	sqlite3_file base;
	struct sqlite_files *files;
	struct spill_file own;    /* of a file other than the database */
	struct spill_file *spill; /* `own`, or the database */
};

static struct file *file_of(sqlite3_file *base)
{
	return (struct file *)base;
}

/* Records the reason of a failure, unless there is an earlier one.  Returns its result code. */
static int fail(const struct file *f, int code)
{
	if (f->files->why[0] == '\0')
		spill_reason(f->spill, "the database", f->files->why, sizeof f->files->why);
	return f->spill->error == ENOMEM ? SQLITE_NOMEM : code;
}

/* ---- sqlite3_io_methods ---- */

static int file_close(sqlite3_file *base)
{
	spill_close(&file_of(base)->own);
	return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *to, int n, sqlite3_int64 offset)
{
	struct file *const f = file_of(base);
	const uint64_t at = (uint64_t)offset, size = f->spill->size;
	const size_t all = (size_t)n, stored = at >= size ? 0 : size - at < all ? (size_t)(size - at) : all;

	if (!spill_read(f->spill, at, to, stored))
		return fail(f, SQLITE_IOERR_READ);
	memset((char *)to + stored, 0, all - stored);
	return stored < all ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int file_write(sqlite3_file *base, const void *from, int n, sqlite3_int64 offset)
{
	struct file *const f = file_of(base);

	return spill_write_at(f->spill, (uint64_t)offset, from, (size_t)n) ? SQLITE_OK
	                                                                   : fail(f, SQLITE_IOERR_WRITE);
}

/* Sets only the size: bytes after it are not read. */
static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
	struct spill_file *const s = file_of(base)->spill;

	if ((uint64_t)size < s->size)
		s->size = (uint64_t)size;
	return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
	*size = (sqlite3_int64)file_of(base)->spill->size;
	return SQLITE_OK;
}

/* No other process has the file: neither locks nor synchronisation are needed. */
static int file_unshared(sqlite3_file *base, int how)
{
	return SQLITE_OK;
}

static int file_locked(sqlite3_file *base, int *out)
{
	*out = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int op, void *arg)
{
	return SQLITE_NOTFOUND;
}

/* 0: sector size and characteristics of the device are unknown. */
static int file_zero(sqlite3_file *base)
{
	return 0;
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_unshared,
	.xFileSize = file_size,
	.xLock = file_unshared,
	.xUnlock = file_unshared,
	.xCheckReservedLock = file_locked,
	.xFileControl = file_control,
	.xSectorSize = file_zero,
	.xDeviceCharacteristics = file_zero,
};

/* ---- sqlite3_vfs ---- */

static int files_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *base, int flags, int *out)
{
	struct sqlite_files *const files = vfs->pAppData;
	struct file *const f = file_of(base);
	const bool is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;

	memset(f, 0, sizeof *f);
	f->files = files;
	f->own.fd = -1;
	f->spill = is_database ? &files->database : &f->own;
	if (!spill_open(f->spill, files->temp_dir)) {
		const int code = fail(f, SQLITE_CANTOPEN);
		spill_close(&f->own);
		return code; /* without methods, SQLite does not close the file */
	}
	f->base.pMethods = &methods;
	if (out != NULL)
		*out = flags;
	return SQLITE_OK;
}

static int files_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	return SQLITE_OK;
}

/* No other files exist. */
static int files_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	*out = 0;
	return SQLITE_OK;
}

static int files_path(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
	return snprintf(out, (size_t)n, "%s", name) < n ? SQLITE_OK : SQLITE_CANTOPEN;
}

/* SQLite uses it for names of temporary files, which have no names here. */
static int files_random(sqlite3_vfs *vfs, int n, char *out)
{
	memset(out, 0, (size_t)n);
	return n;
}

static int files_sleep(sqlite3_vfs *vfs, int microseconds)
{
	return microseconds;
}

/* The output must not depend on the current time. */
static int files_time(sqlite3_vfs *vfs, double *days)
{
	*days = 2440587.5; /* 1970 */
	return SQLITE_OK;
}

int sqlite_files_open(struct sqlite_files *f, const char *temp_dir)
{
	f->temp_dir = temp_dir;
	f->database.fd = -1;
	(void)snprintf(f->name, sizeof f->name, "tracetool-%p", (void *)f);
	f->vfs = (sqlite3_vfs){
		.iVersion = 1,
		.szOsFile = (int)sizeof(struct file),
		.mxPathname = MAX_NAME,
		.zName = f->name,
		.pAppData = f,
		.xOpen = files_open,
		.xDelete = files_delete,
		.xAccess = files_access,
		.xFullPathname = files_path,
		.xRandomness = files_random,
		.xSleep = files_sleep,
		.xCurrentTime = files_time,
	};
	const int code = sqlite3_vfs_register(&f->vfs, 0);
	f->registered = code == SQLITE_OK;
	return code;
}

void sqlite_files_close(struct sqlite_files *f)
{
	if (f->registered)
		(void)sqlite3_vfs_unregister(&f->vfs);
	f->registered = false;
	spill_close(&f->database);
}
