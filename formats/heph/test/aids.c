#include "heph/test/aids.h"

static const char *const fault_samples[] = { "good/mixed.bin.log", NULL };

const struct format_aids heph_aids = {
	.format = "heph",
	.write_testdata = heph_write_testdata,
	.bench_inputs = heph_bench_inputs,
	.fault_samples = fault_samples,
};
