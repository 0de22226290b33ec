#ifndef OUTPUT_FOLDER_NAME_H
#define OUTPUT_FOLDER_NAME_H

#include <stddef.h>

/* What is wrong with n bytes as the name of a file in an output folder: see output_folder_put().  Names that
 * pass lead into the folder, and no two of them to the same file.  NULL: nothing. */
const char *folder_name_wrong(const char *name, size_t n);

#endif
