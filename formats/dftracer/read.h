#ifndef DFTRACER_READ_H
#define DFTRACER_READ_H

#include "format/format.h"

extern const struct reader_ops dft_reader_ops;
extern const struct trace_ops dft_trace_ops;

#endif
