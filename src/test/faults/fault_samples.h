#ifndef FAULTS_FAULT_SAMPLES_H
#define FAULTS_FAULT_SAMPLES_H

#include <stdbool.h>

#include "format/registry.h"

/* Copies a trace, a file or a folder.  `packing`: "", ".gz" or ".zst"; files that may hold events are packed
 * and their names get it as a suffix.  A file's copy is `to` with its suffixes behind it, and *made names it
 * (at most n bytes).  false: it could not, and said why on standard error. */
bool fault_sample_copy(const struct format *format, const char *from, const char *to, const char *packing,
                       char *made, unsigned n);

#endif
