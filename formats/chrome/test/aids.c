#include "test/support/format_aids.h"

extern const struct format_aids chrome_aids;

static const char *const fault_samples[] = { "good/object.json", NULL };

const struct format_aids chrome_aids = {
	.format = "chrome",
	.fault_samples = fault_samples,
};
