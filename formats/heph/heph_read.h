#ifndef HEPH_READ_H
#define HEPH_READ_H

#include "format/format.h"

extern const struct reader_ops heph_reader_ops;

#endif
