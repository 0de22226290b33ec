#include "heph/heph_aids.h"

const struct format_aids heph_aids = {
	.format = "heph",
	.write_testdata = heph_write_testdata,
	.bench_inputs = heph_bench_inputs,
};
