#ifndef SQLITE_SQLITE_FILES_H
#define SQLITE_SQLITE_FILES_H

#include <sqlite3.h>

#include "base/spill_file.h"

/*
 * The files that SQLite works on: temporary ones without a name.  The database
 * outlives its connection, to be read then; what SQLite needs on the way is
 * gone when it is closed.  Nothing is locked and nothing is synchronised.
 */
struct sqlite_files {
	sqlite3_vfs vfs; /* its name is registered with SQLite */
	char name[40];
	const char *beside; /* borrowed; see spill_open() */
	struct spill_file database;
	bool registered;
	char why[600]; /* the first failure of a file, one line; "": none */
};

/* Zero-initialise *f, which must not move then.  Returns a result code of SQLite. */
int sqlite_files_open(struct sqlite_files *f, const char *beside);

/* When the connection is closed.  Also after a failure, and of what was never opened. */
void sqlite_files_close(struct sqlite_files *f);

#endif
