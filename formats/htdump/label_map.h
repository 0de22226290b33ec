#ifndef HTDUMP_LABEL_MAP_H
#define HTDUMP_LABEL_MAP_H

#include <stdbool.h>

struct ht_state;

/* Reads a label map file; false after a finding, or no memory. */
bool ht_label_map_read(struct ht_state *st, const char *path);

#endif
