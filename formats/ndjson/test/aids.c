#include "ndjson/test/aids.h"

const struct format_aids ndjson_aids = {
	.format = "ndjson",
	.write_testdata = ndjson_write_testdata,
};
