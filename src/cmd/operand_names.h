#ifndef CMD_OPERAND_NAMES_H
#define CMD_OPERAND_NAMES_H

#include "cmd/options.h"

/* Whether what the paths name can be read as one trace: a folder holds one, or files of one format each of
 * which is one.  false after a message, and o->status set. */
bool names_one_trace(struct options *o, const char *const *in, size_t n);

#endif
