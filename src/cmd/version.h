#ifndef CMD_VERSION_H
#define CMD_VERSION_H

#include "output/text.h"

/* Name and version on one line; verbose: then what the program is made of and what it can do on this machine,
 * a line for each. */
void version_put(struct text *t, bool verbose);

#endif
