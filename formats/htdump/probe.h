#ifndef HTDUMP_PROBE_H
#define HTDUMP_PROBE_H

#include "base/slice.h"
#include "htdump/wire.h"

/* As reader_ops.probe. */
int ht_probe(struct slice head, bool complete);

/* The bits that speak for it, the layout, and the byte order that the second event fits. */
int ht_probe_layout(struct slice head, bool complete, bool *wire, bool *big);

/* Whether a trace begins at p: a statement of the byte order and the description of a class, whose name goes
 * on for HT_START_NAME bytes at most, or to the end.  HT_START_SIZE bytes at least. */
#define HT_START_SIZE (HT_ENDIANNESS_SIZE + HT_HEAD_SIZE + 4 + 1)
#define HT_START_NAME 256
bool ht_probe_start(const char *p, const char *end, bool wire);

#endif
