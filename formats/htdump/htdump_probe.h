#ifndef HTDUMP_PROBE_H
#define HTDUMP_PROBE_H

#include "base/slice.h"

/* As reader_ops.probe. */
int ht_probe(struct slice head, bool complete);

/* The bits that speak for it, the layout, and the byte order that the second event fits. */
int ht_probe_layout(struct slice head, bool complete, bool *wire, bool *big);

#endif
