#include "dftracer/test/aids.h"

static const char *const fault_samples[] = { "good/merged.pfw", NULL };

const struct format_aids dftracer_aids = {
	.format = "dftracer",
	.write_testdata = dftracer_write_testdata,
	.bench_inputs = dftracer_bench_inputs,
	.fault_samples = fault_samples,
};
