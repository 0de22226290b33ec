#ifndef HEPH_PROBE_H
#define HEPH_PROBE_H

#include "base/slice.h"

/* As reader_ops.probe. */
int heph_probe(struct slice head, bool complete);

#endif
