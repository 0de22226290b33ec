/*
 * The test aids of this format, for the tools that know all formats.
 */
#include "htdump/test/aids.h"

/* The reader guesses an invalid byte order from the following record, if the window shows it. */
static const char *const window_rules[] = { "htdump/bad-byte-order", NULL };

static const char *const fault_samples[] = { "good/overlapping.htdump", NULL };

const struct format_aids htdump_aids = {
	.format = "htdump",
	.bench_inputs = htdump_bench_inputs,
	.window_rules = window_rules,
	.fault_samples = fault_samples,
};
