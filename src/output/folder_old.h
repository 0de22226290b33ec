#ifndef OUTPUT_FOLDER_OLD_H
#define OUTPUT_FOLDER_OLD_H

#include <stdbool.h>

#include "output/folder_list.h"

/* What lies in a folder that an output is to replace, compared with the list of files in it. */
struct folder_old {
	struct folder_list list;
	char **files, **folders; /* paths of what there is, folders before what is in them */
	uint32_t nfiles, nfolders, files_cap, folders_cap;
};

/* Reads the folder, its list and the files.  Nothing is wrong: it is empty, or its list names every file with
 * the size and the sum that it has, and it may be removed. */
struct folder_wrong folder_old_read(struct folder_old *old, const char *path);

/* Removes what was read, and the folder.  0, or an errno value: then a part may be gone. */
int folder_old_remove(const struct folder_old *old, const char *path);

void folder_old_free(struct folder_old *old);

#endif
