#ifndef DIAL9_READ_H
#define DIAL9_READ_H

#include "format/format.h"

extern const struct reader_ops d9_reader_ops;

#endif
