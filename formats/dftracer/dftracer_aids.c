#include "dftracer/dftracer_aids.h"

const struct format_aids dftracer_aids = {
	.format = "dftracer",
	.write_testdata = dftracer_write_testdata,
	.bench_inputs = dftracer_bench_inputs,
};
