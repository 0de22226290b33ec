#ifndef INPUT_INPUT_SPOOL_H
#define INPUT_INPUT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>

/* Makes a path that stands for a descriptor ("-", "/dev/fd/63") one that can be opened again and again: if it
 * is a pipe, or a file that was begun to be read, what is left of it is copied to a temporary file without a
 * name in the folder of `beside` (NULL: as spill_open() says), which becomes that descriptor.  Other paths,
 * and what input_open() refuses, stay as they are.
 *
 * false: *why holds the message, NUL-terminated, at most n bytes. */
bool input_spool(const char *path, const char *beside, char *why, size_t n);

#endif
