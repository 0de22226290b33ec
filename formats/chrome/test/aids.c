#include "chrome/test/aids.h"

static const char *const fault_samples[] = { "good/object.json", NULL };

const struct format_aids chrome_aids = {
	.format = "chrome",
	.write_testdata = chrome_write_testdata,
	.fault_samples = fault_samples,
};
