#include "ovni/test/aids.h"

static const char *const fault_samples[] = { "good/document.obs", "folders/good-offsets", NULL };

const struct format_aids ovni_aids = {
	.format = "ovni",
	.bench_inputs = ovni_bench_inputs,
	.fault_samples = fault_samples,
};
