#ifndef CMD_ALIGN_FILE_H
#define CMD_ALIGN_FILE_H

#include "cmd/options.h"

struct join;

/* Reads offsets of inputs from a file: lines of an offset ("12.5ms", "-3 s") and, behind blanks, the input as
 * the command line names it; # begins a comment.  false after a message and o->status set. */
bool align_file(const char *path, struct join *j, struct options *o);

#endif
