#include "ovni/ovni_aids.h"

const struct format_aids ovni_aids = {
	.format = "ovni",
	.write_testdata = ovni_write_testdata,
	.bench_inputs = ovni_bench_inputs,
};
