#ifndef CMD_OPERAND_NAMES_H
#define CMD_OPERAND_NAMES_H

#include "cmd/options.h"

/* What is wrong with the names of inputs and of the output (NULL: not given) on the command line: an empty
 * one, standard input twice, an output that is one of the inputs.  false after a message, and o->status set.
 */
bool names_check(struct options *o, const char *const *in, size_t n, const char *out);

#endif
