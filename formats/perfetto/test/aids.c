/*
 * Aids of the Perfetto format for tests, benchmarks and fuzzing.
 */
#include "test/support/format_aids.h"

extern const struct format_aids perfetto_aids;

const struct format_aids perfetto_aids = {
	.format = "perfetto",
};
