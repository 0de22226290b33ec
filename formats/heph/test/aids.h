#ifndef HEPH_AIDS_H
#define HEPH_AIDS_H

#include "test/support/format_aids.h"

extern const struct format_aids heph_aids;

extern const struct bench_input heph_bench_inputs[];
bool heph_write_testdata(const char *dir);

#endif
