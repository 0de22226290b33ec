#ifndef OVNI_FORMAT_H
#define OVNI_FORMAT_H

#include "format/format.h"

extern const struct reader_ops ovni_reader_ops; /* ovni_read.c */
extern const struct trace_ops ovni_trace_ops;   /* ovni_trace.c */

#endif
