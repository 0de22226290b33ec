#ifndef HTDUMP_AIDS_H
#define HTDUMP_AIDS_H

#include "test/support/format_aids.h"

extern const struct format_aids htdump_aids;

extern const struct bench_input htdump_bench_inputs[];

#endif
