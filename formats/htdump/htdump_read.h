#ifndef HTDUMP_READ_H
#define HTDUMP_READ_H

#include "format/format.h"

extern const struct reader_ops ht_reader_ops;

#endif
