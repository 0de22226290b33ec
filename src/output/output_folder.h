#ifndef OUTPUT_OUTPUT_FOLDER_H
#define OUTPUT_OUTPUT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * An output of several files: a folder that grows under a temporary name beside
 * its target and gets its own name only in output_folder_commit(), in one step.
 * Until then an ending signal or output_folder_discard() removes it.
 *
 * The list OUTPUT_FOLDER_LIST in it names its files, with their sizes and sums
 * (output/folder_list.h).  A folder that is there already is only replaced, with
 * OUTPUT_FORCE (output/output.h), if it is empty, or its list names every file
 * in it as it is: then tracetool made all that goes away.  Nothing else is ever
 * removed.
 *
 * At most 64 files are open at the same time; others are opened again to be
 * added to.  The first failure sticks.
 */
struct output_folder;

#define OUTPUT_FOLDER_LIST ".tracetool-files"

/* Makes the temporary folder.  A link is followed: its target is replaced, the link stays.  On failure NULL,
 * and *why holds the message, NUL-terminated, at most n bytes. */
struct output_folder *output_folder_open(const char *path, unsigned flags, char *why, size_t n);

/* Adds n bytes to a file (which n = 0 makes, too).  `file` is relative and may have sub-folders ("a/b"):
 * printable UTF-8, 1 to 1024 bytes, each part 1 to 255 bytes and neither "." nor "..", not the name of the
 * list.  The bytes are copied or written before it returns.  false after any failure. */
bool output_folder_put(struct output_folder *o, const char *file, const char *p, size_t n);

/* The first failure, "OUT/FILE: REASON"; NULL: none.  Valid until the output is freed. */
const char *output_folder_error(const struct output_folder *o);

/* The temporary folder; after output_folder_finish() it is complete. */
const char *output_folder_written(const struct output_folder *o);

/* Bytes given to output_folder_put so far. */
unsigned long long output_folder_bytes(const struct output_folder *o);

/* Writes out what waits, and the list; no file can be added to after it.  Not needed before commit.  false
 * after any failure. */
bool output_folder_finish(struct output_folder *o);

/* After output_folder_finish(): reads all files.  false, a failure: the bytes of one are not those that were
 * written, or cannot be read. */
bool output_folder_check(struct output_folder *o);

/* Finishes, renames, frees `o`.  false: it failed, *why says so, and nothing of it is left behind; a folder
 * that was to be replaced has its name, or what could not be removed of it is named. */
bool output_folder_commit(struct output_folder *o, char *why, size_t n);

/* Throws away, frees `o`.  NULL is fine. */
void output_folder_discard(struct output_folder *o);

#endif
