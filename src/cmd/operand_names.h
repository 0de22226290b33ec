#ifndef CMD_OPERAND_NAMES_H
#define CMD_OPERAND_NAMES_H

#include "cmd/options.h"

/* What is wrong with the names of inputs and of the output (NULL: not given) on the command line: an empty
 * one, standard input twice, an output that is one of the inputs.  false after a message, and o->status set.
 */
bool names_check(struct options *o, const char *const *in, size_t n, const char *out);

/* Whether what the paths name can be read as one trace: a folder holds one, or files of one format each of
 * which is one.  false after a message, and o->status set. */
bool names_one_trace(struct options *o, const char *const *in, size_t n);

#endif
