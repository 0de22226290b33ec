#ifndef DIAL9_AIDS_H
#define DIAL9_AIDS_H

#include "test/support/format_aids.h"

extern const struct format_aids dial9_aids;

extern const struct bench_input dial9_bench_inputs[];

#endif
