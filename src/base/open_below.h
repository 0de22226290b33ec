#ifndef BASE_OPEN_BELOW_H
#define BASE_OPEN_BELOW_H

/*
 * Files below a folder that somebody else names, in a text that came with the folder: the name leads nowhere
 * else, not by "..", not through a link, and not into a folder of version control, where a file may be a
 * program that runs later.  Each folder on the way is opened by itself from the one before, without links:
 * what is replaced meanwhile leads nowhere else either.
 */

/* What is wrong with a name as it is written ("it begins with a slash"); NULL: nothing. */
const char *below_mistake(const char *path);

/* Opens the folder that holds the file `path`, which is below `folder`.  *last: the file's own name, in path.
 * -1: errno; ELOOP or ENOTDIR if something on the way is no folder but a link or a file, EXDEV if the name
 * has a mistake or leads into version control. */
int below_open_folder(const char *folder, const char *path, const char **last);

/* Opens that file for reading, if it is a regular one.  -1: errno, as above; EINVAL: it is no regular file.
 */
int below_open_file(const char *folder, const char *path);

/* What errno of these means to people. */
const char *below_why(int error);

#endif
