#ifndef OVNI_AIDS_H
#define OVNI_AIDS_H

#include "test/support/format_aids.h"

extern const struct format_aids ovni_aids;

extern const struct bench_input ovni_bench_inputs[];

#endif
