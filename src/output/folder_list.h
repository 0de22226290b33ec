#ifndef OUTPUT_FOLDER_LIST_H
#define OUTPUT_FOLDER_LIST_H

#include <stdbool.h>

#include "base/table.h"
#include "output/folder_files.h"
#include "output/text.h"

/*
 * The list OUTPUT_FOLDER_LIST of an output folder, by which tracetool knows a
 * folder that it wrote:
 *
 *     tracetool-files 1 COUNT SUM
 *     BYTES SUM NAME
 *     ...
 *
 * The first SUM is that of the lines below; each other one of the bytes of its
 * file.  Sums are CRC-64/ECMA-182 (reflected), 16 hexadecimal digits.
 */

/* Appends the list of these files. */
void folder_list_put(struct text *t, const struct folder_file *files, uint32_t n);

struct folder_list {
	struct text text;       /* the bytes of the file; names lie in it */
	struct tabletext names; /* -> files[] */
	struct folder_listed {
		struct slice name; /* valid by folder_name_wrong() */
		struct byte_sum is;
	} * files;
	uint32_t n, cap;
};

/* Why a folder is not to be replaced; all 0: it may be. */
struct folder_wrong {
	const char *text; /* what is wrong with it (a constant); NULL: nothing that was seen */
	int error;        /* or errno: it could not be looked at */
};

/* Reads and checks that of a folder; free it in any case. */
struct folder_wrong folder_list_read(struct folder_list *l, const char *folder);
void folder_list_free(struct folder_list *l);

/* Whether the folder has a list that is to be believed, and all its files with the sizes in it.  *error: 0,
 * or errno if that could not be found out. */
bool folder_is_complete(const char *folder, int *error);

#endif
