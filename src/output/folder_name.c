#include "output/folder_name.h"
#include "base/utf8.h"
#include "output/output_failure.h"
#include "output/output_folder.h"

enum { PART_MOST = 255 };

static const char *
part_wrong(const char *p, size_t n)
{
	if (n == 0)
		return "has an empty part";
	if (n > PART_MOST)
		return "has a part of more than 255 bytes";
	if (p[0] == '.' && (n == 1 || (n == 2 && p[1] == '.')))
		return "has a part that is . or ..";
	return NULL;
}

const char *
folder_name_wrong(const char *name, size_t n)
{
	if (n == 0)
		return "is empty";
	if (n > OUTPUT_FAILURE_FILE_MOST)
		return "is longer than 1024 bytes";
	if (name[0] == '/')
		return "is absolute";
	if (!utf8_valid(name, n))
		return "is not UTF-8";
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
			return "has a control character";
	if (slice_is(slice_of(name, n), OUTPUT_FOLDER_LIST))
		return "is that of the list of files";
	const char *wrong = NULL;
	for (size_t i = 0, start = 0; i <= n && wrong == NULL; i++)
		if (i == n || name[i] == '/') {
			wrong = part_wrong(name + start, i - start);
			start = i + 1;
		}
	return wrong;
}
