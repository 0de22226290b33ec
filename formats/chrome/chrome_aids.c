#include "chrome/chrome_aids.h"

const struct format_aids chrome_aids = {
	.format = "chrome",
	.write_testdata = chrome_write_testdata,
};
