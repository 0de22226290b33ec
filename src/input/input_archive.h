#ifndef INPUT_INPUT_ARCHIVE_H
#define INPUT_INPUT_ARCHIVE_H

#include "input/input_tree.h"

/*
 * A tar archive (POSIX ustar and pax, GNU and V7), plain or packed by gzip,
 * zstd or xz, read as the folder that was put into it.  The file "a/b" of the
 * archive "run.tar" has the path "run.tar:/a/b", which input_open_in() opens as
 * long as the archive is open.
 *
 * Nothing is written under a name from the archive, and such a path never leads
 * out of it.  Of a packed archive the files that readers ask for are unpacked to
 * a temporary file without a name (base/spill_file.h), all others are passed
 * over.  A hard link is read as the file before it that it names.  What is called
 * like a trace and cannot be read is a problem, and so is damage: the archive is
 * read to its end, also behind blocks of zeros, where another one may follow.
 */
struct input_archive;

/* Which names readers ask for; without the folders before them.  ctx outlives the archive. */
struct input_names {
	bool (*wanted)(void *ctx, const char *name); /* those that are listed */
	bool (*beside)(void *ctx, const char *name); /* those that are only opened */
	void *ctx;
};

/* Whether the path names a file that is called like an archive: .tar, .tar.gz, .tgz, .tar.zst, .tzst,
 * .tar.xz, .txz. */
bool input_is_archive(const char *path);

/* Reads what is in it; any thread may then open its files.  Why it is none, or cannot be read, is one of the
 * problems that input_archive_list() gives.  NULL: no memory. */
struct input_archive *input_archive_open(const char *path, struct input_names names);

/* Whether the path leads into it: "run.tar:/a/b" or, for what lies beside the archive's files, "run.tar/b".
 * NULL holds nothing. */
bool input_archive_holds(const struct input_archive *a, const char *path);

/* As input_tree_list(); what is wrong with the archive is a problem. */
void input_archive_list(const struct input_archive *a, struct input_tree *t);

void input_archive_close(struct input_archive *a); /* NULL is fine */

#endif
