#ifndef DFTRACER_AIDS_H
#define DFTRACER_AIDS_H

#include "test/support/format_aids.h"

extern const struct format_aids dftracer_aids;

extern const struct bench_input dftracer_bench_inputs[];
bool dftracer_write_testdata(const char *dir);

#endif
