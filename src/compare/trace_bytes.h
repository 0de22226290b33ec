#ifndef COMPARE_TRACE_BYTES_H
#define COMPARE_TRACE_BYTES_H

#include <stdbool.h>

struct format;
struct input_files;

/*
 * Whether two traces of a format are the same byte for byte, so that no reader can tell them apart: files
 * with the same bytes, or folders with files of the same names and bytes.  A file is also the same as a
 * folder with nothing else that is read.  Only what a reader of the format looks at counts; what is packed is
 * unpacked.  `a` is one of the files of a run, or they are NULL.  false, too: there is no memory, or one of
 * them cannot be read to its end.
 */
bool trace_bytes_same(const char *a, const char *b, const struct format *of, struct input_files *files);

#endif
