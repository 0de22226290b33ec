#include "dial9/test/aids.h"

static const char *const fault_samples[] = { "good/segments.dial9", NULL };

const struct format_aids dial9_aids = {
	.format = "dial9",
	.write_testdata = dial9_write_testdata,
	.bench_inputs = dial9_bench_inputs,
	.fault_samples = fault_samples,
};
